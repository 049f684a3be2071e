"""Wrong calls of expressions: each with its error, or with the right numbers."""

import numpy as np
import polars as pl
import pytest
from call_cases import Case, S, assert_end, run

CASES = [
    Case(
        lambda: run.select(pl.col("s").mean().pr.average_precision("rel")),
        ValueError,
        "score 's' gives 1 value for 5 rows: leave out the aggregation, or end",
    ),
    Case(
        lambda: run.select(pl.lit(1).pr.average_precision("rel")),
        ValueError,
        "score 'literal' gives 1 value for 5 rows: leave out the aggregation, or",
    ),
    Case(
        lambda: run.select(S.average_precision(pl.col("rel").head(1))),
        ValueError,
        "truth 'rel' gives 1 value for 5 rows: it must give one for every row",
    ),
    Case(lambda: run.select(S.metric("rel", ["f1@2"])), TypeError, "a metric is asked for by its name, got ['f1@2']"),
    Case(lambda: run.select(S.metric("rel", "k@recall=5e-324")), None, [(1,)]),
    Case(lambda: run.select(S.metric("rel", "f1@threshold=1e400")), None, [(0.0,)]),
    Case(lambda: run.select(S.metric("rel", "max_f1e16")), None, [(1.0,)]),
    Case(
        lambda: run.with_columns(s=pl.Series([1.0, None, 3.0, 4.0, 5.0])).select(S.average_precision("rel")),
        ValueError,
        "score 's' has 1 missing of 5 values (null or NaN); drop these rows, or",
    ),
    Case(
        lambda: run.select(pl.col("lab").pr.average_precision("rel")),
        ValueError,
        "score column 'lab' is String: it must be numeric, higher ranking",
    ),
    Case(
        lambda: run.select((pl.col("rel") > 0).pr.average_precision("rel")),
        ValueError,
        "score column 'rel' is Boolean: it must be numeric, higher ranking",
    ),
    Case(
        lambda: run.select(S.average_precision("lab")),
        ValueError,
        "truth 'lab' is String, neither boolean nor 0/1: name its positive",
    ),
    Case(
        lambda: run.cast({"lab": pl.Categorical}).select(S.average_precision("lab")),
        ValueError,
        "truth 'lab' is Categorical, neither boolean nor 0/1: name its positive",
    ),
    Case(
        lambda: run.with_columns(t=pl.struct("rel")).select(S.average_precision("t")),
        ValueError,
        "truth 't' is Struct({'rel': Int64}), neither boolean nor 0/1: it must have one label in a row",
    ),
    Case(
        lambda: run.select(S.average_precision("rel", positive="1")),
        ValueError,
        "positive='1' cannot be a value of column 'rel', which is Int64: give",
    ),
    Case(
        lambda: run.select(S.average_precision("lab", positive=1)),
        ValueError,
        "positive=1 cannot be a value of column 'lab', which is String: give one",
    ),
    Case(
        lambda: run.select(S.average_precision("lab", positive=["x"])),
        TypeError,
        "positive takes one label, got ['x']",
    ),
    Case(lambda: run.select(S.average_precision("rel", positive={1})), TypeError, "positive takes one label, got {1}"),
    Case(
        lambda: run.select(S.average_precision("lab", positive=True)),
        ValueError,
        "positive=True cannot be a value of column 'lab', which is String: give",
    ),
    Case(
        lambda: run.select(S.average_precision(5)),
        TypeError,
        "truth takes the name of one column, or a polars expression; got 5",
    ),
    Case(
        lambda: run.select(pl.col("s", "w").pr.average_precision("rel")),
        ValueError,
        "score gives several columns: an expression takes one, evaluate takes a",
    ),
    Case(
        lambda: run.select(S.average_precision(pl.col("rel", "pred"))),
        ValueError,
        "truth gives several columns: an expression takes one, evaluate takes a",
    ),
    Case(lambda: run.select(S.precision_at_k("rel", np.int64(2))), None, [(0.5,)]),
    Case(lambda: run.select(S.precision_at_k("rel", 2**32)), None, [(3 / 2**32,)]),
    Case(
        lambda: S.evaluate("average_precision", "rel"),
        AttributeError,
        ".pr of an expression has no 'evaluate': it has average_precision,",
    ),
    Case(
        lambda: run.select(S.average_precision("rel", weight="w")),
        TypeError,
        "unexpected keyword argument 'weight'; average_precision does not take weight=: expressions have no",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_wrong_calls(case):
    assert_end(case)


def test_a_missing_column_of_an_expression():
    # The one error that cannot be ours: polars looks for it before any function is called.
    with pytest.raises(Exception, match=r"rell"):
        run.select(S.average_precision("rell"))
