import math
import re
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest
from compare import assert_same, near
from names import CALL_IDS, CALLS, call

import frame_pr as fp

GOOD = pl.DataFrame(
    {
        "query": ["a", "a", "a", "b", "b"],
        "relevant": [1, 0, 1, 0, 1],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5],
        "predicted": [1, 1, 0, 0, 1],
        "label": ["yes", "no", "yes", "no", "yes"],
    }
)
# a: (1/1 + 2/3) / 2; b: 1/2
AP = [("a", near(5 / 6)), ("b", near(1 / 2))]


def ap(kind, data, truth="relevant", score="score", **given):
    return kind.read(fp.average_precision(kind(data), truth, score, **{"by": "query"} | given)).rows()


# what may be given --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    [pl.Boolean, pl.Int8, pl.UInt8, pl.Int32, pl.UInt32, pl.Int64, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(5, 2)],
    ids=str,
)
def test_truth_of_any_numeric_dtype(kind, dtype):
    assert ap(kind, GOOD.cast({"relevant": dtype})) == AP


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["yes", "no"], "yes"),
        ([2, 1], 2),
        ([-1, 1], -1),
        ([0.5, 1.5], 0.5),
        ([False, True], False),
        ([date(2024, 1, 1), date(2024, 1, 2)], date(2024, 1, 1)),
        # The label, and not the truth of it, is what counts.
        ([0, 1], 0),
    ],
)
def test_labels(kind, labels, positive):
    data = GOOD.with_columns(relevant=pl.Series([labels[0] if one else labels[1] for one in GOOD["relevant"]]))
    assert ap(kind, data, positive=positive) == AP


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["yes", "no", "maybe"])], ids=["Categorical", "Enum"])
def test_labels_of_categories(kind, dtype):
    assert ap(kind, GOOD.cast({"label": dtype}), truth="label", positive="yes") == AP


def test_more_than_two_labels(kind):
    # One against the rest, as one asks class by class.
    data = GOOD.with_columns(label=pl.Series(["yes", "no", "yes", "maybe", "yes"]))
    assert ap(kind, data, truth="label", positive="yes") == AP


@pytest.mark.parametrize(
    "dtype",
    [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(10, 3)],
    ids=str,
)
def test_scores_of_any_numeric_dtype(kind, dtype):
    data = GOOD.with_columns(score=pl.Series([9, 8, 7, 6, 5])).cast({"score": dtype})
    assert ap(kind, data) == AP


def test_128_bit_scores():
    data = GOOD.with_columns(score=pl.Series([9, 8, 7, 6, 5], dtype=pl.Int128))
    assert data.pr.average_precision("relevant", "score", by="query").rows() == AP


def test_decimal_scores_are_compared_as_written(kind):
    # These two are one and the same float.
    scores = [Decimal("0.1000000000000000001"), Decimal("0.1000000000000000000")]
    assert float(scores[0]) == float(scores[1])
    for truth, expected in (([1, 0], 1.0), ([0, 1], 0.5)):
        data = pl.DataFrame({"relevant": truth, "score": scores}, schema_overrides={"score": pl.Decimal(20, 19)})
        assert kind.read(fp.average_precision(kind(data), "relevant", "score")).item() == expected


def test_large_whole_scores_are_compared_exactly(kind):
    data = pl.DataFrame({"relevant": [0, 1], "score": [2**53, 2**53 + 1]})
    assert kind.read(fp.average_precision(kind(data), "relevant", "score")).item() == 1.0


def test_without_by_there_is_one_row(kind):
    # By score: 1, 0, 1, 0, 1: (1 + 2/3 + 3/5) / 3
    for by in (None, []):
        assert ap(kind, GOOD, by=by) == [(near(34 / 45),)]


def test_one_key_in_a_list_or_by_itself(kind):
    assert ap(kind, GOOD, by=["query"]) == AP
    assert ap(kind, GOOD, by=("query",)) == AP


@pytest.mark.parametrize("lazy", [False, True])
def test_expressions_and_selectors(lazy):
    frame = GOOD.lazy() if lazy else GOOD

    def rows(truth="relevant", score="score", by="query"):
        result = fp.average_precision(frame, truth, score, by=by).lazy().collect()
        return result.columns[0], result.rows()

    assert rows(truth=pl.col("relevant")) == ("query", AP)
    assert rows(truth=pl.col("label") == "yes") == ("query", AP)
    assert rows(truth=cs.starts_with("relev")) == ("query", AP)
    assert rows(score=pl.col("score") * 2 - 1) == ("query", AP)
    assert rows(score=-pl.col("score")) == ("query", [("a", near(5 / 6)), ("b", 1.0)])  # backwards: 1, 0, 1 and 1, 0
    assert rows(by=pl.col("query")) == ("query", AP)
    assert rows(by=pl.col("query").str.to_uppercase()) == ("query", [(q.upper(), value) for q, value in AP])
    assert rows(by=pl.col("query").alias("q")) == ("q", AP)
    assert rows(by=cs.by_name("query")) == ("query", AP)


def test_a_selector_of_several_keys():
    data = GOOD.with_columns(user=pl.lit("u"))
    result = data.pr.average_precision("relevant", "score", by=cs.by_name("query", "user"))
    assert result.rows() == [(q, "u", value) for q, value in AP]
    mixed = data.pr.average_precision("relevant", "score", by=["user", cs.by_name("query")])
    assert mixed.columns == ["user", "query", "average_precision"]


