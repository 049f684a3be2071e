"""What the caller gave -> canonical rows, and the way back to a frame of the caller's kind.

Everything a caller can get wrong about columns is caught here, by name: by schema at once, by content before anything
is computed (on a LazyFrame: when it is collected).
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import polars as pl
import polars.selectors as cs

from frame_pr.groups import Restore, coded

if TYPE_CHECKING:
    import pandas as pd

Frame = TypeVar("Frame", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame")
"""The caller's kind of frame: what goes in comes out."""

Column: TypeAlias = str | pl.Expr
Columns: TypeAlias = Column | Sequence[Column]

_EXAMPLES = 5  # values shown in an error


class Caller(NamedTuple, Generic[Frame]):
    """The caller's frame, and the ways back to its kind."""

    frame: pl.LazyFrame
    columns: list[Any]
    lazy: bool
    """Whether it is for the caller to collect."""
    give: Callable[[pl.LazyFrame], Frame]
    """A result, as the caller's kind of frame."""
    give_beside: Callable[[pl.LazyFrame, list[str]], Frame]
    """The caller's own rows, with these columns of a table that carries them at their right."""


@dataclass(frozen=True)
class Rows(Generic[Frame]):
    """Canonical rows: `group` (Int64), `truth` (Boolean), `score`; and the way back to the caller's keys and frame."""

    frame: pl.LazyFrame
    score_dtype: pl.DataType
    keys: tuple[str, ...]
    restore: Restore
    caller: Caller[Frame]

    def result(self, table: pl.LazyFrame, columns: Sequence[str]) -> Frame:
        """The keys, then these columns of a table that has a `group`, as a frame of the caller's kind."""
        for name in self.keys:
            if name in columns:
                raise ValueError(f"by column {name!r} is named like a result column: rename it before the call")
        return self.caller.give(self.restore(table).select(*self.keys, *columns))

    def beside(self, table: pl.LazyFrame, on: str, columns: Sequence[str], prefix: str) -> Frame:
        """The caller's rows, in their order, each with these columns of the row of the table that it matches."""
        new = {prefix + name: name for name in columns}
        for name in new:
            if name in self.caller.columns:
                raise ValueError(
                    f"the frame has a column {name!r} already: prefix= puts something before the new names"
                )
        table = table.select(on, **{name: pl.col(column) for name, column in new.items()})
        return self.caller.give_beside(self.frame.join(table, on=on, how="left", maintain_order="left"), list(new))


