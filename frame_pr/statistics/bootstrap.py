"""Bootstrap: draw rows or clusters with replacement, as counts of sorted rows, and evaluate the metrics again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from frame_pr.inputs.rows import Rows
from frame_pr.metrics.aggregation import Plan, aggregate, finalize, plan_for, values
from frame_pr.metrics.names import is_metric
from frame_pr.metrics.rates import is_rate
from frame_pr.ranking.sort import PackedRows, pack_rows
from frame_pr.ranking.sort_keys import key_of
from frame_pr.statistics.bounds import Array, array_of
from frame_pr.statistics.sampled_rows import SampledRows, counted_rows
from frame_pr.statistics.units import means_over

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Counts: TypeAlias = "npt.NDArray[np.int64]"
_CELLS_AT_ONCE = 2**20
"""Maximum number of cells evaluated in one query. Larger batches need more memory, smaller ones more overhead."""
_MOST_GROUPS = 2**28
"""Maximum number of groups in one batch of replicates, which is what a sort key can hold."""
_LARGEST_TOTAL: Mapping[pl.DataType, float] = {pl.Int64(): 2.0**62, pl.Int128(): 2.0**126}
"""The running totals of a batch must stay below: half of the largest integer of their dtype."""
_ROWS_PER_UNIT = 8
_ROWS_PER_STRATUM = 1_500
"""To draw a row takes 10 ns, a binomial variate for a unit of equal rows the time of 8 rows, and a generator of such
variates for a stratum the time of 1,500 rows."""
_NUMBERS = ("weight", "gain", "judged")
"""Columns that tell rows apart that share a sort key."""


class Draws(NamedTuple):
    """How rows or clusters are drawn."""

    repeats: int
    seed: int
    stratified: bool
    """Whether positives and negatives are drawn separately, so that each replicate keeps their numbers."""


class Replicates(NamedTuple):
    """The metrics of a sample, and of its replicates."""

    table: pl.DataFrame
    """A row per result: its keys, its number `result` (0, 1, and so on), and the columns of `_degrees`."""
    metrics: list[pl.DataFrame]
    """For each metric, a row per result with `value`, `undefined` (the groups without a value) and `selected` (the rows
    that its cutoff selects, if they are independent)."""
    drawn: list[Array]
    """For each metric, a row per replicate and a column per result; NaN without a value."""

    def of_metric(self, m: int) -> pl.DataFrame:
        """Return the rows of the table with the values of a metric."""
        return self.table.join(self.metrics[m], on="result", maintain_order="left")


def replicates_of(sampled: SampledRows[Any], draws: Draws, apart: str | None = None) -> Replicates:
    """Evaluate the metrics of a sample and of its replicates, for each combination of the keys.

    `apart`: the column of the key whose values are compared. Its groups are one sample, so that
    clusters which are in several of them are drawn together.
    """
    names = [metric.name for metric in sampled.metrics]
    columns = [str(m) for m in range(len(names))]
    rows = sampled.rows
    exact = values(
        rows, dict(zip(columns, names, strict=True)) | _selected(sampled), sampled.undefined
    )
    groups = sampled.restored(exact.with_columns(code="group").collect())
    # Codes have gaps, and are in the order of the keys. So the draws of a group do not depend on
    # the order of the rows.
    groups = groups.sort("code").with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    keys = list(sampled.keys.values())
    result = _number_of(keys) if sampled.averaged else pl.col("number")
    sample = result if apart is None else _number_of([key for key in keys if key != apart])
    groups = groups.with_columns(result=result, sample=sample)

    numbers = groups.select("number", "result", "sample", group="code")
    data = counted_rows(rows).join(numbers, on="group")
    data = data.drop("group").rename({"number": "group"})
    table = groups.select(*keys, "result").unique().sort("result")
    table = table.join(_degrees(data, clustered=sampled.clustered), on="result", how="left")
    table = table.with_columns(pl.col("units").fill_null(0))

    # Groups without values have only dropped rows.
    rows = replace(rows, drops=False, has_counts=True, groups=None, valued_groups=None)
    distinct = list(dict.fromkeys(names))
    replicates = _evaluate(rows, data, groups["result"], distinct, sampled.undefined, draws)
    metrics = []
    drawn = []
    for column, name in zip(columns, names, strict=True):
        value = pl.col(column).cast(pl.Float64)
        selected = (
            pl.col(f"k{column}") if f"k{column}" in groups.columns else pl.lit(None, pl.Int64)
        )
        of_metric = groups.select("result", m=pl.lit(0), value=value, selected=selected)
        means = means_over(of_metric, ["result", "m"], 1, selected=pl.col("selected").sum())
        metrics.append(means.sort("result").select("result", "value", "undefined", "selected"))
        drawn.append(_matrix(replicates, name, draws.repeats, len(table)))
    return Replicates(table, metrics, drawn)


def _selected(sampled: SampledRows[Any]) -> dict[str, str]:
    """Return metrics that say how many independent rows the cutoff of a metric selects, by the columns `k0` and so on."""
    if sampled.clustered or not sampled.rows.weights.ranks:
        return {}
    selected = {}
    for m, target in enumerate(sampled.metrics):
        head, _, cutoff = target.name.removeprefix("interpolated_").partition("@")
        if cutoff and is_rate(head) and is_metric(f"k@{cutoff}"):
            selected[f"k{m}"] = f"k@{cutoff}"
    return selected


def _number_of(keys: Sequence[str]) -> pl.Expr:
    """Number the combinations of the keys in their order."""
    if not keys:
        return pl.lit(0, dtype=pl.Int64)
    return pl.struct(keys).rank("dense").cast(pl.Int64) - 1


def _matrix(replicates: pl.DataFrame, name: str, repeats: int, results: int) -> Array:
    """Return the values of a metric, a row per replicate and a column per result."""
    import numpy as np

    matrix = np.full((repeats, results), np.nan)
    matrix[replicates["replicate"], replicates["result"]] = array_of(replicates, name)
    return matrix


def _degrees(data: pl.DataFrame, *, clustered: bool) -> pl.DataFrame:
    """Return for each `result` `units` (rows or clusters), `positives`, `negatives` and degrees of freedom, `df`.

    The degrees of freedom are one less than the rows of the rarer label, summed over groups. With
    clusters, the numbers of both labels are effective numbers of clusters (see
    `_effective_clusters`), and so are the degrees of freedom.
    """
    rows = pl.col("count").sum()
    positives = (pl.col("truth") * pl.col("count")).sum()
    labels = {"positives": positives, "negatives": rows - positives}
    if clustered:
        clusters = data.group_by("result", "cluster").agg(**labels)
        units = pl.len().cast(pl.Int64)
        table = clusters.group_by("result").agg(
            units=units, **{name: _effective_clusters(name) for name in labels}
        )
        # One cluster with positives does not show how the metric varies.
        df = (pl.min_horizontal(*labels) - 1).clip(lower_bound=0.0)
        return table.with_columns(df=df)
    groups = data.group_by("group", "result").agg(units=rows, **labels)
    df = (pl.min_horizontal(*labels) - 1).clip(lower_bound=0).sum().cast(pl.Float64)
    return groups.group_by("result").agg(pl.col("units", *labels).sum(), df=df)


def _effective_clusters(name: str) -> pl.Expr:
    """Return Kish's (1965) effective number of clusters of these sizes: `(sum n)^2 / sum n^2`; 0 without rows."""
    sizes = pl.col(name).cast(pl.Float64)
    return (sizes.sum() ** 2 / (sizes**2).sum()).fill_nan(0.0)


