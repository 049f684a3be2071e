"""Aggregate rows with equal score and label into one row with a count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Literal, TypeAlias, Unpack

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import check_whole, is_whole, public, scalar, several
from frame_pr.frames.dispatch import backend_of
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown, warn
from frame_pr.inputs.options import REFUSED, Column, Columns, Options, TallyOptions
from frame_pr.inputs.request import Request, request_of
from frame_pr.inputs.results import on_rows
from frame_pr.inputs.rows import rows_of
from frame_pr.inputs.validate import Selection, selected, validate
from frame_pr.inputs.weights import WEIGHT_COLUMNS
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.numbers import number
from frame_pr.ranking.blocks import blocks_of, ends, from_start, starts
from frame_pr.ranking.threshold_codes import worst_reached

Bins: TypeAlias = int | list[Threshold]
"""The number of bins, or their lower edges."""
_FEW = 3  # The number of scores that may share one bin.


@public(REFUSED["tally"], options=TallyOptions)
def tally(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    bins: int | Sequence[float] | None = None,
    positive: object = None,
    **options: Unpack[TallyOptions],
) -> Frame:
    """Pre-aggregate rows into counts that can be merged later: one row per group, score and label.

    With `count="count"`, functions accept a tally in place of the rows, and give the same values.
    Concatenated tallies of parts are a tally of all rows; `tally` of them, with `count="count"`,
    merges equal rows. With `bins`, each row has the worst score of its bin, and `ties="optimistic"`
    and `ties="pessimistic"` bound the value of the original rows.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores are columns
        of one tally.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    bins : int or list of float, optional
        Maximum number of bins, each with about as many rows of the group; or the edges of the bins,
        the same for all groups and days. An edge belongs to the better of its two bins. A score
        that is worse than all edges becomes infinite, so scores must then be floats.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `tie_break=`, `tie_break_descending=`, `ties="expected"`, `ties="optimistic"`,
        `ties="pessimistic"`, `ties="order"`, `total_positives=`, `total_rows=` and `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The columns of `by`, `truth`, `score`, `weight` and `gain`, as they are, and `count`
        (Int64): the number of rows with equal values in all of these. Missing scores and labels
        stay, also if an option drops them. Sorted by `by`.

    Raises
    ------
    ValueError, TypeError
        `bins` is no such number or list; a column is missing, given twice, of the wrong type, named
        `count`, or has missing values.

    See Also
    --------
    partitioned, evaluate, curve

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> counts = fp.tally(run, "relevant", "score", by="query", bins=2)
    >>> counts
    shape: (6, 4)
    ┌───────┬──────────┬───────┬───────┐
    │ query ┆ relevant ┆ score ┆ count │
    │ ---   ┆ ---      ┆ ---   ┆ ---   │
    │ str   ┆ i64      ┆ i64   ┆ i64   │
    ╞═══════╪══════════╪═══════╪═══════╡
    │ ink   ┆ 0        ┆ 5     ┆ 1     │
    │ ink   ┆ 1        ┆ 5     ┆ 1     │
    │ ink   ┆ 1        ┆ 4     ┆ 1     │
    │ tea   ┆ 0        ┆ 2     ┆ 1     │
    │ tea   ┆ 1        ┆ 2     ┆ 1     │
    │ tea   ┆ 1        ┆ 1     ┆ 1     │
    └───────┴──────────┴───────┴───────┘
    >>> fp.roc_auc(counts, "relevant", "score", by="query", count="count").rows()
    [('ink', 0.25), ('tea', 0.25)]
    """
    request = request_of(truth, score, by, positive, options)
    number_or_edges = _bins(bins)
    if backend := backend_of(frame):
        return backend.tally(request, number_or_edges)
    return on_rows(frame, request, partial(tallied, bins=number_or_edges))


def tallied(frame: Frame, request: Request, bins: Bins | None) -> Frame:
    """Compute what `tally` returns."""
    selection = selected(frame, request)
    names = _names(selection)
    validate(selection, request)
    float_scores = cs.by_name(*selection.scores) & cs.float()
    rows = selection.data.with_columns(float_scores.fill_nan(None))

    ascending = request.ascending
    if isinstance(bins, list):
        for column, name in selection.scores.items():
            reached = _edges_reached(rows[column], name, bins, ascending=ascending)
            if not request.is_part:
                _warn_of_one_bin(name, rows[column], reached, bins)
            rows = rows.with_columns(reached)

    columns = list(names.values())
    table = _count_equal_rows(rows, columns, ascending=ascending)
    if isinstance(bins, int):
        for column in selection.scores:
            table = _binned(table, column, list(selection.keys), bins, ascending=ascending)
        table = _count_equal_rows(table.collect(), columns, ascending=ascending)

    return selection.kind.give(table.select(**names, count="count"), list(names))


def _names(selection: Selection[Frame]) -> dict[str, str]:
    """Return the caller's names of the columns of a tally, each with its name in `selection`."""
    names: dict[str, str] = {}
    others = selection.others
    columns = selection.keys | {"truth": others["truth"]} | selection.scores
    columns |= {role: others[role] for role in WEIGHT_COLUMNS if role in others}
    for internal, name in columns.items():
        if name == "count":
            raise ValueError(
                f"column {shown(name)} is named like the one that tally adds: rename it before the "
                "call"
            )
        first = names.setdefault(name, internal)
        # A column of the frame may have two roles, and an expression is a column of its own.
        if first != internal and not selection.arguments.keys().isdisjoint([first, internal]):
            raise ValueError(
                f"two columns of the tally would be named {shown(name)}: .alias(...) gives one of "
                "them another name"
            )
    return names


def _count_equal_rows(
    rows: pl.DataFrame, columns: Sequence[str], *, ascending: bool
) -> pl.LazyFrame:
    """Aggregate rows that are equal in these columns, with their `count`."""
    # Rank by the first score, in groups of all other columns: blocks are then rows with equal
    # values.
    others = [column for column in columns if column != "0"]
    options: Options = {"unscored": "unretrieved", "ascending": ascending}
    if "count" in rows.columns:
        options["count"] = "count"
    ranked, output = rows_of(
        rows.with_columns(positive=False), request_of("positive", "0", others, None, options)
    )
    blocks = blocks_of(ranked, ["threshold", "size"]).select("group", "threshold", "size")
    counts = output.restore(blocks.filter(pl.col("size") > 0))
    return counts.rename({"threshold": "0", "size": "count"})


def _binned(
    table: pl.LazyFrame, score: str, keys: Sequence[str], n: int, *, ascending: bool
) -> pl.LazyFrame:
    """Return a tally in which a score is the lowest of its bin.

    A group has at most n bins, of about equally many rows.
    """
    order = [*keys, score]
    descending = [False] * len(keys) + [not ascending]
    table = table.sort(order, descending=descending, nulls_last=True)

    retrieved = pl.col(score).is_not_null()
    ranked_rows = pl.when(retrieved).then("count").otherwise(0)
    table = table.with_columns(
        group=pl.struct(keys).rle_id() if keys else pl.lit(0),
        block=pl.struct(order).rle_id(),
        before=ranked_rows.cum_sum() - ranked_rows,
    )
    # Equal scores belong to the bin of their first row. Rows without a score are above none, so
    # they have a bin of their own.
    before_block = pl.when(starts(pl.col("block"))).then("before").forward_fill()
    rows_above = before_block - from_start(pl.col("before"))
    rows_of_group = ranked_rows.sum().over("group")
    table = table.with_columns(bin=rows_above.cast(pl.Int128) * n // rows_of_group)

    is_last = ends(pl.col("group")) | ends(pl.col("bin"))
    worst = pl.when(is_last).then(score).backward_fill()
    table = table.with_columns(pl.when(retrieved).then(worst))
    return table.drop("group", "block", "before", "bin")


def _edges_reached(
    scores: pl.Series, name: str, edges: list[Threshold], *, ascending: bool
) -> pl.Series:
    """Return the worst score of the bin of each score. `name`: the caller's column.

    The worst bin begins at no edge. Its score is infinite, or null if the dtype has no infinity.
    """
    dtype = scores.dtype
    numbers = {worst_reached(edge.threshold, dtype, ascending=ascending) for edge in edges}
    worst: float | None = None
    if dtype.is_float():
        worst = float("inf") if ascending else float("-inf")
    else:
        low, high = _limits(dtype)
        # Every score reaches an edge below the range of the dtype, and none reaches one above it.
        reachable = [edge for edge in numbers if (edge >= low if ascending else edge <= high)]
        numbers = {min(max(edge, low), high) for edge in reachable}

    sorted_edges = pl.Series([_typed(edge, dtype) for edge in sorted(numbers)], dtype=dtype)
    beyond = pl.Series([worst], dtype=dtype)
    labels = [beyond, sorted_edges]
    side: Literal["left", "right"] = "right"
    if ascending:
        labels.reverse()
        side = "left"
    reached = pl.concat(labels).gather(sorted_edges.search_sorted(scores, side=side))
    lost = scores.filter(reached.is_null() & scores.is_not_null())
    if len(lost):
        raise ValueError(
            f"score column {shown(name)} holds {lost[0]}, worse than all edges of bins=, and no "
            f"{dtype} is infinite: add an edge that all scores reach"
        )
    return reached.zip_with(scores.is_not_null(), scores).alias(scores.name)


def _warn_of_one_bin(
    name: str, scores: pl.Series, reached: pl.Series, edges: Sequence[Threshold]
) -> None:
    """Warn about edges that all lie on one side of the scores. `reached`: those of the bins."""
    in_one_bin = reached.min() == reached.max()
    if in_one_bin and len(edges) > 1 and scores.drop_nulls().n_unique() > _FEW:
        numbers = sorted(float(edge.threshold) for edge in edges)
        low: Any = scores.min()
        high: Any = scores.max()
        warn(
            f"bins: all scores of column {shown(name)} fall into one bin, they lie between "
            f"{float(low):g} and {float(high):g} and the edges between {numbers[0]:g} and "
            f"{numbers[-1]:g}; give edges on the scale of the scores"
        )


def _limits(dtype: Any) -> tuple[Fraction, Fraction]:
    """Return the smallest and largest value of a dtype other than float."""
    if isinstance(dtype, pl.Decimal):
        digits = min(10**dtype.precision, 2**63) - 1
        most = Fraction(digits, 10**dtype.scale)
        return -most, most

    extremes = pl.select(low=dtype.min(), high=dtype.max())
    low, high = extremes.row(0)
    if high >= 2**64:  # of 128 bits, 63 can be used
        low = max(low, 1 - 2**63)
        high = 2**63 - 1
    return Fraction(low), Fraction(high)


def _typed(edge: float | Fraction, dtype: pl.DataType) -> float | Decimal:
    """Return an edge as a value of the dtype."""
    if isinstance(dtype, pl.Decimal):
        digits = int(edge * 10**dtype.scale)
        return Decimal(digits).scaleb(-dtype.scale)
    if dtype.is_float():
        return float(edge)
    return int(edge)


def _bins(bins: Any) -> Bins | None:
    """Validate a number of bins, or edges."""
    if bins is None:
        return None
    expected = "a whole number of bins, or a list of edges"
    value = scalar(bins)
    if is_whole(value):
        return check_whole("bins", value, least=1)
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise TypeError(f"bins takes {expected}; got {shown(bins)}")
    edges = several("bins", value, expected)
    return [Threshold.parse(number("bins", edge)) for edge in edges]
