"""Equality of numbers and of frames, up to the last bits of a float."""

from fractions import Fraction

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_pr as fp


def near(value):
    """A number to 1e-12; None, a count or a threshold as it is."""
    return (
        pytest.approx(float(value), rel=0, abs=1e-12)
        if isinstance(value, (float, Fraction))
        else value
    )


def assert_same(left: pl.DataFrame, right: pl.DataFrame, *, dtypes: bool = True) -> None:
    """The same columns, rows and nulls; floats to 1e-12, as engines add in different orders."""
    assert_frame_equal(left, right, check_dtypes=dtypes, rel_tol=0, abs_tol=1e-12)


def assert_known(*arguments, **options) -> None:
    """The metric of one group, as a call and as an expression."""
    data, name, value = arguments[-3:]
    value = value if value is None else near(float(value))
    assert fp.evaluate(data, name, "relevant", "score", **options).item() == value, name
    if not options:
        assert data.select(pl.col("score").pr.metric(name, "relevant")).item() == value, name
