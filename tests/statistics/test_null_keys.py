"""A null is a key like another: results are those of the same rows with a label in its place."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_pr as fp

NUMBER = pl.int_range(240)
LABELLED = pl.select(
    k=pl.lit(pl.Series(["a", "b", "c"])).gather(NUMBER * 7 % 3),
    q=pl.lit(pl.Series(["a", "b", "c", "d"])).gather(NUMBER * 5 % 4),
    u=pl.format("u{}", NUMBER * 11 % 17),
    y=NUMBER * 31 % 7 < 3,
    s=NUMBER * 37 % 23,
    t=NUMBER * 41 % 19 + NUMBER % 3,
)
KEYS = ("k", "q", "group", "baseline", "system")
CALLS = {
    "means of groups": (fp.compare, ["s", "t"], {"by": ["k", "q"], "mean_over": "q"}),
    "permutations": (fp.compare, ["s", "t"], {"by": ["k", "q"], "mean_over": "q", "test": "permutation"}),
    "rows": (fp.compare, ["s", "t"], {"by": "k", "sampled": "rows"}),
    "clusters": (fp.compare, ["s", "t"], {"by": "k", "cluster": "u"}),
    "between rows": (fp.compare, "s", {"between": "k"}),
    "between rows by": (fp.compare, "s", {"between": "k", "by": "q"}),
    "between clusters": (fp.compare, "s", {"between": "k", "by": "q", "cluster": "u"}),
    "between groups": (fp.compare, "s", {"between": "k", "by": "q", "mean_over": "q"}),
    "previous": (fp.compare, "s", {"between": "k", "baseline": "previous"}),
    "intervals": (fp.intervals, "s", {"by": ["k", "q"]}),
    "intervals of means": (fp.intervals, ["s", "t"], {"by": ["k", "q"], "mean_over": "q"}),
    "intervals of clusters": (fp.intervals, "s", {"by": "k", "cluster": "u"}),
    "intervals in fixed groups": (fp.intervals, "s", {"by": ["k", "q"], "mean_over": "q", "sampled": "rows"}),
    "bootstrap": (fp.intervals, "s", {"by": ["k", "q"], "method": "bootstrap", "repeats": 100}),
}


@pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")
@pytest.mark.parametrize("way", CALLS)
def test_a_null_is_a_key_like_another(way):
    function, score, options = CALLS[way]
    metrics = ["roc_auc", "average_precision", "recall@threshold=9"]
    labelled, nulls = (
        function(frame, metrics, "y", score, **options, details=True)
        for frame in (LABELLED, LABELLED.with_columns(pl.col("k", "q").replace("a", None)))
    )
    keys = [key for key in KEYS if key in nulls.columns]
    assert_frame_equal(nulls.with_columns(pl.col(keys).fill_null("a")), labelled, rel_tol=1e-9)
