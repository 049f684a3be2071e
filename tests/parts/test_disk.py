"""Frames larger than memory, in parts that are small enough for a test: always the numbers of the plain call."""

import errno
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import nullcontext
from datetime import date
from decimal import Decimal
from types import SimpleNamespace

import polars as pl
import polars.selectors as cs
import pytest
from compare import assert_same
from names import NAMES

import frame_pr as fp
from frame_pr import accessors
from frame_pr.parts import disk
from frame_pr.parts.disk import part_folder
from frame_pr.parts.score_ranges import range_edges, range_of

pytestmark = pytest.mark.slow

# Null is the large group, which is in several parts.
KEYS = {
    "String": pl.Series([None, "a", "b", "d"]),
    "Date": pl.Series([None, date(2024, 1, 1), date(2024, 2, 1), date(2025, 1, 1)]),
    "Decimal": pl.Series([None, Decimal("1.50"), Decimal("2.50"), Decimal("-1.00")]),
    "Binary": pl.Series([None, b"a", b"\x00", b""]),
    "Categorical": pl.Series([None, "x", "y", "z"], dtype=pl.Categorical),
}


def scored(seed: int = 0, rows: int = 600) -> pl.DataFrame:
    """Groups of very different sizes, the third without a positive; ties; another score and weights."""
    place = pl.Series("place", range(rows)).shuffle(seed)
    data = place.to_frame().with_columns(
        group=pl.when(pl.col("place") < 0.7 * rows).then(0).otherwise(pl.col("place") % 4),
        s=(pl.col("place") * 7919 % 97) / 96,
        other=pl.col("place") * 104729 % 1009,
        w=pl.col("place") % 5 * 0.5,
        P=pl.lit(rows),
    )
    return data.with_columns(y=(pl.col("place") * 31 % 7 < 2) & (pl.col("group") != 2))


