"""Read numbers from names of metrics and from arguments, and write them."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import isinf
from numbers import Integral
from typing import Any

from frame_pr.frames.arguments import check_float, check_real, several

DECIMAL = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?"
NUMBER = rf"[-+]?(?:inf|{DECIMAL})"
_MOST_NUMBERS = 1000  # Each number becomes a column, so more of them would take seconds.
LONGEST_NAME = 100
"""The longest number in a name. A longer one is a mistake, and takes long to read."""


def each(argument: str, values: Any, most: int = _MOST_NUMBERS) -> list[Any]:
    """Return one value or several as a list of limited length."""
    numbers = several(argument, values, "a number, or several")
    if len(numbers) > most:
        raise ValueError(
            f"{argument}: {len(numbers)} values are more than {most}; curve(...) has every "
            "threshold and rank of the scores in one table"
        )
    return numbers


def number(argument: str, value: Any) -> str:
    """Write a finite or infinite number as the shortest text that reads back as the same number."""
    real = check_real(argument, value)
    if isinstance(real, Integral) and abs(int(real)) < 2**128:
        return str(int(real))
    as_float = check_float(argument, real)
    if isinstance(value, Decimal) and value.is_finite() and as_float != real:
        # It has more digits than a float.
        text = str(value).lower()
        has_zeros = "." in text and "e" not in text
        return text.rstrip("0").rstrip(".") if has_zeros else text
    if as_float % 1 == 0 and abs(as_float) < 2**53:
        return str(int(as_float))
    return repr(as_float)


def f_of(beta: Any) -> str:
    """Write the name of an F-beta score: `f1`, `f0.5`, ... for a positive, finite beta."""
    text = number("beta", beta)
    read_beta(text)
    return f"f{text}"


def read_beta(text: str) -> float:
    """Read the beta in the name of an F-beta score."""
    beta = read_number(text)
    if not 0 < beta < float("inf"):
        raise ValueError(f"beta must be a positive number, got {text}")
    return beta


def refuse_long(what: str, name: str) -> None:
    """Refuse a name that is too long, before reading it, and show only its beginning."""
    if len(name) > LONGEST_NAME:
        raise ValueError(
            f"no {what} is named {name[:30]!r} and so on: {len(name)} characters, {LONGEST_NAME} "
            "are the most"
        )


def read_number(text: str) -> float:
    """Read the number in a name. An integer stays exact."""
    whole = re.fullmatch("[-+]?[0-9]{1,18}|[0-9]{19}", text)
    return int(text) if whole else float(text)


def read_decimal(text: str) -> Fraction | float:
    """Read the exact value of a number in a name; a float if it is infinite."""
    about = float(text)
    if isinf(about):
        return about
    if about == 0 and re.search("[1-9]", text.partition("e")[0]):
        # It is nearer to 0 than any float, and so is this number, which needs no large power of 10.
        return Fraction(-1 if text.startswith("-") else 1, 2**1200)
    return Fraction(text)
