"""Bootstrap: draw rows, clusters or groups with replacement, and evaluate the metrics again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.progress import with_progress
from frame_pr.inputs.rows import Rows
from frame_pr.metrics.aggregation import Plan, aggregate, finalize, plan_for, values
from frame_pr.metrics.names import is_metric
from frame_pr.metrics.rates import is_rate
from frame_pr.ranking.sort import PackedRows, pack_rows
from frame_pr.ranking.sort_keys import SortKey, key_of
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
_APART = ("weight", "gain", "judged", "cluster")
"""Columns that tell rows apart that share a sort key."""


class Draws(NamedTuple):
    """How rows, groups or clusters are drawn, or signs of differences."""

    repeats: int
    seed: int
    stratified: bool = False
    """Whether positives and negatives are drawn separately, so that their numbers stay."""
    progress: bool = False
    """Whether a long bootstrap shows its progress."""
    flips: int = 0
    """Number of drawn sign flips."""


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
    groups = _groups_of(sample, compared)
    data = _data_of(sample.rows, groups)
    index = groups.select(*sample.keys.values(), "result").unique().sort("result")
    degrees = _degrees(data, clustered="cluster" in data.columns)
    index = index.join(degrees, on="result", how="left")
    index = index.with_columns(pl.col("units").fill_null(0))

    # Groups without values have only dropped rows.
    rows = replace(
        sample.rows,
        drops=False,
        has_counts=True,
        groups=None,
        valued_groups=None,
    )
    names = [metric.name for metric in sample.metrics]
    distinct = list(dict.fromkeys(names))
    replicates = _evaluate(
        rows,
        data,
        groups["result"],
        distinct,
        sample.undefined,
        draws,
    )

    metrics = []
    for m, name in enumerate(names):
        means = _means_of_groups(groups, m)
        table = index.join(
            means,
            on="result",
            how="left",
            maintain_order="left",
        )
        drawn = _matrix(replicates, name, draws.repeats, len(index))
        metrics.append(Replicates(table, drawn))
    return metrics


def _groups_of(sample: SampledRows[Any], compared: str | None) -> pl.DataFrame:
    """Return the groups in the order of their keys, with the metrics as columns `0`, `1` and so on.

    `code` is the group of the rows, `number` the place of the group, `result` the result that it
    belongs to, and `sample` the rows that are drawn together.
    """
    named = {str(m): metric.name for m, metric in enumerate(sample.metrics)}
    named |= _selected(sample)
    exact = values(sample.rows, named, sample.undefined)
    exact = exact.with_columns(code="group")
    groups = sample.restored(exact.collect())

    # Codes have gaps, and are in the order of the keys. So the draws of a group do not depend on
    # the order of the rows.
    groups = groups.sort("code")
    number = pl.int_range(pl.len())
    groups = groups.with_columns(number=number)

    keys = list(sample.keys.values())
    result = pl.col("number")
    if sample.averaged:
        result = _number_of(keys)
    drawn_together = result
    if compared is not None:
        others = [key for key in keys if key != compared]
        drawn_together = _number_of(others)
    return groups.with_columns(result=result, sample=drawn_together)


def _data_of(rows: Rows, groups: pl.DataFrame) -> pl.DataFrame:
    """Return the distinct rows with their counts, and the numbers of their groups."""
    numbers = groups.select("number", "result", "sample", group="code")
    data = counted_rows(rows)
    data = data.join(numbers, on="group")
    data = data.drop("group")
    return data.rename({"number": "group"})


def _means_of_groups(groups: pl.DataFrame, m: int) -> pl.DataFrame:
    """Return the mean of a metric over the groups of each `result`."""
    value = pl.col(str(m)).cast(pl.Float64)
    undefined = value.null_count()
    selected = pl.lit(None, pl.Int64)
    if f"k{m}" in groups.columns:
        selected = pl.col(f"k{m}").sum()
    return groups.group_by("result").agg(
        value=value.mean().fill_nan(None),
        undefined=undefined.cast(pl.Int64),
        selected=selected,
    )


def _replicates_of_units(
    sample: UnitValues[Any], draws: Draws, compared: str | None
) -> list[Replicates]:
    """Evaluate the means of units, such as queries, or of clusters of units, in each replicate."""
    keys = list(sample.keys.values())
    others = [key for key in keys if key != compared]
    table = sample.table.with_row_index("row")
    table = table.with_columns(
        result=_number_of(keys),
        sample=_number_of(others),
    )
    # Without keys of units, each row is a unit of its own.
    unit = sample.unit_columns or ["row"]
    if sample.clustered:
        unit = ["cluster"]
    on = ["sample", *unit]
    units = _with_strata(table, on)
    numbers = units.select(*on, "unit")
    table = table.join(numbers, on=on, nulls_equal=True)
    table = table.drop_nulls("value")
    sampler = Sampler(units.select("sample", "stratum", "n"), draws.seed)

    estimates = sample.estimates()
    estimates = estimates.with_columns(
        positives="units",
        negatives="units",
        selected=pl.lit(None, pl.Int64),
    )
    index = sample.table.select(keys or pl.lit(0).alias("none")).unique()
    index = index.with_columns(result=_number_of(keys))
    index = index.sort("result")

    metrics = []
    for m in range(len(sample.bounds)):
        means = estimates.filter(m=m)
        if keys:
            means = index.join(
                means,
                on=keys,
                how="left",
                nulls_equal=True,
                maintain_order="left",
            )
        of_metric = table.filter(m=m)
        drawn = _drawn_means(of_metric, sampler, draws.repeats, len(index))
        metrics.append(Replicates(means, drawn))
    return metrics


def _drawn_means(table: pl.DataFrame, sampler: Sampler, repeats: int, results: int) -> Array:
    """Return the means of `value`, a row per replicate and a column per result."""
    import numpy as np

    result = table["result"].to_numpy()
    unit = table["unit"].to_numpy()
    value = array_of(table, "value")
    means = np.empty((repeats, results))
    for replicate in range(repeats):
        counts = sampler.draw(replicate)
        n = counts[unit]
        sums = np.bincount(result, n * value, minlength=results)
        numbers = np.bincount(result, n, minlength=results)
        with np.errstate(invalid="ignore"):
            means[replicate] = sums / numbers
    return means


def _selected(sampled: SampledRows[Any]) -> dict[str, str]:
    """Return the metrics `k@` of cutoffs, the rows that these select, by columns `k0` and so on."""
    if sampled.clustered or not sampled.rows.weights.ranks:
        return {}
    selected = {}
    for m, metric in enumerate(sampled.metrics):
        name = metric.name.removeprefix("interpolated_")
        head, _, cutoff = name.partition("@")
        size = f"k@{cutoff}"
        if cutoff and is_rate(head) and is_metric(size):
            selected[f"k{m}"] = size
    return selected


def _number_of(keys: Sequence[str]) -> pl.Expr:
    """Number the combinations of the keys in their order."""
    if not keys:
        return pl.lit(0, dtype=pl.Int64)
    rank = pl.struct(keys).rank("dense")
    return rank.cast(pl.Int64) - 1


def _matrix(replicates: pl.DataFrame, name: str, repeats: int, results: int) -> Array:
    """Return the values of a metric, a row per replicate and a column per result."""
    import numpy as np

    matrix = np.full((repeats, results), np.nan)
    row = replicates["replicate"]
    column = replicates["result"]
    matrix[row, column] = array_of(replicates, name)
    return matrix


def _degrees(data: pl.DataFrame, *, clustered: bool) -> pl.DataFrame:
    """Return `units` (rows or clusters), `positives`, `negatives` and `df` for each `result`.

    The degrees of freedom are one less than the rows of the rarer label, summed over groups. With
    clusters, the numbers of both labels are effective numbers of clusters (see
    `_effective_clusters`), and so are the degrees of freedom.
    """
    count = pl.col("count")
    rows = count.sum()
    positives = (pl.col("truth") * count).sum()
    labels = {
        "positives": positives,
        "negatives": rows - positives,
    }
    rarer = pl.min_horizontal(*labels)
    df = (rarer - 1).clip(lower_bound=0)
    if clustered:
        clusters = data.group_by("result", "cluster").agg(**labels)
        effective = {name: _effective_clusters(name) for name in labels}
        units = pl.len().cast(pl.Int64)
        table = clusters.group_by("result").agg(units=units, **effective)
        # One cluster with positives does not show how the metric varies.
        return table.with_columns(df=df)

    groups = data.group_by("group", "result").agg(units=rows, **labels)
    return groups.group_by("result").agg(
        pl.col("units", *labels).sum(),
        df=df.sum().cast(pl.Float64),
    )


def _effective_clusters(name: str) -> pl.Expr:
    """Return Kish's (1965) effective number of clusters, `(sum n)^2 / sum n^2`; 0 without rows."""
    sizes = pl.col(name).cast(pl.Float64)
    squares = (sizes**2).sum()
    effective = sizes.sum() ** 2 / squares
    return effective.fill_nan(0.0)


