"""Read files of rankings and of relevance judgments (TREC, MS MARCO, BEIR, JSONL) as frames."""

from __future__ import annotations

import bz2
import errno
import glob
import gzip
import json
import lzma
import os
import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from os import PathLike
from os.path import expanduser, isdir
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.arguments import path_of, public, several
from frame_pr.frames.messages import pluralize, shown

Path: TypeAlias = str | bytes | PathLike[Any]
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
_FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "query": ("query-id", "query_id", "query", "qid", "topic", "topic_id"),
    "iteration": ("iteration", "iter", "q0"),
    "document": ("corpus-id", "corpus_id", "document", "document_id", "doc_id", "docid", "docno", "passage_id", "pid"),
    "relevance": ("score", "relevance", "rel", "label", "grade"),
}
"""Names of the fields of judgments in the header of a file, or in its JSON objects."""
_ALWAYS = ("query", "document", "relevance")
_BLANKS = " \t\r\v\f"
_SHOWN = 80  # Characters shown in an error.
_ALWAYS_READ = 2**26  # Bytes of text.
_MOST_TIMES = 100
"""The text may be this many times as large as the file: runs are compressed to a fifth or a tenth."""
_NUMBERS: dict[type[pl.DataType], str] = {
    pl.Int64: "a whole number",
    pl.Float64: "a number",
    pl.String: "text, it holds a NUL",
}


@public()
def read_trec_run(path: Path | Sequence[Path] | Mapping[str, Path]) -> pl.DataFrame:
    r"""Read ranked runs from TREC files: on each line `query Q0 document rank score tag`.

    Fields are separated by any run of blanks or tabs. Empty lines are skipped. A file may be a pipe, and compressed
    (gzip, bzip2, xz, zlib, zstd), whatever its name. The rank is read but not used: trec_eval and all functions of
    frame_pr rank by the score.

    Parameters
    ----------
    path : str, bytes or path, or several
        The file; a pattern such as `"runs/*.txt"`, whose files are read in the order of their names; a list of both; or
        a dict of files by the name of the system, which replaces the tag.

    Returns
    -------
    polars DataFrame
        `system` (String, the tag of the run), `query` (String), `document` (String), `rank` (Int64) and `score`
        (Float64), in the order of the lines.

    Raises
    ------
    ValueError
        A line has more or fewer fields, or a field that is no finite number where one belongs; or a query has a
        document twice, with the same tag; says which line, and why. The file is no text, or compressed and damaged, or
        its text has more than 64 MiB and more than 100 times the bytes of the file.
    OSError
        There is no such file, or it is a directory, or no file has a name like the pattern.

    See Also
    --------
    read_trec_qrels, join_judgments

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> import frame_pr as fp
    >>> run = b"q1 Q0 d7  1 9.25 bm25\nq1 Q0 d2  2 8.5  bm25\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "bm25.run.gz")
    ...     _ = file.write_bytes(gzip.compress(run))
    ...     fp.read_trec_run(file).rows()
    [('bm25', 'q1', 'd7', 1, 9.25), ('bm25', 'q1', 'd2', 2, 8.5)]
    """
    if isinstance(path, Mapping):
        files = _files(list(path.values()), patterns=False)
        tags = [pl.lit(str(system)) for system in path]
    else:
        files = _files(path, patterns=True)
        tags = [pl.col("tag")] * len(files)
    runs = [_read(name, _RUN).with_columns(tag=tag) for name, tag in zip(files, tags, strict=True)]
    return _together(files, runs).select(pl.col("tag").alias("system"), "query", "document", "rank", "score")


