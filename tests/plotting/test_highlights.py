"""Some of many curves have a name."""

import polars as pl
import pytest
from pictures import axes, curves, labels, random_run

import frame_pr as fp

RUN = random_run(rows=6000, groups=30)


def others(ax):
    return [line for line in ax.get_lines() if line.get_label() == "_other"]


def names(ax) -> list[str]:
    return [label.partition(" (")[0] for label in labels(ax)]


def test_the_best_and_the_worst():
    ax = RUN.pr.plot("relevant", "score", by="query", highlight=2, ax=axes())
    ranked = fp.evaluate(RUN, "average_precision", "relevant", "score", by="query")
    ranked = ranked.sort("average_precision", descending=True)["query"].cast(str).to_list()
    assert names(ax) == [*ranked[:2], *ranked[-2:], "26 others", "prevalence"]
    assert len(curves(ax)) == 4
    assert {line.get_color() for line in others(ax)} == {"0.7"}
    assert len(others(ax)) == 26
    assert max(line.get_zorder() for line in others(ax)) < min(line.get_zorder() for line in curves(ax))


def test_names_in_their_order():
    ax = RUN.pr.plot("relevant", "score", by="query", highlight=[7, "3"], mark="max_f1")
    assert [name for name in names(ax) if not name.startswith("max F1")] == ["7", "3", "28 others", "prevalence"]
    assert sum(line.get_gid() == "mark" for line in ax.get_lines()) == 2


def test_more_than_there_are():
    ax = RUN.filter(pl.col("query") < 3).pr.plot("relevant", "score", by="query", highlight=2, ax=axes())
    assert not others(ax)
    assert sorted(names(ax)[:-1]) == ["0", "1", "2"]


def test_groups_without_positives_are_neither_best_nor_worst():
    run = RUN.with_columns(relevant=pl.col("relevant") & (pl.col("query") != 5))
    assert "5" not in names(run.pr.plot("relevant", "score", by="query", highlight=5, ax=axes()))


def test_systems_and_other_axes():
    run = RUN.with_columns(other=-pl.col("score"))
    ax = run.pr.plot("relevant", ["score", "other"], x="threshold", highlight="other", ax=axes())
    assert names(ax) == ["other", "1 other", "prevalence"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"highlight": "nobody"}, "highlight: 'nobody' is none of the curves; "),
        ({"highlight": 0}, "highlight must be a whole number of at least 1, got 0"),
        ({"highlight": 6}, "highlight= names 12 curves, more than can be told apart (10): name fewer"),
        ({"highlight": 2, "x": "threshold"}, "highlight=2 chooses the best and the worst curves by their area, "),
        ({"highlight": 2, "facet": True}, "highlight= names some of many curves in one axes: leave it out, or facet="),
        ({"highlight": 2, "average": True}, "highlight= names some of many curves in one axes: leave it out, or av"),
    ],
)
def test_what_cannot_be_highlighted(given, sentence):
    with pytest.raises(ValueError) as raised:  # noqa: PT011  the sentence is compared
        RUN.pr.plot("relevant", "score", by="query", **given)
    assert str(raised.value).startswith(sentence)


def test_it_is_offered_where_curves_are_too_many():
    with pytest.raises(ValueError, match="highlight=3 names the best and the worst"):
        RUN.pr.plot("relevant", "score", by="query")
