import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

import frame_pr as fp
from frame_pr.statistics.pairs import adjusted

RESULTS = ["metric", "baseline", "system", "difference", "low", "high"]
DETAILS = [
    "method",
    "value_baseline",
    "value_system",
    "standard_error",
    "effect_size",
    "n_baseline",
    "n_system",
    "undefined",
    "wins",
    "equal",
    "losses",
    "level",
]
COLUMNS = [*RESULTS, "p_value", "p_adjusted", *DETAILS]
SINGLE = [*RESULTS, "p_value", *DETAILS]


def figures(*differences: float | None) -> pl.DataFrame:
    """Of a system that has 0 everywhere, and of one that has these."""
    n = len(differences)
    columns = {
        "query": [*range(n), *range(n)],
        "system": ["old"] * n + ["new"] * n,
        "m": [0.0] * n + [*differences],
    }
    return pl.DataFrame(columns, schema_overrides={"m": pl.Float64})


def compared(*differences: float | None, **more) -> dict:
    (row,) = fp.compare(
        figures(*differences), "m", mean_over="query", baseline="old", details=True, **more
    ).to_dicts()
    return row


def runs(seed: int, queries: int = 12) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    n = queries * 8
    scores = {name: rng.random(n) for name in "abc"}
    return pl.DataFrame(
        {"q": np.arange(n) % queries, "segment": np.arange(n) % 2, "t": rng.random(n) < 0.4}
        | scores
    )


def test_known_answer():
    # Differences .3, .1, .2, -.1, .1: mean .12, sum of squares about it .088, so t = .12 /
    # sqrt(.088 / 20).
    data = figures(0.3, 0.1, 0.2, -0.1, 0.1)
    found = fp.compare(data, "m", mean_over="query", baseline="old", details=True).row(
        0, named=True
    )
    assert list(found) == COLUMNS
    columns = fp.compare(data, "m", mean_over="query", baseline="old").columns
    assert columns == [*(name for name in RESULTS if name != "baseline"), "p_adjusted"]
    assert fp.compare(data, "m", mean_over="query").columns == [*RESULTS, "p_adjusted"]
    assert found["method"] == "paired t over 5 groups of query"
    assert found["p_value"] == pytest.approx(0.144704, abs=1e-6) == found["p_adjusted"]
    assert (found["low"], found["high"]) == (
        pytest.approx(-0.064169, abs=1e-6),
        pytest.approx(0.304169, abs=1e-6),
    )
    # t / sqrt(5)
    assert found["effect_size"] == near((36 / 11 / 5) ** 0.5)
    assert [found[name] for name in ("n_baseline", "undefined", "wins", "equal", "losses")] == [
        5,
        0,
        4,
        0,
        1,
    ]
    assert (found["value_baseline"], found["value_system"], found["difference"]) == (
        0.0,
        near(0.12),
        near(0.12),
    )
    # Of the 32 ways to sign them, 8 have a sum of at least .6 either way.
    flipped = fp.compare(
        data, "m", mean_over="query", baseline="old", test="permutation", details=True
    )
    assert flipped["p_value"].item() == 8 / 32
    assert flipped["method"].item() == "sign flips over 5 groups of query"


@pytest.mark.filterwarnings("ignore:1 of 1 values have no bounds")
@given(differences=st.lists(st.integers(-8, 8), min_size=2, max_size=11))
def test_all_flips_are_those_of_an_enumeration(differences):
    found = compared(*(d / 16 for d in differences), test="permutation")["p_value"]
    some = [d for d in differences if d]
    sums = [abs(sum(ways)) for ways in itertools.product(*((d, -d) for d in some))]
    expected = sum(one >= abs(sum(some)) for one in sums) / len(sums)
    assert found == expected


def test_all_flips_of_as_many_differences_as_are_enumerated_in_parts():
    differences = np.array([(number * 7 % 11 - 4) / 16 or 0.5 for number in range(17)])
    signs = 1 - 2 * (np.arange(2**17)[:, None] >> np.arange(17) & 1)
    expected = (abs(signs @ differences) >= abs(differences.sum())).mean()
    assert compared(*differences, test="permutation")["p_value"] == expected


