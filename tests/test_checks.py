import math
import re
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest
from names import CALL_IDS, CALLS, GOOD, call

import frame_pr as fp

# seen in the schema, so at once, on a LazyFrame too ----------------------------------------------------------------

AT_ONCE = [
    # Missing columns, with the near matches, or else with the columns that there are.
    ({"truth": "relevnt"}, ValueError, "no column 'relevnt' in the frame; did you mean 'relevant'?"),
    ({"score": "scores"}, ValueError, "no column 'scores' in the frame; did you mean 'score'?"),
    ({"by": "qury"}, ValueError, "no column 'qury' in the frame; did you mean 'query'?"),
    ({"by": ["query", "xyzzy"]}, ValueError, "no column 'xyzzy' in the frame; columns: 'query', 'relevant', 'score'"),
    ({"score": ["score", "scor"]}, ValueError, "no column 'scor' in the frame; did you mean 'score'?"),
    # The same column twice.
    ({"truth": "score"}, ValueError, "column 'score' is given twice"),
    ({"by": "relevant"}, ValueError, "column 'relevant' is given twice"),
    ({"by": ["query", "query"]}, ValueError, "column 'query' is given twice"),
    ({"score": ["score", "score"]}, ValueError, "column 'score' is given twice"),
    # Wrong types.
    ({"score": "label"}, TypeError, "score column 'label' is String: it must be numeric"),
    ({"score": ["score", "label"]}, TypeError, "score column 'label' is String: it must be numeric"),
    ({"truth": "label"}, TypeError, "column 'label' is String, neither boolean nor 0/1: name its positive label"),
    ({"positive": "yes"}, TypeError, "positive='yes' cannot be a value of column 'relevant', which is Int64"),
    ({"truth": "label", "positive": 1}, TypeError, "positive=1 cannot be a value of column 'label', which is String"),
    # Values, or several names, where the name of one column belongs.
    ({"truth": [1, 0, 1, 0, 1]}, TypeError, "truth takes the name of one column; got a list"),
    ({"truth": GOOD["relevant"]}, TypeError, "truth takes the name of one column; got a Series: add it to the frame"),
    ({"truth": np.ones(5)}, TypeError, "truth takes the name of one column; got a ndarray: add it to the frame"),
    (
        {"score": GOOD["score"].to_pandas()},
        TypeError,
        "score takes the name of a column, or several; got a Series: add",
    ),
    ({"score": GOOD.lazy()}, TypeError, "score takes the name of a column, or several; got a LazyFrame: add it"),
    ({"by": GOOD["query"]}, TypeError, "by takes the name of a column, or several; got a Series: add it to the frame"),
    ({"by": len}, TypeError, "by takes the name of a column, or several; got <built-in function len>"),
    ({"weight": np.ones(5)}, TypeError, "weight takes the name of one column; got a ndarray: add it to the frame"),
    ({"tie_break": ["label"]}, TypeError, "tie_break takes the name of one column; got a list"),
    ({"truth": None}, TypeError, "truth takes the name of one column; got None"),
    # The words of other libraries.
    ({"group_by": "query"}, TypeError, "unexpected keyword argument 'group_by'; did you mean by=?"),
    ({"groupby": "query"}, TypeError, "unexpected keyword argument 'groupby'; did you mean by=?"),
    ({"groups": "query"}, TypeError, "unexpected keyword argument 'groups'; did you mean by=?"),
    ({"pos_label": 1}, TypeError, "unexpected keyword argument 'pos_label'; did you mean positive=?"),
    ({"sample_weight": "score"}, TypeError, "unexpected keyword argument 'sample_weight'; did you mean weight=?"),
    ({"weights": "score"}, TypeError, "unexpected keyword argument 'weights'; did you mean weight=?"),
    ({"zero_division": 0}, TypeError, "unexpected keyword argument 'zero_division'; did you mean undefined=?"),
    (
        {"colour": "red"},
        TypeError,
        "unexpected keyword argument 'colour'; the policies are ties, tie_break, descending",
    ),
    # Nothing where something is needed.
    ({"score": []}, ValueError, "score names no column: give the name of the score column"),
    ({"by": [None]}, TypeError, "by takes the name of a column, or several; got None"),
]


