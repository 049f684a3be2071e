"""What holds whatever the data: found, or not found, by hypothesis."""

import math

import polars as pl
import pytest
from compare import assert_same, near
from hypothesis import given, settings
from hypothesis import strategies as st
from names import NAMES
from oracle import oracle
from rankings import SMALL, mean_over_orders, values

import frame_pr as fp

pytestmark = pytest.mark.slow

# A few scores, so that there are ties; both zeros, both infinities, the smallest and the largest.
TIED = st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.0, 5e-324, 1e300, -1e300, math.inf, -math.inf])
SCORES = st.one_of(TIED, st.floats(allow_nan=False), st.integers(-3, 3).map(float))
ROWS = st.lists(st.tuples(st.integers(0, 3), st.booleans(), SCORES), min_size=1, max_size=40)
FRAMES = ROWS.map(lambda rows: pl.DataFrame(rows, schema=["q", "relevant", "score"], orient="row"))

# Beside every area and total, a figure of each cut.
SOME = [
    name
    for name in NAMES
    if "@" not in name and not name.startswith(("max_f0", "max_f2", "min_cost3", "rbp0.9"))
]
SOME += [
    "average_precision@3",
    "average_precision@3/hits",
    "average_precision@20%",
    "precision@1",
    "precision@10",
]
SOME += [
    f"precision@{cut}"
    for cut in ("20%", "threshold=0.5", "recall=0", "recall=0.8", "precision=0.6", "fpr=0.3")
]
SOME += [
    "mcc@3",
    "mcc@threshold=0",
    "mcc@threshold=-inf",
    "mcc@threshold=1e300",
    "mcc@recall=1",
    "mcc@fpr=0",
]
SOME += ["reciprocal_rank@3", "success@3", "dcg@3", "ndcg@3", "judged@3", "roc_auc@fpr=0.35"]
SOME += [
    "threshold@max_f1",
    "threshold@recall=0.8",
    "k@recall=0.3",
    "interpolated_precision@recall=0.3",
    "f2@3",
]
THRESHOLDS = [name for name in SOME if name.startswith("threshold@")]
# At a threshold of their own these follow the scores wherever they go.
AT_THRESHOLD = [name for name in SOME if "@threshold=" in name]
# Counts, sums, and what may lie far below 0.


def metrics_of(data, names=SOME, **options):
    return fp.evaluate(data, names, "relevant", "score", **{"by": "q"} | options)


