"""Join a ranked run with its judgments: nulls mark documents not retrieved, or not judged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.arrays import frame_of_arrays
from frame_pr.frames.columns import by_name, column_names, refuse_repeats
from frame_pr.frames.dispatch import find_kind, kind_of, path_advice, read_stream
from frame_pr.frames.kinds import Frame, FrameKind, collected, on_frame
from frame_pr.frames.messages import examples, kind_of_value, pluralize, shown, warn
from frame_pr.inputs.values import refuse_objects, type_of

_ROWS = 2**32
"""Rows of a polars frame are fewer than this."""


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
        The documents retrieved, with their scores. The frame is not changed.
    judgments : frame of the same kind
        The documents judged, with their relevance. The frame is not changed.
    on : str or list of str
        The columns that name a document in both frames, such as `["query", "document"]`. Two nulls
        are equal, and a `DataWarning` says if rows are joined by one.
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
        A key is not unique in a frame; a column is missing; both frames have another
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
    keys = column_names("on", on)
    runs = [] if by is None else column_names("by", by)
    groups = [] if drop_unjudged is None else column_names("drop_unjudged", drop_unjudged)
    refuse_repeats([*(("on", name) for name in keys), *(("by", name) for name in runs)])
    others = [name for name in groups if name not in keys]
    if others:
        raise ValueError(
            f"drop_unjudged: column {shown(others[0])} is not in on; give columns that on= names, "
            "too"
        )
    run = read_stream(frame_of_arrays(run))
    judgments = read_stream(frame_of_arrays(judgments))
    _refuse_other_kinds(run, judgments, keys, runs)
    join = partial(_joined, on_names=keys, by_names=runs, groups=groups)
    if not isinstance(judgments, pl.LazyFrame):
        return join(run, judgments)
    return on_frame(
        run,
        lambda rows: join(rows, judgments.collect()),
        of_no_rows=lambda rows: join(rows, pl.DataFrame(schema=judgments.collect_schema())),
    )


def _refuse_other_kinds(
    run: Any,
    judgments: Any,
    keys: list[Any],
    runs: list[Any],
) -> None:
    """Raise for frames of different kinds, and for columns that are missing or in both frames."""
    left = find_kind(run)
    right = find_kind(judgments)
    if left is None or right is None or (type(left), left.is_lazy) != (type(right), right.is_lazy):
        advice = path_advice(run) or path_advice(judgments)
        raise TypeError(
            "run and judgments must both be polars DataFrames, both LazyFrames, both pandas "
            f"DataFrames or both Tables; got {kind_of_value(run)} and "
            f"{kind_of_value(judgments)}{advice}"
        )
    left.refuse_missing(runs, "by", "run")
    left.refuse_missing(keys, "on", "run")
    right.refuse_missing(keys, "on", "judgments")
    shared = [name for name in left.columns if name in right.columns and name not in keys]
    if shared:
        raise ValueError(
            f"run and judgments both have a column {examples(shared)} that is not in on: rename or "
            "drop it in one of them, or name it in on="
        )


def _joined(
    run: Frame,
    judgments: Frame,
    on_names: list[Any],
    by_names: list[Any],
    groups: list[Any],
) -> Frame:
    """Join two frames in memory. `groups`: the keys of which the run keeps only judged values."""
    left, (right,) = kind_of(run).with_keys(on_names, [kind_of(judgments)])
    left, _ = left.with_keys(by_names)
    # Under our own names, no key is called as a column of the join.
    on = {f"on{i}": str(name) for i, name in enumerate(on_names)}
    by = {f"by{i}": str(name) for i, name in enumerate(by_names)}
    keys = by | on
    rows = _key_columns(left, keys)
    judged = _key_columns(right, on)
    for key, name in on.items():
        dtype = rows.schema[key]
        other = judged.schema[key]
        if dtype != other:
            raise TypeError(
                f"column {shown(name)} is {type_of(dtype)} in the run and {type_of(other)} in the "
                "judgments: cast one of them"
            )
        refuse_objects("on", name, dtype)
    table = _row_numbers(rows, judged, keys, on)
    if groups:
        names = [ours for ours, name in on.items() if name in map(str, groups)]
        table = table.join(
            judged,
            on=names,
            how="semi",
            nulls_equal=True,
            maintain_order="left",
        )
    numbers = [table["run"], table["judgment"]]
    return left.give_joined(right, table.select(*keys).rename(keys), numbers)


def _row_numbers(
    rows: pl.DataFrame,
    judged: pl.DataFrame,
    keys: dict[str, str],
    on: dict[str, str],
) -> pl.DataFrame:
    """Return the keys of a full join, and the row numbers `run` and `judgment`, or null."""
    run_hashes = _sorted_hashes(rows)
    judged_hashes = _sorted_hashes(judged)
    _refuse_repeats("run", rows, run_hashes, keys)
    _refuse_repeats("judgments", judged, judged_hashes, on)

    numbered = judged.with_row_index("row")
    by = [name for name in keys if name not in on]
    if by:
        # Each run is joined with all judgments.
        runs = rows.select(by).unique(maintain_order=True)
        numbered = runs.join(numbered, how="cross", maintain_order="left_right")
        judged_hashes = _sorted_hashes(numbered.select(rows.columns))
    pairs = _pairs(rows, run_hashes, numbered.select(rows.columns), judged_hashes)
    _warn_of_matches(on, rows, judged, pairs["run"])

    # The rows of the run in their order, then those that only the judgments have.
    number = numbered["row"]
    judgment = pl.repeat(None, rows.height, dtype=number.dtype, eager=True)
    judgment = judgment.scatter(pairs["run"], number.gather(pairs["judgments"]))
    of_run = rows.with_row_index("run").with_columns(judgment=judgment)

    is_new = pl.repeat(True, number.len(), eager=True)
    is_new = is_new.scatter(pairs["judgments"], False)
    only_judged = numbered.filter(is_new).rename({"row": "judgment"})
    return pl.concat([of_run, only_judged], how="diagonal")


def _key_columns(kind: FrameKind[Any], keys: dict[str, str]) -> pl.DataFrame:
    """Return the keys of a frame under our names."""
    table = kind.read([*keys.values()])
    named = (by_name(name).alias(ours) for ours, name in keys.items())
    return table.select(named).collect()


def _sorted_hashes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return `hash` and the number of each `row`, by hash. A few rows have the hash of others.

    One column of integers sorts fastest, so the number is in the low half of a hash.
    """
    number = pl.int_range(rows.height, dtype=pl.UInt64, eager=True)
    hashes = rows.hash_rows() // _ROWS * _ROWS
    both = (hashes + number).rename("both").sort()
    return both.to_frame().select(
        hash=(pl.col("both") // _ROWS).cast(pl.UInt32).set_sorted(),
        row=pl.col("both").cast(pl.UInt32, wrap_numerical=True),
    )


def _pairs(
    run: pl.DataFrame,
    run_hashes: pl.DataFrame,
    judgments: pl.DataFrame,
    judged_hashes: pl.DataFrame,
) -> pl.DataFrame:
    """Return the row numbers `run` and `judgments` of equal keys.

    A join of sorted hashes takes a quarter of the time of a join of others (2M and 600,000 rows).
    """
    joined = run_hashes.lazy().join(judged_hashes.lazy(), on="hash")
    pairs = collected(joined.select(run="row", judgments="row_right"))
    keys = run[pairs["run"]]
    judged = judgments[pairs["judgments"]]
    is_equal = (pl.col(name).eq_missing(judged[name]) for name in judged.columns)
    return pairs.filter(keys.select(pl.all_horizontal(is_equal)).to_series())


def _warn_of_matches(
    on: dict[str, str],
    run: pl.DataFrame,
    judgments: pl.DataFrame,
    matched: pl.Series,
) -> None:
    """Warn if no row of the run is judged, or if a missing key joins rows."""
    names = ", ".join(on.values())
    if matched.is_empty() and min(run.height, judgments.height) > 1:
        first, judged = (shown(side.select(*on).row(0)) for side in (run, judgments))
        warn(
            f"on: run and judgments have no value of ({names}) in common, the run has {first} and "
            f"the judgments have {judged}; check that both write them in the same way"
        )
    missing = run[matched].select(pl.any_horizontal(pl.col(*on).is_null()).sum()).item()
    if missing:
        pairs = pluralize(missing, "row of the run is", "rows of the run are")
        warn(
            f"on: {pairs} joined with a judgment by a missing value of ({names}), and two missing "
            "names need not mean one document; fill them, or drop these rows"
        )


def _refuse_repeats(
    side: str,
    rows: pl.DataFrame,
    hashes: pl.DataFrame,
    keys: dict[str, str],
) -> None:
    """Raise if a key occurs twice in the run or in the judgments."""
    # Few rows have the hash of another one. `is_duplicated` of all takes five times as long.
    is_same = pl.col("hash") == pl.col("hash").shift(1)
    candidates = hashes.filter(is_same | is_same.shift(-1))
    rows = rows[candidates["row"].sort()]
    repeated = rows.filter(rows.is_duplicated())
    if repeated.is_empty():
        return
    counts = repeated.group_by(rows.columns, maintain_order=True).len(name="times").rows()
    examples_of_keys = (f"{shown(tuple(key))} {times} times" for *key, times in counts[:3])
    names = ", ".join(keys.values())
    values = pluralize(len(counts), f"value of ({names}) stands", f"values of ({names}) stand")
    advice = "keep one row of each"
    if side == "run":
        advice += ", or of several runs name the column that tells them apart, by="
    raise ValueError(
        f"in the {side}, {values} in more than one row, such as {', '.join(examples_of_keys)}: "
        f"{advice}"
    )
