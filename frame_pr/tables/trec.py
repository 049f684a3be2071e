"""Files of TREC, runs and judgments, as frames."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import BytesIO
from os import PathLike
from os.path import expanduser, isdir
from typing import Any

import polars as pl

from frame_pr.frames.arguments import path_of, public
from frame_pr.frames.messages import pluralize

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
_BLANKS = " \t\r\v\f"
_SHOWN = 80  # characters shown in an error
_ALWAYS_READ = 2**26  # bytes of text
_MOST_TIMES = 100
"""So many times as large as the file its text may be: runs are compressed to a fifth or a tenth."""
_NUMBERS: dict[type[pl.DataType], str] = {
    pl.Int64: "a whole number",
    pl.Float64: "a number",
    pl.String: "text, it holds a NUL",
}


@public()
def read_trec_run(path: str | bytes | PathLike[Any]) -> pl.DataFrame:
    r"""A ranked run from a file in TREC's format: on each line `query Q0 document rank score tag`.

    Fields are parted by any run of blanks or tabs; empty lines are skipped; the file may be a pipe, and compressed
    (gzip, bzip2, xz, zlib, zstd), whatever its name. The rank is read and means nothing: trec_eval ranks by the score,
    and so do all functions here.

    Parameters
    ----------
    path : str, bytes or path
        The file.

    Returns
    -------
    polars DataFrame
        `query` (String), `document` (String), `rank` (Int64), `score` (Float64) and `tag` (String), in the order of the
        lines.

    Raises
    ------
    ValueError
        A line has more or fewer fields, or a field that is no finite number where one belongs; or a query has a
        document twice, with the same tag; says which line, and why. The file is no text, or compressed and damaged, or
        its text has more than 64 MiB and more than 100 times the bytes of the file.
    OSError
        There is no such file, or it is a directory.

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


