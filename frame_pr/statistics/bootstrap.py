"""Bootstrap: draw rows, clusters or groups with replacement, and evaluate the metrics again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.progress import with_progress
from frame_pr.inputs.rows import Rows
from frame_pr.metrics.aggregation import Plan, aggregate, finalize, plan_for, values
from frame_pr.metrics.names import is_metric
from frame_pr.metrics.rates import is_rate
from frame_pr.ranking.sort import PackedRows, pack_rows
from frame_pr.ranking.sort_keys import key_of
from frame_pr.statistics.bounds import Array, array_of
from frame_pr.statistics.sampled_rows import Sample, SampledRows, counted_rows
from frame_pr.statistics.units import UnitValues

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Counts: TypeAlias = "npt.NDArray[np.int64]"
_CELLS_AT_ONCE = 2**20
"""Cells evaluated in one query. Larger batches need more memory, smaller ones more overhead."""
_MOST_GROUPS = 2**28
"""Maximum number of groups in one batch of replicates, which is what a sort key can hold."""
_ROWS_PER_UNIT = 8
_ROWS_PER_STRATUM = 1_500
"""To draw a row takes 10 ns, a binomial variate for a unit of equal rows the time of 8 rows, and a
generator of such variates for a stratum the time of 1,500 rows."""
_NUMBERS = ("weight", "gain", "judged")
"""Columns that tell rows apart that share a sort key."""


class Draws(NamedTuple):
    """How rows, groups or clusters are drawn."""

    repeats: int
    seed: int
    stratified: bool = False
    """Whether positives and negatives are drawn separately, so that their numbers stay."""
    progress: bool = False
    """Whether a long bootstrap shows its progress."""


class Replicates(NamedTuple):
    """A metric of samples, and of their replicates."""

    table: pl.DataFrame
    """A row per result: its keys, `value`, `undefined` (the groups without a value), `units`, the
    degrees of freedom `df`, `positives`, `negatives`, and `selected` (the rows that the cutoff
    selects, if they are independent).
    """
    drawn: Array
    """A row per replicate and a column per result; NaN without a value."""


def replicates_of(
    sample: Sample[Any], draws: Draws, compared: str | None = None
) -> list[Replicates]:
    """Evaluate each metric of a sample and of its replicates.

    `compared`: the column of the key whose values are compared. Its groups are one sample, so that
    units, clusters and rows which are in several of them are drawn together.
    """
    if isinstance(sample, UnitValues):
        return _replicates_of_units(sample, draws, compared)
    names = [metric.name for metric in sample.metrics]
    columns = [str(m) for m in range(len(names))]
    rows = sample.rows
    named = dict(zip(columns, names, strict=True)) | _selected(sample)
    exact = values(rows, named, sample.undefined)
    groups = sample.restored(exact.with_columns(code="group").collect())
    # Codes have gaps, and are in the order of the keys. So the draws of a group do not depend on
    # the order of the rows.
    groups = groups.sort("code").with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    keys = list(sample.keys.values())
    result = _number_of(keys) if sample.averaged else pl.col("number")
    drawn_together = result
    if compared is not None:
        drawn_together = _number_of([key for key in keys if key != compared])
    groups = groups.with_columns(result=result, sample=drawn_together)

    numbers = groups.select("number", "result", "sample", group="code")
    data = counted_rows(rows).join(numbers, on="group")
    data = data.drop("group").rename({"number": "group"})
    index = groups.select(*keys, "result").unique().sort("result")
    clustered = "cluster" in data.columns
    index = index.join(_degrees(data, clustered=clustered), on="result", how="left")
    index = index.with_columns(pl.col("units").fill_null(0))

    # Groups without values have only dropped rows.
    rows = replace(rows, drops=False, has_counts=True, groups=None, valued_groups=None)
    distinct = list(dict.fromkeys(names))
    replicates = _evaluate(rows, data, groups["result"], distinct, sample.undefined, draws)
    metrics = []
    for column, name in zip(columns, names, strict=True):
        selected = pl.lit(None, pl.Int64)
        if f"k{column}" in groups.columns:
            selected = pl.col(f"k{column}").sum()
        value = pl.col(column).cast(pl.Float64)
        means = groups.group_by("result").agg(
            value=value.mean().fill_nan(None),
            undefined=value.null_count().cast(pl.Int64),
            selected=selected,
        )
        table = index.join(means, on="result", how="left", maintain_order="left")
        drawn = _matrix(replicates, name, draws.repeats, len(index))
        metrics.append(Replicates(table, drawn))
    return metrics


def _replicates_of_units(
    sample: UnitValues[Any], draws: Draws, compared: str | None
) -> list[Replicates]:
    """Evaluate the means of units, such as queries, or of clusters of units, in each replicate."""
    import numpy as np

    keys = list(sample.keys.values())
    table = sample.table.with_row_index("row").with_columns(
        result=_number_of(keys), sample=_number_of([key for key in keys if key != compared])
    )
    # Without keys of units, each row is a unit of its own.
    unit = ["cluster"] if sample.clustered else (sample.unit_columns or ["row"])
    on = ["sample", *unit]
    results = {"results": pl.col("result").n_unique(), "result": pl.col("result").first()}
    units = table.group_by(on).agg(**results, n=pl.lit(1)).with_columns(stratum=_strata())
    units = units.sort(on).with_row_index("unit")
    table = table.join(units.select(*on, "unit"), on=on, nulls_equal=True).drop_nulls("value")
    sampler = Sampler(units.select("sample", "stratum", "n"), draws.seed)

    metrics = []
    estimates = sample.estimates().with_columns(
        positives="units", negatives="units", selected=pl.lit(None, pl.Int64)
    )
    index = sample.table.select(keys or pl.lit(0).alias("none")).unique()
    index = index.with_columns(result=_number_of(keys)).sort("result")
    for m in range(len(sample.bounds)):
        of_metric = table.filter(m=m)
        result = of_metric["result"].to_numpy()
        unit_of_row = of_metric["unit"].to_numpy()
        value = array_of(of_metric, "value")
        drawn = np.empty((draws.repeats, len(index)))
        for replicate in range(draws.repeats):
            n = sampler.draw(replicate)[unit_of_row]
            sums = np.bincount(result, n * value, minlength=len(index))
            with np.errstate(invalid="ignore"):
                drawn[replicate] = sums / np.bincount(result, n, minlength=len(index))
        means = estimates.filter(m=m)
        if keys:
            means = index.join(means, on=keys, how="left", nulls_equal=True, maintain_order="left")
        metrics.append(Replicates(means, drawn))
    return metrics


def _selected(sampled: SampledRows[Any]) -> dict[str, str]:
    """Return the metrics `k@` of cutoffs, the rows that these select, by columns `k0` and so on."""
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
    """Return `units` (rows or clusters), `positives`, `negatives` and `df` for each `result`.

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
    """Return Kish's (1965) effective number of clusters, `(sum n)^2 / sum n^2`; 0 without rows."""
    sizes = pl.col(name).cast(pl.Float64)
    return (sizes.sum() ** 2 / (sizes**2).sum()).fill_nan(0.0)


