"""The same as `call_cases`, for cases that still carry a number: leaves with the last of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import call_cases
from call_cases import S, lazy, parts, pdf, run

__all__ = ["Case", "S", "assert_end", "lazy", "parts", "pdf", "run"]


class Case(NamedTuple):
    """A case with a number."""

    kind: int
    call: Callable[[], Any]
    error: type[Exception] | None
    end: Any


def assert_end(case: Case) -> None:
    """Check it without its number."""
    call_cases.assert_end(call_cases.Case(*case[1:]))
