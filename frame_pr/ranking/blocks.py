"""Canonical rows -> blocks: the one place that sorts.

Group, score and truth are packed into one Int128 and sorted as plain integers: the cheapest sort polars has, whatever
the number and the size of the groups, and nothing has to be gathered afterwards. From there on every step is
whole-column arithmetic on a table that is ordered by group and then from the best score on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Literal

import polars as pl

from frame_pr.inputs.keys import PLACES
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.weights import (
    GAINS,
    HITS,
    MASSES,
    ROWS,
    UNJUDGED,
    bits_of_sum,
    exact_unit,
    exponent,
    how_many,
    in_units,
    refuse_lost,
    unit_of,
)

_RUN = (*MASSES, UNJUDGED)
START = (*(mass.before for mass in _RUN), *(mass.in_all for mass in _RUN), "later_precision")
"""What is known of a group that is one range of the scores of a larger one: counts at the better scores, above the
range, the totals of the larger one, and the largest precision at any threshold below the range."""


_NEEDS: Mapping[str, Sequence[str]] = {
    "positives": ("tp",),
    "rows": ("k",),
    "threshold": ("rank_key",),
    **dict.fromkeys(("interpolated_precision", "later_hits", "later_misses"), ("hits", "tp", "k")),
}
"""The columns of blocks that others are made of."""
COLUMNS = frozenset(("block", "rank_key", "size", "hits", "k", "tp", "ties", "misses", "first", "retrieved", *_NEEDS))
"""The columns of blocks that are made if they are asked for."""


def blocks_of(
    rows: Rows,
    columns: Collection[str] = COLUMNS,
    *,
    steps: bool = False,
    first: bool = False,
    each_row: bool = False,
    k_at: Mapping[str, pl.Expr] = MappingProxyType({}),
    extra_sums: Sequence[str] = (),
) -> pl.LazyFrame:
    """Table of blocks, one row per distinct score of a group, by group and from the best score on.

    With a rule that orders the rows of equal score, one per group of these that the rule leaves alike. Columns: `group`
    and `block` (see `SortKey.block_of_row`); `rank_key` (an integer, the larger the better the score) and `threshold`;
    the block's own `size` and `hits`; `k` and `tp` once it is taken; `ties`, how many rows since the block before it
    (whatever their weight) share their score with another; `misses`, how many negatives there are since then;
    `positives` and `rows`, the totals of the group as its rows have them; `first`, `last` (in its group); `retrieved`;
    where weights are fractional `unit`, in whose parts all masses are; and those of `running_figures`. Rows that are
    unretrieved are a last block, and those that do not count another, whose `rank_key`, `threshold`, `k` and `tp` are
    null.

    `columns`: those that are wanted; there may be others, too. `steps`: only blocks with a positive, and the last one
    of every group. `first`: also the first one of every group. `each_row`: with ties that put positives first or last,
    every row is a block, also where truths are equal. `k_at`: more columns, of which blocks reach a threshold
    (`SortKey.reaches`) the k there as far as the block, 0 where no block above it does. `extra_sums`: those of
    `EXTRA_SUMS` that are wanted, of each block alone; a block that has any of them is a step, too.
    """
    key = rows.key
    wanted = {needed for name in columns for needed in (name, *_NEEDS.get(name, ()))}

    def if_retrieved(value: pl.Expr) -> pl.Expr:
        # Most frames have no other rows, and a test of every block takes its time.
        return pl.when("retrieved").then(value) if rows.some_unranked else value

    def build_wanted(expressions: Mapping[str, Callable[[], pl.Expr]]) -> dict[str, pl.Expr]:
        # What nobody wants is not even planned: of few rows, the plan takes more time than the rows.
        return {name: expression() for name, expression in expressions.items() if name in wanted}

    if steps:
        wanted |= {HITS.block}
    masses = [mass for mass in MASSES if mass.upto in wanted] + [UNJUDGED] * (UNJUDGED.block in extra_sums)
    # Running totals over the whole frame; a block's own numbers are differences of them, and so are a group's.
    blocks = _running(rows, extra_sums, each_row=each_row, wanted=wanted).with_columns(
        last=ends(key.group_bits()),
        **{mass.block: difference(mass.run) for mass in MASSES if mass.block in wanted},
        **{name: _block_sum(name, rows) for name in extra_sums},
    )
    # The last block of a group always stays: so the next one is the first.
    is_first = pl.col("last").shift(1, fill_value=True)
    before = pl.col(ROWS.run).shift(1, fill_value=0)
    if k_at:
        # Codes may be of the group's system.
        blocks = blocks.with_columns(group=key.group()).with_columns(
            pl.when(reached).then(ROWS.run).when(is_first).then(before).forward_fill().alias(name)
            for name, reached in k_at.items()
        )
    if first or "first" in wanted:
        blocks = blocks.with_columns(first=is_first)
    if steps:
        has_some = [pl.col(name) > 0 for name in ("hits", *extra_sums)]
        blocks = blocks.filter(pl.any_horizontal(*has_some, "last", *(["first"] if first else [])))
    # Where the next group starts, the row before holds what the runs began with.
    start = {
        mass: pl.when(is_first).then(pl.col(mass.run).shift(1, fill_value=0)).forward_fill()
        for mass in {*masses, *([ROWS] if k_at else [])}
    }
    blocks = blocks.with_columns(
        group=key.group().set_sorted(),
        **build_wanted(
            {
                "block": key.block,
                "rank_key": lambda: if_retrieved(key.rank_key()),
                "ties": lambda: difference("ties_run"),
                "misses": lambda: difference(ROWS.run) - difference(HITS.run),
            }
        ),
        **{mass.upto: pl.col(mass.run) - start[mass] for mass in masses},
        **{name: pl.col(name) - start[ROWS] for name in k_at},
    )
    of_groups = {mass.total: from_last(pl.col(mass.upto)) for mass in masses if mass.total in wanted}
    blocks = blocks.with_columns(**of_groups, **build_wanted({"threshold": lambda: key.threshold(pl.col("rank_key"))}))
    if rows.starts is not None:
        blocks = blocks.join(rows.starts.select("group", *START), on="group", how="left", maintain_order="left")
        blocks = blocks.with_columns(
            *((pl.col(mass.upto) + pl.col(mass.before)).alias(mass.upto) for mass in masses),
            *(pl.col(mass.in_all).alias(mass.total) for mass in _RUN),
            *(pl.when(pl.col(n) > 0).then(pl.col(n) + pl.col(ROWS.before)).otherwise(0).alias(n) for n in k_at),
        )
    if rows.some_unranked:
        blocks = blocks.with_columns(if_retrieved(pl.col(mass.upto)) for mass in masses)
    figures = running_figures(in_ranges=rows.starts is not None)
    return blocks.with_columns(**{name: figure for name, figure in figures.items() if name in wanted})


def place_of_block(rows: Rows) -> pl.Expr:
    """Where the block of each row is among all that are retrieved, by group and from the best score on; else null."""
    retrieved = pl.col("score").is_not_null()
    if rows.key.drops:
        retrieved &= ~pl.col("dropped")
    block = rows.key.block_of_row()
    block = pl.when(retrieved).then(block) if rows.some_unranked else block
    return block.map_batches(_dense_rank, return_dtype=pl.UInt32)


def _dense_rank(blocks: pl.Series) -> pl.Series:
    """The place of each value among the distinct ones, from 0 on; null of null."""
    frame, block = blocks.to_frame("block"), pl.col("block")
    table = frame.lazy()
    if _few(frame, block):
        places = table.unique().drop_nulls().sort("block").with_row_index("place").collect(engine="streaming")
        return table.join(places.lazy(), on="block", how="left", maintain_order="left").collect()["place"]
    # Integers that hold the number of their row are sorted in a third of the time of numbers beside them.
    table = table.with_row_index("row")
    table = table.drop_nulls() if blocks.null_count() else table
    packed = table.select(block * PLACES + pl.col("row")).collect(engine="streaming").to_series().sort()
    place = starts(block & -PLACES).cast(pl.UInt32).cum_sum() - 1
    table = packed.to_frame("block").lazy().select((block & (PLACES - 1)).cast(pl.UInt32).alias("row"), place=place)
    return pl.repeat(None, len(blocks), dtype=pl.UInt32, eager=True).scatter(*table.collect(engine="streaming"))


def _running(rows: Rows, extra_sums: Sequence[str], *, each_row: bool, wanted: Collection[str]) -> pl.LazyFrame:
    """Sort, and run totals down the column: `bits`, a run for each mass, `ties_run`, `retrieved`; one row per block."""
    key, ordered, by_truth = rows.key, rows.request.ordered, rows.request.tie_rule.bounds
    masses = _masses(rows, extra_sums)
    fractional = any(dtype.is_float() for _, dtype in masses.values())
    frame = rows.frame if rows.units is None else rows.frame.join(rows.units, on="group", how="left")
    by_index = key.places and not ordered
    frame = frame.with_row_index("row") if by_index else frame
    columns = [key.pack(key.place_of_row() if by_index else pl.col("tie") if ordered else None).alias("key")]
    columns += [mass.alias(name) for name, (mass, _) in masses.items()]
    columns += [pl.col("count")] if rows.has_counts else []
    alike = not (fractional or (each_row and by_truth))
    in_order = partial(_in_order, alike=alike, row=key.row() if by_index else None)
    dtypes = {name: dtype for name, (_, dtype) in masses.items()}
    dtypes = {"key": pl.Int128(), **dtypes, "count": pl.Int64()}
    table = frame.select(key=pl.map_batches(columns, in_order, return_dtype=pl.Struct(dtypes))).unnest("key")
    if by_index:
        # In the same time as the sort of a frame, and with less memory.
        table = table.with_columns(pl.col([*masses, *(["count"] if rows.has_counts else [])]).gather(key.row()))
    table = table.with_columns(**key.unpacked(place=ordered))
    if not fractional:
        rows = replace(rows, has_counts=True)
    bits = pl.col("bits")
    retrieved = key.is_retrieved() if rows.some_unranked else pl.lit(True)
    alone = starts(bits) & ends(bits)
    tied = ~(alone & (pl.col("count") == 1) if rows.has_counts else alone) & retrieved
    if rows.weights.fractional:
        table = table.with_columns(unit=_unit("weight", rows) if rows.units is None else _known_unit(rows))
    if rows.gains.fractional and not {*GAINS}.isdisjoint(extra_sums):
        table = table.with_columns(gain_unit=_unit("gain", rows))
    runs = _runs(rows, extra_sums)
    if "ties" in wanted:
        runs["ties_run"] = rows.times(tied.cast(pl.Int64)).cum_sum()
    if rows.some_unranked or "retrieved" in wanted:
        runs["retrieved"] = retrieved
    table = table.with_columns(**runs)
    end = ends(pl.col("place_bits") if ordered else bits)
    if by_truth:
        # Rows of equal score and truth need no order among them.
        end = pl.lit(True) if each_row else end | ends(pl.col("truth"))
    return table.filter(end)


def _masses(rows: Rows, extra_sums: Sequence[str]) -> dict[str, tuple[pl.Expr, pl.DataType]]:
    """What goes along with the keys, and its type: whole ones of all rows that a row stands for, floats of one."""
    masses: dict[str, tuple[pl.Expr, pl.DataType]] = {}
    for name, weights in (("weight", rows.weights), ("gain", rows.gains)):
        if weights.name is not None and (name == "weight" or not {*GAINS}.isdisjoint(extra_sums)):
            mass = pl.col(name)
            masses[name] = (mass, pl.Float64()) if weights.fractional else (rows.times(mass), pl.Int64())
    if rows.units is not None:
        masses["unit"] = pl.col("unit"), pl.Float64()
    if rows.request.fills_labels and not {"judged", UNJUDGED.block}.isdisjoint(extra_sums):
        judged = pl.col("judged") & ~pl.col("dropped") if rows.key.drops else pl.col("judged")
        masses["judged"] = rows.times(judged.cast(pl.Int64)), pl.Int64()
    return masses


_LOOKED_AT = 2**16
"""So many keys are looked at before all of them are sorted."""


def _in_order(columns: Sequence[pl.Series], *, alike: bool, row: pl.Expr | None) -> pl.Series:
    """The keys in order, what goes along with them, and the `count` of each.

    `alike`: rows of equal keys may be taken together, and are where there are few others. `row`: where a key holds the
    number of its row, to fetch by it what goes along.
    """
    keys, *others = columns
    table = pl.DataFrame(columns)
    has_counts = "count" in table.columns
    key_alone = pl.col("key") if row is None else pl.col("key") - row.cast(pl.Int128) * 2
    if alike and _few(table, key_alone):
        count = {} if has_counts else {"count": pl.len().cast(pl.Int64)}
        groups = table.lazy().group_by(key_alone).agg(pl.exclude("key").sum(), **count).sort("key")
        table = groups.collect(engine="streaming")
        return table.with_columns(key_alone if row is None else key_alone + pl.int_range(pl.len()) * 2).to_struct()
    table = table.sort("key") if others and row is None else table.with_columns(keys.sort())
    return (table if has_counts else table.with_columns(count=pl.lit(1, dtype=pl.Int64))).to_struct()


def _few(table: pl.DataFrame, key: pl.Expr) -> bool:
    """Whether there are so few distinct ones among many that it pays to look for them before a sort."""
    if len(table) <= 2 * _LOOKED_AT:
        return False
    seen = table.sample(_LOOKED_AT, with_replacement=True, seed=0).select(key.n_unique()).item()
    return bool(seen < 0.6 * _LOOKED_AT)


def _runs(rows: Rows, extra_sums: Sequence[str]) -> dict[str, pl.Expr]:
    """Running totals of hits and of rows, and of what is `beside`."""
    counts = rows.times(rows.key.counts().cast(pl.Int64)) if rows.key.drops else pl.col("count")
    # In fixed point, as floats lose bits where a total is taken from another.
    gain = rows.times(in_units(pl.col("gain"), pl.col("gain_unit"))) if rows.gains.fractional else pl.col("gain")
    summed = {"gain": gain, "hit_gain": pl.col("truth") * gain}
    judged = pl.col("judged") if rows.request.fills_labels else counts
    summed |= {"judged": judged, UNJUDGED.block: counts - judged}
    runs = {f"{name}_run": summed[name].cum_sum() for name in extra_sums}
    if rows.weights.fractional:
        # Over all groups they may wrap around, which differences within a group do not notice.
        weight = rows.times(in_units(pl.col("weight"), pl.col("unit")))
    elif rows.weights.name is not None:
        weight = pl.col("weight")
    elif rows.key.drops:
        weight = counts
    else:
        return {HITS.run: rows.times(pl.col("truth")).cum_sum(), ROWS.run: counts.cum_sum(), **runs}
    return {HITS.run: (pl.col("truth") * weight).cum_sum(), ROWS.run: weight.cum_sum(), **runs}


def _block_sum(name: str, rows: Rows) -> pl.Expr:
    """What a block has of a mass that is not run down the ranking."""
    block_sum = difference(f"{name}_run")
    return block_sum / pl.col("gain_unit") if name in GAINS and rows.gains.fractional else block_sum


def _known_unit(rows: Rows) -> pl.Expr:
    check = partial(refuse_lost, argument="weight", name=str(rows.weights.name))
    return pl.map_batches(["weight", "unit"], check, return_dtype=pl.Float64)


def _unit(column: Literal["weight", "gain"], rows: Rows) -> pl.Expr:
    """The unit of the weights, or gains, of each row: any in which all are exact, else its group's own."""
    name = str((rows.weights if column == "weight" else rows.gains).name)

    def units(columns: Sequence[pl.Series]) -> pl.Series:
        masses, groups, *counts = columns
        unit = exact_unit(masses, int(counts[0].sum()) if counts else len(masses))
        if unit is not None:
            return pl.repeat(unit, len(masses), eager=True)
        table = pl.DataFrame({"mass": masses, "group": groups})
        table = table.with_columns(own=counts[0] if counts else pl.lit(1, dtype=pl.Int64))
        return refuse_lost([masses, table.select(_unit_of_group()).to_series()], column, name)

    counts = ["count"] if rows.has_counts else []
    return pl.map_batches([column, rows.key.group_bits(), *counts], units, return_dtype=pl.Float64)


