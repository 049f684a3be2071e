"""Ties, weights, missing values and known totals, against all orders, repeated rows and plain counting."""

import itertools
import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from oracle import oracle
from sklearn.metrics import average_precision_score, matthews_corrcoef

import frame_pr as fp
from frame_pr.harmonic import harmonic_difference

LINEAR = [
    "average_precision",
    "lift",
    "average_precision@3",
    "average_precision@3/positives",
    "precision@3",
    "recall@3",
]
LINEAR += ["r_precision", "f1@3", "f2@2", "mcc@3", "kappa@2", "specificity@3", "precision@10", "average_precision@10"]
BOUNDED = [*LINEAR, "interpolated_average_precision", "interpolated_average_precision_11", "max_f1", "max_f0.5"]
BOUNDED += ["precision@recall=0.5", "interpolated_precision@recall=0.5"]


def tied(seed: int) -> pl.DataFrame:
    """A few rows with few scores, so that ranks 2 and 3 fall inside blocks."""
    draw = random.Random(seed)
    rows = [(draw.randint(0, 1), draw.randint(0, 2)) for _ in range(draw.randint(2, 6))]
    return pl.DataFrame([*rows, (1, draw.randint(0, 2))], schema=["y", "s"], orient="row")


def all_orders(data: pl.DataFrame) -> pl.DataFrame:
    """One group for each order of the rows that the scores allow, untied."""
    blocks = [block.get_column("y").to_list() for block in data.sort("s", descending=True).partition_by("s")]
    orders = itertools.product(*(itertools.permutations(block) for block in blocks))
    ranked = [list(itertools.chain(*order)) for order in orders]
    return (
        pl.DataFrame({"order": range(len(ranked)), "y": ranked})
        .explode("y", empty_as_null=True)
        .with_columns(s=-pl.int_range(pl.len()))
    )


@pytest.mark.parametrize("seed", range(25))
def test_expected_is_the_mean_over_all_orders(seed):
    data = tied(seed)
    orders = fp.evaluate(all_orders(data), LINEAR, "y", "s", by="order").drop("order")
    expected = fp.evaluate(data, LINEAR, "y", "s", ties="expected")
    for name in LINEAR:
        assert expected[name].item() == pytest.approx(orders[name].mean(), abs=1e-13), name


@pytest.mark.parametrize("seed", range(25))
def test_optimistic_and_pessimistic_are_the_bounds_over_all_orders(seed):
    data = tied(seed)
    orders = fp.evaluate(all_orders(data), BOUNDED, "y", "s", by="order").drop("order")
    for ties, bound in (("optimistic", pl.Series.max), ("pessimistic", pl.Series.min)):
        reached = fp.evaluate(data, BOUNDED, "y", "s", ties=ties)
        for name in BOUNDED:
            assert reached[name].item() == pytest.approx(bound(orders[name]), abs=1e-13), (name, ties)


@pytest.mark.parametrize("seed", range(10))
def test_an_untied_ranking_knows_no_ties(seed):
    data = tied(seed).with_columns(s=pl.int_range(pl.len()))
    plain = fp.evaluate(data, LINEAR, "y", "s")
    for ties in ("expected", "optimistic", "pessimistic", "order"):
        assert fp.evaluate(data, LINEAR, "y", "s", ties=ties).equals(plain), ties


def test_ties_known_answers(kind):
    # One positive in two: at rank 1 or 2, (1/1 + 1/2) / 2 = 3/4. In three: (1 + 1/2 + 1/3) / 3 = 11/18.
    data = pl.DataFrame({"g": [2, 2, 3, 3, 3], "y": [1, 0, 0, 1, 0], "s": [7] * 5})
    for ties, values in {
        "threshold": [1 / 2, 1 / 3],
        "expected": [3 / 4, 11 / 18],
        "optimistic": [1, 1],
        "pessimistic": [1 / 2, 1 / 3],
        "order": [1, 1 / 2],
    }.items():
        result = kind.read(kind(data).pr.average_precision("y", "s", by="g", ties=ties))
        assert result["average_precision"].to_list() == pytest.approx(values), ties


