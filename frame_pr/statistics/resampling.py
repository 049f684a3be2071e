"""Bootstrap: resample rows or clusters by drawing a count for each cell of rows with equal values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import map_whole
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.thresholds import code_reached
from frame_pr.metrics.aggregation import Plan, aggregate, finalize, plan_for, values
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.ranking.sorting import ends, starts
from frame_pr.statistics.bounds import around, normal_quantile, normal_share, t_quantile
from frame_pr.statistics.paired_tests import random_words
from frame_pr.statistics.sampled_rows import SampledRows, group_values, lines_by_keys, mean_values
from frame_pr.statistics.unit_values import interval_row

_AT_ONCE = 2**19
"""Maximum number of cells evaluated in one query. Larger batches need more memory, smaller ones more overhead."""
_MOST_GROUPS = 2**28
"""Maximum number of groups in one batch of replicates, which is what a sort key can hold."""
_POISSON_FROM = 2**12
"""From this many draws on, most of each count is a Poisson variate. Below it, every draw is made separately."""
_PARTS = 64
"""The share of draws made by Poisson variates is rounded to a multiple of 1 / 64, so that few tables are needed."""
_SPREADS = 8
"""Standard deviations between the expected sum of the variates and the number of draws.

The sum then exceeds the number of draws with a probability below 1e-15."""
_UNIT = 2**40
"""Probabilities are stored as integers, as multiples of 1 / 2**40."""
_LONGEST = 2**25
"""Maximum number of entries of all tables of Poisson variates together."""


class Draws(NamedTuple):
    """How rows or clusters are drawn."""

    repeats: int
    seed: int
    stratified: bool
    """Whether positives and negatives are drawn separately, so that each replicate keeps their numbers."""


def intervals_of_draws(sampled: SampledRows[Any], draws: Draws, confidence: float) -> pl.LazyFrame:
    """Compute what `intervals` returns with a bootstrap over rows or clusters."""
    output, names = sampled.output, [metric.name for metric in sampled.metrics]
    frame, keys = sampled.rows.frame, list(sampled.keys.values())
    if sampled.averaged:
        # Groups that are averaged get different streams, so that their draws are independent.
        groups = output.restored(frame.select("group").unique().with_columns(code="group"))
        kept = pl.struct(keys).rank("dense").cast(pl.Int64) - 1 if keys else pl.lit(0, dtype=pl.Int64)
        groups = groups.sort(*output.key_columns.values()).with_columns(kept=kept)
        groups = groups.with_columns(stream=pl.int_range(pl.len(), dtype=pl.Int64).over("kept"))
        frame = frame.join(groups.select("kept", "stream", group="code"), on="group", how="left")
    bounds = {f"{side} {i}": pl.Float64() for i in range(len(names)) for side in ("low", "high", "error")}
    schema = {"group": pl.Int64(), "n": pl.Int64(), **bounds}
    bounds_of = partial(_bounds, sampled=sampled, names=names, draws=draws, confidence=confidence, schema=schema)
    drawn = output.restored(map_whole(frame, bounds_of, schema)).select(*keys, "n", *bounds)
    table = output.restored(values(sampled.rows, dict(zip(names, names, strict=True)), sampled.undefined))
    table = mean_values(table, keys, names) if sampled.averaged else group_values(table, names)
    table, drawn = (side.with_columns(all=0) for side in (table, drawn))
    table = table.join(drawn, on=["all", *keys], how="left", nulls_equal=True).with_columns(pl.col("n").fill_null(0))
    defined = pl.col("n") > 1
    lines = []
    for i, name in enumerate(names):
        value = pl.col(f"value {i}").cast(pl.Float64)
        sides = {side: pl.when(defined & value.is_not_null()).then(f"{side} {i}") for side in ("low", "high")}
        error = pl.when(defined).then(f"error {i}")
        lines.append(interval_row(name, value, sides, error, pl.col("n"), pl.col(f"undefined {i}"), "bootstrap"))
    return lines_by_keys(sampled, table, lines, in_order=False)


def _bounds(
    data: pl.DataFrame,
    sampled: SampledRows[Any],
    names: Sequence[str],
    draws: Draws,
    confidence: float,
    schema: Mapping[str, pl.DataType],
) -> pl.DataFrame:
    """Return `group`, `n` (rows or clusters) and the bounds of each metric.

    For a mean over groups, `group` is the first of these groups.
    """
    data = data.filter(~pl.col("dropped")).drop("dropped") if "dropped" in data.columns else data
    if data.is_empty():
        return pl.DataFrame(schema=schema)
    rows = sampled.rows
    rows = replace(rows, key=replace(rows.key, drops=False), has_counts=True, groups=None)
    systems, code = len(rows.key.score_dtypes), pl.col("group")
    dense = ((code // systems).rank("dense").cast(pl.Int64) - 1) * systems + code % systems
    data = data.with_columns(code=code, group=dense)
    if not sampled.averaged:
        data = data.with_columns(kept="group", stream=pl.lit(0, dtype=pl.Int64))
    if not sampled.rows.has_counts:
        data = data.with_columns(count=pl.lit(1, dtype=pl.Int64))
    n, positives = pl.col("count").sum(), (pl.col("truth") * pl.col("count")).sum()
    groups = data.group_by("group", "kept").agg(
        code=pl.col("code").first(), n=n, fewer=pl.min_horizontal(positives, n - positives)
    )
    table = groups.group_by("kept").agg(
        group=pl.col("code").min(), n=pl.col("n").sum(), df=(pl.col("fewer") - 1).clip(lower_bound=0).sum()
    )
    if sampled.clustered:
        clusters = data.group_by("kept").agg(n=pl.col("cluster").n_unique().cast(pl.Int64))
        table = table.drop("n", "df").join(clusters.with_columns(df=pl.col("n") - 1), on="kept")
    data = data.drop("code")
    for metrics in _classes(rows, names):
        replicates = replicates_of(rows, data, metrics, sampled.undefined, draws)
        replicates = replicates.join(groups.select("group", "kept"), on="group").drop("group")
        if sampled.averaged:
            replicates = replicates.group_by("replicate", "kept").agg(pl.all().mean())
        for name in metrics.names:
            values_of_name = replicates.select("kept", "replicate", value=name).filter(pl.col("value").is_finite())
            table = table.join(bias_corrected(values_of_name, table, draws.repeats, confidence), on="kept", how="left")
            table = table.rename({side: f"{side} {names.index(name)}" for side in ("low", "high", "error")})
    return table.select(*schema)


class MetricClass(NamedTuple):
    """Metrics that distinguish the same rows.

    Each class has its own draws, so that a metric does not depend on the other requested metrics.
    """

    names: list[str]
    merges: bool
    """Whether the metrics treat all negatives between two positives as equal."""
    reached: pl.Expr | None
    """Whether a row reaches the threshold, if this is all that the metrics need of its score. Otherwise None."""


def _classes(rows: Rows, names: Sequence[str]) -> list[MetricClass]:
    """Sort metrics into classes."""
    classes: dict[str, MetricClass] = {}
    for name in names:
        plan = plan_for(rows, [name], needs_gain=False)
        record, reached = plan.metrics[name], None
        if isinstance(record.cutoff, Threshold):
            reached = rows.key.score_reaches(code_reached(record.cutoff.threshold, rows.key)).fill_null(False)
        elif not plan.aggregates:
            reached = pl.lit(True)
        merges = record.beyond_steps == "none" and not plan.extra_sums and "ties" not in plan.columns
        key = str(merges) if reached is None else f"{record.cutoff}"
        classes.setdefault(key, MetricClass([], merges, reached)).names.append(name)
    return list(classes.values())


def replicates_of(
    rows: Rows, data: pl.DataFrame, metrics: MetricClass, undefined: float | None, draws: Draws
) -> pl.DataFrame:
    """Return `replicate`, `group` and the metrics of a class. Replicate -1 is the sample.

    `data`: rows whose groups are numbered without gaps.
    """
    cells, units = _with_units(_cells(rows, data, metrics), draws.stratified)
    systems = len(rows.key.score_dtypes)
    groups = (int(cells["group"][-1]) // systems + 1) * systems
    at_once = max(1, min(_AT_ONCE // cells.height, _MOST_GROUPS // groups))
    plan = plan_for(rows, metrics.names, undefined, needs_gain=False)
    group, parts = pl.col("group"), []
    for start in range(0, draws.repeats, at_once):
        replicates = range(start, min(start + at_once, draws.repeats))
        drawn = counts_of(units, replicates, draws.seed)
        copy = pl.int_range(pl.len(), dtype=pl.Int64) // cells.height
        count = pl.col("rows_per_unit") * pl.lit(drawn).gather(copy * units.height + pl.col("unit"))
        copies = pl.concat([cells] * len(replicates), rechunk=True)
        table = copies.with_columns(group=group + copy * groups, count=count).filter(pl.col("count") > 0)
        parts.append(_metrics(rows, table, plan).with_columns(group % groups, replicate=group // groups + start))
    sample = _metrics(rows, cells.rename({"n": "count"}), plan).with_columns(replicate=pl.lit(-1, dtype=pl.Int64))
    return pl.concat([*parts, sample])


def _metrics(rows: Rows, table: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Compute the metrics of a plan for each group of a table."""
    metrics = finalize(aggregate(replace(rows, frame=table.lazy(), height=table.height), plan), ["group"], plan)
    return metrics.with_columns(pl.exclude("group").cast(pl.Float64)).collect()


