"""Read files of rankings and of relevance judgments (TREC, MS MARCO, BEIR) as frames."""

from __future__ import annotations

import errno
import glob
import gzip
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

import polars as pl

from frame_pr.frames.arguments import path_of, public, several
from frame_pr.frames.messages import pluralize

Path: TypeAlias = str | bytes | PathLike[Any]
_RUN = ("query", "Q0", "document", "rank", "score", "tag")
_QRELS = ("query", "iteration", "document", "relevance")
_SHORT = ("query", "document", "relevance")
"""The fields of judgments without an iteration."""
_NUMBERS = {"rank": "a whole number", "score": "a number", "relevance": "a whole number"}
_HEADERS = {
    "query": "query-id query_id query qid topic topic_id",
    "iteration": "iteration iter q0",
    "document": "corpus-id corpus_id document document_id doc_id docid docno passage_id pid",
    "relevance": "score relevance rel label grade",
}
"""Names of the fields of judgments in the header of a file."""
_BLANKS = " \t\r\v\f"
_SHOWN_LETTERS = 80  # Characters shown in an error.


@public()
def read_trec_run(path: Path | Sequence[Path] | Mapping[str, Path]) -> pl.DataFrame:
    r"""Read ranked runs from TREC files: on each line `query Q0 document rank score tag`.

    Fields are separated by any run of blanks or tabs. Empty lines are skipped. A file may be a
    pipe, and compressed by gzip, whatever its name. The rank is read but not used: trec_eval and
    all functions of frame_pr rank by the score.

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
        A line has more or fewer fields, or a field that is no finite number where one belongs; or a
        query has a document twice, with the same tag; says which line, and why. The file is not
        UTF-8, or compressed and damaged.
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
    named = path.items() if isinstance(path, Mapping) and path else [(None, path)]
    files = [(tag, name) for tag, item in named for name in _files(item, patterns=tag is None)]
    tags = [pl.col("tag") if tag is None else pl.lit(str(tag)) for tag, _ in files]
    runs = [
        _fields(_lines(name), _RUN).with_columns(tag=tag)
        for (_, name), tag in zip(files, tags, strict=True)
    ]
    lines = _typed(pl.concat(runs))
    _refuse_repeats(
        lines, ["query", "document", "tag"], "give a dict of files by the name of their system"
    )
    return lines.select(pl.col("tag").alias("system"), "query", "document", "rank", "score")


@public()
def read_trec_qrels(path: Path | Sequence[Path]) -> pl.DataFrame:
    r"""Read relevance judgments (qrels) from files of TREC, MS MARCO or BEIR.

    A line has the fields `query iteration document relevance`, as TREC and MS MARCO write them, or
    `query document relevance`. A first line of names, such as BEIR's `query-id corpus-id score`,
    gives the order of the fields, of which others may follow. If it has tabs, fields are separated
    by tabs alone, and may have blanks in them.

    Fields are separated by any run of blanks or tabs. Empty lines are skipped, and of equal lines
    all but the first. A file may be a pipe, and compressed by gzip, whatever its name.

    Parameters
    ----------
    path : str, bytes or path, or several
        The file; a pattern such as `"qrels/*.tsv"`, whose files are read in the order of their
        names; or a list of both.

    Returns
    -------
    polars DataFrame
        `query` (String), `iteration` (String, "0" where the file has none), `document` (String) and
        `relevance` (Int64), in the order of the lines.

    Raises
    ------
    ValueError
        A line has more or fewer fields, or a relevance that is no whole number; or a query has a
        document twice, with the same iteration and another relevance; says which line, and why. The
        file is not UTF-8, or compressed and damaged.
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
    lines = lines.unique(_QRELS, keep="first", maintain_order=True)
    _refuse_repeats(lines, ["query", "document", "iteration"], "keep one line of each")
    return lines.select(_QRELS)


def _files(path: Any, *, patterns: bool = True) -> list[str]:
    """Return the named files, and those whose names match a pattern."""
    if hasattr(path, "read"):
        raise TypeError("path takes the name of a file; got an open file: give its name")
    files = []
    for item in (
        [path]
        if isinstance(path, bytes)
        else several("path", path, "a file, a pattern, or a list of both")
    ):
        name = os.path.expanduser(path_of("path", item))
        # The name of a file may look like a pattern.
        is_pattern = patterns and glob.has_magic(name) and not os.path.exists(name)
        matched = sorted(glob.glob(name)) if is_pattern else [name]
        if not matched:
            raise FileNotFoundError(errno.ENOENT, "no file has a name like this", name)
        files += matched
    return files