# replicates
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class _Cells:
    """Rows that no metric tells apart, in the order of their sort keys, and how to evaluate drawn counts of them."""

    table: pl.DataFrame
    rows: Rows
    plan: Plan
    ranked: PackedRows
    """The sort key of each cell, and the numbers of one row of it."""
    groups: int

    @property
    def most_at_once(self) -> int:
        """Return how many replicates may be evaluated in one query."""
        return max(1, min(_CELLS_AT_ONCE // self.table.height, _MOST_GROUPS // self.groups))

    def loads(self) -> Array:
        """Return what a row of each cell adds to running totals, as a share of the largest total that fits."""
        numbers = self.ranked.table.drop("key", "count", strict=False)
        shares = [pl.lit(0.0)]
        for name, dtype in numbers.schema.items():
            shares.append(pl.col(name).cast(pl.Float64) / _LARGEST_TOTAL[dtype])
        return array_of(self.ranked.table.with_columns(load=pl.max_horizontal(shares)), "load")

    def evaluate(self, batch: Sequence[Counts]) -> pl.DataFrame:
        """Return `replicate` (the place in the batch), `group` and the metrics."""
        import numpy as np

        counts = np.concatenate(batch)
        key = self.ranked.key.in_later_group(pl.col("later"))
        if self.most_at_once == 1:
            key = pl.col("key")
        numbers = pl.exclude("key", "count", "later") * pl.col("count")
        table = self._drawn(self.ranked.table.drop("count"), counts)
        ranked = self.ranked._replace(table=table.select(key, numbers, "count").collect())
        frame = self.table.lazy()
        if self.plan.ideals:
            group = pl.col("group") + pl.col("later")
            frame = self._drawn(self.table.drop("count"), counts).with_columns(group=group)
        sums = aggregate(replace(self.rows, frame=frame, height=len(counts)), self.plan, ranked)
        group = pl.col("group")
        metrics = finalize(sums, ["group"], self.plan).with_columns(
            pl.exclude("group").cast(pl.Float64)
        )
        place = group // self.groups
        return metrics.with_columns(replicate=place, group=group % self.groups).collect()

    def _drawn(self, table: pl.DataFrame, counts: Counts) -> pl.LazyFrame:
        """Return a copy of the table for each replicate, with `count` and `later`, the number of groups before it.

        Rows that are not drawn drop out.
        """
        copies = pl.concat([table] * (len(counts) // table.height), rechunk=True).lazy()
        later = pl.int_range(pl.len(), dtype=pl.Int64) // table.height * self.groups
        count = pl.Series("count", counts, dtype=pl.Int64)
        return copies.with_columns(count, later=later).filter(pl.col("count") > 0)


def _cells_of(
    rows: Rows, data: pl.DataFrame, names: Sequence[str], undefined: float | None, groups: int
) -> _Cells:
    """Aggregate rows that no metric tells apart, and sort them once."""
    apart = [name for name in (*_NUMBERS, "cluster") if name in data.columns]
    distinct = data.lazy().group_by(key_of(rows).pack().alias("key"), *apart)
    cells = distinct.agg(pl.exclude("count", *apart).first(), pl.col("count").sum())
    table = cells.sort("key", *apart).collect()
    # Keys of several copies need more bits than the keys of one.
    is_small = min(_CELLS_AT_ONCE // table.height, _MOST_GROUPS // groups) > 1
    rows = replace(rows, frame=table.lazy(), height=0 if is_small else table.height)
    plan = plan_for(rows, names, undefined, needs_gain=False)
    ranked = pack_rows(rows, plan.extra_sums)
    of_one_row = pl.exclude("key", "count") // pl.col("count")
    ranked = ranked._replace(table=ranked.table.with_columns(of_one_row))
    return _Cells(table, rows, plan, ranked, groups)


def _evaluate(
    rows: Rows,
    data: pl.DataFrame,
    results: pl.Series,
    names: Sequence[str],
    undefined: float | None,
    draws: Draws,
) -> pl.DataFrame:
    """Return `replicate`, `result` and these metrics: their means over the groups of the same result.

    The rows are sorted once. A replicate is a count for each of them, and its groups are further
    groups of one frame.
    """
    if data.is_empty():
        columns = dict.fromkeys(names, pl.Float64)
        return pl.DataFrame(schema={"replicate": pl.Int64, "result": pl.Int64, **columns})
    cells = _cells_of(rows, data, names, undefined, len(results))
    parts = []
    for first, batch in _batches(cells, draws):
        table = cells.evaluate(batch).lazy()
        result = pl.lit(results).gather(pl.col("group"))
        table = table.with_columns(pl.col("replicate") + first, result=result)
        metrics = pl.exclude("group", "replicate", "result").mean()
        parts.append(table.group_by("replicate", "result").agg(metrics).collect())
    return pl.concat(parts)


def _batches(cells: _Cells, draws: Draws) -> Iterator[tuple[int, list[Counts]]]:
    """Yield the number of the first replicate, and the counts of the cells in replicates whose running totals fit."""
    units, unit_of_cell = _units(cells.table, stratified=draws.stratified)
    sampler = Sampler(units, draws.seed)
    # A cluster is one unit, and each of its cells stands for several rows.
    rows_of_cell = 1 if unit_of_cell is None else cells.table["count"].to_numpy()
    loads = cells.loads()
    batch: list[Counts] = []
    load = 0.0
    for replicate in range(draws.repeats):
        drawn = sampler.draw(replicate)
        counts = drawn if unit_of_cell is None else drawn[unit_of_cell] * rows_of_cell
        more = float(counts @ loads)
        if batch and (len(batch) == cells.most_at_once or load + more > 1):
            yield replicate - len(batch), batch
            batch = []
            load = 0.0
        batch.append(counts)
        load += more
    yield draws.repeats - len(batch), batch


# draws
# -------------------------------------------------------------------------------------------------


def _units(cells: pl.DataFrame, *, stratified: bool) -> tuple[pl.DataFrame, Any]:
    """Return the units for `Sampler`, and the unit of each cell; None if each cell is a unit.

    Clusters of groups that are compared are drawn together, unless each cluster is in one group.
    """
    if "cluster" not in cells.columns:
        label = pl.col("truth").cast(pl.Int64) if stratified else pl.lit(0, dtype=pl.Int64)
        return cells.select("sample", stratum=2 * pl.col("group") + label, n="count"), None
    cluster = ["sample", "cluster"]
    results = pl.col("result").n_unique()
    units = cells.group_by(cluster).agg(results=results, result=pl.col("result").first())
    is_nested = (pl.col("results") == 1).all().over("sample")
    # The samples of results that share clusters are one stratum.
    stratum = pl.when(is_nested).then(2 * pl.col("result")).otherwise(2 * pl.col("sample") + 1)
    units = units.with_columns(stratum=stratum, n=1).sort(cluster).with_row_index("unit")
    joined = cells.join(units.select(*cluster, "unit"), on=cluster, maintain_order="left")
    return units.select("sample", "stratum", "n"), joined["unit"].to_numpy()


class _Bulk(NamedTuple):
    """A stratum with many equal rows, whose counts are multinomial."""

    units: Counts
    shares: Array
    rows: int
    stream: int


class Sampler:
    """Draws units with replacement: how often each unit is drawn in a replicate.

    A unit stands for `n` rows or clusters, and each replicate draws as many of them from a
    `stratum` as the stratum has. The strata of one `sample` are drawn independently of each other.
    The draws of a stratum depend only on the seed, on the replicate and on the strata before it in
    its sample.
    """

    def __init__(self, units: pl.DataFrame, seed: int) -> None:
        self.seed = seed
        self.units = len(units)
        units = units.with_row_index("unit").sort("stratum", maintain_order=True)
        units = units.with_columns(rows=pl.col("n").sum().over("stratum"))
        is_bulk = pl.col("rows") > _ROWS_PER_UNIT * pl.len().over("stratum") + _ROWS_PER_STRATUM
        self._set_rows(units.filter(~is_bulk))
        self.bulk = _bulk_strata(units.filter(is_bulk))

    def _set_rows(self, units: pl.DataFrame) -> None:
        """Prepare the strata that are drawn row by row."""
        import numpy as np

        repeated = np.repeat(np.arange(len(units)), units["n"])
        rows = units[repeated].with_row_index("row")
        self.unit = rows["unit"].to_numpy()
        self.rows_of_stratum = array_of(rows, "rows")
        first = rows.select(pl.col("row").first().over("stratum").cast(pl.Int64))
        self.first_of_stratum = first.to_series().to_numpy()
        # The number of the random number that draws the row.
        self.place = rows.select(pl.int_range(pl.len()).over("sample")).to_series().to_numpy()
        self.places = int(self.place.max(initial=-1)) + 1

    def draw(self, replicate: int) -> Counts:
        """Return the counts of the units."""
        import numpy as np

        random = np.random.default_rng([self.seed, replicate]).random(self.places)
        drawn = (random[self.place] * self.rows_of_stratum).astype(np.int64)
        drawn_units = self.unit[self.first_of_stratum + drawn]
        counts: Counts = np.bincount(drawn_units, minlength=self.units)
        for bulk in self.bulk:
            generator = np.random.default_rng([self.seed, replicate, bulk.stream])
            counts[bulk.units] = generator.multinomial(bulk.rows, bulk.shares)
        return counts


def _bulk_strata(units: pl.DataFrame) -> list[_Bulk]:
    """Return the strata that are drawn by multinomial counts."""
    import numpy as np

    first = pl.col("sample", "rows").first()
    strata = units.group_by("stratum", maintain_order=True).agg("unit", "n", first)
    stream = pl.int_range(1, pl.len() + 1).over("sample")
    return [
        _Bulk(np.array(unit), np.array(n) / rows, rows, number)
        for unit, n, rows, number in strata.select("unit", "n", "rows", stream).rows()
    ]
