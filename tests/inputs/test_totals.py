import math
from decimal import Decimal

import polars as pl
import pytest
from compare import near

import frame_pr as fp

TOTALS = {"q": ["a", "b", "c", "z"], "n": [5, 1, 2, 9]}


@pytest.mark.parametrize("given", ["column", "polars", "lazy", "pandas"])
def test_known_positives(given):
    data = pl.DataFrame(
        {"q": ["a", "a", "b", "c"], "y": [1, 0, 1, 0], "s": [4, 3, 2, 1], "P": [5, 5, 1, 2]}
    )
    known = {"column": "P", "polars": pl.DataFrame(TOTALS), "lazy": pl.LazyFrame(TOTALS)}
    known["pandas"] = pl.DataFrame(TOTALS).to_pandas()
    names = [
        "average_precision",
        "recall@threshold=3",
        "r_precision",
        "positives",
        "rows",
        "k@recall=0.5",
    ]
    result = fp.evaluate(data, names, "y", "s", by="q", total_positives=known[given])
    # Positives that are not in the frame are rows that are not in it either.
    assert result.rows() == [
        ("a", 0.2, 0.2, 0.2, 5, 6, None),
        ("b", 1.0, 0.0, 1.0, 1, 1, 1),
        ("c", 0.0, 0.0, 0.0, 2, 3, None),
        # Of the groups of a frame none is lost.
        *([] if given == "column" else [("z", 0.0, 0.0, 0.0, 9, 9, None)]),
    ]
    alone = fp.evaluate(
        data,
        ["recall@threshold=3", "specificity@threshold=3"],
        "y",
        "s",
        by="q",
        total_positives=known[given],
    )
    assert alone["recall@threshold=3"].to_list()[:3] == [0.2, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128, pl.Float32])
