"""Bootstrap: resample rows or clusters by drawing a count for each cell of rows with equal values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from frame_pr.frames.kinds import collected
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.thresholds import code_reached
from frame_pr.metrics.aggregation import Plan, aggregate, finalize, plan_for, values
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.ranking.blocks import ends, starts
from frame_pr.statistics.bounds import ROUNDING, array_of, columns_of, scipy_special, t_quantile
from frame_pr.statistics.sampled_rows import SampledRows
from frame_pr.statistics.unit_values import group_means

_AT_ONCE = 2**20
"""Maximum number of cells evaluated in one query. Larger batches need more memory, smaller ones more overhead."""
_MOST_GROUPS = 2**28
"""Maximum number of groups in one batch of replicates, which is what a sort key can hold."""
_FEW_ROWS = 8
"""With fewer rows per cell, rows are drawn one by one; otherwise a binomial variate for each cell is faster."""


class Draws(NamedTuple):
    """How rows or clusters are drawn."""

    repeats: int
    seed: int
    stratified: bool
    """Whether positives and negatives are drawn separately, so that each replicate keeps their numbers."""


def intervals_of_draws(sampled: SampledRows[Any], draws: Draws, confidence: float) -> pl.DataFrame:
    """Return a row per key and metric, with the bounds of a bootstrap over rows or clusters."""
    output, names = sampled.output, [metric.name for metric in sampled.metrics]
    keys, places = list(sampled.keys.values()), [str(m) for m in range(len(names))]
    exact = values(sampled.rows, dict(zip(places, names, strict=True)), sampled.undefined)
    table = collected(output.restored(exact.with_columns(code="group")), "auto")
    # Groups that are averaged get different streams, so that their draws are independent.
    kept = pl.struct(keys).rank("dense").cast(pl.Int64) - 1 if keys and sampled.averaged else pl.lit(0, dtype=pl.Int64)
    table = table.sort(*output.key_columns.values(), "code").with_columns(
        kept=kept if sampled.averaged else pl.col("code")
    )
    stream = pl.int_range(pl.len(), dtype=pl.Int64).over("kept") if sampled.averaged else pl.lit(0, dtype=pl.Int64)
    groups = table.select("code", "kept", stream=stream)
    long = table.cast(dict.fromkeys(places, pl.Float64)).unpivot(places, index=[*keys, "kept"], variable_name="m")
    long = long.with_columns(pl.col("m").cast(pl.Int32))
    value = pl.col("value")
    means = group_means(long, [*keys, "kept", "m"], ["value"], len(names))
    result = means.select(*keys, "kept", "m", value="mean_value", undefined="undefined_value")
    if keys == [] and result.is_empty():
        result = pl.DataFrame({"m": range(len(names))}, schema={"m": pl.Int32}).with_columns(
            kept=pl.lit(0, dtype=pl.Int64), value=pl.lit(None, dtype=pl.Float64), undefined=pl.lit(0, dtype=pl.Int64)
        )
    data = collected(sampled.rows.frame, "auto").join(groups, left_on="group", right_on="code", how="left")
    bounds = _bounds(data, sampled, names, draws, confidence)
    result = result.join(bounds, on=["kept", "m"], how="left").with_columns(units=pl.col("n").fill_null(0))
    defined = value.is_not_null() & (pl.col("units") > 1)
    return result.with_columns(pl.when(defined).then(pl.col(name)).alias(name) for name in ("low", "high", "error"))


def _bounds(
    data: pl.DataFrame, sampled: SampledRows[Any], names: Sequence[str], draws: Draws, confidence: float
) -> pl.DataFrame:
    """Return `n` (rows or clusters), `low`, `high` and `error` for each `kept` and metric `m`."""
    data = data.filter(~pl.col("dropped")).drop("dropped") if "dropped" in data.columns else data
    rows = replace(sampled.rows, key=replace(sampled.rows.key, drops=False), has_counts=True, groups=None)
    if data.is_empty():
        schema = {"kept": pl.Int64(), "m": pl.Int32(), "n": pl.Int64()}
        return pl.DataFrame(schema={**schema, **dict.fromkeys(("low", "high", "error"), pl.Float64())})
    systems, code = len(rows.key.score_dtypes), pl.col("group")
    dense = ((code // systems).rank("dense").cast(pl.Int64) - 1) * systems + code % systems
    data = data.with_columns(group=dense)
    if not sampled.rows.has_counts:
        data = data.with_columns(count=pl.lit(1, dtype=pl.Int64))
    n, positives = pl.col("count").sum(), (pl.col("truth") * pl.col("count")).sum()
    groups = data.group_by("group", "kept").agg(n=n, df=pl.min_horizontal(positives, n - positives) - 1)
    table = groups.group_by("kept").agg(pl.col("n").sum(), pl.col("df").clip(lower_bound=0).sum())
    if sampled.clustered:
        clusters = data.group_by("kept").agg(clusters=pl.col("cluster").n_unique().cast(pl.Int64))
        # Also with clusters, one positive does not show how the metric varies.
        df = pl.when(pl.col("df") > 0).then(pl.col("clusters") - 1).otherwise(0)
        table = table.join(clusters, on="kept").with_columns(n="clusters", df=df)
    parts = []
    for metrics in _classes(rows, names):
        replicates = replicates_of(rows, data, metrics, sampled.undefined, draws)
        replicates = replicates.join(groups.select("group", "kept"), on="group").drop("group")
        means = replicates.group_by("replicate", "kept").agg(pl.all().mean())
        for name in metrics.names:
            of_name = means.select("kept", "replicate", value=name).filter(pl.col("value").is_finite())
            bounds = bias_corrected(of_name, table, draws.repeats, confidence)
            parts += [
                bounds.with_columns(m=pl.lit(m, dtype=pl.Int32)) for m, other in enumerate(names) if other == name
            ]
    return table.select("kept", "n").join(pl.concat(parts), on="kept", how="left")


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
    for name in dict.fromkeys(names):
        plan = plan_for(rows, [name], needs_gain=False)
        record, reached = plan.metrics[name], None
        if isinstance(record.cutoff, Threshold):
            reached = rows.key.score_reaches(code_reached(record.cutoff.threshold, rows.key)).fill_null(False)
        elif plan.over_groups.keys() <= {*plan.facts}:
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
    cells = _cells(rows, data, metrics)
    units, unit_of_cell = _units(cells, draws.stratified)
    by_cluster, in_order = "cluster" in cells.columns, (unit_of_cell[1:] > unit_of_cell[:-1]).all()
    systems = len(rows.key.score_dtypes)
    groups = (int(cells["group"][-1]) // systems + 1) * systems
    at_once = max(1, min(_AT_ONCE // cells.height, _MOST_GROUPS // groups))
    plan = plan_for(rows, metrics.names, undefined, needs_gain=False)
    sampler = Sampler(units, draws.seed)
    sample = _metrics(rows, cells.rename({"n": "count"}), plan).with_columns(replicate=pl.lit(-1, dtype=pl.Int64))
    parts, sizes = [sample], cells["n"].to_numpy()
    cells = cells.drop("n", "kept", "stream")
    batches = [min(at_once, draws.repeats - start) for start in range(0, draws.repeats, at_once)]
    for start, counts in zip(range(0, draws.repeats, at_once), sampler.batches(batches), strict=True):
        times = len(counts)
        counts = counts[:, unit_of_cell] * sizes if by_cluster else counts if in_order else counts[:, unit_of_cell]
        table = pl.concat([cells] * times, rechunk=True) if times > 1 else cells
        table = table.with_columns(pl.Series("count", counts.ravel(), dtype=pl.Int64))
        copy = pl.int_range(pl.len(), dtype=pl.Int64) // cells.height
        table = table.with_columns(group=pl.col("group") + copy * groups).filter(pl.col("count") > 0)
        group = pl.col("group")
        parts.append(_metrics(rows, table, plan).with_columns(group % groups, replicate=group // groups + start))
    return pl.concat(parts)


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


def _units(cells: pl.DataFrame, stratified: bool) -> tuple[pl.DataFrame, npt.NDArray[np.int64]]:
    """Return the units for `Sampler`, and the unit of each cell."""
    if "cluster" in cells.columns:
        units = cells.select("kept", "cluster").unique().sort("kept", "cluster").with_row_index("unit")
        joined = cells.join(units, on=["kept", "cluster"], maintain_order="left")
        return units.select(stratum="kept", stream=0, n=1), joined["unit"].cast(pl.Int64).to_numpy()
    label = pl.col("truth").cast(pl.Int64) if stratified else 0
    units = cells.with_row_index("cell").select(
        "cell", "n", stratum=2 * pl.col("group") + label, stream=2 * pl.col("stream") + label
    )
    units = units.sort("stratum", maintain_order=True)
    places = units.with_row_index("unit").sort("cell")["unit"]
    return units.drop("cell"), places.cast(pl.Int64).to_numpy()


class Sampler:
    """Draws units with replacement: how often each unit is drawn in each replicate.

    `units` are sorted by `stratum`. A unit stands for `n` rows or clusters, and each replicate draws as many of them
    from a stratum as the stratum has. The draws of a stratum depend only on the seed, its `stream` and its own units.
    """

    def __init__(self, units: pl.DataFrame, seed: int) -> None:
        self.sizes = units["n"].to_numpy()
        strata = units.select(pl.col("stratum").rle_id()).to_series().to_numpy()
        self.starts = strata.searchsorted(np.arange(int(strata[-1]) + 2))
        streams = units["stream"].to_numpy()[self.starts[:-1]]
        self.generators = [np.random.default_rng([seed, int(stream)]) for stream in streams]

    def batches(self, sizes: Sequence[int]) -> Iterator[npt.NDArray[np.int64]]:
        """Draw so many replicates at a time, the next ones on a thread while the caller evaluates the last ones."""
        with ThreadPoolExecutor(1) as pool:
            drawn = pool.submit(self.draw, sizes[0])
            for size in sizes[1:]:
                counts, drawn = drawn.result(), pool.submit(self.draw, size)
                yield counts
            yield drawn.result()

    def draw(self, times: int) -> npt.NDArray[np.int64]:
        """Return the counts of the next replicates, one row for each of them."""
        counts = np.empty((times, len(self.sizes)), dtype=np.int64)
        for rng, start, end in zip(self.generators, self.starts, self.starts[1:], strict=False):
            sizes = self.sizes[start:end]
            rows = int(sizes.sum())
            if rows > _FEW_ROWS * len(sizes):
                counts[:, start:end] = rng.multinomial(rows, sizes / rows, size=times)
                continue
            unit_of_row = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes) if rows > len(sizes) else None
            for replicate in range(times):
                drawn = rng.integers(0, rows, size=rows, dtype=np.int32)
                drawn = drawn if unit_of_row is None else unit_of_row[drawn]
                counts[replicate, start:end] = np.bincount(drawn, minlength=len(sizes))
        return counts


def bias_corrected(replicates: pl.DataFrame, df: pl.DataFrame, repeats: int, confidence: float) -> pl.DataFrame:
    """Return bias-corrected percentile intervals: `kept`, `low`, `high` and `error`.

    `replicates` has the columns `kept`, `replicate` (-1 for the sample) and `value`. The bounds are quantiles of the
    values of the replicates, at the probabilities Phi(2 z0 - t) and Phi(2 z0 + t). Phi is the standard normal
    distribution function, and Phi(z0) is the share of replicates below the value of the sample, where replicates equal
    to it count half (Efron 1987). In small samples, replicates vary too little. So t is a quantile of Student's t
    distribution with `df` degrees of freedom, in place of the normal quantile (Hesterberg 2015).
    """
    special, value, point = scipy_special(), pl.col("value"), pl.col("point")
    points = replicates.filter(replicate=-1).select("kept", point="value")
    drawn = replicates.filter(pl.col("replicate") >= 0).join(points, on="kept").sort("kept", "value")
    below = (value < point).sum() + (value == point).sum() / 2
    # If the value of the sample is the smallest or the largest, the share below it does not measure bias.
    inside = (value.min() < point.first()) & (value.max() > point.first())
    # A spread of the size of rounding errors is none.
    spread = pl.when(value.std() > ROUNDING * value.abs().max()).then(value.std())
    table = drawn.group_by("kept", maintain_order=True).agg(
        point.first(), m=pl.len().cast(pl.Int64), error=spread, below=below, inside=inside
    )
    table = table.join(df.select("kept", "df"), on="kept", how="left", maintain_order="left")
    m, error = table["m"].to_numpy(), array_of(table, "error")
    z0 = special.ndtri((2 * repeats * array_of(table, "below") / m + 1) / (2 * repeats + 2))
    z0 = np.where(table["inside"].to_numpy(), z0, 0.0)
    t = t_quantile(1 - confidence, array_of(table, "df"))
    sorted_values, first = drawn["value"].to_numpy(), m.cumsum() - m
    sides = []
    for side in (-t, t):
        place = special.ndtr(2 * z0 + side) * (m - 1)
        has_place = ~np.isnan(place + error)
        place = np.where(has_place, place, 0.0)
        before, after = (sorted_values[first + nearest(place).astype(int)] for nearest in (np.floor, np.ceil))
        quantile = before + (after - before) * (place - np.floor(place))
        # If all replicates have the same value, they do not show how the metric varies.
        sides.append(np.where(has_place, quantile, np.nan))
    sample = array_of(table, "point")
    low, high = np.minimum(sample, sides[0]), np.maximum(sample, sides[1])
    return table.select("kept").with_columns(columns_of(low=low, high=high, error=error))
