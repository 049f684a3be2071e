"""Wrong calls of expressions: kinds 43 to 52."""

import numpy as np
import polars as pl
import pytest
from defect_frames import Case, S, assert_end, run

CASES = [
    Case(
        43,
        lambda: run.with_columns(s=pl.Series([1.0, None, 3.0, 4.0, 5.0])).select(S.average_precision("rel")),
        ValueError,
        "score 's' has 1 missing of 5 values (null or NaN); drop these rows, or",
    ),
    Case(
        44,
        lambda: run.select(pl.col("lab").pr.average_precision("rel")),
        ValueError,
        "score column 'lab' is String: it must be numeric, higher ranking",
    ),
    Case(
        44,
        lambda: run.select((pl.col("rel") > 0).pr.average_precision("rel")),
        ValueError,
        "score column 'rel' is Boolean: it must be numeric, higher ranking",
    ),
    Case(
        45,
        lambda: run.select(S.average_precision("lab")),
        ValueError,
        "truth 'lab' is String, neither boolean nor 0/1: name its positive",
    ),
    Case(
        45,
        lambda: run.cast({"lab": pl.Categorical}).select(S.average_precision("lab")),
        ValueError,
        "truth 'lab' is Categorical, neither boolean nor 0/1: name its positive",
    ),
    Case(
        45,
        lambda: run.with_columns(t=pl.struct("rel")).select(S.average_precision("t")),
        ValueError,
        "truth 't' is Struct({'rel': Int64}), neither boolean nor 0/1: name its",
    ),
    Case(
        46,
        lambda: run.select(S.average_precision("rel", positive="1")),
        ValueError,
        "positive='1' cannot be a value of column 'rel', which is Int64: give",
    ),
    Case(
        46,
        lambda: run.select(S.average_precision("lab", positive=1)),
        ValueError,
        "positive=1 cannot be a value of column 'lab', which is String: give one",
    ),
    Case(
        46,
        lambda: run.select(S.average_precision("lab", positive=["x"])),
        ValueError,
        "positive=['x'] cannot be a value of column 'lab', which is String: give",
    ),
    Case(
        46, lambda: run.select(S.average_precision("rel", positive={1})), TypeError, "positive takes one label, got {1}"
    ),
    Case(
        47,
        lambda: run.select(S.average_precision("lab", positive=True)),
        ValueError,
        "positive=True cannot be a value of column 'lab', which is String: give",
    ),
    Case(
        48,
        lambda: run.select(S.average_precision(5)),
        TypeError,
        "truth takes the name of one column, or a polars expression; got 5",
    ),
    Case(
        50,
        lambda: run.select(pl.col("s", "w").pr.average_precision("rel")),
        ValueError,
        "score gives several columns: an expression takes one, evaluate takes a",
    ),
    Case(
        50,
        lambda: run.select(S.average_precision(pl.col("rel", "pred"))),
        ValueError,
        "truth gives several columns: an expression takes one, evaluate takes a",
    ),
    Case(51, lambda: run.select(S.precision_at_k("rel", np.int64(2))), None, [(0.5,)]),
    Case(51, lambda: run.select(S.precision_at_k("rel", 2**32)), None, [(3 / 2**32,)]),
    Case(
        52,
        lambda: S.evaluate("average_precision", "rel"),
        AttributeError,
        ".pr of an expression has no 'evaluate', it has average_precision,",
    ),
    Case(
        52,
        lambda: run.select(S.average_precision("rel", weight="w")),
        TypeError,
        "unexpected keyword argument 'weight'; an expression takes no policies:",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.kind}-{i}" for i, case in enumerate(CASES)])
def test_expressions(case):
    assert_end(case)
