"""Spark and Dask give what polars gives. tests/test_frames.py calls each public function once."""

import random
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from compare import assert_same
from engines import CLUSTER, CONNECT, DATA, METRICS, SPARK
from names import NAMES, call

import frame_pr as fp

pytestmark = pytest.mark.slow

BOTH = pytest.mark.parametrize("engine", [SPARK, "dask"], indirect=True)
ON_DASK = pytest.mark.parametrize("engine", ["dask"], indirect=True)
TOTALS = pl.DataFrame({"query": range(30), "twenty": [20] * 30, "forty": [40] * 30})
TOTAL = pl.DataFrame({"many": 200})
KEYS = ["text", "date", "time", "decimal", "binary", "real", "flag", "model"]


def check(engine, data=DATA, function="evaluate", order=None, **given):
    given = {"by": "query"} | ({} if function == "tally" else {"metrics": METRICS}) | given
    expected = call(data, function, **given)
    keys = [name for name in ("query", "model", "system") if name in expected.columns]
    order = order or keys or expected.columns
    result = engine.read(call(engine.make(data), function, **given))
    assert_same(result.sort(order), expected.sort(order))


@pytest.mark.parametrize("engine", [SPARK, CONNECT, "dask", CLUSTER], indirect=True)
def test_keys_of_every_type_at_once(engine):
    check(engine, by=KEYS, score="found", unscored="unretrieved", order=KEYS)


@ON_DASK
@pytest.mark.parametrize("key", KEYS)
def test_keys_of_one_type(engine, key):
    check(engine, by=key, order=key)


@ON_DASK
@pytest.mark.parametrize("by", ["query", None], ids=str)
def test_every_metric(engine, by):
    check(engine, metrics=NAMES[:: 1 if by else 3], by=by)


@BOTH
@pytest.mark.parametrize("by", ["query", None], ids=str)
def test_metrics_of_probabilities_and_goals_within_limits(engine, by):
    data = DATA.with_columns(score=pl.col("score") / 3)
    names = [
        *("mean_score", "mean_score@7", "brier_score", "log_loss"),
        *("selection_rate@threshold=0.5", "selection_rate@20%", "precision@max_f1", "k@min_cost5"),
        *("max_f1@recall=0.6", "max_precision@recall=0.8", "threshold@max_f1@recall=0.6"),
    ]
    check(engine, data, metrics=names, by=by)


@BOTH
def test_options_means_and_systems_together(engine):
    given = {
        "by": ["model", "query"],
        "mean_over": "query",
        "score": ["score", "other"],
        "unjudged": "negative",
    }
    statistics = ["mean", "median", "std", "q25", "weighted", "defined"]
    check(
        engine, metrics={"AP": "average_precision"}, truth="judged", statistics=statistics, **given
    )


@BOTH
def test_groups_that_only_known_totals_have(engine):
    check(engine, total_positives=TOTALS.drop("forty"), total_rows=TOTALS.drop("twenty").lazy())


@ON_DASK
@pytest.mark.parametrize(
    "given",
    [
        {"ties": "expected", "metrics": ["rows", "average_precision", "precision@3"]},
        {"tie_break": "row", "weight": "weight"},
        {"score": "found", "unscored": "drop", "truth": "judged", "unjudged": "drop"},
        {
            "truth": "label",
            "positive": "yes",
        },  # query 5 has no positive, so a part may hold no "yes"
        {"total_positives": "twenty", "total_rows": "forty"},
        {"prevalence": 0.1},
        {"mean_over": "query", "undefined": 0.5},
        {"by": ["model", "query"], "mean_over": ["query", "model"]},
        {"metrics": {"AP": "average_precision", "n": "rows"}, "by": ["model", "query"]},
    ],
    ids=lambda given: "-".join(given),
)
def test_options(engine, given):
    check(engine, DATA.with_columns(twenty=pl.lit(20), forty=pl.lit(40)), **given)


@BOTH
@pytest.mark.parametrize(
    "given",
    [
        {"score": "found", "unscored": "unretrieved", "total_positives": TOTAL, "weight": "weight"},
        {"metrics": [*METRICS, "interpolated_average_precision", "roc_auc"], "tie_break": "row"},
        {"truth": "label", "positive": "yes", "score": ["score", "other"]},
    ],
    ids=lambda given: "-".join(given),
)
def test_one_group_in_ranges_of_scores(engine, given):
    check(engine, **{"by": None} | given)


