"""Several cuts as rows, a threshold for each group, and means of confusion tables."""

import math
from decimal import Decimal
from fractions import Fraction

import polars as pl
import pytest
from compare import assert_same, near

from frame_pr.functions.confusion import CONFUSION_COLUMNS

F = Fraction
RUN = pl.DataFrame(
    {
        "q": ["ink"] * 4 + ["tea"] * 4 + ["pen"] * 2,
        "y": [0, 1, 0, 1, 1, 1, 0, 1, 0, 0],
        "s": [0.9, 0.8, 0.4, 0.3, 0.7, 0.6, 0.5, 0.2, 0.3, 0.1],
    }
)
CALL = {"truth": "y", "score": "s", "by": "q"}
CUTS = pl.DataFrame({"q": ["tea", "ink", "pen", "none"], "cut": [0.6, 0.4, None, 0.1]})


def test_several_thresholds():
    table = RUN.pr.confusion(**CALL, threshold=[0.25, 0.5, 0.75], rates="all").fill_nan(None)
    assert table.select("q", "threshold", "k", "tp").rows() == [
        *[("ink", 0.25, 4, 2), ("ink", 0.5, 2, 1), ("ink", 0.75, 2, 1)],
        *[("pen", 0.25, 1, 0), ("pen", 0.5, 0, 0), ("pen", 0.75, 0, 0)],
        *[("tea", 0.25, 3, 2), ("tea", 0.5, 3, 2), ("tea", 0.75, 0, 0)],
    ]
    # Of nothing predicted, no precision; of nothing positive, no recall.
    assert table.filter(q="pen")["precision"].to_list() == [0, None, None]
    assert table.filter(threshold=0.75)["recall"].to_list() == [0.5, None, 0]


def test_shares_of_the_rows():
    table = RUN.pr.confusion(**CALL, k=["25%", "70%"], rates="all")
    # A quarter of four rows is 1 and 70 % are 3, rounded up; of two rows 1 and 2.
    assert table.select("q", "share", "k", "tp").rows() == [
        *[("ink", 0.25, 1, 0), ("ink", 0.7, 3, 1)],
        *[("pen", 0.25, 1, 0), ("pen", 0.7, 2, 0)],
        *[("tea", 0.25, 1, 1), ("tea", 0.7, 3, 2)],
    ]
    alone = RUN.pr.confusion(**CALL, k="2.5%", rates="all")
    assert "share" not in alone.columns
    assert_same(
        alone.select("tp", "precision"),
        RUN.pr.confusion(**CALL, k=1, rates="all").select("tp", "precision"),
    )
    means = RUN.pr.confusion(**CALL, k=["25%", "70%"], mean_over="q", rates="all")
    assert means.select("share", "groups", "mean_tp").rows() == [
        (0.25, 3, near(1 / 3)),
        (0.7, 3, near(1.0)),
    ]


def test_each_row_is_that_of_its_threshold_alone():
    cuts = [0.75, 0.25, 0.5]
    data = RUN.with_columns(t=1 - pl.col("s"))
    table = data.pr.confusion("y", ["s", "t"], by="q", threshold=cuts, rates="all")
    assert table.columns[:4] == ["q", "system", "threshold", "tp"]
    for cut in cuts:
        alone = data.pr.confusion("y", ["s", "t"], by="q", threshold=cut, rates="all")
        assert_same(table.filter(threshold=cut), alone.cast(table.schema))
    assert table["threshold"].to_list()[:3] == cuts


def test_thresholds_without_groups_and_of_whole_numbers():
    assert RUN.pr.confusion("y", "s", threshold=[0.5], rates="all")["threshold"].to_list() == [0.5]
    data = RUN.with_columns(s=(pl.col("s") * 10).cast(pl.Int64))
    table = data.pr.confusion("y", "s", threshold=[5, 2], rates="all")
    assert table.schema["threshold"] == pl.Int64
    assert table.schema["k"] == pl.Int64
    assert table["threshold"].to_list() == [5, 2]
    assert (
        data.pr.confusion("y", "s", threshold=[5, 2.5], rates="all").schema["threshold"]
        == pl.Float64
    )


def test_several_ranks():
    table = RUN.pr.confusion(**CALL, k=[1, 3], rates="all")
    assert "threshold" not in table.columns
    assert table.select("q", "k", "tp").rows() == [
        *[
            ("ink", 1, 0.0),
            ("ink", 3, 1.0),
            ("pen", 1, 0.0),
            ("pen", 3, 0.0),
            ("tea", 1, 1.0),
            ("tea", 3, 2.0),
        ]
    ]