_DISTINGUISHING = ("weight", "gain", "judged", "tie", "cluster")
"""Columns that distinguish rows, in addition to group, score and label."""


def _cells(rows: Rows, data: pl.DataFrame, metrics: MetricClass) -> pl.DataFrame:
    """Aggregate rows that a class of metrics does not distinguish to cells of `n` rows, sorted by group and score."""
    apart = {name: pl.col(name) for name in _DISTINGUISHING if name in data.columns}
    block = rows.key.block_of_row() if metrics.reached is None else ~metrics.reached
    keys = {"group": pl.col("group"), "block": block, "truth": pl.col("truth"), **apart}
    others = [name for name in data.columns if name not in (*keys, "count")]
    cells = (
        data.lazy()
        .group_by(key.alias(name) for name, key in keys.items())
        .agg(pl.col(others).first(), n=pl.col("count").sum())
        .sort(*keys)
    )
    if metrics.merges and metrics.reached is None and not apart:
        # Merge a negative with the negative before it, if neither has the score of a positive.
        alone = ~pl.col("truth") & starts(pl.col("block")) & ends(pl.col("block"))
        retrieved = pl.col("score").is_not_null()
        first = starts(pl.col("group")) | starts(retrieved) | ~(alone & alone.shift(1))
        cells = cells.group_by(run=first.cum_sum(), maintain_order=True).agg(pl.exclude("n").first(), pl.col("n").sum())
    return cells.drop("block", "run", strict=False).collect()


