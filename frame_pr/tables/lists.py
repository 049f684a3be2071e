"""Turn lists of recommended and of relevant items into a row for each item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import check_choice, public
from frame_pr.frames.columns import column_name, column_names
from frame_pr.frames.dispatch import kind_of
from frame_pr.frames.kinds import Frame, lazily
from frame_pr.frames.messages import pluralize, shown
from frame_pr.inputs.values import type_of
from frame_pr.tables.named_columns import NamedColumns, read_columns


@public()
@lazily
def explode_lists(
    frame: Frame,
    truth: str,
    ranked: str | Sequence[str],
    *,
    by: str | Sequence[str],
    scores: str | Sequence[str] | None = None,
    gain: str | None = None,
    duplicates: Literal["raise", "miss", "drop"] = "raise",
) -> Frame:
    """Turn lists of ranked and of relevant items into scored rows, one row per item.

    Items that are relevant and not in the list are rows without a score, which
    `unscored="unretrieved"` counts and ranks nowhere. A row whose lists are both empty gives one
    row without an item, so that its group is counted, too.

    Lists of labels and scores, such as `[1, 0, 1]` and `[0.9, 0.8, 0.1]`, need only
    `frame.explode("truth", "score")`.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        A row for each user, query or basket. The frame is not changed.
    truth : str
        A column of lists of the relevant items, in any order; repeats count once.
    ranked : str or list of str
        A column of lists of items, the best first. Several give a column `system`.
    by : str or list of str
        The columns that identify a row: no two rows have the same values.
    scores : str or list of str, optional
        A column of lists of scores for each column of `ranked`. Without it, the first item of a
        list scores -1, the second -2, and so on.
    gain : str, optional
        A column of lists of gains, such as ratings, one for each item of `truth`. The result has
        them as `gain`, with 0 for all other items, and `gain="gain"` reads them in ndcg and others.
    duplicates : "raise", "miss" or "drop"
        Rule for an item that occurs twice in a list. "raise", the default: an error names it.
        "miss": the second occurrence keeps its rank and is a miss. "drop": the second occurrence is
        left out, and the items below it move up.

    Returns
    -------
    Frame of the same kind
        The frame's other columns, `system` if there are several, `item`, `score` (Int64, or that of
        `scores`; null where the list lacks the item), `truth` (Boolean), and `gain` if given. The
        rows of the frame in their order, each with its list, followed by the relevant items that
        are not in the list. On pandas the index is new.

    Raises
    ------
    ValueError
        A list is null or holds a null; an item stands twice in one; `scores` or `gain` has other
        lengths; two rows have the same `by` values; a column is missing, or named like one of the
        result.
    TypeError
        A column holds no lists, or lists of another type than the relevant items.

    See Also
    --------
    evaluate, join_judgments

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
    check_choice("duplicates", duplicates, ("raise", "miss", "drop"))
    systems = column_names("ranked", ranked)
    scored = [] if scores is None else column_names("scores", scores)
    if scored and len(scored) != len(systems):
        raise ValueError(
            f"scores has {len(scored)}, and ranked {len(systems)} columns: give one for each "
            "ranking"
        )
    # Our names are `truth`, `gain`, `ranked0`, `scores0`, `by0` and so on.
    columns: dict[str, tuple[str, Any]] = {"truth": ("truth", column_name("truth", truth))}
    new = ["item", "score", "truth"]
    if gain is not None:
        columns["gain"] = ("gain", column_name("gain", gain))
        new.append("gain")
    if not isinstance(ranked, str):
        new.insert(0, "system")
    several = {"ranked": systems, "scores": scored, "by": column_names("by", by)}
    for argument, names in several.items():
        columns |= {f"{argument}{i}": (argument, name) for i, name in enumerate(names)}

    kind = kind_of(frame)
    data, carried = read_columns(kind, columns, new)
    data = data.with_columns(cs.by_dtype(pl.Array).arr.to_list())
    item_lists = pl.List(_type_of_items(data.schema, columns))
    data = data.with_columns(pl.col("truth", "^ranked[0-9]+$").cast(item_lists))
    _validate_lists(data, columns)
    if duplicates == "raise":
        _refuse_repeated_items(data, columns)
    table = _rows_of(data.with_row_index("row"), list(map(str, systems)), duplicates)
    return kind.spread(table.select("row", *new), carried, new)


