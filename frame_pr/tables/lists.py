"""Turn lists of recommended and of relevant items into a row for each item."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import polars as pl

from frame_pr.frames.arguments import one_of, public
from frame_pr.frames.columns import by_name, column_name, column_names, refuse_carried_as, refuse_repeats
from frame_pr.frames.kinds import Frame, kind_of
from frame_pr.frames.messages import pluralize, shown, warn
from frame_pr.inputs.values import type_of

_MANY = 10_000
"""From this many lists on, the streaming engine takes two thirds of the time. With several systems, whose lists are
sorted, it takes a third more."""
_LABELS = (
    "explode_lists takes lists of items, the relevant and the ranked ones; for lists of labels and of their scores, "
    "use frame.explode({truth}, {score})"
)
_EMPTY = "drop these rows, or fill them with empty lists"


class _Lists(NamedTuple):
    """The caller's names of the columns. The tables below call them `truth`, `ranked0`, `scores0`, `by0` and so on."""

    truth: str
    ranked: list[Any]
    scores: list[Any]
    by: list[Any]

    def internal_columns(self) -> dict[str, tuple[str, Any]]:
        """Return our name of each column, with the argument and the caller's name."""
        named = {"truth": ("truth", self.truth)}
        for argument, names in (("ranked", self.ranked), ("scores", self.scores), ("by", self.by)):
            named |= {f"{argument}{i}": (argument, name) for i, name in enumerate(names)}
        return named


@public()
def explode_lists(
    frame: Frame,
    truth: str,
    ranked: str | Sequence[str],
    *,
    by: str | Sequence[str],
    scores: str | Sequence[str] | None = None,
    duplicates: Literal["raise", "miss", "drop"] = "raise",
) -> Frame:
    """Turn lists of ranked and of relevant items into scored rows, one row per item.

    Items that are relevant and not in the list are rows without a score, which `unscored="unretrieved"` counts and
    ranks nowhere. A row whose lists are both empty gives one row without an item, so that its group is counted, too.

    Lists of labels and scores, such as `[1, 0, 1]` and `[0.9, 0.8, 0.1]`, need only `frame.explode("truth", "score")`.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        A row for each user, query or basket; never changed.
    truth : str
        A column of lists of the relevant items, in any order; repeats count once.
    ranked : str or list of str
        A column of lists of items, the best first. Several give a column `system`.
    by : str or list of str
        The columns that identify a row: no two rows have the same values.
    scores : str or list of str, optional
        A column of lists of scores for each column of `ranked`. Without it, the first item of a list scores -1, the
        second -2, and so on.
    duplicates : "raise", "miss" or "drop"
        Rule for an item that occurs twice in a list. "raise", the default: an error names it. "miss": the second
        occurrence keeps its rank and is a miss. "drop": the second occurrence is left out, and the items below it move
        up.

    Returns
    -------
    Frame of the same kind
        The frame's other columns, `system` if there are several, `item`, `score` (Int64, or that of `scores`; null
        where the list lacks the item) and `truth` (Boolean). The rows of the frame in their order, each with its list,
        and behind it the items that the list lacks. On pandas the index is new.

    Raises
    ------
    ValueError
        A list is null or holds a null; an item stands twice in one; `scores` has other lengths; two rows have one name;
        a column is missing, or named like one of the result.
    TypeError
        A column holds no lists, or lists of another type than the relevant items.

    See Also
    --------
    evaluate, success_at_k, join_judgments

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> lists = {"user": ["a", "b"], "relevant": [[2, 9], [7]], "shown": [[1, 2], [7, 8]]}
    >>> rows = fp.explode_lists(pl.DataFrame(lists), "relevant", "shown", by="user")
    >>> rows
    shape: (5, 4)
    ┌──────┬──────┬───────┬───────┐
    │ user ┆ item ┆ score ┆ truth │
    │ ---  ┆ ---  ┆ ---   ┆ ---   │
    │ str  ┆ i64  ┆ i64   ┆ bool  │
    ╞══════╪══════╪═══════╪═══════╡
    │ a    ┆ 1    ┆ -1    ┆ false │
    │ a    ┆ 2    ┆ -2    ┆ true  │
    │ a    ┆ 9    ┆ null  ┆ true  │
    │ b    ┆ 7    ┆ -1    ┆ true  │
    │ b    ┆ 8    ┆ -2    ┆ false │
    └──────┴──────┴───────┴───────┘
    >>> call = {"by": "user", "unscored": "unretrieved"}
    >>> rows.pr.evaluate(["precision@2", "recall@2"], "truth", "score", **call).rows()
    [('a', 0.5, 0.5), ('b', 0.5, 1.0)]
    """
    scored = [] if scores is None else column_names("scores", scores)
    lists = _Lists(column_name("truth", truth), column_names("ranked", ranked), scored, column_names("by", by))
    one_of("duplicates", duplicates, ("raise", "miss", "drop"))
    if lists.scores and len(lists.scores) != len(lists.ranked):
        raise ValueError(
            f"scores names {pluralize(len(lists.scores), 'column', 'columns')} for {len(lists.ranked)} of ranked: "
            "give one for each"
        )
    kind, columns = kind_of(frame), lists.internal_columns()
    for argument, name in columns.values():
        kind.refuse_missing([name], argument)
    refuse_repeats(columns.values())
    new = [*(["system"] if not isinstance(ranked, str) else []), "item", "score", "truth"]
    carried = [name for name in kind.columns if name not in (lists.truth, *lists.ranked, *lists.scores)]
    refuse_carried_as(new, carried)
    source = kind.read([name for _, name in columns.values()])
    source = source.select(by_name(name).alias(internal) for internal, (_, name) in columns.items())
    source = _with_lists(source, lists, expressions=kind.takes_expressions)
    check = partial(_validate_lists, lists=lists, repeats=duplicates != "raise")
    if kind.height is None:
        source = source.map_batches(check, schema=source.collect_schema()).cache()
    else:
        source = check(source.collect()).lazy()
    table = _rows_of(source.with_row_index("row"), lists, duplicates).select("row", *new)
    if kind.height is not None and kind.height >= _MANY and len(lists.ranked) == 1:
        table = table.collect(engine="auto").lazy()
    return kind.spread(table, carried, new)