def parted(frame: pl.DataFrame, parts: int, **given) -> fp.PR[pl.DataFrame]:
    return fp.partitioned(frame.lazy(), partitions=parts, progress=False, **given)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path, monkeypatch):
    """Every test writes to a directory of its own, and leaves nothing in it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield
    assert [path for path in tmp_path.iterdir() if path.name.startswith("frame_pr-")] == []


@pytest.mark.parametrize("given", [{"by": "group"}, {}, {"by": "group", "weight": "w"}, {"bins": 7}], ids=str)
@pytest.mark.parametrize("parts", [1, 5])
def test_a_tally_is_that_of_the_plain_call(parts, given):
    data = scored()
    expected = fp.tally(data, "y", "s", **given)
    assert parted(data, parts).tally("y", "s", **given).equals(expected)
    # Rows that are alike are in one part, and a part is a tally: a tally of them all would find nothing more.
    assert parted(expected, parts).tally("y", "s", count="count", **given).equals(expected)


@pytest.mark.parametrize("by", ["group", None, ["group", "w"]], ids=str)
@pytest.mark.parametrize("parts", [1, 5, 40])
def test_every_metric_is_that_of_the_plain_call(parts, by):
    # With five parts, all names: half of them in groups, and the others without.
    step = 2 if parts == 5 and by != ["group", "w"] else 13
    data, names = scored(), NAMES[0 if by else 1 :: step]
    assert_same(parted(data, parts).evaluate(names, "y", "s", by=by), fp.evaluate(data, names, "y", "s", by=by))


@pytest.mark.parametrize("by", ["group", None], ids=str)
@pytest.mark.parametrize(
    "policies",
    [
        {"ties": "expected"},
        {"ties": "optimistic"},
        {"ties": "pessimistic"},
        {"tie_break": "other"},
        {"total_positives": "P"},
        {"total_positives": "P", "total_rows": pl.DataFrame({"n": [9999]})},
    ],
    ids=str,
)
def test_policies(policies, by):
    data, metrics = scored(), ["average_precision", "r_precision", "f1@7", "tn@20", "tied_rows"]
    if by is not None and "total_rows" in policies:
        policies = {**policies, "total_rows": pl.DataFrame({"group": [0, 1, 2, 3], "n": [9999] * 4})}
    expected = fp.evaluate(data, metrics, "y", "s", by=by, **policies)
    assert_same(parted(data, 4).evaluate(metrics, "y", "s", by=by, **policies), expected)


@pytest.mark.filterwarnings("ignore:total_rows. the option changes nothing")
@pytest.mark.parametrize("rows", [pl.DataFrame({"group": [0, 1, 2, 3, 9], "n": [1] * 5}), "other"])
@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_totals_that_change_nothing_are_not_validated(rows, by):
    data = scored().with_columns(other=pl.lit(1))
    if by is None and not isinstance(rows, str):
        rows = rows.select("n").head(1)
    given = {"truth": "y", "score": "s", "by": by, "total_positives": "P", "total_rows": rows}
    expected = fp.average_precision(data, **given)
    assert expected.height == (4 if by else 1)
    assert_same(parted(data, 4).average_precision(**given), expected)


@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_totals_in_any_kind_of_frame(by):
    data, known = scored(), pl.DataFrame({"group": [0, 1, 2, 3], "n": [9999] * 4})
    given = {"truth": "y", "score": "s", "by": by, "total_positives": (known if by else known.select("n").head(1))}
    assert_same(parted(data, 4).average_precision(**given), fp.average_precision(data, **given))


@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_weights(by):
    data, metrics = (
        scored(),
        ["interpolated_average_precision", "max_f1", "k@recall=0.5", "rows", "recall@threshold=0.5"],
    )
    expected = fp.evaluate(data, metrics, "y", "s", by=by, weight="w")
    assert_same(parted(data, 4).evaluate(metrics, "y", "s", by=by, weight="w"), expected)


@pytest.mark.parametrize("missing", [None, math.nan])
@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_unretrieved_rows_are_in_no_range(by, missing):
    data = scored().with_columns(s=pl.when(pl.col("place") % 6 == 0).then(pl.lit(missing)).otherwise("s"))
    given = {"by": by, "unscored": "unretrieved"}
    metrics = [
        "average_precision",
        "interpolated_average_precision",
        "rows",
        "k@recall=0.1",
        "precision@500",
        "roc_auc",
    ]
    assert_same(parted(data, 4).evaluate(metrics, "y", "s", **given), fp.evaluate(data, metrics, "y", "s", **given))
    with pytest.raises(ValueError, match=r"score column 's' has .* missing"):
        parted(data, 4).average_precision("y", "s", by=by)


@pytest.mark.parametrize("given", [{"total_positives": "P"}, {"unscored": "unretrieved"}], ids=str)
def test_the_best_f_of_ranges_without_a_hit(given):
    # All thresholds are equally good, and the highest of them stands in the first range, beside others.
    top = pl.when(pl.col("place") == 7).then(2).otherwise("s")
    data = scored().with_columns(y=pl.col("place") == 5, s=pl.when(pl.col("place") != 5).then(top))
    data = data if "unscored" in given else data.filter(pl.col("place") != 5)
    metrics = ["max_f1", "threshold@max_f1"]
    expected = fp.evaluate(data, metrics, "y", "s", **given)
    assert expected.row(0) == (0, 2)
    assert_same(parted(data, 4).evaluate(metrics, "y", "s", **given), expected)


@pytest.mark.parametrize("keys", KEYS.values(), ids=list(KEYS))
@pytest.mark.parametrize("parts", [3, 20])
def test_keys_keep_their_type(parts, keys):
    data = scored().with_columns(key=keys.gather(scored()["group"]))
    call = {"metrics": ["average_precision", "interpolated_average_precision"], "truth": "y", "score": "s"}
    call["by"] = ["key", "group"]
    assert_same(parted(data, parts).evaluate(**call), fp.evaluate(data, **call))


@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_several_scores(by):
    data, given = scored(), {"truth": "y", "score": ["s", "other"], "by": by}
    assert_same(parted(data, 4).report(**given), fp.report(data, **given))


def test_keys_that_are_close_in_some_ranges_and_far_apart_in_others():
    # Where they are close they are digits, elsewhere they are numbered.
    apart = pl.DataFrame({"a": [0, 2**62] * 20, "b": [1, -(2**62)] * 20})
    data = pl.concat([apart, pl.DataFrame({"a": [5] * 40, "b": [6] * 40})]).with_row_index("s")
    data = data.with_columns(y=pl.col("s") % 3 == 0)
    for parts in (20, 40):
        found = parted(data, parts).average_precision("y", "s", by=["a", "b"])
        assert_same(found, fp.average_precision(data, "y", "s", by=["a", "b"]))


def test_means_are_taken_over_all_parts():
    data = scored().with_columns(side=pl.col("group") % 2)
    for given in (
        {"mean_over": "group"},
        {"mean_over": "group", "score": ["other", "s"]},
        {"mean_over": ["group", "side"]},
    ):
        given = {"truth": "y", "score": "s", "by": ["side", "group"]} | given
        metrics = ["average_precision", "precision@5"]
        assert_same(parted(data, 3).evaluate(metrics, **given), fp.evaluate(data, metrics, **given))


def test_a_label_that_some_parts_have_no_row_of():
    data = scored().with_columns(y=pl.when("y").then(pl.lit("yes")).otherwise(pl.lit("no")))
    given = {"truth": "y", "score": "s", "by": "group", "positive": "yes"}
    assert_same(parted(data, 9).average_precision(**given), fp.average_precision(data, **given))


@pytest.mark.parametrize("name", ["part", "row", "rows", "positives", "score", "by0", "number"])
def test_columns_of_any_name(name):
    for column in ("group", "s"):
        data = scored().rename({column: name})
        given = {"truth": "y", "score": "s", "by": "group"} | {"score" if column == "s" else "by": name}
        for by in (given["by"], None):
            given["by"] = by
            assert_same(parted(data, 5).average_precision(**given), fp.average_precision(data, **given))


@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_no_rows(by):
    data = scored().clear()
    assert_same(parted(data, 3).report("y", "s", by=by), fp.report(data, "y", "s", by=by))


@pytest.mark.parametrize("total", ["P", pl.DataFrame({"n": [3]})], ids=["column", "frame"])
def test_no_row_that_counts(total):
    rows = pl.DataFrame({"y": [0, 0], "s": [None, None], "P": [3, 3]}, schema_overrides={"s": pl.Float64})
    policies = {"total_positives": total, "unscored": "drop"}
    parts = fp.partitioned(rows, partitions=2, progress=False)
    result = parts.evaluate(["positives", "rows", "recall@threshold=0"], "y", "s", **policies)
    assert result.rows() == [(3, 3, 0.0)]


def test_from_files_without_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(accessors, "_LEAST", 1)
    data = scored()
    for i, part in enumerate(data.iter_slices(100)):
        part.write_parquet(tmp_path / f"{i}.parquet")
    scanned = pl.scan_parquet(tmp_path / "*.parquet")
    result = fp.partitioned(scanned, memory_budget=30_000, progress=False).interpolated_average_precision("y", "s")
    assert_same(result, fp.interpolated_average_precision(data, "y", "s"))


def test_the_budget_says_how_many_parts(capsys, monkeypatch):
    data, written = scored(), []

    def spy(frame, part, folder):
        parts = real(frame, part, folder)
        written.append(len(parts))
        return parts

    real = disk._write_parts
    monkeypatch.setattr(accessors, "_LEAST", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "_write_parts", spy)
        # 600 rows of 160 bytes and a Boolean and a Float64: 3.4 budgets, and a fifth more.
        fp.partitioned(data, memory_budget="30 KB").average_precision("y", "s")
    # 600 rows of 9 bytes are no tenth of a GB.
    assert "600 rows in 5 parts, up to 0.0 GB of disk in " in capsys.readouterr().err
    assert written == [5]
    fp.partitioned(data, memory_budget="30 KB", progress=False).average_precision("y", "s")
    assert capsys.readouterr().err == ""


def test_the_bar_counts_every_row(monkeypatch):
    done = []
    bar = nullcontext(SimpleNamespace(update=done.append))
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(tqdm=lambda **_: bar))
    parted(scored(), 4).average_precision("y", "s", by="group")
    assert done == []
    fp.partitioned(scored(), partitions=4).average_precision("y", "s", by="group")
    assert sum(done) == 600


def test_no_more_rows_than_fit_are_taken_at_once(monkeypatch):
    data, heights = scored(), []
    plain = disk.PartQuery.of_groups

    def spy(call, part, mean_over=None):
        heights.append(part.height)
        return plain(call, part, mean_over)

    monkeypatch.setattr(disk.PartQuery, "of_groups", spy)
    parted(data, 4).average_precision("y", "s", by="group")
    # Group 0 has more than 420 rows, and was cut into ranges.
    assert max(heights) <= math.ceil(1.5 * 600 / 4)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"weight": "w"},
        {"unscored": "unretrieved", "ascending": True},
        {"ties": "expected"},
        {"total_positives": "P"},
    ],
    ids=str,
)
@pytest.mark.parametrize("by", ["group", None])
def test_rows_that_are_alike_are_counted_first(given, by, monkeypatch):
    # Six scores, one of them zero of either sign, and a column that is named like a count.
    score = pl.when(pl.col("place") % 6 > 0).then(pl.col("place") % 6 / 4)
    score = score.otherwise(pl.col("place") % 4 * 0.0 - 0.0) if given.get("unscored") is None else score
    data = scored().with_columns(s=score).rename({"y": "count", "group": "count" * 3 if by is None else "group"})
    names = ["rows", "positives", "average_precision", "roc_auc", "tied_rows"]
    names += ["max_f1", "threshold@recall=0.9"] if given.get("ties") is None else []
    monkeypatch.setattr(disk, "range_edges", None)
    assert_same(
        parted(data, 4).evaluate(names, "count", "s", by=by, **given),
        fp.evaluate(data, names, "count", "s", by=by, **given),
    )
    two = data.with_columns(other=pl.col("place") % 5)
    if given.get("unscored") is None:
        result = parted(two, 4).evaluate(names[:3], "count", ["s", "other"], by=by, **given)
        assert_same(result, fp.evaluate(two, names[:3], "count", ["s", "other"], by=by, **given))


def test_what_is_wrong_with_rows_that_are_alike_is_told_of_the_rows():
    data = scored().with_columns(s=pl.when(pl.col("place") % 50 > 0).then(pl.col("place") % 3))
    with pytest.raises(ValueError, match="score column 's' has 12 missing"):
        fp.partitioned(data, partitions=2, progress=False).average_precision("y", "s")
    labels = data.with_columns(y=pl.lit("x"))
    with pytest.raises(ValueError, match="has no 'z', it holds 'x'"):
        parted(labels, 2).average_precision("y", "s", positive="z", unscored="drop")


def test_cuts_never_part_equal_scores():
    scores = pl.Series("s", [0.5] * 50 + [0.25] * 30 + [1.0] * 20 + [None])
    cuts = range_edges(scores, 10)
    numbered = (
        scores.to_frame()
        .with_columns(range_of("s", cuts, ascending=False))
        .unique()
        .sort("s", descending=True, nulls_last=True)
    )
    assert numbered.rows() == [(1.0, 0), (0.5, 1), (0.25, 2), (None, None)]


@pytest.mark.parametrize("parts", [2, 30])
def test_an_error_leaves_nothing(parts):
    broken = scored().with_columns(y=pl.when(pl.col("place") == 77).then(None).otherwise("y"))
    for by in ("group", None):
        with pytest.raises(ValueError, match="truth column 'y' has 1 missing"):
            parted(broken, parts).average_precision("y", "s", by=by)


@pytest.mark.skipif(os.name != "posix", reason="Windows cannot send Ctrl-C to a single process")
def test_an_interrupt_leaves_nothing(tmp_path):
    script = (
        "import os, signal, sys, polars as pl, frame_pr as fp\n"
        "from frame_pr.parts import disk\n"
        "real = disk.PartQuery.of_groups\n"
        "def interrupted(call, part, mean_over=None):\n"
        "    if part.height:\n"
        "        print(len(os.listdir(sys.argv[1])), flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(call, part, mean_over)\n"
        "disk.PartQuery.of_groups = interrupted\n"
        "data = pl.DataFrame({'g': [1, 2, 3, 4] * 9, 'y': [True, False] * 18, 's': list(range(36))})\n"
        "parts = fp.partitioned(data, partitions=2, directory=sys.argv[1], progress=False)\n"
        "parts.average_precision('y', 's', by='g')\n"
    )
    ran = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, encoding="utf-8", timeout=60)
    assert ran.stdout.strip() == "1", "the parts were there when the interrupt came"
    assert "KeyboardInterrupt" in ran.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("code", "codes"), [(28, {}), (112, {112: 28})], ids=["posix", "windows"])
def test_a_full_disk(code, codes, monkeypatch):
    def full(*_, **__):
        raise OSError(f"No space left on device (os error {code})")

    monkeypatch.setattr(disk, "_SYSTEM_CODES", codes)
    monkeypatch.setattr(pl.LazyFrame, "sink_ipc", full)
    with pytest.raises(OSError, match=r"the disk of .* is full: .*directory="):
        parted(scored(), 2).average_precision("y", "s", by="group")


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EFBIG, r"larger than the system lets a file be \(ulimit -f\): partitions= makes smaller parts"),
        (errno.EDQUOT, "the disk quota of"),
    ],
)
def test_limits_of_files(number, sentence, monkeypatch):
    def refuse(*_, **__):
        raise OSError(f"File too large (os error {number})")

    monkeypatch.setattr(pl.LazyFrame, "sink_ipc", refuse)
    with pytest.raises(OSError, match=sentence):
        parted(scored(), 2).average_precision("y", "s", by="group")


def test_a_writer_that_ends_after_the_call_leaves_nothing(tmp_path):
    # A thread that makes the folder anew for a while, as one of polars does.
    def write(folder):
        for _ in range(10):
            (folder / "part=0").mkdir(parents=True, exist_ok=True)
            time.sleep(0.01)

    def interrupted_call():
        with part_folder(tmp_path) as folder:
            threading.Thread(target=write, args=(folder,)).start()
            raise KeyError

    with pytest.raises(KeyError):
        interrupted_call()
    assert not list(tmp_path.iterdir())


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(OSError, match=r"no parts can be written to the directory: .*: '.*/none'$"):
        parted(scored(), 2, directory=tmp_path / "none").average_precision("y", "s", by="group")


@pytest.mark.skipif(os.name != "posix", reason="names of files are Unicode on Windows")
def test_a_directory_whose_name_is_not_utf8(tmp_path, monkeypatch):
    latin = os.fsdecode(os.fsencode(tmp_path) + b"/\xe9")  # Its last character is a lone surrogate.
    wanted = (
        r"polars writes only to paths in UTF-8; rename the directory, or take another one with directory=: '.*udce9'$"
    )
    data = pl.DataFrame({"g": [1, 2], "y": [1, 1], "s": [1.0, 2.0]})
    with pytest.raises(OSError, match=wanted):
        fp.partitioned(data, partitions=2, directory=latin, progress=False).average_precision("y", "s", by="g")
    monkeypatch.setattr(tempfile, "tempdir", latin)
    with pytest.raises(OSError, match=wanted):
        fp.partitioned(data, partitions=2, progress=False).average_precision("y", "s", by="g")


@pytest.mark.parametrize("size", ["4 gigs", "", 0, -1, 2.5, "GiB"])
def test_sizes_that_are_none(size):
    with pytest.raises(ValueError, match="memory_budget must be a size such as '4GiB'"):
        fp.partitioned(scored(), memory_budget=size)


def test_sizes():
    sizes = {"4GiB": 2**32, "1.5 GB": 1_500_000_000, "3 MIB": 3 * 2**20, "2TB": 2 * 10**12, "7000000B": 7_000_000}
    assert {size: accessors._parse_bytes(size) for size in (*sizes, 2**20)} == sizes | {2**20: 2**20}


def test_what_parts_cannot_do():
    with pytest.raises(ValueError, match="partitions must be a whole number"):
        parted(scored(), 0)
    with pytest.raises(TypeError, match="polars LazyFrame or DataFrame, or a stream of Arrow, as its frame, got"):
        fp.partitioned([1])
    with pytest.raises(TypeError, match="parts do not: join evaluate"):
        parted(scored(), 2).with_metrics("average_precision", "y", "s", by="group")
    with pytest.raises(TypeError, match="evaluate, report"):
        parted(scored(), 2).curve("y", "s", by="group")
    with pytest.raises(ValueError, match="ties='order' uses the order of the rows"):
        parted(scored(), 2).average_precision("y", "s", by="group", ties="order")
    with pytest.raises(ValueError, match="no column 'z'"):
        parted(scored(), 2).average_precision("y", "z", by="group")


@pytest.mark.parametrize(
    "given",
    [
        {"by": pl.col("place") // 200},
        {"by": [pl.col("group"), (pl.col("s") * 3).floor().alias("third")]},
        {"by": (pl.col("s") * 3).floor()},  # a key of the name of the score
        {"by": "group", "truth": pl.col("other") > 900, "score": -pl.col("other")},
        {"by": "group", "truth": pl.col("w") >= 1, "weight": "w"},
        {"by": pl.col("place") % 50, "truth": pl.col("w") >= 1, "gain": pl.col("w") + 1, "metrics": ["ndcg", "rows"]},
        {"by": cs.by_name("group"), "score": ["s", pl.col("s").rank().over("group").alias("rank")]},
        {"by": "group", "score": cs.by_name("s", "other")},
        {"score": pl.col("s") + pl.col("other"), "weight": pl.col("w") * 2},
        {
            "by": "group",
            "tie_break": pl.col("place") % 50,
            "total_positives": pl.col("P") * 2,
            "total_rows": pl.col("P") * 4,
        },
        {"by": ["group", pl.col("place") % 3], "mean_over": "group", "truth": pl.col("y").cast(pl.Int8)},
    ],
)
def test_expressions_as_columns(given):
    frame = scored()
    arguments = {"metrics": ["roc_auc", "rows", "positives"], "truth": "y", "score": "s"} | given
    for parts in (2, 4):
        assert_same(parted(frame, parts).evaluate(**arguments), frame.pr.evaluate(**arguments))


def test_expressions_as_columns_of_a_tally():
    columns = {"truth": pl.col("w") > 1, "score": pl.col("s").round(1), "by": pl.col("place") % 3}
    assert_same(parted(scored(), 3).tally(**columns), scored().pr.tally(**columns))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"by": pl.col("dya")}, "by: no column 'dya'"),
        ({"by": pl.col("group"), "truth": "yy"}, "truth: no column 'yy'"),
        ({"truth": pl.col("y").sum()}, "truth: this expression gives one value for all rows"),
        ({"truth": cs.all()}, r"truth gives \d+ columns: it must be one"),
        (
            {"by": pl.col("s").floor(), "score": ["s", "other"]},
            "score: 's' is also another column of the call",
        ),
    ],
)
def test_wrong_expressions_as_columns(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        parted(scored(), 2).evaluate("rows", **{"truth": "y", "score": "s"} | given)


@pytest.mark.parametrize("by", ["group", None])
@pytest.mark.parametrize("policies", [{}, {"weight": "w"}, {"ties": "optimistic"}, {"ties": "expected"}], ids=str)
def test_counted_rows_in_ranges(policies, by):
    data = scored().with_columns(n=pl.col("place") % 3)
    names = ["rows", "positives", "average_precision", "roc_auc", "tp@threshold=0.3", "tied_rows"]
    if "weight" not in policies:
        names += ["precision@10", "average_precision@10", "bpref"]
    if policies.get("ties") != "expected":
        names += ["interpolated_average_precision", "k@recall=0.8"]
    given = {"by": by, "count": "n", **policies}
    found = parted(data, 5).evaluate(names, "y", "s", **given)
    assert_same(found, fp.evaluate(data, names, "y", "s", **given))
    if "weight" not in policies:
        repeated = data.select(pl.all().repeat_by("n")).explode(pl.all(), empty_as_null=False).drop("n")
        assert_same(found, fp.evaluate(repeated, names, "y", "s", by=by, **policies))


STREAMS = {
    "reader": lambda data: data.to_arrow().to_reader(max_chunksize=100),
    "DuckDB": lambda data: pytest.importorskip("duckdb").from_arrow(data.to_arrow()),
    "any": lambda data: SimpleStream(data),
}


class SimpleStream:
    """Rows of which nothing but a stream is known."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("parts", [1, 5])
