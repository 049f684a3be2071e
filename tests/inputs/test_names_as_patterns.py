"""Columns whose names polars would read as patterns, in every part that a caller's name has, in every function."""

from functools import cache

import matplotlib as mpl
import polars as pl
import pytest

import frame_pr as fp

mpl.use("Agg")

ODD = ["^a$", "*", "^.*$", "a\0b", "a`b\n", "^b.*$"]
SHIFTS = [0]
ROLES = ["query", "truth", "score", "other", "extra", "new"]
DATA = pl.DataFrame(
    {
        "query": [1, 1, 1, 2, 2, 2],
        "truth": [1, 0, 1, 0, 1, 0],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
        "other": [0.1, 0.3, 0.2, 0.6, 0.7, 0.4],
        "extra": [1, 2, 1, 3, 2, 2],
    }
)
AP = "average_precision"
CLASSES = pl.DataFrame(
    {"query": [1, 2], "truth": ["a", "b"], "score": [0.9, 0.2], "other": [0.1, 0.8], "extra": [3, 4]}
)
LISTS = pl.DataFrame({"query": [1, 2], "truth": [[1, 2], [3]], "score": [[2, 4], [3]], "other": [[0.2, 0.1], [0.5]]})
RUN = DATA.select("query", "extra", "score").unique(["query", "extra"], maintain_order=True)
JUDGED = RUN.select("query", "extra", truth=pl.lit(1))


def of_figures(function, frame, name, **options):
    figures = fp.evaluate(frame, AP, name["truth"], [name["score"], name["other"]], by=name["query"])
    return function(figures, AP, by=name["query"], **options)


# What each is called with: the frame, and what its columns are named.
CALLS = {
    "evaluate": lambda f, n: fp.evaluate(f, {n["new"]: AP, n["other"]: "k@recall=0.5"}, n["truth"], n["score"]),
    "by": lambda f, n: fp.evaluate(f, {n["new"]: AP}, n["truth"], n["score"], by=n["query"]),
    "mean_over": lambda f, n: fp.evaluate(
        f,
        {n["new"]: AP, n["other"]: "precision@1"},
        n["truth"],
        n["score"],
        by=[n["query"], n["extra"]],
        mean_over=n["extra"],
        statistics=["mean", "weighted", "q25", "defined"],
    ),
    "systems": lambda f, n: fp.evaluate(f, {n["new"]: AP}, n["truth"], [n["score"], n["other"]], by=n["query"]),
    "weight": lambda f, n: fp.evaluate(f, AP, n["truth"], n["score"], by=n["query"], weight=n["extra"]),
    "count": lambda f, n: fp.evaluate(f, AP, n["truth"], n["score"], by=n["query"], count=n["extra"]),
    "gain": lambda f, n: fp.evaluate(f, {n["new"]: "ndcg"}, n["truth"], n["score"], by=n["query"], gain=n["extra"]),
    "tie_break": lambda f, n: fp.evaluate(f, AP, n["truth"], n["extra"], by=n["query"], tie_break=n["other"]),
    "with_metrics": lambda f, n: fp.with_metrics(f, {n["new"]: AP}, n["truth"], n["score"], by=n["query"]),
    "prefix": lambda f, n: fp.with_metrics(f, AP, n["truth"], n["score"], by=n["query"], prefix=n["new"]),
    "with_curve": lambda f, n: fp.with_curve(f, n["truth"], n["score"], by=n["query"], prefix=n["new"]),
    "curve": lambda f, n: fp.curve(f, n["truth"], n["score"], by=n["query"]),
    "average_curve": lambda f, n: fp.average_curve(f, n["truth"], n["score"], by=n["query"], points=3),
    "confusion": lambda f, n: fp.confusion(f, n["truth"], n["score"], by=n["query"], threshold=0.5),
    "threshold": lambda f, n: fp.confusion(f, n["truth"], n["score"], by=n["query"], threshold=n["query"]),
    "thresholds": lambda f, n: fp.confusion(
        f,
        n["truth"],
        n["score"],
        by=n["query"],
        threshold=fp.evaluate(f, {n["new"]: "threshold@recall=0.5"}, n["truth"], n["score"], by=n["query"]),
    ),
    "confusion_matrix": lambda f, n: fp.confusion_matrix(f, n["truth"], n["extra"], by=n["query"], weight=n["extra"]),
    "report": lambda f, n: fp.report(f, n["truth"], n["score"], by=n["query"], k=1, confidence=0.9),
    "tally": lambda f, n: fp.tally(f, n["truth"], n["extra"], by=n["query"], weight=n["other"]),
    "bins": lambda f, n: fp.tally(f, n["truth"], n["score"], by=n["query"], bins=2),
    "intervals": lambda f, n: fp.intervals(f, AP, n["truth"], n["score"], by=n["query"], mean_over=n["query"]),
    "cluster": lambda f, n: fp.intervals(f, AP, n["truth"], n["score"], cluster=n["extra"]),
    "of figures": lambda f, n: of_figures(fp.compare, f, n, baseline=n["score"]),
    "compare": lambda f, n: fp.compare(f, AP, n["truth"], [n["score"], n["other"]], by=n["query"], baseline=n["score"]),
    "compare rows": lambda f, n: fp.compare(
        f, AP, n["truth"], [n["score"], n["other"]], by=n["query"], sampled="rows", baseline=n["score"]
    ),
    "identify": lambda f, n: rows(fp.identify(f, 0.8333, n["truth"], n["score"], by=n["query"])).select(
        "definition", "value"
    ),
    "roc_auc": lambda f, n: fp.roc_auc(f, n["truth"], n["score"], by=n["query"]),
    "precision_at_k": lambda f, n: fp.precision_at_k(f, n["truth"], n["score"], 2, by=n["query"]),
    "partitioned": lambda f, n: fp.partitioned(f, partitions=2, progress=False).evaluate(
        {n["new"]: AP, n["other"]: "precision@1"}, n["truth"], n["score"], by=n["query"]
    ),
    "means of parts": lambda f, n: fp.partitioned(f, partitions=2, progress=False).evaluate(
        {n["new"]: AP}, n["truth"], n["score"], by=[n["query"], n["extra"]], mean_over=n["extra"]
    ),
    "tally of parts": lambda f, n: fp.partitioned(f, partitions=2, progress=False).tally(
        n["truth"], n["extra"], by=n["query"]
    ),
}
IN_MEMORY = ("identify",)
# The slowest, made of calls that are tried as well.
SELDOM = ("identify", "partitioned", "compare rows", "of figures")
OFTEN = [what for what in CALLS if what not in SELDOM][::2]
OF_POLARS = ("partitioned", "means of parts", "tally of parts")
OTHERS = {
    "unpivot_classes": (
        CLASSES,
        lambda f, n: fp.unpivot_classes(f, n["truth"], {"a": n["score"], "b": n["other"]}),
    ),
    "explode_lists": (
        LISTS,
        lambda f, n: fp.explode_lists(f, n["truth"], n["score"], by=n["query"], scores=n["other"]),
    ),
}


