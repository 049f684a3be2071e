"""Bootstrap: draw rows, clusters or groups with replacement, and evaluate the metrics again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.arguments import check_flag, check_whole
from frame_pr.frames.kinds import collected
from frame_pr.frames.progress import with_progress
from frame_pr.inputs.rows import Rows
from frame_pr.metrics.aggregation import Plan, aggregate, finalize, plan_for, values
from frame_pr.metrics.rates import RATES
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
_WHOLE_RANKINGS = ("average_precision", "interpolated_average_precision", "roc_auc")
"""Metrics of all positives and negatives that are 1 for perfect rankings."""
_RARER = pl.col("df") + 1
"""The number of rows of the rarer label, or of units."""


class Draws(NamedTuple):
    """How rows, groups or clusters are drawn, or signs of differences."""

    repeats: int = 1_000
    seed: int = 0
    resamples: int = 10_000
    """Number of drawn sign flips."""
    stratified: bool = False
    """Whether positives and negatives are drawn separately, so that their numbers stay."""
    progress: bool = True
    """Whether a long bootstrap shows its progress."""


_LEAST = {"repeats": 100, "seed": 0, "resamples": 1}


def draws_of(options: Mapping[str, Any], **without: str) -> Draws:
    """Validate the options of random draws.

    `without`: for each number that the call has, the argument by which there are no such draws.
    """
    draws: dict[str, Any] = {}
    for name, argument in without.items():
        number = options.get(name)
        if number is not None:
            if argument:
                raise ValueError(
                    f"{name}= is about random draws, and {argument} has none: leave it out"
                )
            most = None if name == "seed" else 1_000_000
            draws[name] = check_whole(name, number, _LEAST[name], most)
    for name in ("stratified", "progress"):
        if name in options:
            draws[name] = check_flag(name, options[name])
    return Draws(**draws)


class Replicates(NamedTuple):
    """The metrics of a sample, and of its replicates."""

    table: pl.DataFrame
    """A row per metric `m` and result: its keys, `value`, `undefined` (the groups without a value),
    `units`, `positives`, `negatives`, the standard `error` of means of units, the degrees of
    freedom `df`, and `whole` (the number of rows of which a value of 0 or 1 is the share).
    """
    drawn: Array
    """A row per replicate, and a column per row of the table; NaN without a value."""


def replicates_of(sample: Sample, draws: Draws, compared: str | None = None) -> Replicates:
    """Evaluate the metrics of a sample and of its replicates.

    `compared`: the column of the key whose values are compared. Its groups are one sample, so that
    units, clusters and rows which are in several of them are drawn together.
    """
    if isinstance(sample, UnitValues):
        return _replicates_of_units(sample, draws, compared)
    return _replicates_of_rows(sample, draws, compared)


def _with_results(
    table: pl.DataFrame, keys: Mapping[str, str], compared: str | None
) -> pl.DataFrame:
    """Number the keys of a table, `result`, and the results that are drawn together, `sample`."""
    columns = list(keys.values())
    of_samples = [column for column in columns if column != compared]
    return table.with_columns(
        result=_number_of(columns),
        sample=_number_of(of_samples),
    )


def _number_of(columns: Sequence[str]) -> pl.Expr:
    """Number the combinations of values of the columns in their order."""
    if not columns:
        return pl.lit(0, dtype=pl.Int64)
    rank = pl.struct(columns).rank("dense")
    return rank.cast(pl.Int64) - 1


# units
# -------------------------------------------------------------------------------------------------


def _replicates_of_units(sample: UnitValues, draws: Draws, compared: str | None) -> Replicates:
    """Evaluate the means of units, such as queries, or of clusters of units, in each replicate."""
    keys = list(sample.keys.values())
    column = _number_of(["m", *keys])
    row = pl.int_range(pl.len()).over("m")
    table = sample.table.with_columns(column=column, row=row)
    table = _with_results(table, sample.keys, compared)
    # Without keys of units, each row is a unit of its own.
    unit = sample.unit_columns or ["row"]
    if sample.clustered:
        unit = ["cluster"]
    units, unit_of_row = _clusters_of(table, ["sample", *unit])
    table = table.with_columns(unit=unit_of_row)

    shares = [m for m, bounds in enumerate(sample.bounds) if bounds == "share"]
    is_share = pl.col("m").is_in(shares)
    estimates = sample.estimates().sort(column)
    estimates = estimates.with_columns(whole=pl.when(is_share).then(_RARER))
    sampler = Sampler(units, draws.seed)
    drawn = _drawn_means(table.drop_nulls("value"), sampler, draws.repeats, len(estimates))
    return Replicates(estimates, drawn)


def _drawn_means(table: pl.DataFrame, sampler: Sampler, repeats: int, columns: int) -> Array:
    """Return the means of `value`, a row per replicate and a column for each number `column`."""
    import numpy as np

    column = table["column"].to_numpy()
    unit = table["unit"].to_numpy()
    value = array_of(table, "value")
    means = np.empty((repeats, columns))
    for replicate in range(repeats):
        n = sampler.draw(replicate)[unit]
        sums = np.bincount(column, n * value, minlength=columns)
        numbers = np.bincount(column, n, minlength=columns)
        with np.errstate(invalid="ignore"):
            means[replicate] = sums / numbers
    return means


# rows
# -------------------------------------------------------------------------------------------------


def _replicates_of_rows(sample: SampledRows, draws: Draws, compared: str | None) -> Replicates:
    """Evaluate metrics in each replicate of rows, or of clusters of rows."""
    groups = _groups_of(sample, compared)
    numbers = groups.select("number", "result", "sample", group="code")
    data = counted_rows(sample.rows).join(numbers, on="group")
    data = data.drop("group").rename({"number": "group"})

    results = groups.select(*sample.keys.values(), "result").unique()
    results = results.join(_degrees(data), on="result", how="left")
    results = results.with_columns(
        pl.col("units").fill_null(0),
        error=pl.lit(None, pl.Float64),
    )
    results = results.sort("result")
    parts = [_with_means(results, groups, m, name) for m, name in enumerate(sample.names)]
    table = pl.concat(parts)
    drawn = _drawn_metrics(sample, data, groups["result"], draws)
    return Replicates(table, drawn)


def _groups_of(sample: SampledRows, compared: str | None) -> pl.DataFrame:
    """Return the groups in the order of their keys, with the metrics as columns `0`, `1` and so on.

    `k0`, `k1` and so on are the rows that cutoffs select. `code` is the group of the rows, `number`
    the place of the group, `result` the result that it belongs to, and `sample` the rows that are
    drawn together.
    """
    named = {str(m): name for m, name in enumerate(sample.names)}
    if sample.rows.weights.ranks and not sample.clustered:
        for m, name in enumerate(sample.names):
            if _whole_of(name) == "selected":
                cutoff = name.partition("@")[2]
                named[f"k{m}"] = f"k@{cutoff}"
    exact = values(sample.rows, named, sample.what.undefined)
    exact = exact.with_columns(code="group")
    # Codes have gaps, and are in the order of the keys. So the draws of a group do not depend on
    # the order of the rows.
    table = collected(exact, sample.rows.height)
    groups = sample.restored(table).sort("code")
    groups = groups.with_columns(number=pl.int_range(pl.len()))
    groups = _with_results(groups, sample.keys, compared)
    if sample.what.averages:
        return groups
    return groups.with_columns(result="number")


def _whole_of(name: str) -> Literal["rarer", "selected"] | None:
    """Return the rows of which a value of 0 or 1 is the share; None if the metric is no share.

    Those of the rarer label, or those that the cutoff selects.
    """
    if name in _WHOLE_RANKINGS:
        return "rarer"
    # A threshold with an interpolated precision selects at least the rows of the recall.
    head = name.removeprefix("interpolated_").partition("@")[0]
    rate = RATES.get(head)
    if rate is None or rate.row_share is None:
        return None
    reached = pl.col("reached")
    whole = rate.row_share.whole(pl.col("truth"), reached)
    if whole.meta.eq(reached):
        return "selected"
    return None if "reached" in whole.meta.root_names() else "rarer"


def _with_means(results: pl.DataFrame, groups: pl.DataFrame, m: int, name: str) -> pl.DataFrame:
    """Return the results with the means of a metric over their groups."""
    value = pl.col(str(m)).cast(pl.Float64)
    undefined = value.null_count()
    selected = pl.lit(None, pl.Int64)
    if f"k{m}" in groups.columns:
        selected = pl.col(f"k{m}").sum()
    means = groups.group_by("result").agg(
        value=value.mean().fill_nan(None),
        undefined=undefined.cast(pl.Int64),
        whole=selected.cast(pl.Float64),
    )
    table = results.join(means, on="result", how="left", maintain_order="left")
    if _whole_of(name) == "rarer":
        table = table.with_columns(whole=_RARER)
    return table.with_columns(m=pl.lit(m, pl.Int32))


def _degrees(data: pl.DataFrame) -> pl.DataFrame:
    """Return `units` (rows or clusters), `positives`, `negatives` and `df` for each `result`.

    The degrees of freedom are one less than the rows of the rarer label, summed over groups. With
    clusters, the numbers of both labels are effective numbers of clusters (see
    `_effective_clusters`), and so are the degrees of freedom.
    """
    clustered = "cluster" in data.columns
    count = pl.col("count")
    is_positive = pl.col("truth")
    parts = data.group_by("result", "cluster" if clustered else "group").agg(
        units=count.sum(),
        positives=count.filter(is_positive).sum(),
        negatives=count.filter(~is_positive).sum(),
    )
    labels = pl.col("positives", "negatives")
    df = (pl.min_horizontal("positives", "negatives") - 1).clip(lower_bound=0)
    results = parts.group_by("result")
    if not clustered:
        return results.agg(pl.col("units").sum(), labels.sum(), df=df.sum().cast(pl.Float64))
    # One cluster with positives does not show how the metric varies.
    effective = results.agg(_effective_clusters(labels), units=pl.len().cast(pl.Int64))
    return effective.with_columns(df=df)


def _effective_clusters(sizes: pl.Expr) -> pl.Expr:
    """Return Kish's (1965) effective number of clusters, `(sum n)^2 / sum n^2`; 0 without rows."""
    sizes = sizes.cast(pl.Float64)
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    return effective.fill_nan(0.0)