def _unit_of_group() -> pl.Expr:
    """The unit of each `group`: of the largest `mass` and of the number of rows, which are `own` in each of them."""
    end, start, upto = ends(pl.col("group")), starts(pl.col("group")), pl.col("own").cum_sum()
    # A running maximum that restarts at every group, as the number of the group outweighs all exponents.
    group = start.cast(pl.Int64).cum_sum() * 2**12
    largest = pl.when(end).then((group + exponent(pl.col("mass"))).cum_max()).backward_fill() - group
    size = pl.when(end).then(upto).backward_fill() - pl.when(start).then(upto - pl.col("own")).forward_fill()
    return unit_of(bits_of_sum(largest, size))


def best_blocks(rows: Rows) -> pl.LazyFrame:
    """Blocks of equal gain, by group and from the largest on, of rows that have one: `group`, `gain`, `size`, `k`."""
    blocks = (
        rows.frame.filter(pl.col("gain") > 0).group_by("group", "gain").agg(size=how_many(has_counts=rows.has_counts))
    )
    blocks = blocks.sort("group", "gain", descending=[False, True]).with_columns(run=pl.col("size").cum_sum())
    before = from_start(pl.col("run") - pl.col("size"))
    return blocks.select("group", "size", gain=pl.col("gain") * pl.col("size"), k=pl.col("run") - before)