def _with_lists(source: pl.LazyFrame, lists: _Lists, *, expressions: bool) -> pl.LazyFrame:
    """Return the rows with all lists as List, those of items with one dtype. `expressions`: for advice in an error."""
    schema = source.collect_schema()
    items: dict[str, pl.DataType] = {}
    for internal, (argument, name) in lists.internal_columns().items():
        dtype = schema[internal]
        if argument == "by":
            continue
        if not isinstance(dtype, (pl.List, pl.Array)):
            advice = "; split texts before the call, with str.split" if dtype == pl.String else ""
            raise TypeError(f"{argument} column {shown(name)} is {type_of(dtype)}: it must hold lists{advice}")
        if isinstance(dtype, pl.Array):
            source = source.with_columns(pl.col(internal).arr.to_list())
        inner: Any = dtype.inner
        if argument == "scores" and not (inner.is_numeric() or inner == pl.Null):
            raise TypeError(f"scores column {shown(name)} holds lists of {type_of(inner)}: make numbers of them")
        if argument != "scores" and inner != pl.Null:  # Null: all lists are empty, and the dtype says nothing.
            items[name] = inner
    first = next(iter(items), "")
    for name, dtype in items.items():
        if dtype != items[first]:
            lists_of = f"{shown(first)} holds lists of {type_of(items[first])}, and {shown(name)} of {type_of(dtype)}"
            if items[first] == pl.Boolean or dtype.is_float():
                raise TypeError(f"{lists_of}: {_LABELS.format(truth=shown(first), score=shown(name))}")
            wanted = pl.String() if items[first] == pl.String else dtype
            cast = f"pl.col({shown(name if wanted != dtype else first)}).cast(pl.List(pl.{wanted}))"
            advice = f"such as {cast}" if expressions else "by making all items text"
            raise TypeError(f"{lists_of}: cast one of them, {advice}, or no item is ever found")
    item_dtype = items[first] if items else pl.String()
    return source.with_columns(pl.col("truth", "^ranked[0-9]+$").cast(pl.List(item_dtype)))


