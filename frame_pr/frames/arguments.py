"""Validate the arguments of public functions. Each kind of argument has one function, which returns the value to use.

| kind | function |
| --- | --- |
| Boolean | `flag` |
| text | `text` |
| whole number | `whole` |
| number | `real` |
| one of a few | `one_of` |
| path | `path_of` |
| a value or several | `several` |
| names of columns, expressions | `listed`, `refuse_several` of `columns.py` |
| unknown keywords and refused options | `public`, by `refuse_unknown` and `refuse_options` |
"""

from __future__ import annotations

import dis
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import cache, wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from struct import pack
from typing import Any, NamedTuple, TypeVar, cast, get_args

import polars as pl

from frame_pr.frames.messages import nearest, shown

Choice = TypeVar("Choice")
Function = TypeVar("Function", bound=Callable[..., Any])

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "by": ("group", "group_by", "groupby", "groups", "group_keys", "keys", "key", "over", "partition_by", "query"),
    "positive": ("pos_label", "positive_label", "positive_class", "event_level"),
    "weight": ("sample_weight", "sample_weights", "weights", "case_weights"),
    "count": ("counts", "frequency", "freq"),
    "gain": ("gains", "grade", "grades", "relevance", "y_gain", "amount", "amounts", "utility"),
    "undefined": ("zero_division", "fill_value", "empty_target_action"),
    "tie_break": ("tie_breaker", "tiebreak"),
    "classes": ("labels", "class_names"),
    "truth": ("y_true", "target", "targets", "labels", "label", "y", "actual", "y_test", "ground_truth"),
    "prediction": ("y_pred", "pred", "predicted", "predictions"),
    "score": (
        "y_score",
        "y_pred",
        "y_prob",
        "y_proba",
        "pred",
        "preds",
        "predictions",
        "scores",
        "probability",
        "proba",
    ),
    "k": ("top_k", "topk", "cutoff", "cutoffs", "at_k", "at", "ks"),
    "threshold": ("thresholds", "cut", "operating_point"),
    "recall": ("recalls", "tpr"),
    "mark": ("marks",),
    "metrics": ("metric", "measures", "scoring"),
    "metric": ("metrics", "measure", "scoring"),
    "figures": ("metrics", "columns"),
    "cluster": ("clusters", "cluster_by"),
    "mean_over": ("macro_over", "average_over"),
    "statistics": ("stats", "aggregates"),
    "confidence": ("conf_level", "confidence_level", "level", "ci"),
    "resamples": ("n_resamples", "n_permutations", "n_bootstraps", "n_boot", "n_iterations"),
    "repeats": ("resamples", "n_resamples", "n_bootstraps", "n_boot", "n_iterations", "boot_n", "replicates"),
    "seed": ("random_state", "rng"),
    "adjust": ("correction", "p_adjust"),
    "bins": ("n_bins", "nbins", "num_bins"),
    "partitions": ("n_partitions", "npartitions"),
    "memory_budget": ("memory_limit", "max_memory"),
    "ax": ("axes", "axis"),
    "unjudged": ("unlabelled", "unlabeled"),
}
"""Names that other libraries use for arguments of frame_pr."""
_ADVICE = {
    **dict.fromkeys(
        ("lower_is_better", "smaller_is_better", "higher_is_better", "greater_is_better", "reverse"),
        "ascending=True ranks lower scores first",
    ),
    "descending": "ascending=True ranks lower scores first, and tie_break_descending=False lower values of tie_break",
    **dict.fromkeys(
        ("k", *SYNONYMS["k"]),
        "average_precision_at_k and others take k=, and evaluate takes names with a cutoff, such as "
        "'average_precision@10'",
    ),
    "average": "evaluate(..., mean_over=...) gives the mean over groups",
    "mean_over": "evaluate(..., mean_over=...) gives means over groups",
    **dict.fromkeys(("metrics", *SYNONYMS["metrics"]), "evaluate takes names of metrics"),
    "max_fpr": "evaluate('roc_auc@fpr=0.1', ...) gives the partial area up to a false positive rate of 0.1",
    "normalize": "confusion_matrix has the shares as columns, of_truth for 'true' and of_prediction for 'pred'",
    "alpha": "the confidence level, 1 - alpha, is confidence= of intervals, compare, report and average_curve",
    "colour": "the plots spell it color=",
    **dict.fromkeys(("df", "data", "dataframe", "data_frame"), "the frame comes first, without a name, or as frame="),
    **dict.fromkeys(("undefined", "zero_division"), "what has no value stays null here: fill_null(...) fills it"),
}
"""What to write instead of a keyword that a function does not take."""
_PLOT_ADVICE = {
    "figsize": "the size is a property of the figure: pass its axes as ax=, or for panels the figure as figure=",
    "title": "set it afterwards: ax.set_title(...), for panels figure.suptitle(...)",
    "square": "set it afterwards: ax.set_box_aspect(1)",
    **{limits: f"set it afterwards: ax.set_{limits}(...)" for limits in ("xlim", "ylim")},
    "kind": "plot(..., x='fpr', y='recall') draws a ROC curve, and each chart has a function of its own",
    **dict.fromkeys(("hue", "style"), "several scores are systems, which have colours; by= names groups"),
    **dict.fromkeys(("col", "row", "col_wrap"), "facet= of plot draws panels, for two keys in rows and columns"),
    **dict.fromkeys(("ci", "errorbar"), "spread= of plot says what is drawn around an average"),
    **dict.fromkeys(
        ("palette", "cmap", "colours", "color_discrete_map"), "colors={name: colour} sets the colours by name"
    ),
}
"""The same for functions that draw, which take `ax`."""
_LONGEST_NUMBER = 100  # characters
_SUFFIXES = ("", "_columns", "_column", "_cols", "_col", "_name")
_FORMATS = {"float16": "e", "float32": "f"}
"""Formats of `struct` by the names of the short float dtypes."""
DEFAULTS: Mapping[str, Any] = {
    "ties": "threshold",
    "tie_break_descending": True,
    "ascending": False,
    "unscored": "raise",
    "unjudged": "raise",
}
"""Default values of options. Passing the default is the same as leaving the option out."""
_RAISE = dis.opmap["RAISE_VARARGS"]
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class Refusal(NamedTuple):
    """An option that a function does not accept."""

    option: str
    reason: str
    """The reason and the alternative: the second half of the error message."""
    values: tuple[str, ...] = ()
    """The refused values. If empty, every value but the default is refused."""
    with_option: str | None = None
    """The argument together with which the option is refused. None: always."""

    def applies(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call with these arguments is refused."""
        if self.with_option is not None and not is_set(self.with_option, arguments):
            return False
        value = arguments.get(self.option)
        return is_set(self.option, arguments) and (not self.values or (isinstance(value, str) and value in self.values))


def is_set(option: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether an option has a value other than its default."""
    value = arguments.get(option)
    return value is not None and not (isinstance(value, (str, bool)) and value == DEFAULTS.get(option))


def refuse_options(caller: str, arguments: Mapping[str, Any], refusals: Iterable[Refusal]) -> None:
    """Raise for the first option of the table that is set."""
    for refusal in refusals:
        if refusal.option in arguments and refusal.applies(arguments):
            option = f"{refusal.option}={shown(arguments[refusal.option]) if refusal.option in DEFAULTS else ''}"
            context = f" with {refusal.with_option}=" if refusal.with_option else ""
            raise ValueError(f"{option}: {caller} does not take it{context}; {refusal.reason}")


def public(refusals: Sequence[Refusal] = (), *, others: bool = False) -> Callable[[Function], Function]:
    """Make a function public: it refuses unknown keywords and the options of the table, before it looks at anything.

    `others`: whether the function passes unknown keywords on to another library.

    The traceback of an error that this package raises ends at the function. The error keeps the whole traceback as
    `full_traceback`, and FRAME_PR_TRACEBACK=1 in the environment shows it.
    """

    def decorate(function: Function) -> Function:
        @wraps(function)
        def call(*args: Any, **arguments: Any) -> Any:
            __tracebackhide__ = True  # IPython and pytest leave this frame out of tracebacks.
            try:
                refuse_unknown(function, arguments, refusals, others=others)
                refuse_options(function.__name__, arguments, refusals)
                return function(*args, **arguments)
            except Exception as error:
                if not _is_raised_here(error):
                    _refuse_spark_columns(function, args, arguments)
                    raise
                if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                    error = _explain_misfit(function, args, arguments, error)
                elif os.environ.get("FRAME_PR_TRACEBACK") == "1":
                    raise
                # If one public function called another, the error has its full traceback already.
                error.full_traceback = getattr(error, "full_traceback", error.__traceback__)  # type: ignore[attr-defined]
                error.__traceback__ = None
                raise error  # FRAME_PR_TRACEBACK=1 shows the frames below

        return cast(Function, named_in_tracebacks(call, function))

    return decorate


def named_in_tracebacks(wrapper: Function, function: Callable[..., Any]) -> Function:
    """Let tracebacks and profiles show a wrapper by the name of its function."""
    code: Any = wrapper
    code.__code__ = code.__code__.replace(co_name=function.__name__)
    return wrapper


def _is_raised_here(error: Exception) -> bool:
    """Return whether a `raise` statement of this package, or the call of the function, raised the error."""
    if hasattr(error, "full_traceback"):
        return True
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None or traceback is error.__traceback__:
        return True  # No frame below the wrapper: the arguments do not fit the signature.
    frame = traceback.tb_frame
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package == __name__.partition(".")[0] and frame.f_code.co_code[traceback.tb_lasti] == _RAISE


def _explain_misfit(
    function: Callable[..., Any], args: tuple[Any, ...], arguments: Mapping[str, Any], error: Exception
) -> Exception:
    """Return an error that names missing or surplus arguments, without the frame, which Python's own error counts."""
    parameters = {name: entry for name, entry in signature(function).parameters.items() if entry.kind in _NAMED}
    by_position = [name for name, entry in parameters.items() if entry.kind is not Parameter.KEYWORD_ONLY]
    required = [name for name, entry in parameters.items() if entry.default is Parameter.empty]
    missing = [name for name in required if name not in arguments and name not in by_position[: len(args)]]
    has_frame, caller = by_position[:1] == ["frame"], function.__name__
    if has_frame and args and not any(hasattr(type(args[0]), name) for name in ("columns", "schema")):
        text = (
            f"the frame comes first, then the names of its columns; got {shown(args[0])}: polars.DataFrame(...) makes "
            "a frame of a dict of arrays"
        )
    elif len(args) > len(by_position):
        names = ", ".join(by_position[has_frame:])
        text = (
            f"{caller} takes {names} by position, and {len(args) - has_frame} values came; name the other arguments, "
            "as in by=..., and pass several columns as a list"
        )
    elif missing:
        names = ", ".join(name for name in required if name != "frame" or name in missing)
        text = f"{caller} takes {names}; {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    else:
        return error
    explained = TypeError(text).with_traceback(error.__traceback__)
    explained.__suppress_context__ = True
    return explained


def _refuse_spark_columns(function: Callable[..., Any], args: tuple[Any, ...], arguments: dict[str, Any]) -> None:
    """Refuse a Spark Column and name its argument: a Column has no truth value and no length."""
    for name, value in [*zip(signature(function).parameters, args, strict=False), *arguments.items()]:
        if type(value).__name__ == "Column" and type(value).__module__.startswith("pyspark."):
            raise TypeError(f"{name} takes a value or the name of a column; got a Spark Column") from None


def scalar(value: Any) -> Any:
    """Convert an array without dimensions to a number. A short float becomes the shortest decimal that rounds to it."""
    dimensions = getattr(value, "ndim", None)  # An attribute of a Spark Column is another Column.
    if not (isinstance(dimensions, int) and dimensions == 0 and hasattr(value, "item")):
        return value
    number, dtype = value.item(), str(getattr(value, "dtype", "")).rpartition(".")[2]  # such as torch.float32
    return _shortest(number, _FORMATS[dtype]) if dtype in _FORMATS else number


def _shortest(number: float, struct_format: str) -> float:
    """Return the decimal with the fewest digits that rounds to this short float."""
    for digits in range(1, 10):
        decimal = float(f"{number:.{digits}g}")
        with suppress(OverflowError):
            if pack(struct_format, decimal) == pack(struct_format, number):
                return decimal
    return number


def flag(argument: str, value: Any) -> bool:
    """Validate a Boolean of Python or numpy."""
    answer = scalar(value)
    if not isinstance(answer, bool):
        raise TypeError(f"{argument} must be True or False, got {shown(value)}")
    return answer


def text(argument: str, value: Any) -> str:
    """Validate a text."""
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be text, got {shown(value)}")
    return value


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer of any library. True is not an integer here."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole(argument: str, value: Any, least: int, most: int | None = None) -> int:
    """Validate an integer of any library. True is refused."""
    number = scalar(value)
    if not is_whole(number):
        hint = f": write {int(number)}" if isinstance(number, float) and number.is_integer() else unquoted(value)
        raise TypeError(f"{argument} must be a whole number of at least {least}, got {shown(value)}{hint}")
    if number < least:
        raise ValueError(f"{argument} must be a whole number of at least {least}, got {shown(value)}")
    if most is not None and number > most:
        raise ValueError(f"{argument} must be at most {most}, got {shown(value)}")
    if number >= 2**62:
        raise ValueError(f"{argument} must be below 2**62, got {shown(value)}")
    return int(number)


def real(argument: str, value: Any) -> Any:
    """Validate a number of any library that is not NaN. True is refused."""
    number = scalar(value)
    if isinstance(number, Decimal) and not number.is_nan():
        number = Fraction(number) if number.is_finite() else float(number)
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{argument} must be a number, got {shown(value)}{unquoted(value)}")
    if number != number:
        raise ValueError(f"{argument} must be a number, got {shown(value)}")
    return number


def unquoted(value: Any) -> str:
    """Return the advice for a number in quotes."""
    if isinstance(value, str) and len(value) < _LONGEST_NUMBER:
        with suppress(ValueError):
            float(value)
            return f": write the number without quotes, {value.strip()}"
    return ""


def filling(argument: str, value: Any) -> float | None:
    """Validate the value that replaces nulls: a number, which may be NaN, or None."""
    number = scalar(value)
    if number is None:
        return None
    if isinstance(number, (Real, Decimal)) and not isinstance(number, bool):
        with suppress(OverflowError, ValueError):
            return float(number)
    raise TypeError(f"{argument} must be a number, or None for null, got {shown(value)}{unquoted(value)}")


def one_of(argument: str, value: Any, allowed: Sequence[Choice]) -> Choice:
    """Validate a value against a few words or numbers. None is valid if it is one of them."""
    item = scalar(value)
    for choice in allowed:
        # Compare types too: True equals 1, and an expression or an array may equal anything.
        if item is choice or ((isinstance(item, str) or is_whole(item)) and item == choice):
            return choice
    *others, last = [repr(choice) for choice in allowed if choice is not None]
    words = f"{', '.join(others)} or {last}" if others else last
    none = ", or None" if None in allowed else ""
    same_type = isinstance(item, str) if isinstance(allowed[0], str) else is_whole(item)
    raise (ValueError if same_type else TypeError)(f"{argument} must be {words}{none}, got {shown(value)}")


def refuse_both(function: str, arguments: Mapping[str, Any], *, none: bool = False) -> None:
    """Require exactly one of the arguments that state a cutoff, or `none` of them."""
    named = {name: value for name, value in arguments.items() if value is not None}
    if len(named) == 1 or (none and not named):
        return
    got = " and ".join(f"{name}={shown(value)}" for name, value in named.items()) or "none"
    most = "at most one" if none else "one"
    raise ValueError(f"{function} takes {most} of {', '.join(f'{name}=' for name in arguments)}; got {got}")


def path_of(argument: str, value: Any) -> str:
    """Return a path as text."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{argument} must be text or a path, got {shown(value)}")
    name = os.fsdecode(value)
    if "\0" in name or not name:
        raise ValueError(f"{argument} is no path: {shown(name)}")
    return name


def several(argument: str, values: Any, wanted: str) -> list[Any]:
    """Return one value or several as a list. A text counts as one value."""
    values = scalar(values)
    if isinstance(values, (bytes, bytearray, memoryview, Mapping, pl.Expr)) or hasattr(type(values), "columns"):
        raise TypeError(f"{argument} takes {wanted}; got {shown(values)}")
    if not isinstance(values, Iterable) or isinstance(values, str):
        return [values]
    try:
        listed = list(values)
    except TypeError:  # A column of Ibis has a method __iter__ that raises.
        raise TypeError(f"{argument} takes {wanted}; got {shown(values)}") from None
    if not listed:
        raise ValueError(f"{argument} is an empty list: give at least one value")
    return listed


def refuse_set(argument: str, values: Any) -> None:
    """Refuse a set: the order of the values matters, and a set has another order in each process."""
    if isinstance(values, (set, frozenset)):
        raise TypeError(f"{argument}: a set has no order, and the result depends on it; give a list")


def names_of(argument: str, values: Any, wanted: str) -> list[str]:
    """Return one text or several, each of them once."""
    listed = several(argument, values, wanted)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(f"{argument} takes {wanted}; got {shown(name)}")
        if listed.count(name) > 1:
            raise ValueError(f"{argument} has {shown(name)} twice")
    return listed


@cache
def arguments_of(function: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    """Return the keyword arguments of a public function, and whether it accepts others too."""
    names, takes_others = [], False
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is not Parameter.VAR_KEYWORD:
            names.append(name)
        elif str(parameter.annotation).startswith("Unpack["):
            names += get_args(eval(parameter.annotation, function.__globals__))[0].__annotations__
        else:
            takes_others = True
    return tuple(name for name in names if name not in ("self", "frame")), takes_others


def refuse_unknown(
    function: Callable[..., Any], words: Iterable[str], refusals: Iterable[Refusal] = (), *, others: bool = False
) -> None:
    """Raise for a keyword that the function does not have, and name the argument that it may mean."""
    names, takes_others = arguments_of(function)
    unknown = [word for word in words if word not in names and word != "frame"]
    if unknown and (takes_others or others):
        # Other keywords are passed on, so only a synonym of a required argument is unknown.
        required = [name for name, entry in signature(function).parameters.items() if entry.default is Parameter.empty]
        unknown = [word for word in unknown if any(word in SYNONYMS.get(name, ()) for name in required)]
    if not unknown:
        return
    refused = {entry.option: entry.reason for entry in refusals if not (entry.values or entry.with_option)}
    text, caller = f"unexpected keyword argument {shown(unknown[0])}; ", function.__name__
    if (argument := meaning(unknown[0], [*names, *refused])) in refused:
        raise TypeError(f"{text}{caller} does not take {argument}=: {refused[argument]}")
    names = tuple(name for name in names if name not in refused)
    raise TypeError(text + (advice(unknown[0], names) or f"{caller} takes {', '.join(names)}"))


def meaning(word: str, names: Sequence[str]) -> str | None:
    """Return the argument that a word is a synonym or a misspelling of."""
    for suffix in _SUFFIXES:
        stem = word.lower().removesuffix(suffix)
        synonyms = [name for name, words in SYNONYMS.items() if stem in words]
        for name in (stem, f"{stem}s", *synonyms):
            if name in names:
                return name
    near = [] if word in _ADVICE else nearest(word, names, cutoff=0.8)
    return near[0] if near else None


def advice(word: str, names: Sequence[str]) -> str:
    """Return what to write instead of an unknown keyword."""
    if "ax" in names and word in _PLOT_ADVICE:
        return _PLOT_ADVICE[word]
    if argument := meaning(word, names):
        return f"did you mean {argument}=?"
    return _ADVICE["undefined"] if word in SYNONYMS["undefined"] else _ADVICE.get(word, "")
