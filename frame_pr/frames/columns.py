"""Validate names of columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, KeysView, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import refuse_set, scalar, unquoted
from frame_pr.frames.messages import did_you_mean, examples, kind_of_value, nearest, shown


def by_name(name: Any) -> pl.Expr:
    """Refer to a column by its literal name: `polars.col` reads `*` and `^...$` as patterns."""
    return cs.by_name(str(name)).as_expr()


def root_names(*formulas: Iterable[pl.Expr]) -> list[str]:
    """Return the names of the columns that formulas read, each of them once."""
    names = (name for formula in chain(*formulas) for name in formula.meta.root_names())
    return list(dict.fromkeys(names))


def refuse_missing(
    names: Sequence[Any],
    available: Sequence[Any],
    frame: str = "frame",
    argument: str = "",
) -> None:
    """Check that every column exists; otherwise suggest the nearest names.

    `frame`: what messages call the frame.
    """
    for name in names:
        if isinstance(name, pl.Expr) or name in available:
            continue
        text = str(name)
        near = nearest(text, available, cutoff=0.6)
        if not near and len(text) > 1:
            near = [column for column in available if str(column).startswith(text)][:3]
        hint = did_you_mean(near) if near else f"columns: {examples(available) or 'none'}"
        if argument in ("threshold", "prevalence") and unquoted(name):
            hint = unquoted(name).removeprefix(": ")
        place = f"{argument}: " if argument else ""
        raise ValueError(f"{place}no column {shown(name)} in the {frame}; {hint}")


def has_keys(names: Any) -> bool:
    """Return whether an argument, such as `by`, names anything."""
    return not (names is None or (isinstance(names, (list, tuple)) and not names))


def listed(argument: str, value: Any) -> list[Any]:
    """Return one column or several as a list."""
    value = scalar(value)
    refuse_set(argument, value)
    # Names of pandas columns may be numbers; a list of numpy numbers becomes a list of Python
    # numbers.
    is_list = isinstance(value, (list, tuple, range, Iterator, KeysView))
    items = list(map(scalar, value)) if is_list else [value]
    for item in items:
        expected = "the name of a column, or several"
        _check_name(argument, item, expected, "the names of the columns as a list")
    return items


def column_names(argument: str, value: Any) -> list[Any]:
    """Validate names of columns, each of them once, for an argument that accepts no expression."""
    names = listed(argument, value)
    if not names:
        raise ValueError(f"{argument} names no column: give at least one")
    if any(isinstance(name, pl.Expr) for name in names):
        raise TypeError(
            f"{argument} takes names of columns, no expressions: with_columns(...) gives one a name"
        )
    refuse_repeats((argument, name) for name in names)
    return names


def column_name(argument: str, value: Any) -> Any:
    """Validate the name of one column, for an argument that accepts no expression."""
    refuse_several(argument, value)
    return column_names(argument, [value])[0]


def refuse_several(argument: str, value: Any) -> None:
    """Check that an argument names one column, or is an expression, and not values of a column."""
    # A number of numpy is the name of a column, and an array without dimensions is none.
    if isinstance(value, Hashable):
        value = scalar(value)
    _check_name(argument, value, "the name of one column", "the name alone")


def _check_name(
    argument: str,
    value: Any,
    expected: str,
    of_mapping: str,
) -> None:
    """Validate an expression or a name, which in pandas may also be a number, a date or a tuple."""
    # Inspect the type only: a LazyFrame resolves its plan, and warns, if its attributes are read.
    kind = type(value)
    if issubclass(kind, (str, pl.Expr)):
        return
    has_dtype = hasattr(kind, "dtype") or hasattr(kind, "dtypes")
    is_grouper = kind.__name__.endswith("Grouper")
    sentences = {
        ": withColumn gives it a name": kind.__module__.startswith("pyspark."),
        f": give {of_mapping}": isinstance(value, Mapping),
        ": finish it with .then(...).otherwise(...)": kind.__name__ in ("When", "ChainedWhen"),
        ": add it to the frame and give its name": has_dtype or is_grouper,
    }
    advice = next((advice for advice, applies in sentences.items() if applies), "")
    if advice or is_no_value(value) or isinstance(value, (bool, bytes)) or callable(value):
        text = shown(value) if isinstance(value, Hashable) else kind_of_value(value)
        raise TypeError(f"{argument} takes {expected}; got {text}{advice}")


def is_no_value(value: Any) -> bool:
    """Return whether a value is missing, as NaN or pandas.NA, or unhashable, as a list."""
    if isinstance(value, str):
        return False
    # By the text: a comparison with pandas.NA has no truth value.
    return not isinstance(value, Hashable) or str(value) in ("None", "nan", "NaT", "<NA>")


def refuse_repeats(items: Iterable[tuple[str, Any]]) -> None:
    """Check that no column is passed for two arguments. `items`: arguments with their columns."""
    arguments: dict[Any, str] = {}
    for argument, item in items:
        if isinstance(item, pl.Expr):
            continue
        if item in arguments:
            first = arguments[item]
            place = f", to {first}= and to {argument}="
            if argument == first:
                place = f" in {argument}"
            raise ValueError(f"column {shown(item)} is given twice{place}: name it once")
        arguments[item] = argument


_IS_A_RESULT = "by column {} is named like a result column: rename it before the call"


def refuse_clash(
    keys: Iterable[str],
    columns: Iterable[Any],
    problem: str = _IS_A_RESULT,
) -> None:
    """Check that no key has the name of a result column. `problem`: the message, of other names."""
    existing = set(columns)
    for name in keys:
        if name in existing:
            raise ValueError(problem.format(shown(name)))


def refuse_existing(new: Iterable[str], columns: Sequence[Any]) -> None:
    """Check that no new column has the name of an existing one."""
    refuse_clash(
        new,
        columns,
        "the frame has a column {} already: prefix= puts something before the new names",
    )


def selected_names(source: pl.LazyFrame, item: Any) -> list[str]:
    """Return the columns that are selected unchanged, by name or by selector."""
    if not isinstance(item, pl.Expr):
        return [str(item)]
    # The function that reads the columns has the error for one that is missing.
    with suppress(pl.exceptions.ColumnNotFoundError):
        if item.meta.is_column_selection():
            return source.select(item).collect_schema().names()
    return []


def needed(source: pl.LazyFrame, columns: Iterable[Any]) -> list[str]:
    """Return these columns and the roots of expressions; all columns if roots are not named."""
    used: dict[str, None] = {}
    for column in columns:
        names = selected_names(source, column) or column.meta.root_names()
        if not names and column.meta.has_multiple_outputs():
            return source.collect_schema().names()
        used |= dict.fromkeys(names)
    return list(used)


def map_whole(
    table: pl.LazyFrame,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: Any = None,
) -> pl.LazyFrame:
    """Map a function over the whole table: no rows or columns are dropped before it."""
    return table.map_batches(
        function,
        schema=schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


def stacked(
    table: pl.LazyFrame,
    keys: Sequence[pl.Expr],
    rows: Sequence[Mapping[str, pl.Expr]],
) -> pl.LazyFrame:
    """Stack several rows for each row of a table."""
    # One list per column: a list of structs takes ten times as long.
    columns = {name: pl.concat_list(row[name] for row in rows) for name in rows[0]}
    return table.select(*keys, **columns).explode(*columns, empty_as_null=False)
