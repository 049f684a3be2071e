"""The kinds of arguments, each with one check and one sentence; the values in it are those that are used.

| kind | function |
| --- | --- |
| yes or no | `flag` |
| text | `text` |
| whole number | `whole` |
| number | `real` |
| one of a few | `one_of` |
| path | `path_of` |
| several of these | `several` |
| names of columns, expressions | `listed`, `refuse_several` of `columns.py` |
| what a function does not take | `refuse_unknown` |
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Real
from struct import pack
from typing import Any, TypeVar

import polars as pl

from frame_pr.frames.wording import nearest, shown

One = TypeVar("One")

# What other libraries call our arguments, and what is no argument here.
_WORDS = {
    **dict.fromkeys(
        ("group", "group_by", "groupby", "groups", "group_keys", "keys", "key", "over", "partition_by", "query"), "by"
    ),
    **dict.fromkeys(("pos_label", "positive_label", "positive_class", "event_level"), "positive"),
    **dict.fromkeys(("sample_weight", "sample_weights", "weights", "case_weights"), "weight"),
    **dict.fromkeys(("counts", "frequency", "freq", "repeats"), "count"),
    **dict.fromkeys(("gains", "grade", "grades", "relevance", "y_gain"), "gain"),
    **dict.fromkeys(("zero_division", "fill_value", "empty_target_action"), "undefined"),
    **dict.fromkeys(("tie_breaker", "tiebreak"), "tie_break"),
    **dict.fromkeys(("y_true", "target", "labels", "y"), "truth"),
    **dict.fromkeys(("y_score", "y_pred", "preds", "scores", "y_prob"), "score"),
    **dict.fromkeys(("top_k", "cutoff", "at_k", "at"), "k"),
    "thresholds": "threshold",
    "recalls": "recall",
    "marks": "mark",
}
_SENTENCES = {
    **dict.fromkeys(
        ("lower_is_better", "smaller_is_better", "reverse"), "say ascending=True where a small score is best"
    ),
    **dict.fromkeys(("higher_is_better", "greater_is_better"), "say ascending=True where a small score is best"),
    "descending": "say ascending=True where a small score is best, and tie_break_descending=False where a small "
    "tie_break comes first",
    "average": "evaluate has mean_over=, the mean over groups",
    "metrics": "evaluate takes names of metrics",
    "mean_over": "evaluate and report take it",
}


_FORMATS = {"float16": "e", "float32": "f"}


def scalar(value: Any) -> Any:
    """The number that an array without dimensions is; of a short float the decimal that it prints as."""
    dimensions = getattr(value, "ndim", None)  # of a column of Spark, a column
    if not (isinstance(dimensions, int) and dimensions == 0 and hasattr(value, "item")):
        return value
    number, dtype = value.item(), str(getattr(value, "dtype", "")).rpartition(".")[2]  # such as torch.float32
    return _shortest(number, _FORMATS[dtype]) if dtype in _FORMATS else number


def _shortest(number: float, form: str) -> float:
    """The decimal with the fewest digits that the same short float is nearest to."""
    texts = (f"{number:.{digits}g}" for digits in range(1, 10)) if isfinite(number) else ()
    packed = pack(form, number)
    for text in texts:
        with suppress(OverflowError):
            if pack(form, float(text)) == packed:
                return float(text)
    return number


def flag(argument: str, value: Any) -> bool:
    """True or False, of Python or of numpy."""
    plain = scalar(value)
    if not isinstance(plain, bool):
        raise TypeError(f"{argument} must be True or False, got {shown(value)}")
    return plain


def text(argument: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be text, got {shown(value)}")
    return value


def is_whole(value: Any) -> bool:
    """Whether it is a whole number of any library; True is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole(argument: str, value: Any, least: int) -> int:
    """A whole number of any library; True is none."""
    plain = scalar(value)
    if not is_whole(plain) or plain < least:
        raise ValueError(f"{argument} must be a whole number of at least {least}, got {shown(value)}")
    if plain >= 2**62:
        raise ValueError(f"{argument} must be below 2**62, got {shown(value)}")
    return int(plain)


