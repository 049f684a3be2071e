"""Join a ranked run with its judgments. Nulls mark documents that were not retrieved or not judged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.columns import by_name, column_names, map_whole, refuse_repeats
from frame_pr.frames.dispatch import find_kind, path_advice, read_stream
from frame_pr.frames.kinds import Frame, FrameKind
from frame_pr.frames.messages import examples, kind_of_value, pluralize, shown, warn
from frame_pr.inputs.values import refuse_objects


@public()
def join_judgments(
    run: Frame,
    judgments: Frame,
    *,
    on: str | Sequence[str],
    by: str | Sequence[str] | None = None,
    drop_unjudged: str | Sequence[str] | None = None,
) -> Frame:
    """Join a ranked run with its relevance judgments: one row per document of either frame.

    A document that occurs only in the judgments was not retrieved. Its score is null, and
    `unscored="unretrieved"` counts it without a rank. A document that occurs only in the run was
    not judged. Its relevance is null, and `unjudged="negative"` counts it as a negative. With both
    options, every function computes the metrics of information retrieval, also for queries without
    retrieved documents.

    To turn graded relevance into labels, compare it with a grade: on polars
    `truth=pl.col("relevance") >= 1` in the call. On pandas a comparison with NaN is False, which
    would be a judgment, so add `joined["relevance"].ge(1).where(joined["relevance"].notna())` as a
    column before the call.

    Parameters
    ----------
    run : polars DataFrame or LazyFrame, pandas DataFrame
        The documents retrieved, with their scores; never changed.
    judgments : frame of the same kind
        The documents judged, with their relevance; never changed.
    on : str or list of str
        The columns that name a document in both frames, such as `["query", "document"]`. Two nulls
        are equal.
    by : str or list of str, optional
        Columns of the run that tell several runs apart, such as `system`. Each run is joined with
        all judgments.
    drop_unjudged : str or list of str, optional
        Columns of `on` that name a group, such as "query". Rows of the run are left out if the
        judgments have no row of their group, as trec_eval and ir_measures leave out a query that
        nobody judged. Without it, all rows stay.

    Returns
    -------
    Frame of the same kind
        The columns `by` and `on`, the run's others, the judgments' others. The rows of the run in
        their order, then those that only the judgments have, in theirs. On pandas the index is new.

    Raises
    ------
    ValueError
        A key stands in more than one row of a frame; a column is missing; both frames have another
        column of one name.
    TypeError
        The frames are of different kinds, or a column of `on` has different types in them.

    See Also
    --------
    read_trec_run, read_trec_qrels, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "score": [2.0, 1.0]})
    >>> judgments = pl.DataFrame(
    ...     {"query": ["q", "q"], "document": ["c", "b"], "relevance": [1, 1]}
    ... )
    >>> joined = fp.join_judgments(run, judgments, on=["query", "document"])
    >>> joined
    shape: (3, 4)
    ┌───────┬──────────┬───────┬───────────┐
    │ query ┆ document ┆ score ┆ relevance │
    │ ---   ┆ ---      ┆ ---   ┆ ---       │
    │ str   ┆ str      ┆ f64   ┆ i64       │
    ╞═══════╪══════════╪═══════╪═══════════╡
    │ q     ┆ a        ┆ 2.0   ┆ null      │
    │ q     ┆ b        ┆ 1.0   ┆ 1         │
    │ q     ┆ c        ┆ null  ┆ 1         │
    └───────┴──────────┴───────┴───────────┘
    >>> options = {"unscored": "unretrieved", "unjudged": "negative"}
    >>> # (1/2 + 0) / 2
    >>> joined.pr.average_precision("relevance", "score", by="query", **options)
    shape: (1, 2)
    ┌───────┬───────────────────┐
    │ query ┆ average_precision │
    │ ---   ┆ ---               │
    │ str   ┆ f64               │
    ╞═══════╪═══════════════════╡
    │ q     ┆ 0.25              │
    └───────┴───────────────────┘
    """
    keys, runs = column_names("on", on), [] if by is None else column_names("by", by)
    groups = [] if drop_unjudged is None else column_names("drop_unjudged", drop_unjudged)
    refuse_repeats([*(("on", name) for name in keys), *(("by", name) for name in runs)])
    if others := [name for name in groups if name not in keys]:
        raise ValueError(
            f"drop_unjudged: column {shown(others[0])} is not in on; give columns that on= names, too"
        )
    run, judgments = read_stream(run), read_stream(judgments)
    left, right = find_kind(run), find_kind(judgments)
    if left is None or right is None or (type(left), left.is_lazy) != (type(right), right.is_lazy):
        raise TypeError(
            "run and judgments must both be polars DataFrames, both LazyFrames, both pandas DataFrames or both Tables; "
            f"got {kind_of_value(run)} and {kind_of_value(judgments)}{path_advice(run) or path_advice(judgments)}"
        )
    left.refuse_missing(runs, "by", "run")
    left.refuse_missing(keys, "on", "run")
    right.refuse_missing(keys, "on", "judgments")
    if shared := [name for name in left.columns if name in right.columns and name not in keys]:
        raise ValueError(
            f"run and judgments both have a column {examples(shared)} that is not in on: rename or drop it in one of "
            "them, or name it in on="
        )
    left, (right,) = left.with_keys(keys, [right])
    left, _ = left.with_keys(runs)
    table = _join(left, right, keys, runs, groups)
    return cast(Frame, table) if left.is_lazy else left.give_joined(right, table, [*runs, *keys])


def _join(
    run: FrameKind[Any],
    judgments: FrameKind[Any],
    on_names: list[Any],
    by_names: list[Any],
    groups: list[Any],
) -> pl.LazyFrame:
    """Join two frames in full by keys. Kinds that gather rows get row numbers instead of columns.

    `groups`: the keys of which the run keeps only values that the judgments have.
    """
    # Use our own names, because the join derives names from those of its columns.
    on = {f"on{i}": str(name) for i, name in enumerate(on_names)}
    by = {f"by{i}": str(name) for i, name in enumerate(by_names)}
    row = "_" * (1 + max(map(len, (by | on).values())))  # Longer than any key.
    left, run_columns = _joinable(run, by | on, [*by_names, *on_names], row)
    right, judgment_columns = _joinable(judgments, on, on_names, f"{row}_")
    _refuse_types(on, left.collect_schema(), right.collect_schema())
    left = left.map_batches(
        partial(_refuse_repeats, side="run", keys=by | on), schema=left.collect_schema()
    )
    right = right.map_batches(
        partial(_refuse_repeats, side="judgments", keys=on), schema=right.collect_schema()
    )
    judged, left, right = (
        right.select(*on),
        left.with_columns(in_run=True),
        right.with_columns(in_judgments=True),
    )
    if by:
        left = left.cache()
        right = (
            left.select(*by)
            .unique(maintain_order=True)
            .join(right, how="cross", maintain_order="left_right")
        )
    # A full join has no order otherwise, least of all on the streaming engine.
    keys = [*by, *on]
    joined = left.join(
        right, on=keys, how="full", coalesce=True, nulls_equal=True, maintain_order="left_right"
    )
    joined = map_whole(joined, partial(_warn_of_no_match, on=on), joined.collect_schema())
    if groups:
        group_keys = [key for key, name in on.items() if name in map(str, groups)]
        joined = joined.join(
            judged, on=group_keys, how="semi", nulls_equal=True, maintain_order="left"
        )
    return joined.select(*keys, *run_columns, *judgment_columns).rename(
        by | on | run_columns | judgment_columns
    )


def _warn_of_no_match(joined: pl.DataFrame, on: dict[str, str]) -> pl.DataFrame:
    """Return the rows. Warn if none is both in the run and in the judgments, and both have at least two rows."""
    in_run, in_judgments = (joined[side].fill_null(False) for side in ("in_run", "in_judgments"))
    if min(in_run.sum(), in_judgments.sum()) > 1 and not (in_run & in_judgments).any():
        keys = [joined.filter(side).select(*on).row(0) for side in (in_run, in_judgments)]
        of_run, judged = (shown(key if len(key) > 1 else key[0]) for key in keys)
        warn(
            f"on: run and judgments have no value of ({', '.join(on.values())}) in common, the run has {of_run} "
            f"and the judgments have {judged}; check that both write them in the same way"
        )
    return joined


def _joinable(
    kind: FrameKind[Any], keys: dict[str, str], key_names: list[Any], row: str
) -> tuple[pl.LazyFrame, dict[str, str]]:
    """Return one side of a join under our own names, and the new names of columns that are no keys.

    A frame in memory has the number of its `row` in place of these.
    """
    names = [name for name in kind.columns if name not in key_names] if kind.is_lazy else []
    others = {f"{row} {i}": name for i, name in enumerate(names)}
    table = kind.read([*key_names, *names]).select(
        by_name(name).alias(ours) for ours, name in (keys | others).items()
    )
    return (table, others) if kind.is_lazy else (table.with_row_index(row), {row: row})


def _refuse_types(on: dict[str, str], run: pl.Schema, judgments: pl.Schema) -> None:
    for key, name in on.items():
        if judgments[key] != run[key]:
            raise TypeError(
                f"column {shown(name)} is {str(run[key])[:100]} in the run and {str(judgments[key])[:100]} in the "
                "judgments: cast one of them"
            )
        refuse_objects("on", name, run[key])


def _refuse_repeats(frame: pl.DataFrame, side: str, keys: dict[str, str]) -> pl.DataFrame:
    """Return the frame, and raise if a key occurs twice in it. `side`: whether it is the run or the judgments."""
    if (repeated := frame.select(*keys).filter(frame.select(*keys).is_duplicated())).height:
        counts = repeated.group_by(list(keys), maintain_order=True).len(name="times").rows()
        shown_keys = ", ".join(f"{shown(tuple(key))} {times} times" for *key, times in counts[:3])
        names = ", ".join(keys.values())
        values = pluralize(len(counts), f"value of ({names}) stands", f"values of ({names}) stand")
        advice = (
            ", or of several runs name the column that tells them apart, by="
            if side == "run"
            else ""
        )
        raise ValueError(
            f"in the {side}, {values} in more than one row, such as {shown_keys}: keep one row of each{advice}"
        )
    return frame
