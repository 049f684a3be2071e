"""A ranked run and its judgments, joined: what was not retrieved and what was not judged marked by nulls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from frame_pr.callers import Frame
from frame_pr.checks import listed, refuse_missing
from frame_pr.pandas_frames import from_pandas, is_pandas

_EXAMPLES = 3  # keys shown in an error

Join = Callable[[Any, Any, list[Any], list[list[Any]]], Any]


def join_judgments(run: Frame, judgments: Frame, *, on: str | Sequence[str]) -> Frame:
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

    Returns
    -------
    Frame of the same kind
        The columns `on`, the run's others, the judgments' others. The rows of the run in their order, then those that
        only the judgments have, in theirs. On pandas the index is new.

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
    keys = listed("on", on)
    if not keys or any(isinstance(key, pl.Expr) for key in keys) or len(set(keys)) < len(keys):
        raise ValueError(f"on takes the names of columns that both frames have, each once; got {on!r}")
    join = _join_of(run, judgments)
    columns = [_columns(frame, which, keys) for frame, which in ((run, "run"), (judgments, "judgments"))]
    if clash := [name for name in columns[0] if name in columns[1]]:
        raise ValueError(
            f"run and judgments both have a column {', '.join(map(repr, clash))} that is not in on: "
            "rename or drop it in one of them"
        )
    joined: Frame = join(run, judgments, keys, columns)
    return joined


def _join_of(run: Any, judgments: Any) -> Join:
    if isinstance(run, pl.DataFrame) and isinstance(judgments, pl.DataFrame):
        return _join_eager
    if isinstance(run, pl.LazyFrame) and isinstance(judgments, pl.LazyFrame):
        return _join_lazy
    if is_pandas(run) and is_pandas(judgments):
        return _join_pandas
    found = [f"{type(frame).__module__.partition('.')[0]} {type(frame).__name__}" for frame in (run, judgments)]
    raise TypeError(
        "run and judgments must both be polars DataFrames, both LazyFrames or both pandas DataFrames; "
        f"got a {found[0]} and a {found[1]}"
    )


def _columns(frame: Any, which: str, keys: list[Any]) -> list[Any]:
    """The columns of a frame that are not in `on`."""
    names = list(frame.collect_schema() if isinstance(frame, pl.LazyFrame) else frame.columns)
    try:
        refuse_missing(keys, names)
    except ValueError as error:
        raise ValueError(f"{which}: {error}") from None
    return [name for name in names if name not in keys]


def _join_lazy(run: pl.LazyFrame, judgments: pl.LazyFrame, keys: list[str], columns: list[list[str]]) -> pl.LazyFrame:
    _refuse_types(run.select(keys).collect_schema(), judgments.select(keys).collect_schema())
    run = run.map_batches(_refuse_repeats("run", keys), schema=run.collect_schema())
    judgments = judgments.map_batches(_refuse_repeats("judgments", keys), schema=judgments.collect_schema())
    # Else a full join has no order, least of all on the streaming engine.
    joined = run.join(judgments, on=keys, how="full", coalesce=True, nulls_equal=True, maintain_order="left_right")
    return joined.select(*keys, *columns[0], *columns[1])


def _join_eager(run: pl.DataFrame, judgments: pl.DataFrame, keys: list[str], columns: list[list[str]]) -> pl.DataFrame:
    return _join_lazy(run.lazy(), judgments.lazy(), keys, columns).collect(engine="in-memory")


def _join_pandas(run: Any, judgments: Any, keys: list[Any], columns: list[list[Any]]) -> Any:
    import pandas as pd

    # polars says which rows stand together; pandas takes them, and every column keeps its dtype as far as it can.
    names = [str(key) for key in keys]
    rows = [f"{'/'.join(names)}/{which}" for which in ("run", "judgments")]  # longer than any name among them
    numbered = [from_pandas(frame, keys).with_row_index(row) for frame, row in zip((run, judgments), rows, strict=True)]
    joined = _join_eager(numbered[0], numbered[1], names, [rows[:1], rows[1:]])
    only_judged = joined.filter(pl.col(rows[0]).is_null())[rows[1]].to_numpy()
    # An empty frame may have other dtypes, and pandas would warn of it.
    named = [part for part in (run[keys], judgments[keys].iloc[only_judged]) if len(part)] or [run[keys]]
    parts = [pd.concat(named, ignore_index=True)]
    for frame, row, others in zip((run, judgments), rows, columns, strict=True):
        places = joined[row].cast(pl.Int64).fill_null(-1).to_numpy()  # there is no row -1: it is filled with missing
        parts.append(frame[others].set_axis(range(len(frame))).reindex(places).set_axis(parts[0].index))
    return pd.concat(parts, axis=1)


def _refuse_types(run: pl.Schema, judgments: pl.Schema) -> None:
    for key, dtype in run.items():
        if judgments[key] != dtype:
            raise TypeError(
                f"column {key!r} is {dtype} in the run and {judgments[key]} in the judgments: cast one of them"
            )


def _refuse_repeats(which: str, keys: list[str]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def checked(frame: pl.DataFrame) -> pl.DataFrame:
        repeated = frame.select(keys).filter(frame.select(keys).is_duplicated())
        if repeated.height:
            counts = repeated.group_by(keys, maintain_order=True).len().rows()
            shown = ", ".join(f"({', '.join(map(repr, key))}) {n} times" for *key, n in counts[:_EXAMPLES])
            raise ValueError(
                f"in the {which}, {len(counts)} ({', '.join(keys)}) stand in more than one row, such as {shown}: "
                "keep one row of each"
            )
        return frame

    return checked