@public()
def read_trec_qrels(path: Path | Sequence[Path]) -> pl.DataFrame:
    r"""Read relevance judgments (qrels) from files of TREC, MS MARCO or BEIR, or from JSON lines.

    A line has the fields `query iteration document relevance`, as TREC and MS MARCO write them, or
    `query document relevance`. A first line of names, such as BEIR's `query-id corpus-id score`, gives the order of the
    fields, of which others may follow. If it has tabs, fields are separated by tabs alone, and may have blanks in them.
    A line may also be a JSON object with such names: `{"query_id": "q1", "doc_id": "d7", "relevance": 1}`.

    Fields are separated by any run of blanks or tabs. Empty lines are skipped. A file may be a pipe, and compressed
    (gzip, bzip2, xz, zlib, zstd), whatever its name.

    Parameters
    ----------
    path : str, bytes or path, or several
        The file; a pattern such as `"qrels/*.tsv"`, whose files are read in the order of their names; or a list of
        both.

    Returns
    -------
    polars DataFrame
        `query` (String), `iteration` (String, "0" where the file has none), `document` (String) and `relevance`
        (Int64), in the order of the lines.

    Raises
    ------
    ValueError
        A line has more or fewer fields, or a relevance that is no whole number; or a query has a document twice, with
        the same iteration; says which line, and why. The file is no text, or compressed and damaged, or its text has
        more than 64 MiB and more than 100 times the bytes of the file.
    OSError
        There is no such file, or it is a directory, or no file has a name like the pattern.

    See Also
    --------
    read_trec_run, join_judgments

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import frame_pr as fp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "qrels.tsv")
    ...     _ = file.write_bytes(b"query-id\tcorpus-id\tscore\nq1\td7\t1\nq1\td2\t0\n")
    ...     fp.read_trec_qrels(file).rows()
    [('q1', '0', 'd7', 1), ('q1', '0', 'd2', 0)]
    """
    files = _files(path, patterns=True)
    return _together(files, [_read(name, _QRELS) for name in files]).select(*_QRELS)


def _files(path: Any, *, patterns: bool) -> list[str]:
    """Return the named files, and those whose names match a pattern."""
    wanted = "a file, a pattern, or a list of both"
    if hasattr(path, "read"):
        raise TypeError(f"path takes {wanted}; got an open file: give its name")
    items = [path] if isinstance(path, bytes) else several("path", path, wanted)
    files = []
    for item in items:
        name = expanduser(path_of("path", item))
        # The name of a file may look like a pattern.
        matched = sorted(glob.glob(name)) if patterns and glob.has_magic(name) and not os.path.exists(name) else [name]
        if not matched:
            raise FileNotFoundError(errno.ENOENT, "no file has a name like this", name)
        files += matched
    return files


