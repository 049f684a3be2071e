"""Numbers of other tools, from four printed digits, by hand."""

import re

import numpy as np
import polars as pl
import pytest
from samples import SIX, TEN

import frame_pr as fp

# Three queries: hits at ranks 1 and 3 of three; none retrieved of one; nothing to find.
QUERIES = pl.DataFrame(
    {
        "q": ["a", "a", "a", "b", "c"],
        "y": [1, 0, 1, 1, 0],
        "s": [3.0, 2.0, 1.0, None, 1.0],
        "g": [3, 0, 1, 2, 0],
    }
)


def matches(found: pl.DataFrame) -> pl.DataFrame:
    """What stands before the row that says where matches end."""
    end = found["definition"].str.starts_with("none").arg_true()[0]
    return found[:end]


def test_the_first_match_is_a_call_that_gives_the_number():
    # (1 + 1 + 3/4 + 4/6 + 5/10) / 5 = 47/60
    found = TEN.pr.identify(0.7833, "relevant", "score")
    first = found.row(0, named=True)
    assert first["value"] == pytest.approx(47 / 60)
    assert first["digits"] == 4
    assert first["difference"] == pytest.approx(47 / 60 - 0.7833)
    assert eval(first["call"], {"evaluate": fp.evaluate, "frame": TEN}).item() == first["value"]


@pytest.mark.slow
def test_every_call_gives_its_value():
    found = fp.identify(QUERIES, 0.5, "y", "s", by="q", gain="g", unscored="unretrieved")
    calls = dict(found.filter(pl.col("call").str.starts_with("evaluate")).select("call", "value").iter_rows())
    assert len(calls) > 500
    # The metrics of equal options are computed in one call.
    alike = {}
    for call, value in calls.items():
        name, options = re.fullmatch(r"evaluate\(frame, '([^']+)', (.*)\)", call).groups()
        alike.setdefault(options, {})[name] = value
    for options, expected in alike.items():
        call = f"evaluate(frame, {list(expected)}, {options})"
        result = eval(call, {"evaluate": fp.evaluate, "frame": QUERIES, "pl": pl})
        values = result.select("^(mean|weighted|by_rows|by_pairs)_.*$") if "mean_over" in options else result
        assert values.row(0) == pytest.approx(tuple(expected.values())), call


