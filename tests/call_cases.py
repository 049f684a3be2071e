"""A table of wrong calls: the frames that they are tried on, and how each ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pytest

import frame_pr as fp

# All of run: hits at ranks 1, 4 and 5, AP (1 + 2/4 + 3/5) / 3 = .7. Of a: 1. Of b: (1/2 + 2/3) / 2 = 7/12.
run = pl.DataFrame(
    {
        "q": ["a", "a", "b", "b", "b"],
        "rel": [1, 0, 0, 1, 1],
        "pred": [1, 0, 1, 1, 0],
        "s": [0.9, 0.8, 0.7, 0.6, 0.5],
        "lab": list("xyyxx"),
        "w": [1.0, 2.0, 1.0, 1.0, 3.0],
    }
)
pdf, lazy, S = run.to_pandas(), run.lazy(), pl.col("s").pr
parts = fp.partitioned(run, partitions=2, progress=False)


class Case(NamedTuple):
    """A call, and how it ends: with an error that begins like this, or with these rows; None, if with any."""

    call: Callable[[], Any]
    error: type[Exception] | None
    end: Any


def assert_end(case: Case) -> None:
    if case.error is None:
        found = case.call()
        if case.end is not None:
            rows = found.rows() if isinstance(found, pl.DataFrame) else found
            rows = list(found.itertuples(index=False, name=None)) if isinstance(found, pd.DataFrame) else rows
            assert all(map(_same, rows, case.end)), rows
            assert len(rows) == len(case.end)
        return
    with pytest.raises(case.error) as error:
        case.call()
    text = str(error.value).partition("\n\nThis error occurred")[0]
    assert text.startswith(case.end), text
    assert len(text) < 400


def _same(found: Any, expected: Any) -> bool:
    return all(
        math.isclose(one, other, rel_tol=1e-12) if isinstance(other, float) else one == other
        for one, other in zip(found, expected, strict=True)
    )