# replicates
# -------------------------------------------------------------------------------------------------


class _Cells(NamedTuple):
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
        return _most_at_once(self.table, self.groups)

    def evaluate(self, batch: Sequence[Counts]) -> pl.DataFrame:
        """Return `replicate` (the place in the batch), `group` and the metrics."""
        import numpy as np

        counts = np.concatenate(batch)
        ranked = self._ranked(counts)
        frame = self.table.lazy()
        if self.plan.ideals:
            frame = self._drawn(self.table, counts)
            group = pl.col("group") + pl.col("later")
            frame = frame.with_columns(group=group)
        rows = replace(self.rows, frame=frame, height=len(counts))
        sums = aggregate(rows, self.plan, ranked)
        metrics = finalize(sums, ["group"], self.plan)

        group = pl.col("group")
        metrics = metrics.with_columns(
            pl.exclude("group").cast(pl.Float64),
            replicate=group // self.groups,
            group=group % self.groups,
        )
        return metrics.collect()

    def _ranked(self, counts: Counts) -> PackedRows:
        """Return the drawn cells of a batch in order, each replicate in groups of its own."""
        key = pl.col("key")
        if self.most_at_once > 1:
            key = self.ranked.key.in_later_group(pl.col("later"))
        numbers = pl.exclude("key", "count", "later", "class_rows")
        drawn = self._drawn(self.ranked.table, counts)
        if self.rows.request.weights_classes:
            weight = self._weight()
            drawn = drawn.with_columns(weight=weight)
        drawn = drawn.select(key, numbers * pl.col("count"), "count")
        table = drawn.collect()
        return self.ranked._replace(table=table)

    def _weight(self) -> pl.Expr:
        """Return the weight of a drawn row, so that each replicate has the same prevalence.

        A replicate has other numbers of both classes than the sample.
        """
        key = self.ranked.key
        group = key.group() + pl.col("later")
        drawn_rows = _class_rows(key, group)
        share = pl.col("class_rows") / drawn_rows
        weight = pl.col("weight").cast(pl.Float64)
        weight *= share
        return weight.cast(pl.Int128)

    def _drawn(self, table: pl.DataFrame, counts: Counts) -> pl.LazyFrame:
        """Return a copy of the table for each replicate, with `count` and `later`, its first group.

        Rows that are not drawn drop out.
        """
        height = table.height
        repeats = len(counts) // height
        copies = [table.drop("count")] * repeats
        frame = pl.concat(copies, rechunk=True).lazy()
        replicate = pl.int_range(pl.len()) // height
        frame = frame.with_columns(
            pl.Series("count", counts, dtype=pl.Int64),
            later=replicate * self.groups,
        )
        return frame.filter(pl.col("count") > 0)


