"""Spark and Dask give what the plain call gives."""

import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from compare import assert_same
from engines import CLUSTER, CONNECT, DATA, METRICS, SPARK
from names import CALLS, NAMES, call

import frame_pr as fp
from frame_pr import parts

pytestmark = pytest.mark.slow

TOTALS = pl.DataFrame({"query": range(30), "twenty": [20] * 30, "forty": [40] * 30})

KEYS = [[key] for key in ("text", "date", "time", "decimal", "binary", "real", "flag", "model")]
KEYS += [["model", "text"], ["date", "flag"]]
ALL_KEYS = sorted({name for keys in KEYS for name in keys})

POLICIES = [
    {"ties": "expected", "metrics": ["rows", "average_precision", "precision@3"]},
    {"tie_break": "row", "weight": "weight"},
    {"score": "found", "unscored": "drop", "truth": "judged", "unjudged": "drop"},
    # Query 5 has no positive, so that a part may hold no "yes".
    {"truth": "label", "positive": "yes"},
    {"total_positives": "twenty", "total_rows": "forty"},
    {"total_positives": TOTALS.drop("forty"), "total_rows": TOTALS.drop("twenty").lazy()},
    {"score": ["score", "other"]},
    {"mean_over": "query"},
    {"by": ["model", "query"], "mean_over": ["query", "model"], "undefined": 0.5},
    {"by": ["model", "query"], "mean_over": "query", "score": ["score", "other"]},
    {"metrics": {"AP": "average_precision", "n": "rows"}, "by": ["model", "query"]},
    {
        "mean_over": True,
        "statistics": ["median", "std", "q25", "weighted", "defined"],
        "metrics": {"AP": "average_precision_lift"},
    },
]
# On Dask only: each goes to the parts as one of those above does.
ALIKE = [
    {"ties": "optimistic", "metrics": ["rows", "average_precision", "precision@3"]},
    {"truth": "judged", "unjudged": "negative"},
    {"total_positives": TOTALS.drop("forty").to_pandas()},
    {"undefined": 0.0},
    {"by": ["model", "query"], "mean_over": "query"},
]
ONE_MODE = pytest.mark.parametrize("engine", [SPARK, "dask"], indirect=True)


def named(given):
    return "-".join(
        f"{name}={value if isinstance(value, (str, float, list)) else 'frame'}" for name, value in given.items()
    )


def one_mode(cases, seldom=(), ids=named):
    """On Spark, where a call takes a second, without those that reach the parts in the way of another."""
    on_spark = [pytest.param("spark", one, id=f"{ids(one)}-spark", marks=SPARK.marks) for one in cases]
    on_dask = [pytest.param("dask", one, id=f"{ids(one)}-dask") for one in (*cases, *seldom)]
    return pytest.mark.parametrize(("engine", "given"), [*on_spark, *on_dask], indirect=["engine"])


def same(engine, result, expected, *, order):
    assert_same(engine.read(result).sort(order), expected.sort(order))


@one_mode([["query"]], KEYS, ids="-".join)
def test_every_metric_by_keys_of_every_type(engine, given):
    # On Spark, a column costs as much as its values: a third of the names, of every family.
    names = NAMES[:: 3 if engine.name == "spark" else 1]
    check_keys(engine, given, names if given == ["query"] else METRICS)


@pytest.mark.parametrize("engine", [SPARK, CONNECT, CLUSTER], indirect=True)
def test_keys_of_every_type_at_once(engine):
    check_keys(engine, ALL_KEYS, METRICS)


def check_keys(engine, by, names):
    given = {"metrics": names, "score": "found", "unscored": "unretrieved", "by": by}
    same(engine, call(engine.make(DATA), "evaluate", **given), call(DATA, "evaluate", **given), order=by)


@one_mode(POLICIES, ALIKE)
def test_policies_means_and_systems(engine, given):
    data = DATA.with_columns(twenty=pl.lit(20), forty=pl.lit(40))
    given = {"by": "query", "metrics": METRICS} | given
    expected = call(data, "evaluate", **given)
    keys = [name for name in expected.columns if name in ("query", "model", "system")]
    same(engine, call(engine.make(data), "evaluate", **given), expected, order=keys or expected.columns)