@pytest.mark.parametrize("n", [21])
def test_drawn_flips_are_near_those_of_scipy(n):
    differences = np.random.default_rng(n).normal(0.15, 0.5, n).round(3)
    found = compared(*differences, test="permutation", resamples=20_000)["p_value"]

    def total(sample, axis):
        return np.sum(sample, axis=axis)

    given_ = {
        "permutation_type": "samples",
        "n_resamples": 50_000,
        "random_state": np.random.default_rng(1),
    }
    expected = stats.permutation_test((differences,), total, vectorized=True, **given_).pvalue
    # Five standard errors of the two draws.
    assert found == pytest.approx(
        expected, abs=5 * (expected * (1 - expected) * (1 / 20_000 + 1 / 50_000)) ** 0.5
    )
    # Another seed, other draws; the same one, the same.
    again = [compared(*differences, test="permutation", seed=seed)["p_value"] for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def test_the_t_test_is_that_of_scipy():
    data = runs(1)
    found = fp.compare(
        data, ["average_precision", "ndcg@3"], "t", ["a", "b", "c"], mean_over="q", details=True
    )
    assert found.select("metric", "baseline", "system").rows() == [
        (metric, *pair)
        for metric in ("average_precision", "ndcg@3")
        for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    each = fp.evaluate(data, ["average_precision", "ndcg@3"], "t", ["a", "b", "c"], by="q")
    for row in found.iter_rows(named=True):
        old, new = (
            each.filter(system=row[name])[row["metric"]].to_numpy()
            for name in ("baseline", "system")
        )
        both = ~np.isnan(old) & ~np.isnan(new)
        expected = stats.ttest_rel(new[both], old[both])
        interval = expected.confidence_interval(0.95)
        assert row["p_value"] == pytest.approx(expected.pvalue, rel=0, abs=1e-9)
        assert (row["low"], row["high"]) == (near(interval.low), near(interval.high))
        assert (row["n_system"], row["undefined"]) == (both.sum(), (~both).sum())
        assert (row["value_baseline"], row["value_system"]) == (
            near(old[both].mean()),
            near(new[both].mean()),
        )
    assert found["p_adjusted"].to_list() == [
        near(p) for p in multipletests(found["p_value"], method="holm")[1]
    ]
    plain = fp.compare(
        data, "average_precision", "t", ["a", "b"], mean_over="q", correction=None, details=True
    )
    assert plain.columns == SINGLE


def test_corrections():
    # Holm: .005 x 4, .01 x 3, .03 x 2, and .04, which is not below the one before it.
    p = np.array([0.01, np.nan, 0.04, 0.03, 0.005, np.nan])
    np.testing.assert_allclose(adjusted(p, "holm"), [0.03, np.nan, 0.06, 0.06, 0.02, np.nan])
    assert adjusted(np.array([0.9, 0.8]), "holm").tolist() == [1.0, 1.0]
    # Benjamini and Hochberg: .005 x 4/1, .01 x 4/2, .039 x 4/3, .04 x 4/4; the third is not above
    # the last.
    p[3] = 0.039
    np.testing.assert_allclose(adjusted(p, "bh"), [0.02, np.nan, 0.04, 0.04, 0.02, np.nan])
    for correction in ("holm", "bh"):
        assert np.isnan(adjusted(np.array([np.nan]), correction)).all()


def test_a_ready_table_gives_what_the_rows_give():
    data = runs(2)
    names = ["average_precision", "precision@2"]
    given_ = {"by": "segment", "mean_over": "q", "baseline": "b"}
    of_rows = fp.compare(data, names, "t", ["a", "b", "c"], **given_, details=True)
    each = fp.evaluate(data, names, "t", ["a", "b", "c"], by=["segment", "q"])
    of_figures = fp.compare(each, names, **given_, details=True)
    assert of_rows.columns == ["segment", *COLUMNS]
    assert_same(of_rows, of_figures)
    assert of_rows.height == 2 * 2 * 2
    # One family of tests: all of them.
    assert of_rows["p_adjusted"].to_list() == [
        near(p) for p in multipletests(of_rows["p_value"], method="holm")[1]
    ]


def test_few_units_and_no_spread():
    with pytest.raises(ValueError, match="mean_over names 'system', whose values are compared"):
        fp.compare(figures(0.25), "m", mean_over="system")
    bounds = ("low", "high", "p_value", "p_adjusted", "effect_size")
    with pytest.warns(fp.DataWarning, match="1 of 1 values have no bounds: there is one unit only"):
        assert [compared(0.25)[name] for name in bounds] == [None] * 5
    with pytest.warns(fp.DataWarning, match="no bounds: the differences have no spread"):
        assert [compared(0.25, 0.25, 0.25)[name] for name in bounds] == [None] * 5
    assert [compared(0.0, 0.0, 0.0)[name] for name in bounds] == [0.0, 0.0, 1.0, 1.0, None]
    none = compared(None, None)
    assert [none[name] for name in ("n_baseline", "undefined", "difference", "p_value")] == [
        0,
        2,
        None,
        None,
    ]


@pytest.mark.filterwarnings("ignore:1 of 1 values have no bounds")
@pytest.mark.parametrize(
    ("number", "p"),
    # All 2^n flips: 2 of them are as large. More than 20 units: the data among 10,001 draws.
    [(2, 2 / 4), (3, 2 / 8), (5, 2 / 32), (20, 2 / 2**20), (60, 1 / 10_001)],
)
@pytest.mark.parametrize("difference", [0.5, -1 / 3])
def test_flips_of_differences_that_are_all_one_number(number, p, difference):
    row = compared(*[difference] * number, test="permutation")
    assert row["p_value"] == near(p)
    assert (row["low"], row["high"]) == (None, None)


def test_a_test_without_a_p_value_does_not_count_in_the_correction():
    values = {"old": [0.1, 0.2, 0.3], "same": [0.6, 0.7, 0.8], "new": [0.1, 0.3, 0.5]}
    rows = [(s, q, v) for s, of_system in values.items() for q, v in enumerate(of_system)]
    data = pl.DataFrame(rows, schema=["system", "q", "m"], orient="row")
    call = {"mean_over": "q", "baseline": "old", "details": True}
    with pytest.warns(fp.DataWarning, match="1 of 2 values have no bounds"):
        by_t = fp.compare(data, "m", **call)
    # Differences of 0, .1, .2: t = 3^(1/2), and the other test has no p-value.
    p = 2 * stats.t.sf(3**0.5, 2)
    assert by_t.sort("system")["p_adjusted"].to_list() == [near(p), None]
    with pytest.warns(fp.DataWarning, match="1 of 2 values have no bounds"):
        by_flips = fp.compare(data, "m", test="permutation", **call)
    # Two differences other than 0: 2 of 4 flips. Three: 2 of 8. Holm doubles the smaller p.
    assert by_flips.sort("system")["p_value"].to_list() == [0.5, 0.25]
    assert by_flips.sort("system")["p_adjusted"].to_list() == [0.5, 0.5]


def test_rounding_errors_are_ties():
    # Of values near 1, differences of 1e-15 are rounding errors: no bound excludes 0, and p is 1.
    noise = figures(1e-15, -1e-15, 2e-15).with_columns(pl.col("m") + 1.0)
    for test in ("t", "permutation"):
        row = fp.compare(
            noise, "m", mean_over="query", baseline="old", test=test, details=True
        ).row(0, named=True)
        assert [row[name] for name in ("wins", "equal", "losses", "p_value")] == [0, 3, 0, 1.0]
        assert (row["difference"], row["low"], row["high"]) == (0.0, 0.0, 0.0)
    # Differences of 1e-13 between values near 1 are no rounding errors, and those below 6e-14 are.
    assert [compared(1.0, difference, -1.0)["wins"] for difference in (1e-13, 5e-14)] == [2, 1]


# Units that systems share
# ------------------------------------------------------------------------------------------------


def arms(shared: int, alone: int, more: int) -> pl.DataFrame:
    """Two systems that share some users; the first has others alone, the second more of its own."""
    users = [("x", i) for i in range(shared + alone)] + [("y", i) for i in range(shared)]
    users += [("y", 100 + i) for i in range(more)]
    return pl.DataFrame(users, schema=["system", "user"], orient="row").with_columns(
        ap=pl.col("user") % 7 / 10 + (pl.col("system") == "y") * (pl.col("user") % 3) / 10
    )


def compared_arms(data: pl.DataFrame, **more) -> dict:
    (row,) = fp.compare(data, "ap", mean_over="user", details=True, **more).to_dicts()
    return row


def test_systems_that_share_no_unit():
    row = compared_arms(arms(0, 5, 6))
    assert (row["n_baseline"], row["n_system"]) == (5, 6)
    assert row["method"] == "Welch over 5 and 6 groups of user"
    none = "paired=True: 'x' and 'y' share none of their groups of user"
    with pytest.raises(ValueError, match=none):
        compared_arms(arms(0, 5, 5), paired=True)
    # Of three systems, the pair that is compared counts.
    third = arms(3, 0, 0).vstack(arms(0, 0, 3).with_columns(system=pl.lit("z")))
    with pytest.raises(ValueError, match="'x' and 'z' share none"):
        fp.compare(third, "ap", mean_over="user", baseline="x", paired=True)


def test_systems_that_share_few_units():
    # Exactly half of the smaller system is not more than half.
    for few in (arms(2, 3, 6), arms(3, 3, 3)):
        sizes = few.group_by("system").len().sort("system")["len"].to_list()
        with pytest.warns(fp.DataWarning, match="takes them as independent") as warned:
            row = compared_arms(few)
        assert len(warned) == 1
        assert [row["n_baseline"], row["n_system"]] == sizes
        assert row["method"].startswith("Welch")
    left_out = "share 2 of their 5 and 8 groups of user, and the paired test leaves out 9"
    with pytest.warns(fp.DataWarning, match=left_out):
        assert compared_arms(arms(2, 3, 6), paired=True)["n_system"] == 2


def test_systems_that_share_most_units():
    # More than half of the smaller system, which ran on few of the units of the other one.
    with pytest.warns(fp.DataWarning, match="share 3 of their 3 and 93 .* leaves out 90"):
        assert compared_arms(arms(3, 0, 90))["method"] == "paired t over 3 groups of user"
    assert compared_arms(arms(4, 0, 0))["n_system"] == 4
    unpaired = compared_arms(arms(4, 0, 0), paired=False)
    assert unpaired["method"] == "Welch over 4 and 4 groups of user"


# Rows that were drawn
# ------------------------------------------------------------------------------------------------


def two_models(seed: int, n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    scores = {
        name: rng.integers(0, 12, n) + 3 * truth * rng.random(n).round(1) for name in ("old", "new")
    }
    return pl.DataFrame(
        {"g": np.arange(n) % 2, "user": rng.integers(0, 15, n), "t": truth} | scores
    )


def placements(scores: list[float], others: list[float]) -> list[Fraction]:
    """Of each score, the share of the others below it."""
    return [
        sum(Fraction(2 * (x > y) + (x == y), 2) for y in others) / Fraction(len(others))
        for x in scores
    ]


def spread(numbers: list[Fraction]) -> Fraction:
    mean = sum(numbers) / len(numbers)
    return sum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1)


@pytest.mark.parametrize("seed", range(5))
def test_delong(seed):
    # By the formula of the paper: of the differences of the placements of the positives (of the
    # negatives), the variance over their number.
    data = two_models(seed, 30)
    of_class = [
        data.filter(t=label).select("old", "new").to_dict(as_series=False)
        for label in (True, False)
    ]
    parts = []
    for x, y in (of_class, of_class[::-1]):
        old, new = placements(x["old"], y["old"]), placements(x["new"], y["new"])
        parts.append([b - a for a, b in zip(old, new, strict=True)])
    difference = sum(parts[0]) / len(parts[0])
    error = float(spread(parts[0]) / len(parts[0]) + spread(parts[1]) / len(parts[1])) ** 0.5
    row = fp.compare(data, "roc_auc", "t", ["old", "new"], test="delong", details=True).row(
        0, named=True
    )
    assert row["difference"] == near(difference)
    assert row["p_value"] == near(2 * stats.norm.sf(abs(float(difference)) / error))
    reach = stats.norm.ppf(0.975) * error
    assert (row["low"], row["high"]) == (
        near(float(difference) - reach),
        near(float(difference) + reach),
    )
    # The default has the same error, and Student's t.
    t = fp.compare(data, "roc_auc", "t", ["old", "new"], details=True).row(0, named=True)
    df = min(map(len, parts)) - 1
    assert t["p_value"] == pytest.approx(
        2 * stats.t.sf(abs(float(difference)) / error, df), rel=0, abs=1e-9
    )


def test_users_that_were_drawn():
    # Every row of a user twice: what is known of them stays the same.
    data = two_models(2)
    names = ["average_precision", "precision@threshold=6"]
    given_ = {"truth": "t", "score": ["old", "new"], "cluster": "user"}
    once = fp.compare(data, names, **given_, details=True)
    assert_same(fp.compare(pl.concat([data, data]), names, **given_, details=True), once)
    alone = fp.compare(
        data.with_row_index("row"), names, **(given_ | {"cluster": "row"}), details=True
    )
    # As a mean of two proportions: of rows that each count, (b - a) in the whole.
    accuracy = fp.compare(
        data, "accuracy@threshold=6", **(given_ | {"cluster": None}), details=True
    ).row(0, named=True)
    right = [(data[system] >= 6) == data["t"] for system in ("old", "new")]
    expected = stats.ttest_rel(right[1].cast(int), right[0].cast(int))
    assert accuracy["p_value"] == near(expected.pvalue)
    assert alone["n_system"].to_list() == [60, 60]


def test_the_same_scores_and_rows_without_a_value():
    data = two_models(4).with_columns(new="old")
    same = fp.compare(data, "average_precision", "t", ["old", "new"], details=True).row(
        0, named=True
    )
    assert [same[name] for name in ("difference", "low", "high", "p_value", "equal")] == [
        0.0,
        0.0,
        0.0,
        1.0,
        None,
    ]
    negatives = data.filter(~pl.col("t"))
    (none,) = fp.compare(
        negatives, "average_precision", "t", ["old", "new"], details=True
    ).to_dicts()
    assert [none[name] for name in ("undefined", "difference", "low", "p_value")] == [
        1,
        None,
        None,
        None,
    ]


REFUSED = [
    (
        {"metrics": "precision@3", "method": "closed"},
        ValueError,
        "precision@3 has no closed form where rows are sampled",
    ),
    (
        {"test": "permutation"},
        ValueError,
        "test='permutation' flips the signs of differences of paired",
    ),
    (
        {"cluster": "c", "mean_over": "q", "sampled": "groups"},
        ValueError,
        "cluster=: groups of mean_over= have rows of several clusters",
    ),
    ({"paired": False}, ValueError, "paired=False: several scores of one frame are of the same"),
    (
        {"score": "a", "between": "q", "paired": True},
        ValueError,
        "paired=True: nothing tells which rows belong together",
    ),
    (
        {"metrics": "max_f1", "test": "permutation"},
        ValueError,
        "test='permutation' flips the signs of differences of paired groups",
    ),
    (
        {"metrics": ["roc_auc", "max_f1"], "test": "delong"},
        ValueError,
        "test='delong' compares roc_auc of several scores of independent rows: use test='t'",
    ),
    (
        {"mean_over": "query"},
        ValueError,
        "mean_over: no column 'query' in the frame",
    ),
    ({"margin": 0.1}, ValueError, "margin= is about one side: give alternative="),
    (
        {"alternative": "less", "margin": float("inf")},
        ValueError,
        "margin must be finite; got inf",
    ),
    (
        {"alternative": "larger"},
        ValueError,
        "alternative must be 'two-sided', 'greater' or 'less', got 'larger'",
    ),
    ({"score": "a"}, ValueError, "score: compare takes two scores or more"),
    ({"baseline": "x"}, ValueError, "baseline='x' is none of the systems"),
    (
        {"test": "wilcoxon"},
        ValueError,
        "test must be 't', 'permutation' or 'delong', got 'wilcoxon'",
    ),
    (
        {"seed": 1, "method": "closed"},
        ValueError,
        "seed= is about random draws, and method='closed' has none: leave it out",
    ),
    (
        {"repeats": 200, "method": "closed"},
        ValueError,
        "repeats= is about random draws, and method='closed' has none: leave it out",
    ),
    (
        {"method": "bootstrap", "test": "delong", "metrics": "roc_auc"},
        ValueError,
        "method='bootstrap' has a test of its own: leave out test='delong'",
    ),
    (
        {"test": "permutation", "resamples": 0},
        ValueError,
        "resamples must be a whole number of at least 1",
    ),
    (
        {"test": "delong"},
        ValueError,
        "test='delong' compares roc_auc of several scores of independent",
    ),
    (
        {"test": "delong", "cluster": "q"},
        ValueError,
        "test='delong' compares roc_auc of several scores of independent",
    ),
    (
        {"correction": "bonferroni"},
        ValueError,
        "correction must be 'holm' or 'bh', or None, got 'bonferroni'",
    ),
    ({"score": "a"}, ValueError, "score: compare takes two scores or more"),
    (
        {"sampled": "groups"},
        ValueError,
        "sampled='groups' needs mean_over=: the keys of the groups that were drawn",
    ),
]


@pytest.mark.parametrize(("change", "error", "sentence"), REFUSED)
def test_what_is_refused(change, error, sentence):
    given_ = {"metrics": "average_precision", "truth": "t", "score": ["a", "b"]} | change
    with pytest.raises(error) as raised:
        fp.compare(runs(1), given_.pop("metrics"), **given_)
    assert str(raised.value).startswith(sentence)


# Frames of systems
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
def test_a_dict_of_frames(kind):
    data = runs(5)
    make = {
        "polars": lambda frame: frame,
        "lazy": pl.DataFrame.lazy,
        "pandas": pl.DataFrame.to_pandas,
    }[kind]
    frames = {"old": make(data), "new": make(data.with_columns(a="b"))}
    found = fp.compare(frames, {"AP": "average_precision"}, "t", "a", mean_over="q")
    found = pl.from_pandas(found) if kind == "pandas" else found.lazy().collect()
    expected = fp.compare(data, {"AP": "average_precision"}, "t", ["a", "b"], mean_over="q")
    assert found.select("metric", "baseline", "system").row(0) == ("AP", "old", "new")
    assert_same(found.drop("baseline", "system"), expected.drop("baseline", "system"))
    # The systems of a column, and a frame of metrics.
    both = pl.concat([data, data.with_columns(a="b")]).with_columns(
        system=pl.Series(["a", "b"]).repeat_by(96).explode()
    )
    by_column = fp.compare(
        both, {"AP": "average_precision"}, "t", "a", between="system", mean_over="q"
    )
    assert_same(by_column.rename({"p_adjusted": "p_value"}), expected)


@pytest.mark.parametrize(
    ("arguments", "left_out"),
    [
        # One test.
        ({"metrics": "roc_auc", "score": ["a", "b"]}, []),
        ({"metrics": "roc_auc", "score": ["a", "b"], "baseline": "b"}, []),
        # All pairs of three systems, and groups whose number only the data know.
        ({"score": ["a", "b", "c"]}, []),
        ({"score": "a", "between": "half"}, []),
        ({"score": "a", "between": "half", "baseline": "previous"}, []),
        ({"score": "a", "between": "half", "baseline": "previous", "by": "part"}, ["baseline"]),
        ({"score": "a", "between": "half", "baseline": 0}, ["baseline"]),
        ({"score": ["a", "b", "c"], "baseline": "b"}, ["baseline"]),
        ({"score": ["a", "b", "c"], "baseline": "b", "by": "half"}, ["baseline"]),
        ({"score": ["a", "b"]}, ["baseline"]),
        ({"score": ["a", "b"], "by": "half"}, ["baseline", "system"]),
    ],
    ids=str,
)
def test_several_tests_leave_out_the_columns_that_the_call_fixes(arguments, left_out):
    data = runs(5).with_columns(c=-pl.col("b"), half=pl.int_range(pl.len()) % 2)
    data = data.with_columns(part=pl.int_range(pl.len()) // 2 % 2)
    call = {"metrics": ["roc_auc", "average_precision"], "truth": "t", **arguments}
    keys = [arguments["by"]] if "by" in arguments else []
    p_value = "p_value" if "metrics" in arguments else "p_adjusted"
    columns = [*keys, *(name for name in RESULTS if name not in left_out), p_value]
    found = data.pr.compare(**call)
    assert found.columns == columns
    assert data.lazy().pr.compare(**call).collect_schema().names() == columns
    details = data.pr.compare(**call, details=True)
    assert {*COLUMNS, *keys} - {*details.columns} <= {"p_adjusted"}
    assert_same(details.select(columns), found)


def test_a_list_of_frames_is_told_of_the_dict():
    data = runs(1)
    for frames in ([data, data], (data, data)):
        with pytest.raises(TypeError, match="several frames are a dict of names and frames"):
            fp.compare(frames, "roc_auc", "t", "a")


def test_a_dict_of_lazy_frames_is_not_read_before_the_result_is_collected():
    def fail(frame):
        raise RuntimeError("read")

    frame = runs(1).lazy().map_batches(fail)
    lazy = fp.compare({"old": frame, "new": frame}, "roc_auc", "t", "a", mean_over="q")
    with pytest.raises(Exception, match="read"):
        lazy.collect()


def test_frames_without_groups_have_independent_rows():
    data = runs(6)
    frames = {"old": data, "new": data.with_columns(a="b")}
    # Also those of one test set: then the test is weak, and a warning says so.
    with pytest.warns(
        fp.DataWarning, match=r"equal numbers of rows \(96\) and positives .*cluster="
    ):
        found = fp.compare(frames, "roc_auc", "t", "a", details=True)
    assert found.select("baseline", "system").row(0) == ("old", "new")
    assert found["method"].item() == "Newcombe over 96 and 96 rows"
    below = pl.concat([data.with_columns(arm=0), data.with_columns(a="b", arm=1)])
    by_arm = fp.compare(below, "roc_auc", "t", "a", between="arm", details=True)
    names = ["baseline", "system", "p_adjusted"]
    assert_same(found.drop(names[:2]), by_arm.drop(names))
    # The id of a row pairs them.
    frames = {name: frame.with_row_index("id") for name, frame in frames.items()}
    by_id = fp.compare(frames, "average_precision", "t", "a", cluster="id", details=True)
    assert by_id["method"].item() == "paired t over 96 clusters of id"
    wide = fp.compare(data, "average_precision", "t", ["a", "b"], details=True)
    assert_same(by_id.select("difference", "n_system"), wide.select("difference", "n_system"))
    # For P positives, the error of the jackknife is larger by less than (P / (P - 1))^(1/2).
    positives = data["t"].sum()
    factor = (by_id["standard_error"] / wide["standard_error"]).item()
    assert 1 <= factor < (positives / (positives - 1)) ** 0.5


@pytest.mark.parametrize(
    ("frames", "more", "message"),
    [
        ({"a": runs(1)}, {}, "a dict has names and two polars or pandas frames or more"),
        (
            {"a": runs(1), "b": runs(1).lazy()},
            {},
            "two polars or pandas frames or more, of one kind",
        ),
        (
            {"a": runs(1), "b": runs(1).with_columns(system=1)},
            {},
            "frame 'b' has a column 'system' already",
        ),
        ({"a": runs(1), 2: runs(1)}, {}, "a dict has names and two"),
        (
            {"a": runs(1).to_arrow(), "b": runs(1).to_arrow()},
            {},
            "two polars or pandas frames or more",
        ),
        ({"a": runs(1), "b": runs(1).drop("a")}, {}, "score: no column 'a' in the frame"),
        (
            {"a": runs(1).to_pandas(), "b": runs(1).drop("a").to_pandas()},
            {},
            "score: no column 'a' in the frame",
        ),
        ({"a": runs(1), "b": runs(1).clear()}, {}, "two systems or more, and there is 'a' only"),
        (
            {"a": runs(1).with_columns(q=pl.lit([1])), "b": runs(1)},
            {},
            "of one kind with equal dtypes",
        ),
        (
            {"a": runs(1).lazy().with_columns(q=pl.lit([1])), "b": runs(1).lazy()},
            {},
            "of one kind with equal dtypes",
        ),
        ({"a": runs(1), "b": runs(1)}, {"between": "q"}, "between= compares groups of one frame"),
    ],
)
def test_frames_that_cannot_be_compared(frames, more, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fp.compare(frames, "roc_auc", "t", "a", mean_over="q", **more)


@pytest.mark.parametrize(
    ("groups", "resamples", "p_value"), [(20, None, 2 / 2**20), (21, 100, 1 / 101)]
)
def test_all_sign_flips_up_to_20_groups(groups, resamples, p_value):
    # All differences are positive: only two of the 2^20 flips have a sum as large, and none of 100
    # random ones.
    values = [0.0] * groups + [1 - i / 1000 for i in range(groups)]
    table = pl.DataFrame(
        {"q": [*range(groups)] * 2, "system": ["a"] * groups + ["b"] * groups, "m": values}
    )
    call = {"mean_over": "q", "test": "permutation", "correction": None}
    assert fp.compare(table, "m", resamples=resamples, **call)["p_value"].item() == p_value


# One-sided tests
# ------------------------------------------------------------------------------------------------


SIDES = [("greater", 0.0), ("less", 0.0), ("greater", 0.05), ("less", 0.05), ("greater", -0.02)]


@pytest.mark.parametrize(("alternative", "margin"), SIDES)
def test_one_sided_paired_tests_are_those_of_scipy(alternative, margin):
    differences = np.random.default_rng(3).normal(0.02, 0.1, 12).round(3)
    sides = {"alternative": alternative, "margin": margin}
    row = compared(*differences, **sides)
    null_value = -margin if alternative == "greater" else margin
    expected = stats.ttest_1samp(differences, null_value, alternative=alternative)
    low, high = expected.confidence_interval(0.95)
    assert row["p_value"] == near(expected.pvalue)
    assert (row["low"], row["high"]) == (near(low), near(high))
    # All flips of the differences from the tested value.
    shifted = differences - null_value
    signs = np.array([*itertools.product([1, -1], repeat=12)])
    sums = signs @ shifted
    larger = (
        sums >= shifted.sum() - 1e-9 if alternative == "greater" else sums <= shifted.sum() + 1e-9
    )
    assert compared(*differences, test="permutation", **sides)["p_value"] == near(larger.mean())


@pytest.mark.parametrize(("alternative", "margin"), SIDES)
@pytest.mark.parametrize(
    "more", [{"score": ["old", "new"]}, {"score": "old", "between": "g"}], ids=str
)
def test_one_sided_tests_of_rows_agree_with_their_bounds(alternative, margin, more):
    data = two_models(7, 120)
    call = {"truth": "t", "correction": None, "details": True, **more}
    sides = {"alternative": alternative, "margin": margin}
    names = ["average_precision", "roc_auc", "recall@threshold=6"]
    both = fp.compare(data, names, **call)
    rows = fp.compare(data, names, **call, **sides)
    at_null = "low" if alternative == "greater" else "high"
    null_value = -margin if alternative == "greater" else margin
    for row, two_sided in zip(rows.to_dicts(), both.to_dicts(), strict=True):
        assert row["high" if alternative == "greater" else "low"] == (
            np.inf if alternative == "greater" else -np.inf
        )
        # The bound at 97.5 % is that of both sides at 95 %.
        one = fp.compare(data, row["metric"], **call, **sides, confidence=0.975)
        assert one[at_null].item() == near(two_sided[at_null])
        # At a confidence of 1 - p the bound is the tested difference.
        if row["p_value"] < 0.5:
            at_p = fp.compare(data, row["metric"], **call, **sides, confidence=1 - row["p_value"])
            assert at_p[at_null].item() == pytest.approx(null_value, abs=1e-8)
        if not margin:
            half = two_sided["p_value"] / 2
            is_for = (row["difference"] > 0) == (alternative == "greater")
            assert row["p_value"] == near(half if is_for else 1 - half)


def test_systems_that_are_equal_are_not_worse_by_a_margin():
    same = compared(0.0, 0.0, 0.0, alternative="greater", margin=0.01)
    assert (same["low"], same["high"], same["p_value"]) == (0.0, np.inf, 0.0)
    assert compared(0.0, 0.0, 0.0, alternative="greater")["p_value"] == 1.0
    assert compared(0.0, 0.0, 0.0, alternative="greater", margin=-0.01)["p_value"] == 1.0


# What is the sample
# ------------------------------------------------------------------------------------------------


def test_groups_of_by_have_tests_of_their_own():
    data = runs(3)
    both = fp.compare(data, "average_precision", "t", ["a", "b"], by="segment", details=True)
    for row in both.iter_rows(named=True):
        part = data.filter(segment=row["segment"])
        alone = fp.compare(part, "average_precision", "t", ["a", "b"], details=True)
        assert row["p_value"] == near(alone["p_value"].item())
        assert row["method"] == "paired t over 48 rows"
    with pytest.warns(fp.DataWarning, match=r"by: 40 groups, .* name them in mean_over="):
        fp.compare(runs(3, 40), "accuracy@threshold=0.5", "t", ["a", "b"], by="q")


def test_the_mean_over_fixed_groups_is_tested_over_rows():
    data = runs(5, 4).with_columns(cls=pl.col("q"))
    (row,) = fp.compare(
        data, "roc_auc", "t", ["a", "b"], mean_over="cls", sampled="rows", details=True
    ).to_dicts()
    each = fp.compare(data, "roc_auc", "t", ["a", "b"], by="cls", details=True)
    assert row["difference"] == near(each["difference"].mean())
    error = (each["standard_error"] ** 2).sum() ** 0.5 / 4
    assert row["standard_error"] == near(error)
    sizes = data.group_by("cls").agg(p=pl.col("t").sum(), n=(~pl.col("t")).sum())
    df = sizes.select(pl.min_horizontal("p", "n") - 1).sum().item()
    assert row["p_value"] == near(2 * stats.t.sf(abs(row["difference"]) / error, df))
    assert row["method"] == "paired t over 32 rows"


def test_prevalences_that_differ():
    rng = np.random.default_rng(1)
    week = np.arange(4_000) % 2
    truth = rng.random(4_000) < np.where(week == 0, 0.35, 0.15)
    data = pl.DataFrame({"week": week, "t": truth, "s": 1.2 * truth + rng.normal(size=4_000)})
    sentence = "average_precision depends on the prevalence, which differs significantly in 1 of 1"
    with pytest.warns(fp.DataWarning, match=sentence):
        fp.compare(data, ["roc_auc", "average_precision"], "t", "s", between="week")
    with pytest.warns(fp.DataWarning, match="precision@threshold=1 depends on the prevalence"):
        fp.compare(data.lazy(), "precision@threshold=1", "t", "s", between="week").collect()
    # These do not depend on it, and the prevalence itself is what is asked for.
    same = [
        "roc_auc",
        "recall@threshold=1",
        "specificity@threshold=1",
        "fpr@threshold=1",
        "prevalence",
    ]
    fp.compare(data, same, "t", "s", between="week")
    # Means of rates within each class: with a bootstrap, too.
    drawn = ["max_balanced_accuracy", "max_informedness", "equal_error_rate", "roc_auc@fpr=0.1"]
    drawn += ["recall@fpr=0.05", "specificity@recall=0.8", "max_informedness@fpr=0.1"]
    fp.compare(data, drawn, "t", "s", between="week", repeats=100)
    # A rate within a class, at a cutoff that the prevalence moves.
    for name in ("informedness@900", "fpr@precision=0.5", "max_balanced_accuracy@precision=0.5"):
        with pytest.warns(fp.DataWarning, match=f"{name} depends on the prevalence"):
            fp.compare(data, name, "t", "s", between="week", repeats=100)
    # Equal prevalences, up to chance.
    equal = data.with_columns(week=pl.int_range(pl.len()) // 2 % 2)
    fp.compare(equal, "average_precision", "t", "s", between="week")


def test_between_takes_an_expression():
    data = runs(8)
    by_name = fp.compare(
        data.with_columns(half=pl.col("q") % 2), "average_precision", "t", "a", between="half"
    )
    half = (pl.col("q") % 2).alias("half")
    assert_same(fp.compare(data, "average_precision", "t", "a", between=half), by_name)


def test_units_named_like_the_placeholder_of_a_format():
    data = runs(8).rename({"q": "{}"})
    tests = fp.compare(data, "roc_auc", "t", ["a", "b"], mean_over="{}", details=True)
    assert tests["method"].item() == "paired t over 12 groups of {}"


def test_the_method_of_unpaired_tests_of_several_scores_has_both_numbers_of_rows():
    data = runs(8).with_columns(arm=pl.col("q") < 4)
    call = {"between": "arm", "repeats": 100, "correction": None, "details": True}
    tests = fp.compare(data, "max_f1", "t", ["a", "b"], **call)
    # Of 12 queries with 8 rows each, 8 are in the first arm, and 4 in the second.
    assert tests["method"].to_list() == ["bootstrap over 64 and 32 rows"] * 2
