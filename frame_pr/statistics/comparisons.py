"""Comparisons: is one system better than another, by the groups that both were measured on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal, Unpack

import polars as pl

from frame_pr.frames.arguments import filling, is_whole, one_of, public, whole
from frame_pr.frames.columns import by_name, refuse_clash, refuse_several, stacked
from frame_pr.frames.kinds import Frame
from frame_pr.frames.wording import did_you_mean, nearest, shown
from frame_pr.functions.evaluation import metric_names
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.inputs.request import Request, request_of
from frame_pr.metrics.completion import MetricName
from frame_pr.statistics import bounds
from frame_pr.statistics.compared_rows import compared_rows
from frame_pr.statistics.figures import Figures, figures_of, is_of_figures, keys_left
from frame_pr.statistics.holm import with_holm
from frame_pr.statistics.intervals import share_of
from frame_pr.statistics.sign_flips import UNIT, p_values
from frame_pr.statistics.student_t import p_value

COLUMNS = (
    "metric",
    "baseline",
    "system",
    "groups",
    "undefined",
    "mean_baseline",
    "mean_system",
    "difference",
    "low",
    "high",
    "p_value",
    "p_adjusted",
    "effect_size",
    "wins",
    "ties",
    "losses",
)
_TWO = "compare takes two scores or more: the columns of the systems, as a list"
_REFUSED = {
    "wilcoxon": "is about medians, and so finds differences of means where there are none",
    "sign": "counts wins, and so finds differences of means where there are none",
    "bootstrap": "finds differences where there are none more often than it says, where groups are few",
}


@public()
def compare(
    frame: Frame,
    metrics: MetricName | Sequence[MetricName],
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    sampled: Literal["groups", "rows"] | None = None,
    cluster: Column | None = None,
    baseline: str | None = None,
    test: Literal["t", "permutation"] = "t",
    correction: Literal["holm"] | None = "holm",
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Systems against each other, metric by metric: paired differences of the groups that both were measured on.

    With the differences of n groups, their mean d and its standard error e: the interval `d -+ t(n - 1) e`, and the
    p-value of Student's t, or of flipping their signs. Without `by` rows are the sample, and the e of the difference
    follows from the influence of each row on both figures (see `intervals`). The page of the docs on statistics says
    how often each finds a difference where there is none, and why there are no others.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; or, without `truth` and `score`, a frame of figures, one row for each group and `system`, from
        `evaluate` or another tool. Never changed.
    metrics : str or list of str
        Names of metrics, such as "precision@10"; of a frame of figures, its columns.
    truth : str or polars expression, optional
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : several names or polars expressions, optional
        The systems, each a column of scores; higher ranks earlier, unless `ascending`.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    mean_over : str or list of str, optional
        Columns of `by` to average over, all unless some are named: systems are compared in each group of the others.
    sampled : "groups" or "rows", optional
        What was drawn at random: the groups, the default with `by`, or the rows of each group.
    cluster : str or polars expression, optional
        Rows of one cluster, such as an image or a user, are not independent: clusters were drawn, and not rows.
    baseline : str, optional
        The system that all others are compared with. Without it, each is with each.
    test : "t" or "permutation"
        Student's paired t-test; or sign flips, in all ways for up to 20 groups that differ, and else drawn.
    correction : "holm" or None
        Whether `p_adjusted` is of all tests of the call (Holm 1979), or the p-value as it is.
    confidence : float
        How often an interval holds the difference, between 0 and 1.
    resamples : int, optional
        How many flips are drawn, with `test="permutation"`: 10,000 unless said.
    seed : int, optional
        Which are, with `test="permutation"`: 0 unless said. One seed gives one p-value, on every machine.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Which of them goes with which metric:
        the page of the docs on policies.

    Returns
    -------
    Frame of the same kind
        The keys that are left, then `metric, baseline, system` (names), `groups` (that both have a value of) and
        `undefined` (the others), `mean_baseline, mean_system, difference` (system less baseline), `low, high, p_value,
        p_adjusted`, `effect_size` (the mean of the differences over their standard deviation), and in how many groups
        the system has the larger value, `wins`, the same one, `ties`, or the smaller one, `losses`. Counts are Int64,
        numbers Float64. Null: the bounds and the p-value of fewer than two groups, and the p-value where all
        differences are one number other than 0. Where all are 0 it is 1.

    Raises
    ------
    ValueError, TypeError
        There is one system only, or none named as `baseline`; another test; `seed` or `resamples` without permutation;
        a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"query": [1, 1, 2, 2, 3, 3], "truth": [1, 0, 1, 0, 1, 0], "old": [2, 1, 1, 2, 1, 2]})
    >>> run = run.with_columns(new=pl.Series([2, 1, 2, 1, 1, 2]))
    >>> found = fp.compare(run, "average_precision", "truth", ["old", "new"], by="query")
    >>> found.select(pl.col("difference", "p_value").round(4), "wins", "ties").row(0)
    (0.1667, 0.4226, 1, 2)
    """
    if isinstance(test, str) and test in _REFUSED:
        raise ValueError(f"test={test!r} {_REFUSED[test]}; test='t' or 'permutation'")
    one_of("test", test, ("t", "permutation"))
    adjusted = one_of("correction", correction, ("holm", None))
    share, filled = share_of(confidence), filling("undefined", undefined)
    for name, given in (("resamples", resamples), ("seed", seed)):
        if given is not None and test == "t":
            raise ValueError(f"{name}= is about random draws, and test='t' has none: leave it out")
    draws = None
    if test == "permutation":
        draws = whole("resamples", 10_000 if resamples is None else resamples, 1), whole("seed", seed or 0, 0)
    if baseline is not None and not (isinstance(baseline, str) or is_whole(baseline)):
        raise TypeError(f"baseline takes the name of a system; got {shown(baseline)}")
    ready = is_of_figures(frame, truth, score)
    by_groups = ready or (by is not None and cluster is None)
    chosen = one_of("sampled", sampled, ("groups", "rows", None)) or ("groups" if by_groups else "rows")
    if truth is not None and score is not None and chosen == "rows":
        for name, other in (("mean_over", mean_over), ("test", None if test == "t" else test)):
            if other is not None:
                raise ValueError(f"{name}= is about groups that were drawn: with sampled='rows' leave it out")
        request = request_of(truth, score, by, positive, policies)
        return _of_rows(
            frame, request, metric_names(metrics, truth, score), filled, baseline, cluster, share, adjusted is not None
        )
    if chosen == "rows" or cluster is not None:
        raise ValueError(
            "cluster= and sampled='rows' are about rows that were drawn: a frame of figures has groups only"
        )
    if by is None:
        raise ValueError("compare needs groups, whose figures are paired: name the grouping columns, by=...")
    figures = figures_of(frame, metrics, truth, score, by, positive, filled, policies, system=True)
    if truth is not None and len(figures.systems) < 2:
        raise ValueError(_TWO)
    units = [key for key in figures.keys if key != "system"]
    keys = [] if mean_over is None else keys_left(units, mean_over)
    refuse_clash(keys, COLUMNS)
    if figures.systems:
        _refuse_no_system(baseline, figures.systems)
    pairs = _pairs(figures, keys, [key for key in units if key not in keys], baseline)
    table = _tested(pairs, keys, figures.metrics, share, draws)
    table = with_holm(table) if adjusted else table.with_columns(p_adjusted=pl.col("p_value"))
    return figures.give(table.sort(*figures.in_order(keys), "m", "a", "b").select(*map(by_name, keys), *COLUMNS), keys)


