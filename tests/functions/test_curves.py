import random
from fractions import Fraction

import polars as pl
import pytest
from compare import assert_same, near
from hypothesis import given
from hypothesis import strategies as st
from oracle import rate_of
from samples import CUT_BLOCK, TEN

import frame_pr as fp
from frame_pr.functions.curves import ALL_COLUMNS, CURVE_COLUMNS

COLUMNS = list(CURVE_COLUMNS)
ALL = list(ALL_COLUMNS)


def test_the_curve_of_ten_rows():
    # Hits at ranks 1, 2, 4, 6, 10 of 10; precision is their number over k, recall over 5.
    result = TEN.pr.curve("relevant", "score", rates="all")
    assert result.columns == ALL
    assert result["threshold"].to_list() == list(range(10, 0, -1))
    assert result["k"].to_list() == list(range(1, 11))
    assert result["tp"].to_list() == [1, 2, 2, 3, 3, 4, 4, 4, 4, 5]
    assert result["fp"].to_list() == [0, 0, 1, 1, 2, 2, 3, 4, 5, 5]
    assert result["fn"].to_list() == [4, 3, 3, 2, 2, 1, 1, 1, 1, 0]
    assert result["tn"].to_list() == [5, 5, 4, 4, 3, 3, 2, 1, 0, 0]
    precision = [1, 1, 2 / 3, 3 / 4, 3 / 5, 2 / 3, 4 / 7, 1 / 2, 4 / 9, 1 / 2]
    assert result["precision"].to_list() == list(map(near, precision))
    assert result["recall"].to_list() == list(
        map(near, [0.2, 0.4, 0.4, 0.6, 0.6, 0.8, 0.8, 0.8, 0.8, 1.0])
    )
    assert result["recall_step"].to_list() == list(
        map(near, [0.2, 0.2, 0.0, 0.2, 0.0, 0.2, 0.0, 0.0, 0.0, 0.2])
    )
    # The maximum of precision from here on.
    envelope = [1, 1, 3 / 4, 3 / 4, 2 / 3, 2 / 3, 4 / 7, 1 / 2, 1 / 2, 1 / 2]
    assert result["interpolated_precision"].to_list() == list(map(near, envelope))


def test_a_block_is_one_row():
    result = CUT_BLOCK.pr.curve("relevant", "score", rates="all")
    assert result.select("threshold", "k", "tp").rows() == [(2, 1, 1), (1, 4, 3), (0, 5, 3)]


def test_dtypes():
    schema = TEN.cast({"score": pl.Float32}).pr.curve("relevant", "score", rates="all").schema
    assert schema["threshold"] == pl.Float32
    assert {name for name, dtype in schema.items() if dtype == pl.Int64} == {
        "k",
        "tp",
        "fp",
        "fn",
        "tn",
    }
    assert list(TEN.pr.curve("relevant", "score").schema) == [
        "threshold",
        "k",
        "tp",
        "precision",
        "recall",
    ]


def test_groups_in_order_thresholds_descending_within_them():
    data = pl.DataFrame(
        {
            "q": ["b", "a", "b", "a", "b"],
            "relevant": [1, 0, 0, 1, 1],
            "score": [0.5, 0.25, 0.75, 0.5, 0.5],
        }
    )
    result = data.pr.curve("relevant", "score", by="q", rates="all")
    # b: a miss at .75, then a block of two hits; a: a hit at .5, a miss at .25.
    expected = [("a", 0.5, 1, 1), ("a", 0.25, 2, 1), ("b", 0.75, 1, 0), ("b", 0.5, 3, 2)]
    assert result.select("q", "threshold", "k", "tp").rows() == expected
    assert result["interpolated_precision"].to_list() == list(map(near, [1.0, 0.5, 2 / 3, 2 / 3]))


def test_a_group_without_positives_has_precision_but_no_recall():
    result = pl.DataFrame({"relevant": [0, 0], "score": [2, 1]}).pr.curve(
        "relevant", "score", rates="all"
    )
    columns = ["precision", "recall", "recall_step", "interpolated_precision"]
    assert result.select(columns).rows() == [(0.0, None, None, 0.0)] * 2


def test_figures_on_request():
    figures = ["fpr", "specificity", "mcc", "f1", "f0.5", "npv", "kappa"]
    result = CUT_BLOCK.pr.curve("relevant", "score", rates=figures)
    assert result.columns == ["threshold", "k", "tp", "precision", "recall", *figures]
    # (k, tp) of the three blocks are (1, 1), (4, 3), (5, 3); P = 3, N = 5.
    for row, (k, tp) in zip(result.iter_rows(named=True), [(1, 1), (4, 3), (5, 3)], strict=True):
        assert {name: row[name] for name in figures} == {
            name: near(rate_of(name, tp, k, 3, 5)) for name in figures
        }


