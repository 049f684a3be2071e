"""Values of a parameter that only `make test` tries: `make check` takes one that goes a similar way."""

from typing import Any

import pytest


def slow(*values: Any) -> list[Any]:
    """These values, marked as slow."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]