def _class_rows(key: SortKey, group: pl.Expr) -> pl.Expr:
    """Return how many rows of a group have the label of the cell."""
    label = key.truth().cast(pl.Int64)
    # One number, as the oldest polars cannot group by two expressions of one column.
    group_and_label = group * 2 + label
    rows = pl.col("count").sum()
    return rows.over(group_and_label)


def _most_at_once(cells: pl.DataFrame, groups: int) -> int:
    """Return how many replicates of cells may be evaluated in one query."""
    by_cells = _CELLS_AT_ONCE // cells.height
    by_groups = _MOST_GROUPS // groups
    return max(1, min(by_cells, by_groups))


def _cells_of(
    rows: Rows, data: pl.DataFrame, names: Sequence[str], undefined: float | None, groups: int
) -> _Cells:
    """Aggregate rows that no metric tells apart, and sort them once."""
    apart = [name for name in _APART if name in data.columns]
    key = key_of(rows).pack().alias("key")
    count = pl.col("count")
    others = pl.exclude("count", *apart)
    distinct = data.lazy().group_by(key, *apart)
    cells = distinct.agg(others.first(), count.sum())
    cells = cells.sort("key", *apart)
    table = cells.collect()

    height = table.height
    if _most_at_once(table, groups) > 1:
        # Keys of several copies need more bits than the keys of one.
        height = 0
    rows = replace(rows, frame=table.lazy(), height=height)
    plan = plan_for(rows, names, undefined, needs_gain=False)
    ranked = pack_rows(rows, plan.extra_sums)

    numbers = pl.exclude("key", "count")
    cells_of_rows = ranked.table.with_columns(numbers // count)
    if rows.request.weights_classes:
        class_rows = _class_rows(ranked.key, ranked.key.group())
        cells_of_rows = cells_of_rows.with_columns(class_rows=class_rows)
    ranked = ranked._replace(table=cells_of_rows)
    return _Cells(
        table=table,
        rows=rows,
        plan=plan,
        ranked=ranked,
        groups=groups,
    )


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
        schema = dict.fromkeys(["replicate", "result"], pl.Int64)
        metrics = dict.fromkeys(names, pl.Float64)
        return pl.DataFrame(schema={**schema, **metrics})

    cells = _cells_of(
        rows,
        data,
        names,
        undefined,
        groups=len(results),
    )
    batches = with_progress(
        _batches(cells, draws),
        "bootstrap",
        draws.repeats,
        lambda batch: len(batch[1]),
        show=draws.progress,
    )
    result = pl.lit(results).gather(pl.col("group"))
    means = pl.exclude("group", "replicate", "result").mean()
    parts = []
    for first, batch in batches:
        table = cells.evaluate(batch).lazy()
        table = table.with_columns(
            pl.col("replicate") + first,
            result=result,
        )
        table = table.group_by("replicate", "result").agg(means)
        parts.append(table.collect())
    return pl.concat(parts)


def _batches(cells: _Cells, draws: Draws) -> Iterator[tuple[int, list[Counts]]]:
    """Yield the number of a first replicate, and the counts of cells in it and the next ones."""
    units, unit_of_cell = _units(cells.table, stratified=draws.stratified)
    sampler = Sampler(units, draws.seed)
    rows = cells.table["count"].to_numpy()
    replicates = range(draws.repeats)
    size = cells.most_at_once
    for first in range(0, draws.repeats, size):
        batch = []
        for replicate in replicates[first : first + size]:
            counts = sampler.draw(replicate)
            if unit_of_cell is not None:
                # A cluster is one unit, and each of its cells stands for several rows.
                counts = counts[unit_of_cell] * rows
            batch.append(counts)
        yield first, batch


# draws
# -------------------------------------------------------------------------------------------------


def _units(cells: pl.DataFrame, *, stratified: bool) -> tuple[pl.DataFrame, Any]:
    """Return the units for `Sampler`, and the unit of each cell; None if each cell is a unit."""
    if "cluster" not in cells.columns:
        stratum = 2 * pl.col("group")
        if stratified:
            stratum += pl.col("truth").cast(pl.Int64)
        return cells.select("sample", stratum=stratum, n="count"), None

    cluster = ["sample", "cluster"]
    units = _with_strata(cells, cluster)
    numbers = units.select(*cluster, "unit")
    cells = cells.join(numbers, on=cluster, maintain_order="left")
    unit_of_cell = cells["unit"].to_numpy()
    return units.select("sample", "stratum", "n"), unit_of_cell


def _with_strata(table: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Return the units or clusters of a table in order, with `unit`, `stratum` and `n`, 1 each."""
    units = table.group_by(on).agg(
        results=pl.col("result").n_unique(),
        result=pl.col("result").first(),
        n=pl.lit(1),
    )
    units = units.with_columns(stratum=_strata())
    units = units.sort(on)
    return units.with_row_index("unit")


def _strata() -> pl.Expr:
    """Return the stratum of clusters: their `result`, or their sample if it shares clusters.

    So two arms with clusters of their own keep their numbers of clusters, and two systems of the
    same clusters are drawn together.
    """
    has_one_result = pl.col("results") == 1
    is_nested = has_one_result.all().over("sample")
    nested = 2 * pl.col("result")
    shared = 2 * pl.col("sample") + 1
    stratum = pl.when(is_nested).then(nested)
    return stratum.otherwise(shared)


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
        units = units.with_row_index("unit")
        units = units.sort("stratum", maintain_order=True)
        rows = pl.col("n").sum().over("stratum")
        units = units.with_columns(rows=rows)

        units_of_stratum = pl.len().over("stratum")
        least = _ROWS_PER_UNIT * units_of_stratum + _ROWS_PER_STRATUM
        is_bulk = pl.col("rows") > least
        bulk = units.filter(is_bulk)
        small = units.filter(~is_bulk)
        self.bulk = _bulk_strata(bulk)
        self._set_rows(small)

    def _set_rows(self, units: pl.DataFrame) -> None:
        """Prepare the strata that are drawn row by row."""
        import numpy as np

        places = np.arange(len(units))
        repeated = np.repeat(places, units["n"])
        rows = units[repeated].with_row_index("row")
        first = pl.col("row").first().over("stratum")
        place = pl.int_range(pl.len()).over("sample")
        rows = rows.select(
            "unit",
            "rows",
            first=first.cast(pl.Int64),
            place=place,
        )
        self.unit = rows["unit"].to_numpy()
        self.rows_of_stratum = array_of(rows, "rows")
        self.first_of_stratum = rows["first"].to_numpy()
        # The number of the random number that draws the row.
        self.place = rows["place"].to_numpy()
        last = self.place.max(initial=-1)
        self.places = int(last) + 1

    def draw(self, replicate: int) -> Counts:
        """Return the counts of the units."""
        import numpy as np

        seed = [self.seed, replicate]
        generator = np.random.default_rng(seed)
        random = generator.random(self.places)
        place_in_stratum = random[self.place] * self.rows_of_stratum
        drawn = self.first_of_stratum + place_in_stratum.astype(np.int64)
        drawn_units = self.unit[drawn]
        counts: Counts = np.bincount(drawn_units, minlength=self.units)
        for bulk in self.bulk:
            generator = np.random.default_rng([*seed, bulk.stream])
            counts[bulk.units] = generator.multinomial(bulk.rows, bulk.shares)
        return counts


def _bulk_strata(units: pl.DataFrame) -> list[_Bulk]:
    """Return the strata that are drawn by multinomial counts."""
    import numpy as np

    first = pl.col("sample", "rows").first()
    strata = units.group_by("stratum", maintain_order=True)
    table = strata.agg("unit", "n", first)
    stream = pl.int_range(1, pl.len() + 1).over("sample")
    table = table.select("unit", "n", "rows", stream=stream)
    bulk = []
    for unit, n, rows, number in table.rows():
        shares = np.array(n) / rows
        stratum = _Bulk(np.array(unit), shares, rows, number)
        bulk.append(stratum)
    return bulk
