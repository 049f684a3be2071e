"""Bootstrap: draw rows or clusters with replacement, as counts of sorted rows, and take quantiles of the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from frame_pr.inputs.rows import Rows
from frame_pr.metrics.aggregation import aggregate, finalize, plan_for, values
from frame_pr.ranking.blocks import pack_rows
from frame_pr.statistics.bounds import (
    ROUNDING,
    Array,
    Bounds,
    array_of,
    columns_of,
    scipy_special,
    t_quantile,
)
from frame_pr.statistics.samples import SampledRows, counted_rows, means_over

with suppress(ModuleNotFoundError):
    import numpy as np
    import numpy.typing as npt

Numbers: TypeAlias = "npt.NDArray[np.int64]"
_CELLS_AT_ONCE = 2**20
"""Maximum number of cells evaluated in one query. Larger batches need more memory, smaller ones more overhead."""
_MOST_GROUPS = 2**28
"""Maximum number of groups in one batch of replicates, which is what a sort key can hold."""
_ROWS_PER_UNIT, _ROWS_PER_STRATUM = 8, 1_500
"""To draw a row takes 10 ns, a binomial variate for a unit of equal rows the time of 8 rows, and a generator of such
variates for a stratum the time of 1,500 rows."""


class Draws(NamedTuple):
    """How rows or clusters are drawn."""

    repeats: int
    seed: int
    stratified: bool
    """Whether positives and negatives are drawn separately, so that each replicate keeps their numbers."""


def intervals_of_draws(sampled: SampledRows[Any], draws: Draws, confidence: float) -> pl.DataFrame:
    """Return a row per key and metric, with the bounds of a bootstrap over rows or clusters."""
    rows, names = sampled.rows, [metric.name for metric in sampled.metrics]
    keys, places = list(sampled.keys.values()), [str(m) for m in range(len(names))]
    exact = values(rows, dict(zip(places, names, strict=True)), sampled.undefined)
    table = sampled.restored(exact.with_columns(code="group").collect())
    # Without gaps, and in the order of the keys, as the codes are: draws do not depend on the order
    # of the rows.
    table = table.sort("code").with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    kept = pl.col("number")
    if sampled.averaged:
        kept = (
            pl.struct(keys).rank("dense").cast(pl.Int64) - 1 if keys else pl.lit(0, dtype=pl.Int64)
        )
    table = table.with_columns(kept=kept)
    index = [*keys, "kept"] if keys else []
    long = table.cast(dict.fromkeys(places, pl.Float64)).unpivot(
        places, index=index, variable_name="m"
    )
    result = means_over(long.with_columns(pl.col("m").cast(pl.Int32)), [*index, "m"], len(names))
    result = result.select(*keys, "m", "value", "undefined", kept="kept" if keys else pl.lit(0))
    numbers = table.select("number", "kept", group="code")
    data = counted_rows(rows).join(numbers, on="group").drop("group").rename({"number": "group"})
    result = result.join(_degrees(data, clustered=sampled.clustered), on="kept", how="left")
    # Groups without values have only dropped rows.
    rows = replace(
        rows, key=replace(rows.key, drops=False), has_counts=True, groups=None, valued_groups=None
    )
    replicates = replicates_of(
        rows, data, table["kept"], list(dict.fromkeys(names)), sampled.undefined, draws
    )
    parts = []
    for m, name in enumerate(names):
        part = result.filter(m=m).sort("kept")
        drawn = np.full((draws.repeats, len(part)), np.nan)
        drawn[replicates["replicate"], replicates["kept"]] = array_of(replicates, name)
        error, (low, high) = bias_corrected(
            drawn, array_of(part, "value"), array_of(part, "df"), 1 - confidence
        )
        parts.append(
            part.with_columns(
                columns_of(low=low, high=high, error=error), units=pl.col("n").fill_null(0)
            )
        )
    return pl.concat(parts)


def _degrees(data: pl.DataFrame, *, clustered: bool) -> pl.DataFrame:
    """Return `n`, the number of rows or clusters, and the degrees of freedom `df` for each `kept`."""
    n, positives = pl.col("count").sum(), (pl.col("truth") * pl.col("count")).sum()
    groups = data.group_by("group", "kept").agg(
        n=n, df=pl.min_horizontal(positives, n - positives) - 1
    )
    table = groups.group_by("kept").agg(pl.col("n").sum(), pl.col("df").clip(lower_bound=0).sum())
    if not clustered:
        return table
    clusters = data.group_by("kept").agg(clusters=pl.col("cluster").n_unique().cast(pl.Int64))
    # Also with clusters, one positive does not show how the metric varies.
    df = pl.when(pl.col("df") > 0).then(pl.col("clusters") - 1).otherwise(0)
    return table.join(clusters, on="kept").select("kept", n="clusters", df=df)


def replicates_of(
    rows: Rows,
    data: pl.DataFrame,
    kept: pl.Series,
    names: Sequence[str],
    undefined: float | None,
    draws: Draws,
) -> pl.DataFrame:
    """Return `replicate`, `kept` and these metrics: their means over the groups with the same `kept`.

    The rows are sorted once. A replicate is a count for each of them, and its groups are further
    groups of one frame.
    """
    if data.is_empty():
        return pl.DataFrame(
            schema={"replicate": pl.Int64, "kept": pl.Int64, **dict.fromkeys(names, pl.Float64)}
        )
    apart = [name for name in ("weight", "gain", "judged", "cluster") if name in data.columns]
    distinct = data.lazy().group_by(rows.key.pack().alias("key"), *apart)
    cells = (
        distinct.agg(pl.exclude("count", *apart).first(), pl.col("count").sum())
        .sort("key", *apart)
        .collect()
    )
    units, unit_of_cell = _units(cells, stratified=draws.stratified)
    sampler, groups = Sampler(units, draws.seed), len(kept)
    at_once = max(1, min(_CELLS_AT_ONCE // cells.height, _MOST_GROUPS // groups))
    # Keys of several copies need more bits than the keys of one.
    rows = replace(rows, frame=cells.lazy(), height=cells.height if at_once == 1 else 0)
    plan = plan_for(rows, names, undefined, needs_gain=False)
    ranked = pack_rows(rows, plan.extra_sums)
    # The weight or gain of one row, which is multiplied by the number of times that it is drawn.
    numbers = ranked.table.select("key", pl.exclude("key", "count") // pl.col("count"))
    parts = []
    for first in range(0, draws.repeats, at_once):
        drawn = [
            sampler.draw(replicate)
            for replicate in range(first, min(first + at_once, draws.repeats))
        ]
        counts = np.concatenate([of_units[unit_of_cell] for of_units in drawn])
        counts = (
            counts * np.tile(cells["count"].to_numpy(), len(drawn))
            if "cluster" in apart
            else counts
        )
        key = ranked.key.in_later_group(pl.col("later")) if at_once > 1 else pl.col("key")
        number = pl.exclude("key", "count", "later") * pl.col("count")
        table = _drawn(numbers, counts, groups).select(key, number, "count")
        frame = rows.frame
        if plan.ideals:
            frame = _drawn(cells.drop("count"), counts, groups).with_columns(
                group=pl.col("group") + pl.col("later")
            )
        replicates = replace(rows, frame=frame, height=len(counts))
        sums = aggregate(replicates, plan, ranked._replace(table=table.collect()))
        group, metrics = pl.col("group"), pl.exclude("group", "replicate", "kept")
        metrics_of_groups = finalize(sums, ["group"], plan).with_columns(
            metrics.cast(pl.Float64),
            replicate=group // groups + first,
            kept=pl.lit(kept).gather(group % groups),
        )
        parts.append(metrics_of_groups.group_by("replicate", "kept").agg(metrics.mean()).collect())
    return pl.concat(parts)


def _drawn(table: pl.DataFrame, counts: Numbers, groups: int) -> pl.LazyFrame:
    """Return a copy of the table for each replicate, with `count` and `later`, the number of groups before it.

    Rows that are not drawn drop out.
    """
    copies = pl.concat([table] * (len(counts) // table.height), rechunk=True).lazy()
    later = pl.int_range(pl.len(), dtype=pl.Int64) // table.height * groups
    return copies.with_columns(pl.Series("count", counts, dtype=pl.Int64), later=later).filter(
        pl.col("count") > 0
    )


def _units(cells: pl.DataFrame, *, stratified: bool) -> tuple[pl.DataFrame, Any]:
    """Return the units for `Sampler`, and the unit of each cell."""
    if "cluster" not in cells.columns:
        label = pl.col("truth").cast(pl.Int64) if stratified else 0
        return cells.select("kept", stratum=2 * pl.col("group") + label, n="count"), slice(None)
    units = cells.select("kept", "cluster").unique().sort("kept", "cluster").with_row_index("unit")
    joined = cells.join(units, on=["kept", "cluster"], maintain_order="left")
    return units.select("kept", stratum="kept", n=1), joined["unit"].to_numpy()


class Sampler:
    """Draws units with replacement: how often each unit is drawn in a replicate.

    A unit stands for `n` rows or clusters, and each replicate draws as many of them from a
    `stratum` as the stratum has. The strata with the same `kept` are drawn independently of each
    other. The draws of a stratum depend only on the seed, on the replicate and on the strata before
    it with the same `kept`.
    """

    def __init__(self, units: pl.DataFrame, seed: int) -> None:
        self.seed, self.units = seed, len(units)
        units = units.with_row_index("unit").sort("stratum", maintain_order=True)
        units = units.with_columns(rows=pl.col("n").sum().over("stratum"))
        is_bulk = pl.col("rows") > _ROWS_PER_UNIT * pl.len().over("stratum") + _ROWS_PER_STRATUM
        few, bulk = units.filter(~is_bulk), units.filter(is_bulk)
        single = few[np.repeat(np.arange(len(few)), few["n"])].with_row_index("row")
        first, place = pl.col("row").first().over("stratum"), pl.int_range(pl.len()).over("kept")
        single = single.select(
            "unit", pl.col("rows").cast(pl.Float64), first=first.cast(pl.Int64), place=place
        )
        self.unit, self.rows, self.first, self.place = (
            column.to_numpy() for column in single.get_columns()
        )
        self.most = int(self.place.max(initial=-1)) + 1
        bulk = bulk.group_by("stratum", maintain_order=True).agg(
            "unit", "n", pl.col("kept", "rows").first()
        )
        strata = bulk.select("unit", "n", "rows", pl.int_range(1, pl.len() + 1).over("kept")).rows()
        self.bulk = [
            (np.array(unit), np.array(n) / rows, rows, stream) for unit, n, rows, stream in strata
        ]

    def draw(self, replicate: int) -> Numbers:
        """Return the counts of the units."""
        places = np.random.default_rng([self.seed, replicate]).random(self.most)[self.place]
        drawn = self.first + (places * self.rows).astype(np.int64)
        counts: Numbers = np.bincount(self.unit[drawn], minlength=self.units)
        for units, shares, rows, stream in self.bulk:
            generator = np.random.default_rng([self.seed, replicate, stream])
            counts[units] = generator.multinomial(rows, shares)
        return counts


def bias_corrected(
    replicates: Array, point: Array, df: Array, alpha: float
) -> tuple[Array, Bounds]:
    """Return the standard errors and the bias-corrected percentile intervals of values, from a row per replicate.

    The bounds are quantiles of the replicates at the probabilities Phi(2 z0 - t) and Phi(2 z0 + t).
    Phi is the standard normal distribution function, and Phi(z0) is the share of replicates below
    the value of the sample, where replicates equal to it count half (Efron 1987). In small samples,
    replicates vary too little. So t is a quantile of Student's t distribution with `df` degrees of
    freedom, in place of the normal quantile (Hesterberg 2015).
    """
    special, finite = scipy_special(), np.isfinite(replicates)
    ordered, n = np.sort(np.where(finite, replicates, np.nan), axis=0), finite.sum(axis=0)
    with np.errstate(all="ignore"):
        # A difference of the size of rounding errors is none.
        noise = ROUNDING * np.where(finite, abs(replicates), 0).max(axis=0)
        below, above = (
            (ordered < point - noise).sum(axis=0),
            (ordered > point + noise).sum(axis=0),
        )
        share, repeats = (below + n - above) / 2 / n, len(replicates)
        # If the value of the sample is the smallest or the largest, the share below it does not
        # measure bias.
        inside = (below > 0) & (above > 0)
        z0 = np.where(inside, special.ndtri((2 * repeats * share + 1) / (2 * repeats + 2)), 0.0)
        mean = np.where(finite, replicates, 0).sum(axis=0) / n
        error = np.sqrt((np.where(finite, replicates - mean, 0) ** 2).sum(axis=0) / (n - 1))
        # If all replicates have the same value, they do not show how the metric varies.
        error = np.where(np.isfinite(point) & (error > noise), error, np.nan)
        t, sides = t_quantile(alpha, df), []
        for side in (-t, t):
            place = np.nan_to_num(special.ndtr(2 * z0 + side) * (n - 1) + 0 * error)
            neighbours = np.stack([np.floor(place), np.ceil(place)]).astype(int)
            before, after = np.take_along_axis(ordered, neighbours, axis=0)
            sides.append(before + (after - before) * (place - np.floor(place)) + 0 * (t * error))
    return error, (np.minimum(point, sides[0]), np.maximum(point, sides[1]))