def _validate_lists(data: pl.DataFrame, lists: _Lists, *, repeats: bool) -> pl.DataFrame:
    """Return the rows, and raise if a list is missing or a key occurs twice. `repeats`: whether items may repeat."""
    for internal, (argument, name) in lists.internal_columns().items():
        if argument == "by":
            continue
        column = f"{argument} column {shown(name)}"
        if missing := data[internal].null_count():
            raise ValueError(f"{column} has {missing} null of {pluralize(data.height, 'list', 'lists')}: {_EMPTY}")
        if argument != "scores" and (nulls := _exploded(data[internal]).null_count()):
            raise ValueError(
                f"{column} has {pluralize(nulls, 'null', 'nulls')} inside its lists: take them out, {_EMPTY}"
            )
    keys = [f"by{i}" for i in range(len(lists.by))]
    if (again := data.select(keys).is_duplicated()).any():
        key = data.filter(again).select(keys).row(0)
        raise ValueError(
            f"by names {shown(key if len(key) > 1 else key[0])} in more than one row, and their lists would be one "
            "ranking: name another column, too, such as the visit"
        )
    for i, name in enumerate(lists.ranked):
        ranked = data[f"ranked{i}"]
        if lists.scores and (other := int((ranked.list.len() != data[f"scores{i}"].list.len()).sum())):
            raise ValueError(
                f"scores column {shown(lists.scores[i])} has lists of other lengths than {shown(name)} in "
                f"{pluralize(other, 'row', 'rows')}: one score for each item"
            )
        if not repeats and (twice := ranked.list.n_unique() < ranked.list.len()).any():
            key = data.filter(twice).select(keys).row(0)
            items = ranked.filter(twice).head(1).explode(empty_as_null=False)
            item = items.filter(~items.is_first_distinct())[0]
            raise ValueError(
                f"ranked column {shown(name)} has {shown(item)} twice at {shown(key if len(key) > 1 else key[0])} "
                f"({pluralize(int(twice.sum()), 'such list', 'such lists')}): duplicates='miss' counts the second as a "
                "miss, duplicates='drop' leaves it out"
            )
        _warn_of_labels(data, i, lists)
    return data


def _warn_of_labels(data: pl.DataFrame, system: int, lists: _Lists) -> None:
    """Warn about lists that hold labels: repeated 0 and 1, as many as the ranked list has items."""
    truth, ranked = data["truth"], data[f"ranked{system}"]
    labels, items = (_exploded(column) for column in (truth, ranked))
    if not (labels.dtype.is_integer() and (truth.list.len() == ranked.list.len()).all()):
        return
    repeated = (truth.list.n_unique() < truth.list.len()).any()
    if repeated and labels.is_in([0, 1]).all() and not items.is_in([0, 1]).all():
        name = lists.ranked[system]
        warn(
            f"truth: column {shown(lists.truth)} holds lists of 0 and 1, as long as those of column {shown(name)}, "
            f"which look like labels; {_LABELS.format(truth=shown(lists.truth), score=shown(name))}"
        )


def _exploded(lists: pl.Series) -> pl.Series:
    return lists.explode(empty_as_null=False, keep_nulls=False)


def _rows_of(rows: pl.LazyFrame, lists: _Lists, duplicates: str) -> pl.LazyFrame:
    """Return `row` and the new columns. Lists are put in order before they are exploded: they are fewer than items."""
    parts = []
    for i in range(len(lists.ranked)):
        scores = [pl.col(f"scores{i}").alias("score")] if lists.scores else []
        parts.append(rows.select("row", "truth", *scores, ranked=f"ranked{i}", system=pl.lit(i, dtype=pl.UInt32)))
    table = pl.concat(parts, how="vertical_relaxed")
    table = table.sort("row", maintain_order=True) if len(parts) > 1 else table
    ranked, item, score = pl.col("ranked"), pl.col("item"), -1 - pl.col("place")
    # Items once, the relevant ones that are not in the ranked list at the end.
    once = ranked.list.concat("truth").list.unique(maintain_order=True)
    length, distinct = ranked.list.len(), ranked.list.n_unique()
    if duplicates == "drop" and not lists.scores:
        length = distinct
    elif duplicates != "raise":
        once = ranked.list.concat(once.list.slice(distinct))
    table = table.with_columns(item=once, length=length.cast(pl.Int64))
    table = table.with_columns(place=pl.int_ranges(item.list.len().cast(pl.Int64)))
    # If both lists are empty, the result has one row without an item.
    table = table.drop("ranked").explode("item", "place", empty_as_null=True, keep_nulls=False)
    # A search in a short list takes a fraction of the time of a join of all items.
    relevant = item.is_in("truth").fill_null(False)
    first = pl.struct("row", "system", "item").is_first_distinct()
    if lists.scores:
        score = pl.col("score").list.get(pl.col("place"), null_on_oob=True)
        table = table.filter(first) if duplicates == "drop" else table
    names = pl.lit(pl.Series(list(map(str, lists.ranked)), dtype=pl.String))
    return table.select(
        *("row", "item"),
        score=pl.when(pl.col("place") < pl.col("length")).then(score),
        truth=relevant & first if duplicates == "miss" else relevant,
        system=names.gather(pl.col("system")),
    )