@public()
def read_trec_qrels(path: str | bytes | PathLike[Any]) -> pl.DataFrame:
    r"""Judgments from a file in TREC's format: on each line `query iteration document relevance`.

    Fields are parted by any run of blanks or tabs; empty lines are skipped; the file may be a pipe, and compressed
    (gzip, bzip2, xz, zlib, zstd), whatever its name.

    Parameters
    ----------
    path : str, bytes or path
        The file.

    Returns
    -------
    polars DataFrame
        `query` (String), `iteration` (String), `document` (String) and `relevance` (Int64), in the order of the lines.

    Raises
    ------
    ValueError
        A line has more or fewer fields, or a relevance that is no whole number; or a query has a document twice, with
        the same iteration; says which line, and why. The file is no text, or compressed and damaged, or its text has
        more than 64 MiB and more than 100 times the bytes of the file.
    OSError
        There is no such file, or it is a directory.

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


def _refuse_repeats(path: str, lines: pl.DataFrame) -> None:
    """A document stands once in the ranking, or in the judgments, of a query."""
    # Lines of several runs have tags of their own, and judgments of several subtopics iterations.
    key = [name for name in ("query", "document", "tag", "iteration") if name in lines.columns]
    repeated = lines.filter(~pl.struct(key).is_first_distinct())
    if repeated.height:
        first = repeated.row(0, named=True)
        more = f" (and {pluralize(repeated.height - 1, 'more line', 'more lines')})" if repeated.height > 1 else ""
        raise ValueError(
            f"{path}, line {first['number']}: query {first['query'][:_SHOWN]!r} has document "
            f"{first['document'][:_SHOWN]!r} a second time{more}; keep one line of each"
        )


def _read(path: str | bytes | PathLike[Any], fields: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    name = path_of("path", path)
    # Opened here, as polars takes a pipe for empty, and reads all files of a directory.
    try:
        with open(expanduser(name), "rb") as file:
            content = _decompressed(name, file.read())
    except OSError as error:
        if isdir(expanduser(name)):  # on Windows, the error is a PermissionError
            sentence = f"{os.strerror(errno.EISDIR)}: a directory is no file, give one of those in it"
            raise IsADirectoryError(errno.EISDIR, sentence, name) from None
        raise type(error)(error.errno, error.strerror, name) from None
    try:
        # After an empty line, as polars takes some letters at the beginning for those of a compressed file.
        lines = pl.read_lines(b"\n" + content, row_index_name="number")
    except pl.exceptions.ComputeError as error:
        raise ValueError(_not_text(name, content, error)) from None
    text = pl.col("line").str.strip_chars(_BLANKS + "\ufeff")
    pattern = "^" + f"[{_BLANKS}]+".join([f"([^{_BLANKS}]+)"] * len(fields)) + "$"
    rows = (
        lines.select("number", text)
        .filter(pl.col("line") != "")
        .with_columns(pl.col("line").str.extract_groups(pattern).struct.rename_fields(list(fields)).alias("fields"))
        .unnest("fields")
    )
    values = rows.select(_typed(field, dtype) for field, dtype in fields.items())
    malformed = rows.filter(values.select(pl.any_horizontal(pl.all().is_null())).to_series())
    if malformed.height:
        raise ValueError(_fault(name, malformed, fields))
    _refuse_repeats(name, rows)
    return values


def _not_text(name: str, content: bytes, error: Exception) -> str:
    for number, line in enumerate(content.splitlines(), 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return f"{name}, line {number}: this is not UTF-8, convert the file, such as by iconv -f latin1 -t utf8"
    return f"{name} cannot be read as lines of text: {error}"


def _decompressed(name: str, content: bytes) -> bytes:
    """The text of a file that is compressed, whatever its name, or of one that is not."""
    ways = [decompress for start, decompress in _COMPRESSED.items() if re.match(start, content, re.DOTALL)]
    try:
        for decompress in ways:
            return decompress(content)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"{name} is compressed, and damaged or cut off: {error}") from None
    except OverflowError as error:
        raise ValueError(f"{name} {error}") from None
    return content


def _most(content: bytes) -> int:
    """The largest text that a compressed file may hold."""
    return max(_ALWAYS_READ, _MOST_TIMES * len(content))


def _refuse_large(text: bytes, content: bytes) -> bytes:
    """The text, unless it is so much larger than the file that it would exhaust the memory."""
    if len(text) > _most(content):
        raise OverflowError(
            f"holds more than {_most(content)} bytes in {len(content)}; decompress it first if this is meant"
        )
    return text


def _read_bounded(open_stream: Callable[[BytesIO], Any], content: bytes) -> bytes:
    with open_stream(BytesIO(content)) as stream:
        return _refuse_large(stream.read(_most(content) + 1), content)


def _zlib_or_text(content: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(content, _most(content) + 1)
        if not inflater.eof and len(text) <= _most(content):
            raise zlib.error("incomplete or truncated stream")
        return _refuse_large(text, content)
    except zlib.error:
        with suppress(UnicodeDecodeError):
            content.decode()
            return content  # a query may be called so
        raise


def _zstd(content: bytes) -> bytes:
    text: str = pl.read_lines(content)["line"].str.join("\n").item()
    return text.encode()


_COMPRESSED: dict[bytes, Callable[[bytes], bytes]] = {
    rb"\x1f\x8b": partial(_read_bounded, gzip.open),
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": partial(_read_bounded, bz2.open),
    rb"\xfd7zXZ\x00": partial(_read_bounded, lzma.open),
    rb"x[\x01\x5e\x9c\xda]": _zlib_or_text,
    rb"\x28\xb5\x2f\xfd": _zstd,
}


def _typed(field: str, dtype: type[pl.DataType]) -> pl.Expr:
    """The field as a value of its type, null where it is none; a whole number may be written as 1.0."""
    number = pl.col(field).cast(dtype, strict=False)
    if dtype == pl.Float64:
        return pl.when(number.is_finite()).then(number)
    if dtype == pl.String:
        return pl.when(~number.str.contains("\0", literal=True)).then(number)
    if dtype == pl.Int64:
        exact = pl.col(field).cast(pl.Float64, strict=False)
        return number.fill_null(
            pl.when(exact == exact.floor(), exact.abs() < 2**53).then(exact.cast(dtype, strict=False))
        )
    return number


def _fault(path: str, malformed: pl.DataFrame, fields: dict[str, type[pl.DataType]]) -> str:
    first = malformed.row(0, named=True)
    if first["query"] is None:
        count = len(re.findall(f"[^{_BLANKS}]+", first["line"]))
        fault = f"expected {len(fields)} fields ({' '.join(fields)}), found {count}"
    else:
        bad = malformed.head(1).select(_typed(name, dtype) for name, dtype in fields.items())
        field = next(column.name for column in bad if column.null_count())
        fault = f"{field} {first[field][:_SHOWN]!r} is not {_NUMBERS[fields[field]]}"
    others = pluralize(malformed.height - 1, "more line is", "more lines are")
    more = f" (and {others} malformed)" if malformed.height > 1 else ""
    return f"{path}, line {first['number']}: {fault}: {first['line'][:_SHOWN]!r}{more}"
