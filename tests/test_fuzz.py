"""Random calls against exact answers, the same in every run.

`python dev.py fuzz` draws others, and many more.
"""

import re

import polars as pl
import pytest
from fuzz import SUBJECTS, check, compare_cases, every_metric, result_of
from polars.testing import assert_frame_equal

import frame_pr as fp
from frame_pr.metrics.names import metric

FEW = {"polars": 120, "with_metrics": 50, "tally": 50, "thresholds": 50, "keys": 30}


@pytest.mark.parametrize("subject", FEW)
def test_every_value_is_the_exact_one(subject: str):
    compare_cases(subject, FEW[subject], 0)


EVERY = [{"ties": rule} for rule in ("threshold", "expected", "optimistic", "pessimistic", "order")]
EVERY += [
    {"tie_break": "d"},
    {"ascending": True},
    {"unscored": "drop"},
    {"unjudged": "negative"},
    {"unjudged": "drop"},
]
EVERY += [
    {"weight": "w"},
    {"weight": "f"},
    {"count": "n"},
    {"count": "n", "ties": "expected"},
    {"gain": "g"},
]
EVERY += [{"gain": "g", "ties": rule} for rule in ("expected", "optimistic")]
EVERY += [{name: "total"} for name in ("total_positives", "total_rows", "prevalence")]


@pytest.mark.parametrize("options", EVERY, ids=str)
def test_every_metric_under_each_option(options):
    assert check(every_metric(options)) > 10


def test_metrics_that_lie_between_0_and_1():
    call = every_metric({})
    result = result_of(call)
    shares = [
        name for name in call.names if metric(name).kind == "share" and metric(name).from_0_to_1
    ]
    assert [name for name in shares if not result[name].drop_nulls().is_between(0, 1).all()] == []
    assert {"average_precision", "min_cost1", "f1@3", "roc_auc@fpr=0.1"} <= {*shares}


LIMITS = "(precision|specificity|fpr)="
BOUND = "|".join(
    [
        "threshold@(?!recall)",
        "@(max|min)_",
        "^max_(mcc|markedness)@",
        "@npv=",
        "^(max|min)_.*@recall=0$",
        "^(npv|mcc|markedness)@recall=",
        "captured",
        "judged",
        "/hits",
        f"^(?!tp|fn|recall|roc|max_|min_).*@{LIMITS}",
    ]
)
EXPECTED = (
    f"(?<!roc_auc)@{LIMITS}|@(recall|npv)=|max_|min_|interpolated|equal_error|threshold@|/hits"
)


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"ties": "expected"}, EXPECTED),
        ({"ties": "optimistic"}, BOUND),
        ({"ties": "pessimistic"}, BOUND),
        ({"weight": "w"}, "@[0-9]|bpref|chance|normalized|dcg|rank|rbp|r_precision"),
    ],
    ids=str,
)
def test_metrics_that_an_option_refuses(options, refused):
    taken, every = every_metric(options).names, every_metric({}).names
    assert [name for name in every if not re.search(refused, name)] == taken


@pytest.mark.parametrize("options", [{}, {"ties": "expected"}, {"weight": "w"}], ids=str)
def test_every_metric_of_one_group_in_ranges_of_scores(options):
    call = every_metric(options)
    frame, options = (
        call.frame.with_columns(pl.col("s") + pl.int_range(pl.len()) % 40),
        dict(call.options, by=None),
    )
    ranges = fp.partitioned(frame, partitions=4, progress=False).evaluate(
        call.names, "y", "s", **options
    )
    assert_frame_equal(ranges, frame.pr.evaluate(call.names, "y", "s", **options), rel_tol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_value_is_the_exact_one_on_every_way(subject: str):
    compare_cases(subject, 300 if subject == "polars" else 100, 1000)
