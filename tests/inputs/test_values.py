import math
from decimal import Decimal

import polars as pl
import pytest
from names import GOOD, call

# seen in the values, so on a LazyFrame at collect -------------------------------------------------------------------


def series(name, values, **given):
    return GOOD.with_columns(pl.Series(name, values, **given))


IN_VALUES = [
    (
        series("score", [0.9, None, math.nan, 0.6, None]),
        {},
        r"score column 'score' has 3 missing of 5 values \(2 null, 1 NaN\): unscored='unretrieved' .*, unscored='drop'",
    ),
    (
        series("score", [9, None, 7, 6, 5]),
        {},
        r"score column 'score' has 1 missing of 5 values: unscored='unretrieved'",
    ),
    (
        series("relevant", [1, None, 0, None, 1]),
        {},
        r"has 2 missing of 5 values: unjudged='negative' .*, unjudged='drop' leaves",
    ),
    (series("relevant", [1.0, math.nan, 0.0, 1.0, 0.0]), {}, "truth column 'relevant' has 1 missing of 5 values"),
    (series("relevant", [True, None, False, True, True]), {}, "truth column 'relevant' has 1 missing of 5 values"),
    (series("label", ["yes", None, "no", "no", "yes"]), {"truth": "label", "positive": "yes"}, "'label' has 1 missing"),
    (
        series("relevant", [0, 1, 2, 3, 1]),
        {},
        r"truth column 'relevant' is neither boolean nor 0/1, it holds 0, 1, 2, 3: name its positive label, positive=",
    ),
    (series("relevant", [0, 1, -1, 0, 0]), {}, r"'relevant' is neither boolean nor 0/1, it holds -1, 0, 1: name"),
    (series("relevant", [0.0, 0.5, 1.0, 0.0, 0.0]), {}, r"neither boolean nor 0/1, it holds 0\.0, 0\.5, 1\.0: name"),
    (
        GOOD,
        {"truth": "label", "positive": "maybe"},
        r"truth column 'label' has no 'maybe', it holds 'no', 'yes': positive= names",
    ),
    (GOOD, {"positive": 7}, r"truth column 'relevant' has no 7, it holds 0, 1"),
    (
        series("score", [1, 0, 2, 3, 4]),
        {"truth": "score", "score": "relevant", "positive": 7},
        "0, 1, 2, 3, 4: positive",
    ),
    (
        pl.concat([GOOD, GOOD]).with_columns(relevant=pl.int_range(10)),
        {},
        "it holds 0, 1, 2, 3, 4 and 5 more: name its positive label",
    ),
]


@pytest.mark.parametrize(("data", "given", "message"), IN_VALUES, ids=[message[:40] for _, _, message in IN_VALUES])
def test_what_the_values_show(data, given, message):
    given = {"by": "query"} | given
    for frame in (data, data.to_pandas(), data.to_pandas(use_pyarrow_extension_array=True)):
        # numpy has no missing integer: pandas makes it NaN, which is missing all the same.
        loose = message if frame is data else message.split(" values")[0].replace(", it holds", "|, it holds")
        with pytest.raises(ValueError, match=loose):
            call(frame, "average_precision", **given)
    # A LazyFrame shows its values when it is collected, and not before.
    result = call(data.lazy(), "average_precision", **given)
    assert result.collect_schema().names() == ["query", "average_precision"]
    for engine in ("in-memory", "streaming"):
        with pytest.raises((ValueError, pl.exceptions.ComputeError), match=message):
            result.collect(engine=engine)


def test_predictions():
    for predicted, positive, message in [
        ([1, None, 0, 0, 1], None, "prediction column 'predicted' has 1 missing of 5 values"),
        ([1, 2, 0, 0, 1], None, "prediction column 'predicted' is neither boolean nor 0/1, it holds 0, 1, 2"),
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
    for scores, fits in (([2**63 - 1, 1 - 2**63], True), ([2**63, 0], False), ([0, -(2**63)], False)):
        data = pl.DataFrame({"relevant": [1, 0], "score": pl.Series(scores, dtype=pl.Int128).cast(dtype)})
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
        (pl.Series([Decimal("99999999999999.9999"), None], dtype=pl.Decimal(18, 4)), pl.Series([0.5, 1])),
        (pl.Series([2**64 - 1, 1], dtype=pl.UInt64), pl.Series([-1, 1], dtype=pl.Int64)),
    ],
)
def test_scores_of_several_types_are_not_rounded(one, other):
    data = pl.DataFrame({"y": [1, 0], "one": one, "other": other})
    for frame in (data, data.lazy()):
        with pytest.raises(ValueError, match=r"score column '(one|other)' "):
            frame.pr.average_precision("y", ["one", "other"], unscored="unretrieved").lazy().collect()