def _of_rows(
    frame: Frame,
    request: Request,
    names: Sequence[str],
    undefined: float | None,
    baseline: str | None,
    cluster: Column | None,
    confidence: float,
    adjusted: bool,
) -> Frame:
    """Where the rows of each group were drawn."""

    def pairs_of(systems: Sequence[str]) -> list[tuple[int, int]]:
        _refuse_no_system(baseline, systems)
        if baseline is None:
            return list(combinations(range(len(systems)), 2))
        first = list(systems).index(baseline)
        return [(first, other) for other in range(len(systems)) if other != first]

    if not request.several:
        raise ValueError(_TWO)
    if cluster is not None:
        refuse_several("cluster", cluster)
    table, way_back = compared_rows(frame, request, names, undefined, pairs_of, cluster)
    keys = [key for key in way_back.keys if key != "system"]
    refuse_clash(keys, COLUMNS)
    difference, error, df = pl.col("difference"), pl.col("error"), pl.col("df")
    units = (difference * UNIT).round()
    # As of groups: no difference at all is none by chance, and one without spread says nothing.
    t = pl.when(error > 0).then(difference / error)
    p = pl.when(error.is_not_null()).then(pl.when((units == 0) & (error == 0)).then(1.0).otherwise(p_value(t, df)))
    table = table.with_columns(
        p_value=p,
        baseline=pl.col("system"),
        system=pl.lit(pl.Series(way_back.systems)).gather("b"),
        effect_size=pl.lit(None, dtype=pl.Float64),
        **bounds.of_number(difference, error, df, confidence),
        **{name: found.cast(pl.Int64).fill_null(0) for name, found in _signs(units).items()},
    )
    table = with_holm(table) if adjusted else table.with_columns(p_adjusted=pl.col("p_value"))
    return way_back.give(table.sort(*map(by_name, keys), "m", "a", "b").select(*map(by_name, keys), *COLUMNS), keys)