def test_threshold_can_lie_above_expected():
    # A hit at rank 1, then a block of 2 with one hit: threshold (1 + 2/3) / 2. The block's hit is at rank 2 or 3, with
    # precision 1 or 2/3: expected (1 + 5/6) / 2. Below a miss, with all 2 hits in the block, the threshold is higher.
    data = pl.DataFrame({"y": [0, 1, 1], "s": [2, 1, 1]})
    assert fp.average_precision(data, "y", "s").item() == pytest.approx(2 / 3)
    assert fp.average_precision(data, "y", "s", ties="expected").item() == pytest.approx((1 / 2 + 2 / 3) / 2)


@pytest.mark.parametrize(
    ("start", "count"), [(0, 1), (0, 2), (0, 5), (3, 100_000), (10**6, 1), (10**6, 1000), (10**9, 10), (12345, 0)]
)
def test_harmonic_difference(start, count):
    exact = float(sum((Fraction(1, start + i) for i in range(1, min(count, 1000) + 1)), Fraction(0)))
    if count > 1000:
        exact = math.fsum(1 / (start + i) for i in range(1, count + 1))
    found = pl.select(harmonic_difference(pl.lit(start, pl.Int64), pl.lit(count, pl.Int64))).item()
    assert found == pytest.approx(exact, rel=4e-16, abs=0)


def test_tie_break_ranks_what_the_scores_leave_open():
    data = pl.DataFrame({"doc": ["a", "b", "c", "d"], "y": [1, 0, 0, 1], "s": [1, 1, 1, 0]})
    # Descending by document: c, b, a, then d: hits at ranks 3 and 4.
    assert fp.average_precision(data, "y", "s", tie_break="doc").item() == pytest.approx((1 / 3 + 2 / 4) / 2)
    ascending = fp.average_precision(data, "y", "s", tie_break="doc", descending=False)
    assert ascending.item() == pytest.approx((1 / 1 + 2 / 4) / 2)
    # What the second column leaves tied is taken together, so the order of rows still does not matter.
    same = data.with_columns(doc=pl.lit("x"))
    assert fp.average_precision(same, "y", "s", tie_break="doc").equals(fp.average_precision(data, "y", "s"))


def test_order_is_that_of_the_rows_whatever_the_keys():
    data = pl.DataFrame({"a": ["x", "y"] * 4, "b": [1, 1, 2, 2] * 2, "y": [1, 0, 0, 1, 0, 1, 1, 0], "s": [0.5] * 8})
    for frame in (data, data.lazy()):
        result = frame.pr.average_precision("y", "s", by=["a", "b"], ties="order").lazy().collect()
        assert result.rows() == [("x", 1, 1.0), ("x", 2, 0.5), ("y", 1, 0.5), ("y", 2, 1.0)]


WEIGHED = ["average_precision", "interpolated_average_precision", "interpolated_average_precision_11", "max_f1", "lift"]
WEIGHED += ["threshold@max_f1", "f1@threshold=1.5", "mcc@threshold=1", "k@recall=0.5", "precision@recall=0.5"]
WEIGHED += ["interpolated_precision@recall=0.3", "rows", "positives", "prevalence"]


def weighed(rows: int = 2000) -> pl.DataFrame:
    draw = np.random.default_rng(5)
    columns = {"g": draw.integers(0, 40, rows), "y": draw.integers(0, 2, rows), "s": draw.integers(0, 30, rows) / 10}
    return pl.DataFrame(columns | {"w": draw.integers(0, 4, rows), "u": draw.lognormal(0, 4, rows)})


@pytest.mark.parametrize("weight", ["w", pl.col("w").cast(pl.Float64) * 0.5, pl.col("w").cast(pl.Decimal(10, 1)) * 0.5])
def test_whole_weights_are_repeated_rows(weight):
    data = weighed()
    repeated = data.select(pl.all().repeat_by("w").explode(empty_as_null=False))
    expected = fp.evaluate(repeated, WEIGHED, "y", "s", by="g")
    found = fp.evaluate(data, WEIGHED, "y", "s", by="g", weight=weight)
    if not isinstance(weight, str):
        counts = ["rows", "positives", "k@recall=0.5"]
        found = found.with_columns((pl.col(name) * 2).cast(pl.Int64) for name in counts)
    assert_same(found, expected)
    curve = fp.curve(data, "y", "s", by="g", weight="w")
    assert curve.equals(fp.curve(repeated, "y", "s", by="g"))