@pytest.mark.parametrize("lazy", [False, True])
def test_several_columns_of_one_expression(lazy):
    data = GOOD.with_columns(user=pl.lit("U"), other=-pl.col("score"))
    frame = data.lazy() if lazy else data

    def rows(score="score", by="query"):
        return fp.average_precision(frame, "relevant", score, by=by).lazy().collect().rows()

    upper = [(q.upper(), "U", value) for q, value in AP]
    assert rows(by=pl.col("query", "user").str.to_uppercase()) == upper
    # Backwards, a has 1, 0, 1 and b has 1, 0; twice backwards they are what they were.
    expected = [("a", "score", near(5 / 6)), ("a", "other", AP[0][1]), ("b", "score", 1.0), ("b", "other", AP[1][1])]
    several = [-pl.col("score", "other"), -cs.by_name("score", "other"), -pl.col("^(score|other)$")]
    for scores in (*several, [-pl.col("score"), -pl.col("other")]):
        assert rows(score=scores) == expected
    assert rows(score=[pl.col("score")]) == [(q, "score", value) for q, value in AP]


@pytest.mark.parametrize("lazy", [False, True])
def test_an_aggregation_is_no_column(lazy):
    frame = GOOD.lazy() if lazy else GOOD
    score = pl.col("score")
    good = {"truth": "relevant", "score": "score", "by": "query"}
    for argument, column in {
        "truth": pl.col("relevant").max(),
        "score": score.max() * 2,
        "by": pl.col("query").first(),
        "weight": score.sum(),
        "positives": pl.col("relevant").sum(),
    }.items():
        with pytest.raises(ValueError, match=f"^{argument}: this expression gives one value for all rows: leave out"):
            fp.average_precision(frame, **good | {argument: column})
    with pytest.raises(ValueError, match=r"^score: this expression gives one value for all rows"):
        fp.average_precision(frame, **good | {"score": cs.by_name("score").max()})
    # Of rows, of groups, or of no column at all: each is a column.
    for column in (score - score.mean(), score / score.max().over("query"), score.rank(), score.fill_null(score.min())):
        assert fp.average_precision(frame, **good | {"score": column}).lazy().collect().rows() == AP
    flat = fp.average_precision(frame, **good | {"score": pl.lit(1).cast(pl.Int8)}).lazy().collect()
    assert flat.equals(fp.evaluate(GOOD, "prevalence", **good).rename({"prevalence": "average_precision"}))


def test_other_columns_may_be_anything(kind):
    # Only the named columns are read: another may be missing values, or named like what the library uses inside.
    data = GOOD.with_columns(
        group=pl.lit(None), truth=pl.lit("x"), key=pl.lit("y"), by0=pl.lit(1), row=pl.lit(2), block=pl.lit(3)
    )
    assert ap(kind, data) == AP
    beside = kind.read(fp.with_metrics(kind(data), "average_precision", "relevant", "score", by="query"))
    assert beside.columns == [*data.columns, "average_precision"]
    assert_same(beside.drop("average_precision"), data, dtypes=False)


@pytest.mark.parametrize("name", ["group", "truth", "score", "key", "by0", "row", "block", "0", "tp", "k", "positives"])
def test_columns_named_like_the_inner_ones(kind, name):
    expected = [q_and_ap[1] for q_and_ap in AP]
    for role in ("query", "relevant", "score"):
        columns = {"query": "q", "relevant": "y", "score": "s"} | {role: name}
        data = GOOD.select("query", "relevant", "score").rename(columns)
        given = (columns["relevant"], columns["score"])
        result = kind.read(fp.average_precision(kind(data), *given, by=columns["query"]))
        assert result.columns == [columns["query"], "average_precision"]
        assert result["average_precision"].to_list() == expected
        beside = kind.read(fp.with_metrics(kind(data), "average_precision", *given, by=columns["query"], prefix="new "))
        assert beside["new average_precision"].to_list() == [expected[0]] * 3 + [expected[1]] * 2


def test_an_empty_frame_gives_an_empty_result(kind):
    empty = GOOD.clear()
    for (function, given), name in zip(CALLS, CALL_IDS, strict=True):
        full = kind.read(call(kind(GOOD), function, by="query", **given))
        result = kind.read(call(kind(empty), function, by="query", **given))
        assert result.columns == full.columns, name
        assert result.height == 0, name
        if not kind.name.startswith("pandas"):  # in pandas an empty column of text has lost its type on the way in
            assert result.schema == full.schema, name
        without_by = kind.read(call(kind(empty), function, **given))
        of_rows = function in ("curve", "with_curve", "with_metrics")
        assert without_by.height == (0 if of_rows else 1), name
    names = ["rows", "positives", "average_precision", "precision@10", "recall@10", "max_f1"]
    one = kind.read(fp.evaluate(kind(empty), names, "relevant", "score"))
    assert one.row(0) == (0, 0, None, 0.0, None, None)  # ten misses of ten, and nothing to recall
    positive = kind.read(fp.average_precision(kind(empty), "label", "score", positive="yes"))
    assert positive.columns == ["average_precision"]


# what may not: seen in the schema, so at once, on a LazyFrame too ---------------------------------------------------

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
    ({"sample_weight": "score"}, TypeError, "unexpected keyword argument 'sample_weight'; did you mean weight=?"),
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


# what may not: seen in the values, so on a LazyFrame at collect ------------------------------------------------------


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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pl.Series([2**53, 2**53 + 1]), pl.Series([0.5, 1.5])),
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