def rows_of(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    predicted: bool = False,
    carry: bool = False,
) -> Rows[Frame]:
    """Check a frame and bring it into canonical form; a list of scores becomes a last key, `system`.

    `predicted`: the scores are predicted classes, and become 1 and 0. `carry`: a column `row` holds the caller's row.
    """
    key_items = [] if by is None else _listed("by", by)
    score_items = _listed("score", score)
    if not score_items:
        raise ValueError("score names no column: give the name of the score column, or a list of names")
    _refuse_repeats([*key_items, truth, *score_items])
    caller = _caller(frame, [*key_items, truth, *score_items])
    source = caller.frame
    keys = _expanded(source, "by", key_items)
    scores = _expanded(source, "score", score_items)
    truths = _expanded(source, "truth", [truth])
    if len(truths) != 1:
        raise ValueError(f"truth gives {len(truths)} columns: it must be one")
    (truth_name,) = truths
    several = not isinstance(score, str) and (cs.is_selector(score) or not isinstance(score, pl.Expr))
    if several and carry:
        raise ValueError(f"score gives {len(scores)} columns: metric columns beside the rows take one score at a time")
    if several and "system" in keys:
        raise ValueError("by column 'system' is named like a result column: rename it before the call")

    key_columns = [f"by{i}" for i in range(len(keys))]
    score_columns = [str(i) for i in range(len(scores))]
    names = [*key_columns, "truth", *score_columns]
    expressions = [*keys.values(), *truths.values(), *scores.values()]
    columns = [e.alias(name) for name, e in zip(names, expressions, strict=True)]
    source = source.select(*columns, *([pl.struct(pl.all()).alias("row")] if carry else []))
    schema = source.collect_schema()
    canonical = [_is_positive("truth", truth_name, schema["truth"], positive)]
    for column, name in zip(score_columns, scores, strict=True):
        if predicted:
            canonical.append(_is_positive(column, name, schema[column], positive).cast(pl.Int8))
        elif not schema[column].is_numeric():
            raise TypeError(f"score column {name!r} is {schema[column]}: it must be numeric, higher ranking earlier")

    def checked(data: pl.DataFrame) -> pl.DataFrame:
        _check_labels("truth", truth_name, data["truth"], positive)
        for column, name in zip(score_columns, scores, strict=True):
            if predicted:
                _check_labels("prediction", name, data[column], positive)
            else:
                _check_score(name, data[column])
        return data

    source = source.map_batches(checked, schema=schema) if caller.lazy else checked(source.collect()).lazy()
    rows, restore = coded(source.with_columns(canonical), key_columns, in_memory=not caller.lazy, in_order=carry)
    if several:
        rows = rows.unpivot(on=score_columns, index=["group", "truth"], variable_name="system", value_name="score")
        rows = rows.with_columns(group=pl.col("group") * len(scores) + pl.col("system").cast(pl.Int64)).drop("system")
        restore = _with_system(restore, list(scores))
    else:
        rows = rows.rename({"0": "score"})

    def restore_names(table: pl.LazyFrame) -> pl.LazyFrame:
        return restore(table).rename(dict(zip(key_columns, keys, strict=True)))

    labels = (*keys, "system") if several else tuple(keys)
    return Rows(rows, rows.collect_schema()["score"], labels, restore_names, caller)


def _with_system(restore: Restore, systems: list[str]) -> Restore:
    """Undo the stacking of several scores: the code is that of the group times the number of systems, plus a system."""
    group = pl.col("group")
    system = pl.lit(pl.Series(systems)).gather(group % len(systems))
    return lambda table: restore(table.with_columns(system=system, group=group // len(systems)))


def _listed(argument: str, value: Any) -> list[Any]:
    items = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, pl.Expr)) else [value]
    for item in items:
        if item is None or isinstance(item, (pl.Series, dict)):
            raise TypeError(f"{argument} takes the name of a column, or several; got {item!r}")
    return items


def _refuse_repeats(items: Sequence[Any]) -> None:
    names = [item for item in items if not isinstance(item, pl.Expr)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} is given twice: by, truth and score are all different columns")


def _caller(frame: Frame, items: Sequence[Any]) -> Caller[Any]:
    names = [item for item in items if not isinstance(item, pl.Expr)]
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        columns = frame.collect_schema().names()
        _refuse_missing(names, columns)
        row = pl.col("row").struct.field(*columns)
        if isinstance(frame, pl.LazyFrame):
            return Caller(frame, columns, True, lambda table: table, lambda table, new: table.select(row, *new))
        return Caller(
            frame.lazy(), columns, False, pl.LazyFrame.collect, lambda table, new: table.select(row, *new).collect()
        )
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        from frame_pr.pandas_frames import beside, from_pandas, to_pandas

        if len(names) < len(items):
            raise TypeError("polars expressions work on polars frames: on pandas, give column names")
        _refuse_missing(names, list(frame.columns))
        return Caller(
            from_pandas(frame, names).lazy(),
            list(frame.columns),
            False,
            lambda table: to_pandas(table.collect(), like=frame),
            lambda table, new: beside(frame, table.select(new).collect()),
        )
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
    if "groupby" in kind.lower():
        raise TypeError(f"got a {kind}: give the frame itself, and the grouping columns as by=[...]")
    raise TypeError(
        f"expected a polars DataFrame or LazyFrame or a pandas DataFrame, got a {kind}: "
        "polars.DataFrame(frame) converts most other frames"
    )


