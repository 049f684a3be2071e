"""Wrong calls of frames in parts: each with its error, or with the right numbers."""

import polars as pl
import pytest
from call_cases import Case, assert_end, parts, run

import frame_pr as fp

CASES = [
    Case(
        lambda: parts.average_precision(["pred", "rel"], "s", by="q"),
        TypeError,
        "truth takes the name of one column; got a list",
    ),
    Case(
        lambda: fp.partitioned(run, memory_budget=10**400),
        ValueError,
        "memory_budget must be a size such as '4GiB' or '500MB', or a number of",
    ),
    Case(
        lambda: fp.partitioned(run, memory_budget="1..5GB"),
        ValueError,
        "memory_budget must be a size such as '4GiB' or '500MB', or a number of",
    ),
    Case(
        lambda: fp.partitioned(run, partitions=2, directory=5, progress=False).average_precision("rel", "s", by="q"),
        TypeError,
        "directory must be text or a path, got 5",
    ),
    Case(lambda: parts.average_precision([], "s"), TypeError, "truth takes the name of one column; got a list"),
    Case(
        lambda: fp.partitioned(run.rename({"q": "frame_pr part"}), partitions=2, progress=False).average_precision(
            "rel", "s", by="frame_pr part"
        ),
        None,
        [("a", 1.0), ("b", 7 / 12)],
    ),
    Case(
        lambda: fp.partitioned(
            pl.DataFrame({"q": [1, 2, 3, 4], "rel": 1, "s": [1.0, 2, 3, None]}), partitions=2, progress=False
        ).average_precision("rel", "s", by="q"),
        ValueError,
        "score column 's' has 1 missing of ",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_wrong_calls(case):
    assert_end(case)


def test_frames_in_parts_name_what_they_have():
    for method in ("curve", "confusion", "with_curve"):
        with pytest.raises(
            TypeError, match=r"a partitioned frame has evaluate, report, tally and the functions of single metrics"
        ):
            getattr(parts, method)("rel", **({"threshold": 0.5} if method == "confusion" else {}), score="s")
    assert repr(parts) == ".pr of a partitioned frame, with evaluate, report, tally and the functions of single metrics"
    with pytest.raises(TypeError, match=r"got 'run\.parquet': give pl\.scan_parquet"):
        fp.partitioned("run.parquet")
    with pytest.raises(TypeError, match="a pandas frame is in memory already"):
        fp.partitioned(run.to_pandas())


def test_dask():
    dask = pytest.importorskip("dask.dataframe")
    ours = pytest.importorskip("frame_pr.dask")
    frame = dask.from_pandas(run.to_pandas(), npartitions=2)
    with pytest.raises(ValueError, match=r"by: 'q' is the index of the frame: reset_index\(\) makes a column of it"):
        ours.average_precision(frame.set_index("q"), "rel", "s", by="q")
    with pytest.raises(TypeError, match=r"give the frame itself, and the grouping columns as by=\[\.\.\.\]"):
        ours.average_precision(frame.groupby("q"), "rel", "s")
    with pytest.raises(TypeError, match="score takes names of columns where the frame is in parts, got a polars"):
        ours.average_precision(frame, "rel", pl.col("s"))
