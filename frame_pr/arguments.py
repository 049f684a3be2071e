"""Cut-offs as callers give them -> the text that stands in a metric's name."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any


def each(argument: str, values: Any) -> list[Any]:
    """One value or several, as a list."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        listed = list(values)
        if not listed:
            raise ValueError(f"{argument} is an empty list: give at least one value")
        return listed
    return [values]


def rank(k: Any) -> str:
    """A cut-off rank: whole and positive."""
    if isinstance(k, bool) or not isinstance(k, Integral) or int(k) < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
    return str(int(k))


def number(argument: str, value: Any) -> str:
    """A finite or infinite number, written as briefly as reads back the same."""
    if isinstance(value, bool) or not isinstance(value, Real) or value != value:
        raise ValueError(f"{argument} must be a number, got {value!r}")
    if isinstance(value, Integral):
        return str(int(value))
    as_float = float(value)
    return str(int(as_float)) if as_float.is_integer() and abs(as_float) < 2**53 else repr(as_float)


def recall_level(recall: Any) -> str:
    """A recall: between 0 and 1."""
    text = number("recall", recall)
    if not 0 <= recall <= 1:
        raise ValueError(f"recall must lie between 0 and 1, got {recall!r}")
    return text


def f_of(beta: Any) -> str:
    """`f1`, `f0.5`, ... of a positive, finite beta."""
    text = number("beta", beta)
    if not 0 < beta < float("inf"):
        raise ValueError(f"beta must be a positive number, got {beta!r}")
    return f"f{text}"
