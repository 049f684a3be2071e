"""Read files of rankings and of relevance judgments (TREC, MS MARCO, BEIR) as frames."""

from __future__ import annotations

import errno
import glob
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any, NamedTuple, TypeAlias, cast

import polars as pl

from frame_pr.frames.arguments import path_of, public_function, several
from frame_pr.frames.messages import examples, pluralize

Path: TypeAlias = str | bytes | PathLike[Any]
_RUN = ("query", "Q0", "document", "rank", "score", "tag")
_QRELS = ("query", "iteration", "document", "relevance")
_SHORT = ("query", "document", "relevance")
"""The fields of judgments without an iteration."""
_HEADERS = {
    "query": "query-id query_id query qid topic topic_id",
    "iteration": "iteration iter q0",
    "document": "corpus-id corpus_id document document_id doc_id docid docno passage_id pid",
    "relevance": "score relevance rel label grade",
}
_FIELDS = {name: field for field, names in _HEADERS.items() for name in names.split()}
"""The fields of judgments, by their names in the header of a file."""
_BLANKS = " \t\r\v\f"
_COMMENT = "#"
_SHOWN_LETTERS = 80  # Characters shown in an error.
_LARGEST = 2.0**53
"""Whole numbers below this one are exact as floats."""


class _Number(NamedTuple):
    """A field that holds a number."""

    description: str
    is_valid: Callable[[pl.Expr], pl.Expr]


def _is_whole(number: pl.Expr) -> pl.Expr:
    return (number == number.floor()) & (number.abs() < _LARGEST)


_NUMBERS = {
    "rank": _Number("a whole number", _is_whole),
    "score": _Number("a number", pl.Expr.is_finite),
    "relevance": _Number("a number below 2**53", lambda number: number.abs() < _LARGEST),
}
"""The fields that hold numbers. A whole number may be written as 1.0."""


_DECOMPRESSORS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "lzma",
    b"\x28\xb5\x2f\xfd": "compression.zstd",
}
"""The modules that decompress a file, by its first bytes. Python has zstd since 3.14."""


@public_function
def read_trec_run(path: Path | Sequence[Path] | Mapping[str, Path]) -> pl.DataFrame:
    r"""Read ranked runs from TREC files: on each line `query Q0 document rank score tag`.

    Fields are separated by any run of blanks or tabs. Empty lines and comments, which begin with
    `#`, are skipped. Words after the tag are ignored, as trec_eval ignores them. A file may be a
    pipe, and compressed by gzip, bzip2 or xz, whatever its name. The rank is read but not used:
    trec_eval and all functions of frame_pr rank by the score.

    Parameters
    ----------
    path : str, bytes or path, or several
        The file; a pattern such as `"runs/*.txt"`, whose files are read in the order of their
        names; a list of both; or a dict of files by the name of the system, which replaces the tag.

    Returns
    -------
    polars DataFrame
        `system` (String, the tag of the run), `query` (String), `document` (String), `rank` (Int64)
        and `score` (Float64), in the order of the lines.

    Raises
    ------
    ValueError
        A line has fewer fields, or a field that is no finite number where one belongs; or a query
        has a document twice, with the same tag. The message names the line and the reason. The file
        is not UTF-8, or compressed and damaged.
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
    runs = []
    if isinstance(path, Mapping) and path:
        for system, item in path.items():
            (name,) = _files(item, patterns=False)
            runs.append(_run(name).with_columns(tag=pl.lit(str(system))))
    else:
        runs = list(map(_run, _files(path)))
    lines = _typed(pl.concat(runs))
    _refuse_repeats(
        lines, ["query", "document", "tag"], "give a dict of files by the name of their system"
    )
    return lines.select(pl.col("tag").alias("system"), "query", "document", "rank", "score")


@public_function
def read_trec_qrels(path: Path | Sequence[Path]) -> pl.DataFrame:
    r"""Read relevance judgments (qrels) from files of TREC, MS MARCO or BEIR.

    A line has the fields `query iteration document relevance`, as TREC and MS MARCO write them, or
    `query document relevance`. A first line of names, such as BEIR's `query-id corpus-id score`,
    gives the order of the fields, of which others may follow. If it has tabs, fields are separated
    by tabs alone, and may have blanks in them.

    Fields are separated by any run of blanks or tabs. Empty lines and comments, which begin with
    `#`, are skipped, and of equal lines all but the first. A file may be a pipe, and compressed by
    gzip, bzip2 or xz, whatever its name.

    A relevance may be a decimal, such as the mean of several judges. `gain="relevance"` uses it in
    ndcg, and `truth=pl.col("relevance") >= 0.5` makes labels of it.

    Parameters
    ----------
    path : str, bytes or path, or several
        The file; a pattern such as `"qrels/*.tsv"`, whose files are read in the order of their
        names; or a list of both.

    Returns
    -------
    polars DataFrame
        `query` (String), `iteration` (String, "0" where the file has none), `document` (String) and
        `relevance`, in the order of the lines. `relevance` is Int64 if all its values are whole
        numbers, else Float64.

    Raises
    ------
    ValueError
        A line has more or fewer fields, or a relevance that is no number; a header names a field
        twice; or a query has a document twice, with the same iteration and another relevance; says
        which line, and why. The file is not UTF-8, or compressed and damaged.
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
    lines = _typed(pl.concat(map(_judgments, _files(path))))
    lines = lines.unique(
        _QRELS,
        keep="first",
        maintain_order=True,
    )
    _refuse_repeats(lines, ["query", "document", "iteration"], "keep one line of each")
    return lines.select(_QRELS)