ONE_AT_A_TIME = [
    (name, given) for name, given in CALLS if name in parts.__all__ and name not in ("with_metrics", "tally")
]
LAST = [*dict(ONE_AT_A_TIME).items()]


@one_mode(LAST, [one for one in ONE_AT_A_TIME if one not in LAST], ids=str)
def test_every_function(engine, given):
    name, given = given
    given = {"truth": "relevant", "score": "score", "by": "query"} | given
    result = getattr(engine.functions, name)(engine.make(DATA), **given)
    same(engine, result, getattr(fp, name)(DATA, **given), order="query")


@one_mode(
    [
        *({}, {"by": None}, {"by": ["model", "text"]}, {"bins": 3}, {"bins": [0, 0.5, 2], "by": None}),
        *({"count": "other"}, {"gain": "other", "by": None}, {"score": ["score", "other"]}),
    ],
    [{"weight": "weight"}, {"score": "found", "unscored": "drop"}, {"truth": "judged", "unjudged": "negative"}],
)
def test_tallies_are_those_of_the_plain_call(engine, given):
    given = {"truth": "relevant", "score": "score", "by": "query"} | given
    expected = fp.tally(DATA, **given)
    tally = engine.functions.tally(engine.make(DATA), **given)
    same(engine, tally, expected, order=expected.columns)
    if "bins" not in given and given["by"]:
        plain = {name: one for name, one in given.items() if name != "count"}
        found = tally.pr.evaluate(METRICS, count="count", **plain)
        same(engine, found, DATA.pr.evaluate(METRICS, **given), order=given["by"])


@ONE_MODE
def test_tallies_of_labels_have_truths(engine):
    given = {"score": "score", "by": "query"}
    tally = engine.functions.tally(engine.make(DATA), "label", positive="yes", **given)
    expected = fp.tally(DATA.with_columns(label="relevant"), "label", **given)
    same(engine, tally, expected, order=expected.columns)


def test_metrics_beside_the_rows(engine):
    given = {"metrics": ["rows", "average_precision", "k@recall=0.5"], "by": ["model", "text"]}
    result = call(engine.make(DATA), "with_metrics", **given)
    same(engine, result, call(DATA, "with_metrics", **given), order="row")


@ONE_MODE
@pytest.mark.parametrize(
    "given", [{"truth": "label", "positive": "yes"}, {"prefix": "its_", "weight": "weight"}], ids=str
)
def test_options_of_metrics_beside_the_rows(engine, given):
    given = {"metrics": ["rows", "average_precision", "k@recall=0.5"], "by": "query"} | given
    result = call(engine.make(DATA), "with_metrics", **given)
    same(engine, result, call(DATA, "with_metrics", **given), order="row")


@ONE_MODE
@pytest.mark.parametrize("parts", [1, 7])
def test_empty_partitions_and_few_groups(engine, parts):
    data = DATA.filter(pl.col("row") < 3)
    for by in ("query", None):
        result = engine.make(data, parts=parts).pr.evaluate(METRICS, "relevant", "score", by=by)
        same(engine, result, data.pr.evaluate(METRICS, "relevant", "score", by=by), order=by or "rows")


@ONE_MODE
def test_no_rows(engine):
    frame = engine.make(DATA)
    frame = frame[frame["row"] < 0]
    for given in ({"by": "query"}, {}, {"by": "query", "mean_over": "query"}):
        result = frame.pr.evaluate(METRICS, "relevant", "score", **given)
        assert_same(engine.read(result), DATA.clear().pr.evaluate(METRICS, "relevant", "score", **given))


def test_one_group_with_every_metric(engine):
    names = {"dask": NAMES, "spark": NAMES[::6]}.get(engine.name, METRICS)
    given = {"metrics": names, "score": "found", "unscored": "unretrieved"}
    same(engine, call(engine.make(DATA), "evaluate", **given), call(DATA, "evaluate", **given), order="rows")


