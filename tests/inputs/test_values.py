from decimal import Decimal

import polars as pl
import pytest
from names import GOOD

# seen in the values, so on a LazyFrame at collect
# -------------------------------------------------------------------


def series(name, values, **given):
    return GOOD.with_columns(pl.Series(name, values, **given))


def test_predictions():
    for predicted, positive, message in [
        ([1, None, 0, 0, 1], None, "prediction column 'predicted' has 1 missing of 5 values"),
        (
            [1, 2, 0, 0, 1],
            None,
            "prediction column 'predicted' is neither boolean nor 0/1, it holds 0, 1, 2",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            series("predicted", predicted).pr.confusion(
                "relevant", prediction="predicted", positive=positive, rates="all"
            )
    # A label that is never predicted is no mistake: precision is undefined then.
    data = GOOD.with_columns(predicted=pl.lit("no"))
    result = data.pr.confusion("label", prediction="predicted", positive="yes", rates="all").select(
        "k", "precision", "recall"
    )
    assert result.row(0) == (0, None, 0.0)


@pytest.mark.parametrize("dtype", [pl.Int128, pl.Decimal(38, 0)], ids=str)
def test_63_bits_are_not_too_large(dtype):
    for scores, fits in (
        ([2**63 - 1, 1 - 2**63], True),
        ([2**63, 0], False),
        ([0, -(2**63)], False),
    ):
        data = pl.DataFrame(
            {"relevant": [1, 0], "score": pl.Series(scores, dtype=pl.Int128).cast(dtype)}
        )
        if fits:
            assert data.pr.curve("relevant", "score")["threshold"].to_list() == scores
        else:
            with pytest.raises(ValueError, match="has values of more than 63 bits"):
                data.pr.curve("relevant", "score")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pl.Series([2**53, 2**53 + 1]), pl.Series([0.5, 1.5])),
        (pl.Series([2**63 - 1, 1]), pl.Series([0.5, 1.5])),
        (pl.Series([2**60, 1]), pl.Series([Decimal("0.0001"), None], dtype=pl.Decimal(38, 22))),
        (pl.Series([Decimal("1.5000"), None]), pl.Series([2**59, 1])),
        (
            pl.Series([Decimal("99999999999999.9999"), None], dtype=pl.Decimal(18, 4)),
            pl.Series([0.5, 1]),
        ),
        (pl.Series([2**64 - 1, 1], dtype=pl.UInt64), pl.Series([-1, 1], dtype=pl.Int64)),
    ],
)
def test_scores_of_several_types_are_not_rounded(one, other):
    data = pl.DataFrame({"y": [1, 0], "one": one, "other": other})
    for frame in (data, data.lazy()):
        with pytest.raises(ValueError, match=r"score column '(one|other)' "):
            frame.pr.average_precision(
                "y", ["one", "other"], unscored="unretrieved"
            ).lazy().collect()