@pytest.mark.parametrize(
    ("data", "value", "definition", "given"),
    [
        # Ranks 1, 0, 1, 0, 1: the points (1/3, 1), (1/3, 1/2), (2/3, 2/3), (2/3, 1/2), (1, 3/5), before them (0, 1):
        # (1 + (1/2 + 2/3) / 2 + (1/2 + 3/5) / 2) / 3.
        (pl.DataFrame({"relevant": [1, 0, 1, 0, 1], "score": [5, 4, 3, 2, 1]}), 0.7111, "auc(recall, precision)", {}),
        # Hits at ranks 2, 4, 5: the envelope is 3/5 at all of the 101 levels, and the plain one as well.
        (SIX, "0.6000", "COCO", {}),
        # Hits at ranks 2, 4 and 5 of the first five: (1/2 + 2/4 + 3/5) / 3, over the three hits among them.
        (SIX, 0.5333, "average_precision@5/hits (torchmetrics)", {}),
        # A hit and a miss of one score in this order, then a hit: (1 + 2/3) / 2, where together they have 1/2.
        (pl.DataFrame({"relevant": [1, 0, 1], "score": [2, 2, 1]}), 0.8333, "order of the rows, as VOC", {}),
        # Query a has (1 + 2/3) / 2, b and c have 0: a third of it.
        pytest.param(
            *(QUERIES, 0.2778, "trec_eval's map), mean over the groups, those without a value as 0", {"by": "q"}),
            marks=pytest.mark.slow,
        ),
        # Of a and b, which have something to find.
        pytest.param(*(QUERIES, 0.4167, "trec_eval's map), mean over the groups", {"by": "q"}), marks=pytest.mark.slow),
        # Gains 3, 0, 1 with 2 to their power less 1 are 7, 0, 1: (7 + 1/2) / (7 + 1/log2 3) of a, 0 of b.
        pytest.param(
            *(QUERIES, 0.4914, "with 2 ** gain - 1, mean over the groups", {"by": "q", "gain": "g"}),
            marks=pytest.mark.slow,
        ),
        # Positive from 2 on: in a the first, at rank 1, and b.
        pytest.param(
            *(QUERIES, "0.5000", "positive from a gain of 2 on, mean over the groups", {"by": "q", "gain": "g"}),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_numbers_of_others(data, value, definition, given):
    truth, score = ("y", "s") if "y" in data.columns else ("relevant", "score")
    more = {"unscored": "unretrieved"} if "y" in data.columns else {}
    found = matches(fp.identify(data, value, truth, score, **given, **more))
    assert any(definition in one for one in found["definition"]), found
    assert (found["digits"] == 4).all()


def test_none_is_said_plainly():
    found = fp.identify(TEN, 0.1234, "relevant", "score")
    assert found.row(0)[0] == "none, from here on: no other value rounds to 0.1234"
    assert found["difference"].abs()[1:].is_sorted()


@pytest.mark.slow
def test_a_match_of_few_digits_is_likely_by_chance():
    data = pl.concat([TEN.with_columns(q=1), SIX.with_columns(q=2)])
    near, far = (fp.identify(data, text, "relevant", "score", by="q")["chance"][0] for text in ("0.62", "0.6250"))
    # Of the 11 numbers from .57 to .67 about half, and of 1,001 a few.
    assert near > 0.3
    assert far < 0.05


@pytest.mark.parametrize("value", ["x", float("nan"), True, "inf", None, [1]])
def test_what_is_no_number(value):
    with pytest.raises((TypeError, ValueError), match="value must be a number"):
        fp.identify(TEN, value, "relevant", "score")


@pytest.mark.slow
def test_counts_and_tie_breaks_are_taken():
    data = pl.DataFrame({"y": [1, 0, 1], "s": [2, 2, 1], "d": ["a", "b", "c"], "n": [2, 1, 1]})
    # Descending by d: the miss first: (1/2 + 2/3) / 2.
    found = matches(fp.identify(data, 0.5833, "y", "s", tie_break="d"))
    assert any("by tie_break=" in one for one in found["definition"])
    # Two hits and a miss of one score, then a hit: (2/3 + 2/3 + 3/4) / 3.
    assert matches(fp.identify(data, 0.6944, "y", "s", count="n")).height
    with pytest.raises(ValueError, match="ties='order': identify does not take it; identify tries all"):
        fp.identify(data, 0.5, "y", "s", ties="order")


@pytest.mark.slow
def test_a_float32_has_six_digits():
    run = pl.DataFrame({"hit": [1, 0, 1, 0, 1], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    # 34/45 = .75555...; the second value is what `.item()` of torch and numpy gives of it.
    for value in (np.float32(34 / 45), float(np.float32(34 / 45))):
        found = fp.identify(run, value, "hit", "score")
        assert found["call"][0].startswith("evaluate(frame, 'average_precision'")
        assert found["digits"][0] == 6
    # A float64 keeps all of its digits, and so does one that a float32 holds by its few digits.
    assert fp.identify(run, 34 / 45, "hit", "score")["digits"][0] == 15
    assert fp.identify(run, 0.75, "hit", "score").filter(pl.col("call") == "")["definition"][0].endswith(" 0.75")


@pytest.mark.slow
def test_a_percentage_is_read_as_one():
    run = pl.DataFrame({"hit": [1, 0, 1, 0, 1], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    ends = [
        fp.identify(run, value, "hit", "score").filter(pl.col("call") == "")["definition"][0]
        for value in ("75.56", "0.7556")
    ]
    assert ends[0].endswith("no other value rounds to 75.56 or, as a percentage, to 0.7556")
    assert "percentage" not in ends[1]
    # A share is compared with it as with a percentage: of four digits behind the point.
    for value in ("75.56%", "75.56 %", "75.56", 75.56):
        found = fp.identify(run, value, "hit", "score")
        assert found["call"][0].startswith("evaluate(frame, 'average_precision'")
        assert found["digits"][0] == 4
    with pytest.raises(ValueError, match=r"value must be a number, or a text such as '0\.7310', got '75\.56%%'"):
        fp.identify(run, "75.56%%", "hit", "score")


@pytest.mark.slow
def test_an_expression_breaks_ties():
    run = pl.DataFrame({"y": [1, 0, 1], "s": [2, 1, 1], "d": [1, 2, 3]})
    # By the largest d first: hits at ranks 1 and 2, so an average precision of 1; it is 5/6 with positives last.
    by_expression = fp.identify(run, 1.0, "y", "s", tie_break=pl.col("d") + 1)
    by_name = fp.identify(run, 1.0, "y", "s", tie_break="d")
    assert any("equal scores by tie_break=" in words for words in by_name["definition"])
    assert by_expression["definition"].to_list() == by_name["definition"].to_list()


def test_a_number_above_1_may_be_a_rank_or_a_percentage():
    # Hits at ranks 2, 4 and 5 of six: the mean rank is 11/3. As a percentage, 3.67 is none of the shares.
    found = matches(fp.identify(SIX, "3.67", "relevant", "score"))
    assert found["definition"].str.starts_with("mean_rank").all()
    assert found.height


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "call"),
    [
        # Users of 2 rows with ROC AUC 1 and of 4 rows with 1/2: (2 + 4/2) / 6 by rows, (1 + 4/2) / 5 by pairs.
        ("0.6667", "'roc_auc', 'y', 's', by='u', mean_over='u', statistics='by_rows'"),
        ("0.6000", "'roc_auc', 'y', 's', by='u', mean_over='u', statistics='by_pairs'"),
        # All rows together: the first of six is a hit, and half of them are.
        ("2.0", "'lift@1%', 'y', 's')"),
    ],
)
def test_weighted_means_and_lift(value, call):
    users = pl.DataFrame({"u": [1, 1, 2, 2, 2, 2], "y": [1, 0, 1, 0, 0, 1], "s": [9, 2, 8, 4, 3, 1]})
    found = matches(fp.identify(users, value, "y", "s", by="u"))
    assert any(call in text for text in found["call"]), found