def _type_of_items(schema: pl.Schema, columns: NamedColumns) -> pl.DataType:
    """Return the dtype that all lists of items share."""
    types: dict[Any, pl.DataType] = {}
    for ours, (argument, name) in columns.items():
        dtype = schema[ours]
        if argument == "by":
            continue
        if not isinstance(dtype, pl.List):
            advice = "; split texts before the call, with str.split" if dtype == pl.String else ""
            raise TypeError(
                f"{argument} column {shown(name)} is {type_of(dtype)}: it must hold lists{advice}"
            )
        inner: Any = dtype.inner
        if inner == pl.Null:  # All lists are empty.
            continue
        if argument in ("truth", "ranked"):
            types[name] = inner
        elif not inner.is_numeric():
            raise TypeError(
                f"{argument} column {shown(name)} holds lists of {type_of(inner)}: make numbers "
                "of them"
            )
    if not types:
        return pl.String()
    first, shared = next(iter(types.items()))
    for name, inner in types.items():
        if inner != shared:
            raise TypeError(
                f"{shown(first)} holds lists of {type_of(shared)}, and {shown(name)} of "
                f"{type_of(inner)}: cast one of them to the type of the other, or no item is ever "
                "found; lists of labels and of their scores need "
                f"frame.explode({shown(first)}, {shown(name)})"
            )
    return shared


def _validate_lists(data: pl.DataFrame, columns: NamedColumns) -> None:
    """Raise if a list is missing or has another length, or if a key occurs twice."""
    for ours, (argument, name) in columns.items():
        if argument == "by":
            continue
        lists = data[ours]
        column = f"{argument} column {shown(name)}"
        # A score may be missing.
        values = lists if argument == "scores" else lists.explode(empty_as_null=False)
        nulls = values.null_count()
        if nulls:
            raise ValueError(
                f"{column} has {pluralize(nulls, 'null', 'nulls')}, as a list or inside one: take "
                "them out, drop these rows, or fill them with empty lists"
            )
        items = "truth" if argument == "gain" else ours.replace("scores", "ranked")
        others = int((lists.list.len() != data[items].list.len()).sum())
        if others:
            raise ValueError(
                f"{column} has lists of other lengths than {shown(columns[items][1])} in "
                f"{pluralize(others, 'row', 'rows')}: one number for each item"
            )
    keys = data.select("^by[0-9]+$")
    is_repeated = keys.is_duplicated()
    if is_repeated.any():
        raise ValueError(
            f"by names {_key(keys.filter(is_repeated))} in more than one row, and their lists "
            "would be one ranking: name another column, too, such as the visit"
        )


def _refuse_repeated_items(data: pl.DataFrame, columns: NamedColumns) -> None:
    """Raise if an item occurs twice in a ranked list."""
    for ours, (argument, name) in columns.items():
        if argument != "ranked":
            continue
        lists = data[ours]
        has_repeats = _has_repeats(lists)
        if has_repeats.any():
            first = lists.filter(has_repeats).head(1).explode(empty_as_null=False)
            item = first.filter(~first.is_first_distinct())[0]
            key = _key(data.select("^by[0-9]+$").filter(has_repeats))
            number = pluralize(int(has_repeats.sum()), "such list", "such lists")
            raise ValueError(
                f"ranked column {shown(name)} has {shown(item)} twice at {key} ({number}): "
                "duplicates='miss' counts the second as a miss, duplicates='drop' leaves it out"
            )


def _has_repeats(lists: pl.Series) -> pl.Series:
    """Return whether an item occurs twice in a list."""
    return lists.list.n_unique() < lists.list.len()


