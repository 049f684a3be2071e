"""Frames larger than memory, in small parts: always the values of the plain call."""

import copy
import math
import os
import pickle
import threading
import time
from contextlib import suppress
from datetime import date
from decimal import Decimal

import polars as pl
import polars.selectors as cs
import pytest
from compare import assert_same
from names import NAMES
from polars.io.plugins import register_io_source

import frame_pr as fp
from frame_pr.parts import disk
from frame_pr.parts.disk import part_folder

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
    """Groups of different sizes, the third without a positive; ties; two scores; weights."""
    place = pl.Series("place", range(rows)).shuffle(seed)
    data = (
        place.to_frame()
        .with_columns(
            group=pl.when(pl.col("place") < 0.7 * rows).then(0).otherwise(pl.col("place") % 4),
            s=(pl.col("place") * 7919 % 97) / 96,
            other=pl.col("place") * 104729 % 1009,
            w=pl.col("place") % 5 * 0.5,
            P=pl.lit(rows),
            y=pl.col("place") * 31 % 7 < 2,
        )
        .with_columns(pl.col("y") & (pl.col("group") != 2))
    )
    return data.with_columns(label=pl.when("y").then(pl.lit("yes")).otherwise(pl.lit("no")))


def parted(frame: pl.DataFrame, parts: int, **given) -> fp.PR[pl.DataFrame]:
    return fp.partitioned(frame.lazy(), partitions=parts, progress=False, **given)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path, monkeypatch):
    """Every test writes to a directory of its own, and leaves nothing in it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield
    assert [path for path in tmp_path.iterdir() if path.name.startswith("frame_pr-")] == []


@pytest.mark.parametrize(
    "given",
    [{"by": "group"}, {}, {"weight": "w"}, {"bins": 7}, {"truth": "label", "positive": "yes"}],
    ids=str,
)
@pytest.mark.parametrize("parts", [1, 5])
def test_a_tally_is_that_of_the_plain_call(parts, given):
    data, given = scored(), {"truth": "y", "score": "s"} | given
    expected = fp.tally(data, **given)
    assert parted(data, parts).tally(**given).equals(expected)
    # Rows that are alike are in one part, and a part is a tally: a tally of them all would find
    # nothing more.
    assert parted(expected, parts).tally(count="count", **given).equals(expected)


@pytest.mark.parametrize("by", ["group", None, ["group", "w"]], ids=str)
@pytest.mark.parametrize("parts", [1, 5, 40])
def test_every_metric_is_that_of_the_plain_call(parts, by):
    # With five parts, all names: half of them in groups, and the others without.
    step = 2 if parts == 5 and by != ["group", "w"] else 13
    data, names = scored(), NAMES[0 if by else 1 :: step]
    assert_same(
        parted(data, parts).evaluate(names, "y", "s", by=by),
        fp.evaluate(data, names, "y", "s", by=by),
    )


@pytest.mark.parametrize("by", ["group", None], ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {"ties": "expected"},
        {"ties": "optimistic"},
        {"ties": "pessimistic"},
        {"tie_break": "other"},
        {"total_positives": "P"},
        {"total_positives": "P", "total_rows": pl.DataFrame({"n": [9999]})},
        {"weight": "w"},
        {"score": ["s", "other"]},
        {"truth": "label", "positive": "yes"},
    ],
    ids=str,
)
def test_options(options, by):
    data, metrics = (
        scored(),
        ["average_precision", "interpolated_average_precision", "f1@7", "tn@20", "tied_rows"],
    )
    metrics = [
        *metrics[: 2 if "weight" in options else 5],
        "max_f1",
        "k@recall=0.5",
        "recall@threshold=0.5",
    ]
    metrics = [
        name
        for name in metrics
        if options.get("ties") != "expected" or ("@" in name and "k@" not in name)
    ]
    if by is not None and "total_rows" in options:
        options = {
            **options,
            "total_rows": pl.DataFrame({"group": [0, 1, 2, 3], "n": [9999] * 4}),
        }
    given = {"truth": "y", "score": "s", "by": by} | options
    assert_same(parted(data, 4).evaluate(metrics, **given), fp.evaluate(data, metrics, **given))


@pytest.mark.parametrize("missing", [None, math.nan])
@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_unretrieved_rows_are_in_no_range(by, missing):
    data = scored().with_columns(
        s=pl.when(pl.col("place") % 6 == 0).then(pl.lit(missing)).otherwise("s")
    )
    given = {"by": by, "unscored": "unretrieved"}
    metrics = [
        "average_precision",
        "interpolated_average_precision",
        "rows",
        "k@recall=0.1",
        "roc_auc",
    ]
    assert_same(
        parted(data, 4).evaluate(metrics, "y", "s", **given),
        fp.evaluate(data, metrics, "y", "s", **given),
    )
    with pytest.raises(ValueError, match=r"score column 's' has .* missing"):
        parted(data, 4).average_precision("y", "s", by=by)


@pytest.mark.parametrize("given", [{"total_positives": "P"}, {"unscored": "unretrieved"}], ids=str)
def test_the_best_f_of_ranges_without_a_hit(given):
    # All thresholds are equally good, and the highest of them stands in the first range, beside
    # others.
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
    call = {
        "metrics": ["average_precision", "interpolated_average_precision"],
        "truth": "y",
        "score": "s",
    }
    call["by"] = ["key", "group"]
    assert_same(parted(data, parts).evaluate(**call), fp.evaluate(data, **call))


@pytest.mark.parametrize("name", ["part", "row", "positives", "number"])
def test_columns_of_any_name(name):
    for column in ("group", "s"):
        data = scored().rename({column: name})
        given = {"truth": "y", "score": "s", "by": "group"} | {
            "score" if column == "s" else "by": name
        }
        for by in (given["by"], None):
            given["by"] = by
            assert_same(
                parted(data, 5).average_precision(**given), fp.average_precision(data, **given)
            )


@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_no_rows(by):
    data = scored().clear()
    assert_same(parted(data, 3).report("y", "s", by=by), fp.report(data, "y", "s", by=by))


def test_from_files_without_groups(tmp_path):
    # 40,000 rows of more than 160 bytes each are several parts of the least budget.
    data = scored(rows=40_000)
    for i, part in enumerate(data.iter_slices(10_000)):
        part.write_parquet(tmp_path / f"{i}.parquet")
    scanned = pl.scan_parquet(tmp_path / "*.parquet")
    result = fp.partitioned(
        scanned, memory_budget="1MiB", progress=False
    ).interpolated_average_precision("y", "place")
    assert_same(result, fp.interpolated_average_precision(data, "y", "place"))


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
    [{}, {"weight": "w"}, {"unscored": "unretrieved", "ascending": True}, {"ties": "expected"}],
    ids=str,
)
@pytest.mark.parametrize("by", ["group", None])
def test_rows_that_are_alike_are_counted_first(given, by):
    # Six scores, one of them zero of either sign, and a column that is named like a count.
    score = pl.when(pl.col("place") % 6 > 0).then(pl.col("place") % 6 / 4)
    score = (
        score.otherwise(pl.col("place") % 4 * 0.0 - 0.0) if given.get("unscored") is None else score
    )
    data = (
        scored()
        .with_columns(s=score)
        .rename({"y": "count", "group": "count" * 3 if by is None else "group"})
    )
    names = ["rows", "positives", "average_precision", "roc_auc", "tied_rows"]
    names += ["max_f1", "threshold@recall=0.9"] if given.get("ties") is None else []
    assert_same(
        parted(data, 4).evaluate(names, "count", "s", by=by, **given),
        fp.evaluate(data, names, "count", "s", by=by, **given),
    )
    two = data.with_columns(other=pl.col("place") % 5)
    if given.get("unscored") is None:
        result = parted(two, 4).evaluate(names[:3], "count", ["s", "other"], by=by, **given)
        assert_same(result, fp.evaluate(two, names[:3], "count", ["s", "other"], by=by, **given))


@pytest.mark.parametrize("parts", [2, 30])
def test_an_error_leaves_nothing(parts):
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(
            OSError, match=r"\[Errno 27\] no parts can be written .*: directory= takes another one"
        ):
            parted(scored(rows=20_000), parts).average_precision("y", "s", by="group")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    broken = scored().with_columns(y=pl.when(pl.col("place") == 77).then(None).otherwise("y"))
    for by in ("group", None):
        with pytest.raises(ValueError, match="truth column 'y' has 1 missing"):
            parted(broken, parts).average_precision("y", "s", by=by)


def test_a_writer_that_ends_after_the_call_leaves_nothing(tmp_path):
    # A thread that makes the folder anew for a while, as one of polars does.
    def write(folder):
        for _ in range(10):
            # Between two steps of `mkdir`, the call may remove what the first one made.
            with suppress(FileExistsError, FileNotFoundError):
                (folder / "part=0").mkdir(parents=True, exist_ok=True)
            time.sleep(0.01)

    def interrupted_call():
        with part_folder(tmp_path) as folder:
            threading.Thread(target=write, args=(folder,)).start()
            raise KeyError

    with pytest.raises(KeyError):
        interrupted_call()
    assert not list(tmp_path.iterdir())


def test_what_parts_cannot_do():
    with pytest.raises(ValueError, match="partitions must be a whole number"):
        parted(scored(), 0)
    with pytest.raises(
        TypeError, match="polars LazyFrame or DataFrame, or a stream of Arrow, as its frame, got"
    ):
        fp.partitioned([1])
    with pytest.raises(TypeError, match="parts do not: join evaluate"):
        parted(scored(), 2).with_metrics("average_precision", "y", "s", by="group")
    with pytest.raises(TypeError, match="evaluate, report"):
        parted(scored(), 2).curve("y", "s", by="group")
    with pytest.raises(ValueError, match="ties='order' uses the order of the rows"):
        parted(scored(), 2).average_precision("y", "s", by="group", ties="order")
    with pytest.raises(FileNotFoundError, match="none"):
        parted(scored(), 2, directory="/none").average_precision("y", "s", by="group")
    for option in ({"gain": "w"}, {"prevalence": 0.1}):
        with pytest.raises(ValueError, match="needs all rows of a group together"):
            parted(scored(), 2).evaluate(
                "ndcg" if "gain" in option else "average_precision", "y", "s", **option
            )


def test_parts_of_a_frame_can_be_copied_and_pickled_and_those_of_a_stream_not():
    parts, expected = parted(scored(), 3), fp.roc_auc(scored(), "y", "s")
    for one in (copy.copy(parts), copy.deepcopy(parts), pickle.loads(pickle.dumps(parts))):
        assert_same(one.roc_auc("y", "s"), expected)
    stream = fp.partitioned(STREAMS["reader"](scored()), progress=False)
    with pytest.raises(TypeError, match="a RecordBatchReader cannot be copied or pickled, because"):
        copy.deepcopy(stream)


@pytest.mark.parametrize(
    "given",
    [
        {"by": pl.col("place") // 200},
        {"by": [pl.col("group"), (pl.col("s") * 3).floor().alias("third")]},
        {"by": (pl.col("s") * 3).floor()},  # a key of the name of the score
        {"by": "group", "truth": pl.col("other") > 900, "score": -pl.col("other")},
        {"by": "group", "truth": pl.col("w") >= 1, "weight": "w"},
        {
            "by": pl.col("place") % 50,
            "truth": pl.col("w") >= 1,
            "gain": pl.col("w") + 1,
            "metrics": ["ndcg", "rows"],
        },
        {"by": "group", "score": cs.by_name("s", "other")},
        {"score": pl.col("s") + pl.col("other"), "weight": pl.col("w") * 2},
        {"by": "group", "tie_break": pl.col("place") % 50, "total_positives": pl.col("P") * 2},
        {
            "by": ["group", pl.col("place") % 3],
            "mean_over": "group",
            "truth": pl.col("y").cast(pl.Int8),
        },
    ],
)
def test_expressions_as_columns(given):
    frame = scored()
    arguments = {"metrics": ["roc_auc", "rows", "positives"], "truth": "y", "score": "s"} | given
    for parts in (2, 4):
        assert_same(parted(frame, parts).evaluate(**arguments), frame.pr.evaluate(**arguments))


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
@pytest.mark.parametrize(
    "options", [{}, {"weight": "w"}, {"ties": "optimistic"}, {"ties": "expected"}], ids=str
)
def test_counted_rows_in_ranges(options, by):
    data = scored().with_columns(n=pl.col("place") % 3)
    names = ["rows", "positives", "average_precision", "roc_auc", "tp@threshold=0.3", "tied_rows"]
    if "weight" not in options:
        names += ["precision@10", "average_precision@10", "bpref"]
    if options.get("ties") != "expected":
        names += ["interpolated_average_precision", "k@recall=0.8"]
    given = {"by": by, "count": "n", **options}
    found = parted(data, 5).evaluate(names, "y", "s", **given)
    assert_same(found, fp.evaluate(data, names, "y", "s", **given))
    if "weight" not in options:
        repeated = (
            data.select(pl.all().repeat_by("n")).explode(pl.all(), empty_as_null=False).drop("n")
        )
        assert_same(found, fp.evaluate(repeated, names, "y", "s", by=by, **options))


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
    assert_same(
        of_stream().evaluate("roc_auc", "y", "s", **mean),
        fp.evaluate(data, "roc_auc", "y", "s", **mean),
    )


def test_a_reader_serves_one_call_and_wrong_names_none():
    run = fp.partitioned(STREAMS["reader"](scored()), progress=False)
    with pytest.raises(ValueError, match="score: no column 'x' in the frame"):
        run.roc_auc("y", "x")
    with pytest.raises(TypeError, match="score column 'y' is Boolean"):
        run.roc_auc("group", "y")
    assert run.roc_auc("y", "s").height == 1
    with pytest.raises(
        ValueError,
        match="the stream of a RecordBatchReader has no rows: it may have been read before",
    ):
        run.roc_auc("y", "s")
    with pytest.raises(ValueError, match="the stream of a RecordBatchReader has no rows"):
        run.tally("y", "s")


def test_a_stream_that_breaks():
    def batches():
        yield from scored().to_arrow().to_batches()
        raise RuntimeError("connection lost")

    pa = pytest.importorskip("pyarrow")
    reader = pa.RecordBatchReader.from_batches(scored().to_arrow().schema, batches())
    with pytest.raises(
        TypeError, match="the stream of a RecordBatchReader cannot be read: connection lost"
    ):
        fp.partitioned(reader, progress=False).roc_auc("y", "s")


def test_weights_of_the_classes_give_the_values_at_another_prevalence():
    data, metrics = scored(), ["average_precision", "roc_auc", "max_f1", "positives"]
    positives, rows = parted(data, 4).evaluate(["positives", "rows"], "y", "s").row(0)
    weight = pl.when("y").then(0.1 * rows / positives).otherwise(0.9 * rows / (rows - positives))
    found = parted(data, 4).evaluate(metrics, "y", "s", weight=weight)
    assert_same(found, fp.evaluate(data, metrics, "y", "s", prevalence=0.1))


def source_of(frames):
    """Return a LazyFrame that reads the next of these frames each time, and its reads."""
    reads = []

    def read(with_columns, predicate, n_rows, batch_size):
        frame = frames[min(len(reads), len(frames) - 1)]
        reads.append(with_columns)
        yield frame.select(with_columns or pl.all())

    return register_io_source(read, schema=frames[0].schema), reads


@pytest.mark.parametrize("by", ["group", None], ids=str)
@pytest.mark.parametrize("score", ["s", ["s", "other"]], ids=str)
def test_a_source_is_counted_once_and_read_once(by, score):
    data = scored()
    source, reads = source_of([data])
    result = parted(source, 5).roc_auc("y", score, by=by)
    assert_same(result, fp.roc_auc(data, "y", score, by=by))
    assert len(reads) == 2


@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_a_source_that_grows_during_the_call(by):
    data = scored()
    source, _ = source_of([data, pl.concat([data, data])])
    with pytest.raises(ValueError, match="had 600 rows when they were counted and 1,200 when"):
        parted(source, 5).roc_auc("y", ["s", "other"], by=by)


@pytest.mark.parametrize("by", ["group", None], ids=str)
def test_a_file_that_ends_early(tmp_path, by):
    file = tmp_path / "run.arrow"
    scored(rows=200_000).write_ipc(file)
    run = pl.scan_ipc(file)
    run.collect_schema()
    os.truncate(file, file.stat().st_size // 2)
    with pytest.raises(OSError, match="a file of the frame may end early or have changed"):
        parted(run, 5).roc_auc("y", "s", by=by)


@pytest.mark.parametrize(
    "name", ["part of frame_pr", "range of frame_pr", "only in totals of frame_pr"]
)
@pytest.mark.parametrize("argument", ["by", "weight", "score"])
def test_columns_with_our_names(argument, name):
    given = {"truth": "y", "score": "s", argument: name}
    with pytest.raises(ValueError, match=f"{argument}: '{name}' is a name that frame_pr gives to"):
        parted(scored().with_columns(pl.col("group").alias(name)), 5).roc_auc(**given)
    # Columns that the call does not read may have any name.
    other = scored().with_columns(pl.col("group").alias(name))
    assert_same(parted(other, 5).roc_auc("y", "s"), fp.roc_auc(other, "y", "s"))