def real(argument: str, value: Any) -> Any:
    """A number of any library that is not NaN; True is none."""
    plain = scalar(value)
    if isinstance(plain, Decimal) and not plain.is_nan():
        plain = Fraction(plain) if plain.is_finite() else float(plain)
    if isinstance(plain, bool) or not isinstance(plain, Real) or plain != plain:
        raise ValueError(f"{argument} must be a number, got {shown(value)}")
    return plain


def filling(argument: str, value: Any) -> float | None:
    """A number that nulls are filled with, which may be NaN; or None."""
    plain = scalar(value)
    if plain is None:
        return None
    if isinstance(plain, Real) and not isinstance(plain, bool):
        with suppress(OverflowError):
            return float(plain)
    raise TypeError(f"{argument} must be a number, or None for null, got {shown(value)}")


def one_of(argument: str, value: Any, allowed: Sequence[One]) -> One:
    """One of a few words or numbers, or None where that is one of them."""
    plain = scalar(value)
    for one in allowed:
        # By type, as True equals 1, and an expression or an array equals anything.
        if plain is one or ((isinstance(plain, str) or is_whole(plain)) and plain == one):
            return one
    *others, last = [repr(one) for one in allowed if one is not None]
    words = f"{', '.join(others)} or {last}" if others else last
    none = ", or None" if None in allowed else ""
    raise ValueError(f"{argument} must be {words}{none}, got {shown(value)}")


def refuse_both(function: str, cuts: Mapping[str, Any], *, none: bool = False) -> None:
    """Exactly one of the arguments that cut a ranking is given; or `none` of them."""
    given = {name: value for name, value in cuts.items() if value is not None}
    if len(given) == 1 or (none and not given):
        return
    got = " and ".join(f"{name}={shown(value)}" for name, value in given.items()) or "none"
    most = "at most one" if none else "one"
    raise ValueError(f"{function} takes {most} of {', '.join(f'{name}=' for name in cuts)}; got {got}")


def path_of(argument: str, value: Any) -> str:
    """A path, as text."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{argument} must be text or a path, got {shown(value)}")
    name = os.fsdecode(value)
    if "\0" in name or not name:
        raise ValueError(f"{argument} is no path: {shown(name)}")
    return name


def several(argument: str, values: Any, wanted: str) -> list[Any]:
    """One value or several, as a list; a text is one."""
    values = scalar(values)
    if isinstance(values, (bytes, bytearray, memoryview, Mapping, pl.Expr)) or hasattr(type(values), "columns"):
        raise TypeError(f"{argument} takes {wanted}; got {shown(values)}")
    if not isinstance(values, Iterable) or isinstance(values, str):
        return [values]
    listed = list(values)
    if not listed:
        raise ValueError(f"{argument} is an empty list: give at least one value")
    return listed


def names_of(argument: str, values: Any, wanted: str) -> list[str]:
    """One text or several, each once."""
    listed = several(argument, values, wanted)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(f"{argument} takes {wanted}; got {shown(name)}")
        if listed.count(name) > 1:
            raise ValueError(f"{argument} has {shown(name)} twice")
    return listed


def refuse_unknown(words: Iterable[str], allowed: Iterable[str], arguments: Sequence[str]) -> None:
    """No word but these is allowed; the arguments of the function are what it may mean."""
    for word in sorted(set(words).difference(allowed)):
        hint = advice(word, arguments) or f"there are {', '.join(arguments)}"
        raise TypeError(f"unexpected keyword argument {shown(word)}; {hint}")


def advice(word: str, known: Sequence[str]) -> str:
    """What a word that is no argument may mean."""
    if word in _WORDS and _WORDS[word] in known:
        return f"did you mean {_WORDS[word]}=?"
    if (word in _WORDS and _WORDS[word] == "undefined") or word == "undefined":
        return "what has no value stays null here: fill_null(...) fills it"
    if word in _SENTENCES:
        return _SENTENCES[word]
    near = nearest(word, known, cutoff=0.7)[:1]
    return f"did you mean {near[0]}=?" if near else ""