def _key(keys: pl.DataFrame) -> str:
    """Format the first of these keys."""
    return shown(keys.row(0) if keys.width > 1 else keys.item(0, 0))


def _rows_of(
    rows: pl.DataFrame,
    systems: Sequence[str],
    duplicates: str,
) -> pl.LazyFrame:
    """Return `row` and the new columns."""
    has_scores = "scores0" in rows.columns
    gain = rows.select("^gain$").columns
    parts = []
    for i, system in enumerate(systems):
        columns = {"ranked": f"ranked{i}"}
        if has_scores:
            columns["score"] = f"scores{i}"
        parts.append(rows.select("row", "truth", *gain, system=pl.lit(system), **columns))
    lists = pl.concat(parts, how="vertical_relaxed")
    if len(parts) > 1:
        lists = lists.sort("row", maintain_order=True)
    if not has_scores:
        if duplicates == "drop":
            lists = lists.with_columns(pl.col("ranked").list.unique(maintain_order=True))
        length = pl.col("ranked").list.len().cast(pl.Int64)
        lists = lists.with_columns(score=pl.int_ranges(-1, -1 - length, -1))
    lists = lists.with_row_index("list")

    # Without scores, repeats have left the lists.
    drops_repeats = duplicates == "drop" and has_scores
    ranked = _items_of(lists, "ranked", ["score"], is_set=drops_repeats)
    relevant = _items_of(lists, "truth", gain, is_set=True)
    hits = _hits(ranked, relevant)
    if duplicates == "miss":
        hits = hits.unique("relevant", keep="first", maintain_order=True)
    number = pl.repeat(None, ranked.height, dtype=hits["relevant"].dtype, eager=True)
    number = number.scatter(hits["ranked"], hits["relevant"])
    gains = (relevant[name].gather(number) for name in gain)
    is_missing = pl.repeat(True, relevant.height, eager=True)
    is_missing = is_missing.scatter(hits["relevant"], False)
    is_empty = pl.all_horizontal(pl.col("ranked", "truth").list.len() == 0)

    # The relevant items that are not in the ranked list come behind it. If both lists are empty,
    # the result has one row without an item.
    plans = [
        ranked.lazy().with_columns(*gains, truth=number.is_not_null()),
        relevant.lazy().filter(is_missing).with_columns(truth=True),
        lists.lazy().filter(is_empty).select("list", truth=False),
    ]
    table = pl.concat(plans, how="diagonal").sort("list", maintain_order=True)
    of_list = {name: pl.lit(lists[name]).gather("list") for name in ("row", "system")}
    return table.with_columns(cs.by_name(gain).fill_null(0), **of_list)


def _items_of(
    lists: pl.DataFrame,
    name: str,
    others: Sequence[str],
    *,
    is_set: bool,
) -> pl.DataFrame:
    """Return a row for each `item` of the lists. `is_set`: without those that repeat another."""
    items = lists.select("list", *others, item=name)
    items = items.explode(
        "item",
        *others,
        empty_as_null=False,
        keep_nulls=False,
    )
    if is_set and _has_repeats(lists[name]).any():
        items = items.unique(["list", "item"], keep="first", maintain_order=True)
    return items


def _hits(ranked: pl.DataFrame, relevant: pl.DataFrame) -> pl.DataFrame:
    """Return the row numbers `ranked`, in order, and `relevant` of equal items of a list.

    A search for hashes takes half the time of a search in each list, and of a join of all items.
    """
    item = pl.col("item")
    columns = ["list", "item", (item.hash() + pl.col("list")).alias("hash")]
    ranked = ranked.select(columns).with_row_index("ranked")
    relevant = relevant.select(columns).with_row_index("relevant")
    candidates = ranked.filter(pl.col("hash").is_in(relevant["hash"].implode()))
    pairs = candidates.join(
        relevant,
        on="hash",
        maintain_order="left",
    )
    return pairs.filter(
        pl.col("list") == pl.col("list_right"),
        item.eq_missing(pl.col("item_right")),
    )
