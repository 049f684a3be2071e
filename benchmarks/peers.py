"""Ours beside the contenders: same rows, same result, then the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import polars as pl

import frame_pr as fp
from benchmarks import contenders
from benchmarks.calls import average_precision
from benchmarks.data import sample
from benchmarks.measure import Times, in_turns

OURS = "frame_pr"
RESULT_LIST = 1_000  # rows: the search tools are asked where no group is longer
SUITE_GROUPS = 100_000  # at most: many expressions per group take long
FIGURES = ["precision", "recall", "f1", "f2", "specificity", "accuracy", "mcc", "kappa"]
AUC, RANKS = "ROC AUC", "nDCG@10 and reciprocal rank"
SUITE, CURVE = f"AP and {len(FIGURES)} metrics at a threshold", "the curve"


def race(data: pl.DataFrame, score: str, rounds: int) -> dict[str, Times]:
    """Average precision by everybody who is installed."""
    rows = data.select("query", "relevant", score=score)
    invited = dict(contenders.EVERYWHERE)
    if score == "distinct" and rows["query"].value_counts()["count"].max() <= RESULT_LIST:
        invited |= contenders.SEARCH
    entries = present(invited, rows)
    ours = average_precision(rows)
    runs: dict[str, Callable[[], Any]] = {OURS: lambda: average_precision(rows)}
    shares: dict[str, float] = {}
    unchecked = {OURS}
    for name, entry in entries.items():
        given: tuple[Any, ...] = ()
        if entry.convert is not None:
            given = entry.convert()
            entry.run(*given)  # ranx compiles at its first call
            runs[f"{name}: conversion"] = entry.convert
            unchecked.add(f"{name}: conversion")
            shares[f"{name}: conversion"] = entry.share
        runs[name] = lambda entry=entry, given=given: entry.run(*given)
        shares[name] = entry.share
        if not entry.checked:
            unchecked.add(name)

    def check(name: str, result: Any) -> None:
        if name not in unchecked:
            agree(name, ours, result, whole=shares[name] == 1)

    times = in_turns(runs, rounds, check)
    return {name: found.over(shares.get(name, 1.0)) for name, found in times.items()}


def present(
    invited: Mapping[str, Callable[[pl.DataFrame], contenders.Entry]], rows: pl.DataFrame
) -> dict[str, contenders.Entry]:
    """Those that are installed, ready to run."""
    entries = {}
    for name, contender in invited.items():
        try:
            entries[name] = contender(rows)
        except ImportError:
            continue
    return entries


def suites(data: pl.DataFrame, rounds: int) -> dict[str, Times]:
    """What peers have beside average precision: ours, then theirs, for each."""
    try:
        import polarbearings as peer
    except ImportError:
        return {}
    rows = sample(data.select("query", "relevant", "score"), SUITE_GROUPS, len(data))[0]
    names = ["average_precision", *(f"{figure}@threshold=0.5" for figure in FIGURES)]
    theirs = {
        "precision": peer.precision,
        "recall": peer.recall,
        "f1": peer.f1_score,
        "f2": lambda truth, score: peer.fbeta_score(truth, score, beta=2.0),
        "specificity": peer.specificity,
        "accuracy": peer.accuracy,
        "mcc": peer.matthews_corrcoef,
        "kappa": peer.cohens_kappa,
    }
    figures = [peer.average_precision("relevant", "score").alias("average_precision")]
    figures += [theirs[figure]("relevant", "score").alias(f"{figure}@threshold=0.5") for figure in FIGURES]
    auc = peer.roc_auc("relevant", "score").alias("roc_auc")
    runs = {
        AUC: lambda: fp.roc_auc(rows, "relevant", "score", by="query"),
        f"polarbearings, {AUC}": lambda: rows.group_by("query").agg(auc),
        SUITE: lambda: fp.evaluate(rows, names, "relevant", "score", by="query"),
        f"polarbearings, {SUITE}": lambda: rows.group_by("query").agg(figures),
        CURVE: lambda: fp.curve(rows, "relevant", "score", by="query"),
        f"polarbearings, {CURVE}": lambda: peer.pr_curve(
            rows, "relevant", "score", by="query", endpoints=False
        ).collect(),
    }
    with suppress(ImportError):
        from polars_ds import query_roc_auc

        # It warns at a group that has no positives.
        judged = rows.filter(pl.col("relevant").any().over("query"))
        theirs_auc = query_roc_auc("relevant", "score").alias("roc_auc")
        runs[f"polars_ds, {AUC}"] = lambda: judged.group_by("query").agg(theirs_auc)
    results: dict[str, pl.DataFrame] = {}

    def check(name: str, result: pl.DataFrame) -> None:
        results[name] = result
        _, apart, what = name.partition(", ")
        if apart:
            agree(name, results[what], result, ("query", "threshold") if what == CURVE else ("query",))

    return in_turns(runs, rounds, check)


def search_suites(data: pl.DataFrame, rounds: int) -> dict[str, Times]:
    """Two figures of search, by ours and by ranx, which is handed its own kind of input."""
    if data["query"].value_counts()["count"].max() > RESULT_LIST:
        return {}
    rows = data.select("query", "relevant", score="distinct")
    try:
        entry = contenders.ranx(rows, ("ndcg@10", "mrr"))
    except ImportError:
        return {}
    given = entry.convert() if entry.convert is not None else ()
    entry.run(*given)  # compiled at the first call
    names = ["ndcg@10", "reciprocal_rank"]
    runs: dict[str, Callable[[], Any]] = {
        RANKS: lambda: fp.evaluate(rows, names, "relevant", "score", by="query"),
        f"ranx, {RANKS}": lambda: entry.run(*given).rename({"mrr": "reciprocal_rank"}),
    }
    results: dict[str, pl.DataFrame] = {}

    def check(name: str, result: pl.DataFrame) -> None:
        results[name] = result
        if name != RANKS:
            agree(name, results[RANKS], result, whole=entry.share == 1)

    times = in_turns(runs, rounds, check)
    return {name: found.over(1 if name == RANKS else entry.share) for name, found in times.items()}


def agree(
    name: str, ours: pl.DataFrame, theirs: pl.DataFrame, keys: Sequence[str] = ("query",), whole: bool = True
) -> None:
    """Stop where two tools disagree beyond rounding. Where a value is undefined, 0, NaN and null are alike.

    The `whole` of ours must be there, but for what is undefined; otherwise theirs is a sample.
    """
    values = [column for column in theirs.columns if column not in keys]
    if whole:
        absent = ours.drop_nulls(values).join(theirs, on=keys, how="anti")
        assert absent.is_empty(), f"{name}: {len(absent)} groups or thresholds are missing"
    both = theirs.join(ours.select(*keys, *values), on=keys, suffix="_ours")
    assert len(both) == len(theirs), f"{name}: other groups or thresholds than ours"
    for column in values:
        mine, other = (pl.col(c).fill_nan(None).fill_null(0.0) for c in (f"{column}_ours", column))
        gap = both.select((mine - other).abs().max()).item()
        assert gap < 1e-9, f"{name}: {column} differs by {gap}"
