from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from compare import near
from polars.testing import assert_frame_equal

import frame_pr as fp

# + - + -
RUN = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1]})


def sample(rows=240, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.4
    group = rng.integers(0, 3, rows)
    data = {"q": group, "truth": truth, "score": (rng.normal(size=rows) + truth).round(1)}
    return pl.DataFrame(data).with_columns(p=pl.Series([0.01, 0.2, 0.9]).gather(group))


def weighted(data, share):
    """The same as weights: positives add up to `share` of the rows of a group."""
    total, positives = pl.len().over("q"), pl.col("truth").sum().over("q")
    weight = (
        pl.when("truth")
        .then(share * total / positives)
        .otherwise((1 - share) * total / (total - positives))
    )
    return data.with_columns(w=weight)


def test_known_answers():
    # A positive counts p / 2 and a negative (1 - p) / 2: precision at the second positive is p / (p
    # + (1 - p) / 2), and that is .01 / .505. So average precision is (1 + .01 / .505) / 2.
    names = [
        "average_precision",
        "precision@threshold=2",
        "recall@threshold=2",
        "prevalence",
        "roc_auc",
    ]
    names += ["lift@threshold=2", "cost5@threshold=3", "f1@threshold=2", "rows", "positives"]
    found = fp.evaluate(RUN, names, "truth", "score", prevalence=0.01).row(0)
    precision = Fraction(1, 100) / Fraction(505, 1000)
    # At 3, one positive is missed and one negative is predicted: half of .01, times 5, and half of
    # .99.
    cost = Fraction(5 * 5 + 495, 1000)
    f1 = 2 * precision / (precision + 1)
    rest = (precision / Fraction(1, 100), cost, f1, 4, Fraction(4, 100))
    exact = ((1 + precision) / 2, precision, 1, Fraction(1, 100), Fraction(3, 4), *rest)
    assert found == tuple(map(near, exact))


# Half of the rows are positive already.
def test_the_share_that_is_there_changes_nothing():
    names = [
        "average_precision",
        "max_f1",
        "f2@threshold=2",
        "mcc@threshold=3",
        "precision@recall=1",
    ]
    same = fp.evaluate(RUN, names, "truth", "score", prevalence=0.5)
    assert_frame_equal(same, fp.evaluate(RUN, names, "truth", "score"))


def test_other_functions():
    data = sample()
    as_weights = weighted(data, pl.lit(0.02))
    for function, arguments in (
        (fp.with_metrics, {"metrics": ["average_precision", "cost3@threshold=1"]}),
        (fp.curve, {}),
        (fp.with_curve, {}),
        (fp.confusion, {"threshold": 0.5}),
        (fp.average_precision, {}),
        (fp.average_curve, {"points": 11, "mean_over": "q"}),
    ):
        found = function(data, truth="truth", score="score", by="q", prevalence=0.02, **arguments)
        exact = function(as_weights, truth="truth", score="score", by="q", weight="w", **arguments)
        assert_frame_equal(found, exact.drop("w", strict=False), rel_tol=1e-12, abs_tol=0)


def test_rows_that_do_not_count_and_rows_that_stand_for_several():
    data = sample().with_columns(
        truth=pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise("truth"),
        score=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise("score"),
    )
    names = ["average_precision", "recall@threshold=0", "precision@threshold=1", "rows"]
    for unscored in ("drop", "unretrieved"):
        there = data.drop_nulls(["truth"] if unscored == "unretrieved" else ["truth", "score"])
        given = {"unjudged": "drop", "unscored": unscored, "prevalence": 0.1}
        found = fp.evaluate(data, names, "truth", "score", by="q", **given)
        exact = weighted(there, pl.lit(0.1)).pr.evaluate(
            names, "truth", "score", by="q", weight="w", unscored=unscored
        )
        assert_frame_equal(found, exact, rel_tol=1e-12, abs_tol=0)
    times = sample().with_columns(n=pl.int_range(pl.len()) % 4)
    repeated = times.select(pl.exclude("n").repeat_by("n")).explode(pl.all(), empty_as_null=False)
    found = fp.evaluate(times, names, "truth", "score", by="q", count="n", prevalence="p")
    assert_frame_equal(
        found, fp.evaluate(repeated, names, "truth", "score", by="q", prevalence="p")
    )


def test_groups_of_one_class_have_no_value():
    data = pl.DataFrame(
        {"q": [1, 1, 2, 2, 3, 3], "truth": [1, 1, 0, 0, 1, 0], "score": [3, 2, 3, 2, 3, 2]}
    )
    names = ["precision@threshold=3", "average_precision", "accuracy@threshold=3"]
    found = fp.evaluate(data, names, "truth", "score", by="q", prevalence=0.3)
    assert found.rows() == [(1, None, None, None), (2, None, None, None), (3, 1.0, 1.0, 1.0)]
    empty = fp.evaluate(data.clear(), names, "truth", "score", prevalence=0.3)
    assert empty.rows() == [(None, None, None)]


def test_closed_forms_over_rows_refuse_it_and_means_over_groups_take_it():
    data = sample()
    with pytest.raises(ValueError, match="prevalence="):
        fp.intervals(data, "average_precision", "truth", "score", prevalence=0.1, method="closed")
    means = {"by": "q", "mean_over": "q"}
    found = fp.intervals(data, "average_precision", "truth", "score", prevalence=0.1, **means)
    exact = fp.intervals(
        weighted(data, pl.lit(0.1)), "average_precision", "truth", "score", weight="w", **means
    )
    assert_frame_equal(found, exact, rel_tol=1e-12, abs_tol=0)