# replicates
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class _Cells:
    """Rows that no metric tells apart, in the order of their keys, and how to evaluate counts."""

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

    def evaluate(self, batch: Sequence[Counts]) -> pl.DataFrame:
        """Return `replicate` (the place in the batch), `group` and the metrics."""
        import numpy as np

        counts = np.concatenate(batch)
        key = self.ranked.key.in_later_group(pl.col("later"))
        if self.most_at_once == 1:
            key = pl.col("key")
        numbers = pl.exclude("key", "count", "later", "class_rows") * pl.col("count")
        table = self._drawn(self.ranked.table.drop("count"), counts)
        if self.rows.request.prevalence is not None:
            # A replicate has other numbers of both classes, and the same prevalence.
            group = self.ranked.key.group() + pl.col("later")
            number = group * 2 + self.ranked.key.truth().cast(pl.Int64)
            share = pl.col("class_rows") / pl.col("count").sum().over(number)
            weight = (pl.col("weight").cast(pl.Float64) * share).cast(pl.Int128)
            table = table.with_columns(weight=weight)
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
        """Return a copy of the table for each replicate, with `count` and `later`, its first group.

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
    cells_of_rows = ranked.table.with_columns(of_one_row)
    if rows.request.prevalence is not None:
        # One number, as the oldest polars cannot group by two expressions of one column.
        number = ranked.key.group() * 2 + ranked.key.truth().cast(pl.Int64)
        cells_of_rows = cells_of_rows.with_columns(class_rows=pl.col("count").sum().over(number))
    ranked = ranked._replace(table=cells_of_rows)
    return _Cells(table, rows, plan, ranked, groups)


def _evaluate(
    rows: Rows,
    data: pl.DataFrame,
    results: pl.Series,
    names: Sequence[str],
    undefined: float | None,
    draws: Draws,
) -> pl.DataFrame:
    """Return `replicate`, `result` and the means of these metrics over the groups of the result.

    The rows are sorted once. A replicate is a count for each of them, and its groups are further
    groups of one frame.
    """
    if data.is_empty():
        columns = dict.fromkeys(names, pl.Float64)
        return pl.DataFrame(schema={"replicate": pl.Int64, "result": pl.Int64, **columns})
    cells = _cells_of(rows, data, names, undefined, len(results))
    parts = []
    batches = with_progress(
        _batches(cells, draws),
        "bootstrap",
        draws.repeats,
        lambda batch: len(batch[1]),
        show=draws.progress,
    )
    for first, batch in batches:
        table = cells.evaluate(batch).lazy()
        result = pl.lit(results).gather(pl.col("group"))
        table = table.with_columns(pl.col("replicate") + first, result=result)
        metrics = pl.exclude("group", "replicate", "result").mean()
        parts.append(table.group_by("replicate", "result").agg(metrics).collect())
    return pl.concat(parts)


def _batches(cells: _Cells, draws: Draws) -> Iterator[tuple[int, list[Counts]]]:
    """Yield the number of a first replicate, and the counts of cells in it and the next ones."""
    units, unit_of_cell = _units(cells.table, stratified=draws.stratified)
    sampler = Sampler(units, draws.seed)
    for first in range(0, draws.repeats, cells.most_at_once):
        replicates = range(first, min(first + cells.most_at_once, draws.repeats))
        batch = [sampler.draw(replicate) for replicate in replicates]
        if unit_of_cell is not None:
            # A cluster is one unit, and each of its cells stands for several rows.
            rows = cells.table["count"].to_numpy()
            batch = [drawn[unit_of_cell] * rows for drawn in batch]
        yield first, batch


# draws
# -------------------------------------------------------------------------------------------------


def _units(cells: pl.DataFrame, *, stratified: bool) -> tuple[pl.DataFrame, Any]:
    """Return the units for `Sampler`, and the unit of each cell; None if each cell is a unit."""
    if "cluster" not in cells.columns:
        label = pl.col("truth").cast(pl.Int64) if stratified else pl.lit(0, dtype=pl.Int64)
        return cells.select("sample", stratum=2 * pl.col("group") + label, n="count"), None
    cluster = ["sample", "cluster"]
    results = pl.col("result").n_unique()
    units = cells.group_by(cluster).agg(
        results=results, result=pl.col("result").first(), n=pl.lit(1)
    )
    units = units.with_columns(stratum=_strata()).sort(cluster).with_row_index("unit")
    joined = cells.join(units.select(*cluster, "unit"), on=cluster, maintain_order="left")
    return units.select("sample", "stratum", "n"), joined["unit"].to_numpy()


def _strata() -> pl.Expr:
    """Return the stratum of clusters: their `result`, or their sample if it shares clusters.

    So two arms with clusters of their own keep their numbers of clusters, and two systems of the
    same clusters are drawn together.
    """
    is_nested = (pl.col("results") == 1).all().over("sample")
    return pl.when(is_nested).then(2 * pl.col("result")).otherwise(2 * pl.col("sample") + 1)


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