def test_weights_as_scikit_learn_has_them():
    data = weighed()
    found = fp.evaluate(data, ["average_precision", "mcc@threshold=1.5"], "y", "s", by="g", weight="u")
    for key, ap, mcc in found.iter_rows():
        rows = data.filter(pl.col("g") == key)
        y, s, u = (rows[name].to_numpy() for name in ("y", "s", "u"))
        assert ap == pytest.approx(average_precision_score(y, s, sample_weight=u), abs=1e-12)
        assert mcc == pytest.approx(matthews_corrcoef(y, s >= 1.5, sample_weight=u), abs=1e-9)


def test_weights_of_very_different_groups_do_not_touch_each_other():
    light = weighed(200).with_columns(g=0, u=pl.col("u") * 1e-4)
    heavy = weighed(200).with_columns(g=1, u=pl.col("u") * 1e4)
    alone = fp.average_precision(light, "y", "s", by="g", weight="u")["average_precision"][0]
    together = fp.average_precision(pl.concat([heavy, light]), "y", "s", by="g", weight="u")["average_precision"][0]
    assert together == pytest.approx(alone, rel=1e-12)


def test_rows_without_weight_are_not_there():
    data = pl.DataFrame({"g": [1, 1, 2], "y": [1, 0, 1], "s": [1, 2, 3], "w": [1, 0, 0]})
    assert fp.evaluate(data, ["average_precision", "rows"], "y", "s", by="g", weight="w").rows() == [(1, 1.0, 1)]
    beside = fp.with_curve(data, "y", "s", by="g", weight="w")
    assert beside["k"].to_list() == [1, None, None]


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, None])
def test_weights_that_are_none(bad):
    data = pl.DataFrame({"y": [1, 0], "s": [1, 2], "w": [1.0, bad]})
    with pytest.raises(ValueError, match="weight column 'w' has"):
        fp.average_precision(data, "y", "s", weight="w")
    lazy = fp.average_precision(data.lazy(), "y", "s", weight="w")
    with pytest.raises(ValueError, match="weight column 'w' has"):
        lazy.collect()


QUERIES = {"q": ["a", "a", "a", "b", "c", "c"], "y": [1, 0, 1, 1, None, 1], "s": [0.9, None, math.nan, None, 0.5, 0.2]}
MISSING = [
    "average_precision",
    "precision@2",
    "recall@threshold=0.1",
    "rows",
    "positives",
    "r_precision",
    "k@recall=0.5",
]


def test_unretrieved_rows_count_and_are_ranked_nowhere(kind):
    frame = kind(pl.DataFrame(QUERIES))
    result = kind.read(frame.pr.evaluate(MISSING, "y", "s", by="q", unscored="unretrieved", unjudged="negative"))
    # a: one of 2 positives found, at rank 1. b: its positive not found. c: a miss, then its positive.
    assert result.rows() == [
        ("a", 1 / 2, 1 / 2, 1 / 2, 3, 2, 1 / 2, 1),
        ("b", 0.0, 0.0, 0.0, 1, 1, 0.0, None),
        ("c", 1 / 2, 1 / 2, 1.0, 2, 1, 0.0, 2),
    ]


def test_dropped_rows_are_not_there(kind):
    data = pl.DataFrame(QUERIES)
    result = kind.read(kind(data).pr.evaluate(MISSING, "y", "s", by="q", unscored="drop", unjudged="drop"))
    kept = data.filter(pl.col("s").is_not_nan(), pl.col("y").is_not_null())
    assert result.equals(fp.evaluate(kept, MISSING, "y", "s", by="q"))


def test_the_curve_of_what_was_retrieved():
    curve = fp.curve(pl.DataFrame(QUERIES), "y", "s", by="q", unscored="unretrieved", unjudged="negative")
    assert curve.select("q", "threshold", "k", "tp", "fn", "recall").rows() == [
        ("a", 0.9, 1, 1, 1, 0.5),
        ("c", 0.5, 1, 0, 1, 0.0),
        ("c", 0.2, 2, 1, 0, 1.0),
    ]
    beside = fp.with_curve(pl.DataFrame(QUERIES), "y", "s", by="q", unscored="unretrieved", unjudged="drop")
    assert beside["k"].to_list() == [1, None, None, None, None, 1]