def _together(files: Sequence[str], tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the lines of all files. Raise if a query has a document twice in a run or in the judgments."""
    lines = pl.concat([table.with_columns(file=pl.lit(place)) for place, table in enumerate(tables)])
    # Lines of several runs differ in their tags, and judgments of several subtopics in their iterations.
    key = [name for name in ("query", "document", "tag", "iteration") if name in lines.columns]
    repeated = lines.filter(~pl.struct(key).is_first_distinct())
    if repeated.height:
        line = repeated.row(0, named=True)
        before = files[lines.filter(pl.struct(key) == pl.struct(*(pl.lit(line[k]).alias(k) for k in key)))["file"][0]]
        first, advice = "", "keep one line of each"
        if before != files[line["file"]]:
            first = f", first in {before}"
            advice = "give a dict of files by the name of their system" if "tag" in key else advice
        more = f" (and {pluralize(repeated.height - 1, 'more line', 'more lines')})" if repeated.height > 1 else ""
        raise ValueError(
            f"{files[line['file']]}, line {line['number']}: query {line['query'][:_SHOWN]!r} has document "
            f"{line['document'][:_SHOWN]!r} a second time{first}{more}; {advice}"
        )
    return lines


def _lines(name: str) -> pl.DataFrame:
    """Return the lines that are not blank, stripped, and their numbers."""
    # Open the file here: polars reads a pipe as empty, and reads all files of a directory.
    try:
        with open(name, "rb") as file:
            content = _decompressed(name, file.read())
    except OSError as error:
        if isdir(name):  # On Windows, the error is a PermissionError.
            sentence = f"{os.strerror(errno.EISDIR)}: a directory is no file, give one of those in it"
            raise IsADirectoryError(errno.EISDIR, sentence, name) from None
        raise type(error)(error.errno, error.strerror, name) from None
    try:
        # Start with an empty line, because polars takes some letters at the beginning for those of a compressed file.
        lines = pl.read_lines(b"\n" + content, row_index_name="number")
    except pl.exceptions.ComputeError as error:
        raise ValueError(_not_text(name, content, error)) from None
    return lines.with_columns(pl.col("line").str.strip_chars(_BLANKS + "\ufeff")).filter(pl.col("line") != "")


def _read(name: str, fields: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    """Return the fields of each line in their dtypes, and its `number`."""
    lines, layout = _lines(name), _Layout(tuple(fields))
    if fields is _QRELS:
        first = lines["line"][0] if lines.height else ""
        layout = _layout_of_json(name, first) if first.startswith("{") else _layout_of_fields(first)
    rows = layout.read(lines)
    rows = rows.with_columns(pl.lit("0").alias(field) for field in fields if field not in rows.columns)
    values = rows.select("number", *(_typed(field, dtype) for field, dtype in fields.items()))
    malformed = rows.filter(values.select(pl.any_horizontal(pl.all().is_null())).to_series())
    if malformed.height:
        raise ValueError(_fault(name, malformed, fields, layout))
    return values


class _Layout(NamedTuple):
    """The places of the fields in a line."""

    fields: tuple[str, ...]
    """The names of the fields of a line, in order."""
    json_names: tuple[str, ...] = ()
    """The names in a JSON object; empty if a line has fields separated by whitespace."""
    header: bool = False
    """Whether the first line is a header. Then more fields may follow those that are read."""
    separators: str = _BLANKS
    """The characters between fields. Fields separated by tabs may have blanks in them."""

    def read(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Return the lines with a text column for each field; null if a line lacks it."""
        if self.json_names:
            paths = {field: f"$['{name}']" for field, name in zip(self.fields, self.json_names, strict=True)}
            return lines.with_columns(pl.col("line").str.json_path_match(path).alias(f) for f, path in paths.items())
        pattern = "^" + f"[{self.separators}]+".join([f"([^{self.separators}]+)"] * len(self.fields))
        pattern += f"(?:[{self.separators}].*)?$" if self.header else "$"
        groups = pl.col("line").str.extract_groups(pattern).struct.rename_fields(list(self.fields))
        rows = lines[1 if self.header else 0 :].with_columns(groups.alias("fields")).unnest("fields")
        return rows.with_columns(pl.col(self.fields).str.strip_chars(_BLANKS))


def _layout_of_fields(line: str) -> _Layout:
    """Return the layout of lines like the first line; if that is a header, the layout that it names."""
    separators = "\t" if "\t" in line else _BLANKS
    named = _recognized_names(_fields_in(line, separators))
    if {*_ALWAYS} <= {*named}:
        field_at = {place: field for field, place in named.items()}
        fields = tuple(field_at.get(place, f"field {place}") for place in range(max(field_at) + 1))
        return _Layout(fields, header=True, separators=separators)
    return _Layout(_ALWAYS if len(_fields_in(line)) == len(_ALWAYS) else tuple(_QRELS))


def _layout_of_json(path: str, line: str) -> _Layout:
    """Return the layout of JSON objects like that of the first line."""
    try:
        names = list(json.loads(line))
    except ValueError as error:
        raise ValueError(f"{path}, line 1: this is no JSON object: {error}: {line[:_SHOWN]!r}") from None
    named = _recognized_names(names)
    if lacking := [field for field in _ALWAYS if field not in named]:
        raise ValueError(
            f"{path}, line 1: the JSON object has no {lacking[0]}, names are {shown(names)[:_SHOWN]}; write an object "
            f"for each judgment, with {', '.join(repr(_FIELD_NAMES[field][0]) for field in _ALWAYS)}"
        )
    return _Layout(tuple(named), tuple(names[place] for place in named.values()))


def _fields_in(line: str, separators: str = _BLANKS) -> list[str]:
    return [field.strip(_BLANKS) for field in re.findall(f"[^{separators}]+", line)]


def _recognized_names(names: Sequence[str]) -> dict[str, int]:
    """Return the fields that the header names, and the place of each."""
    places = {name.lower(): place for place, name in enumerate(names)}
    matches = {field: [places[name] for name in synonyms if name in places] for field, synonyms in _FIELD_NAMES.items()}
    return {field: at[0] for field, at in matches.items() if at}


def _not_text(name: str, content: bytes, error: Exception) -> str:
    """Explain why a file is no text, with the number of the first line that is not UTF-8."""
    for number, line in enumerate(content.splitlines(), 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "latin1"
            return f"{name}, line {number}: this is not UTF-8, convert the file, such as by iconv -f {encoding} -t utf8"
    return f"{name} cannot be read as lines of text: {error}"


def _decompressed(name: str, content: bytes) -> bytes:
    """Return the text of a file, compressed or not, whatever its name."""
    decompressors = [decompress for start, decompress in _COMPRESSED.items() if re.match(start, content, re.DOTALL)]
    try:
        for decompress in decompressors:
            return decompress(content)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"{name} is compressed, and damaged or truncated: {error}") from None
    except OverflowError as error:
        raise ValueError(f"{name} {error}") from None
    return content


def _most(content: bytes) -> int:
    """Return the largest text that a compressed file may hold."""
    return max(_ALWAYS_READ, _MOST_TIMES * len(content))


def _refuse_large(text: bytes, content: bytes) -> bytes:
    """Return the text, unless it is so large that it would exhaust the memory."""
    if len(text) > _most(content):
        raise OverflowError(
            f"holds more than {_most(content)} bytes in {len(content)}; decompress it first if this is meant"
        )
    return text


def _read_bounded(open_stream: Callable[[BytesIO], Any], content: bytes) -> bytes:
    with open_stream(BytesIO(content)) as stream:
        return _refuse_large(stream.read(_most(content) + 1), content)


def _zlib_or_text(content: bytes) -> bytes:
    """Return the decompressed content; the content itself if it is a text, which may begin in the same way."""
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(content, _most(content) + 1)
        if not inflater.eof and len(text) <= _most(content):
            raise zlib.error("incomplete or truncated stream")
        return _refuse_large(text, content)
    except zlib.error:
        with suppress(UnicodeDecodeError):
            content.decode()
            return content
        raise


def _zstd(content: bytes) -> bytes:
    text: str = pl.read_lines(content)["line"].str.join("\n").item()
    return _refuse_large(text.encode(), content)


_COMPRESSED: dict[bytes, Callable[[bytes], bytes]] = {
    rb"\x1f\x8b": partial(_read_bounded, gzip.open),
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": partial(_read_bounded, bz2.open),
    rb"\xfd7zXZ\x00": partial(_read_bounded, lzma.open),
    rb"x[\x01\x5e\x9c\xda]": _zlib_or_text,
    rb"\x28\xb5\x2f\xfd": _zstd,
}
"""How to decompress a file, by the pattern of its first bytes."""


def _typed(field: str, dtype: type[pl.DataType]) -> pl.Expr:
    """Convert a field to its dtype; null if that fails. An integer may be written as 1.0."""
    if dtype == pl.String:
        return pl.when(~pl.col(field).str.contains("\0", literal=True)).then(field)
    number = pl.col(field).cast(pl.Float64, strict=False)
    if dtype == pl.Float64:
        return pl.when(number.is_finite()).then(number)
    whole = pl.when(number == number.floor(), number.abs() < 2**53).then(number.cast(dtype, strict=False))
    return pl.col(field).cast(dtype, strict=False).fill_null(whole)


def _fault(path: str, malformed: pl.DataFrame, fields: dict[str, type[pl.DataType]], layout: _Layout) -> str:
    """Explain why the first of these lines is malformed, and count the others."""
    first = malformed.row(0, named=True)
    if layout.json_names and any(first[field] is None for field in layout.fields):
        fault = f"expected a JSON object with {', '.join(layout.json_names)}"
    elif first["query"] is None:
        either = f" or {len(_ALWAYS)} ({' '.join(_ALWAYS)})" if layout.fields == tuple(_QRELS) else ""
        fault = f"expected {len(layout.fields)} fields ({' '.join(layout.fields)}){either}"
        fault += f", found {len(_fields_in(first['line'], layout.separators))}"
        if first["line"].startswith("["):
            fault += "; write each JSON object on a line of its own"
        elif "," in first["line"]:
            fault += "; fields are separated by blanks or tabs"
    else:
        bad = malformed.head(1).select(_typed(name, dtype) for name, dtype in fields.items())
        field = next(column.name for column in bad if column.null_count())
        fault = f"{field} {first[field][:_SHOWN]!r} is not {_NUMBERS[fields[field]]}"
        is_heading = first["number"] == 1 and not layout.json_names and any(map(str.isalpha, first[field]))
        if is_heading and fields is _QRELS:
            fault += f"; a header has the names {' '.join(_FIELD_NAMES[name][0] for name in _ALWAYS)}"
    others = pluralize(malformed.height - 1, "more line is", "more lines are")
    more = f" (and {others} malformed)" if malformed.height > 1 else ""
    return f"{path}, line {first['number']}: {fault}: {first['line'][:_SHOWN]!r}{more}"