@pytest.mark.parametrize("total", [4, 300, 10**9])
def test_totals_of_one_group_and_of_every_size(dtype, total):
    data = pl.DataFrame({"y": [1, 1, 0, 1], "s": range(4)}).with_columns(
        P=pl.lit(total, dtype=dtype)
    )
    result = fp.evaluate(data, "recall@threshold=0", "y", "s", total_positives="P")
    assert result.item() == 3 / total
    pairs = pl.concat(
        [data.with_columns(q=0), data.with_columns(q=1, P=pl.lit(total // 2 + 1, dtype=dtype))]
    )
    result = fp.evaluate(pairs, "recall@threshold=0", "y", "s", by="q", total_positives="P")
    assert result["recall@threshold=0"].to_list() == [3 / total, 3 / int(pairs["P"][-1])]
    with pytest.raises(
        ValueError,
        match="positives column 'P' is not one number in each group: 1 group has several",
    ):
        fp.evaluate(pairs, "recall@threshold=0", "y", "s", total_positives="P")


@pytest.mark.parametrize(
    ("statistic", "totals", "weights_of_groups"),
    [
        ("by_rows", {"total_rows": "N"}, (20, 4)),
        ("by_rows", {"total_positives": "P"}, (6, 3)),  # 4 and 1 positives are not in the frame
        ("weighted", {"total_positives": "P"}, (5, 2)),
        ("by_pairs", {"total_rows": "N"}, (1 * 19, 1 * 3)),
        ("by_pairs", {"total_positives": "P", "total_rows": "N"}, (5 * 15, 2 * 2)),
    ],
)
def test_weighted_means_read_known_totals(statistic, totals, weights_of_groups):
    """Precision at a threshold reads neither total: it is 1/2 and 1, with totals as weights."""
    data = pl.DataFrame(
        {"q": ["a", "a", "b", "b"], "y": [1, 0, 1, 0], "s": [4, 3, 2, 0], "P": [5, 5, 2, 2]}
    )
    data = data.with_columns(N=pl.when(pl.col("q") == "a").then(20).otherwise(4))
    call = {"by": "q", "mean_over": "q", "statistics": statistic, **totals}
    result = fp.evaluate(data, "precision@threshold=1", "y", "s", **call)
    first, second = weights_of_groups
    mean = result[f"{statistic}_precision@threshold=1"].item()
    assert mean == pytest.approx((first / 2 + second) / (first + second), rel=1e-15)
    parts = fp.partitioned(data, partitions=2, progress=False).evaluate(
        "precision@threshold=1", "y", "s", **call
    )
    assert parts[f"{statistic}_precision@threshold=1"].item() == pytest.approx(mean, rel=1e-15)


def test_known_rows_and_several_scores():
    data = pl.DataFrame({"q": ["a", "a", "b"], "y": [1, 0, 1], "s": [4, 3, 2], "t": [3, 4, 2]})
    totals = {
        "total_positives": pl.DataFrame(TOTALS)[:2],
        "total_rows": pl.DataFrame({"q": ["b", "a"], "rows": [100, 10]}),
    }
    result = fp.evaluate(
        data, ["average_precision", "positives", "rows"], "y", ["s", "t"], by="q", **totals
    )
    assert result.rows() == [
        ("a", "s", 0.2, 5, 10),
        ("a", "t", 0.1, 5, 10),
        ("b", "s", 1.0, 1, 100),
        ("b", "t", 1.0, 1, 100),
    ]


@pytest.mark.parametrize("of_rows", [pl.DataFrame.clone, pl.DataFrame.lazy])
@pytest.mark.parametrize("of_totals", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_known_positives_without_groups(of_rows, of_totals):
    data = pl.DataFrame({"y": [1, 0], "s": [2, 1]})
    known = of_totals(pl.DataFrame({"n": [4]}))
    # Without rows, 4 positives of 4 are not retrieved.
    for rows, value in ((data, 0.25), (data.clear(), 0.0)):
        result = fp.average_precision(of_rows(rows), "y", "s", total_positives=known)
        assert result.lazy().collect().item() == value
    none = known.lazy().filter(pl.col("n") < 0)
    with pytest.raises(ValueError, match="positives frame has no row for 1 of 1 group: every"):
        fp.average_precision(of_rows(data), "y", "s", total_positives=none).lazy().collect()


@pytest.mark.parametrize(
    ("positives", "message"),
    [
        ("P", "positives column 'P' is not one number in each group: 1 group has several, or null"),
        (
            pl.DataFrame({"q": ["a"], "n": [3]}),
            "positives frame has no row for 1 of 2 groups, such as 'b': every group",
        ),
        (
            pl.DataFrame({"q": ["a", "b"], "n": [0, 0]}),
            "positives gives a total of 0 for a group in which the frame has 1",
        ),
        (
            pl.DataFrame({"q": ["a", "b"]}),
            "positives frame has the columns 'q': it must have those of by, and one more",
        ),
        (
            pl.DataFrame({"query": ["a"], "n": [1]}),
            "no column 'q' in the total_positives frame; columns: 'query', 'n'",
        ),
        # 3.5 once was 3.
        ("half", "positives column 'half' holds 3.5: a total is a whole number"),
        (
            pl.DataFrame({"q": ["a", "b"], "n": [3.5, 1]}),
            "positives column 'n' holds 3.5: a total is a whole number",
        ),
        (
            pl.DataFrame({"q": ["a", "b"], "n": [math.nan, 1]}),
            "positives column 'n' holds nan: a total is a whole num",
        ),
        (
            pl.DataFrame({"q": ["a", "b"], "n": [1, 2**63]}),
            "positives column 'n' holds 9223372036854775808: a total",
        ),
        (
            "nan",
            "positives column 'nan' is not one number in each group: 1 group has several, or null",
        ),
    ],
)
def test_totals_that_cannot_be(positives, message):
    data = pl.DataFrame({"q": ["a", "a", "b"], "y": [1, 0, 1], "s": [1, 2, 3], "P": [1, 2, 1]})
    data = data.with_columns(half=pl.lit(3.5), nan=pl.Series([1.0, math.nan, 1.0]))
    for lazy in (False, True):
        with pytest.raises(ValueError, match=message):
            (data.lazy() if lazy else data).pr.average_precision(
                "y", "s", by="q", total_positives=positives
            ).lazy().collect()


@pytest.mark.parametrize("n", [[3.0, 1.0], [Decimal(3), Decimal(1)]], ids=["Float64", "Decimal"])
def test_whole_totals_of_any_numeric_dtype(n):
    data = pl.DataFrame({"q": ["a", "a", "b"], "y": [1, 0, 1], "s": [2, 1, 3]})
    frame = pl.DataFrame({"q": ["a", "b"], "n": n})
    for positives in (frame, "n"):
        result = data.join(frame, on="q").pr.evaluate(
            ["positives", "recall@1"], "y", "s", by="q", total_positives=positives
        )
        assert result.rows() == [("a", 3, 1 / 3), ("b", 1, 1.0)]


@pytest.mark.parametrize("given", ["column", "polars"])
def test_known_sums_of_weights(given):
    # Of 3.5 the frame has .5, ranked first: recall 1/7. Not found are 3, so that .5 + .75 + 3 is in
    # all.
    data = pl.DataFrame({"y": [1, 0], "s": [2, 1], "w": [0.5, 0.75], "P": [3.5, 3.5]})
    known = data.select(pl.col("P").first()) if given == "polars" else "P"
    names = ["positives", "rows", "recall@threshold=1", "average_precision"]
    result = fp.evaluate(data, names, "y", "s", weight="w", total_positives=known)
    assert result.row(0) == (3.5, 4.25, near(1 / 7), near(1 / 7))
    assert (
        fp.evaluate(data.lazy(), names, "y", "s", weight="w", total_positives=known)
        .collect()
        .equals(result)
    )


def test_a_known_sum_of_weights_that_differs_in_the_last_bits():
    data = pl.DataFrame({"y": [1, 1, 1], "s": [3, 2, 1], "w": [0.1, 0.2, 0.3]})
    found = fp.evaluate(data, ["positives", "threshold@recall=1"], "y", "s", weight="w")
    for end in (0, 1):
        known = data.with_columns(P=math.nextafter(found["positives"].item(), end))
        assert fp.evaluate(known, found.columns, "y", "s", weight="w", total_positives="P").equals(
            found
        )
    with pytest.raises(ValueError, match=r"total_positives gives a total of 0.59 for a group"):
        fp.evaluate(
            data.with_columns(P=0.59), "positives", "y", "s", weight="w", total_positives="P"
        )


def test_a_known_total_of_a_key_that_the_frame_cannot_hold():
    data = pl.DataFrame({"q": pl.Series([None, 1], dtype=pl.Int8), "y": [1, 1], "s": [1, 2]})
    known = pl.DataFrame({"q": [None, 1, 300, -(2**40)], "n": [2, 4, 5, 5]})
    for frame in (data, data.lazy()):
        with pytest.raises(
            ValueError,
            match=r"positives frame has 2 groups, such as \(300,\), that the types of the by",
        ):
            fp.average_precision(frame, "y", "s", by="q", total_positives=known).lazy().collect()
        # Where its groups are not added, they are those of no row.
        beside = (
            fp.with_metrics(frame, "average_precision", "y", "s", by="q", total_positives=known)
            .lazy()
            .collect()
        )
        assert beside["average_precision"].to_list() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("missing", "given"),
    [
        ([], {"total_positives": "P"}),
        ([(0, None)], {"total_positives": "P", "unscored": "unretrieved"}),
        ([(1, None)], {"unscored": "unretrieved"}),
    ],
)
def test_the_best_f_where_nothing_is_found(missing, given):
    # Every threshold has an F of 0, and the highest is the answer.
    data = pl.DataFrame(
        [(0, 9), (0, 8), (0, 7), *missing], schema=["y", "s"], orient="row"
    ).with_columns(P=2)
    assert fp.evaluate(data, ["max_f1", "threshold@max_f1"], "y", "s", **given).row(0) == (0.0, 9)


@pytest.mark.parametrize(
    "dtype", [pl.Int32, pl.UInt64, pl.Float64, pl.String, pl.Categorical, pl.Enum(["2", "1"])]
)
def test_a_known_total_of_a_key_of_another_type(dtype):
    data = pl.DataFrame({"q": ["1", "2"], "y": [1, 1], "s": [1, 2]}).cast({"q": dtype})
    known = pl.DataFrame({"q": [1, 2], "n": [2, 4]}, schema_overrides={"q": pl.Int64})
    if not dtype.is_numeric():
        known = known.cast({"q": pl.String})
    for frame in (data, data.lazy()):
        result = (
            fp.average_precision(frame, "y", "s", by="q", total_positives=known).lazy().collect()
        )
        assert result.schema["q"] == dtype
        assert dict(result.cast({"q": pl.String}).cast({"q": pl.Float64}).rows()) == {
            1: 0.5,
            2: 0.25,
        }


@pytest.mark.parametrize("metric", ["average_precision", "recall@threshold=0"])
@pytest.mark.parametrize("score", ["s", ["s", "t"]])
def test_known_totals_of_no_rows(metric, score):
    columns = {"y": [0], "s": [None], "t": [None], "P": [3], "N": [7]}
    data = pl.DataFrame(columns, schema_overrides={"s": pl.Int64, "t": pl.Int64})
    frames = {"total_positives": data.select("P"), "total_rows": data.select("N")}

    def found(rows, totals):
        names = ["positives", "rows", metric]
        result = fp.evaluate(rows, names, "y", score, unscored="drop", **totals)
        return result.select(names).unique().rows()

    of_columns = {"total_positives": "P", "total_rows": "N"}
    assert (
        found(data, frames)
        == found(data, of_columns)
        == found(data.clear(), frames)
        == [(3, 7, 0.0)]
    )
    # Of a column without rows nothing is known.
    assert found(data.clear(), of_columns) == [(0, 0, None)]


DETECTIONS = pl.DataFrame(
    {"class": ["cat", "cat", "dog", "bird"], "hit": [1, 0, 1, 0], "s": [0.9, 0.8, 0.7, 0.6]}
)
OBJECTS = pl.DataFrame({"class": ["cat", "dog", "owl", "bird"], "n": [2, 1, 3, 0]})


@pytest.mark.parametrize(
    "options",
    [{}, {"ties": "expected"}, {"weight": "w"}, {"unscored": "unretrieved"}, {"gain": None}],
)
def test_the_groups_of_a_frame_count(options):
    data = DETECTIONS.with_columns(w=pl.lit(1.0))
    call = {"truth": "hit", "score": "s", "by": "class", "total_positives": OBJECTS} | options
    found = data.pr.average_precision(**call).fill_nan(None)
    # cat: 1 of 2 objects at rank 1. No owl of 3 was detected, and there is no bird.
    assert found.rows() == [("bird", None), ("cat", 0.5), ("dog", 1.0), ("owl", 0.0)]
    mean = data.pr.evaluate("average_precision", **call, mean_over="class").row(0)
    assert mean == (4, 1, 0.5)
    # Missed objects as rows give the same.
    missed = pl.DataFrame({"class": ["cat", "owl", "owl", "owl"], "hit": 1, "s": None, "w": 1.0})
    rows = pl.concat(
        [data, missed.cast({"hit": pl.Int64, "s": pl.Float64})], how="diagonal_relaxed"
    )
    call = {"truth": "hit", "score": "s", "by": "class", **options, "unscored": "unretrieved"}
    assert rows.pr.evaluate("average_precision", **call, mean_over="class").row(0) == mean


def test_the_groups_of_a_frame_in_other_functions():
    call = {"truth": "hit", "score": "s", "by": "class", "total_positives": OBJECTS}
    table = DETECTIONS.pr.confusion(**call, threshold=0.75, rates="all")
    assert table.select("class", "k", "tp", "fn").rows() == [
        ("bird", 0, 0, 0),
        ("cat", 2, 1, 1),
        ("dog", 0, 0, 1),
        ("owl", 0, 0, 3),
    ]
    report = DETECTIONS.pr.report(**call, k=1)["class"]
    assert report.unique(maintain_order=True).to_list() == ["bird", "cat", "dog", "owl"]
    # There is no row of them to stand beside, and no threshold.
    assert DETECTIONS.pr.with_metrics("rows", **call).height == 4
    assert "owl" not in DETECTIONS.pr.curve(**call)["class"]
    systems = DETECTIONS.with_columns(t=-pl.col("s")).pr.evaluate(
        "positives", **call | {"score": ["s", "t"]}
    )
    assert systems.filter(pl.col("class") == "owl").rows() == [("owl", "s", 3), ("owl", "t", 3)]
    lazy = DETECTIONS.lazy().pr.evaluate("rows", **call | {"total_positives": OBJECTS.lazy()})
    assert lazy.collect_schema() == lazy.collect().schema