@given(FRAMES, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(data, random):
    order = list(range(data.height))
    random.shuffle(order)
    assert_same(metrics_of(data[order]), metrics_of(data))
    assert_same(
        data[order].pr.curve("relevant", "score", by="q", rates="all"),
        data.pr.curve("relevant", "score", by="q", rates="all"),
    )
    beside = data.with_row_index().pr.with_curve("relevant", "score", by="q", rates="all")
    assert_same(
        data.with_row_index()[order]
        .pr.with_curve("relevant", "score", by="q", rates="all")
        .sort("index"),
        beside,
    )


# Metrics that count ranks are the mean over all orders of tied rows without an option.
RANKED = [
    "reciprocal_rank",
    "reciprocal_rank@2",
    "success@2",
    "dcg",
    "ndcg",
    "ndcg@3",
    "bpref",
    "first_rank",
    "mean_rank",
]
AVERAGED = [
    "average_precision",
    "average_precision@2",
    "precision@2",
    "recall@3",
    "roc_auc",
    "roc_auc@fpr=0.37",
]


@given(SMALL)
def test_expected_is_the_mean_over_all_orders(data):
    for names, given_ties in ((RANKED, {}), (AVERAGED, {"ties": "expected"})):
        assert values(data, names, **given_ties) == {
            n: near(v) for n, v in mean_over_orders(data, names).items()
        }
    rules = ("pessimistic", "expected", "optimistic")
    worst, mean, best = (values(data, AVERAGED, ties=ties) for ties in rules)
    for name in AVERAGED:
        if mean[name] is not None:
            assert worst[name] - 1e-12 <= mean[name] <= best[name] + 1e-12, name


@settings(max_examples=8)  # all metrics each
@given(FRAMES, ROWS)
def test_adding_groups_changes_no_other(data, rows):
    others = pl.DataFrame(rows, schema=data.schema, orient="row").with_columns(
        q=pl.col("q") * 2 - 3
    )
    kept = data.with_columns(q=pl.col("q") * 2)  # even: between the others, which are odd
    together = metrics_of(pl.concat([others, kept]))
    assert_same(together.filter(pl.col("q") % 2 == 0), metrics_of(kept))


@given(FRAMES)
def test_only_the_order_of_the_scores_matters(data):
    ranks = data.with_columns(
        score=pl.col("score").replace({-0.0: 0.0}).rank("dense").cast(pl.Int64) * 3 - 7
    )
    back = dict(zip(ranks["score"].to_list(), (data["score"] + 0.0).to_list(), strict=True))
    of_values = (*AT_THRESHOLD, "mean_score")
    names = [name for name in SOME if name not in of_values]
    expected = metrics_of(data, names)
    found = metrics_of(ranks, names)
    assert_same(found.drop(THRESHOLDS), expected.drop(THRESHOLDS))
    # And the thresholds are those scores.
    for name in THRESHOLDS:
        assert [one if one is None else back[one] for one in found[name].to_list()] == expected[
            name
        ].to_list()
    curves = [
        one.pr.curve("relevant", "score", by="q", rates="all").drop("threshold")
        for one in (ranks, data)
    ]
    assert_same(*curves)


@given(FRAMES)
def test_twice_the_rows_are_the_same_rates(data):
    # Every row beside its copy: every block has twice its rows and hits, so that all shares stay.
    shares = [
        "average_precision",
        "interpolated_average_precision",
        "interpolated_average_precision_11",
        "max_f1",
    ]
    shares += [
        "precision@recall=0.8",
        "prevalence",
        "average_precision_lift",
        "r_precision",
        "mcc@threshold=0.5",
        "precision@threshold=0.5",
    ]
    assert_same(metrics_of(pl.concat([data, data]), shares), metrics_of(data, shares))


@given(FRAMES)
def test_the_curve(data):
    curve = data.pr.curve("relevant", "score", by="q", rates="all")
    assert curve["q"].is_sorted()
    for (q,), part in curve.partition_by("q", as_dict=True).items():
        rows = data.filter(q=q)
        assert part["threshold"].to_list() == sorted(
            {score + 0.0 for score in rows["score"].to_list()}, reverse=True
        )
        assert part["k"].is_sorted()
        assert part["tp"].is_sorted()
        assert part["interpolated_precision"].is_sorted(descending=True)
        assert part.select("k", "tp").row(-1) == (rows.height, rows["relevant"].sum())
        assert (part["tp"] + part["fp"] == part["k"]).all()
        assert (
            part.select(pl.sum_horizontal("tp", "fp", "fn", "tn")).to_series() == rows.height
        ).all()


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [
        (pl.Int64, st.integers(-(2**63), 2**63 - 1)),
        (pl.UInt64, st.integers(0, 2**64 - 1)),
        (pl.Int8, st.integers(-128, 127)),
        (pl.Float32, st.floats(width=32, allow_nan=False)),
        (pl.Decimal(18, 4), st.decimals(-(10**13), 10**13, places=4)),
    ],
    ids=["Int64", "UInt64", "Int8", "Float32", "Decimal"],
)
@given(data=st.data())
def test_scores_of_other_dtypes(dtype, numbers, data):
    rows = data.draw(st.lists(st.tuples(st.booleans(), numbers), min_size=1, max_size=30))
    truth, score = map(list, zip(*rows, strict=True))
    frame = pl.DataFrame({"relevant": truth, "score": pl.Series(score, dtype=dtype)})
    names = [
        "average_precision",
        "interpolated_average_precision",
        "tied_rows",
        "precision@3",
        "threshold@max_f1",
    ]
    result = frame.pr.evaluate(names, "relevant", "score").row(0, named=True)
    score = frame["score"].to_list()
    assert result == {name: near(oracle(name, truth, score)) for name in names}