def test_a_lazy_frame_stays_lazy_and_tells_its_schema():
    for cut in (
        {"threshold": [0.5, 0.2]},
        {"k": [1, 2]},
        {"threshold": CUTS},
        {"threshold": CUTS.lazy()},
    ):
        lazy = RUN.lazy().pr.confusion(**CALL, **cut, rates="all")
        assert isinstance(lazy, pl.LazyFrame)
        eager = RUN.pr.confusion(**CALL, **cut, rates="all")
        assert lazy.collect_schema() == eager.schema
        assert_same(lazy.collect(), eager)


def test_means_over_groups():
    table = RUN.pr.confusion(
        **CALL, threshold=0.5, mean_over="q", statistics=["mean", "max"], rates="all"
    )
    # ink 1 of 2, tea 2 of 3, and pen predicts nothing.
    row = table.row(0, named=True)
    assert row["groups"] == 3
    assert row["mean_precision"] == near((F(1, 2) + F(2, 3)) / 2)
    assert row["max_precision"] == near(F(2, 3))
    assert row["mean_tp"] == 1
    assert row["undefined"] == 1


def test_means_over_groups_at_several_cuts():
    table = RUN.pr.confusion(
        **CALL, threshold=[0.5, 0.25], mean_over=True, statistics=["mean", "weighted"], rates="all"
    )
    assert table.columns[:3] == ["threshold", "groups", "undefined"]
    assert table["threshold"].to_list() == [0.25, 0.5]
    # At .5 ink has 1 of 2 positives and tea 2 of 3: weighted by these, 3 of 5.
    assert table.filter(threshold=0.5)["weighted_recall"].item() == near(F(3, 5))
    assert table.filter(threshold=0.5)["mean_recall"].item() == near((F(1, 2) + F(2, 3)) / 2)
    by_rank = RUN.pr.confusion(**CALL, k=[1, 2], mean_over=True, rates="all")
    assert by_rank.columns[:3] == ["k", "groups", "undefined"]


def test_macro_figures_of_predicted_classes():
    images = pl.DataFrame(
        {"y": ["cat", "dog", "cat", "owl", "dog"], "p": ["cat", "cat", "cat", "dog", "dog"]}
    )
    long = images.pr.unpivot_classes("y", prediction="p", classes=["cat", "dog", "owl"])
    call = {"by": "class", "mean_over": "class", "statistics": ["mean", "weighted"]}
    found = long.pr.confusion("truth", prediction="prediction", **call, rates="all").row(
        0, named=True
    )
    # F1 of 4/5, 1/2 and 0, of 2, 2 and 1 shown; precision of 2/3 and 1/2, an owl is never
    # predicted.
    assert found["mean_f1"] == near(F(13, 30))
    assert found["weighted_f1"] == near(F(13, 25))
    assert found["mean_precision"] == near(F(7, 12))
    assert found["weighted_precision"] == near(F(7, 12))
    filled = long.pr.confusion(
        "truth", prediction="prediction", undefined=0.0, **call, rates="all"
    ).row(0, named=True)
    assert filled["mean_precision"] == near(F(7, 18))
    assert filled["weighted_precision"] == near(F(7, 15))


# a threshold for each group
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_column", [False, True])
def test_a_threshold_for_each_group(by_column):
    data = RUN.join(CUTS, on="q", how="left", maintain_order="left") if by_column else RUN
    table = data.pr.confusion(**CALL, threshold="cut" if by_column else CUTS, rates="all").fill_nan(
        None
    )
    assert table.columns[:3] == ["q", "threshold", "tp"]
    # ink .4: .9, .8, .4 with one hit of 2; tea .6: .7, .6 with two hits of 3; of pen nobody knows.
    known = [
        ("ink", 0.4, 3, 1, near(F(1, 3)), near(F(1, 2)), near(F(2, 5)), near(F(1, 2))),
        ("pen", None, None, None, None, None, None, 0),
        ("tea", 0.6, 2, 2, 1, near(F(2, 3)), near(F(4, 5)), near(F(3, 4))),
    ]
    assert (
        table.select("q", "threshold", "k", "tp", "precision", "recall", "f1", "prevalence").rows()
        == known
    )


