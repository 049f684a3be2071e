"""What equal scores mean: against all orders of the rows, and known answers."""

import itertools
import random

import polars as pl
import pytest
from oracle import oracle

import frame_pr as fp

LINEAR = [
    "average_precision",
    "average_precision_lift",
    "average_precision@3",
    "average_precision@3/positives",
    "precision@3",
    "recall@3",
]
LINEAR += [
    "r_precision",
    "f1@3",
    "f2@2",
    "mcc@3",
    "kappa@2",
    "specificity@3",
    "precision@10",
    "average_precision@10",
]
BOUNDED = [
    *LINEAR,
    "interpolated_average_precision",
    "interpolated_average_precision_11",
    "max_f1",
    "max_f0.5",
]
BOUNDED += ["precision@recall=0.5", "interpolated_precision@recall=0.5"]


def tied(seed: int) -> pl.DataFrame:
    """A few rows with few scores, so that ranks 2 and 3 fall inside blocks."""
    draw = random.Random(seed)
    rows = [(draw.randint(0, 1), draw.randint(0, 2)) for _ in range(draw.randint(2, 6))]
    return pl.DataFrame([*rows, (1, draw.randint(0, 2))], schema=["y", "s"], orient="row")


def all_orders(data: pl.DataFrame) -> pl.DataFrame:
    """One group for each order of the rows that the scores allow, untied."""
    blocks = [
        block.get_column("y").to_list()
        for block in data.sort("s", descending=True).partition_by("s")
    ]
    orders = itertools.product(*(itertools.permutations(block) for block in blocks))
    ranked = [list(itertools.chain(*order)) for order in orders]
    return (
        pl.DataFrame({"order": range(len(ranked)), "y": ranked})
        .explode("y", empty_as_null=True)
        .with_columns(s=-pl.int_range(pl.len()))
    )


@pytest.mark.parametrize("seed", range(5))
def test_expected_is_the_mean_over_all_orders(seed):
    data = tied(seed)
    orders = fp.evaluate(all_orders(data), LINEAR, "y", "s", by="order").drop("order")
    expected = fp.evaluate(data, LINEAR, "y", "s", ties="expected")
    for name in LINEAR:
        assert expected[name].item() == pytest.approx(orders[name].mean(), abs=1e-13), name


@pytest.mark.parametrize("seed", range(5))
def test_optimistic_and_pessimistic_are_the_bounds_over_all_orders(seed):
    data = tied(seed)
    orders = fp.evaluate(all_orders(data), BOUNDED, "y", "s", by="order").drop("order")
    for ties, bound in (("optimistic", pl.Series.max), ("pessimistic", pl.Series.min)):
        reached = fp.evaluate(data, BOUNDED, "y", "s", ties=ties)
        for name in BOUNDED:
            assert reached[name].item() == pytest.approx(bound(orders[name]), abs=1e-13), (
                name,
                ties,
            )


@pytest.mark.parametrize("seed", range(3))
def test_an_untied_ranking_knows_no_ties(seed):
    data = tied(seed).with_columns(s=pl.int_range(pl.len()))
    plain = fp.evaluate(data, LINEAR, "y", "s")
    for ties in ("expected", "optimistic", "pessimistic", "order"):
        assert fp.evaluate(data, LINEAR, "y", "s", ties=ties).equals(plain), ties


def test_ties_known_answers():
    # One positive in two: at rank 1 or 2, (1/1 + 1/2) / 2 = 3/4. In three: (1 + 1/2 + 1/3) / 3 =
    # 11/18.
    data = pl.DataFrame({"g": [2, 2, 3, 3, 3], "y": [1, 0, 0, 1, 0], "s": [7] * 5})
    for ties, values in {
        "threshold": [1 / 2, 1 / 3],
        "expected": [3 / 4, 11 / 18],
        "optimistic": [1, 1],
        "pessimistic": [1 / 2, 1 / 3],
        "order": [1, 1 / 2],
    }.items():
        result = data.pr.average_precision("y", "s", by="g", ties=ties)
        assert result["average_precision"].to_list() == pytest.approx(values), ties


