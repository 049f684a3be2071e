"""Deprecated functions, arguments and metrics work, and warn at the line of the caller."""

import warnings
from pathlib import Path

import polars as pl
import pytest

from frame_pr.frames.arguments import public
from frame_pr.frames.messages import MINOR_RELEASES, Renamed, deprecated, deprecated_arguments
from frame_pr.metrics import names

# One positive, at rank 2 of 3: reciprocal rank 1/2; precision@2 is 1/2, of 2 rows.
RUN = pl.DataFrame({"truth": [0, 1, 0], "score": [0.9, 0.8, 0.7]})


@deprecated(Renamed("new_function", "0.2"))
def old_function(value):
    return value


@deprecated_arguments(cut=Renamed("k", "1.3"))
@public()
def top(frame, k=1):
    return frame.head(k)


def test_a_deprecated_function_works_and_warns_at_the_line_of_the_caller():
    with pytest.warns(FutureWarning) as caught:
        assert old_function(3) == 3
    assert str(caught[0].message) == (
        "old_function() is deprecated since frame_pr 0.2; use new_function(). The old name works until frame_pr 0.4 at "
        "least"
    )
    assert [warning.filename for warning in caught] == [__file__]


def test_a_deprecated_argument_is_passed_on_by_its_new_name():
    with pytest.warns(FutureWarning, match=r"cut= is deprecated since frame_pr 1\.3; use k=\. .* until frame_pr 1\.5"):
        assert top(RUN, cut=2).height == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert top(RUN, k=2).height == 2


def test_an_argument_by_both_names_is_an_error():
    with pytest.raises(TypeError, match="cut: also set as k=; remove cut=, which is its old name"):
        top(RUN, cut=2, k=2)


@pytest.mark.parametrize(
    ("old", "value", "new"),
    [
        ("first_hit", 0.5, "reciprocal_rank"),
        ("hits@2", 0.5, "precision@2"),
        ("threshold@top_f1", 0.8, "threshold@max_f1"),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_a_deprecated_metric_keeps_its_column_and_warns_at_the_line_of_the_caller(monkeypatch, old, value, new, lazy):
    table = {"first_hit": "reciprocal_rank", "hits": "precision", "threshold@top_f1": "threshold@max_f1"}
    monkeypatch.setattr(names, "DEPRECATED", {old: Renamed(new, "0.2") for old, new in table.items()})
    frame = RUN.lazy() if lazy else RUN
    with pytest.warns(FutureWarning, match=f"the metric {old} is deprecated .* use the metric {new}") as caught:
        result = frame.pr.evaluate(old, "truth", "score").lazy().collect()
    assert result.to_dict(as_series=False) == {old: [value]}
    assert {warning.filename for warning in caught} == {__file__}


def test_the_promise_in_the_docs_is_that_of_the_warning():
    words = {2: "two", 3: "three", 4: "four"}
    page = Path(__file__).parents[2] / "docs" / "stability.md"
    assert f"at least {words[MINOR_RELEASES]} minor releases" in page.read_text(encoding="utf-8")