def test_means_over_groups_that_have_thresholds_of_their_own():
    call = {"threshold": CUTS, "mean_over": "q", "statistics": ["mean", "weighted", "defined"]}
    found = RUN.pr.confusion(**CALL, **call, rates="all").row(0, named=True)
    # As in the table above: of pen, whose threshold is null, nothing is counted.
    assert [found[name] for name in ("groups", "undefined", "defined_k")] == [3, 1, 2]
    assert found["mean_k"] == near(F(5, 2))
    assert found["mean_precision"] == near(F(2, 3))
    assert found["weighted_precision"] == near((F(1, 3) * 2 + 1 * 3) / 5)
    assert found["mean_prevalence"] == near((F(1, 2) + F(3, 4)) / 3)
    assert not [name for name in found if "threshold" in name]
    by_system = RUN.with_columns(t="s").pr.confusion(
        "y", ["s", "t"], by="q", threshold=CUTS, mean_over="q", rates="all"
    )
    assert by_system.select("system", "mean_k").rows() == [("s", 2.5), ("t", 2.5)]


def test_what_evaluate_returned_goes_in_as_it_is():
    cuts = RUN.pr.evaluate("threshold@recall=0.5", **CALL)
    data = RUN.with_columns(month=pl.Series([1, 2] * 5))
    table = data.pr.confusion("y", "s", by=["q", "month"], threshold=cuts, rates="all")
    # Each month is cut where half of all positives of the query are found.
    assert dict(table.select("q", "threshold").rows()) == dict(cuts.rows())
    assert table.height == 6
    whole = data.pr.confusion("y", "s", by="q", threshold=cuts, rates="all")
    assert table.group_by("q").agg(pl.col("k").sum()).drop_nulls().filter(
        pl.col("q") != "pen"
    ).sort("q").rows() == (whole.select("q", "k").filter(pl.col("q") != "pen").rows())


def test_one_threshold_for_all_groups():
    table = RUN.pr.confusion(**CALL, threshold=pl.DataFrame({"cut": [0.5]}), rates="all")
    assert_same(table, RUN.pr.confusion(**CALL, threshold=0.5, rates="all"))
    alone = RUN.pr.confusion("y", "s", threshold=pl.DataFrame({"cut": [0.5]}), rates="all")
    assert_same(alone, RUN.pr.confusion("y", "s", threshold=0.5, rates="all"))


def test_systems_and_options():
    data = RUN.with_columns(
        t=1 - pl.col("s"), w=pl.lit(0.5), u=pl.when(pl.col("s") > 0.2).then("s")
    )
    cuts = pl.DataFrame({"system": ["s", "t"], "cut": [0.5, 0.7]})
    table = data.pr.confusion("y", ["s", "t"], by="q", threshold=cuts, weight="w", rates="all")
    for system, cut in cuts.rows():
        alone = data.pr.confusion("y", system, by="q", threshold=cut, weight="w", rates="all")
        assert_same(
            table.filter(system=system).drop("system", "threshold"), alone.drop("threshold")
        )
    unknown = data.pr.confusion("y", "s", by="q", threshold=CUTS, weight="w", rates="all")
    assert unknown.filter(q="pen").select("threshold", "k", "tp", "f1").row(0) == (
        None,
        None,
        None,
        None,
    )
    assert unknown.select("q", "k").rows() == [("ink", 1.5), ("pen", None), ("tea", 1.0)]
    found = data.pr.confusion(
        "y", "u", by="q", threshold=cuts.head(1).select("cut"), unscored="unretrieved", rates="all"
    )
    known = data.pr.confusion("y", "u", by="q", threshold=0.5, unscored="unretrieved", rates="all")
    assert_same(found, known)


@pytest.mark.parametrize("cut", [math.inf, -math.inf, 1e300, -1e300, 1e-300])
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int64, pl.Decimal(6, 2)])
def test_extreme_thresholds(cut, dtype):
    data = pl.DataFrame({"y": [1, 0, 1], "s": pl.Series([-1, 0, 2]).cast(dtype)})
    for ascending in (False, True):
        found = data.pr.confusion(
            "y", "s", threshold=pl.DataFrame({"cut": [cut]}), ascending=ascending, rates="all"
        )
        alone = data.pr.confusion("y", "s", threshold=cut, ascending=ascending, rates="all")
        assert_same(found.drop("threshold"), alone.drop("threshold"))


def test_decimal_thresholds():
    data = RUN.with_columns(s=pl.col("s").cast(pl.Decimal(4, 2)))
    cuts = pl.DataFrame({"cut": [Decimal("0.70")]})
    assert data.pr.confusion("y", "s", threshold=cuts, rates="all")["k"].item() == 3