def test_precision_times_recall_step_adds_up_to_average_precision():
    data = pl.DataFrame(
        {"relevant": [i % 3 == 0 for i in range(200)], "score": [i * 37 % 41 for i in range(200)]}
    )
    curve = data.pr.curve("relevant", "score", rates="all")
    ap = data.pr.average_precision("relevant", "score").item()
    assert (curve["precision"] * curve["recall_step"]).sum() == near(ap)
    best = data.pr.interpolated_average_precision("relevant", "score").item()
    assert (curve["interpolated_precision"] * curve["recall_step"]).sum() == near(best)


def test_with_curve_is_the_curve_joined_to_the_rows():
    data = pl.DataFrame(
        {
            "note": list("nmlkjihg"),
            "q": [2, 1, 2, 1, 2, 1, 2, 2],
            "relevant": [1, 0, 0, 1, 1, 1, 0, 0],
            "score": [0.5, 0.25, 0.75, 0.5, 0.5, 0.25, 0.0, -1.0],
        }
    )
    result = data.pr.with_curve("relevant", "score", by="q", rates=["f1"])
    assert result.columns == [*data.columns, *COLUMNS[1:], "f1"]
    curve = data.pr.curve("relevant", "score", by="q", rates=["f1"]).rename({"threshold": "score"})
    assert_same(
        result, data.join(curve, on=["q", "score"], how="left", maintain_order="left"), dtypes=False
    )


# Of so many rows with few distinct scores, equal ones are counted before they are sorted.
@pytest.mark.parametrize("height", [120, 280_000])
@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"unscored": "drop", "unjudged": "drop"},
        {"unscored": "unretrieved", "unjudged": "negative"},
        {"unscored": "unretrieved", "unjudged": "drop", "weight": "w"},
        {"unscored": "drop", "unjudged": "negative", "weight": "f"},
        {"unscored": "unretrieved", "unjudged": "drop", "count": "w"},
    ],
)
def test_rows_have_the_figures_of_their_own_score(options, ascending, height):
    # Rows without a score and rows that do not count have none.
    i = pl.int_range(height)
    data = pl.select(
        q=i * 7 % 4,
        relevant=pl.when(i % 11 != 3).then(i * 13 % 17 < 6),
        score=pl.when(i % 13 != 5).then((i * 31 % 9) / 8),
        w=i % 4,
        f=(i % 5) / 4,
    )
    given = {"by": "q", "ascending": ascending, **options}
    result = data.pr.with_curve("relevant", "score", **given, rates="all")
    curve = (
        data.pr.curve("relevant", "score", **given, rates="all")
        .with_columns(score="threshold")
        .drop("threshold")
    )
    expected = data.join(curve, on=["q", "score"], how="left", maintain_order="left")
    gone = pl.lit(False) if options["unjudged"] == "negative" else pl.col("relevant").is_null()
    for mass in ("weight", "count"):
        gone |= pl.col(options[mass]) == 0 if mass in options else pl.lit(False)
    expected = expected.with_columns(pl.when(~gone).then(pl.col(ALL[1:])))
    assert_same(result, expected, dtypes=False)
    assert 0 < expected["k"].null_count() < height / 2


def test_with_curve_joins_both_zeros():
    data = pl.DataFrame({"relevant": [1, 0, 0], "score": [-0.0, 1.0, 0.0]})
    assert data.pr.with_curve("relevant", "score", rates="all")["k"].to_list() == [3, 1, 3]


def test_with_curve_beside_columns_of_any_type():
    thing = object()
    data = pl.DataFrame(
        {
            "relevant": [1],
            "score": [2],
            "things": pl.Series([thing], dtype=pl.Object),
            "l": [[1, 2]],
        }
    )
    assert data.pr.with_curve("relevant", "score", rates="all").row(0)[2:6] == (thing, [1, 2], 1, 1)
    assert data.pr.with_metrics("rows", "relevant", "score").row(0)[2:] == (thing, [1, 2], 1)


