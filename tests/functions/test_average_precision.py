from fractions import Fraction

import polars as pl
import pytest
from compare import near
from names import call
from samples import CUT_BLOCK, LATE_BLOCK, SIX, TEN, TWELVE, A, B, ranked

import frame_pr as fp

KNOWN = [
    # Precision at the hits: 1/1, 2/2, 3/4, 4/6, 5/10. Sum 47/12, over P = 5.
    (TEN, "average_precision", Fraction(47, 60)),
    # These never rise, so the envelope is the curve.
    (TEN, "interpolated_average_precision", Fraction(47, 60)),
    # Recall .4 is reached at precision 1: levels 0 to .4 give 1 each; .5, .6: 3/4; .7, .8: 4/6; .9,
    # 1: 1/2. Sum 5 + 3/2 + 4/3 + 1 = 53/6, over 11.
    (TEN, "interpolated_average_precision_11", Fraction(53, 66)),
    # 41 levels up to .40 at 1, 20 up to .60 at 3/4, 20 up to .80 at 4/6, 20 up to 1 at 1/2: 41 + 15
    # + 40/3 + 10.
    (TEN, "interpolated_average_precision_101", Fraction(238, 303)),
    # (1 + 1) / min(3, 5)
    (TEN, "average_precision@3", Fraction(2, 3)),
    # ... over P = 5; over the 2 hits
    (TEN, "average_precision@3/positives", Fraction(2, 5)),
    (TEN, "average_precision@3/hits", Fraction(1)),
    # Precision at the hits: 1/2, 2/4, 3/5. Sum 8/5, over 3.
    (SIX, "average_precision", Fraction(8, 15)),
    # The last of them is the highest: 3/5 at every recall.
    (SIX, "interpolated_average_precision", Fraction(3, 5)),
    (SIX, "interpolated_average_precision_11", Fraction(3, 5)),
    (SIX, "interpolated_average_precision_101", Fraction(3, 5)),
    # One hit among three, at rank 2: 1/2, over min(3, 3), over P, over the one hit.
    (SIX, "average_precision@3", Fraction(1, 6)),
    (SIX, "average_precision@3/positives", Fraction(1, 6)),
    (SIX, "average_precision@3/hits", Fraction(1, 2)),
    # No hit at all among the first: nothing found, though there was something to find.
    (SIX, "average_precision@1", Fraction(0)),
    (SIX, "average_precision@1/hits", Fraction(0)),
    # Hits of A at ranks 1, 2, 5, 6: (1 + 1 + 3/5 + 4/6) / 4.
    (A, "average_precision", Fraction(49, 60)),
    # Hits of B at ranks 3, 4, 7, 8: (1/3 + 2/4 + 3/7 + 4/8) / 4.
    (B, "average_precision", Fraction(37, 84)),
    # (1 + 1) / min(3, 4)
    (TWELVE, "average_precision@3", Fraction(2, 3)),
    # One block of a hundred rows: one step, to recall 1, at precision 25/100.
    (
        pl.DataFrame({"relevant": [1] * 25 + [0] * 75, "score": [7] * 100}),
        "average_precision",
        Fraction(1, 4),
    ),
    # By score: 1, 0, 1, 0, so (1/1 + 2/3) / 2.
    (
        pl.DataFrame({"relevant": [0, 0, 1, 1], "score": [0.1, 0.4, 0.35, 0.8]}),
        "average_precision",
        Fraction(5, 6),
    ),
    # A tied pair and a tied triple with one hit: the block is taken whole.
    (pl.DataFrame({"relevant": [1, 0], "score": [1, 1]}), "average_precision", Fraction(1, 2)),
    (
        pl.DataFrame({"relevant": [0, 1, 0], "score": [1, 1, 1]}),
        "average_precision",
        Fraction(1, 3),
    ),
    # (1 * 1/1 + 2 * 3/4) / 3
    (CUT_BLOCK, "average_precision", Fraction(5, 6)),
    # The second rank takes a third of the block: 2/3 of a hit, and ends at tp = 5/3, k = 2: (1 +
    # 2/3 * 5/6) / 2.
    (CUT_BLOCK, "average_precision@2", Fraction(7, 9)),
    (CUT_BLOCK, "average_precision@2/positives", Fraction(14, 27)),
    # (1 + 5/9) / (5/3)
    (CUT_BLOCK, "average_precision@2/hits", Fraction(14, 15)),
    # Two thirds of it: 4/3 hits, tp = 7/3 at k = 3: (1 + 4/3 * 7/9) / 3.
    (CUT_BLOCK, "average_precision@3", Fraction(55, 81)),
    # The block is in: as without a cut, and so beyond the last row.
    (CUT_BLOCK, "average_precision@4", Fraction(5, 6)),
    (CUT_BLOCK, "average_precision@400", Fraction(5, 6)),
    # Both hits at 2/4.
    (LATE_BLOCK, "average_precision", Fraction(1, 2)),
    # AP over prevalence: 1/2 over 1/2; and 8/15 over 1/2.
    (LATE_BLOCK, "average_precision_lift", Fraction(1)),
    (SIX, "average_precision_lift", Fraction(16, 15)),
]


@pytest.mark.parametrize(
    ("data", "name", "value"), KNOWN, ids=[f"{name}={value}" for _, name, value in KNOWN]
)
def test_known_answer(data, name, value):
    result = fp.evaluate(data, name, "relevant", "score")
    assert result.columns == [name]
    assert result.item() == near(value)


def test_no_positives_is_null_or_what_undefined_says():
    data = pl.DataFrame({"q": ["a", "a", "b"], "relevant": [1, 0, 0], "score": [2, 1, 1]})
    for function, given in [
        ("average_precision", {}),
        ("interpolated_average_precision", {}),
        ("interpolated_average_precision", {"points": 11}),
        ("average_precision_at_k", {"k": 2}),
        ("average_precision_at_k", {"k": 2, "divisor": "positives"}),
        ("average_precision_at_k", {"k": 2, "divisor": "hits"}),
    ]:
        assert call(data, function, by="q", **given).rows() == [("a", 1.0), ("b", None)]
        assert call(data, function, by="q", undefined=0.0, **given).rows() == [
            ("a", 1.0),
            ("b", 0.0),
        ]
        assert call(data, function, by="q", undefined=1, **given).rows() == [("a", 1.0), ("b", 1.0)]


@pytest.mark.parametrize("points", [11, 101])
@pytest.mark.parametrize("positives", [3, 7, 10, 20, 30, 50, 70, 100])
def test_recall_levels_are_compared_as_whole_numbers(points, positives):
    # All hits, each followed by a miss: precision after i hits is i / (2 i - 1), which falls with
    # every hit. So the level of recall l is worth the precision at the first hit i with i / P >= l,
    # and a float that lies a little above 3/10 would cost one hit.
    data = ranked(*[1, 0] * positives)
    steps = points - 1
    total = Fraction(0)
    for level in range(points):
        first = max(1, -(-level * positives // steps))
        total += Fraction(first, 2 * first - 1)
    result = data.pr.interpolated_average_precision("relevant", "score", points=points).item()
    assert result == near(total / points)
