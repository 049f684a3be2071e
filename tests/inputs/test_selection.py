import re
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest
from names import CALLS, GOOD, call

import frame_pr as fp

# seen in the schema, so at once, on a LazyFrame too ----------------------------------------------------------------

AT_ONCE = [
    # Missing columns, with the near matches, or else with the columns that there are.
    ({"truth": "relevnt"}, ValueError, "no column 'relevnt' in the frame; did you mean 'relevant'?"),
    ({"score": "scores"}, ValueError, "no column 'scores' in the frame; did you mean 'score'?"),
    ({"by": "qury"}, ValueError, "no column 'qury' in the frame; did you mean 'query'?"),
    ({"by": ["query", "xyzzy"]}, ValueError, "no column 'xyzzy' in the frame; columns: 'query', 'relevant', 'score'"),
    ({"score": ["score", "scor"]}, ValueError, "no column 'scor' in the frame; did you mean 'score'?"),
    ({"truth": "rel"}, ValueError, "no column 'rel' in the frame; did you mean 'relevant'?"),
    # The same column twice.
    ({"truth": "score"}, ValueError, "column 'score' is given twice, to truth= and to score=: give another column"),
    ({"by": "relevant"}, ValueError, "column 'relevant' is given twice, to by= and to truth="),
    ({"by": ["query", "query"]}, ValueError, "column 'query' is given twice in by: name it once"),
    ({"weight": "relevant"}, ValueError, "column 'relevant' is given twice, to truth= and to weight="),
    ({"count": "relevant"}, ValueError, "column 'relevant' is given twice, to truth= and to count="),
    ({"gain": "score"}, ValueError, "column 'score' is given twice, to score= and to gain="),
    # A set has another order in each process, and the result has its order.
    ({"by": {"query"}}, TypeError, "by: a set has no order, and the result depends on it; give a list"),
    ({"score": frozenset({"score"})}, TypeError, "score: a set has no order"),
    ({"score": ["score", "score"]}, ValueError, "column 'score' is given twice"),
    # Wrong types.
    ({"score": "label"}, TypeError, "score column 'label' is String: it must be numeric"),
    ({"score": ["score", "label"]}, TypeError, "score column 'label' is String: it must be numeric"),
    ({"truth": "label"}, TypeError, "column 'label' is String, neither boolean nor 0/1: name its positive label"),
    ({"positive": "yes"}, TypeError, "positive='yes' cannot be a value of column 'relevant', which is Int64"),
    ({"truth": "label", "positive": 1}, TypeError, "positive=1 cannot be a value of column 'label', which is String"),
    # Values, or several names, where the name of one column belongs.
    ({"truth": [1, 0, 1, 0, 1]}, TypeError, "truth takes the name of one column; got a list"),
    (
        {"truth": GOOD["relevant"]},
        TypeError,
        "truth takes the name of one column; got a polars Series: add it to",
    ),
    ({"truth": np.ones(5)}, TypeError, "truth takes the name of one column; got a numpy ndarray: add it to"),
    (
        {"score": GOOD["score"].to_pandas()},
        TypeError,
        "score takes the name of a column, or several; got a pandas Series: add",
    ),
    ({"score": GOOD.lazy()}, TypeError, "score takes the name of a column, or several; got a polars LazyFrame: add it"),
    (
        {"by": GOOD["query"]},
        TypeError,
        "by takes the name of a column, or several; got a polars Series: add it to",
    ),
    ({"by": len}, TypeError, "by takes the name of a column, or several; got the function len"),
    (
        {"weight": np.ones(5)},
        TypeError,
        "weight takes the name of one column; got a numpy ndarray: add it to",
    ),
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
        "unexpected keyword argument 'colour'; the plots spell it color=",
    ),
    # Nothing where something is needed.
    ({"score": []}, ValueError, "score names no column: give the name of the score column"),
    ({"by": [None]}, TypeError, "by takes the name of a column, or several; got None"),
]


@pytest.mark.parametrize(("given", "error", "message"), AT_ONCE, ids=[message[:40] for _, _, message in AT_ONCE])
def test_what_the_schema_shows_is_an_error_at_once(given, error, message):
    frame = GOOD
    # The dtypes of pandas are read as the nearest of polars.
    message = re.escape(message).replace("which\\ is\\ Int64", "which is [a-zA-Z]?[iI]nt")
    message = message.replace("is\\ String", "is (String|str|string|object|large_string.*)")
    with pytest.raises(error, match=message):
        call(frame, "average_precision", **{"by": "query"} | given)
    with pytest.raises(error, match=message):
        call(frame, "f_beta", **{"by": "query"} | given)


@pytest.mark.parametrize("score", [[True, False], [date(2024, 1, 1), date(2024, 1, 2)], [[1.0], [2.0]], [None, None]])
def test_a_score_that_is_no_number(score):
    data = pl.DataFrame({"relevant": [1, 0], "points": score})
    for frame in (data, data.lazy()):
        with pytest.raises(TypeError, match=r"score column 'points' is \w+.*: it must be numeric"):
            frame.pr.average_precision("relevant", "points")


@pytest.mark.parametrize("function", ["average_precision", "curve", "evaluate", "confusion", "report"])
def test_a_key_named_like_a_result_column(function):
    columns = {"average_precision": "average_precision", "curve": "recall", "evaluate": "rows", "confusion": "fn"}
    name = columns.get(function, "average_precision_lift")
    given = {"evaluate": {"metrics": ["rows"]}, "confusion": {"k": 2}}.get(function, {})
    with pytest.raises(ValueError, match=f"by column '{name}' is named like a result column: rename it before"):
        call(GOOD.rename({"query": name}), function, by=name, **given)


def test_expressions_that_do_not_fit():
    for frame in (GOOD, GOOD.lazy()):
        with pytest.raises(ValueError, match=r"score: no column 'points' in the frame; columns: ") as error:
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


def test_names_with_half_of_their_letters_in_common_are_not_offered():
    # 're' is half of the letters of 'score' and 'rel', and neither means the other.
    with pytest.raises(ValueError, match=r"no column 'score' in the frame; columns: 's2', 'seg', 'rel'$"):
        pl.DataFrame({"s2": [1], "seg": [1], "rel": [1]}).pr.average_precision("rel", "score")


def test_expressions_on_pandas():
    frame = GOOD.to_pandas()
    for given in ({"by": pl.col("query")}, {"truth": pl.col("relevant")}, {"score": cs.numeric()}):
        with pytest.raises(
            TypeError, match="polars expressions work on polars frames; give the names of columns of a pandas"
        ):
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
        (GOOD.to_arrow()["score"], "pyarrow.lib.ChunkedArray"),
        (GOOD["score"], "polars.series.series.Series"),
        (GOOD["score"].to_pandas(), "Series"),
        (GOOD["score"].to_numpy(), "numpy.ndarray"),
        (None, "NoneType"),
        ("relevant", "str"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_frame_of_another_library(other, named):
    for function, given in CALLS:
        arguments = {"truth": "relevant", "score": "score"} | given
        with pytest.raises(TypeError, match=rf"expected a polars DataFrame, a polars LazyFrame, .*{named}"):
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