def test_with_curve_and_a_prefix():
    data = TEN.with_columns(k=pl.lit("mine"), precision=pl.lit("mine"))
    with pytest.raises(
        ValueError, match="the frame has a column 'k' already: prefix= puts something before"
    ):
        data.pr.with_curve("relevant", "score", rates="all")
    result = data.pr.with_curve("relevant", "score", prefix="pr_", rates="all")
    assert result.columns == [*data.columns, *(f"pr_{name}" for name in ALL[1:])]
    assert result["k"].to_list() == ["mine"] * 10
    assert result["pr_k"].to_list() == list(range(1, 11))


def test_several_scores_give_a_curve_each():
    data = TEN.with_columns(flat=pl.lit(3))
    result = fp.curve(data, "relevant", ["score", "flat"], rates="all")
    assert result.columns == ["system", *ALL]
    # The systems stand in the order in which they were asked for.
    assert result["system"].to_list() == ["score"] * 10 + ["flat"]
    assert result.filter(system="flat").select("threshold", "k", "tp").rows() == [(3, 10, 5)]


# points=
# ------------------------------------------------------------------------------------------------


def test_fewer_points_are_rows_of_the_curve():
    whole = TEN.pr.curve("relevant", "score", rates="all")
    # Hits at ranks 1, 2, 4, 6, 10 of 10: recall 0, 1/2 and 1 are reached at 1, 4 (3/5) and 10.
    three = TEN.pr.curve("relevant", "score", points=3, rates="all")
    assert three["k"].to_list() == [1, 4, 10]
    assert three["precision"].to_list() == [1, 0.75, 0.5]
    assert_same(three, whole.filter(pl.col("k").is_in([1, 4, 10])))
    # Of eleven levels each hit is the first to reach some.
    assert TEN.pr.curve("relevant", "score", points=11, rates="all")["k"].to_list() == [
        1,
        2,
        4,
        6,
        10,
    ]


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 9), st.sampled_from([0.5, 1.0, 2.5])),
        min_size=1,
        max_size=40,
    ),
    st.integers(2, 12),
    st.booleans(),
)
def test_points_are_the_highest_thresholds_of_their_levels(rows, points, weighted):
    data = pl.DataFrame(rows, schema=["y", "s", "w"], orient="row").cast({"y": pl.Int8})
    weights = {"weight": "w"} if weighted else {}
    whole = data.pr.curve("y", "s", **weights, rates="all")
    positives = Fraction(whole["tp"][-1])
    kept = {0, whole.height - 1}
    for level in range(1, points) if positives else []:
        reached = [
            i
            for i, tp in enumerate(whole["tp"])
            if Fraction(tp) * (points - 1) >= level * positives
        ]
        kept.add(reached[0])
    assert_same(data.pr.curve("y", "s", points=points, **weights, rates="all"), whole[sorted(kept)])


def test_points_of_a_long_curve_are_its_interpolated_average():
    # 20,000 rows, 996 of them positive: the first of each level has the precision that the
    # eleven-point average takes.
    draw = random.Random(11)
    hits = set(draw.sample(range(20_000), 996))
    rows = [(int(i in hits), draw.gauss(i in hits, 1)) for i in range(20_000)]
    data = pl.DataFrame(rows, schema=["y", "s"], orient="row")
    few = data.pr.curve("y", "s", points=11, rates="all")
    assert few.height == 12  # the last threshold is one more
    assert data.pr.curve("y", "s", rates="all").height == 20_000
    levels = [
        few.filter(pl.col("tp") * 10 >= 996 * i)["interpolated_precision"][0] for i in range(11)
    ]
    assert sum(levels) / 11 == data.pr.interpolated_average_precision("y", "s", points=11).item()


def test_metrics_of_the_group_as_further_columns():
    data = TEN.with_columns(q=pl.int_range(10) % 2)
    metrics = {"AP": "average_precision", "rows": "rows"}
    curve = data.pr.curve("relevant", "score", by="q", metrics=metrics)
    values = data.pr.evaluate(metrics, "relevant", "score", by="q")
    assert_same(
        curve,
        data.pr.curve("relevant", "score", by="q").join(values, on="q", maintain_order="left"),
    )
    rows = data.pr.with_curve("relevant", "score", by="q", metrics=metrics, prefix="x_")
    expected = data.pr.with_curve("relevant", "score", by="q", prefix="x_")
    expected = expected.pr.with_metrics(metrics, "relevant", "score", by="q", prefix="x_")
    assert_same(rows, expected)
    with pytest.raises(
        ValueError,
        match="metrics: 'k' is a column of the curve already: give the metric another name",
    ):
        data.pr.curve("relevant", "score", metrics={"k": "rows"})