def named(shift):
    return dict(zip(ROLES, [*ODD[shift:], *ODD[:shift]], strict=True))


def plain_value(text, name):
    """A name, or one with a prefix, as it is of columns that are named like roles; numbers but for the last bits."""
    if isinstance(text, float):
        return round(text, 12)
    for role, odd in name.items() if isinstance(text, str) else ():
        if text.endswith(odd):
            return text.removesuffix(odd) + role
        if text.startswith(odd):
            return role + text.removeprefix(odd)
    return text


def rows(result):
    if isinstance(result, pl.LazyFrame):
        names = result.collect_schema().names()
        result = result.collect()
        assert result.columns == names
    return result if isinstance(result, pl.DataFrame) else pl.from_pandas(result)


def case(what):
    return (DATA, CALLS[what]) if what in CALLS else OTHERS[what]


def kinds(what):
    data, _ = case(what)
    made = {"polars": data, "lazy": data.lazy()} if what not in IN_MEMORY else {"polars": data}
    return made if what in (*OF_POLARS, "explode_lists") else {**made, "pandas": data.to_pandas()}


@cache
def plain_rows(what, kind):
    """What a call gives where columns are named like roles."""
    _, call = case(what)
    return rows(call(kinds(what)[kind], {role: role for role in ROLES}))


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("what", CALLS)
def test_a_pattern_is_a_name(what, shift):
    data, call = case(what)
    name = named(shift)
    for kind, frame in kinds(what).items():
        plain = plain_rows(what, kind)
        renamed = {role: name[role] for role in data.columns}
        odd = frame.rename(columns=renamed) if kind == "pandas" else frame.rename(renamed)
        found = rows(call(odd, name))
        values = [
            [tuple(plain_value(one, names) for one in row) for row in table.rows()]
            for table, names in ((found, name), (plain, {}))
        ]
        assert sorted(values[0], key=repr) == sorted(values[1], key=repr), kind
        assert [plain_value(column, name) for column in found.columns] == plain.columns, kind


@pytest.mark.parametrize("shift", SHIFTS)
def test_judgments_are_joined(shift):
    name = named(shift)
    for lazy in (False, True):
        sides = [side.rename({role: name[role] for role in side.columns}) for side in (RUN, JUDGED)]
        found = rows(fp.join_judgments(*(s.lazy() if lazy else s for s in sides), on=[name["query"], name["extra"]]))
        assert sorted(found.rows()) == sorted(rows(fp.join_judgments(RUN, JUDGED, on=["query", "extra"])).rows())
    # polars cannot hand every one of these names to pandas.
    frames = (side.to_pandas().rename(columns=name) for side in (RUN, JUDGED))
    pandas = fp.join_judgments(*frames, on=[name["query"], name["extra"]])
    assert len(pandas) == RUN.height


@pytest.mark.parametrize("shift", SHIFTS)
def test_plots(shift):
    name = named(shift)
    frame = DATA.rename({role: name[role] for role in DATA.columns})
    fp.plot(frame, name["truth"], name["score"], by=name["query"])
    fp.plot(fp.curve(frame, name["truth"], name["score"], by=name["query"]))
    fp.plot_scores(frame, name["truth"], name["score"])
    mpl.pyplot.close("all")


@pytest.mark.parametrize("odd", ODD)
def test_expressions(odd):
    frame = DATA.rename({"truth": odd})
    found = frame.group_by("query", maintain_order=True).agg(pl.col("score").pr.average_precision(odd).alias("ap"))
    assert found.rows() == [(1, pytest.approx(5 / 6)), (2, pytest.approx(1 / 2))]
