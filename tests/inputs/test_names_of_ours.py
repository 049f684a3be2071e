"""Keys that are named like columns that the package makes on its way."""

import contextlib

import polars as pl
import pytest
from compare import assert_same
from names import CALL_IDS, CALLS, GOOD, call

import frame_pr as fp

pytestmark = pytest.mark.slow

NAMES = ["group", "truth", "weight", "count", "cluster", "block", "n", "k", "tp", "rows", "positives", "first"]
NAMES += ["threshold", "a", "m", "by0", "0", "key0", "other", "rest", "clusters", "positive", "unit", "level", "height"]
NAMES += ["scale0", "value 0", "error 0", "groups 0", "undefined 0", "D 0", "alone 0"]
ROWS = pl.concat([GOOD, GOOD.with_columns(query=pl.lit("c"))])
MORE = [
    ("evaluate", {"metrics": ["roc_auc", "recall@2"], "mean_over": "query", "statistics": ["mean", "by_rows", "q25"]}),
    ("intervals", {"metrics": "average_precision", "cluster": "label"}),
    ("intervals", {"metrics": "roc_auc", "mean_over": "query"}),
    ("compare", {"metrics": "average_precision", "score": ["score", "predicted"]}),
    ("compare", {"metrics": "roc_auc", "score": ["score", "predicted"], "sampled": "rows"}),
    ("average_curve", {}),
]


NAMES = [name for name in NAMES if name not in ROWS.columns]


@pytest.mark.parametrize(
    ("number", "function", "arguments"),
    [(number, *given) for number, given in enumerate([*CALLS, *MORE])],
    ids=[*CALL_IDS, *(f"more {name}" for name, _ in MORE)],
)
def test_a_key_may_have_any_name(number, function, arguments):
    arguments = {"by": "query"} | arguments
    expected = call(ROWS, function, **arguments)
    # All names as keys of one call, and each name as the only key of some of the functions.
    free = [name for name in NAMES if name not in expected.columns]
    assert_named(free, function, arguments, expected)
    for name in NAMES[number % 9 :: 9]:
        if name in free:
            assert_named([name], function, arguments, expected)
        else:
            with contextlib.suppress(ValueError):  # also a column of the result
                assert_named([name], function, arguments, expected)


def assert_named(names, function, arguments, expected):
    frame = ROWS.with_columns(**dict.fromkeys(names, pl.col("query"))).drop("query")
    keys = names if len(names) > 1 else names[0]
    renamed = {role: keys if value == "query" else value for role, value in arguments.items()}
    result = call(frame, function, **renamed)
    if "query" in expected.columns:
        result = result.rename({names[0]: "query"})
    result = result.drop(names[1:], strict=False)
    assert_same(result.select(expected.columns), expected)


@pytest.mark.parametrize("baseline", [None, "rest"])
def test_compared_groups_may_have_any_name(baseline):
    arguments = {"baseline": baseline, "cluster": "label"}
    expected = fp.compare(ROWS, "roc_auc", "relevant", "score", between="query", **arguments)
    for name in NAMES[:: 1 if baseline else 4]:
        renamed = fp.compare(ROWS.rename({"query": name}), "roc_auc", "relevant", "score", between=name, **arguments)
        assert_same(renamed, expected)
