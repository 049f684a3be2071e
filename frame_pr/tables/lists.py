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
        A row for each user, query or basket; never changed.
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
        rows of the frame in their order, each with its list, and behind it the items that the list
        lacks. On pandas the index is new.

    Raises
    ------
    ValueError
        A list is null or holds a null; an item stands twice in one; `scores` or `gain` has other
        lengths; two rows have one name; a column is missing, or named like one of the result.
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
    # Our names are `truth`, `gain`, `ranked0`, `scores0`, `by0` and so on.
    columns: dict[str, tuple[str, Any]] = {"truth": ("truth", column_name("truth", truth))}
    columns |= {} if gain is None else {"gain": ("gain", column_name("gain", gain))}
    systems, scored = (
        column_names("ranked", ranked),
        [] if scores is None else column_names("scores", scores),
    )
    for argument, names in (
        ("ranked", systems),
        ("scores", scored),
        ("by", column_names("by", by)),
    ):
        columns |= {f"{argument}{i}": (argument, name) for i, name in enumerate(names)}
    if scored and len(scored) != len(systems):
        raise ValueError(
            f"scores has {len(scored)}, and ranked {len(systems)} columns: give one for each ranking"
        )
    new = ["item", "score", "truth", *([] if gain is None else ["gain"])]
    new = new if isinstance(ranked, str) else ["system", *new]
    kind = kind_of(frame)
    data, carried = read_columns(kind, columns, new)
    data = data.with_columns(cs.by_dtype(pl.Array).arr.to_list())
    data = data.with_columns(
        pl.col("truth", "^ranked[0-9]+$").cast(pl.List(_type_of_items(data.schema, columns)))
    )
    _validate_lists(data, columns, repeats=duplicates != "raise")
    table = _rows_of(data.with_row_index("row").lazy(), list(map(str, systems)), duplicates)
    return kind.spread(table.select("row", *new), carried, new)


def _type_of_items(schema: pl.Schema, columns: NamedColumns) -> pl.DataType:
    """Return the dtype that all lists of items share."""
    items: tuple[Any, pl.DataType] | None = None
    for ours, (argument, name) in columns.items():
        dtype, inner = schema[ours], getattr(schema[ours], "inner", pl.Null())
        if argument != "by" and not isinstance(dtype, pl.List):
            advised = "; split texts before the call, with str.split" if dtype == pl.String else ""
            raise TypeError(
                f"{argument} column {shown(name)} is {type_of(dtype)}: it must hold lists{advised}"
            )
        if argument in ("scores", "gain") and not (inner.is_numeric() or inner == pl.Null):
            raise TypeError(
                f"{argument} column {shown(name)} holds lists of {type_of(inner)}: make numbers of them"
            )
        if argument in ("truth", "ranked") and inner != pl.Null:  # Null: all lists are empty.
            first, shared = items = items or (name, inner)
            if inner != shared:
                raise TypeError(
                    f"{shown(first)} holds lists of {type_of(shared)}, and {shown(name)} of {type_of(inner)}: cast one "
                    "of them to the type of the other, or no item is ever found; lists of labels and of their scores "
                    f"need frame.explode({shown(first)}, {shown(name)})"
                )
    return items[1] if items else pl.String()