def _refuse_missing(names: Sequence[Any], available: Sequence[Any]) -> None:
    for name in names:
        if name not in available:
            near = difflib.get_close_matches(str(name), [str(column) for column in available], n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"columns: {_examples(available)}"
            raise ValueError(f"no column {name!r} in the frame; {hint}")


def _expanded(source: pl.LazyFrame, argument: str, items: Sequence[Any]) -> dict[str, pl.Expr]:
    """Column names with their expressions, selectors written out."""
    found: dict[str, pl.Expr] = {}
    for item in items:
        if not isinstance(item, pl.Expr):
            names, expressions = [str(item)], [pl.col(str(item))]
        else:
            try:
                names = source.select(item).collect_schema().names()
            except pl.exceptions.PolarsError as error:
                raise ValueError(f"{argument}: this expression does not fit the frame: {error}") from None
            expressions = [item] if len(names) == 1 else [pl.col(name) for name in names]
        for name, expression in zip(names, expressions, strict=True):
            if name in found:
                raise ValueError(f"{argument} gives column {name!r} twice")
            found[name] = expression
    return found


def _is_positive(column: str, name: str, dtype: pl.DataType, positive: object) -> pl.Expr:
    label = pl.col(column)
    if positive is not None:
        try:
            pl.DataFrame(schema={column: dtype}).select(label == pl.lit(positive))
        except (pl.exceptions.PolarsError, TypeError, ValueError):
            raise TypeError(f"positive={positive!r} cannot be a value of column {name!r}, which is {dtype}") from None
        return label == pl.lit(positive)
    if dtype == pl.Boolean:
        return label
    if not dtype.is_numeric():
        raise TypeError(f"column {name!r} is {dtype}, neither boolean nor 0/1: name its positive label, positive=...")
    return label != 0


def _check_labels(argument: str, name: str, labels: pl.Series, positive: object) -> None:
    missing = labels.null_count() + (int(labels.is_nan().sum()) if labels.dtype.is_float() else 0)
    if missing:
        raise ValueError(
            f"{argument} column {name!r} has {missing} missing of {len(labels)} values (null or NaN): "
            "drop these rows, or fill them, before the call"
        )
    if positive is None:
        if labels.dtype != pl.Boolean and ((labels != 0) & (labels != 1)).any():
            raise ValueError(
                f"{argument} column {name!r} is neither boolean nor 0/1, it holds {_examples(labels.unique().sort())}: "
                "name its positive label, positive=..."
            )
    elif argument == "truth" and len(labels) and not (labels == positive).any():
        raise ValueError(
            f"{argument} column {name!r} has no {positive!r}, it holds {_examples(labels.unique().sort())}"
        )


def _check_score(name: str, score: pl.Series) -> None:
    nulls, nans = score.null_count(), int(score.is_nan().sum()) if score.dtype.is_float() else 0
    if nulls + nans:
        raise ValueError(
            f"score column {name!r} has {nulls + nans} missing of {len(score)} values ({nulls} null, {nans} NaN): "
            "drop these rows, or fill them, before the call"
        )
    if score.dtype in (pl.Int128, pl.UInt128, pl.Decimal):
        whole = score.reinterpret(dtype=pl.Int128) if score.dtype == pl.Decimal else score
        if not whole.is_between(1 - 2**63, 2**63 - 1).all():
            raise ValueError(
                f"score column {name!r} ({score.dtype}) has values of more than 63 bits: cast it to Float64"
            )


def _examples(values: Iterable[Any]) -> str:
    listed = [repr(value) for value in values]
    return ", ".join(listed[:_EXAMPLES]) + (f" and {len(listed) - _EXAMPLES} more" if len(listed) > _EXAMPLES else "")