WITHOUT_GROUPS, ALIKE_WITHOUT = (
    [one for one in some if not {"by", "mean_over", "positives", "rows"} & set(one)] for some in (POLICIES[:3], ALIKE)
)
# Of one group, a total is one number.
WITHOUT_GROUPS += [{"total_positives": pl.DataFrame({"many": 200}), "total_rows": pl.DataFrame({"more": 500})}]
ALIKE_WITHOUT += [
    *(one for one in POLICIES[3:] if not {"by", "mean_over", "positives", "rows"} & set(one)),
    {"total_positives": "many"},
    {"total_positives": pl.DataFrame({"many": 500.5}), "weight": "weight"},
]


@one_mode(WITHOUT_GROUPS, ALIKE_WITHOUT)
def test_one_group(engine, given):
    data, given = DATA.with_columns(many=pl.lit(200)), {"metrics": METRICS} | given
    expected = call(data, "evaluate", **given)
    same(engine, call(engine.make(data), "evaluate", **given), expected, order=expected.columns)


def test_metrics_of_one_group_beside_the_rows(engine):
    result = engine.make(DATA).pr.with_metrics(METRICS, "relevant", "score")
    same(engine, result, DATA.pr.with_metrics(METRICS, "relevant", "score"), order="row")


@ONE_MODE
def test_names_that_need_quoting(engine):
    data = DATA.select("relevant", **{"a.b `c`": "query", "the score": "score"})
    given = {"metrics": METRICS, "truth": "relevant", "score": "the score", "by": "a.b `c`"}
    same(engine, engine.make(data).pr.evaluate(**given), data.pr.evaluate(**given), order="a.b `c`")


@ONE_MODE
def test_columns_named_like_metrics(engine):
    data = DATA.select("query", rows=pl.col("relevant").cast(pl.Int8), average_precision=pl.col("other").cast(pl.Int64))
    given = {"metrics": METRICS, "truth": "rows", "score": "average_precision", "by": "query"}
    same(engine, engine.make(data).pr.evaluate(**given), data.pr.evaluate(**given), order="query")


# errors -------------------------------------------------------------------------------------------------------------


