"""The backend of Ibis tables: the database counts equal rows, or sends the used columns; metrics are made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import isinf
from typing import Any, NamedTuple, NoReturn, cast

import polars as pl

from frame_pr.frames.messages import first_line, shown
from frame_pr.functions.tallies import Bins, cut_labels
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

_SHARE = 0.01  # of the rows, in a sample
_NUMBER = "number"  # columns of ours, beside those of a part, which are named by their places
_BYTES = "bytes"


def _sql_function(name: str, like: Callable[..., None], result: str = "binary") -> Callable[..., Any]:
    """A function of a database that Ibis has no word for, of so many texts."""
    texts = ("string",) * like.__code__.co_argcount
    return cast(Callable[..., Any], ibis.udf.scalar.builtin(like, name=name, signature=(texts, result)))


# The bytes of a text on DuckDB, PostgreSQL and Snowflake, whose casts read escapes or hexadecimal digits. On PostgreSQL
# `concat` makes a text of an enum.
_encode = _sql_function("encode", lambda text: None)
_convert_to = _sql_function("convert_to", lambda text, encoding: None)
_concat = _sql_function("concat", lambda text: None, "string")
_to_binary = _sql_function("to_binary", lambda text, encoding: None)


class Database(NamedTuple):
    """What is special to a database."""

    as_bytes: Callable[[Any], Any] | None = None
    """The bytes of a text, where a collation may make equal what differs."""
    largest_tally: float = 1 / 3
    """The share of the rows that a tally may have at most: it is not worth much where no row crosses a network."""
    has_nan: bool = True
    keeps_whole_numbers: bool = True
    """Whether Ibis gives those beyond 2**53 where others are missing; of SQLite, it makes floats of them."""


def _cast(text: Any) -> Any:
    return text.cast("binary")


_DATABASES: Mapping[str, Database] = {
    "bigquery": Database(_cast),
    "databricks": Database(_cast),
    "datafusion": Database(largest_tally=0.1),
    "duckdb": Database(_encode, largest_tally=0.1),
    "mssql": Database(_cast),
    "mysql": Database(_cast),
    "polars": Database(largest_tally=0.1),
    "postgres": Database(lambda text: _convert_to(_concat(text), "UTF8")),
    "pyspark": Database(_cast),
    "snowflake": Database(lambda text: _to_binary(text, "UTF-8")),
    "sqlite": Database(_cast, largest_tally=0.1, has_nan=False, keeps_whole_numbers=False),
}
"""By the name of the Ibis backend; all others compare texts by their bytes, as far as is known."""


class IbisFrame(Remote):
    """A table of Ibis: a table of a database, a view, or a query."""

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
        with suppress(ibis.IbisError):  # of a table without a database, such as one for to_sql
            return _DATABASES.get(self.frame.get_backend().name, Database())
        return Database()

    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self.frame.columns)

    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """A part of these columns without rows; runs no query."""
        schema = _sendable(self._placed(columns)).schema()
        for column, dtype in zip(columns, schema.types, strict=True):
            try:
                if not dtype.is_interval():
                    ibis.schema({"": dtype}).to_pyarrow()
                    continue
            except (NotImplementedError, KeyError):
                pass
            raise TypeError(
                f"column {shown(column)} is {dtype}, which Ibis cannot send: cast it before the call, such as "
                "run.mutate(name=run.name.cast('string'))"
            )
        return pl.DataFrame(schema.to_pyarrow().empty_table())

    def evaluate(
        self, request: Request, named: Mapping[str, str], means: Means | None, undefined: float | None
    ) -> pl.DataFrame:
        """Metrics per group, from one statement, and one more of a sample."""
        call = self._call(request, named, undefined)
        empty = self.empty(call.columns())
        call.of_groups(empty, means)  # what is wrong with names and types, before a query runs
        call, rows = self._fetched(call, empty)
        if call.request.positive is not None:
            call.refuse_label(rows.select(**call.labels(rows.schema)))
        return call.of_groups(rows, means, all_groups=True)

    def tally(self, request: Request, bins: Bins | None) -> Any:
        """Rows with equal values, counted by the database; an Ibis table, which nothing runs here."""
        if isinstance(bins, int):
            raise ValueError(
                f"bins={bins}: cut points in a database are the same for all groups, bins=[0, 0.1, ...]; a number of "
                "bins takes the tally: run.pr.tally(...).to_polars(), then tally with bins= and count='count'"
            )
        call = self._call(request, {}, None)
        empty = self.empty(call.columns())
        names = call.of_alike(empty, bins).columns[:-1]
        rows = self._placed(call.columns())
        place = {name: str(i) for i, name in enumerate(call.columns())}
        if bins is not None:
            cut = {place[name]: self._cut(name, rows[place[name]], bins, call.request) for name in call.scores}
            rows = rows.mutate(**cut)
        count = call.request.single.get("count")
        number = rows.count() if count is None else rows[place[str(count)]].sum()
        table = self._count_equal_rows(rows, [place[name] for name in names], number)
        table = table if count is None else table.filter(table[_NUMBER] > 0)
        return table.select(**{name: table[place[name]] for name in names}, count=table[_NUMBER])

    def with_metrics(
        self, request: Request, named: Mapping[str, str], prefix: str, undefined: float | None
    ) -> NoReturn:
        """Not for rows in a database."""
        raise TypeError(
            "with_metrics gives all rows, which stay in the database: join the metrics there, "
            "run.join(ibis.memtable(run.pr.evaluate(...)), by), which leaves out rows with a null key"
        )

    def _call(self, request: Request, named: Mapping[str, str], undefined: float | None) -> PartQuery:
        self.refuse_tally(request, lambda rows: self._rows(self.frame.limit(rows), self.columns()))
        return super()._call(request, named, undefined)

    def _placed(self, columns: Sequence[str], frame: Any = None) -> Any:
        """These columns, named by their places: some databases change names."""
        frame = self.frame if frame is None else frame
        return frame.select(**{place: frame[column] for place, column in zip(places(columns), columns, strict=True)})

    def _fetched(self, call: PartQuery, empty: pl.DataFrame) -> tuple[PartQuery, pl.DataFrame]:
        """The rows of a call, or those of a tally, and the call of them."""
        columns, counting = call.columns(), call.counting()
        rows = self._placed(columns)
        if counting is not None:
            # The counts stand where the counting call has them.
            place = {name: str(i) for i, name in enumerate(columns)}
            order = [place.get(name, _NUMBER) for name in counting.columns()]
            if _takes_counts(counting, empty, order) and self._is_tally_small(columns):
                table = self._count_equal_rows(rows, rows.columns, rows.count())
                table = table.select(**{new: table[old] for new, old in zip(places(order), order, strict=True)})
                return counting, self._rows(table, counting.columns())
        return call, self._rows(rows, columns)

    def _count_equal_rows(self, rows: Any, keys: Sequence[str], number: Any) -> Any:
        """One row for rows with equal values, with their number; texts are equal where their bytes are."""
        as_bytes = self._database.as_bytes
        texts = {name for name in keys if as_bytes is not None and rows[name].type().is_string()}
        more = [as_bytes(rows[name]).name(_BYTES + name) for name in sorted(texts)] if as_bytes is not None else []
        table = rows.group_by([*(rows[name] for name in keys), *more]).agg(**{_NUMBER: number.cast("int64")})
        return table.select([*keys, _NUMBER])

    def _is_tally_small(self, columns: Sequence[str]) -> bool:
        """Whether a sample says that a tally is worth it: it has the numbers of the rows, and another time."""
        sample = self._placed(columns, self.frame.sample(_SHARE, method="block"))
        times = self._count_equal_rows(sample, sample.columns, sample.count())
        n = times[_NUMBER]
        counts = times.agg(rows=n.sum(), kinds=times.count(), once=(n == 1).sum(), twice=(n == 2).sum())
        ((rows, kinds, once, twice),) = (
            map(int, (x or 0 for x in row.values())) for row in counts.to_pyarrow().to_pylist()
        )
        # Chao (1984): a lower bound of the number of kinds, which is near where few are rare.
        unseen = once * once / (2 * twice) if twice else once * (once - 1) / 2
        total = rows / _SHARE
        return 0 < min(kinds + unseen, total) <= self._database.largest_tally * total

    def _cut(self, name: str, score: Any, bins: list[Threshold], request: Request) -> Any:
        """Of each score the best cut point that it reaches, by bisection."""
        dtype, ascending = self.empty([name]).dtypes[0], request.ascending
        if not dtype.is_float():
            raise TypeError(
                f"score column {shown(name)} is {type_of(dtype)}, of which a score worse than all cut points of bins= "
                "has no bin: cast it to float64 before the call"
            )

        def literal(edge: float) -> Any:
            # As text, which a database reads to the last bit; without a cast, 0.1 is a decimal.
            return ibis.literal(edge if isinf(edge) else str(edge)).cast(score.type())

        def reached(cuts: list[Any], labels: list[Any]) -> Any:
            if not cuts:
                return labels[0]
            middle = len(cuts) // 2
            beyond = score > cuts[middle] if ascending else score >= cuts[middle]
            upper = reached(cuts[middle + 1 :], labels[middle + 1 :])
            return ibis.ifelse(beyond, upper, reached(cuts[:middle], labels[: middle + 1]))

        missing = score.isnull()
        if self._database.has_nan:
            missing |= score.isnan()
        cuts, labels = (list(map(literal, edges)) for edges in cut_labels(dtype, bins, ascending=ascending))
        return ibis.ifelse(missing, ibis.null(score.type()), reached(cuts, labels))

    def _rows(self, table: Any, columns: Sequence[str]) -> pl.DataFrame:
        """The rows of a table, which one statement gives; `columns`: what the caller calls its columns."""
        table = _sendable(table)
        types = pl.DataFrame(table.schema().to_pyarrow().empty_table()).schema
        whole = [] if self._database.keeps_whole_numbers else [name for name in types if types[name].is_integer()]
        try:
            sent = table.mutate(**{name: table[name].cast("string") for name in whole}) if whole else table
            return pl.DataFrame(sent.to_pyarrow()).cast({name: types[name] for name in whole})
        except (pa.ArrowException, pl.exceptions.InvalidOperationError, TypeError) as error:
            types_of = dict(zip(columns, table.schema().types, strict=False))
            declared = [f"{shown(name)} ({dtype})" for name, dtype in types_of.items() if name in self.columns()]
            raise TypeError(
                f"the columns {', '.join(declared)[:200]}: a value does not fit the type of its column, or Arrow has "
                f"no such type ({first_line(error)}); cast the column before the call, such as decimals to float64"
            ) from None


def _sendable(table: Any) -> Any:
    """The same rows, UUIDs as text: from PostgreSQL, Ibis cannot send them."""
    uuids = [name for name, dtype in table.schema().items() if dtype.is_uuid()]
    return table.mutate(**{name: table[name].cast("string") for name in uuids}) if uuids else table


def _takes_counts(counting: PartQuery, empty: pl.DataFrame, order: Sequence[str]) -> bool:
    """Whether all metrics of a call have a value where a row stands for several."""
    table = empty.with_columns(pl.lit(None, pl.Int64).alias(_NUMBER))
    with suppress(TypeError, ValueError):
        counting.of_groups(table.select(pl.col(old).alias(new) for new, old in zip(places(order), order, strict=True)))
        return True
    return False