@pytest.mark.parametrize(("given", "error", "message"), AT_ONCE, ids=[message[:40] for _, _, message in AT_ONCE])
def test_what_the_schema_shows_is_an_error_at_once(kind, given, error, message):
    frame = kind(GOOD)
    # The dtypes of pandas are read as the nearest of polars.
    message = re.escape(message).replace("which\\ is\\ Int64", "which is U?Int")
    with pytest.raises(error, match=message):
        call(frame, "average_precision", **{"by": "query"} | given)
    with pytest.raises(error, match=message):
        call(frame, "report", **{"by": "query"} | given)


@pytest.mark.parametrize("score", [[True, False], [date(2024, 1, 1), date(2024, 1, 2)], [[1.0], [2.0]], [None, None]])
def test_a_score_that_is_no_number(score):
    data = pl.DataFrame({"relevant": [1, 0], "points": score})
    for frame in (data, data.lazy()):
        with pytest.raises(TypeError, match=r"score column 'points' is \w+.*: it must be numeric"):
            frame.pr.average_precision("relevant", "points")


@pytest.mark.parametrize("function", ["average_precision", "curve", "evaluate", "confusion", "report"])
def test_a_key_named_like_a_result_column(kind, function):
    columns = {"average_precision": "average_precision", "curve": "recall", "evaluate": "rows", "confusion": "fn"}
    name = columns.get(function, "lift")
    given = {"evaluate": {"metrics": ["rows"]}, "confusion": {"k": 2}}.get(function, {})
    with pytest.raises(ValueError, match=f"by column '{name}' is named like a result column: rename it before"):
        call(kind(GOOD.rename({"query": name})), function, by=name, **given)


def test_expressions_that_do_not_fit():
    for frame in (GOOD, GOOD.lazy()):
        with pytest.raises(ValueError, match=r"score: this expression does not fit the frame: .*points") as error:
            frame.pr.average_precision("relevant", pl.col("points") * 2)
        assert "\n" not in str(error.value)  # no plan of polars
        with pytest.raises(ValueError, match="truth gives 5 columns: it must be one"):
            frame.pr.average_precision(pl.all(), "score")
        with pytest.raises(ValueError, match="by gives column 'query' twice"):
            frame.pr.average_precision("relevant", "score", by=[pl.col("query"), cs.string()])
        with pytest.raises(ValueError, match=r"by names no column|selects no column|gives no column"):
            frame.pr.average_precision("relevant", "score", by=cs.by_dtype(pl.Duration))
        with pytest.raises(ValueError, match=r"score names no column|selects no column|gives no column"):
            frame.pr.average_precision("relevant", cs.by_dtype(pl.Duration))


def test_expressions_on_pandas():
    frame = GOOD.to_pandas()
    for given in ({"by": pl.col("query")}, {"truth": pl.col("relevant")}, {"score": cs.numeric()}):
        with pytest.raises(TypeError, match="polars expressions work on polars frames: on pandas, give column names"):
            call(frame, "average_precision", **given)