def _with_units(cells: pl.DataFrame, stratified: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the cells and the units for `counts_of`.

    Each cell gets its `unit`, and `rows_per_unit`, the number of its rows that one drawn unit adds.
    """
    if "cluster" in cells.columns:
        units = cells.select("kept", "cluster").unique().sort("kept", "cluster")
        units = units.with_columns(stratum=pl.col("kept"), stream=0, n=1).with_row_index("unit")
        cells = cells.join(units.select("kept", "cluster", "unit"), on=["kept", "cluster"], maintain_order="left")
        return cells.with_columns(rows_per_unit="n"), units.select("stratum", pl.col("stream", "n").cast(pl.Int64))
    label = pl.col("truth").cast(pl.Int64) if stratified else 0
    units = cells.with_row_index("cell").select(
        "cell", "n", stratum=2 * pl.col("group") + label, stream=2 * pl.col("stream") + label
    )
    units = units.sort("stratum", maintain_order=True).with_columns(pl.col("stratum").rle_id().cast(pl.Int64))
    places = units.with_row_index("unit").sort("cell")["unit"]
    return cells.with_columns(unit=places, rows_per_unit=pl.lit(1, dtype=pl.Int64)), units.drop("cell")


def bias_corrected(replicates: pl.DataFrame, df: pl.DataFrame, repeats: int, confidence: float) -> pl.DataFrame:
    """Return bias-corrected percentile intervals: `kept`, `low`, `high` and `error`.

    `replicates` has the columns `kept`, `replicate` (-1 for the sample) and `value`. The bounds are quantiles of the
    values of the replicates, at the probabilities Phi(2 z0 - t) and Phi(2 z0 + t). Phi is the standard normal
    distribution function, and Phi(z0) is the share of replicates below the value of the sample (Efron 1987). In small
    samples, replicates vary too little. So t is a quantile of Student's t distribution with `df` degrees of freedom, in
    place of the normal quantile (Hesterberg 2015).
    """
    value, point, m = pl.col("value"), pl.col("point"), pl.col("m")
    points = replicates.filter(replicate=-1).select("kept", point="value")
    drawn = replicates.filter(pl.col("replicate") >= 0).join(points, on="kept").sort("kept", "value")
    below = 2 * (value < point).sum() + (value == point).sum()
    # If the value of the sample is the smallest or the largest, the share below it does not measure bias.
    inside = (value.min() < point.first()) & (value.max() > point.first())
    table = drawn.group_by("kept", maintain_order=True).agg(
        point.first(), m=pl.len().cast(pl.Int64), error=value.std(), below=below, inside=inside
    )
    halves = 2 * repeats + 2
    normal = pl.Series([normal_quantile((half + 1) / halves) for half in range(halves - 1)])
    z0 = pl.lit(normal).gather((pl.col("below") / m * repeats).round().cast(pl.Int64))
    table = table.join(df.select("kept", "df"), on="kept", how="left", maintain_order="left").with_columns(
        z0=pl.when("inside").then(z0).otherwise(0.0), t=t_quantile(confidence, pl.col("df")), first=m.cum_sum() - m
    )
    values, sides = drawn["value"], {}
    for side, t in (("low", -pl.col("t")), ("high", pl.col("t"))):
        place = normal_share(2 * pl.col("z0") + t) * (m - 1)
        nearest = [(pl.col("first") + whole).cast(pl.Int64) for whole in (place.floor(), place.ceil())]
        before, after = (pl.lit(values).gather(index) for index in nearest)
        sides[side] = before + (after - before) * (place - place.floor())
    # If all replicates have the same value, they do not show how the metric varies. Without degrees of freedom there is
    # no t.
    has_bounds = (pl.col("error") > 0) & pl.col("t").is_not_null()
    bounds = {name: pl.when(has_bounds).then(side) for name, side in around(point, **sides).items()}
    return table.select("kept", "error", **bounds)


def counts_of(units: pl.DataFrame, replicates: range, seed: int) -> pl.Series:
    """Draw units with replacement, and return how often each unit is drawn: all units of one replicate after another.

    `units` are sorted by `stratum`, a number from 0 on. `stream` is the number of the random stream of a stratum, and
    `n` is the number of rows or clusters that a unit represents. Each replicate draws as many rows or clusters from a
    stratum as the stratum has. The counts are multinomial. They depend only on the seed, the number of the replicate,
    the stream, and the position of the unit in its stratum.

    Given their sum, Poisson variates are multinomial. So one variate gives most of a count, and only the remaining
    draws are made separately.
    """
    height, times, draws = units.height, len(replicates), pl.col("draws")
    strata = units.group_by("stratum", maintain_order=True).agg(
        pl.col("stream").first(), draws=pl.col("n").sum(), units=pl.len().cast(pl.Int64)
    )
    share = (_PARTS * (1 - _SPREADS / draws.sqrt())).floor() / _PARTS
    strata = strata.select(
        "stream",
        "draws",
        "units",
        first=pl.col("units").cum_sum() - pl.col("units"),
        start=draws.cum_sum() - draws,
        share=pl.when(draws < _POISSON_FROM).then(0.0).otherwise(share),
    )
    copies = pl.DataFrame({"replicate": replicates}, schema={"replicate": pl.Int64}).with_row_index("copy")
    samples = copies.join(strata.with_row_index("stratum"), how="cross").sort("copy", "stratum")
    samples = samples.with_columns(
        pl.col("copy").cast(pl.Int64), seed=random_words(pl.col("replicate"), random_words(pl.col("stream"), seed))
    )
    of_stratum = strata.select(pl.col("first", "share").gather(units["stratum"]))
    counts = pl.repeat(0, height * times, dtype=pl.Int64, eager=True)
    if (strata["share"] > 0).any():
        variates = of_stratum.with_columns(n=units["n"], place=pl.int_range(height) - of_stratum["first"])
        counts = _poisson_variates(variates, units["stratum"], samples["seed"], strata.height, times)
    last = samples.select(pl.col("copy") * height + pl.col("first") + pl.col("units") - 1).to_series()
    drawn = counts.cum_sum().gather(last).diff(null_behavior="ignore").fill_null(counts.head(int(last[0]) + 1).sum())
    rest = samples.with_columns(i=pl.int_ranges(0, (draws - drawn).clip(lower_bound=0)))
    rest = rest.select("i", "seed", "draws", "start", "copy").explode("i", empty_as_null=False)
    # The seed is changed, so that these random numbers are independent of those of the variates.
    number = random_words(pl.col("i"), pl.col("seed") ^ pl.lit(_UNIT, dtype=pl.UInt64)) // 2**11
    place = (number.cast(pl.Float64) * 2.0**-53 * draws).cast(pl.Int64) + pl.col("start")
    places = rest.select(place=place, copy="copy")
    unit = places["place"]
    if units.height < units["n"].sum():
        unit = units["n"].cum_sum().search_sorted(unit, side="right").cast(pl.Int64)
    more = places.select(unit=unit + pl.col("copy") * height).group_by("unit").len()
    return counts.scatter(more["unit"], counts.gather(more["unit"]) + more["len"])


def _poisson_variates(units: pl.DataFrame, stratum: pl.Series, seeds: pl.Series, strata: int, times: int) -> pl.Series:
    """Draw a Poisson variate with mean `n` times `share` for each unit and replicate, by a search in a table."""
    distinct = units.select("n", "share").unique().sort("share", "n").with_row_index("table")
    mean, k = pl.col("n") * pl.col("share"), pl.col("k")
    reach = 9 * mean.sqrt() + 30
    low, high = (mean - reach).floor().clip(lower_bound=0).cast(pl.Int64), (mean + reach).ceil().cast(pl.Int64)
    tables = distinct.with_columns(pl.col("table").cast(pl.Int64), low=low, high=high)
    lengths = pl.col("high") - pl.col("low")
    if tables.select(lengths.sum()).item() > _LONGEST:
        raise ValueError("count: too many rows to resample, in too many different counts; use tally(..., bins=)")
    tables = tables.with_columns(offset=pl.col("low") - (lengths.cum_sum() - lengths))
    entries = tables.with_columns(k=pl.int_ranges("low", "high")).explode("k", empty_as_null=False)
    # Logarithms of the probabilities up to a constant, which the division by their sum removes.
    ratio = pl.when(k > pl.col("low")).then(mean / k).otherwise(1.0).log()
    entries = entries.with_columns(p=ratio.cum_sum().over("table"))
    entries = entries.with_columns(p=(pl.col("p") - pl.col("p").max().over("table")).exp())
    entries = entries.with_columns(upto=pl.col("p").cum_sum().over("table") / pl.col("p").sum().over("table"))
    ends_of = entries.select(pl.col("table") * _UNIT + (pl.col("upto") * _UNIT).cast(pl.Int64)).to_series()
    units = units.join(tables, on=["n", "share"], how="left", maintain_order="left")
    units = units.select("place", "table", "offset", stratum=stratum)
    copies = pl.concat([units] * times, rechunk=True)
    seed = pl.lit(seeds).gather(pl.int_range(pl.len()) // units.height * strata + pl.col("stratum"))
    key = pl.col("table") * _UNIT + (random_words(pl.col("place"), seed) // 2**24).cast(pl.Int64)
    return copies.select(pl.lit(ends_of).search_sorted(key, side="right").cast(pl.Int64) + pl.col("offset")).to_series()