def _files(path: Any, *, patterns: bool = True) -> list[str]:
    """Return the named files, and those whose names match a pattern."""
    if hasattr(path, "read"):
        raise TypeError("path takes the name of a file; got an open file: give its name")
    items = [path]
    if not isinstance(path, bytes):
        items = several("path", path, "a file, a pattern, or a list of both")

    files = []
    for item in items:
        name = os.path.expanduser(path_of("path", item))
        # The name of a file may look like a pattern.
        is_pattern = patterns and glob.has_magic(name) and not os.path.exists(name)
        matched = sorted(glob.glob(name)) if is_pattern else [name]
        if not matched:
            raise FileNotFoundError(errno.ENOENT, "no file has a name like this", name)
        files += matched
    return files


def _lines(name: str) -> pl.DataFrame:
    """Return the lines of a file, stripped, without blank ones and comments, with their numbers."""
    # Open the file here: polars reads a pipe as empty, and all files of a directory.
    with open(name, "rb") as file:
        content = _decompressed(name, file.read())
    try:
        content.decode()
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        advice = "this is not UTF-8, convert the file, such as by iconv, or decompress it"
        if error.reason == "unexpected end of data":
            advice = "the file ends inside a letter, so it may be cut off"
        raise ValueError(f"{name}, line {number}: {advice}") from None

    # Start with an empty line, because polars takes some letters at the beginning for those of a
    # compressed file.
    lines = pl.read_lines(b"\n" + content, row_index_name="number")
    line = pl.col("line")
    lines = lines.with_columns(line.str.strip_chars(_BLANKS + "\ufeff"), file=pl.lit(name))
    return lines.filter(line != "", ~line.str.starts_with(_COMMENT))


def _decompressed(name: str, content: bytes) -> bytes:
    """Decompress the content of a file, if its first bytes say that it is compressed."""
    for first_bytes, library in _DECOMPRESSORS.items():
        if not content.startswith(first_bytes):
            continue
        try:
            module = import_module(library)
        except ImportError:
            text = (
                f"{name} is compressed by {library}, which this Python lacks: decompress it first"
            )
            raise ValueError(text) from None
        errors: tuple[type[Exception], ...] = (OSError, EOFError, ValueError, zlib.error)
        errors += tuple(getattr(module, f"{each}Error", zlib.error) for each in ("LZMA", "Zstd"))
        try:
            return cast(bytes, module.decompress(content))
        except errors as error:
            raise ValueError(f"{name} is compressed, and damaged or truncated: {error}") from None
    return content


def _run(name: str) -> pl.DataFrame:
    """Return the fields of a run as texts. More words may follow the tag."""
    return _fields(_lines(name), _RUN, more=True)