def _lines(name: str) -> pl.DataFrame:
    """Return the lines of a file that are not blank, stripped, with the name of the file and their numbers."""
    # Open the file here: polars reads a pipe as empty, and all files of a directory.
    with open(name, "rb") as file:
        content = file.read()
    try:
        content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        content.decode()
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} is compressed, and damaged or truncated: {error}") from None
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name}, line {number}: this is not UTF-8, convert the file, such as by iconv"
        ) from None
    # Start with an empty line, because polars takes some letters at the beginning for those of a
    # compressed file.
    lines = pl.read_lines(b"\n" + content, row_index_name="number").with_columns(file=pl.lit(name))
    return lines.with_columns(pl.col("line").str.strip_chars(_BLANKS + "\ufeff")).filter(
        pl.col("line") != ""
    )


def _judgments(name: str) -> pl.DataFrame:
    """Return the fields of judgments as texts. The first line may name them."""
    lines = _lines(name)
    first = lines["line"][0] if lines.height else ""
    separators = "\t" if "\t" in first else _BLANKS
    fields = {name: field for field, names in _HEADERS.items() for name in names.split()}
    names = [
        fields.get(word.lower(), f"field {i}") for i, word in enumerate(_split(first, separators))
    ]
    if {*_SHORT} <= {*names}:
        width = max(i for i, field in enumerate(names, 1) if field in _QRELS)
        rows = _fields(
            lines[1:], names[:width], separators, "(?:[{0}].*)?"
        )  # More fields may follow.
    else:
        rows = _fields(lines, _SHORT if len(_split(first)) == len(_SHORT) else _QRELS)
    rows = rows if "iteration" in rows.columns else rows.with_columns(iteration=pl.lit("0"))
    return rows.select("file", "number", "line", *_QRELS)


def _fields(
    lines: pl.DataFrame, fields: Sequence[str], separators: str = _BLANKS, rest: str = ""
) -> pl.DataFrame:
    """Return the lines with a text column for each field. `rest`: the pattern of what may follow the fields."""
    pattern = f"[{separators}]+".join([f"([^{separators}]+)"] * len(fields)) + rest.format(
        separators
    )
    values = (
        pl.col("line")
        .str.extract_groups(f"^{pattern}$")
        .struct.rename_fields(list(fields))
        .struct.unnest()
    )
    rows = lines.with_columns(values.str.strip_chars(_BLANKS))
    if (bad := rows.filter(pl.col("query").is_null())).height:
        line = bad["line"][0]
        either = f" or {len(_SHORT)} ({' '.join(_SHORT)})" if fields == _QRELS else ""
        hint = "; fields are separated by blanks or tabs" if "," in line else ""
        expected = f"expected {len(fields)} fields ({' '.join(fields)}){either}"
        raise ValueError(_fault(bad, f"{expected}, found {len(_split(line, separators))}{hint}"))
    return rows


def _split(line: str, separators: str = _BLANKS) -> list[str]:
    return [field.strip(_BLANKS) for field in re.findall(f"[^{separators}]+", line)]


def _typed(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers in their dtypes, and raise for a field that is no number. An integer may be written as 1.0."""
    for field in (name for name in _NUMBERS if name in lines.columns):
        number = pl.col(field).cast(pl.Float64, strict=False)
        whole = pl.when(number == number.floor(), number.abs() < 2**53).then(
            number.cast(pl.Int64, strict=False)
        )
        value = pl.when(number.is_finite()).then(number) if field == "score" else whole
        if (bad := lines.filter(value.is_null())).height:
            raise ValueError(
                _fault(bad, f"{field} {bad[field][0][:_SHOWN_LETTERS]!r} is not {_NUMBERS[field]}")
            )
        lines = lines.with_columns(value.alias(field))
    return lines


def _refuse_repeats(lines: pl.DataFrame, key: list[str], advice: str) -> None:
    """Raise if a query has a document twice in a run or in the judgments of an iteration."""
    first = pl.col("file").first().over(key)
    repeats = lines.with_columns(first=first).filter(~pl.struct(key).is_first_distinct())
    if repeats.height:
        file, first_file = repeats["file"][0], repeats["first"][0]
        place = (
            f", first in {first_file}; {advice}"
            if file != first_file
            else "; keep one line of each"
        )
        query, document = (
            repeats["query"][0][:_SHOWN_LETTERS],
            repeats["document"][0][:_SHOWN_LETTERS],
        )
        raise ValueError(
            _fault(repeats, f"query {query!r} has document {document!r} a second time{place}")
        )


def _fault(bad: pl.DataFrame, fault: str) -> str:
    """Name file and line of the first of these lines, and count the others."""
    more = (
        f" (and {pluralize(bad.height - 1, 'more line', 'more lines')} like it)"
        if bad.height > 1
        else ""
    )
    return f"{bad['file'][0]}, line {bad['number'][0]}: {fault}: {bad['line'][0][:_SHOWN_LETTERS]!r}{more}"
