"""What functions and metrics refuse, by calling each with every option: the tables state what the code does."""

import runpy
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import frame_pr as fp

pytest.importorskip("matplotlib").use("agg")
# An option that changes nothing is a warning, and no refusal.
pytestmark = pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")
PAGE = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "policies.py"))
TRIALS = PAGE["TRIALS"]
RUN = pl.DataFrame(
    {
        "relevant": [1, 0, 0, 1, 1],
        "score": [0.9, 0.8, 0.7, 0.6, 0.6],
        "predicted": [1, 0, 1, 1, 0],
        "name": ["v", "w", "x", "y", "z"],
        "times": [1, 2, 1, 3, 1],
        "total": [9, 9, 9, 9, 9],
    }
)
WAYS = [(name, way) for name in PAGE["taking"]() for way in PAGE["WAYS"].get(name, [PAGE["Way"]()])]
METRICS = [(name, PAGE["refused_by_metric"](name)) for _, names in PAGE["metrics_by_refusals"]() for name in names[:2]]


def refused(function, arguments) -> set[str]:
    """The trials that a call refuses; without an option it must succeed."""
    function(**arguments)
    trials = set()
    for trial, options in TRIALS.items():
        try:
            function(**arguments, **options)
        except (TypeError, ValueError):
            trials.add(trial)
    return trials


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), WAYS, ids=[f"{name} {way.words}" for name, way in WAYS])
def test_functions_refuse_what_their_tables_state(name, way):
    from matplotlib.figure import Figure  # one that no window shows, and that nobody has to close

    axes: dict[str, Any] = {"ax": Figure().subplots()} if name.startswith("plot") else {}
    arguments = {"truth": "relevant", "score": "score", **way.arguments, **axes}
    assert refused(getattr(RUN.pr, name), arguments) == PAGE["refused_by"](name, way)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stated"), METRICS, ids=[name for name, _ in METRICS])
def test_metrics_refuse_what_their_records_state(name, stated):
    assert refused(RUN.pr.evaluate, {"metrics": name, "truth": "relevant", "score": "score"}) == stated


PAIRS = [
    (one, other)
    for one, other in combinations(TRIALS, 2)
    if "tie_break_descending=" not in (one, other) and not {*TRIALS[one]} & {*TRIALS[other]}
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_options_that_exclude_each_other(one, other):
    call: Any = RUN.pr.ndcg if "gain=" in (one, other) else RUN.pr.average_precision
    arguments = {"truth": "relevant", "score": "score"} | TRIALS[one] | TRIALS[other]
    if other in PAGE["pairs"]().get(one, []):
        with pytest.raises(ValueError, match="a ranking does not take it with "):
            call(**arguments)
    else:
        assert call(**arguments).height == 1


@pytest.mark.slow
def test_frames_in_parts_refuse_the_order_of_rows_besides():
    parts = fp.partitioned(RUN.with_columns(query=1), partitions=2, progress=False)
    arguments = {"truth": "relevant", "score": "score", "by": "query"}
    here = refused(RUN.with_columns(query=1).pr.average_precision, arguments)
    assert refused(parts.average_precision, arguments) - here == {'ties="order"'}


def test_expressions_take_ascending_alone():
    score: Any = pl.col("score")
    assert {*TRIALS} - refused(score.pr.average_precision, {"truth": "relevant"}) == {"ascending="}


def test_a_default_is_no_refused_option():
    defaults: dict[str, Any] = {"ties": "threshold", "tie_break": None, "total_positives": None, "weight": None}
    assert RUN.pr.tally("relevant", "score", **defaults).height == 4
    assert RUN.pr.with_curve("relevant", "score", ties="threshold", tie_break=None).height == 5
