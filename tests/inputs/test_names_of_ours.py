"""Keys that are named like columns that the package makes on its way."""

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


@pytest.mark.parametrize(
    ("function", "arguments"), [*CALLS, *MORE], ids=[*CALL_IDS, *(f"more {name}" for name, _ in MORE)]
)
def test_a_key_may_have_any_name(function, arguments):
    expected = call(ROWS, function, **({"by": "query"} | arguments))
    for name in NAMES:
        renamed = {role: name if value == "query" else value for role, value in ({"by": "query"} | arguments).items()}
        if name in ROWS.columns:
            continue
        try:
            result = call(ROWS.rename({"query": name}), function, **renamed)
        except ValueError as error:
            # Only of a column of the result.
            assert name in expected.columns, error  # noqa: PT017
            continue
        keeps_keys = "query" in expected.columns
        assert_same(result.rename({name: "query"}) if keeps_keys else result, expected)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ROWS.columns])
@pytest.mark.parametrize("baseline", [None, "rest"])
def test_compared_groups_may_have_any_name(name, baseline):
    arguments = {"baseline": baseline, "cluster": "label"}
    expected = fp.compare(ROWS, "roc_auc", "relevant", "score", between="query", **arguments)
    renamed = fp.compare(ROWS.rename({"query": name}), "roc_auc", "relevant", "score", between=name, **arguments)
    assert_same(renamed, expected)
