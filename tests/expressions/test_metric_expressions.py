"""Any metric by its name, as an expression: to the last bit what `evaluate` gives."""

import polars as pl
import pytest
from names import GOOD, NAMES
from samples import groups

import frame_pr as fp
from frame_pr import ExprPR


def expressions(names: list[str]) -> list[pl.Expr]:
    return [pl.col("score").pr.metric("relevant", name) for name in names]


def bits(frame: pl.DataFrame) -> dict[str, list]:
    """Values by column, floats to the last bit: 0.0 is not -0.0 here."""
    return {
        column.name: [value.hex() if isinstance(value, float) else value for value in column]
        for column in frame.iter_columns()
    }


def assert_bits(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert found.schema == expected.schema
    left, right = bits(found), bits(expected)
    assert [name for name in right if left[name] != right[name]] == []


@pytest.mark.parametrize(("lazy", "step"), [(False, 9), pytest.param(True, 1, marks=pytest.mark.slow)])
def test_every_name_in_agg(lazy, step):
    data = groups()
    frame = data.lazy() if lazy else data
    found = frame.group_by("q").agg(expressions(NAMES[::step])).sort("q").lazy().collect()
    assert_bits(found, fp.evaluate(data, NAMES[::step], "relevant", "score", by="q"))


@pytest.mark.slow
def test_every_second_name_in_select():
    # The others are over groups below, and all are in `agg` above: an expression does not know where it is.
    data = groups()
    assert_bits(data.select(expressions(NAMES[::2])), fp.evaluate(data, NAMES[::2], "relevant", "score"))


@pytest.mark.slow
def test_every_other_name_over_groups():
    data = groups()
    found = data.with_columns(expression.over("q") for expression in expressions(NAMES[1::2]))
    assert_bits(found, fp.with_metrics(data, NAMES[1::2], "relevant", "score", by="q"))


# The names that give a score, in whose zero they may differ, and a third of all, which are all of them together.
@pytest.mark.slow
@pytest.mark.parametrize(("zeros", "first"), [([0.0, -0.0], 0), ([-0.0, 0.0], 1), ([-0.0, -0.0], 2)])
def test_the_two_zeros_are_one_score(zeros, first):
    data = pl.DataFrame({"relevant": [1, 0, 1, 0, 1], "score": [1.0, *zeros, -1.0, -2.0]})
    names = list(
        dict.fromkeys([*(name for name in NAMES if name.startswith("threshold@")), *NAMES[first::3], "tied_rows"])
    )
    found = data.select(pl.col("score").pr.metric("relevant", name) for name in names)
    assert_bits(found, fp.evaluate(data, names, "relevant", "score"))
    assert found["tied_rows"].item() == 2
    # Two of three positives are reached at the zeros.
    named = data.select(pl.col("score").pr.metric("relevant", "threshold@recall=0.5")).item()
    assert named.hex() == (0.0).hex()


@pytest.mark.slow
def test_a_positive_label():
    # The label is turned into a truth before any metric is computed: a third of them.
    names = NAMES[::3]
    found = GOOD.select(ExprPR(pl.col("score")).metric("label", name, positive="yes") for name in names)
    assert_bits(found, fp.evaluate(GOOD, names, "label", "score", positive="yes"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("precison@3", "no metric is named 'precison@3'; did you mean 'precision@3'"),
        ("precision", "no metric is named 'precision'; it needs a cut"),
        ("err@10", "no metric is named 'err@10'; ir_measures has it"),
        ("precision@0", "k must be a whole number of at least 1, got 0"),
    ],
)
def test_no_metric_of_that_name(name, message):
    # Before any frame is there.
    with pytest.raises(ValueError, match=message):
        pl.col("score").pr.metric("relevant", name)


@pytest.mark.parametrize("name", [None, 3, ["rows"]])
def test_a_name_is_a_text(name):
    with pytest.raises(TypeError, match="a metric is asked for by its name, got"):
        pl.col("score").pr.metric("relevant", name)


@pytest.mark.parametrize("truth", [[1, 0], pl.Series([1, 0]), None])
def test_truth_is_a_name_or_an_expression(truth):
    with pytest.raises(TypeError, match="truth takes the name of one column; got "):
        pl.col("score").pr.metric(truth, "roc_auc")


@pytest.mark.parametrize("name", ["average_precision", "roc_auc", "max_f1", "rows", "tp@threshold=0.5", "mcc@2"])
def test_a_truth_of_other_values(name):
    grades = GOOD.with_columns(relevant=pl.Series([0, 1, 2, 0, 1]))
    with pytest.raises(ValueError, match=r"^truth 'relevant' has 1 of 5 values missing, or neither"):
        grades.select(pl.col("score").pr.metric("relevant", name))
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="relevnt"):
        GOOD.select(pl.col("score").pr.metric("relevnt", name))
