"""First hits, gains and judgments, against the tools of search."""

import numpy as np
import polars as pl
import pytest
from compare import near
from searches import RELEVANT, SEARCH, as_dicts, assert_equal, joined, search, trec_eval

import frame_pr as fp

KS = [1, 3, 10, 40]
TREC = {"tie_break": "document", "undefined": 0.0, **SEARCH}
GAIN = pl.col("relevance").clip(lower_bound=0)


def figures(both: pl.DataFrame, names, **options) -> pl.DataFrame:
    return both.pr.evaluate(list(names), RELEVANT, "score", by="query", **options)


# trec_eval
# ------------------------------------------------------------------------------------------------

FIRST = {"reciprocal_rank": "recip_rank", **{f"success@{k}": f"success_{k}" for k in KS}}
GAINED = {"ndcg": "ndcg", **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in KS}}
CUTS = ",".join(map(str, KS))


@pytest.mark.parametrize("ties", [False, True])
def test_first_hits_of_trec_eval(ties):
    run, judgments = search(300, ties=ties)
    theirs = trec_eval(run, judgments, {"recip_rank", f"success.{CUTS}"})
    assert_equal(figures(joined(run, judgments), FIRST, **TREC), theirs, FIRST)
    # Where scores are tied, it takes documents by their names; the mean over orders is another
    # number.
    without = {name: value for name, value in TREC.items() if name != "tie_break"}
    means = figures(joined(run, judgments), FIRST, **without)
    if ties:
        with pytest.raises(AssertionError):
            assert_equal(means, theirs, FIRST)
    else:
        assert_equal(means, theirs, FIRST)


@pytest.mark.parametrize("ties", [False, True])
def test_gains_of_trec_eval(ties):
    run, judgments = search(300, ties=ties)
    # It looks a grade below 0 up outside of its table of levels, and may never return: so 0 in
    # place of these.
    grades, measures = judgments.with_columns(GAIN), {"ndcg", f"ndcg_cut.{CUTS}"}
    theirs = trec_eval(run, grades, measures)
    both = joined(run, judgments)
    assert_equal(figures(both, GAINED, gain=GAIN, **TREC), theirs, GAINED)
    # Without gains every relevant document is worth 1, as where all grades are 0 or 1.
    binary = judgments.with_columns(pl.col("relevance").clip(0, 1))
    assert_equal(figures(both, GAINED, **TREC), trec_eval(run, binary, measures), GAINED)
    with pytest.raises(AssertionError):
        assert_equal(figures(both, GAINED, **TREC), theirs, GAINED)


@pytest.mark.parametrize("ties", [False, True])
def test_bpref_of_trec_eval(ties):
    # What has a grade of -1 was not judged there.
    run, judgments = search(300, ties=ties)
    judged = judgments.filter(pl.col("relevance") >= 0)
    theirs = trec_eval(run, judgments, {"bpref"})
    # In one call with metrics that count what was not judged as negatives, and where it is left
    # out.
    for options in (TREC, TREC | {"unjudged": "drop"}):
        ours = figures(joined(run, judged), ["bpref", "judged@10"], **options)
        assert_equal(
            ours, {q: theirs[q] for q in theirs if q in judged["query"]}, {"bpref": "bpref"}
        )
        kept = figures(joined(run, judgments), ["bpref"], **options)
        with pytest.raises(AssertionError):
            assert_equal(kept, theirs, {"bpref": "bpref"})


IN_ONE_CALL = {
    "average_precision": "map",
    "average_precision@10/positives": "map_cut_10",
    "precision@10": "P_10",
    "recall@10": "recall_10",
    "r_precision": "Rprec",
    "reciprocal_rank": "recip_rank",
    "success@1": "success_1",
    "ndcg": "ndcg",
    "ndcg@10": "ndcg_cut_10",
    "bpref": "bpref",
    "positives": "num_rel",
}


