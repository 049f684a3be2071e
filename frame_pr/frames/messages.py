"""Texts of errors and warnings: short values, types, counts, and the nearest name."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, time, timedelta
from numbers import Number
from pathlib import PurePath
from typing import Any

import polars as pl

# The check of a LazyFrame runs inside its plan, so polars frames are on the stack above it.
_INSIDE = (__name__.partition(".")[0], "polars")
_LONGEST = 80  # characters of a value
_EXAMPLES = 5  # values shown in an error


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
    value = str(value) if isinstance(value, PurePath) else value
    if isinstance(value, (str, bytes)) and len(value) > _LONGEST:
        return repr(value[: _LONGEST // 2]) + "..."
    if isinstance(value, (date, time, timedelta)):
        return str(value)
    is_array_without_axes = type(value).__module__.startswith("numpy") and getattr(value, "ndim", None) == 0
    if isinstance(value, (str, bytes, Number, type(None))) or is_array_without_axes:
        with suppress(ValueError):  # Python writes no integer of more than 4,300 digits.
            return _cut(repr(value))
    if type(value) in (list, tuple, set, frozenset):
        start, end = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
        more = ", ..." if len(value) > _EXAMPLES else "," if start == "(" and len(value) == 1 else ""
        return _cut(start + ", ".join(map(shown, list(value)[:_EXAMPLES])) + more + end)
    return kind_of_value(value)


def kind_of_value(value: Any) -> str:
    """Describe the type of an object, such as `a polars DataFrame`."""
    if isinstance(value, type) or type(value).__name__ in ("function", "builtin_function_or_method"):
        return f"the {'class' if isinstance(value, type) else 'function'} {_cut(value.__name__)}"
    package, name = type(value).__module__.partition(".")[0], _cut(type(value).__name__)
    name = "expression" if isinstance(value, pl.Expr) else name
    name = name if package in ("builtins", "__main__", "collections") else f"{package} {name}"
    return f"{'an' if name[0].lower() in 'aeio' else 'a'} {name}"


def examples(values: Iterable[Any], most: int = _EXAMPLES) -> str:
    """Format the first few values, and count the rest."""
    values = list(values)
    first = ", ".join(map(shown, values[:most]))
    return first + (f" and {len(values) - most} more" if len(values) > most else "")


def nearest(name: str, candidates: Iterable[Any], cutoff: float = 0.5) -> list[Any]:
    """Return the candidates nearest to a name: those that differ from it only by case, otherwise at most three."""
    import difflib  # Takes 1 ms, which only an error needs.

    by_text = {str(candidate): candidate for candidate in candidates}
    lower, lowered = name[:_LONGEST].lower(), {text.lower(): text for text in reversed(by_text)}
    near = [lowered[text] for text in difflib.get_close_matches(lower, lowered, n=3, cutoff=cutoff)]
    return [by_text[text] for text in [text for text in by_text if text.lower() == lower] or near]


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