@ONE_MODE
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"truth": "relevent"}, ValueError, "no column 'relevent' in the frame; did you mean 'relevant'?"),
        ({"score": "text"}, TypeError, "score column 'text' is String: it must be numeric"),
        ({"metrics": "precison@3"}, ValueError, "no metric is named 'precison@3'; did you mean 'precision@3'"),
        (
            {"by": pl.col("query")},
            TypeError,
            "by takes names of columns where the frame is in parts, got a polars expression",
        ),
        (
            {"weight": pl.col("weight")},
            TypeError,
            "weight takes names of columns where the frame is in parts, got a polars expression",
        ),
        ({"ties": "order"}, ValueError, "ties='order' uses the order of the rows, and a shuffle moves them"),
        ({"mean_over": "model"}, ValueError, "mean_over names 'model', which is not one of the keys: query"),
        ({"truth": "label", "positive": 1}, TypeError, "positive=1 cannot be a value of column 'label'"),
        ({"teis": "expected"}, TypeError, "unexpected keyword argument 'teis'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_errors_that_need_no_rows_come_at_once(engine, given, error, message):
    with pytest.raises(error) as raised:
        call(engine.make(DATA), "evaluate", **{"metrics": METRICS, "by": "query"} | given)
    assert message in str(raised.value)


@ONE_MODE
def test_a_taken_name_beside_the_rows(engine):
    with pytest.raises(ValueError, match="the frame has a column 'rows' already: prefix="):
        engine.make(DATA.rename({"row": "rows"})).pr.with_metrics("rows", "relevant", "score", by="query")


def test_errors_about_rows_come_with_their_message_when_it_runs(engine):
    result = engine.make(DATA).pr.average_precision("relevant", "found", by="query")
    with pytest.raises(Exception, match=r"score column 'found' has \d+ missing of \d+ values"):
        engine.read(result)


@ONE_MODE
def test_what_is_there_on_polars_and_pandas_only(engine):
    for function in ("curve", "with_curve", "confusion"):
        with pytest.raises(
            TypeError,
            match=r"a (Spark|Dask) DataFrame has evaluate, report, .*; call this function on its \.",
        ):
            call(engine.make(DATA), function, **({"k": 1} if function == "confusion" else {}))


def test_the_functions_take_frames_of_a_backend(engine):
    result = fp.average_precision(engine.make(DATA), "relevant", "score", by="query")
    assert type(result) is type(engine.make(DATA))
    same(engine, result, fp.average_precision(DATA, "relevant", "score", by="query"), order="query")


@ONE_MODE
def test_grouped_frames_are_refused(engine):
    frame = engine.make(DATA)
    grouped = frame.groupby("query")
    with pytest.raises(TypeError, match=r"got a .*[Gg]roup.*: give the frame itself, and the grouping columns as by="):
        fp.average_precision(grouped, "relevant", "score")


@ONE_MODE
def test_the_module_has_the_functions(engine):
    assert [name for name in dict(ONE_AT_A_TIME) if getattr(engine.functions, name) is not getattr(fp, name)] == []


def errors_of(before, *calls):
    """The message of each of these calls, in a process of its own."""
    code = [before, "import frame_pr as fp"]
    code += [f"try:\n    {call}\nexcept Exception as error:\n    print(error)" for call in calls]
    command = [sys.executable, "-W", "ignore", "-c", "\n".join(code)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.splitlines()


def test_a_frame_of_a_module_that_is_not_imported():
    frames = {"spark": "object.__new__(DataFrame)", "dask": "dd.from_pandas(pd.DataFrame({'y': [1]}), 1)"}
    before = "from pyspark.sql import DataFrame; import dask.dataframe as dd, pandas as pd"
    told = errors_of(before, *(f"fp.average_precision({frame}, 'y', 's')" for frame in frames.values()))
    for module, message in zip(frames, told, strict=True):
        assert message.endswith(f"DataFrame: import frame_pr.{module} first, then call this again")


# the functions ------------------------------------------------------------------------------------------------------


def test_a_missing_extra_is_one_sentence():
    absent = "import sys; sys.modules |= {'pyspark': None, 'dask': None}"
    told = errors_of(absent, "import frame_pr.spark", "import frame_pr.dask")
    for module, message in zip(("spark", "dask"), told, strict=True):
        assert message.endswith(f'pip install "frame-pr[{module}]"')


# the guide ----------------------------------------------------------------------------------------------------------

GUIDE = (Path(__file__).parents[2] / "docs" / "spark-dask.md").read_text(encoding="utf-8")


def code_of(section: str) -> list[str]:
    """The Python blocks of one section of the guide."""
    (text,) = re.findall(rf"^## {section}$(.*?)(?=^## |\Z)", GUIDE, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^```python$(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@ONE_MODE
def test_the_examples_of_the_guide(engine, request, capsys):
    (code,) = code_of(engine.name.capitalize())
    names = {"spark": request.getfixturevalue("spark")} if engine.name == "spark" else {}
    exec(code, names)
    # Average precision: ink has its only positive first, tea has nothing but positives.
    assert engine.read(names["per_query"])["average_precision"].to_list() == [1, 1]
    assert capsys.readouterr().out.count("tea") == 1


def test_the_guide_to_no_engine_at_all(tmp_path):
    DATA.select("query", "relevant", "score").write_parquet(tmp_path / "run.parquet")
    (tmp_path / "guide.py").write_text(code_of("Other backends")[1], encoding="utf-8")
    subprocess.run([sys.executable, "guide.py"], cwd=tmp_path, check=True, capture_output=True)
    expected = DATA.pr.evaluate(["average_precision", "rows"], "relevant", "score", by="query")
    assert_same(pl.read_parquet(tmp_path / "per_query.parquet").sort("query"), expected)