def starts(column: pl.Expr) -> pl.Expr:
    """Whether the value is another than that of the row before."""
    return (column != column.shift(1)).fill_null(True)


def ends(column: pl.Expr) -> pl.Expr:
    """Whether the value is another than that of the row after."""
    return (column != column.shift(-1)).fill_null(True)


def difference(run: str) -> pl.Expr:
    """What a running total rose by since the row before."""
    return pl.col(run) - pl.col(run).shift(1, fill_value=0)


def from_start(value: pl.Expr) -> pl.Expr:
    """The value of the first row of the group, in all of its rows."""
    return pl.when(starts(pl.col("group"))).then(value).forward_fill()


def from_last(value: pl.Expr) -> pl.Expr:
    """The value of the last row of the group, in all of its rows."""
    return pl.when("last").then(value).backward_fill()


def suffix_max(share: pl.Expr) -> pl.Expr:
    """Largest value of a figure in [0, 1] at this or any later row of the group.

    The bits of such a float order as the float does; the group, negated, above them restarts the maximum at every
    group, so that it runs over the whole column at once.
    """
    group = pl.col("group").cast(pl.Int128) * 2**64
    best = (share.reinterpret(dtype=pl.Int64) - group).cum_max(reverse=True)
    return (best + group).cast(pl.Int64).reinterpret(dtype=pl.Float64)


def suffix_sum(term: pl.Expr) -> pl.Expr:
    """Sum of a figure in [0, 1] over this and all later rows of the group.

    In fixed point, of which a total over the whole column loses nothing where another is taken from it.
    """
    unit = 2.0**80
    run = (term * unit).cast(pl.Int128).cum_sum()
    return (from_last(run) - run.shift(1, fill_value=0)).cast(pl.Float64) / unit


@cache
def running_figures(*, in_ranges: bool) -> dict[str, pl.Expr]:
    """Columns of blocks that follow from their `tp` and `k`, and from those of the blocks above or below them.

    `interpolated_precision`: the largest precision at this or any later threshold. `later_hits` and `later_misses`: the
    sums over this and later blocks of `hits / k` times the precision, and times what it lacks of 1; not in ranges.
    """
    precision = pl.col("tp") / pl.col("k")
    largest = suffix_max(precision)
    share = (pl.col("hits") / pl.col("k")).fill_null(0.0)
    return {
        "interpolated_precision": pl.max_horizontal(largest, "later_precision") if in_ranges else largest,
        "later_hits": suffix_sum(share * precision.fill_null(0.0)),
        "later_misses": suffix_sum(share * (1 - precision.fill_null(0.0))),
    }
