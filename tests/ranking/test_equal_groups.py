"""Groups with equal rankings: metrics are computed once for all of them, with the same values to the last bit."""

import polars as pl
import pytest
from names import NAMES
from oracle import oracle
from polars.testing import assert_frame_equal
from samples import groups

import frame_pr as fp
from frame_pr.metrics import aggregation
from frame_pr.metrics.names import metric
from frame_pr.ranking import equal_groups, sorting
from frame_pr.ranking.equal_groups import EqualGroups

NUMBER = pl.int_range(900)
# 300 groups of up to 5 rows with tied scores, one of 17 rows, and one of 60 rows.
ROWS = pl.select(
    q=pl.when(NUMBER < 60).then(-1).when(NUMBER < 77).then(-2).otherwise(NUMBER * 7919 % 300),
    relevant=NUMBER * 13 % 17 < 6,
    label=pl.when(NUMBER % 11 > 0).then(NUMBER * 13 % 17 < 6),
    score=(NUMBER * 31 % 5) / 8,
    other=(NUMBER * 37 % 7) / 8,
    gaps=pl.when(NUMBER % 13 > 0).then((NUMBER * 31 % 5) / 8),
    place=NUMBER * 17 % 4,
    whole=NUMBER % 3 + 1,
    real=NUMBER % 3 + 0.5,
    known=pl.lit(100),
)
METRICS = ["average_precision", "roc_auc", "ndcg@5", "precision@10%", "ties", "rows", "f1@threshold=0.25", "mean_rank"]
METRICS += ["threshold@max_f1", "threshold@3", "threshold@recall=0.5", "max_mcc", "fpr@recall=0.5"]


@pytest.fixture
def ranked(monkeypatch):
    """The number of rows whose blocks are made, in each call; frames of any size may have equal groups."""
    monkeypatch.setattr("frame_pr.inputs.rows.SMALL", 0)
    monkeypatch.setattr("frame_pr.inputs.templates.SMALL", 0)
    heights, totals = [], sorting.Sort.totals

    def counted(sort, rows):
        heights.append(rows.table.collect().height)
        return totals(sort, rows)

    monkeypatch.setattr(sorting.Sort, "totals", counted)
    return heights


def evaluated(monkeypatch, rows, names, *, share, score="score", **policies):
    """The metrics of each group, if representatives may be this share of all groups."""
    monkeypatch.setattr(aggregation, "_LOOKS_FROM", 0)
    monkeypatch.setattr(equal_groups, "_MOST_DISTINCT", share)
    return fp.evaluate(rows, names, "relevant", score, by="q", **policies)


def assert_same(monkeypatch, rows, names, **policies):
    always, never = (evaluated(monkeypatch, rows, names, share=share, **policies) for share in (1, -1))
    assert_frame_equal(always, never, check_exact=True, check_row_order=False)