def _judgments(name: str) -> pl.DataFrame:
    """Return the fields of judgments as texts. The first line may name them."""
    lines = _lines(name)
    first: str = lines["line"].item(0) if lines.height else ""
    separators = "\t" if "\t" in first else _BLANKS
    words = _split(first, separators)
    named = [_FIELDS.get(word.lower(), f"field {i}") for i, word in enumerate(words)]

    if {*_SHORT} <= {*named}:
        fields = zip(words, named, strict=True)
        repeated = [word for word, field in fields if named.count(field) > 1]
        if repeated:
            fault = f"the header names a field more than once, {examples(repeated)}"
            raise ValueError(_fault(lines[:1], f"{fault}; rename all but one"))
        width = max(i for i, field in enumerate(named, 1) if field in _QRELS)
        rows = _fields(
            lines[1:],
            named[:width],
            separators,
            more=True,
        )
    elif len(_split(first)) == len(_SHORT):
        rows = _fields(lines, _SHORT)
    else:
        rows = _fields(lines, _QRELS)

    if "iteration" not in rows.columns:
        rows = rows.with_columns(iteration=pl.lit("0"))
    return rows.select(
        "file",
        "number",
        "line",
        *_QRELS,
    )


def _fields(
    lines: pl.DataFrame,
    fields: Sequence[str],
    separators: str = _BLANKS,
    *,
    more: bool = False,
) -> pl.DataFrame:
    """Return the lines with a text column for each field. `more`: whether others may follow."""
    one_field = f"([^{separators}]+)"
    pattern = f"[{separators}]+".join([one_field] * len(fields))
    if more:
        pattern += f"(?:[{separators}].*)?"
    groups = pl.col("line").str.extract_groups(f"^{pattern}$")
    values = groups.struct.rename_fields(list(fields)).struct.unnest()
    rows = lines.with_columns(values.str.strip_chars(_BLANKS))

    bad = rows.filter(pl.col("query").is_null())
    if bad.height:
        line = bad["line"][0]
        fault = f"expected {len(fields)} fields ({' '.join(fields)})"
        if fields == _QRELS:
            fault += f" or {len(_SHORT)} ({' '.join(_SHORT)})"
        fault += f", found {len(_split(line, separators))}"
        if "," in line:
            fault += "; fields are separated by blanks or tabs"
        raise ValueError(_fault(bad, fault))
    return rows


def _split(line: str, separators: str = _BLANKS) -> list[str]:
    return [field.strip(_BLANKS) for field in re.findall(f"[^{separators}]+", line)]


def _typed(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers in their dtypes, and raise for a field that is no number."""
    for field, (description, is_valid) in _NUMBERS.items():
        if field not in lines.columns:
            continue
        number = pl.col(field).cast(pl.Float64, strict=False)
        bad = lines.filter(~is_valid(number).fill_null(False))
        if bad.height:
            text = bad[field][0][:_SHOWN_LETTERS]
            raise ValueError(_fault(bad, f"{field} {text!r} is not {description}"))

        lines = lines.with_columns(number)
        is_whole = lines.select(_is_whole(pl.col(field)).all()).item()
        if is_whole and field != "score":
            lines = lines.with_columns(pl.col(field).cast(pl.Int64))
    return lines


def _refuse_repeats(
    lines: pl.DataFrame,
    key: list[str],
    advice: str,
) -> None:
    """Raise if a query has a document twice in a run or in the judgments of an iteration."""
    is_first = pl.struct(key).is_first_distinct()
    first_file = pl.col("file").first().over(key)
    repeats = lines.with_columns(first=first_file).filter(~is_first)
    if repeats.is_empty():
        return
    row = repeats.row(0, named=True)
    query = row["query"][:_SHOWN_LETTERS]
    document = row["document"][:_SHOWN_LETTERS]
    fault = f"query {query!r} has document {document!r} a second time"
    if row["file"] == row["first"]:
        fault += "; keep one line of each"
    else:
        fault += f", first in {row['first']}; {advice}"
    raise ValueError(_fault(repeats, fault))


def _fault(bad: pl.DataFrame, fault: str) -> str:
    """Name file and line of the first of these lines, and count the others."""
    row = bad.row(0, named=True)
    line = row["line"][:_SHOWN_LETTERS]
    text = f"{row['file']}, line {row['number']}: {fault}: {line!r}"
    if bad.height > 1:
        text += f" (and {pluralize(bad.height - 1, 'more line', 'more lines')} like it)"
    return text