def test_a_truth_that_is_nan_is_unjudged():
    data = pl.DataFrame({"y": [1.0, math.nan, 0.0], "s": [3, 2, 1]})
    assert fp.evaluate(data, ["positives", "rows"], "y", "s", unjudged="negative").row(0) == (1, 3)
    assert fp.evaluate(data.lazy(), ["positives", "rows"], "y", "s", unjudged="drop").collect().row(0) == (1, 2)


@pytest.mark.parametrize("given", ["unretrieved", "known"])
def test_a_group_filled_up_with_misses_has_no_less_than_none_of_any_kind(kind, given):
    # One hit and two positives that were not found: the first 3 are the hit and two misses, so there are 5 rows.
    # tp 1, fp 2, fn 2, tn 0: mcc (1 * 0 - 2 * 2) / sqrt(3 * 3 * 2 * 2).
    data, policies = {
        "unretrieved": ({"y": [1, 1, 1], "s": [1, None, None]}, {"unscored": "unretrieved"}),
        "known": ({"y": [1], "s": [1], "P": [3]}, {"positives": "P"}),
    }[given]
    expected = {"tp@3": 1, "fp@3": 2, "fn@3": 2, "tn@3": 0, "accuracy@3": 1 / 5, "specificity@3": 0, "fpr@3": 1}
    expected |= {"mcc@3": near(-4 / 6), "precision@3": 1 / 3, "recall@3": 1 / 3, "rows": 3, "prevalence@3": 1}
    result = kind.read(kind(pl.DataFrame(data)).pr.evaluate(list(expected), "y", "s", **policies))
    assert result.row(0, named=True) == expected


TOTALS = {"q": ["a", "b", "c", "z"], "n": [5, 1, 2, 9]}


@pytest.mark.parametrize("given", ["column", "polars", "lazy", "pandas"])
def test_known_positives(given):
    data = pl.DataFrame({"q": ["a", "a", "b", "c"], "y": [1, 0, 1, 0], "s": [4, 3, 2, 1], "P": [5, 5, 1, 2]})
    known = {"column": "P", "polars": pl.DataFrame(TOTALS), "lazy": pl.LazyFrame(TOTALS)}
    known["pandas"] = pl.DataFrame(TOTALS).to_pandas()
    names = ["average_precision", "recall@threshold=3", "r_precision", "positives", "rows", "k@recall=0.5"]
    result = fp.evaluate(data, names, "y", "s", by="q", positives=known[given])
    # Positives that are not in the frame are rows that are not in it either.
    assert result.rows() == [
        ("a", 0.2, 0.2, 0.2, 5, 6, None),
        ("b", 1.0, 0.0, 1.0, 1, 1, 1),
        ("c", 0.0, 0.0, 0.0, 2, 3, None),
    ]
    alone = fp.evaluate(
        data, ["recall@threshold=3", "specificity@threshold=3"], "y", "s", by="q", positives=known[given]
    )
    assert alone["recall@threshold=3"].to_list() == [0.2, 0.0, 0.0]


def test_known_rows_and_several_scores():
    data = pl.DataFrame({"q": ["a", "a", "b"], "y": [1, 0, 1], "s": [4, 3, 2], "t": [3, 4, 2]})
    totals = {"positives": pl.DataFrame(TOTALS), "rows": pl.DataFrame({"q": ["b", "a"], "rows": [100, 10]})}
    result = fp.evaluate(data, ["average_precision", "positives", "rows"], "y", ["s", "t"], by="q", **totals)
    assert result.rows() == [
        ("a", "s", 0.2, 5, 10),
        ("a", "t", 0.1, 5, 10),
        ("b", "s", 1.0, 1, 100),
        ("b", "t", 1.0, 1, 100),
    ]


def test_known_positives_without_groups():
    data = pl.DataFrame({"y": [1, 0], "s": [2, 1]})
    assert fp.average_precision(data, "y", "s", positives=pl.DataFrame({"n": [4]})).item() == 0.25