def test_blocks_are_made_of_one_group_of_each_kind(monkeypatch, ranked):
    rows = pl.select(q=pl.int_range(3000) // 5, relevant=pl.int_range(3000) % 10 < 2, score=pl.int_range(3000) % 5)
    found = fp.evaluate(rows, METRICS, "relevant", "score", by="q")
    assert ranked == [10]
    monkeypatch.setattr(equal_groups, "_MOST_DISTINCT", 0)
    assert_frame_equal(fp.evaluate(rows, METRICS, "relevant", "score", by="q"), found, check_exact=True)
    assert ranked == [10, 3000]


def test_rows_of_a_lazy_frame_are_ranked_when_it_is_collected(ranked):
    rows = pl.select(q=pl.int_range(3000) // 5, relevant=pl.int_range(3000) % 10 < 2, score=pl.int_range(3000) % 5)
    result = fp.evaluate(rows.lazy(), METRICS, "relevant", "score", by="q").sort("q")
    assert ranked == []
    expected = fp.evaluate(rows, METRICS, "relevant", "score", by="q")
    assert_frame_equal(result.collect(), expected, check_exact=True)
    assert ranked == [10, 10]


@pytest.mark.parametrize("rows", [ROWS, groups()], ids=["tied", "mixed"])
@pytest.mark.parametrize("score", ["score", "nearby"])
def test_values_are_those_of_the_definition(monkeypatch, ranked, rows, score):
    rows = rows.with_columns(nearby=pl.col("score") + pl.col("q") / 2**20)
    names = ["average_precision", "roc_auc"]
    found = evaluated(monkeypatch, rows, names, share=1, score=score)
    assert len(found) == rows["q"].n_unique()
    for group, *values in found.rows():
        members = rows.filter(pl.col("q") == group)
        exact = [oracle(name, members["relevant"].to_list(), members[score].to_list()) for name in names]
        assert values == pytest.approx(exact, nan_ok=True)
    assert ranked[0] < len(rows)


@pytest.mark.parametrize("ties", ["threshold", "expected", "optimistic", "pessimistic", "order"])
@pytest.mark.parametrize("ascending", [False, True])
def test_every_metric_has_the_same_bits(monkeypatch, ranked, ties, ascending):
    # A threshold is a bit of each row, and all of these are too many.
    names = [
        name for name in NAMES if ties in metric(name).aggregates and name.partition("threshold=")[2] in ("", "0.5")
    ]
    assert_same(monkeypatch, ROWS, names, ties=ties, ascending=ascending)
    assert ranked[0] < ranked[1] == len(ROWS)


@pytest.mark.parametrize("name", [name for name in NAMES if metric(name).kind == "threshold"])
def test_a_threshold_alone_is_a_score_of_its_own_group(monkeypatch, ranked, name):
    rows = ROWS.with_columns(score=pl.col("score") + pl.col("q") / 2**20)
    assert_same(monkeypatch, rows, name)
    assert_same(monkeypatch, rows.lazy(), name, score=["other", "score"])


def test_only_thresholds_read_scores():
    # `gather` looks the scores up only for these.
    for name in NAMES:
        record = metric(name)
        kinds = [(key, part.kind) for parts in record.aggregates.values() for key, part in parts.items()]
        scores = {key if kind.is_threshold else f"threshold@{key}" for key, kind in kinds if kind.reads_rank_key}
        assert record.kind == "threshold" or scores.isdisjoint(record.value.meta.root_names()), name


@pytest.mark.parametrize(
    "policies",
    [
        {"score": ["score", "other"]},
        {"tie_break": "place"},
        {"score": "gaps", "unscored": "unretrieved"},
        {"score": "gaps", "unscored": "drop"},
        {"positives": "known"},
        {"count": "whole"},
        {"undefined": 0.0},
    ],
)
def test_options_do_not_change_values(monkeypatch, ranked, policies):
    assert_same(monkeypatch, ROWS, METRICS, **policies)


@pytest.mark.parametrize("weight", ["whole", "real"])
def test_weighted_groups_are_not_compared(monkeypatch, ranked, weight):
    assert_same(monkeypatch, ROWS, ["average_precision", "roc_auc", "max_f1", "threshold@max_f1"], weight=weight)
    assert ranked[0] == len(ROWS)


def test_missing_labels_do_not_change_values(monkeypatch, ranked):
    rows = ROWS.with_columns(relevant="label")
    for unjudged in ("negative", "drop"):
        assert_same(monkeypatch, rows, ["bpref", "judged@3", "ndcg", "roc_auc", "threshold@1"], unjudged=unjudged)


@pytest.mark.parametrize("largest", [8, 16])
def test_groups_of_other_sizes_are_not_equal(monkeypatch, ranked, largest):
    # In binary digits, the rows of the shorter groups are the last ones of the longer groups.
    monkeypatch.setattr(equal_groups, "_LARGEST", (largest,))
    sizes = range(1, largest + 5)
    rows = pl.DataFrame({"q": [size for size in sizes for _ in range(size)]}).with_columns(score=0, relevant=False)
    rows = pl.concat([rows, rows.with_columns(pl.col("q") + 100)])
    found = evaluated(monkeypatch, rows, ["rows", "ties", "roc_auc"], share=1)
    assert found["rows"].to_list() == [*sizes, *sizes]
    # Larger groups are compared with no other.
    assert ranked == [sum(sizes) + sum(sizes[largest:])]


def test_many_thresholds_leave_too_few_bits(monkeypatch, ranked):
    names = [f"precision@threshold={i / 80}" for i in range(60)]
    assert_same(monkeypatch, ROWS, ["average_precision", *names])
    assert ranked[0] == len(ROWS)
    assert_same(monkeypatch, ROWS, ["average_precision", *names[::12]])


@pytest.mark.parametrize(("size", "share", "looks"), [(5, 1.0, True), (5, 0.5, True), (100, 0.5, False)])
def test_samples_decide(monkeypatch, ranked, size, share, looks):
    monkeypatch.setattr(equal_groups, "_SAMPLES", (4, 25))
    heights, represented = [], equal_groups._represented
    monkeypatch.setattr(equal_groups, "_represented", lambda *of: heights.append(of[2].height) or represented(*of))
    number = pl.int_range(2000)
    rows = pl.select(q=number // size, relevant=number * 7 % 11 < 3, score=number % size)
    evaluated(monkeypatch, rows, METRICS, share=share)
    assert heights == ([100, 2000] if looks else [])


def test_zeros_have_no_sign(monkeypatch, ranked):
    monkeypatch.setattr(sorting, "engine_for", lambda rows: "streaming")
    rows = pl.DataFrame({"q": ["a", "b", "a"], "relevant": True, "score": [0.6, -0.4, -0.4], "count": [0, 2, 2]})
    for count in ({}, {"count": "count"}):
        found = evaluated(monkeypatch, rows, ["tn@100%", "recall@specificity=0.7"], share=1, **count)
        assert [str(value) for value in found["tn@100%"]] == ["0.0", "0.0"]


def test_no_rows_have_no_groups(monkeypatch, ranked):
    assert evaluated(monkeypatch, ROWS.clear(), METRICS, share=1).is_empty()
    assert evaluated(monkeypatch, ROWS.clear().lazy(), METRICS, share=1).collect().is_empty()


def test_few_metrics_do_not_look_for_equal_groups(monkeypatch, ranked):
    monkeypatch.setattr(EqualGroups, "of", lambda *_: pytest.fail("looked"))
    fp.evaluate(ROWS, "average_precision", "relevant", "score", by="q")
