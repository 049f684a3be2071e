"""Wrong calls of runs and judgments: each with its error, or with the right numbers."""

import gzip

import pandas as pd
import polars as pl
import pytest
from call_cases import Case, assert_end, run

import frame_pr as fp

CASES = [
    Case(
        lambda: fp.join_judgments(run, run, on=[["q"]]),
        TypeError,
        "on takes the name of a column, or several; got [['q']]",
    ),
    Case(
        lambda: fp.join_judgments(
            *[pl.LazyFrame({n: [2, 1], "o": pl.Series([object(), object()], dtype=pl.Object)}) for n in "sr"], on="o"
        ).collect(),
        TypeError,
        "on: column 'o' is Object: make text or numbers of it before the call",
    ),
    Case(
        lambda: fp.join_judgments(run, run, on=pd.NA),
        TypeError,
        "on takes the name of a column, or several; got a pandas NAType",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_wrong_calls(case):
    assert_end(case)


def test_a_directory(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"a directory is no file, give one of those in it"):
        fp.read_trec_run(tmp_path)


def test_bytes_are_a_path(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 2 a\n")
    assert fp.read_trec_run(bytes(path)).rows() == [("a", "q1", "d1", 1, 2.0)]
    with pytest.raises(FileNotFoundError):
        fp.read_trec_run(b"q1 Q0 d1 1 2 a\n")


@pytest.mark.parametrize("path", [5, [3], None, {"a": 5}])
def test_what_is_no_path(path):
    with pytest.raises(TypeError, match="path must be text or a path, got "):
        fp.read_trec_run(path)


def test_an_archive_that_ends_too_early(tmp_path):
    path = tmp_path / "r.gz"
    path.write_bytes(gzip.compress(b"q1 Q0 d1 1 1 t\n" * 500)[:-9])
    with pytest.raises(ValueError, match=r"r\.gz is compressed, and damaged or truncated"):
        fp.read_trec_run(path)


def test_another_encoding(tmp_path):
    path = tmp_path / "r"
    path.write_bytes("q1 Q0 d1 1 2 a\nq1 Q0 dé 1 2 a\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"r, line 2: this is not UTF-8, convert the file, such as by iconv"):
        fp.read_trec_run(path)


def test_the_number_of_keys_in_a_sentence():
    with pytest.raises(ValueError, match=r"in the run, 1 value of \(q\) stands in more than one row"):
        fp.join_judgments(run.head(2), run.select("q"), on="q")
