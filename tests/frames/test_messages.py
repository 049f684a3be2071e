"""What warnings and errors say."""

import uuid

import numpy as np
import pandas as pd
import polars as pl
import pytest

import frame_pr as fp
from frame_pr.frames.messages import shown

RUN = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6]})


@pytest.mark.parametrize(
    "call",
    [
        lambda: fp.confusion(RUN, "truth", "score", threshold=50),
        lambda: RUN.pr.confusion("truth", "score", threshold=50),
        pytest.param(
            lambda: RUN.lazy().pr.confusion("truth", "score", threshold=50).collect(),
            marks=pytest.mark.skipif(
                pl.__version__.startswith(("1.42", "1.43", "1.44")),
                reason="polars 1.44 runs a plan on a thread without the caller's line",
            ),
        ),
    ],
    ids=["function", "method", "lazy"],
)
def test_a_warning_names_the_line_of_the_caller(call):
    with pytest.warns(fp.DataWarning, match="threshold: 50, far from all scores") as caught:
        call()
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(1), "1"),
        (np.float32(0.1), "0.1"),
        (np.str_("a"), "'a'"),
        (np.bool_(True), "True"),
        ([np.int64(0), np.float64(0.5)], "[0, 0.5]"),
        (pd.Interval(0, 1), "(0, 1]"),
        (pd.Period("2024-01", "M"), "2024-01"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ((1,), "(1,)"),
        ([1, 2, 3, 4, 5, 6], "[1, 2, 3, 4, 5, ...]"),
        (None, "None"),
        (object(), "an object"),
        (pl.DataFrame(), "a polars DataFrame"),
        (pl.DataFrame, "the class DataFrame"),
        (len, "the function len"),
        ("a" * 100, repr("a" * 40) + "..."),
    ],
)
def test_values_in_messages(value, text):
    assert shown(value) == text
