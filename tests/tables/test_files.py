"""Files of TREC as they come: from pipes, compressed, cut off, and with what looks like something else."""

import bz2
import errno
import gzip
import lzma
import os
import zlib
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest

import frame_pr as fp
from frame_pr.tables import trec

TEXT = b"q1 Q0 d1 1 2.5 t\nq2 Q0 d2 2 1.5 t\n"
ROWS = [("t", "q1", "d1", 1, 2.5), ("t", "q2", "d2", 2, 1.5)]


def zstd(text):
    file = Path(os.environ["PYTEST_TMP"]) / "lines"
    pl.LazyFrame({"line": text.decode().splitlines()}).sink_csv(file, include_header=False, compression="zstd")
    return file.read_bytes()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_TMP", str(tmp_path))


@pytest.fixture
def file(tmp_path):
    def make(content):
        path = tmp_path / "file"
        path.write_bytes(content)
        return path

    return make


WAYS = [bytes, gzip.compress, bz2.compress, lzma.compress, zlib.compress, zstd]
LEVELS = [lambda text, level=level: zlib.compress(text, level) for level in (0, 1, 5, 9)]


@pytest.mark.parametrize("way", [*WAYS, *LEVELS])
def test_compressed_or_not_from_a_file_or_a_pipe(file, way):
    content = way(TEXT)
    assert fp.read_trec_run(file(content)).rows() == ROWS
    if os.name == "posix":
        read, write = os.pipe()
        os.write(write, content)
        os.close(write)
        assert fp.read_trec_run(f"/dev/fd/{read}").rows() == ROWS
        os.close(read)
    assert fp.read_trec_run(file(way(b""))).height == 0


@pytest.mark.parametrize("way", WAYS[1:])
def test_a_compressed_file_that_is_cut_off(file, way):
    content = way(TEXT * 50)
    for part in (content[:-5], content[: len(content) // 2]):
        with pytest.raises(ValueError, match="file is compressed, and damaged or truncated: "):
            fp.read_trec_run(file(part))


def test_members_and_padding(file):
    assert fp.read_trec_run(file(gzip.compress(TEXT[:17]) + gzip.compress(TEXT[17:]) + bytes(512))).rows() == ROWS
    with pytest.raises(ValueError, match="file is compressed, and damaged or truncated: "):
        fp.read_trec_run(file(gzip.compress(TEXT) + b"more"))


@pytest.mark.parametrize("query", ["x^", "x\x01", "x^c", "x\x01K", "BZh9", "xz", "PK", "\x1f", "("])
def test_queries_that_look_like_something_else(file, query):
    for line in (f"{query} 0 d 1", f"\ufeff{query} 0 d 1\n"):
        assert fp.read_trec_qrels(file(line.encode())).rows() == [(query, "0", "d", 1)]
        with pytest.raises(ValueError, match=r"file, line 2: relevance 'y'"):
            fp.read_trec_qrels(file(line.rstrip().encode() + b"\nq 0 d y"))


@pytest.mark.parametrize("error", [None, PermissionError(errno.EACCES, "Permission denied")])
def test_a_directory(tmp_path, file, error, monkeypatch):
    file(TEXT)
    if error is not None:  # as Windows refuses to open a directory
        monkeypatch.setattr(trec, "open", Mock(side_effect=error), raising=False)
    with pytest.raises(IsADirectoryError, match="Is a directory: a directory is no file, give one of those in it"):
        fp.read_trec_run(tmp_path)


def test_paths_of_every_kind(file, tmp_path, monkeypatch):
    path = file(TEXT)
    for variable in ("HOME", "USERPROFILE"):  # Windows reads the second
        monkeypatch.setenv(variable, str(tmp_path))
    for name in (path, str(path), os.fsencode(path), "~/file"):
        assert fp.read_trec_run(name).rows() == ROWS
    with pytest.raises(FileNotFoundError, match="none"):
        fp.read_trec_run(os.fsencode(tmp_path / "none"))


def test_all_that_parts_fields_in_trec_eval(file):
    line = b" q1\vQ0\fd1 \r 1\t2.5\v\ft\f\r\n"
    assert fp.read_trec_run(file(line + b"\v\n\f\r\n")).rows() == ROWS[:1]
    with pytest.raises(ValueError, match=r"expected 6 fields .*, found 3: "):
        fp.read_trec_run(file(b"q1\vQ0\fd1"))


@pytest.mark.parametrize("rank", ["1", "1.0", "1e0", "+1", "1."])
def test_whole_numbers_as_floats(file, rank):
    assert fp.read_trec_run(file(f"q1 Q0 d1 {rank} 2.5 t".encode())).rows() == ROWS[:1]
    assert fp.read_trec_qrels(file(f"q1 0 d1 {rank}".encode()))["relevance"].item() == 1


@pytest.mark.parametrize("value", ["1.5", "nan", "inf", "1e300", "9223372036854775808.0", "one"])
def test_what_is_no_whole_number(file, value):
    with pytest.raises(ValueError, match=f"line 1: relevance '{value}' is not a whole number"):
        fp.read_trec_qrels(file(f"q1 0 d1 {value}".encode()))


@pytest.mark.parametrize("score", ["nan", "NaN", "-nan"])
def test_a_score_that_is_not_a_number(file, score):
    with pytest.raises(ValueError, match=f"line 2: score '{score}' is not a number"):
        fp.read_trec_run(file(TEXT[:17] + f"q1 Q0 d1 1 {score} t".encode()))


def test_long_lines_are_not_shown_in_full(file):
    with pytest.raises(ValueError, match="relevance 'zzz") as error:
        fp.read_trec_qrels(file(b"q 0 d " + b"z" * 5000))
    assert len(str(error.value)) < 400
