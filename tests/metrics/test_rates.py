import inspect
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import polars as pl
import pytest
from oracle import rate_of

import frame_pr as fp
from frame_pr.metrics import rates
from frame_pr.metrics.metric import Counts

COLUMNS = ["tp", "k", "positives", "rows"]
COUNTS = Counts(*map(pl.col, COLUMNS))
FIGURES = {name: rate.formula for name, rate in rates.RATES.items()}
FIGURES |= {f"f{beta}": rates.f_beta(float(beta)) for beta in ("0.5", "2", "0.1", "10")}
FIGURES |= {f"cost{ratio}": rates.cost(ratio) for ratio in ("5", "0.7")}
# The square of a whole beta, times a count, is more than an Int64 holds.
FIGURES |= {"f100000000": rates.f_beta(10**8)}


def valued(table: list[tuple]) -> pl.DataFrame:
    counts = pl.DataFrame(table, schema=dict.fromkeys(COLUMNS, pl.Int64), orient="row")
    return counts.select(**{name: formula(COUNTS) for name, formula in FIGURES.items()})


def exactly(name: str, row: tuple) -> float | None:
    """The rate rounded once, from exact counts; its square root has more digits than a float."""
    value = rate_of(name, *row)
    if name != "mcc" or value is None:
        return None if value is None else float(value)
    tp, k, positives, rows = row
    with localcontext(prec=60):
        covariance = Decimal(tp * rows - positives * k)
        return float(covariance / Decimal(k * positives * (rows - k) * (rows - positives)).sqrt())


def all_tables(rows: int) -> list[tuple]:
    """Every confusion table of so many rows."""
    return [
        (tp, k, positives, rows)
        for positives in range(rows + 1)
        for k in range(rows + 1)
        for tp in range(max(0, k + positives - rows), min(k, positives) + 1)
    ]


def test_every_small_table():
    table = [row for rows in (1, 2, 3, 6, 9) for row in all_tables(rows)]
    result = valued(table)
    for name in FIGURES:
        assert result[name].to_list() == [
            expected if expected is None else pytest.approx(expected, rel=1e-14, abs=1e-15)
            for expected in (exactly(name, row) for row in table)
        ], name


def test_known_answers():
    # 40 rows: tp 12, fp 3, fn 4, tn 21.
    result = valued([(12, 15, 16, 40)]).row(0, named=True)
    expected = {
        **{"k": 15, "tp": 12, "fp": 3, "fn": 4, "tn": 21},
        **{"precision": 12 / 15, "fdr": 3 / 15, "recall": 12 / 16, "fnr": 4 / 16},
        **{
            "specificity": 21 / 24,
            "fpr": 3 / 24,
            "npv": 21 / 25,
            "accuracy": 33 / 40,
            "prevalence": 16 / 40,
        },
        "selection_rate": 15 / 40,
        "f1": 24 / 31,  # 2 tp / (2 tp + fp + fn)
        "informedness": 12 / 16 + 21 / 24 - 1,
        "markedness": 12 / 15 + 21 / 25 - 1,
        # (12 * 21 - 3 * 4) / sqrt(15 * 16 * 24 * 25) = 240 / sqrt(144000) = 240 / 379.47...
        "mcc": 240 / math.sqrt(144_000),
        # chance: (15 * 16 + 25 * 24) / 1600 = .525; (.825 - .525) / (1 - .525)
        "kappa": 12 / 19,
        "f2": 60 / 79,  # 5 * 12 / (5 * 12 + 4 * 4 + 3)
        "f0.5": 15 / 19,  # 1.25 * 12 / (1.25 * 12 + .25 * 4 + 3)
        "lift": 2,  # (12 / 15) / (16 / 40)
        "balanced_accuracy": (12 / 16 + 21 / 24) / 2,
        "cost5": (3 + 5 * 4) / 40,
        "cost0.7": (3 + 0.7 * 4) / 40,
    }
    assert expected.keys() >= rates.RATES.keys()
    assert {name: result[name] for name in expected} == pytest.approx(expected, rel=1e-14)


BILLION = 10**9


def test_perfect_and_worthless_are_exact():
    perfect, wrong, worthless = (
        valued([row]).row(0, named=True)
        for row in [
            (400_000_000, 400_000_000, 400_000_000, BILLION),
            (0, 500_000_000, 500_000_000, BILLION),
            (160_000_000, 400_000_000, 400_000_000, BILLION),
        ]
    )
    beyond_chance = ["mcc", "kappa", "informedness", "markedness"]
    assert [perfect[name] for name in beyond_chance] == pytest.approx([1.0] * 4, rel=1e-15)
    assert [wrong[name] for name in beyond_chance] == pytest.approx([-1.0] * 4, rel=1e-15)
    assert [worthless[name] for name in beyond_chance] == [0.0] * 4


def test_shares_of_a_row():
    # At a rank a block may be cut, which makes tp a fraction: two thirds of a hit among two of five
    # rows.
    counts = pl.DataFrame([(2 / 3, 2, 3, 5)], schema=COLUMNS, orient="row")
    result = counts.select(**{name: formula(COUNTS) for name, formula in FIGURES.items()}).row(
        0, named=True
    )
    for name in FIGURES:
        assert result[name] == pytest.approx(
            float(rate_of(name, Fraction(2, 3), 2, 3, 5)), abs=1e-14
        ), name


def test_costs_that_floats_cannot_tell_are_refused():
    assert rates.cost("1e15")
    with pytest.raises(ValueError, match="must lie between 1e-15 and 1e15"):
        rates.cost("2e15")


def test_every_formula_is_documented():
    for name, formula in FIGURES.items():
        assert inspect.getdoc(formula).startswith("`"), name


def test_prevalence_is_that_of_the_group_at_every_cutoff():
    # A rank beyond the two rows fills the table up with misses, but 1 of 2 rows stays positive.
    frame = pl.DataFrame({"y": [1, 0], "s": [2, 1]})
    names = ["prevalence", "prevalence@10", "prevalence@threshold=2"]
    assert fp.evaluate(frame, names, "y", "s").row(0) == (0.5, 0.5, 0.5)


def test_a_single_positive_is_divided_by_its_hits():
    # The positive is at rank 2, with a precision of 1/2, and is the only hit of the first two.
    frame = pl.DataFrame({"y": [0, 1, 0], "s": [3, 2, 1]})
    assert fp.evaluate(
        frame, ["average_precision@2/hits", "average_precision@1/hits"], "y", "s"
    ).row(0) == (0.5, 0)


def test_an_association_of_many_rows_at_a_rank_has_no_cancellation():
    # Two of 2 * 10^10 + 2 positives are not retrieved, and the rank is the number of rows: two
    # misses fill it up. So tp = 2 * 10^10, fp = fn = 2 and tn = 0, and the correlation is -4 / (2 *
    # (2 * 10^10 + 2)).
    frame = pl.DataFrame({"y": [1, 1], "s": [1.0, None], "n": [2 * 10**10, 2]})
    result = fp.evaluate(frame, "mcc@100%", "y", "s", count="n", unscored="unretrieved").item()
    assert result == pytest.approx(-2 / (2 * 10**10 + 2), rel=1e-12, abs=0)