@pytest.mark.parametrize(
    ("positives", "message"),
    [
        ("P", "positives column 'P' is not one number in each group: 1 groups have several, or null"),
        (pl.DataFrame({"q": ["a"], "n": [3]}), "positives gives no total for 1 of the groups"),
        (
            pl.DataFrame({"q": ["a", "b"], "n": [0, 0]}),
            "positives gives a total of 0 for a group in which the frame has 1",
        ),
        (pl.DataFrame({"q": ["a", "b"]}), "positives frame has the columns q: it must have those of by, and one more"),
        (pl.DataFrame({"query": ["a"], "n": [1]}), "no column 'q' in the positives frame; columns: 'query', 'n'"),
        # 3.5 once was 3.
        ("half", "positives column 'half' holds 3.5: a total is a whole number"),
        (pl.DataFrame({"q": ["a", "b"], "n": [3.5, 1]}), "positives column 'n' holds 3.5: a total is a whole number"),
        (pl.DataFrame({"q": ["a", "b"], "n": [math.nan, 1]}), "positives column 'n' holds nan: a total is a whole num"),
        (pl.DataFrame({"q": ["a", "b"], "n": [1, 2**63]}), "positives column 'n' holds 9223372036854775808: a total"),
        ("nan", "positives column 'nan' is not one number in each group: 1 groups have several, or null"),
    ],
)
def test_totals_that_cannot_be(positives, message):
    data = pl.DataFrame({"q": ["a", "a", "b"], "y": [1, 0, 1], "s": [1, 2, 3], "P": [1, 2, 1]})
    data = data.with_columns(half=pl.lit(3.5), nan=pl.Series([1.0, math.nan, 1.0]))
    for lazy in (False, True):
        with pytest.raises(ValueError, match=message):
            (data.lazy() if lazy else data).pr.average_precision("y", "s", by="q", positives=positives).lazy().collect()


@pytest.mark.parametrize("n", [[3.0, 1.0], [Decimal(3), Decimal(1)]], ids=["Float64", "Decimal"])
def test_whole_totals_of_any_numeric_dtype(n):
    data = pl.DataFrame({"q": ["a", "a", "b"], "y": [1, 0, 1], "s": [2, 1, 3]})
    frame = pl.DataFrame({"q": ["a", "b"], "n": n})
    for positives in (frame, "n"):
        result = data.join(frame, on="q").pr.evaluate(["positives", "recall@1"], "y", "s", by="q", positives=positives)
        assert result.rows() == [("a", 3, 1 / 3), ("b", 1, 1.0)]


@pytest.mark.parametrize("n", [["3", "1"], [True, True]], ids=["String", "Boolean"])
def test_totals_that_are_no_numbers(n):
    data = pl.DataFrame({"q": ["a", "b"], "y": [1, 1], "s": [2, 1], "n": n})
    for positives in ("n", data.select("q", "n")):
        with pytest.raises(TypeError, match=r"positives column 'n' is (String|Boolean): it must be numeric"):
            data.pr.average_precision("y", "s", by="q", positives=positives)


@pytest.mark.parametrize("given", ["column", "polars", "lazy", "pandas"])
@pytest.mark.parametrize(
    ("total", "weight", "message"),
    [
        (
            2.5,
            None,
            r"rows column 'N' holds 2.5: a total is a whole number below 2\*\*56, or, where weight= is a column",
        ),
        (2.5, "whole", r"rows column 'N' holds 2.5: a total is a whole number below 2\*\*56"),
        (math.inf, "float", "rows column 'N' holds inf"),
        (2**56, None, "rows column 'N' holds 72057594037927936"),
    ],
)
def test_totals_beside_weights_that_cannot_be(given, total, weight, message):
    data = pl.DataFrame({"q": ["a", "a"], "y": [1, 0], "s": [2, 1], "whole": [1, 1], "float": [0.5, 0.5]})
    known = pl.DataFrame({"q": ["a"], "N": [total]})
    frame = {"column": "N", "polars": known, "lazy": known.lazy(), "pandas": known.to_pandas()}[given]
    data = data.with_columns(N=pl.lit(total))
    for rows in (data, data.lazy()):
        with pytest.raises(ValueError, match=message):
            fp.evaluate(rows, "prevalence", "y", "s", by="q", rows=frame, weight=weight).lazy().collect()


@pytest.mark.parametrize("given", ["column", "polars"])
def test_known_sums_of_weights(given):
    # Of 3.5 the frame has .5, ranked first: recall 1/7. Not found are 3, so that .5 + .75 + 3 is in all.
    data = pl.DataFrame({"y": [1, 0], "s": [2, 1], "w": [0.5, 0.75], "P": [3.5, 3.5]})
    known = data.select(pl.col("P").first()) if given == "polars" else "P"
    names = ["positives", "rows", "recall@threshold=1", "average_precision"]
    result = fp.evaluate(data, names, "y", "s", weight="w", positives=known)
    assert result.row(0) == (3.5, 4.25, near(1 / 7), near(1 / 7))
    assert fp.evaluate(data.lazy(), names, "y", "s", weight="w", positives=known).collect().equals(result)