# replicates of rows
# -------------------------------------------------------------------------------------------------


def _drawn_metrics(
    sample: SampledRows, data: pl.DataFrame, results: pl.Series, draws: Draws
) -> Array:
    """Return the means of metrics over groups: a row per replicate, a column per metric and result.

    The rows are sorted once. A replicate is a count for each of them, and its groups are further
    groups of one frame. `results`: the result of each group.
    """
    import numpy as np

    drawn = np.full((draws.repeats, len(sample.names), results.n_unique()), np.nan)
    if data.is_empty():
        return drawn.reshape(draws.repeats, -1)
    cells = _cells_of(sample, data, len(results))
    units, unit_of_cell = _units(cells.table, stratified=draws.stratified)
    sampler = Sampler(units, draws.seed)
    # A cluster is one unit, and each of its cells stands for several rows.
    rows = cells.table["count"].to_numpy() if "cluster" in data.columns else 1
    result = pl.lit(results).gather("group")
    means = pl.exclude("group", "replicate", "result").mean()
    replicates = range(draws.repeats)
    firsts = replicates[:: cells.at_once]
    batches = [replicates[first : first + cells.at_once] for first in firsts]
    for batch in with_progress(batches, "bootstrap", draws.repeats, len, show=draws.progress):
        counts = np.stack([sampler.draw(replicate) for replicate in batch])
        counts_of_cells = counts[:, unit_of_cell] * rows
        metrics = cells.evaluate(counts_of_cells).with_columns(result=result)
        means_of_replicates = metrics.group_by("replicate", "result").agg(means)
        table = collected(means_of_replicates, cells.table.height * len(batch))
        replicate = table["replicate"].to_numpy() + batch.start
        for m, name in enumerate(sample.names):
            drawn[replicate, m, table["result"]] = array_of(table, name)
    return drawn.reshape(draws.repeats, -1)