def test_a_metric_names_the_threshold_of_each_group():
    found = RUN.pr.confusion(**CALL, threshold="threshold@recall=0.5")
    assert_same(
        found, RUN.pr.confusion(**CALL, threshold=RUN.pr.evaluate("threshold@recall=0.5", **CALL))
    )
    lazy = RUN.lazy().pr.confusion(**CALL, threshold="threshold@recall=0.5")
    assert_same(lazy.collect(), found)
    # A column of that name is a column.
    own = RUN.with_columns(pl.lit(0.5).alias("threshold@recall=0.5"))
    assert_same(
        own.pr.confusion(**CALL, threshold="threshold@recall=0.5"),
        RUN.pr.confusion(**CALL, threshold=0.5),
    )
    systems = RUN.with_columns(t="s").pr.confusion(
        "y", ["s", "t"], by="q", threshold="threshold@recall=0.5"
    )
    found = found.drop("precision", "recall")
    assert_same(systems.filter(system="t").drop("system"), found)


def test_mean_over_alone_names_the_groups():
    assert_same(
        RUN.pr.confusion("y", "s", threshold=0.5, mean_over="q"),
        RUN.pr.confusion("y", "s", threshold=0.5, by="q", mean_over="q"),
    )


# One ranked list: positives at ranks 1, 3 and 6 of six. F1 is best at 0.7 (2 of 3 rows and of 3
# positives). Precision 0.9 only at 0.9. Recall 0.8 takes all six rows. At most 20 % of six rows,
# rounded up, are two. 1 + 5 * 1, or 3 false positives at all six rows: cost 3 is least.
LIST = pl.DataFrame({"y": [1, 0, 1, 0, 0, 1], "s": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]})
GOALS = {
    "max_f1": (0.7, 2, 1, 1, 2),
    "precision=0.9": (0.9, 1, 0, 2, 3),
    "recall=0.8": (0.4, 3, 3, 0, 0),
    "threshold@20%": (0.8, 1, 1, 2, 2),
    "min_cost5": (0.4, 3, 3, 0, 0),
    "max_precision@recall=0.5": (0.7, 2, 1, 1, 2),
    "equal_error_rate": (0.7, 2, 1, 1, 2),
}


@pytest.mark.parametrize("goal", GOALS)
def test_a_goal_is_the_threshold_of_each_group(goal):
    names = [goal] if goal.startswith("threshold@") else [goal, f"threshold@{goal}"]
    for name in names:
        for frame in (LIST, LIST.lazy()):
            found = frame.pr.confusion("y", "s", threshold=name).lazy().collect()
            assert found.columns == ["threshold", *CONFUSION_COLUMNS]
            assert found.row(0)[:5] == GOALS[goal]
        of_pandas = LIST.to_pandas().pr.confusion("y", "s", threshold=name)
        assert tuple(of_pandas.iloc[0, :5]) == GOALS[goal]


def test_a_list_of_goals_and_numbers():
    goals = [*GOALS, 0.55]
    found = LIST.pr.confusion("y", "s", threshold=goals)
    assert found.columns == ["goal", "threshold", *CONFUSION_COLUMNS]
    known = [(goal, *counts) for goal, counts in GOALS.items()] + [("0.55", 0.55, 2, 2, 1, 1)]
    assert [row[:6] for row in found.rows()] == known
    # Two groups of the same rows have the same means, and no threshold of their own.
    twice = pl.concat([LIST.with_columns(q=1), LIST.with_columns(q=2)])
    means = twice.pr.confusion("y", "s", threshold=goals, mean_over="q").sort("goal")
    assert means["mean_tp"].to_list() == found.sort("goal")["tp"].to_list()
    assert "threshold" not in means.columns


def test_a_goal_that_nothing_meets_selects_no_row():
    data = pl.DataFrame({"y": [0, 1], "s": [2.0, 1.0]})
    found = data.pr.confusion("y", "s", threshold="precision=0.9", rates="all")
    assert found.select("threshold", "k", "tp", "fn", "precision", "recall").rows() == [
        (None, 0, 0, 1, None, 0.0)
    ]
    # A column of that name is the threshold of each row's group.
    named = data.with_columns(max_f1=pl.lit(1.5))
    assert named.pr.confusion("y", "s", threshold="max_f1")["tp"].item() == 0


@pytest.mark.parametrize(
    ("threshold", "sentence"),
    [
        (["max_f1", "max_f1"], "threshold has 'max_f1' twice"),
        (["max_f1", "threshold@max_f1"], "threshold has 'max_f1' twice"),
        (["threshold@5%", "threshold@5.0%"], "threshold has 'threshold@5%' twice"),
        (["max_k"], "threshold: 'max_k' is neither a number nor a goal; goals are 'max_f1', 'pre"),
        ("max_k", "threshold: no column 'max_k' in the frame"),
        ("precision=2", "precision must be above 0 and at most 1, got 2"),
    ],
)
def test_thresholds_that_are_none(threshold, sentence):
    with pytest.raises(ValueError, match=sentence):
        LIST.pr.confusion("y", "s", threshold=threshold)
