"""Every public function, once on each kind of frame.

The same kind comes back, with the values of polars.

Values are tested on polars alone, elsewhere. A function of `frame_pr` that is not in `TABLE` fails
the first test.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest
from compare import assert_same
from engines import on_dask
from kinds import KINDS, Kind
from names import CALLS

import frame_pr as fp

RNG = np.random.default_rng(1)
RUN = pl.DataFrame(
    {
        "query": RNG.integers(0, 9, 200),
        "relevant": RNG.random(200) < 0.3,
        "predicted": RNG.random(200) < 0.5,
        "score": RNG.integers(0, 20, 200) / 4,
        "other": RNG.integers(0, 15, 200) / 4,
        "label": RNG.choice(["cat", "dog", "owl"], 200),
        "guess": RNG.choice(["cat", "dog", "owl"], 200),
        "cat": RNG.random(200) / 2,
        "dog": RNG.random(200) / 2,
    }
).with_columns(owl=1 - pl.col("cat") - pl.col("dog"))
RANKED = pl.DataFrame(
    {"query": [1, 1, 2, 2], "document": list("abac"), "score": [0.9, 0.5, 0.8, 0.7]}
)
JUDGED = pl.DataFrame({"query": [1, 1, 2], "document": list("acb"), "relevant": [1, 1, 0]})
# Of numbers: polars 1.40 crashes on Arrow's large lists of large texts.
LISTS = pl.DataFrame({"user": [1, 2], "liked": [[1, 2], [3]], "shown": [[2, 9, 1], [9, 3]]})
ONE, TWO = (
    {"truth": "relevant", "score": "score"},
    {"truth": "relevant", "score": ["score", "other"]},
)


class Call(NamedTuple):
    """A call of a public function: its frames come first."""

    function: str
    frames: tuple[pl.DataFrame, ...]
    arguments: dict[str, Any]

    def on(self, make: Callable[[pl.DataFrame], Any]) -> Any:
        return getattr(fp, self.function)(*map(make, self.frames), **self.arguments)


def table() -> dict[str, Call]:
    calls = [Call(function, (RUN,), ONE | {"by": "query"} | given) for function, given in CALLS]
    first = {call.function: call for call in reversed(calls)}
    for function, frames, arguments in [
        ("compare", (RUN,), TWO | {"metrics": "average_precision", "by": "query"}),
        ("average_curve", (RUN,), ONE | {"mean_over": "query", "points": 11}),
        ("confusion_matrix", (RUN,), {"truth": "label", "prediction": "guess", "by": "query"}),
        (
            "unpivot_classes",
            (RUN.drop("score", "other"),),
            {"truth": "label", "scores": ["cat", "dog", "owl"]},
        ),
        ("explode_lists", (LISTS,), {"truth": "liked", "ranked": "shown", "by": "user"}),
        ("join_judgments", (RANKED, JUDGED), {"on": ["query", "document"]}),
    ]:
        first[function] = Call(function, frames, arguments)
    return dict(sorted(first.items()))


TABLE = table()
PLOTS = {
    "plot": Call("plot", (RUN,), TWO),
    "plot_scores": Call("plot_scores", (RUN,), ONE),
    "plot_gains": Call("plot_gains", (fp.gains_table(RUN, **ONE, bins=5),), {}),
    "plot_confusion": Call("plot_confusion", (fp.confusion_matrix(RUN, "label", "guess"),), {}),
    "plot_intervals": Call(
        "plot_intervals", (fp.intervals(RUN, "average_precision", **TWO, by="query"),), {}
    ),
    "plot_comparison": Call("plot_comparison", (fp.average_precision(RUN, **TWO, by="query"),), {}),
}
OTHER_KINDS = [kind for kind in KINDS if kind.name != "polars"]
# These take no frame, or give none of the same kind.
NOT_HERE = {
    "partitioned",
    "format_table",
    "read_trec_run",
    "read_trec_qrels",
    "metrics",
    "show_versions",
}
NOT_HERE |= {"plot_curve", "plot_differences", "plot_trend"}  # which leave


def test_every_public_function_is_in_the_table():
    functions = {name for name in fp.__all__ if inspect.isfunction(getattr(fp, name))}
    assert functions - NOT_HERE == {*TABLE, *PLOTS}


@pytest.mark.parametrize("kind", OTHER_KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", TABLE)
def test_a_function_on_every_kind_of_frame(name: str, kind: Kind):
    call = TABLE[name]
    expected = call.on(pl.DataFrame.clone)
    given: list[Any] = []
    result = call.on(lambda data: given.append(kind(data)) or given[-1])
    # numpy has no integer null, and pandas no unsigned integers beside it.
    assert_same(kind.read(result), expected, dtypes=kind.of is pl.LazyFrame)
    for frame, data in zip(given, call.frames, strict=True):
        before = kind(data)
        assert frame.equals(before) if isinstance(frame, pd.DataFrame) else True, (
            "the caller's frame was changed"
        )


@pytest.mark.parametrize("name", TABLE)
def test_a_function_does_not_read_a_lazy_frame_before_it_is_collected(name: str):
    reads: list[int] = []

    def watched(data: pl.DataFrame) -> pl.LazyFrame:
        return data.lazy().map_batches(
            lambda rows: reads.append(rows.height) or rows, schema=data.schema
        )

    result = TABLE[name].on(watched)
    schema = result.collect_schema()
    assert reads == []
    collected = result.collect()
    assert reads
    assert collected.schema == schema


MEANS = Call(
    "evaluate", (RUN,), TWO | {"metrics": ["tp@3", "f1@3"], "by": "query", "mean_over": "query"}
)


@pytest.mark.parametrize("call", [*TABLE.values(), MEANS], ids=[*TABLE, "means"])
def test_counts_are_int64_and_other_numbers_are_float64(call: Call):
    result = call.on(pl.DataFrame.clone)
    new = result.drop(*(data.columns for data in call.frames), strict=False).select(cs.numeric())
    assert {*new.dtypes} <= {pl.Int64, pl.Float64}


@pytest.mark.parametrize("name", TABLE)
def test_a_method_is_the_function_and_leaves_the_frame_as_it_was(name: str):
    call = TABLE[name]
    frame, *others = (data.clone() for data in call.frames)
    result = getattr(frame.pr, name)(*others, **call.arguments)
    assert_same(result, call.on(pl.DataFrame.clone))
    assert frame.equals(call.frames[0])
    assert inspect.getdoc(getattr(frame.pr, name)) == inspect.getdoc(getattr(fp, name))


# Patterns to `polars.col`, text that is hard to quote, and names of columns that the package makes
# on its way.
ODD = ["^.*$", "*", "^[sr].*$", "", 'a"b`c', "a\0b"]
OURS = [
    "group",
    "order",
    "weight",
    "block",
    "number",
    "first",
    "unit",
    "by0",
    "key0",
    "0",
    "cluster",
    "m",
    "row",
]


def renamed(call: Call, names: dict[str, str]) -> Call:
    def new(value: Any) -> Any:
        return (
            list(map(new, value))
            if isinstance(value, list)
            else names.get(value, value)
            if isinstance(value, str)
            else value
        )

    frames = tuple(frame.rename(names, strict=False) for frame in call.frames)
    return Call(call.function, frames, {name: new(value) for name, value in call.arguments.items()})


@pytest.mark.parametrize(
    "names", [ODD, OURS, OURS[6:]], ids=["patterns", "names of ours", "more names of ours"]
)
@pytest.mark.parametrize("name", TABLE)
def test_columns_may_have_any_name(name: str, names: list[str]):
    call = TABLE[name]
    columns = ["query", "relevant", "score", "other", "predicted", "document"]
    new = dict(zip(columns, names, strict=False))
    old = {name: column for column, name in new.items()}
    result = renamed(call, new).on(pl.DataFrame.clone).rename(old, strict=False)
    # Names of columns are values where systems are compared.
    assert_same(result.with_columns(cs.string().replace(old)), call.on(pl.DataFrame.clone))


# Rows in parts do not keep their order, which with_metrics returns.
IN_PARTS = [
    "evaluate",
    "report",
    "tally",
    "average_precision",
    "average_precision_at_k",
    "precision_at_k",
]
IN_PARTS += ["recall_at_k", "interpolated_average_precision", "f_beta", "roc_auc", "ndcg"]


@pytest.mark.parametrize("name", IN_PARTS)
def test_a_function_on_a_partitioned_frame(name: str):
    call = TABLE[name]
    (data,) = call.frames
    result = getattr(fp.partitioned(data, partitions=2, progress=False), name)(**call.arguments)
    assert_same(sorted_rows(result), sorted_rows(call.on(pl.DataFrame.clone)))


@pytest.mark.parametrize("name", ["evaluate", "tally"])
def test_a_function_on_a_dask_frame(name: str):
    dask = pytest.importorskip("dask")
    call, on = TABLE[name], on_dask("dask")
    with dask.config.set(scheduler="synchronous"):
        result = on.read(call.on(on.make))
    assert_same(sorted_rows(result), sorted_rows(call.on(pl.DataFrame.clone)), dtypes=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_PARTS)
def test_a_function_on_a_distributed_frame(engine: Any, name: str):
    call = TABLE[name]
    result = engine.read(call.on(engine.make))
    assert_same(sorted_rows(result), sorted_rows(call.on(pl.DataFrame.clone)), dtypes=False)


def sorted_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows that are spread over parts have no order."""
    return frame.sort(frame.columns)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_of_every_kind_of_frame(name: str, kind: Kind):
    pytest.importorskip("matplotlib").use("agg")
    figures = [PLOTS[name].on(make).figure for make in (pl.DataFrame.clone, kind)]
    texts, other = (
        ["".join(text.get_text() for text in ax.texts) for ax in figure.axes] for figure in figures
    )
    assert texts == other