class _Cells(NamedTuple):
    """Rows that no metric tells apart, in the order of their keys, and how to evaluate counts."""

    table: pl.DataFrame
    rows: Rows
    plan: Plan
    ranked: PackedRows
    """The sort key of each cell, and the numbers of one row of it."""
    groups: int
    at_once: int
    """How many replicates are evaluated in one query."""

    def evaluate(self, counts: Counts) -> pl.LazyFrame:
        """Return the metrics of each `replicate`, a row of counts of the cells, and `group`."""
        frame = self.table.lazy()
        group = pl.col("group")
        if self.plan.ideals:
            frame = self._drawn(self.table, counts).lazy()
            frame = frame.with_columns(group=group + pl.col("later"))
        rows = self.rows._replace(frame=frame, height=counts.size)
        sums = aggregate(rows, self.plan, self._ranked(counts))
        metrics = finalize(sums, ["group"], self.plan)
        return metrics.with_columns(
            pl.exclude("group").cast(pl.Float64),
            replicate=group // self.groups,
            group=group % self.groups,
        )

    def _ranked(self, counts: Counts) -> PackedRows:
        """Return the drawn cells of a batch in order, each replicate in groups of its own."""
        key = pl.col("key")
        if self.at_once > 1:
            key = self.ranked.key.in_later_group(pl.col("later"))
        drawn = self._drawn(self.ranked.table, counts)
        if self.rows.request.weights_classes:
            drawn = drawn.with_columns(weight=self._weight())
        numbers = pl.exclude("key", "count", "later", "class_rows")
        table = drawn.select(key, numbers * pl.col("count"), "count")
        return self.ranked._replace(table=table)

    def _drawn(self, table: pl.DataFrame, counts: Counts) -> pl.DataFrame:
        """Return the drawn rows of a table for each replicate, with `count` and `later`.

        `later`: the first group of the replicate.
        """
        import numpy as np

        repeats, height = counts.shape
        copies = pl.concat([table.drop("count")] * repeats, rechunk=True)
        first_groups = np.arange(repeats) * self.groups
        later = pl.Series("later", np.repeat(first_groups, height))
        count = pl.Series("count", counts.ravel())
        return copies.hstack([count, later]).filter(count > 0)

    def _weight(self) -> pl.Expr:
        """Return the weight of a drawn row, so that each replicate has the same prevalence.

        A replicate has other numbers of both classes than the sample.
        """
        key = self.ranked.key
        drawn_rows = _class_rows(key, key.group() + pl.col("later"))
        share = pl.col("class_rows") / drawn_rows
        weight = pl.col("weight").cast(pl.Float64) * share
        return weight.cast(pl.Int128)