def _validate_lists(data: pl.DataFrame, columns: NamedColumns, *, repeats: bool) -> None:
    """Raise if a list is missing or a key occurs twice. `repeats`: whether items may repeat."""
    keys = data.select("^by[0-9]+$")
    for ours, (argument, name) in columns.items():
        if argument == "by":
            continue
        lists, column = data[ours], f"{argument} column {shown(name)}"
        # A score may be missing.
        if nulls := (
            lists if argument == "scores" else lists.explode(empty_as_null=False)
        ).null_count():
            raise ValueError(
                f"{column} has {pluralize(nulls, 'null', 'nulls')}, as a list or inside one: take them out, drop these "
                "rows, or fill them with empty lists"
            )
        items = "truth" if argument == "gain" else ours.replace("scores", "ranked")
        if other := int((lists.list.len() != data[items].list.len()).sum()):
            raise ValueError(
                f"{column} has lists of other lengths than {shown(columns[items][1])} in "
                f"{pluralize(other, 'row', 'rows')}: one number for each item"
            )
        if (
            argument == "ranked"
            and not repeats
            and (has_repeats := lists.list.n_unique() < lists.list.len()).any()
        ):
            first = lists.filter(has_repeats).head(1).explode(empty_as_null=False, keep_nulls=False)
            raise ValueError(
                f"{column} has {shown(first.filter(~first.is_first_distinct())[0])} twice at "
                f"{_key(keys.filter(has_repeats))} ({pluralize(int(has_repeats.sum()), 'such list', 'such lists')}): "
                "duplicates='miss' counts the second as a miss, duplicates='drop' leaves it out"
            )
    if (is_repeated := keys.is_duplicated()).any():
        raise ValueError(
            f"by names {_key(keys.filter(is_repeated))} in more than one row, and their lists would be one ranking: "
            "name another column, too, such as the visit"
        )


def _key(keys: pl.DataFrame) -> str:
    """Format the first of these keys."""
    return shown(keys.row(0) if keys.width > 1 else keys.item(0, 0))


def _rows_of(rows: pl.LazyFrame, systems: Sequence[str], duplicates: str) -> pl.LazyFrame:
    """Return `row` and the new columns. Lists are put in order before they are exploded: they are fewer than items."""
    has_scores = "scores0" in rows.collect_schema()
    parts = []
    for i, name in enumerate(systems):
        lists = {"ranked": f"ranked{i}", "score": f"scores{i}" if has_scores else None}
        parts.append(rows.select("row", "truth", system=pl.lit(name, pl.Enum(systems)), **lists))
    table = pl.concat(parts, how="vertical_relaxed")
    table = table.sort("row", maintain_order=True) if len(parts) > 1 else table
    ranked, item, score = pl.col("ranked"), pl.col("item"), -1 - pl.col("place")
    if duplicates == "drop" and not has_scores:
        table = table.with_columns(ranked.list.unique(maintain_order=True))
    # The relevant items that are not in the ranked list come behind it.
    once = ranked.list.concat("truth").list.unique(maintain_order=True)
    items = (
        ranked.list.concat(once.list.slice(ranked.list.n_unique()))
        if duplicates != "raise"
        else once
    )
    table = table.with_columns(item=items, length=ranked.list.len().cast(pl.Int64))
    table = table.with_columns(place=pl.int_ranges(item.list.len().cast(pl.Int64)))
    # If both lists are empty, the result has one row without an item.
    table = table.drop("ranked").explode("item", "place", empty_as_null=True, keep_nulls=False)
    # A search in a short list takes a fraction of the time of a join of all items.
    relevant = item.is_in("truth").fill_null(False)
    first = pl.struct("row", "system", "item").is_first_distinct()
    if has_scores:
        score = pl.col("score").list.get(pl.col("place"), null_on_oob=True)
        table = table.filter(first) if duplicates == "drop" else table
    table = table.select(
        *("row", "item"),
        score=pl.when(pl.col("place") < pl.col("length")).then(score),
        truth=relevant & first if duplicates == "miss" else relevant,
        system=pl.col("system").cast(pl.String),
    )
    if "gain" in rows.collect_schema():
        gains = rows.select("row", "gain", item="truth").explode(
            "item", "gain", empty_as_null=False, keep_nulls=False
        )
        gains = gains.unique(["row", "item"], keep="first", maintain_order=True)
        table = table.join(gains, on=["row", "item"], how="left", maintain_order="left")
        table = table.with_columns(gain=pl.when("truth").then("gain").otherwise(0))
    return table