@BOTH
@pytest.mark.parametrize(
    ("by", "weight"), [("query", "hundredths"), (None, "tenths"), (None, "apart")], ids=str
)
def test_float_weights(engine, by, weight):
    row = pl.col("row")
    data = DATA.with_columns(
        tenths=row % 10 / 10,
        hundredths=row * 41 % 200 / 100,
        apart=pl.lit(10.0).pow(-(row * 29 % 16).cast(pl.Float64)),
    )
    counts = ["tp", "fp", "fn", "tn", "k"]
    cutoffs = ["threshold=1", "threshold=-1", "threshold=9", "recall=0.5", "fpr=0.2", "npv=0.9"]
    shares = ["precision@threshold=1", "npv@threshold=1", "average_precision", "roc_auc", "max_f1"]
    at_cutoffs = [f"{count}@{cutoff}" for count in counts for cutoff in cutoffs]
    others = ["interpolated_average_precision_101", "mcc@threshold=1", "rows"]
    metrics = [*at_cutoffs, *shares, *others]
    check(engine, data, by=by, weight=weight, metrics=metrics)
    result = engine.read(call(engine.make(data), "evaluate", by=by, weight=weight, metrics=metrics))
    assert result.select(pl.col(at_cutoffs).fill_null(0).min() >= 0).row(0) == (True,) * 30
    assert result.select(pl.col(shares).fill_null(0).is_between(0, 1).all()).row(0) == (True,) * 5


@BOTH
def test_one_group_of_a_frame_that_gives_other_rows_when_it_is_read_again(engine):
    if engine.name == "dask":
        import dask.dataframe
        import pandas as pd

        def part(i):
            return pd.DataFrame(
                {"t": [random.random() < 0.3 for _ in range(20)], "s": [random.random()] * 20}
            )

        meta = pd.DataFrame({"t": pd.Series(dtype=bool), "s": pd.Series(dtype=float)})
        frame = dask.dataframe.from_map(part, range(3), meta=meta)
    else:
        frame = engine.make(DATA).selectExpr("rand() < 0.3 AS t", "rand() AS s")
    result = engine.read(
        frame.pr.evaluate(["positives", "tp@threshold=-inf", "recall@threshold=-inf"], "t", "s")
    )
    assert result["positives"].item() == result["tp@threshold=-inf"].item()
    assert result["recall@threshold=-inf"].item() == 1
    with pytest.raises(ValueError, match="gain= needs all rows of a group together"):
        engine.make(DATA).pr.evaluate("ndcg", "relevant", "score", gain="other")


@BOTH
@pytest.mark.parametrize(
    "given",
    [{"count": "other", "by": ["model", "text"]}, {"bins": 3}, {"bins": [0, 0.5, 2], "by": None}],
    ids=str,
)
def test_tallies(engine, given):
    columns = fp.tally(
        DATA, **{"truth": "relevant", "score": "score", "by": "query"} | given
    ).columns
    check(engine, function="tally", order=columns, **given)


@BOTH
@pytest.mark.parametrize("by", [["model", "text"], None], ids=str)
def test_metrics_as_extra_columns(engine, by):
    check(
        engine,
        function="with_metrics",
        by=by,
        prefix="its_",
        truth="label",
        positive="yes",
        order="row",
    )


@BOTH
def test_few_rows_and_none(engine):
    few = DATA.filter(pl.col("row") < 3)
    all_rows = engine.make(DATA)
    for frame, data in [
        (engine.make(few, parts=7), few),
        (all_rows[all_rows["row"] < 0], DATA.clear()),
    ]:
        for by in ("query", None):
            result = engine.read(frame.pr.evaluate(METRICS, "relevant", "score", by=by))
            assert_same(
                result.sort(by or "rows"), data.pr.evaluate(METRICS, "relevant", "score", by=by)
            )


