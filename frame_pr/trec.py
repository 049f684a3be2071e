"""Files of TREC, runs and judgments, as frames."""

from __future__ import annotations

from os import PathLike, fspath

import polars as pl

_RUN: dict[str, type[pl.DataType]] = {
    "query": pl.String,
    "Q0": pl.String,
    "document": pl.String,
    "rank": pl.Int64,
    "score": pl.Float64,
    "tag": pl.String,
}
_QRELS: dict[str, type[pl.DataType]] = {
    "query": pl.String,
    "iteration": pl.String,
    "document": pl.String,
    "relevance": pl.Int64,
}
_NUMBERS: dict[type[pl.DataType], str] = {pl.Int64: "a whole number", pl.Float64: "a number"}


def read_trec_run(path: str | PathLike[str]) -> pl.DataFrame:
    r"""A ranked run from a file in TREC's format: on each line `query Q0 document rank score tag`.

    Fields are parted by any run of blanks or tabs; empty lines are skipped; the file may be compressed (gzip, zlib,
    zstd), whatever its name. The rank is read and means nothing: trec_eval ranks by the score, and so do all functions
    here.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    polars DataFrame
        `query` (String), `document` (String), `rank` (Int64), `score` (Float64) and `tag` (String), in the order of the
        lines.

    Raises
    ------
    ValueError
        A line has more or fewer fields, or a field that is no number where one belongs; says which line, and why.

    Examples
    --------
    >>> import gzip, tempfile
    >>> import frame_pr as fp
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(gzip.compress(b"q1 Q0 d7  1 9.25 bm25\nq1 Q0 d2  2 8.5  bm25\n")), file.flush()
    ...     fp.read_trec_run(file.name).rows()
    [('q1', 'd7', 1, 9.25, 'bm25'), ('q1', 'd2', 2, 8.5, 'bm25')]
    """
    return _read(path, _RUN).drop("Q0")


def read_trec_qrels(path: str | PathLike[str]) -> pl.DataFrame:
    r"""Judgments from a file in TREC's format: on each line `query iteration document relevance`.

    Fields are parted by any run of blanks or tabs; empty lines are skipped; the file may be compressed (gzip, zlib,
    zstd), whatever its name.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    polars DataFrame
        `query` (String), `iteration` (String), `document` (String) and `relevance` (Int64), in the order of the lines.

    Raises
    ------
    ValueError
        A line has more or fewer fields, or a relevance that is no whole number; says which line, and why.

    Examples
    --------
    >>> import tempfile
    >>> import frame_pr as fp
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"q1 0 d7 1\n\nq1\t0\td2\t0\n"), file.flush()
    ...     fp.read_trec_qrels(file.name).rows()
    [('q1', '0', 'd7', 1), ('q1', '0', 'd2', 0)]
    """
    return _read(path, _QRELS)


def _read(path: str | PathLike[str], fields: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    name = fspath(path)
    try:
        lines = pl.read_lines(name, glob=False, row_index_name="number", row_index_offset=1)
    except pl.exceptions.ComputeError as error:
        raise ValueError(f"{name} cannot be read as lines of text: {error}") from None
    text = pl.col("line").str.strip_chars(" \t\r\ufeff")
    pattern = "^" + "[ \t]+".join(["([^ \t]+)"] * len(fields)) + "$"
    found = (
        lines.select("number", text)
        .filter(pl.col("line") != "")
        .with_columns(pl.col("line").str.extract_groups(pattern).struct.rename_fields(list(fields)).alias("fields"))
        .unnest("fields")
    )
    values = found.select(pl.col(field).cast(dtype, strict=False) for field, dtype in fields.items())
    malformed = found.filter(values.select(pl.any_horizontal(pl.all().is_null())).to_series())
    if malformed.height:
        raise ValueError(_fault(name, malformed, fields))
    return values


def _fault(path: str, malformed: pl.DataFrame, fields: dict[str, type[pl.DataType]]) -> str:
    first = malformed.row(0, named=True)
    if first["query"] is None:
        count = len([field for field in first["line"].replace("\t", " ").split(" ") if field])
        fault = f"expected {len(fields)} fields ({' '.join(fields)}), found {count}"
    else:
        bad = malformed.head(1).select(pl.col(name).cast(dtype, strict=False) for name, dtype in fields.items())
        field = next(column.name for column in bad if column.null_count())
        fault = f"{field} {first[field]!r} is not {_NUMBERS[fields[field]]}"
    more = f" (and {malformed.height - 1} more lines are malformed)" if malformed.height > 1 else ""
    return f"{path}, line {first['number']}: {fault}: {first['line']!r}{more}"
