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
_LABELS = ("Interval", "Period", "UUID")
"""The classes of labels that are short as text."""
_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}"}
_LONGEST = 80  # characters of a value
_MOST_SHOWN = 5  # values of a list


class DataWarning(UserWarning):
    """Data or arguments that look like a mistake, although the result may be what was meant."""


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn about data that look like a mistake, at the line outside frame_pr and polars."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and _package(frame.f_globals.get("__name__", "")) in _INSIDE:
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(module: str) -> str:
    return module.partition(".")[0]


def shown(value: Any) -> str:
    """Format a value for an error message: in full if it is short, else by its type."""
    kind = type(value)
    if isinstance(value, PurePath) or (isinstance(value, str) and kind is not str):
        value = str(value)
    if isinstance(value, (str, bytes)):
        return repr(value) if len(value) <= _LONGEST else repr(value[: _LONGEST // 2]) + "..."
    is_number = _package(kind.__module__) == "numpy" and getattr(value, "ndim", None) == 0
    if is_number or isinstance(value, (date, time, timedelta)) or kind.__name__ in _LABELS:
        return _cut(str(value))
    if isinstance(value, (Number, type(None))):
        with suppress(ValueError):  # Python writes no integer of more than 4,300 digits.
            return _cut(repr(value))
    if kind in _BRACKETS:
        return _cut(_shown_items(list(value), *_BRACKETS[kind]))
    return kind_of_value(value)


def _shown_items(
    items: list[Any],
    start: str,
    end: str,
) -> str:
    """Format the first items of a list, tuple or set."""
    more = ""
    if len(items) > _MOST_SHOWN:
        more = ", ..."
    elif start == "(" and len(items) == 1:
        more = ","
    return start + ", ".join(map(shown, items[:_MOST_SHOWN])) + more + end


def kind_of_value(value: Any) -> str:
    """Describe the type of an object, such as `a polars DataFrame`."""
    kind = type(value)
    if isinstance(value, type):
        return f"the class {_cut(value.__name__)}"
    if kind.__name__ in ("function", "builtin_function_or_method"):
        return f"the function {_cut(value.__name__)}"
    name = "expression" if isinstance(value, pl.Expr) else _cut(kind.__name__)
    package = _package(kind.__module__)
    if package not in ("builtins", "__main__", "collections"):
        name = f"{package} {name}"
    article = "an" if name[0].lower() in "aeio" else "a"
    return f"{article} {name}"


def examples(values: Iterable[Any]) -> str:
    """Format the first few values, and count the rest."""
    values = list(values)
    first = ", ".join(map(shown, values[:_MOST_SHOWN]))
    if len(values) > _MOST_SHOWN:
        return f"{first} and {len(values) - _MOST_SHOWN} more"
    return first


def nearest(
    name: str,
    candidates: Iterable[Any],
    cutoff: float = 0.5,
) -> list[Any]:
    """Return the candidates that differ from a name by case only, else at most three near ones."""
    import difflib  # Takes 1 ms, which only an error needs.

    by_text = {str(candidate): candidate for candidate in candidates}
    lower = name[:_LONGEST].lower()
    equal = [candidate for text, candidate in by_text.items() if text.lower() == lower]
    if equal:
        return equal
    lowered = {text.lower(): candidate for text, candidate in reversed(by_text.items())}
    return [lowered[text] for text in difflib.get_close_matches(lower, lowered, 3, cutoff)]


def did_you_mean(near: Sequence[Any]) -> str:
    """Return the question that suggests the nearest name."""
    return f"did you mean {' or '.join(map(shown, near))}?"


def pluralize(
    number: int,
    singular: str,
    plural: str,
) -> str:
    """Format a number and its noun."""
    return f"{number} {singular if number == 1 else plural}"


def first_line(error: BaseException) -> str:
    """Return the first line of a polars error, without the plan."""
    return _cut(str(error).strip().partition("\n")[0], 2 * _LONGEST)


def _cut(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