@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_a_stream_is_that_of_the_plain_call(make, parts):
    data = scored().with_columns(text=pl.lit("long" * 20), **{'a "name"; --': pl.col("s")})
    given = {"truth": "y", "score": 'a "name"; --', "by": "group", "weight": "w"}
    of_stream = lambda: fp.partitioned(make(data), partitions=parts, progress=False)  # noqa: E731
    names = ["average_precision", "roc_auc", "threshold@max_f1"]
    assert_same(of_stream().evaluate(names, **given), fp.evaluate(data, names, **given))
    assert of_stream().tally(**given).sort(pl.all()).equals(fp.tally(data, **given).sort(pl.all()))
    mean = {"mean_over": True, "by": "group"}
    assert_same(of_stream().evaluate("roc_auc", "y", "s", **mean), fp.evaluate(data, "roc_auc", "y", "s", **mean))


def test_a_reader_serves_one_call_and_wrong_names_none():
    run = fp.partitioned(STREAMS["reader"](scored()), progress=False)
    with pytest.raises(ValueError, match="score: no column 'x' in the frame"):
        run.roc_auc("y", "x")
    with pytest.raises(TypeError, match="score column 'y' is Boolean"):
        run.roc_auc("group", "y")
    assert run.roc_auc("y", "s").height == 1
    with pytest.raises(ValueError, match="the stream of a RecordBatchReader has no rows: it may have been read before"):
        run.roc_auc("y", "s")
    with pytest.raises(ValueError, match="the stream of a RecordBatchReader has no rows"):
        run.tally("y", "s")