def test_threshold_can_lie_above_expected():
    # A hit at rank 1, then a block of 2 with one hit: threshold (1 + 2/3) / 2. The block's hit is
    # at rank 2 or 3, with precision 1 or 2/3: expected (1 + 5/6) / 2. Below a miss, with all 2 hits
    # in the block, the threshold is higher.
    data = pl.DataFrame({"y": [0, 1, 1], "s": [2, 1, 1]})
    assert fp.average_precision(data, "y", "s").item() == pytest.approx(2 / 3)
    assert fp.average_precision(data, "y", "s", ties="expected").item() == pytest.approx(
        (1 / 2 + 2 / 3) / 2
    )


def test_tie_break_ranks_what_the_scores_leave_open():
    data = pl.DataFrame({"doc": ["a", "b", "c", "d"], "y": [1, 0, 0, 1], "s": [2, 2, 2, 1]})
    # Descending by document: c, b, a, then d: hits at ranks 3 and 4.
    assert fp.average_precision(data, "y", "s", tie_break="doc").item() == pytest.approx(
        (1 / 3 + 2 / 4) / 2
    )
    assert fp.curve(data, "y", "s", tie_break="doc", rates="all")["threshold"].to_list() == [
        2,
        2,
        2,
        1,
    ]
    ascending = fp.average_precision(data, "y", "s", tie_break="doc", tie_break_descending=False)
    assert ascending.item() == pytest.approx((1 / 1 + 2 / 4) / 2)
    # What the second column leaves tied is taken together, so the order of rows still does not
    # matter.
    same = data.with_columns(doc=pl.lit("x"))
    assert fp.average_precision(same, "y", "s", tie_break="doc").equals(
        fp.average_precision(data, "y", "s")
    )
    # One block of 3 rows with one hit: the first row has a third of it.
    assert fp.precision_at_k(same, "y", "s", 1, tie_break="doc").item() == pytest.approx(1 / 3)


IDS = pl.DataFrame({"q": 1, "document": ["9", "10"], "s": 1.0, "y": [None, 1]})
ID_TYPES = [
    pl.String(),
    pl.Int8(),
    pl.Int64(),
    pl.UInt64(),
    pl.Int128(),
    pl.Categorical(),
    pl.Enum(["9", "10"]),
    pl.Enum(["10", "9"]),
]


@pytest.mark.parametrize("dtype", ID_TYPES, ids=str)
def test_trec_eval_orders_ids_as_text(dtype):
    # "9" is the last text, so document 10 has rank 2 and precision 1/2.
    typed = IDS.with_columns(pl.col("document").cast(dtype))
    for frame in (typed, typed.lazy(), typed.sort("document")):
        found = frame.pr.average_precision("y", "s", by="q", **fp.TREC_EVAL)
        assert found.lazy().collect().rows() == [(1, 0.5)]
    first = typed.pr.average_precision(
        "y", "s", by="q", **fp.TREC_EVAL | {"tie_break_descending": False}
    )
    assert first.rows() == [(1, 1.0)]


@pytest.mark.parametrize(
    ("dtype", "value"),
    # The caller's own tie break has the order of its dtype: 10 is above 9, and so is the last
    # category of an Enum.
    [(pl.Int64(), 1.0), (pl.String(), 0.5), (ID_TYPES[6], 1.0), (ID_TYPES[7], 0.5)],
    ids=str,
)
def test_a_tie_break_has_the_order_of_its_dtype(dtype, value):
    typed = IDS.with_columns(pl.col("document").cast(dtype))
    own = {"tie_break": "document", "unjudged": "negative"}
    assert typed.pr.average_precision("y", "s", **own).item() == value
    assert typed.pr.average_precision("y", "s", **own, tie_break_as_text=True).item() == 0.5


@pytest.mark.parametrize(
    "ids",
    [
        lambda pd: [9, 10],
        lambda pd: pd.array([9, 10], dtype="Int64"),
        lambda pd: pd.Series([9, 10], dtype=object),
        lambda pd: pd.Categorical([9, 10], categories=[9, 10], ordered=True),
        lambda pd: pd.Categorical(["9", "10"], categories=["10", "9"]),
        lambda pd: pd.Categorical(["9", "10"], categories=["9", "10"]),
    ],
)
def test_trec_eval_orders_ids_of_pandas_as_text(ids):
    pd = pytest.importorskip("pandas")
    run = pd.DataFrame({"document": ids(pd), "s": 1.0, "y": [float("nan"), 1]})
    assert run.pr.average_precision("y", "s", **fp.TREC_EVAL).iloc[0, 0] == 0.5