def test_a_known_sum_of_weights_that_differs_in_the_last_bits():
    data = pl.DataFrame({"y": [1, 1, 1], "s": [3, 2, 1], "w": [0.1, 0.2, 0.3]})
    found = fp.evaluate(data, ["positives", "threshold@recall=1"], "y", "s", weight="w")
    for end in (0, 1):
        known = data.with_columns(P=math.nextafter(found["positives"].item(), end))
        assert fp.evaluate(known, found.columns, "y", "s", weight="w", positives="P").equals(found)
    with pytest.raises(ValueError, match=r"positives gives a total of 0.59 for a group"):
        fp.evaluate(data.with_columns(P=0.59), "positives", "y", "s", weight="w", positives="P")


GOOD = pl.DataFrame({"y": [1, 0], "s": [1.0, 2.0], "w": [1, 2]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.pr.average_precision("y", "s", ties="random"), "ties must be one of 'threshold', 'expected', "),
        (
            lambda f: f.pr.average_precision("y", "s", unscored="skip"),
            "unscored must be one of 'raise', 'unretrieved', 'drop'",
        ),
        (
            lambda f: f.pr.average_precision("y", "s", unjudged="skip"),
            "unjudged must be one of 'raise', 'negative', 'drop'",
        ),
        (
            lambda f: f.pr.f_beta("y", "s", ties="expected"),
            "max_f1 has no closed form in expectation: ties='optimistic'",
        ),
        (lambda f: f.pr.interpolated_average_precision("y", "s", ties="expected"), "no closed form in expectation"),
        (lambda f: f.pr.k_at_recall("y", "s", 0.5, ties="expected"), "k@recall=0.5 has no closed form"),
        (
            lambda f: f.pr.precision_at_k("y", "s", 1, weight="w"),
            "precision@1 cuts at a rank, and weighted rows have none",
        ),
        (lambda f: f.pr.r_precision("y", "s", weight="w"), "r_precision cuts at a rank"),
        (lambda f: f.pr.average_precision("y", "s", weight="w", ties="expected"), "no meaning with weight="),
        (lambda f: f.pr.average_precision("y", "s", tie_break="w", ties="order"), "give one of the two"),
        (
            lambda f: f.pr.average_precision_at_k("y", "s", 1, divisor="hits", ties="optimistic"),
            "would be no bound of it",
        ),
        (lambda f: f.pr.curve("y", "s", ties="expected"), "a curve has no expectation over orders"),
        (lambda f: f.pr.with_curve("y", "s", ties="order"), "with_curve gives rows the figures at their own score"),
        (lambda f: f.pr.confusion("y", prediction="w", positive=1, ties="order"), "predicted classes have no ranking"),
        (lambda f: f.pr.average_precision("y", "s", weight="x"), "no column 'x' in the frame"),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_policies_that_have_no_meaning(call, message, lazy):
    with pytest.raises(ValueError, match=message):
        call(GOOD.lazy() if lazy else GOOD)


EVERY = {
    "average_precision": (),
    "interpolated_average_precision": (),
    "average_precision_at_k": (1,),
    "precision_at_k": (1,),
    "recall_at_k": (1,),
    "r_precision": (),
    "precision_at_recall": (0.5,),
    "k_at_recall": (0.5,),
    "f_beta": (),
    "curve": (),
    "with_curve": (),
    "report": (),
}


@pytest.mark.parametrize("function", EVERY)
def test_every_function_takes_the_policies(function):
    data = GOOD.with_columns(s=pl.Series([1.0, None]))
    assert getattr(data.pr, function)("y", "s", *EVERY[function], unscored="unretrieved").height in (1, 2)
    with pytest.raises(ValueError, match="unscored must be one of"):
        getattr(data.pr, function)("y", "s", *EVERY[function], unscored="skip")


def test_the_others_take_the_policies():
    for function in (fp.evaluate, fp.with_metrics):
        with pytest.raises(ValueError, match="unscored must be one of"):
            function(GOOD, "average_precision", "y", "s", unscored="skip")
    with pytest.raises(ValueError, match="unscored must be one of"):
        fp.confusion(GOOD, "y", "s", threshold=1, unscored="skip")


def test_a_text_is_no_weight():
    with pytest.raises(TypeError, match="weight column 'w' is String: it must be numeric"):
        fp.average_precision(GOOD.with_columns(pl.col("w").cast(pl.String)), "y", "s", weight="w")


def test_the_default_is_the_oracle():
    data = tied(3)
    y, s = data["y"].to_list(), data["s"].to_list()
    assert fp.average_precision(data, "y", "s", ties="threshold").item() == pytest.approx(
        float(oracle("average_precision", y, s))
    )


def test_products_of_large_whole_weights():
    # A hit, a miss, a hit, of equal weights: (1 + 2/3) / 2. The square of the weight is beyond an Int64.
    data = pl.DataFrame({"y": [1, 0, 1], "s": [3, 2, 1], "w": [3 * 10**9] * 3})
    assert fp.evaluate(data, ["average_precision", "lift"], "y", "s", weight="w").row(0) == (near(5 / 6), near(5 / 4))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([2**62, 2**62], r"weight column 'w' sums up to more than 2\*\*56: cast it to Float64"),
        (pl.Series([2**63, 1], dtype=pl.UInt64), r"weight column 'w' sums up to more than 2\*\*56"),
        ([1e300, 1.0], "weight column 'w' has 1e\\+300 for its largest value: multiply it"),
        ([1e30, 1e-10], r"weight column 'w' has values from 1e-10 to 1e\+30, too far apart for exact sums"),
        ([1e-300, 0.0], "weight column 'w' has 1e-300 for its largest value: multiply it"),
    ],
)
def test_weights_too_large_or_small_to_be_counted(weights, message):
    data = pl.DataFrame({"y": [1, 0], "s": [1, 2], "w": weights})
    with pytest.raises(ValueError, match=message):
        fp.average_precision(data, "y", "s", weight="w")
    with pytest.raises(ValueError, match=message):
        fp.average_precision(data.lazy(), "y", "s", weight="w").collect()


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("by", [None, "q"])
def test_a_known_total_is_given_once(by, lazy):
    data = pl.DataFrame({"q": ["a", "b"], "y": [1, 0], "s": [1, 2]})
    known = pl.DataFrame({"q": ["a", "b", "b", "z", "z"], "n": [3] * 5})
    frame, known = data.lazy() if lazy else data, known if by else known.drop("q").head(2)
    with pytest.raises(ValueError, match="positives frame gives 1 totals more than it has groups"):
        fp.average_precision(frame, "y", "s", by=by, positives=known).lazy().collect()


