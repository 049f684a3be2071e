"""The recipes of docs/migration.md for search, against the tools or published values."""

import pytest
from searches import RELEVANT, SEARCH, assert_equal, joined, search, trec_eval

KS = [1, 3, 10, 40]


# trec_eval
# ------------------------------------------------------------------------------------------------

TREC = {"tie_break": "document", "undefined": 0.0, **SEARCH}
TREC_NAMES = {
    "average_precision": "map",
    "r_precision": "Rprec",
    "positives": "num_rel",
    **{f"average_precision@{k}/positives": f"map_cut_{k}" for k in KS},
    **{f"precision@{k}": f"P_{k}" for k in KS},
    **{f"recall@{k}": f"recall_{k}" for k in KS},
}
TREC_MEASURES = {"map", "Rprec", "num_rel"} | {
    f"{name}.{','.join(map(str, KS))}" for name in ("map_cut", "P", "recall")
}


@pytest.mark.parametrize("ties", [False, True])
def test_trec_eval(ties):
    run, judgments = search(300, ties=ties)
    theirs = trec_eval(run, judgments, TREC_MEASURES)
    ours = joined(run, judgments).pr.evaluate(
        list(TREC_NAMES), RELEVANT, "score", by="query", **TREC
    )
    assert_equal(ours, theirs, TREC_NAMES)
    if ties:
        without = {name: value for name, value in TREC.items() if name != "tie_break"}
        other = joined(run, judgments).pr.average_precision(
            RELEVANT, "score", by="query", **without
        )
        with pytest.raises(AssertionError):
            assert_equal(other, theirs, {"average_precision": "map"})