def _signs(units: pl.Expr) -> dict[str, pl.Expr]:
    return {"wins": units > 0, "ties": units == 0, "losses": units < 0}


def _refuse_no_system(baseline: Any, systems: Sequence[Any]) -> None:
    if len(systems) < 2:
        raise ValueError(f"compare takes two systems or more, and there is {shown(systems[0])} only")
    if baseline is not None and baseline not in systems:
        near = nearest(str(baseline), [str(system) for system in systems])
        hint = did_you_mean(near) if near else f"there are {', '.join(map(str, systems))}"[:200]
        raise ValueError(f"baseline={shown(baseline)} is none of the systems; {hint}")


def _pairs(figures: Figures[Any], keys: Sequence[str], units: Sequence[str], baseline: Any) -> pl.LazyFrame:
    """A row per unit and pair of systems: `key0`, ...; `place` of the unit; names; figures `a0`, `b0`, ..."""
    kept = {f"key{i}": by_name(key) for i, key in enumerate(keys)}
    unit = {f"unit{i}": by_name(key) for i, key in enumerate(units)}
    values = {f"m{i}": by_name(name) for i, name in enumerate(figures.metrics)}
    table = figures.table.select(pl.col("system"), **kept, **unit, **values)
    if figures.systems:
        systems = pl.LazyFrame({"system": figures.systems})
    else:
        systems = table.select(pl.col("system").unique().sort()).map_batches(
            partial(_of_two, baseline=baseline),
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
        )
    systems = systems.select("system", number=pl.int_range(pl.len(), dtype=pl.Int64))
    table = table.join(systems, on="system").drop("system")
    a, b = (systems.rename({"system": name, "number": number}) for name, number in (("baseline", "a"), ("system", "b")))
    chosen = pl.col("a") < pl.col("b")
    if baseline is not None:
        chosen = (pl.col("baseline") == baseline) & (pl.col("a") != pl.col("b"))
    own = [*kept, *unit]
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    grid = table.select(own).unique().sort(own).with_columns(place=place.over(list(kept)) if kept else place)
    grid = grid.join(a.join(b, how="cross").filter(chosen), how="cross")
    for side in ("a", "b"):
        of_side = table.rename({"number": side, **{name: name.replace("m", side) for name in values}})
        grid = grid.join(of_side, on=[*own, side], how="left", nulls_equal=True, maintain_order="left")
    return grid.drop(list(unit))