def test_a_file_of_a_stream_has_the_columns_of_the_call_only(monkeypatch):
    written, sink = [], disk.sink

    def noted(table, target, folder):
        written.append(table.collect_schema().names())
        sink(table, target, folder)

    monkeypatch.setattr(disk, "sink", noted)
    monkeypatch.setattr(disk, "_FILE", 4000)
    data = scored()
    run = fp.partitioned(STREAMS["reader"](data), progress=False)
    assert_same(run.roc_auc("y", "s", by="group"), fp.roc_auc(data, "y", "s", by="group"))
    assert len(written) > 1
    assert [names for names in written if names != ["group", "y", "s"]] == []
    run = fp.partitioned(STREAMS["reader"](data), progress=False, partitions=3)
    assert_same(run.roc_auc("y", "s", by=pl.col("group") % 2), fp.roc_auc(data, "y", "s", by=pl.col("group") % 2))


def test_a_stream_that_breaks():
    def batches():
        yield from scored().to_arrow().to_batches()
        raise RuntimeError("connection lost")

    pa = pytest.importorskip("pyarrow")
    reader = pa.RecordBatchReader.from_batches(scored().to_arrow().schema, batches())
    with pytest.raises(TypeError, match="the stream of a RecordBatchReader cannot be read: connection lost"):
        fp.partitioned(reader, progress=False).roc_auc("y", "s")
