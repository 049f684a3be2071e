"""The backend for Ibis tables: the database counts equal rows or sends the used columns, and polars does the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from math import isinf
from typing import Any, NamedTuple, NoReturn, cast

import polars as pl

from frame_pr.frames.messages import first_line, shown
from frame_pr.functions.tallies import Bins, bin_edges
from frame_pr.inputs.request import Request
from frame_pr.inputs.values import type_of
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.means import Means
from frame_pr.parts.backends import Remote
from frame_pr.parts.part_query import PartQuery, places

try:
    import ibis
    import pyarrow as pa
except ImportError as error:
    raise ImportError('frame_pr.ibis needs ibis-framework and pyarrow: pip install "frame-pr[ibis]"') from error

_SHARE = 0.01  # The share of the rows that are in a sample.
# Two columns next to those of a part, which are named by their places: the number of equal rows, and a text as bytes.
_NUMBER = "number"
_BYTES = "bytes"


def _sql_function(name: str, like: Callable[..., None], result: str = "binary") -> Callable[..., Any]:
    """Declare a function of the database that Ibis does not have. Its arguments are texts, as many as `like` has."""
    texts = ("string",) * like.__code__.co_argcount
    return cast(Callable[..., Any], ibis.udf.scalar.builtin(like, name=name, signature=(texts, result)))


# These functions return the bytes of a text on DuckDB, PostgreSQL and Snowflake. A cast to binary would read escapes or
# hexadecimal digits there. On PostgreSQL, `concat` turns an enum into a text.
_encode = _sql_function("encode", lambda text: None)
_convert_to = _sql_function("convert_to", lambda text, encoding: None)
_concat = _sql_function("concat", lambda text: None, "string")
_to_binary = _sql_function("to_binary", lambda text, encoding: None)


class Database(NamedTuple):
    """How the SQL and the results of a database differ from those of others."""

    as_bytes: Callable[[Any], Any] | None = None
    """Return the bytes of a text. None if the database compares texts by their bytes, whatever their collation."""
    largest_tally: float = 1 / 3
    """Count rows in the database if the tally has at most this share of the rows.

    The share is smaller if the database runs in this process, because no row then crosses a network.
    """
    has_nan: bool = True
    keeps_whole_numbers: bool = True
    """Whether Ibis returns a column of integers and nulls as integers. From SQLite, it returns floats."""


def _cast_to_binary(text: Any) -> Any:
    return text.cast("binary")


_DATABASES: Mapping[str, Database] = {
    "bigquery": Database(_cast_to_binary),
    "databricks": Database(_cast_to_binary),
    "datafusion": Database(largest_tally=0.1),
    "duckdb": Database(_encode, largest_tally=0.1),
    "mssql": Database(_cast_to_binary),
    "mysql": Database(_cast_to_binary),
    "polars": Database(largest_tally=0.1),
    "postgres": Database(lambda text: _convert_to(_concat(text), "UTF8")),
    "pyspark": Database(_cast_to_binary),
    "snowflake": Database(lambda text: _to_binary(text, "UTF-8")),
    "sqlite": Database(_cast_to_binary, largest_tally=0.1, has_nan=False, keeps_whole_numbers=False),
}
"""The databases by the name of their Ibis backend. Other databases get the defaults of the record."""


class IbisFrame(Remote):
    """An Ibis table: a table of a database, a view, or a query."""

    frame_type = ibis.Table
    name = "table of Ibis"
    functions = "evaluate, report, tally and the functions of single metrics"
    in_memory = "its .to_polars()"
    tally_in_memory = "run.pr.tally(...).to_polars()"
    new_column = "run.mutate(name=...)"
    place = "a database"
    order = "a database has no order"

    def __init__(self, frame: ibis.Table) -> None:
        self.frame: Any = frame

    @property
    def _database(self) -> Database:
        with suppress(ibis.IbisError):  # A table without a connection, such as one for to_sql, has no backend.
            return _DATABASES.get(self.frame.get_backend().name, Database())
        return Database()

    def columns(self) -> list[str]:
        """Return the names of its columns."""
        return list(self.frame.columns)

    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return these columns without rows. The schema is known, so no query runs."""
        schema = _sendable(self._placed(columns)).schema()
        for column, dtype in zip(columns, schema.types, strict=True):
            try:
                if dtype.is_interval():
                    raise NotImplementedError
                ibis.schema({"": dtype}).to_pyarrow()
            except (NotImplementedError, KeyError):
                raise TypeError(
                    f"column {shown(column)} is {dtype}, which Ibis cannot send: cast it before the call, such as "
                    "run.mutate(name=run.name.cast('string'))"
                ) from None
        return pl.DataFrame(schema.to_pyarrow().empty_table())

    def evaluate(
        self, request: Request, named: Mapping[str, str], means: Means | None, undefined: float | None
    ) -> pl.DataFrame:
        """Compute metrics per group from one statement, which follows one on a sample."""
        call = self._call(request, named, undefined)
        empty = self.empty(call.columns())
        call.of_groups(empty, means)  # Wrong names and types are an error before a query runs.
        call, rows = self._fetched(call, empty)
        if call.request.positive is not None:
            call.refuse_label(rows.select(**call.labels(rows.schema)))
        return call.of_groups(rows, means, all_groups=True)

    def tally(self, request: Request, bins: Bins | None) -> Any:
        """Return the number of equal rows as an Ibis table. No statement runs."""
        if isinstance(bins, int):
            raise ValueError(
                f"bins={bins}: edges in a database are the same for all groups, bins=[0, 0.1, ...]; for a number "
                "of bins, tally twice: run.pr.tally(...).to_polars(), then tally with bins= and count='count'"
            )
        call = self._call(request, {}, None)
        empty = self.empty(call.columns())
        names = call.of_equal_rows(empty, bins).columns[:-1]
        rows = self._placed(call.columns())
        place = {name: str(i) for i, name in enumerate(call.columns())}
        if bins is not None:
            for name in call.scores:
                rows = rows.mutate(**{place[name]: self._edges_reached(name, rows[place[name]], bins, call.request)})
        count = call.request.single.get("count")
        number = rows.count() if count is None else rows[place[str(count)]].sum()
        table = self._count_equal_rows(rows, [place[name] for name in names], number)
        table = table if count is None else table.filter(table[_NUMBER] > 0)
        return table.select(**{name: table[place[name]] for name in names}, count=table[_NUMBER])

    def with_metrics(
        self, request: Request, named: Mapping[str, str], prefix: str, undefined: float | None
    ) -> NoReturn:
        """Refuse: the rows stay in the database."""
        raise TypeError(
            "with_metrics returns all rows, but the rows stay in the database: join the metrics there, "
            "run.join(ibis.memtable(run.pr.evaluate(...)), by); the join leaves out rows with a null key"
        )

    def _call(self, request: Request, named: Mapping[str, str], undefined: float | None) -> PartQuery:
        self.refuse_tally(request, lambda rows: self._rows(self.frame.limit(rows), self.columns()))
        return super()._call(request, named, undefined)

    def _placed(self, columns: Sequence[str], frame: Any = None) -> Any:
        """Select these columns and name them by their places, because some databases change names."""
        frame = self.frame if frame is None else frame
        return frame.select(**{place: frame[column] for place, column in zip(places(columns), columns, strict=True)})

    def _fetched(self, call: PartQuery, empty: pl.DataFrame) -> tuple[PartQuery, pl.DataFrame]:
        """Fetch the rows of the call or their tally. Return the call to run on them, and the rows."""
        columns, counting = call.columns(), call.counting()
        rows = self._placed(columns)
        if counting is not None:
            # Put the counts where the counting call expects them.
            place = {name: str(i) for i, name in enumerate(columns)}
            order = [place.get(name, _NUMBER) for name in counting.columns()]
            if _takes_counts(counting, empty, order) and self._is_tally_small(columns):
                table = self._count_equal_rows(rows, rows.columns, rows.count())
                table = table.select(**{new: table[old] for new, old in zip(places(order), order, strict=True)})
                return counting, self._rows(table, counting.columns())
        return call, self._rows(rows, columns)

    def _count_equal_rows(self, rows: Any, keys: Sequence[str], number: Any) -> Any:
        """Count equal rows. Texts are equal if their bytes are, whatever their collation."""
        as_bytes = self._database.as_bytes
        texts = [name for name in sorted(set(keys)) if rows[name].type().is_string()] if as_bytes is not None else []
        text_bytes = [] if as_bytes is None else [as_bytes(rows[name]).name(_BYTES + name) for name in texts]
        table = rows.group_by([*(rows[name] for name in keys), *text_bytes]).agg(**{_NUMBER: number.cast("int64")})
        return table.select([*keys, _NUMBER])

    def _is_tally_small(self, columns: Sequence[str]) -> bool:
        """Estimate from a sample whether the tally is small enough. The answer changes the time, and no value."""
        sample = self._placed(columns, self.frame.sample(_SHARE, method="block"))
        tally = self._count_equal_rows(sample, sample.columns, sample.count())
        n = tally[_NUMBER]
        counts = tally.agg(rows=n.sum(), distinct=tally.count(), once=(n == 1).sum(), twice=(n == 2).sum())
        (row,) = counts.to_pyarrow().to_pylist()
        rows, distinct, once, twice = (int(count or 0) for count in row.values())
        # Chao (1984): a lower bound for the number of distinct rows, from those seen once and twice in the sample.
        unseen = once * once / (2 * twice) if twice else once * (once - 1) / 2
        total = rows / _SHARE
        return 0 < min(distinct + unseen, total) <= self._database.largest_tally * total

    def _edges_reached(self, name: str, score: Any, bins: list[Threshold], request: Request) -> Any:
        """Return the best edge that each score reaches, found by bisection."""
        dtype, ascending = self.empty([name]).dtypes[0], request.ascending
        edges, labels = bin_edges(dtype, bins, ascending=ascending)
        if labels.has_nulls():  # Only a float can be infinite.
            raise ValueError(
                f"bins: score column {shown(name)} is {type_of(dtype)}, and a score worse than all edges would "
                f"have no bin; add the edge {'' if ascending else '-'}math.inf, or cast the scores to float64"
            )
        if score.type().is_decimal() and score.type().scale is None:
            raise TypeError(
                f"bins: score column {shown(name)} is a decimal without a scale; cast the scores to float64, or to a "
                "decimal with a precision and a scale"
            )

        def literal(edge: Any) -> Any:
            # A database reads a text to the last bit. Without the cast, 0.1 would be a decimal.
            text = f"{edge:f}" if isinstance(edge, Decimal) else str(edge)
            return ibis.literal(edge if isinf(edge) else text).cast(score.type())

        def bin_of(edges: list[Any], bin_labels: list[Any]) -> Any:
            if not edges:
                return bin_labels[0]
            middle = len(edges) // 2
            is_above = score > edges[middle] if ascending else score >= edges[middle]
            upper = bin_of(edges[middle + 1 :], bin_labels[middle + 1 :])
            return ibis.ifelse(is_above, upper, bin_of(edges[:middle], bin_labels[: middle + 1]))

        missing = score.isnull()
        if self._database.has_nan and dtype.is_float():
            missing |= score.isnan()
        bins_of_scores = bin_of(list(map(literal, edges)), list(map(literal, labels)))
        return ibis.ifelse(missing, ibis.null(score.type()), bins_of_scores)

    def _rows(self, table: Any, columns: Sequence[str]) -> pl.DataFrame:
        """Fetch the rows of a table with one statement. `columns`: the caller's names of its columns."""
        table = _sendable(table)
        types = pl.DataFrame(table.schema().to_pyarrow().empty_table()).schema
        integers = [] if self._database.keeps_whole_numbers else [name for name in types if types[name].is_integer()]
        try:
            sent = table.mutate(**{name: table[name].cast("string") for name in integers}) if integers else table
            return pl.DataFrame(sent.to_pyarrow()).cast({name: types[name] for name in integers})
        except (pa.ArrowException, pl.exceptions.InvalidOperationError, TypeError) as error:
            types_of = dict(zip(columns, table.schema().types, strict=False))
            declared = [f"{shown(name)} ({dtype})" for name, dtype in types_of.items() if name in self.columns()]
            raise TypeError(
                f"the columns {', '.join(declared)[:200]}: a value does not fit the type of its column, or Arrow has "
                f"no such type ({first_line(error)}); cast the column before the call, such as decimals to float64"
            ) from None


def _sendable(table: Any) -> Any:
    """Turn UUIDs into texts, because Ibis cannot send UUIDs from PostgreSQL."""
    uuids = [name for name, dtype in table.schema().items() if dtype.is_uuid()]
    return table.mutate(**{name: table[name].cast("string") for name in uuids}) if uuids else table


def _takes_counts(counting: PartQuery, empty: pl.DataFrame, order: Sequence[str]) -> bool:
    """Return whether all metrics of a call can be computed from counts of equal rows."""
    table = empty.with_columns(pl.lit(None, pl.Int64).alias(_NUMBER))
    with suppress(TypeError, ValueError):
        counting.of_groups(table.select(pl.col(old).alias(new) for new, old in zip(places(order), order, strict=True)))
        return True
    return False