# Names that a shuffle takes, that frame_pr uses inside, or that polars, SQL and Spark read in their
# own way.
@BOTH
def test_hostile_names(engine):
    odd = ["hash", "0", "range", "a.b `c`", "^s.*$", "c0"]
    names = dict(zip(["query", "relevant", "score", "weight", "twenty", "row"], odd, strict=True))
    data = DATA.with_columns(twenty=pl.lit(999)).select(*names).rename(names)
    given = {
        "truth": "0",
        "score": "range",
        "weight": "a.b `c`",
        "total_positives": "^s.*$",
        "tie_break": "c0",
    }
    for by in ("hash", None):
        check(engine, data, by=by, order=by, **given)
    columns = DATA.select(
        "query", rows=pl.col("relevant").cast(pl.Int8), average_precision=pl.col("other")
    )
    check(engine, columns, truth="rows", score="average_precision")


@BOTH
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"truth": "relevent"},
            ValueError,
            "no column 'relevent' in the frame; did you mean 'relevant'?",
        ),
        ({"score": "text"}, TypeError, "score column 'text' is String"),
        (
            {"weight": pl.col("weight")},
            TypeError,
            "weight takes names of columns where the frame is in parts",
        ),
        (
            {"ties": "order"},
            ValueError,
            "ties='order' uses the order of the rows, and a shuffle moves them",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_errors_before_any_row_is_read(engine, given, error, message):
    with pytest.raises(error) as raised:
        call(engine.make(DATA), "evaluate", **{"metrics": METRICS, "by": "query"} | given)
    assert message in str(raised.value)


@BOTH
def test_errors_about_rows(engine):
    frame = engine.make(DATA)
    for by in ("query", None):
        with pytest.raises(
            Exception,
            match=r"score column 'found' has \d+ missing of \d+ values.* \(in the part of ",
        ):
            engine.read(frame.pr.average_precision("relevant", "found", by=by))
    with pytest.raises(
        ValueError, match="truth column 'label' has no 'typo', it holds 'no', 'yes'"
    ):
        frame.pr.average_precision("label", "score", positive="typo")
    for rows in (frame, DATA):
        with pytest.raises(
            TypeError, match=r"total_positives takes a polars or pandas frame, got a (Spark|Dask) "
        ):
            rows.pr.average_precision("relevant", "score", by="query", total_positives=frame)
    with pytest.raises(ValueError, match="the frame has a column 'row' already: prefix="):
        frame.pr.with_metrics({"row": "rows"}, "relevant", "score", by="query")
    with pytest.raises(
        TypeError, match=r"a (Spark|Dask) DataFrame has evaluate, .*; call this function on its"
    ):
        frame.pr.curve("relevant", "score")
    with pytest.raises(
        TypeError, match=r"a (Spark|Dask) DataFrame has evaluate, .*; call this function on its"
    ):
        frame.pr.report("relevant", "score", confidence=0.9)


def test_modules_that_are_missing_or_not_imported():
    code = "import sys, frame_pr as fp\nfrom pyspark.sql import DataFrame\n"
    code += "import dask.dataframe as dd, pandas as pd\n"
    frames = ["object.__new__(DataFrame)", "dd.from_pandas(pd.DataFrame({'y': [1]}), 1)"]
    calls = [f"fp.roc_auc({frame}, 'y', 's')" for frame in frames] + [
        "sys.modules['dask'] = None; import frame_pr.dask"
    ]
    code += "".join(
        f"try:\n    {line}\nexcept Exception as error:\n    print(error)\n" for line in calls
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    said = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=True
    ).stdout.splitlines()
    assert said[0].endswith("DataFrame: import frame_pr.spark first, then call this again")
    assert said[1].endswith("DataFrame: import frame_pr.dask first, then call this again")
    assert said[2].endswith('pip install "frame_pr[dask]"')


GUIDE = (Path(__file__).parents[2] / "docs" / "spark-dask.md").read_text(encoding="utf-8")


def code_of(section: str) -> list[str]:
    """The Python blocks of one section of the guide."""
    (text,) = re.findall(rf"^## {section}$(.*?)(?=^## |\Z)", GUIDE, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^```python$(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@BOTH
def test_the_examples_of_the_guide(engine, request, capsys):
    (code,) = code_of(engine.name.capitalize())
    names = {"spark": request.getfixturevalue("spark")} if engine.name == "spark" else {}
    exec(code, names)
    # Average precision: ink has its only positive first, tea has nothing but positives.
    assert engine.read(names["per_query"])["average_precision"].to_list() == [1, 1]
    assert capsys.readouterr().out.count("tea") == 1
