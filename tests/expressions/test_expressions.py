"""Expressions: in every context, each metric is what the frame function gives for the same rows."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from names import NAMES
from polars.testing import assert_frame_equal
from samples import groups

import frame_pr as fp
from frame_pr import ExprPR
from frame_pr.metrics.rates import COUNTS, RATES

Build = Callable[[ExprPR], pl.Expr]

# Every metric by the name that `evaluate` knows it by, which is the name of its column.
METRICS: dict[str, Build] = {
    "average_precision": lambda pr: pr.average_precision("truth"),
    "precision@1": lambda pr: pr.precision_at_k("truth", 1),
    "precision@4": lambda pr: pr.precision_at_k("truth", 4),
    "precision@50": lambda pr: pr.precision_at_k("truth", 50),
    "roc_auc": lambda pr: pr.roc_auc("truth"),
    "ndcg": lambda pr: pr.ndcg("truth"),
    "ndcg@3": lambda pr: pr.ndcg("truth", 3),
}
BY_NAME = [
    "interpolated_average_precision",
    "interpolated_average_precision_11",
    "interpolated_average_precision_101",
    "average_precision@1",
    "average_precision@4",
    "average_precision@4/positives",
    "average_precision@4/hits",
    "average_precision@50",
    "recall@4",
    "r_precision",
    "precision@recall=0",
    "precision@recall=0.3",
    "k@recall=0.8",
    "k@recall=1",
    "f1@threshold=0.5",
    "f0.5@threshold=0",
    "f2@4",
    "max_f1",
    "max_f0.5",
    "threshold@max_f1",
    "threshold@max_f2",
]
FIGURES = [*COUNTS, *RATES, "f3"]
BY_NAME += [f"{figure}@{cut}" for cut in ("3", "threshold=0.2", "recall=0.6") for figure in FIGURES]
METRICS |= {name: lambda pr, name=name: pr.metric(name, "truth") for name in BY_NAME}


def expressions() -> list[pl.Expr]:
    return [build(ExprPR(pl.col("score"))) for build in METRICS.values()]


def same(result: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert_frame_equal(result, expected, check_exact=False, rel_tol=0, abs_tol=1e-12)


@pytest.fixture(params=[0, 1, 2])
def frame(request: pytest.FixtureRequest) -> pl.DataFrame:
    """Tied scores, in groups of 1 to 40 rows: none, some or all of them positive."""
    random = np.random.default_rng(request.param)
    sizes = np.concatenate([[1, 1, 2, 3], random.integers(1, 40, 40)])
    shares = np.concatenate([[0, 1, 0, 1], random.choice([0, 0.1, 0.5, 1], 40)])
    group = np.repeat(np.arange(len(sizes)), sizes)
    rows = len(group)
    score = np.round(random.normal(size=rows), request.param % 3) + 0.0
    truth = random.random(rows) < shares[group]
    frame = pl.DataFrame({"group": group, "score": score, "truth": truth}).sample(
        fraction=1, shuffle=True, seed=1
    )
    return frame.with_columns(
        time=pl.datetime(2026, 1, 1) + pl.duration(hours=pl.int_range(pl.len()))
    )


def test_group_by(frame: pl.DataFrame) -> None:
    expected = fp.evaluate(frame, list(METRICS), "truth", "score", by="group")
    assert expected["average_precision"].null_count() > 4  # groups without positives are there
    same(frame.group_by("group").agg(expressions()).sort("group"), expected)


def test_select(frame: pl.DataFrame) -> None:
    expected = fp.evaluate(frame, list(METRICS), "truth", "score")
    same(frame.select(expressions()), expected)
    assert frame.with_columns(expressions()).height == frame.height


def test_over(frame: pl.DataFrame) -> None:
    result = frame.with_columns(e.over("group") for e in expressions())
    same(result, fp.with_metrics(frame, list(METRICS), "truth", "score", by="group"))


@pytest.mark.slow
def test_group_by_dynamic(frame: pl.DataFrame) -> None:
    windows = frame.group_by_dynamic("time", every="12h").agg(expressions())
    expected = fp.evaluate(
        frame, list(METRICS), "truth", "score", by=pl.col("time").dt.truncate("12h")
    )
    same(windows, expected)


def windows_of(frame: pl.DataFrame, hours: int) -> Iterator[pl.DataFrame]:
    for (time,) in frame.select("time").iter_rows():
        yield frame.filter(pl.col("time") <= time, pl.col("time") > time - timedelta(hours=hours))


@pytest.mark.slow
@pytest.mark.parametrize("overlapping", ["rolling", "dynamic"])
def test_overlapping_windows(frame: pl.DataFrame, overlapping: str) -> None:
    frame = frame.head(120)
    windows = pl.concat(
        window.with_columns(end=window["time"].max()).drop("time")
        for window in windows_of(frame, hours=9)
    )
    expected = fp.evaluate(windows, list(METRICS), "truth", "score", by="end").rename(
        {"end": "time"}
    )
    if overlapping == "rolling":
        result = frame.rolling("time", period="9h").agg(expressions())
    else:
        dynamic = frame.group_by_dynamic(
            "time", every="1h", period="9h", closed="right", label="right"
        )
        result = dynamic.agg(expressions()).join(frame.select("time"), on="time", how="semi")
        expected = expected.join(result.select("time"), on="time", how="semi")
        # Windows are labelled by their end.
        assert result.height > 100
    same(result, expected)


def test_empty_windows() -> None:
    # Open at both ends, an hour holds none of these rows.
    frame = pl.DataFrame({"score": [0.5] * 3, "truth": [True] * 3}).with_columns(
        time=pl.datetime(2026, 1, 1) + pl.duration(hours=pl.int_range(3))
    )
    result = (
        frame.rolling("time", period="1h", closed="none").agg(expressions()).drop("time").unique()
    )
    # Filled up to k with misses, no row is as good as one that is a miss. All else is null, and
    # nothing counts 0.
    one_miss = fp.evaluate(
        pl.DataFrame({"score": [0.5], "truth": [False]}), list(METRICS), "truth", "score"
    )
    expected = one_miss.with_columns(
        pl.lit(
            0 if name.partition("@")[0] in COUNTS and "threshold=" in name else None, dtype=dtype
        ).alias(name)
        for name, dtype in one_miss.schema.items()
        if not name.partition("@")[2][:1].isdecimal() or name.startswith("prevalence")
    )
    same(result, expected)


def test_no_rows() -> None:
    frame = pl.DataFrame(schema={"group": pl.Int64, "score": pl.Float64, "truth": pl.Boolean})
    result = frame.group_by("group").agg(expressions())
    assert result.height == 0
    assert result.schema == fp.evaluate(frame, list(METRICS), "truth", "score", by="group").schema


def test_known_answers() -> None:
    scores = {
        "a": [0.95, 0.85, 0.73, 0.62, 0.48, 0.39, 0.12, 0.04],
        "b": [0.55, 0.59, 0.88, 0.97, 0.20, 0.09, 0.43, 0.32],
    }
    frame = pl.DataFrame({**scores, "truth": [1, 1, 0, 0, 1, 1, 0, 0]})
    ap = {name: pl.col(name).pr.average_precision("truth").alias(name) for name in scores}
    # a has its positives at ranks 1, 2, 5, 6: (1/1 + 2/2 + 3/5 + 4/6) / 4 = 49/60.
    # b at ranks 3, 4, 7, 8: (1/3 + 2/4 + 3/7 + 4/8) / 4 = 37/84.
    assert frame.select(**ap).row(0) == pytest.approx((49 / 60, 37 / 84), abs=1e-15)

    # Of two tied rows one is a positive: at their threshold, precision is 1/2, and the first slot
    # takes half of it.
    tied = pl.DataFrame({"score": [1, 1], "truth": [True, False]})
    pr = pl.col("score").pr
    cut = tied.select(
        pr.average_precision("truth"),
        pr.precision_at_k("truth", 1),
        pr.metric("average_precision@1", "truth"),
    )
    assert cut.row(0) == (0.5, 0.5, 0.25)


def test_large_integers_and_zeros() -> None:
    # 2**53 and 2**53 + 1 are one float, but two scores; -0.0 and 0.0 are one score.
    frame = pl.DataFrame({"a": [2**53, 2**53 + 1], "b": [-0.0, 0.0], "truth": [True, False]})
    result = frame.select(pl.col(name).pr.average_precision("truth").alias(name) for name in "ab")
    assert result.row(0) == (0.5, 0.5)
    assert frame.select(pl.col("a").pr.precision_at_k("truth", 1)).item() == 0
    assert frame.select(pl.col("b").pr.precision_at_k("truth", 1)).item() == 0.5


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["yes", "no", "no", "yes"], "yes"),
        ([2, 1, 1, 2], 2),
        ([2.0, 0.5, 0.5, 2.0], 2),
        (pl.Series([2, 1, 1, 2]).cast(pl.Decimal(4, 1)), 2),
        ([False, True, True, False], False),
        (pl.Series(["a", "b", "b", "a"], dtype=pl.Categorical), "a"),
        ([1, 0, 0, 1], None),
        ([1.0, 0.0, 0.0, 1.0], None),
    ],
)
def test_labels(labels: object, positive: object) -> None:
    frame = pl.DataFrame({"score": [4, 3, 2, 1], "label": labels})
    # Positives at ranks 1 and 4: (1/1 + 2/4) / 2.
    for truth in ("label", pl.col("label")):
        assert (
            frame.select(pl.col("score").pr.average_precision(truth, positive=positive)).item()
            == 0.75
        )


def test_a_label_that_a_group_lacks_gives_null() -> None:
    frame = pl.DataFrame({"score": [4, 3], "label": ["a", "b"]})
    assert frame.select(pl.col("score").pr.average_precision("label", positive="c")).item() is None


def contexts(frame: pl.DataFrame, expression: pl.Expr) -> dict[str, Callable[[], object]]:
    dated = frame.with_columns(
        time=pl.datetime(2026, 1, 1) + pl.duration(hours=pl.int_range(pl.len()))
    )
    agg = frame.lazy().group_by("group").agg(expression)
    return {
        "select": lambda: frame.select(expression),
        "agg": lambda: frame.group_by("group").agg(expression),
        "lazy": lambda: agg.collect(engine="in-memory"),
        "streaming": lambda: agg.collect(engine="streaming"),
        "over": lambda: frame.with_columns(expression.over("group")),
        "rolling": lambda: dated.rolling("time", period="2h").agg(expression),
        "dynamic": lambda: dated.group_by_dynamic("time", every="2h").agg(expression),
    }


@pytest.mark.parametrize(
    "context", ["select", "agg", "lazy", "streaming", "over", "rolling", "dynamic"]
)
@pytest.mark.parametrize(
    ("score", "truth", "positive", "message"),
    [
        (
            [1.0, None, 3.0],
            [1, 0, 1],
            None,
            r"score 'score' has 1 of [23] values( of a group)? missing \(null or NaN\): drop",
        ),
        (
            [3, 2, 1],
            [True, None, False],
            None,
            r"truth 'truth' has 1 of [23] values( of a group)? missing .*, or neither true",
        ),
        (
            [3, 2, 1],
            [1.0, float("nan"), 0.0],
            None,
            r"truth 'truth' has 1 of [23] values( of a group)? missing .*, or neither true",
        ),
        (
            [3, 2, 1],
            [1, 2, 0],
            None,
            r"truth 'truth' has 1 of [23] values( of a group)? missing .*, or neither true",
        ),
        (
            [3, 2, 1],
            ["a", None, "b"],
            "a",
            r"truth 'truth' has 1 of [23] values( of a group)? missing \(null or NaN\): drop",
        ),
        (
            [3, 2, 1],
            [2.0, float("nan"), 1.0],
            2.0,
            r"truth 'truth' has 1 of [23] values( of a group)? missing \(null or NaN\): drop",
        ),
    ],
)
def test_missing_values_are_an_error(
    score: list[object], truth: list[object], positive: object, message: str, context: str
) -> None:
    frame = pl.DataFrame({"group": [1, 1, 2], "score": score, "truth": truth})
    pr = ExprPR(pl.col("score"))
    for expression in (
        pr.average_precision("truth", positive=positive),
        pr.metric("threshold@max_f1", "truth", positive=positive),
        pr.metric("fp@threshold=0.5", "truth", positive=positive),
    ):
        run = contexts(frame, expression)[context]
        with pytest.raises(ValueError, match=message):
            run()


def test_missing_rows_dropped_before() -> None:
    frame = pl.DataFrame({"score": [3.0, None, 1.0], "truth": [False, True, True]})
    scored = pl.col("score").is_not_null()
    expression = pl.col("score").filter(scored).pr.average_precision(pl.col("truth").filter(scored))
    assert frame.select(expression).item() == 0.5


@pytest.mark.parametrize("score", [["a", "b"], [True, False], pl.Series([1, 2]).cast(pl.Date)])
def test_a_score_is_a_number(score: object) -> None:
    frame = pl.DataFrame({"score": score, "truth": [True, False]})
    with pytest.raises(ValueError, match=r"score column .score. is .*: it must be numeric"):
        frame.select(pl.col("score").pr.average_precision("truth"))


def test_labels_need_a_positive() -> None:
    frame = pl.DataFrame({"score": [1, 2], "truth": ["a", "b"]})
    with pytest.raises(
        ValueError, match=r"truth .truth. is String, neither boolean nor 0.1: name its positive"
    ):
        frame.select(pl.col("score").pr.average_precision("truth"))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda pr: pr.precision_at_k("truth", 0),
            ValueError,
            "k must be a whole number of at least 1",
        ),
        (lambda pr: pr.precision_at_k("truth", 1.5), TypeError, "k must be a whole number"),
        (lambda pr: pr.ndcg("truth", [1, 2]), TypeError, "k must be a whole number"),
        (
            lambda pr: pr.metric("k@recall=1.1", "truth"),
            ValueError,
            "recall must lie between 0 and 1",
        ),
        (lambda pr: pr.metric("mmc@1", "truth"), ValueError, "no metric is named 'mmc@1'"),
        (
            lambda pr: pr.metric("rows", "truth", undefined=0),
            TypeError,
            "what has no value stays null here: fill_null",
        ),
        (
            lambda pr: pr.metric("truth", "rows"),
            ValueError,
            "the metric comes first, then truth: metric('rows', 'truth')",
        ),
        (
            lambda pr: pr.metric(["rows", "mmc@1"], "truth"),
            ValueError,
            "no metric is named 'mmc@1'",
        ),
        (lambda pr: pr.metric(None, "truth"), TypeError, "names takes names of metrics; got None"),
        (lambda pr: pr.metric(["rows", "rows"], "truth"), ValueError, "names has 'rows' twice"),
        (lambda pr: pr.metric("rows", "truth", pos_label=1), TypeError, "did you mean positive=?"),
        (lambda pr: pr.roc_auc(y_true="truth"), TypeError, "did you mean truth=?"),
    ],
)
def test_arguments_are_checked(call: Build, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call(ExprPR(pl.col("score")))


@pytest.mark.parametrize(
    "positive",
    [
        pl.Series(["x", "y"]),
        np.array(["x", "y"]),
        2**400,
        -(2**200),
        ["x"],
        ("x",),
        {"x": 1},
        {1},
        pl.col("label"),
    ],
)
def test_positive_is_one_label(positive: Any) -> None:
    frame = pl.DataFrame({"score": [2, 1], "label": ["x", "y"]})
    with pytest.raises(ValueError, match="cannot be a value of column 'label', which is String"):
        frame.select(pl.col("score").pr.average_precision("label", positive=positive))


@pytest.mark.parametrize("lazy", [False, True])
def test_an_error_is_one_line(lazy: bool) -> None:
    frame = pl.DataFrame({"q": [1, 1, 2], "score": [1.0, None, 3.0], "truth": [1, 0, 1]})
    grouped = (frame.lazy() if lazy else frame).group_by("q")
    with pytest.raises(ValueError, match=r"^score 'score' has 1 of 2 values") as error:
        grouped.agg(pl.col("score").pr.average_precision("truth")).lazy().collect()
    assert "\n" not in str(error.value)
    again = pickle.loads(pickle.dumps(error.value))
    assert (type(again), str(again)) == (ValueError, str(error.value))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("recall_at_k", "metric('recall@10', truth) computes it"),
        ("max_f2", "metric('max_f2', truth) computes it"),
        ("f_beta", "metric('f1@10', truth) computes it"),
        (
            "curve",
            "it has metric, average_precision, precision_at_k, roc_auc, ndcg; "
            "frames have all functions",
        ),
    ],
)
def test_other_names_are_answered_with_metric(name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(pl.col("score").pr, name)
    assert str(error.value) == f".pr of an expression has no {name!r}: {hint}"


def test_the_menu() -> None:
    lines = repr(pl.col("score").pr).splitlines()
    assert [line.split(":")[0].strip() for line in lines[1:]] == [
        "metric",
        "average_precision",
        "precision_at_k",
        "roc_auc",
        "ndcg",
    ]


EVERY = [*METRICS, *(name for name in NAMES if name not in METRICS)]


# A thousand names take seconds, so the contexts share the expression and the expected values.
@cache
def every_metric() -> pl.Expr:
    return pl.col("score").pr.metric(EVERY, "relevant")


def hourly() -> pl.DataFrame:
    hours = pl.duration(hours=pl.int_range(pl.len()))
    return groups().head(150).with_columns(time=pl.datetime(2026, 1, 1) + hours)


@cache
def every_value(by: str | None = None) -> pl.DataFrame:
    return fp.evaluate(hourly(), EVERY, "relevant", "score", by=by)


@pytest.mark.parametrize("context", ["select", "with_columns", "agg", "over", "rolling", "dynamic"])
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_struct_of_all_names_of_a_lazy_frame(context: str, engine: pl.EngineType) -> None:
    data = hourly()
    frame = data.lazy()
    metrics = every_metric()
    expected = every_value()
    if context == "select":
        query = frame.select(metrics).unnest("metrics")
    elif context == "with_columns":
        query = frame.with_columns(metrics).select("metrics").unnest("metrics").head(1)
    elif context == "agg":
        query = frame.group_by("q").agg(metrics).unnest("metrics").sort("q")
        expected = every_value("q")
    elif context == "over":
        query = frame.select("q", metrics.over("q")).unique("q").unnest("metrics").sort("q")
        expected = every_value("q")
    elif context == "rolling":
        query = (
            frame.rolling("time", period="1000h")
            .agg(metrics)
            .unnest("metrics")
            .tail(1)
            .drop("time")
        )
    else:
        query = (
            frame.group_by_dynamic("time", every="1000h")
            .agg(metrics)
            .unnest("metrics")
            .drop("time")
        )
        expected = fp.evaluate(
            data, EVERY, "relevant", "score", by=pl.col("time").dt.truncate("1000h")
        ).drop("time")
    assert query.collect_schema() == expected.schema
    same(query.collect(engine=engine), expected)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_every_name_alone_in_select_and_filter_of_a_lazy_frame(engine: pl.EngineType) -> None:
    data = groups().head(60)
    expected = fp.evaluate(data, EVERY, "relevant", "score")
    step = EVERY[::3]
    query = data.lazy().select(pl.col("score").pr.metric(name, "relevant") for name in step)
    same(query.collect(engine=engine), expected.select(step))
    scored = data.lazy().filter(
        pl.col("score") > pl.col("score").pr.metric("threshold@max_f1", "relevant")
    )
    assert scored.collect(engine=engine).equals(
        data.filter(pl.col("score") > expected["threshold@max_f1"].item())
    )


MANY = """
import polars as pl, frame_pr
rows = pl.int_range(pl.lit(250_000))
data = pl.select(q=rows % 50, y=rows * 7 % 10 < 3, s=rows * 7919 % 250_000)
names = [f"precision@{k}" for k in range(1, 401)]
try:
    found = data.group_by("q").agg(pl.col("s").pr.metric(name, "y") for name in names)
    assert found.width == 401
except ValueError as error:
    advice = "too many metrics in one query: give metric() a list of names"
    assert str(error).startswith(advice), error
several = data.group_by("q").agg(pl.col("s").pr.metric(names, "y"))
assert several["metrics"].struct.unnest().width == 400
"""


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_hundreds_of_expressions_do_not_exhaust_the_stack(threads: str) -> None:
    environment = os.environ | {"POLARS_MAX_THREADS": threads}
    subprocess.run([sys.executable, "-c", MANY], env=environment, check=True, timeout=500)