def test_a_known_total_of_a_key_that_the_frame_cannot_hold():
    data = pl.DataFrame({"q": pl.Series([None, 1], dtype=pl.Int8), "y": [1, 1], "s": [1, 2]})
    known = pl.DataFrame({"q": [None, 1, 300, -(2**40)], "n": [2, 4, 5, 5]})
    for frame in (data, data.lazy()):
        result = fp.average_precision(frame, "y", "s", by="q", positives=known).lazy().collect()
        assert result.rows() == [(None, 0.5), (1, 0.25)]


@pytest.mark.parametrize("missing", [[], [None]])
def test_the_best_f_where_nothing_is_found(missing):
    # Every threshold has an F of 0, and the highest is the answer.
    score = [9, 8, 7, *missing]
    data = pl.DataFrame({"y": [0] * len(score), "s": score, "P": 2})
    given = {"positives": "P", "unscored": "unretrieved"}
    assert fp.evaluate(data, ["max_f1", "threshold@max_f1"], "y", "s", **given).row(0) == (0.0, 9)


def test_small_weights_beside_large_ones_are_exact():
    # Group 1 weighs 10**16 times less than group 0; its positive stands first: AP 1, and 1/3 of its weight is positive.
    weights = [1e8, 1e8, 1e-8, 2e-8]
    data = pl.DataFrame({"g": [0, 0, 1, 1], "y": [1, 0, 1, 0], "s": [3, 2, 1, 0], "w": weights})
    result = data.pr.evaluate(["average_precision", "prevalence", "rows"], "y", "s", by="g", weight="w")
    assert result.row(1)[1:] == (1.0, pytest.approx(1 / 3, rel=1e-12), pytest.approx(3e-8, rel=1e-12))