@pytest.mark.parametrize("by", [GOOD["query"], pd.Series(list("aaabb")), GOOD["query"].to_numpy(), {"query": 1}])
@pytest.mark.parametrize("pandas", [False, True])
def test_values_where_a_name_is_wanted(by, pandas):
    frame = GOOD.to_pandas() if pandas else GOOD
    with pytest.raises(TypeError, match="by takes the name of a column, or several; got"):
        frame.pr.average_precision("relevant", "score", by=by)


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (GOOD.to_dicts(), "list"),
        (GOOD.to_dict(), "dict"),
        (GOOD.to_arrow(), "pyarrow.lib.Table"),
        (GOOD["score"], "polars.series.series.Series"),
        (GOOD["score"].to_pandas(), "Series"),
        (GOOD["score"].to_numpy(), "numpy.ndarray"),
        (None, "NoneType"),
        ("run.parquet", "str"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_frame_of_another_library(other, named):
    for function, given in CALLS:
        arguments = {"truth": "relevant", "score": "score"} | given
        with pytest.raises(TypeError, match=rf"expected a polars DataFrame or LazyFrame or a pandas .*{named}"):
            getattr(fp, function)(other, **arguments)


def test_what_group_by_gives():
    for grouped in (
        GOOD.group_by("query"),
        GOOD.lazy().group_by("query"),
        GOOD.with_columns(time=pl.int_range(5)).rolling("time", period="2i"),
        GOOD.to_pandas().groupby("query"),
        GOOD.to_pandas().groupby("query")["score"],
    ):
        with pytest.raises(TypeError, match=r"got a .*: give the frame itself, and the grouping columns as by="):
            fp.average_precision(grouped, "relevant", "score")


# seen in the values, so on a LazyFrame at collect -------------------------------------------------------------------


def series(name, values, **given):
    return GOOD.with_columns(pl.Series(name, values, **given))


IN_VALUES = [
    (
        series("score", [0.9, None, math.nan, 0.6, None]),
        {},
        r"score column 'score' has 3 missing of 5 values \(2 null, 1 NaN\): unscored='unretrieved' .*, unscored='drop'",
    ),
    (
        series("score", [9, None, 7, 6, 5]),
        {},
        r"score column 'score' has 1 missing of 5 values: unscored='unretrieved'",
    ),
    (
        series("relevant", [1, None, 0, None, 1]),
        {},
        r"has 2 missing of 5 values: unjudged='negative' .*, unjudged='drop' leaves",
    ),
    (series("relevant", [1.0, math.nan, 0.0, 1.0, 0.0]), {}, "truth column 'relevant' has 1 missing of 5 values"),
    (series("relevant", [True, None, False, True, True]), {}, "truth column 'relevant' has 1 missing of 5 values"),
    (series("label", ["yes", None, "no", "no", "yes"]), {"truth": "label", "positive": "yes"}, "'label' has 1 missing"),
    (
        series("relevant", [0, 1, 2, 3, 1]),
        {},
        r"truth column 'relevant' is neither boolean nor 0/1, it holds 0, 1, 2, 3: name its positive label, positive=",
    ),
    (series("relevant", [0, 1, -1, 0, 0]), {}, r"'relevant' is neither boolean nor 0/1, it holds -1, 0, 1: name"),
    (series("relevant", [0.0, 0.5, 1.0, 0.0, 0.0]), {}, r"neither boolean nor 0/1, it holds 0\.0, 0\.5, 1\.0: name"),
    (
        GOOD,
        {"truth": "label", "positive": "maybe"},
        r"truth column 'label' has no 'maybe', it holds 'no', 'yes': positive= names",
    ),
    (GOOD, {"positive": 7}, r"truth column 'relevant' has no 7, it holds 0, 1"),
    (
        series("score", [1, 0, 2, 3, 4]),
        {"truth": "score", "score": "relevant", "positive": 7},
        "0, 1, 2, 3, 4: positive",
    ),
    (
        pl.concat([GOOD, GOOD]).with_columns(relevant=pl.int_range(10)),
        {},
        "it holds 0, 1, 2, 3, 4 and 5 more: name its positive label",
    ),
]


@pytest.mark.parametrize(("data", "given", "message"), IN_VALUES, ids=[message[:40] for _, _, message in IN_VALUES])
def test_what_the_values_show(data, given, message):
    given = {"by": "query"} | given
    for frame in (data, data.to_pandas(), data.to_pandas(use_pyarrow_extension_array=True)):
        # numpy has no missing integer: pandas makes it NaN, which is missing all the same.
        loose = message if frame is data else message.split(" values")[0].replace(", it holds", "|, it holds")
        with pytest.raises(ValueError, match=loose):
            call(frame, "average_precision", **given)
    # A LazyFrame shows its values when it is collected, and not before.
    result = call(data.lazy(), "average_precision", **given)
    assert result.collect_schema().names() == ["query", "average_precision"]
    for engine in ("in-memory", "streaming"):
        with pytest.raises((ValueError, pl.exceptions.ComputeError), match=message):
            result.collect(engine=engine)


@pytest.mark.parametrize(("function", "given"), CALLS, ids=CALL_IDS)
def test_every_function_looks_at_the_values(function, given):
    data = GOOD.with_columns(relevant=pl.Series([1, None, 0, 0, 1]))
    with pytest.raises(ValueError, match="truth column 'relevant' has 1 missing of 5 values"):
        call(data, function, by="query", **given)
    with pytest.raises((ValueError, pl.exceptions.ComputeError), match="'relevant' has 1 missing of 5 values"):
        call(data.lazy(), function, by="query", **given).collect()


def test_missing_values_of_one_of_several_scores():
    data = GOOD.with_columns(other=pl.Series([1.0, None, 3.0, 4.0, 5.0]))
    with pytest.raises(ValueError, match="score column 'other' has 1 missing of 5 values"):
        data.pr.average_precision("relevant", ["score", "other"])


def test_predictions():
    for predicted, positive, message in [
        ([1, None, 0, 0, 1], None, "prediction column 'predicted' has 1 missing of 5 values"),
        ([1, 2, 0, 0, 1], None, "prediction column 'predicted' is neither boolean nor 0/1, it holds 0, 1, 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            series("predicted", predicted).pr.confusion("relevant", prediction="predicted", positive=positive)
    # A label that is never predicted is no mistake: precision is undefined then.
    data = GOOD.with_columns(predicted=pl.lit("no"))
    result = data.pr.confusion("label", prediction="predicted", positive="yes").select("k", "precision", "recall")
    assert result.row(0) == (0, None, 0.0)


def test_128_bit_scores_that_are_too_large():
    data = GOOD.with_columns(score=pl.lit(2**100, dtype=pl.Int128))
    with pytest.raises(ValueError, match=r"score column 'score' \(Int128\) has values of more than 63 bits: cast it"):
        data.pr.average_precision("relevant", "score")


@pytest.mark.parametrize("dtype", [pl.Int128, pl.Decimal(38, 0)], ids=str)
def test_63_bits_are_not_too_large(dtype):
    for scores, fits in (([2**63 - 1, 1 - 2**63], True), ([2**63, 0], False), ([0, -(2**63)], False)):
        data = pl.DataFrame({"relevant": [1, 0], "score": pl.Series(scores, dtype=pl.Int128).cast(dtype)})
        if fits:
            assert data.pr.curve("relevant", "score")["threshold"].to_list() == scores
        else:
            with pytest.raises(ValueError, match="has values of more than 63 bits"):
                data.pr.curve("relevant", "score")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pl.Series([2**53, 2**53 + 1]), pl.Series([0.5, 1.5])),
        (pl.Series([2**63 - 1, 1]), pl.Series([0.5, 1.5])),
        (pl.Series([2**60, 1]), pl.Series([Decimal("0.0001"), None], dtype=pl.Decimal(38, 22))),
        (pl.Series([Decimal("1.5000"), None]), pl.Series([2**59, 1])),
        (pl.Series([Decimal("99999999999999.9999"), None], dtype=pl.Decimal(18, 4)), pl.Series([0.5, 1])),
        (pl.Series([2**64 - 1, 1], dtype=pl.UInt64), pl.Series([-1, 1], dtype=pl.Int64)),
    ],
)
def test_scores_of_several_types_are_not_rounded(one, other):
    data = pl.DataFrame({"y": [1, 0], "one": one, "other": other})
    for frame in (data, data.lazy()):
        with pytest.raises(ValueError, match=r"score column '(one|other)' "):
            frame.pr.average_precision("y", ["one", "other"], unscored="unretrieved").lazy().collect()