def test_the_preset_in_one_call_on_files(tmp_path):
    import pytrec_eval

    measures = pytest.importorskip("ir_measures")
    judgments = search(250, ties=True)[1].filter(pl.col("relevance") >= 0)
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {r}\n" for q, d, r in judgments.rows()))
    runs = {f"s{seed}": search(250, ties=True, seed=seed)[0] for seed in (5, 6)}
    for tag, run in runs.items():
        lines = [f"{q} Q0 {d} 0 {s} {tag}\n" for q, d, s in run.rows()]
        (tmp_path / f"{tag}.run").write_text("".join(lines))
    run, qrels = fp.read_trec_run(tmp_path / "*.run"), fp.read_trec_qrels(tmp_path / "qrels")
    both = run.pr.join_judgments(
        qrels, on=["query", "document"], by="system", drop_unjudged="query"
    )
    call = {"by": ["system", "query"], "gain": "relevance", **fp.TREC_EVAL}
    each = both.pr.evaluate(list(IN_ONE_CALL), RELEVANT, "score", **call)
    answered = both.filter(pl.col("score").is_not_null().any().over("system", "query"))
    means, of_answered = (
        frame.pr.evaluate(list(IN_ONE_CALL), RELEVANT, "score", mean_over="query", **call)
        for frame in (both, answered)
    )
    asked = {"ndcg_cut.10", "map_cut.10", "P.10", "recall.10", "success.1", *IN_ONE_CALL.values()}
    asked -= {"ndcg_cut_10", "map_cut_10", "P_10", "recall_10", "success_1"}
    for tag in runs:
        with (
            (tmp_path / "qrels").open() as qrels_file,
            (tmp_path / f"{tag}.run").open() as run_file,
        ):
            judged, ranked = pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
        # There are queries that nobody judged, that the run does not answer, and that have nothing
        # relevant.
        assert {*ranked} - {*judged}
        assert {*judged} - {*ranked}
        assert any(not any(grades.values()) for grades in judged.values())
        theirs = pytrec_eval.RelevanceEvaluator(judged, asked).evaluate(ranked)
        assert_equal(each.filter(system=tag), theirs, IN_ONE_CALL)
        mean, answered_mean = (
            frame.row(by_predicate=pl.col("system") == tag, named=True)
            for frame in (means, of_answered)
        )
        assert (mean["groups"], answered_mean["groups"]) == (len(judged), len(theirs))
        for ours, name in IN_ONE_CALL.items():
            # Without -c, trec_eval divides by the queries that the run answers; with it, by all
            # that are judged.
            assert answered_mean[f"mean_{ours}"] == near(
                np.mean([values[name] for values in theirs.values()])
            )
            if name != "num_rel":
                total = sum(values[name] for values in theirs.values())
                assert mean[f"mean_{ours}"] == near(total / len(judged))
        found = measures.calc_aggregate(
            [measures.AP, measures.nDCG @ 10, measures.Bpref],
            measures.read_trec_qrels(str(tmp_path / "qrels")),
            measures.read_trec_run(str(tmp_path / f"{tag}.run")),
        )
        assert mean["mean_average_precision"] == near(found[measures.AP])
        assert mean["mean_ndcg@10"] == near(found[measures.nDCG @ 10])
        assert mean["mean_bpref"] == near(found[measures.Bpref])


# ir_measures
# ------------------------------------------------------------------------------------------------


def ir_measures_of(
    run: pl.DataFrame, judgments: pl.DataFrame, asked: list
) -> dict[str, dict[str, float]]:
    measures = pytest.importorskip("ir_measures")
    qrels = [measures.Qrel(*row) for row in judgments.rows()]
    docs = [measures.ScoredDoc(*row) for row in run.rows()]
    theirs: dict[str, dict[str, float]] = {}
    for one in measures.iter_calc(asked, qrels, docs):
        theirs.setdefault(one.query_id, {})[str(one.measure)] = one.value
    return theirs


