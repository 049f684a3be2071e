"""A ranked run and its judgments, joined: what was not retrieved and what was not judged marked by nulls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.arrow import ArrowFrame
from frame_pr.frames.columns import by_name, listed, plain, refuse_missing
from frame_pr.frames.frame_kind import Frame, FrameKind
from frame_pr.frames.kinds import find_kind, read_stream
from frame_pr.frames.pandas import PandasFrame, from_pandas
from frame_pr.frames.polars import PolarsFrame, PolarsLazyFrame
from frame_pr.frames.wording import counted, examples, kind_of_value, shown

_EXAMPLES = 3  # keys shown in an error


@public()
def join_judgments(
    run: Frame, judgments: Frame, *, on: str | Sequence[str], by: str | Sequence[str] | None = None
) -> Frame:
    """A ranked run beside its judgments: every document of either, once.

    A document that only the judgments have has a null score: it was not retrieved, `unscored="unretrieved"` counts it
    and ranks it nowhere. A document that only the run has has a null relevance: it was not judged,
    `unjudged="negative"` counts it as a negative. With both, every function gives the figures of information retrieval,
    of queries that retrieve nothing, too.

    Graded relevance becomes truth by comparison: on polars `truth=pl.col("relevance") >= 1` in the call; on pandas
    `joined["relevant"] = joined["relevance"] >= 1` before it.

    Parameters
    ----------
    run : polars DataFrame or LazyFrame, pandas DataFrame
        The documents retrieved, with their scores; never changed.
    judgments : frame of the same kind
        The documents judged, with their relevance; never changed.
    on : str or list of str
        The columns that name a document in both frames, such as `["query", "document"]`. Two nulls are equal.
    by : str or list of str, optional
        The groups. Without it, the frame is one group.

    Returns
    -------
    Frame of the same kind
        The columns `by` and `on`, the run's others, the judgments' others. The rows of the run in their order, then
        those that only the judgments have, in theirs. On pandas the index is new.

    Raises
    ------
    ValueError
        A key stands in more than one row of a frame; a column is missing; both frames have another column of one name.
    TypeError
        The frames are of different kinds, or a column of `on` has different types in them.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "score": [2.0, 1.0]})
    >>> judgments = pl.DataFrame({"query": ["q", "q"], "document": ["c", "b"], "relevance": [1, 1]})
    >>> joined = fp.join_judgments(run, judgments, on=["query", "document"])
    >>> joined.rows()
    [('q', 'a', 2.0, None), ('q', 'b', 1.0, 1), ('q', 'c', None, 1)]
    >>> policies = {"unscored": "unretrieved", "unjudged": "negative"}
    >>> joined.pr.average_precision("relevance", "score", by="query", **policies).item(0, 1)  # (1/2 + 0) / 2
    0.25
    """
    keys, runs = listed("on", on), [] if by is None else plain("by", by)
    if not keys or any(isinstance(key, pl.Expr) for key in keys) or len(set(keys)) < len(keys):
        raise ValueError(f"on takes the names of columns that both frames have, each once; got {shown(on)}")
    if both := [name for name in runs if name in keys]:
        raise ValueError(f"by tells runs apart, and on names a document; column {shown(both[0])} is in both")
    run, judgments = read_stream(run), read_stream(judgments)
    kinds = find_kind(run), find_kind(judgments)
    if kinds[0] is None or type(kinds[0]) is not type(kinds[1]):
        found = [kind_of_value(frame) for frame in (run, judgments)]
        raise TypeError(
            "run and judgments must both be polars DataFrames, both LazyFrames, both pandas DataFrames or both Tables; "
            f"got {found[0]} and {found[1]}"
        )
    refuse_missing(runs, kinds[0].columns, "run", "by")
    columns = [_others(kinds[0], "run", keys, runs), _others(kinds[1], "judgments", keys)]
    if there := [name for name in runs if name in columns[1]]:
        raise ValueError(f"by names columns of the run alone, and the judgments have {shown(there[0])}: name it in on=")
    if clash := [name for name in columns[0] if name in columns[1]]:
        raise ValueError(
            f"run and judgments both have a column {examples(clash)} that is not in on: "
            "rename or drop it in one of them"
        )
    joined: Frame = _JOINS[type(kinds[0])](run, judgments, keys, columns, runs)
    return joined


def _others(kind: Any, which: str, keys: list[Any], runs: Sequence[Any] = ()) -> list[Any]:
    """The columns of a frame that are not keys."""
    refuse_missing(keys, kind.columns, which, "on")
    return [name for name in kind.columns if name not in keys and name not in runs]


def _join_lazy(
    run: pl.LazyFrame, judgments: pl.LazyFrame, keys: list[str], columns: list[list[str]], runs: list[str]
) -> pl.LazyFrame:
    # Under names of our own: the join makes some from those that it finds.
    on = {f"on{i}": name for i, name in enumerate(keys)}
    by = {f"by{i}": name for i, name in enumerate(runs)}
    others = [{f"{which}{i}": name for i, name in enumerate(names)} for which, names in zip("rj", columns, strict=True)]
    run, judgments = (
        frame.select(by_name(name).alias(ours) for ours, name in (on | mine).items())
        for frame, mine in zip((run, judgments), (by | others[0], others[1]), strict=True)
    )
    _refuse_types(on, run.collect_schema(), judgments.collect_schema())
    run = run.map_batches(_refuse_repeats("run", by | on), schema=run.collect_schema())
    judgments = judgments.map_batches(_refuse_repeats("judgments", on), schema=judgments.collect_schema())
    if by:
        run = run.cache()
        each = run.select(*by).unique(maintain_order=True)
        judgments = each.join(judgments, how="cross", maintain_order="left_right")
    # Else a full join has no order, least of all on the streaming engine.
    on = by | on
    joined = run.join(judgments, on=list(on), how="full", coalesce=True, nulls_equal=True, maintain_order="left_right")
    return joined.select(*on, *others[0], *others[1]).rename(on | others[0] | others[1])


def _join_eager(
    run: pl.DataFrame, judgments: pl.DataFrame, keys: list[str], columns: list[list[str]], runs: list[str]
) -> pl.DataFrame:
    return _join_lazy(run.lazy(), judgments.lazy(), keys, columns, runs).collect(engine="in-memory")


def _join_pandas(run: Any, judgments: Any, keys: list[Any], columns: list[list[Any]], runs: list[Any]) -> Any:
    import pandas as pd

    # polars says which rows stand together; pandas takes them, and every column keeps its dtype as far as it can.
    names, by = [str(key) for key in keys], [str(name) for name in runs]
    rows = [f"{'/'.join([*by, *names])}/{which}" for which in ("run", "judgments")]  # longer than any name among them
    frames = ((run, [*runs, *keys]), (judgments, keys))
    numbered = [from_pandas(frame, read).with_row_index(row) for (frame, read), row in zip(frames, rows, strict=True)]
    joined = _join_eager(numbered[0], numbered[1], names, [rows[:1], rows[1:]], by)
    only_judged = joined.filter(pl.col(rows[0]).is_null())[rows[1]].to_numpy()
    # An empty frame may have other dtypes, and pandas would warn of it.
    named = [part for part in (run[keys], judgments[keys].iloc[only_judged]) if len(part)] or [run[keys]]
    parts = [pd.concat(named, ignore_index=True)]
    if by:
        first = numbered[0].group_by(map(by_name, by)).agg(pl.col(rows[0]).first())
        told = joined.drop(rows).join(first, on=by, how="left", nulls_equal=True, maintain_order="left")
        parts.insert(0, run[runs].iloc[told[rows[0]].to_numpy()].set_axis(parts[0].index))
    for frame, row, others in zip((run, judgments), rows, columns, strict=True):
        places = joined[row].cast(pl.Int64).fill_null(-1).to_numpy()  # there is no row -1: it is filled with missing
        parts.append(frame[others].set_axis(range(len(frame))).reindex(places).set_axis(parts[0].index))
    return pd.concat(parts, axis=1)


def _join_arrow(run: Any, judgments: Any, keys: list[str], columns: list[list[str]], runs: list[str]) -> Any:
    tables = [ArrowFrame(table) for table in (run, judgments)]
    frames = [table.read(table.columns) for table in tables]
    joined = _join_eager(frames[0].collect(), frames[1].collect(), keys, columns, runs)
    of_run = tables[0].give(
        joined.lazy().select(map(by_name, [*runs, *keys, *columns[0]])), [*runs, *keys, *columns[0]]
    )
    of_judgments = tables[1].give(joined.lazy().select(map(by_name, columns[1])), columns[1])
    for name in columns[1]:
        of_run = of_run.append_column(of_judgments.schema.field(name), of_judgments.column(name))
    return of_run


_JOINS: dict[type[FrameKind[Any]], Callable[[Any, Any, list[Any], list[list[Any]], list[Any]], Any]] = {
    PolarsFrame: _join_eager,
    PolarsLazyFrame: _join_lazy,
    PandasFrame: _join_pandas,
    ArrowFrame: _join_arrow,
}


def _refuse_types(on: dict[str, str], run: pl.Schema, judgments: pl.Schema) -> None:
    for key, name in on.items():
        if judgments[key] != run[key]:
            raise TypeError(
                f"column {shown(name)} is {str(run[key])[:100]} in the run and {str(judgments[key])[:100]} in the "
                "judgments: cast one of them"
            )
        if run[key] == pl.Object:
            raise TypeError(f"on: column {shown(name)} is Object: make text or numbers of it before the call")


def _refuse_repeats(which: str, on: dict[str, str]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def check_keys(frame: pl.DataFrame) -> pl.DataFrame:
        repeated = frame.select(*on).filter(frame.select(*on).is_duplicated())
        if repeated.height:
            counts = repeated.group_by(list(on), maintain_order=True).len(name="times").rows()
            few = ", ".join(f"{shown(tuple(key))} {n} times" for *key, n in counts[:_EXAMPLES])
            names = ", ".join(on.values())
            values = counted(len(counts), f"value of ({names}) stands", f"values of ({names}) stand")
            way = ", or of several runs name the column that tells them apart, by=" if which == "run" else ""
            raise ValueError(f"in the {which}, {values} in more than one row, such as {few}: keep one row of each{way}")
        return frame

    return check_keys