def _class_rows(key: SortKey, group: pl.Expr) -> pl.Expr:
    """Return how many rows of a group have the label of the cell."""
    label = key.truth().cast(pl.Int64)
    # One number, as the oldest polars cannot group by two expressions of one column.
    group_and_label = group * 2 + label
    rows = pl.col("count").sum()
    return rows.over(group_and_label)


def _cells_of(sample: SampledRows, data: pl.DataFrame, groups: int) -> _Cells:
    """Aggregate rows that no metric tells apart, and sort them once."""
    apart = [name for name in _APART if name in data.columns]
    key = key_of(sample.rows).pack().alias("key")
    count = pl.col("count")
    others = pl.exclude("count", *apart)
    distinct = data.lazy().group_by(key, *apart)
    cells = distinct.agg(others.first(), count.sum())
    table = collected(cells.sort("key", *apart), data.height)

    at_once = max(1, min(_CELLS_AT_ONCE // table.height, _MOST_GROUPS // groups))
    rows = sample.rows._replace(
        frame=table.lazy(),
        # Keys of several copies need more bits than the keys of one.
        height=0 if at_once > 1 else table.height,
        # Groups without values have only dropped rows.
        drops=False,
        has_counts=True,
        groups=None,
    )
    plan = plan_for(rows, sample.names, sample.what.undefined, needs_gain=False)
    ranked = pack_rows(rows, plan.extra_sums)

    numbers = pl.exclude("key", "count")
    cells_of_rows = ranked.table.with_columns(numbers // count)
    if rows.request.weights_classes:
        class_rows = _class_rows(ranked.key, ranked.key.group())
        cells_of_rows = cells_of_rows.with_columns(class_rows=class_rows)
    ranked = ranked._replace(table=cells_of_rows)
    return _Cells(table, rows, plan, ranked, groups, at_once)


# draws
# -------------------------------------------------------------------------------------------------


def _units(cells: pl.DataFrame, *, stratified: bool) -> tuple[pl.DataFrame, Any]:
    """Return the units for `Sampler`, and the unit of each cell; all if each cell is a unit."""
    if "cluster" not in cells.columns:
        stratum = 2 * pl.col("group")
        if stratified:
            stratum += pl.col("truth").cast(pl.Int64)
        return cells.select("sample", stratum=stratum, n="count"), slice(None)

    units, unit_of_cell = _clusters_of(cells, ["sample", "cluster"])
    return units, unit_of_cell.to_numpy()


def _clusters_of(table: pl.DataFrame, on: Sequence[str]) -> tuple[pl.DataFrame, pl.Series]:
    """Return the units or clusters of rows for `Sampler`, and the number of that of each row.

    The stratum of clusters is their `result`, or their sample if it shares clusters. So two arms
    with clusters of their own keep their numbers of clusters, and two systems of the same clusters
    are drawn together.
    """
    result = pl.col("result")
    units = table.group_by(on).agg(
        is_nested=result.n_unique() == 1,
        result=result.first(),
        n=pl.lit(1),
    )
    is_nested = pl.col("is_nested").all().over("sample")
    shared = 2 * pl.col("sample") + 1
    stratum = pl.when(is_nested).then(2 * result).otherwise(shared)
    units = units.with_columns(stratum=stratum).sort(on).with_row_index("unit")
    numbers = units.select(*on, "unit")
    rows = table.join(numbers, on=on, how="left", nulls_equal=True, maintain_order="left")
    return units, rows["unit"]


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
        units = units.select("sample", "stratum", "n").with_row_index("unit")
        units = units.sort("stratum", maintain_order=True)
        rows = pl.col("n").sum().over("stratum")
        units_of_stratum = pl.len().over("stratum")
        is_bulk = rows > _ROWS_PER_UNIT * units_of_stratum + _ROWS_PER_STRATUM
        units = units.with_columns(rows=rows, is_bulk=is_bulk)
        # Strata with many equal rows, whose counts are multinomial.
        bulk = units.filter("is_bulk")
        stream = pl.col("stratum").rank("dense").over("sample")
        self.bulk = bulk.with_columns(stream=stream).partition_by("stratum", maintain_order=True)
        self._set_rows(units.remove("is_bulk"))

    def _set_rows(self, units: pl.DataFrame) -> None:
        """Prepare the strata that are drawn row by row."""
        import numpy as np

        places = np.arange(len(units))
        repeated = np.repeat(places, units["n"])
        rows = units[repeated].with_row_index("row")
        first = pl.col("row").first().over("stratum")
        rows = rows.with_columns(
            first=first.cast(pl.Int64),
            place=pl.int_range(pl.len()).over("sample"),
        )
        self.unit = rows["unit"].to_numpy()
        self.rows_of_stratum = array_of(rows, "rows")
        self.first_of_stratum = rows["first"].to_numpy()
        # The number of the random number that draws the row.
        self.place = rows["place"].to_numpy()
        self.places = self.place.max(initial=-1) + 1

    def draw(self, replicate: int) -> Counts:
        """Return the counts of the units."""
        import numpy as np

        seed = [self.seed, replicate]
        random = np.random.default_rng(seed).random(self.places)
        place_in_stratum = random[self.place] * self.rows_of_stratum
        drawn = self.first_of_stratum + place_in_stratum.astype(np.int64)
        counts: Counts = np.bincount(self.unit[drawn], minlength=self.units)
        for stratum in self.bulk:
            generator = np.random.default_rng([*seed, stratum["stream"][0]])
            n = stratum["n"].to_numpy()
            rows = n.sum()
            counts[stratum["unit"]] = generator.multinomial(rows, n / rows)
        return counts
