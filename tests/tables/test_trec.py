"""Files of TREC as they come: from pipes, compressed, cut off, and with malformed lines."""

import bz2
import gzip
import lzma
import math
import os
import re
import sys
import zlib
from pathlib import Path

import polars as pl
import pytest

import frame_pr as fp

RUN = """q1 Q0 d3 1 9.5 bm25
q1\tQ0\td1\t2\t-1e-3\tbm25
  q2   Q0 \t d3  1 8  bm25  \r

 \t
q10 Q0 d/ü:2 0 .5 "tag
"""
RUN_ROWS = [
    ("bm25", "q1", "d3", 1, 9.5),
    ("bm25", "q1", "d1", 2, -0.001),
    ("bm25", "q2", "d3", 1, 8.0),
    ('"tag', "q10", "d/ü:2", 0, 0.5),
]
QRELS = "1 0 d3 1\n\n1\t0\td1\t-1\r\n002 Q0  d3 2"
QRELS_ROWS = [("1", "0", "d3", 1), ("1", "0", "d1", -1), ("002", "Q0", "d3", 2)]


@pytest.fixture
def file(tmp_path):
    def make(content: str | bytes, name: str = "file [1].txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def test_a_run(file):
    run = fp.read_trec_run(file(RUN))
    assert run.rows() == RUN_ROWS
    texts = dict.fromkeys(("system", "query", "document"), pl.String)
    assert list(run.schema.items()) == list(
        {**texts, "rank": pl.Int64, "score": pl.Float64}.items()
    )


def test_judgments(file):
    judgments = fp.read_trec_qrels(file(QRELS))
    assert judgments.rows() == QRELS_ROWS
    texts = dict.fromkeys(("query", "iteration", "document"), pl.String)
    assert list(judgments.schema.items()) == list({**texts, "relevance": pl.Int64}.items())


@pytest.mark.parametrize("name", ["run.gz", "run.txt"])
@pytest.mark.parametrize("module", [gzip, bz2, lzma])
def test_compression_by_content(file, name, module):
    assert fp.read_trec_run(file(module.compress(RUN.encode()), name)).rows() == RUN_ROWS


@pytest.mark.parametrize("module", [gzip, bz2, lzma])
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_a_compressed_file_that_ends_early(file, module, part):
    content = module.compress(QRELS.encode())
    cut = content[: int(part * len(content))]
    with pytest.raises(ValueError, match=r"\.txt is compressed, and damaged or truncated: "):
        fp.read_trec_qrels(file(cut))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 reads zstd")
def test_zstd_before_python_3_14(file):
    with pytest.raises(
        ValueError, match=r"compressed by compression\.zstd, which this Python lacks"
    ):
        fp.read_trec_qrels(file(b"\x28\xb5\x2f\xfd\x00"))


@pytest.mark.parametrize("comment", ["# TREC judgments 2024", "#a b", "# a\tb c 1 0.9 run", "#"])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("start", ["", " \t", "\ufeff"])
def test_comments(file, comment, place, start):
    judgments = ["q1 0 d1 1", "q1 0 #d2 0"]
    judgments.insert(place, start + comment)
    rows = [("q1", "0", "d1", 1), ("q1", "0", "#d2", 0)]
    assert fp.read_trec_qrels(file("\n".join(judgments))).rows() == rows
    run = ["q1 Q0 d1 1 2.0 a", "q1 Q0 d#2 2 1.0 #a"]
    run.insert(place, start + comment)
    rows = [("a", "q1", "d1", 1, 2.0), ("#a", "q1", "d#2", 2, 1.0)]
    assert fp.read_trec_run(file("\n".join(run))).rows() == rows


def test_a_comment_above_a_header(file):
    content = "# 3 words\nquery-id\tcorpus-id\tscore\n# q2\td2\t0\nq1\td1\t1\n"
    assert fp.read_trec_qrels(file(content)).rows() == [("q1", "0", "d1", 1)]
    assert fp.read_trec_qrels(file("# nobody judged\n")).shape == (0, 4)


def test_the_number_of_a_line_counts_comments(file):
    with pytest.raises(ValueError, match=r", line 3: relevance 'x' is not a number"):
        fp.read_trec_qrels(file("# first\nq1 0 d1 1\nq1 0 d2 x\n"))


def test_words_after_the_tag_of_a_run(file):
    # trec_eval's own results.trunc has such lines.
    content = "301\tQ0\tFBIS3-27619\t99\t  2.138276\tSTANDARD more junk at\n"
    rows = [("STANDARD", "301", "FBIS3-27619", 99, 2.138276)]
    assert fp.read_trec_run(file(content)).rows() == rows


@pytest.mark.parametrize(
    ("texts", "values", "dtype"),
    [
        (["0.2", "0.75"], [0.2, 0.75], pl.Float64),
        (["1", "-.5", "1e-2"], [1.0, -0.5, 0.01], pl.Float64),
        (["1", "2.0", "3e0"], [1, 2, 3], pl.Int64),
    ],
)
@pytest.mark.parametrize("header", ["", "query-id\tcorpus-id\tscore\n"])
def test_decimal_relevance(file, header, texts, values, dtype):
    lines = [f"q1\td{i}\t{text}" for i, text in enumerate(texts)]
    judgments = fp.read_trec_qrels(file(header + "\n".join(lines)))
    assert judgments["relevance"].to_list() == values
    assert judgments.schema["relevance"] == dtype


def test_decimal_relevance_as_gain(file):
    judgments = fp.read_trec_qrels(file("q 0 a 0.2\nq 0 b 0.75\nq 0 c 1\n"))
    run = fp.read_trec_run(file("q Q0 a 1 3 run\nq Q0 b 2 2 run\nq Q0 c 3 1 run\n", "run"))
    joined = run.pr.join_judgments(judgments, on=["query", "document"])
    # DCG of .2, .75, 1 by that of 1, .75, .2 with discounts 1, 1/log2(3), 1/2.
    second = 1 / math.log2(3)
    expected = (0.2 + 0.75 * second + 0.5) / (1 + 0.75 * second + 0.1)
    truth = pl.col("relevance") > 0
    assert joined.pr.ndcg(truth, "score", gain="relevance").item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("header", "repeated"),
    [
        ("qid query docid label", "'qid', 'query'"),
        ("query-id corpus-id score relevance", "'score', 'relevance'"),
        ("query_id doc_id passage_id relevance", "'doc_id', 'passage_id'"),
        ("qid docid rel iter Q0", "'iter', 'Q0'"),
        ("topic query docid docno rel", "'topic', 'query', 'docid', 'docno'"),
    ],
)
def test_a_header_with_two_names_of_a_field(file, header, repeated):
    content = header + "\n" + "x " * len(header.split())
    message = f", line 1: the header names a field more than once, {repeated}; rename all but one"
    for text in (content, content.replace(" ", "\t")):
        with pytest.raises(ValueError, match=re.escape(message)):
            fp.read_trec_qrels(file(text))


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_no_lines(file, content):
    assert fp.read_trec_run(file(content)).shape == (0, 5)
    assert fp.read_trec_qrels(file(content)).shape == (0, 4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        # The empty lines count.
        (
            RUN + "\nq3 Q0 d1 1 .5",
            ", line 8: expected 6 fields (query Q0 document rank score tag), found 5: 'q3 Q0",
        ),
        ("q3 Q0 d1 1 high run", ", line 1: score 'high' is not a number: 'q3 Q0 d1 1 high run'"),
        ("q3 Q0 d1 1.5 2 run", ", line 1: rank '1.5' is not a whole number: 'q3 Q0 d1 1.5 2 run'"),
        (
            QRELS,
            "file [1].txt, line 1: expected 6 fields (query Q0 document rank score tag), found 4: ",
        ),
        (QRELS, "(and 2 more lines like it)"),
    ],
)
def test_malformed_lines_of_a_run(file, content, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fp.read_trec_run(file(content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "q 0 d 1\nq 0 d",
            ", line 2: expected 4 fields (query iteration document relevance) or 3 (query ",
        ),
        (
            "q d 1\nq 0 d 1",
            ", line 2: expected 3 fields (query document relevance), found 4: 'q 0 d 1'",
        ),
        (
            "query-id,corpus-id,score",
            "), found 1; fields are separated by blanks or tabs: 'query-id,corpus-id,score'",
        ),
        ("q d 0,5", ", line 1: relevance '0,5' is not a number below 2**53: 'q d 0,5'"),
        ("q d nan", ", line 1: relevance 'nan' is not a number below 2**53: 'q d nan'"),
        (
            "qid\tdocument\tnote\trel\nq\td\t0\t1\nq\td2\t0\n",
            ", line 3: expected 4 fields (query document field 2 ",
        ),
        (
            "query-id\tcorpus-id\tscore\nq\td\thigh",
            ", line 2: relevance 'high' is not a number below 2**53: 'q\\td\\thigh'",
        ),
        ("q 0 d 1\n\nq 0 d x\n", ", line 3: relevance 'x' is not a number below 2**53: 'q 0 d x'"),
        (
            "q 0 d 99999999999999999999",
            "relevance '99999999999999999999' is not a number below 2**53",
        ),
        (RUN, "or 3 (query document relevance), found 6: 'q1 "),
    ],
)
def test_malformed_lines_of_judgments(file, content, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fp.read_trec_qrels(file(content))


def test_a_file_that_is_no_text(file):
    with pytest.raises(ValueError, match="line 1: this is not UTF-8, convert the file"):
        fp.read_trec_qrels(file(b"q 0 \xff\xfe 1\n"))
    with pytest.raises(ValueError, match="line 2: this is not UTF-8"):
        fp.read_trec_qrels(file("q 0 d 1\nq 0 d\xe9 1\n".encode("latin1")))
    with pytest.raises(ValueError, match=r"line 1: this is not UTF-8, .* or decompress it"):
        fp.read_trec_qrels(file(zlib.compress(QRELS.encode())))
    with pytest.raises(ValueError, match="line 2: the file ends inside a letter, so it may be cut"):
        fp.read_trec_qrels(file("q 0 d 1\nq 0 ü".encode()[:-1]))


@pytest.mark.parametrize(
    ("content", "iteration"),
    [
        # MS MARCO, four fields and three.
        ("q1\t0\td1\t1\nq2\t0\td/2\t0\n", "0"),
        ("q1\td1\t1\n\nq2\td/2\t0\n", "0"),
        # BEIR, and names in another order, of which one means nothing.
        ("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td/2\t0\n", "0"),
        # Fields separated by tabs may have blanks in them, and more fields may follow those that
        # are read.
        ("query-id\tcorpus-id\tscore\tnote\nq1\td1\t1\tof two\nq2\td/2\t0\n", "0"),
        ("qid docid rel note\nq1 d1 1 of two\nq2 d/2 0\n", "0"),
        ("Relevance\tquery\tannotator\tdoc_id\tITER\n1\tq1\tann\td1\t7\n0\tq2\tbob\td/2\t7\n", "7"),
    ],
)  # fmt: skip
def test_judgments_of_other_tools(file, content, iteration):
    rows = [("q1", iteration, "d1", 1), ("q2", iteration, "d/2", 0)]
    assert fp.read_trec_qrels(file(content)).rows() == rows
    assert (
        fp.read_trec_qrels(file(gzip.compress(b"\xef\xbb\xbf" + content.encode()))).rows() == rows
    )


def test_ids_with_blanks_in_fields_separated_by_tabs(file):
    content = "query-id\tcorpus-id\tscore\nq 1\tblack tea \t1\n"
    assert fp.read_trec_qrels(file(content)).rows() == [("q 1", "0", "black tea", 1)]


def test_several_files_and_patterns(file, tmp_path):
    file("q1 Q0 d1 1 2 a\n", "a.run")
    file("q1 Q0 d1 1 3 b\n", "b.run")
    file("q1 Q0 d1 1 4 c\n", "c [x].run")
    rows = [("a", "q1", "d1", 1, 2.0), ("b", "q1", "d1", 1, 3.0), ("c", "q1", "d1", 1, 4.0)]
    assert fp.read_trec_run(tmp_path / "*.run").rows() == rows
    assert fp.read_trec_run([tmp_path / "[a-b].run", bytes(tmp_path / "c [x].run")]).rows() == rows
    assert fp.read_trec_run([f"{tmp_path}/b.run", f"{tmp_path}/a.run"]).rows() == rows[1::-1]
    # A dict names the systems, and its files are no patterns.
    named = fp.read_trec_run({"old": tmp_path / "a.run", "new": tmp_path / "c [x].run"})
    assert named["system"].to_list() == ["old", "new"]
    with pytest.raises(FileNotFoundError, match=re.escape("*.txt")):
        fp.read_trec_run(tmp_path / "*.txt")
    with pytest.raises(FileNotFoundError, match=re.escape("*.run")):
        fp.read_trec_run({"all": tmp_path / "*.run"})
    file("q1 0 d1 1\n", "1.qrels")
    file("query-id corpus-id score\nq1 d2 1\n", "2.qrels")
    assert fp.read_trec_qrels(tmp_path / "?.qrels").rows() == [
        ("q1", "0", "d1", 1),
        ("q1", "0", "d2", 1),
    ]


def test_a_document_in_two_files(file, tmp_path):
    first = file("q1 Q0 d1 1 2 tag\nq1 Q0 d2 1 2 tag\n", "1.run")
    second = file("q1 Q0 d2 1 3 tag\n", "2.run")
    fault = "2.run, line 1: query 'q1' has document 'd2' a second time"
    message = f"{fault}, first in {first}; give a dict of files"
    with pytest.raises(ValueError, match=re.escape(message)):
        fp.read_trec_run([first, second])
    assert fp.read_trec_run({"a": first, "b": second})["system"].to_list() == ["a", "a", "b"]
    one = file("q1 0 d1 1\n", "1.qrels")
    two = file("q1 d1 0\n", "2.qrels")
    with pytest.raises(
        ValueError, match=f"second time, first in {re.escape(str(one))}; keep one line of each"
    ):
        fp.read_trec_qrels([one, two])


@pytest.mark.parametrize("score", ["inf", "-inf", "1e999", "infinity"])
def test_infinite_scores_of_runs(file, score):
    with pytest.raises(ValueError, match=r"line 2: score '.*' is not a number"):
        fp.read_trec_run(file(f"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 {score} tag\n"))


def test_a_document_twice(file):
    with pytest.raises(
        ValueError,
        match="line 3: query 'q1' has document 'd1' a second time; keep one line of each",
    ):
        fp.read_trec_run(file("q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.5 tag\nq1 Q0 d1 3 0.5 tag\n"))
    with pytest.raises(ValueError, match=r"line 2: .* a second time; keep one line of each"):
        fp.read_trec_qrels(file("q1 0 d1 1\nq1 0 d1 0\nq1 0 d1 2\n"))


def test_a_document_of_two_runs_or_two_subtopics(file):
    assert (
        fp.read_trec_run(
            file("q1 Q0 d1 1 2.5 old\nq1 Q0 d1 1 1.5 new\nq2 Q0 d1 1 1.5 new\n")
        ).height
        == 3
    )
    assert fp.read_trec_qrels(file("q1 1 d1 1\nq1 2 d1 0\n")).height == 2


def test_equal_lines_of_judgments_count_once(file):
    one = file("q1 0 d1 1\nq1 0 d2 0\nq1 0 d1 1\n", "1")
    two = file("q1 0 d2 0\nq2 0 d1 1\n", "2")
    assert fp.read_trec_qrels([one, two]).rows() == [
        ("q1", "0", "d1", 1),
        ("q1", "0", "d2", 0),
        ("q2", "0", "d1", 1),
    ]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_pipe(compress):
    read, write = os.pipe()
    os.write(write, compress(RUN.encode()))
    os.close(write)
    assert fp.read_trec_run(f"/dev/fd/{read}").rows() == RUN_ROWS
    os.close(read)


def test_a_gzip_file_that_is_cut_off_or_has_two_members(file):
    content = gzip.compress(RUN.encode())
    assert fp.read_trec_run(file(gzip.compress(b"") + content)).rows() == RUN_ROWS
    for part in (content[:-5], content[: len(content) // 2], content + b"more"):
        with pytest.raises(ValueError, match="is compressed, and damaged or truncated: "):
            fp.read_trec_run(file(part))


def test_paths_of_every_kind(file, tmp_path, monkeypatch):
    path = file(QRELS, "qrels")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (path, str(path), os.fsencode(path), "~/qrels"):
        assert fp.read_trec_qrels(name).rows() == QRELS_ROWS
    with path.open() as opened, pytest.raises(TypeError, match="got an open file: give its name"):
        fp.read_trec_qrels(opened)


def test_all_that_parts_fields_in_trec_eval(file):
    line = b" q1\vQ0\fd1 \r 1\t2.5\v\ft\f\r\n"
    assert fp.read_trec_run(file(line + b"\v\n\f\r\n")).rows() == [("t", "q1", "d1", 1, 2.5)]


@pytest.mark.parametrize("rank", ["1.0", "1e0", "+1", "1."])
def test_whole_numbers_as_floats(file, rank):
    assert fp.read_trec_qrels(file(f"q1 0 d1 {rank}"))["relevance"].item() == 1
