"""Texts of errors and warnings: short values, types, counts, and the nearest name."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType
from typing import Any

import polars as pl

# The check of a LazyFrame runs inside its plan, so polars frames are on the stack above it.
_INSIDE = (__name__.partition(".")[0], "polars")
_LONGEST = 80  # characters of a value
_EXAMPLES = 5  # values shown in an error
_DIGITS = 40  # Python writes no more than 4,300 digits of an integer, and is slow before that.
_SHOWN_AS_IS = (str, bytes, int, float, complex, Decimal, Fraction, date, time, timedelta, type(None))


class DataWarning(UserWarning):
    """Data or arguments that look like a mistake, although the result may be what was meant."""


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn, by default about data that look like a mistake. The warning names the line outside frame_pr and polars."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def shown(value: Any) -> str:
    """Format a value for an error message: in full if it is short, else by its type."""
    if isinstance(value, Integral) and abs(int(value)) >= 10**_DIGITS:
        return f"a whole number of more than {_DIGITS} digits"
    if isinstance(value, PurePath):
        value = str(value)
    if isinstance(value, (str, bytes)):
        return _cut(repr(value[:_LONGEST])) if len(value) <= _LONGEST else repr(value[: _LONGEST // 2]) + "..."
    if isinstance(value, (date, time, timedelta)):
        return str(value)
    if isinstance(value, _SHOWN_AS_IS) or _is_scalar(value):
        is_long = isinstance(value, Fraction) and max(abs(value.numerator), value.denominator) >= 10**_DIGITS
        return _cut(str(value) if is_long else repr(value))
    if type(value) in (list, tuple, set, frozenset):
        items = [shown(item) for item in list(value)[:_EXAMPLES]]
        more = ", ..." if len(value) > _EXAMPLES else ""
        start, end = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
        more = "," if isinstance(value, tuple) and len(value) == 1 else more
        return _cut(f"{start}{', '.join(items)}{more}{end}")
    return kind_of_value(value)


def kind_of_value(value: Any) -> str:
    """Describe the type of an object, such as `a polars DataFrame`."""
    if isinstance(value, pl.Expr):
        return "a polars expression"
    if isinstance(value, (FunctionType, BuiltinFunctionType)):
        return f"the function {_cut(value.__name__)}"
    kind = value if isinstance(value, type) else type(value)
    package, name = kind.__module__.partition(".")[0], _cut(kind.__qualname__.rpartition(".")[2])
    name = name if package in ("builtins", "__main__", "collections") else f"{package} {name}"
    if isinstance(value, type):
        return f"the class {name}"
    return f"{'an' if name[0].lower() in 'aeio' else 'a'} {name}"


def examples(values: Iterable[Any], most: int = _EXAMPLES) -> str:
    """Format the first few values, and count the rest."""
    values = list(values)
    first = ", ".join(map(shown, values[:most]))
    return first + (f" and {len(values) - most} more" if len(values) > most else "")


def nearest(name: str, candidates: Iterable[Any], cutoff: float = 0.5) -> list[Any]:
    """Return the candidates nearest to a name, at most three unless several differ from it only by case."""
    if len(name) > _LONGEST:
        return []
    names = {str(candidate): candidate for candidate in candidates}
    other_case = [candidate for candidate in names if candidate.lower() == name.lower()]
    lowered: dict[str, str] = {candidate.lower(): candidate for candidate in reversed(names)}
    import difflib  # Takes 1 ms, which only an error needs.

    near = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=cutoff)
    return [names[candidate] for candidate in other_case or map(lowered.__getitem__, near)]


def did_you_mean(near: Sequence[Any]) -> str:
    """Return the question that suggests the nearest name."""
    return f"did you mean {' or '.join(map(shown, near))}?"


def pluralize(number: int, singular: str, plural: str) -> str:
    """Format a number and its noun."""
    return f"{number} {singular if number == 1 else plural}"


def first_line(error: BaseException) -> str:
    """Return the first line of a polars error, without the plan."""
    return _cut(str(error).strip().partition("\n")[0], 2 * _LONGEST)


def _cut(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _is_scalar(value: Any) -> bool:
    """Return whether a value is a numpy number or an array without dimensions."""
    return getattr(value, "ndim", None) == 0 and type(value).__module__.partition(".")[0] == "numpy"