@pytest.mark.parametrize(
    "dtype", [pl.Date(), pl.Datetime(), pl.Duration(), pl.Boolean(), pl.Float64(), pl.Decimal(9, 2)]
)
def test_ids_that_are_no_text_are_refused(dtype):
    typed = IDS.with_columns(document=pl.Series([0, 1]).cast(dtype))
    sentence = rf"tie_break column 'document' is {dtype.base_type()}.*: cast it to text before"
    for frame in (typed, typed.lazy()):
        with pytest.raises((TypeError, pl.exceptions.ComputeError), match=sentence):
            frame.pr.average_precision("y", "s", by="q", **fp.TREC_EVAL).lazy().collect()
    assert typed.pr.average_precision("y", "s", unjudged="drop", tie_break="document").item() == 1


@pytest.mark.parametrize(("descending", "tp"), [(True, [0, 1, 1]), (False, [1, 1, 1])])
@pytest.mark.parametrize("last", [2**33 - 3, 2**33 - 2, 2**33 - 1])
def test_tie_breaks_around_what_fits_into_the_sort_key(last, descending, tp):
    # Null is last in either direction.
    data = pl.DataFrame({"place": [None, 0, last], "y": [0, 1, 0], "s": 5})
    curve = fp.curve(
        data, "y", "s", tie_break="place", tie_break_descending=descending, rates="all"
    )
    assert curve.select("threshold", "k", "tp").rows() == [
        (5, k, hits) for k, hits in zip([1, 2, 3], tp, strict=True)
    ]


def test_order_is_that_of_the_rows_whatever_the_keys():
    data = pl.DataFrame(
        {"a": ["x", "y"] * 4, "b": [1, 1, 2, 2] * 2, "y": [1, 0, 0, 1, 0, 1, 1, 0], "s": [0.5] * 8}
    )
    for frame in (data, data.lazy()):
        result = frame.pr.average_precision("y", "s", by=["a", "b"], ties="order").lazy().collect()
        assert result.rows() == [("x", 1, 1.0), ("x", 2, 0.5), ("y", 1, 0.5), ("y", 2, 1.0)]


def test_the_default_is_the_oracle():
    data = tied(3)
    y, s = data["y"].to_list(), data["s"].to_list()
    assert fp.average_precision(data, "y", "s", ties="threshold").item() == pytest.approx(
        float(oracle("average_precision", y, s))
    )


def test_totals_are_the_same_under_every_rule():
    data = pl.DataFrame({"y": [1, 0, 1, 0], "s": [1, 1, 1, 0]})
    for ties in ("threshold", "expected", "optimistic", "pessimistic", "order"):
        for name, value in {"rows": 4, "positives": 2, "prevalence": 0.5, "tied_rows": 3}.items():
            assert fp.evaluate(data, name, "y", "s", ties=ties).item() == value, (ties, name)


@pytest.mark.parametrize("weight", [pl.lit(1), pl.lit(0.5), pl.col("w")])
@pytest.mark.parametrize("doc", [pl.col("doc"), pl.col("doc").str.len_chars() * 2**40])
def test_tied_rows_keep_their_weights_and_labels_among_untied_rows(doc, weight):
    """Of two ties among other rows, the larger document ranks first, and null last."""
    # The order is y = 0 | 1, 0, 1 | 0 | 1, 1 in the first query. Null and null stay tied.
    rows = pl.DataFrame(
        {
            "q": [1, 1, 1, 1, 1, 1, 1, 2],
            "s": [0.2, 0.9, 0.5, 0.2, 0.5, 0.3, 0.5, 0.5],
            "y": [1, 0, 0, 1, 1, 0, 1, 1],
            "doc": [None, "x", "bb", None, "ccc", "x", "a", "b"],
            "w": [1, 1, 1, 1, 1, 1, 1, 1],
        }
    ).with_columns(doc.alias("doc"), weight.alias("w"))
    result = fp.average_precision(rows, "y", "s", by="q", tie_break="doc", weight="w")
    # (1/2 + 2/4 + 2 * 4/7) / 4
    assert result["average_precision"].to_list() == pytest.approx([(1 + 8 / 7) / 4, 1.0])
    ranks = fp.evaluate(rows, ["precision@2", "precision@3"], "y", "s", by="q", tie_break="doc")
    assert ranks.row(0) == pytest.approx((1, 1 / 2, 1 / 3))