@pytest.mark.parametrize("ties", [False, True])
def test_ir_measures(ties):
    measures = pytest.importorskip("ir_measures")
    run, judgments = search(200, ties=ties)
    both, judged = joined(run, judgments), judgments.filter(pl.col("relevance") >= 0)
    answered = set(run["query"]) & set(judgments["query"])

    def compared(names, options, data=both, of=judgments, **more):
        theirs = ir_measures_of(run, of, list(names.values()))
        theirs = {query: values for query, values in theirs.items() if query in answered}
        return (
            figures(data, names, **options, **more),
            theirs,
            {ours: str(one) for ours, one in names.items()},
        )

    first = {"reciprocal_rank": measures.RR, **{f"success@{k}": measures.Success @ k for k in KS}}
    assert_equal(*compared(first, TREC))
    gained = {"ndcg": measures.nDCG, **{f"ndcg@{k}": measures.nDCG @ k for k in KS}}
    grades = judgments.with_columns(GAIN)
    assert_equal(*compared(gained, TREC, of=grades, gain=GAIN))
    # Gains of its own for each grade.
    exponential = {"ndcg@10": measures.nDCG(gains={1: 1, 2: 3}) @ 10}
    assert_equal(*compared(exponential, TREC, of=grades, gain=2**GAIN - 1))
    bpref = {"bpref": measures.Bpref}
    answered &= set(judged["query"])
    assert_equal(*compared(bpref, TREC, data=joined(run, judged)))
    # Of what is cut, another of its tools breaks ties by the name of the document, the first one
    # first.
    cut = {f"reciprocal_rank@{k}": measures.RR @ k for k in KS}
    assert_equal(*compared(cut, TREC | {"tie_break_descending": False}))
    if ties:
        with pytest.raises(AssertionError):
            assert_equal(*compared(cut, TREC))


# Spark
# ------------------------------------------------------------------------------------------------


# ranx
# ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # numba compiles, and warns of what it finds in ranx
def test_ranx():
    ranx = pytest.importorskip("ranx")
    run, judgments = search(60, ties=False)
    judgments = judgments.filter(pl.col("relevance") >= 0)
    run = run.join(judgments, on="query", how="semi")
    judgments = judgments.join(run, on="query", how="semi")
    both = joined(run, judgments)
    names = {
        "reciprocal_rank": "mrr",
        "reciprocal_rank@3": "mrr@3",
        **{f"success@{k}": f"hit_rate@{k}" for k in (1, 5)},
        "tp@5": "hits@5",
    }
    gained = {"ndcg": "ndcg", "ndcg@5": "ndcg@5", "dcg": "dcg", "dcg@5": "dcg@5"}
    burges = {"ndcg": "ndcg_burges", "ndcg@5": "ndcg_burges@5"}
    biased = {"rbp0.8": "rbp.80", "rbp0.5": "rbp.50"}

    def means(asked, grades=judgments):
        return ranx.evaluate(
            ranx.Qrels(as_dicts(grades, "relevance")), ranx.Run(as_dicts(run, "score")), asked
        )

    def assert_means(names, grades=judgments, **options):
        theirs = means(list(names.values()), grades)
        given = {"by": "query", "mean_over": "query", "undefined": 0.0}
        ours = both.pr.evaluate(list(names), RELEVANT, "score", **given, **SEARCH, **options)
        for our_name, their_name in names.items():
            assert ours[f"mean_{our_name}"].item() == near(float(theirs[their_name])), our_name

    assert_means(names)
    assert_means(gained, gain=GAIN)
    assert_means(burges, gain=2**GAIN - 1)
    # Its rank-biased precision multiplies a hit by its grade: of grades 0 and 1 it is ours.
    assert_means(biased, judgments.with_columns(pl.col("relevance").clip(upper_bound=1)))
    with pytest.raises(AssertionError):
        assert_means(biased)
    # -l2 asks for a grade of 2, and takes all gain from lower ones.
    theirs = means(["mrr-l2", "ndcg-l2"])
    given = {"by": "query", "mean_over": "query", "undefined": 0.0, **SEARCH}
    gain = pl.when(pl.col("relevance").is_not_null()).then(
        pl.when(pl.col("relevance") >= 2).then("relevance").otherwise(0)
    )
    ours = both.pr.evaluate(
        ["reciprocal_rank", "ndcg"], pl.col("relevance") >= 2, "score", gain=gain, **given
    )
    assert ours["mean_reciprocal_rank"].item() == near(float(theirs["mrr-l2"]))
    assert ours["mean_ndcg"].item() == near(float(theirs["ndcg-l2"]))


# torchmetrics
# ------------------------------------------------------------------------------------------------