def _of_two(systems: pl.DataFrame, baseline: Any) -> pl.DataFrame:
    names = systems["system"].to_list()
    if None in names:
        raise ValueError("column 'system' has rows that are null: each figure is one of a system")
    if names:
        _refuse_no_system(baseline, names)
    return systems


def _tested(
    pairs: pl.LazyFrame, keys: Sequence[str], metrics: Sequence[str], confidence: float, draws: tuple[int, int] | None
) -> pl.LazyFrame:
    """A row per key, pair and metric: a comparison but for `p_adjusted`; beside it `m`, `a` and `b`, to sort by."""
    kept = [f"key{i}" for i in range(len(keys))]
    places = range(len(metrics))
    parts = {f"d{i}": pl.col(f"b{i}") - pl.col(f"a{i}") for i in places}
    table = pairs.with_columns(**parts)
    table = table.with_columns((pl.col(f"d{i}") * UNIT).round().cast(pl.Int128).alias(f"units{i}") for i in places)
    summaries = [_summary(i) for i in places]
    found = table.group_by(*kept, "a", "b").agg(
        pl.col("baseline", "system").first(),
        *(part.alias(f"{name} {i}") for i, summary in enumerate(summaries) for name, part in summary.items()),
    )
    rows = [
        {"m": pl.lit(i, dtype=pl.Int32), "metric": pl.lit(metrics[i])}
        | {name: pl.col(f"{name} {i}") for name in summary}
        for i, summary in enumerate(summaries)
    ]
    found = stacked(found, [pl.col(name) for name in (*kept, "a", "b", "baseline", "system")], rows)
    difference, groups, spread = pl.col("difference"), pl.col("groups"), pl.col("spread")
    error = spread / groups.sqrt()
    if draws is None:
        found = found.with_columns(p_value=p_value(pl.when(spread > 0).then(difference / error), groups - 1))
    else:
        # As numbers, not names: two metrics may have one.
        of_units = table.unpivot(
            [f"units{i}" for i in places], index=[*kept, "a", "b", "place"], variable_name="m", value_name="units"
        )
        of_units = of_units.with_columns(pl.col("m").str.slice(5).cast(pl.Int32))
        drawn = p_values(of_units, [*kept, "a", "b", "m"], resamples=draws[0], seed=draws[1])
        found = found.join(drawn, on=[*kept, "a", "b", "m"], how="left", nulls_equal=True)
    reach = bounds.of_number(difference, error, groups - 1, confidence)
    # A p-value of no spread would say that it is sure, of how few groups ever.
    p = pl.when(pl.col("wins") + pl.col("losses") == 0).then(1.0).when(spread > 0).then("p_value")
    some = groups > 1
    found = found.with_columns(
        p_value=pl.when(some).then(p),
        effect_size=pl.when(spread > 0).then(difference / spread),
        **{name: pl.when(some).then(bound) for name, bound in reach.items()},
    )
    return found.rename(dict(zip(kept, keys, strict=True)))


def _summary(i: int) -> dict[str, pl.Expr]:
    """Of the i-th metric, over the units."""
    a, b, difference, units = (pl.col(f"{name}{i}") for name in ("a", "b", "d", "units"))
    both = difference.is_not_null()
    return {
        "groups": both.sum().cast(pl.Int64),
        "undefined": (~both).sum().cast(pl.Int64),
        "mean_baseline": a.filter(both).mean(),
        "mean_system": b.filter(both).mean(),
        "difference": difference.mean(),
        "spread": pl.when(units.max() == units.min()).then(0.0).otherwise(difference.std()),
        **{name: found.sum().cast(pl.Int64) for name, found in _signs(units).items()},
    }
