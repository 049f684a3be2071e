"""Tie rules and rates are records: complete, documented, and looked up instead of compared by name."""

import ast
import re
from inspect import Parameter, signature
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

import frame_pr as fp
from frame_pr.inputs.policies import TIES, TieRule, Ties
from frame_pr.metrics.rates import RATES

PACKAGE = Path(fp.__file__).parent
# Three rows of one score: positive, negative, negative.
TIED = pl.DataFrame({"y": [1, 0, 0], "s": [1, 1, 1]})


def test_the_literal_and_the_table_have_the_same_rules():
    assert get_args(Ties) == tuple(TIES)


@pytest.mark.parametrize("record", [TieRule])
def test_an_incomplete_record_fails(record):
    assert all(field.default is Parameter.empty for field in signature(record).parameters.values())
    with pytest.raises(TypeError, match="missing"):
        record("one field")


@pytest.mark.parametrize("ties", TIES)
def test_the_docs_have_each_rule(ties):
    text = re.sub(r"\s+", " ", fp.Policies.__doc__)
    assert f'"{ties}"' in text
    assert TIES[ties].sentence in text


@pytest.mark.parametrize("ties", TIES)
def test_a_rule_is_applied_or_refused_by_curve(ties):
    if TIES[ties].averages:
        with pytest.raises(ValueError, match="a curve has no expectation over orders"):
            TIED.pr.curve("y", "s", ties=ties)
    else:
        # One row for the block, or one for each row that the rule orders.
        assert TIED.pr.curve("y", "s", ties=ties).height == (1 if TIES[ties].together else 3)


@pytest.mark.parametrize(
    ("ties", "value"),
    # The positive among 3 tied rows: together 1/3; at rank 1, 2 or 3 equally often (1 + 1/2 + 1/3) / 3 = 11/18.
    [("threshold", 1 / 3), ("expected", 11 / 18), ("optimistic", 1), ("pessimistic", 1 / 3), ("order", 1)],
)
def test_known_answers(ties, value):
    assert fp.average_precision(TIED, "y", "s", ties=ties).item() == pytest.approx(value, rel=1e-15)


def test_known_answers_are_of_all_rules():
    (mark,) = test_known_answers.pytestmark
    assert {ties for ties, _ in mark.args[1]} == set(TIES)


def compared_texts(path: Path) -> set[str]:
    """All texts that a module compares something with."""
    texts: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
            texts |= {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return texts


def test_no_name_of_a_rate_or_rule_is_compared():
    # "threshold" and "k" are also arguments and axes, "tp" a column. What a PR, ROC or gain plot is, plotting says.
    names = {*RATES, *TIES} - {"threshold", "k", "tp"}
    found = {
        str(path.relative_to(PACKAGE)): sorted(names & compared_texts(path))
        for path in PACKAGE.rglob("*.py")
        if path.parent.name != "plotting" and names & compared_texts(path)
    }
    assert found == {}
