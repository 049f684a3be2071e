"""The recipes of docs/recipes.md, each against the tool itself, or against what it has published."""

import contextlib
import io
import math
import warnings
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from compare import near
from sklearn import metrics as sklearn_metrics

RELEVANT = pl.col("relevance") >= 1
SEARCH = {"unscored": "unretrieved", "unjudged": "negative"}
KS = [1, 3, 10, 40]


def search(queries: int, *, ties: bool, seed: int = 5) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run and graded judgments: of the documents of a query some are retrieved, some judged; not always any."""
    rng = np.random.default_rng(seed)
    run, judgments = [], []
    for query in range(queries):
        size = int(rng.integers(1, 50))
        score = rng.integers(1, 8, size) / 4 if ties else rng.permutation(size) + 0.5
        # Names of different lengths: as text, d10 comes before d9.
        frame = pl.DataFrame({"query": f"q{query}", "document": [f"d{n}" for n in rng.permutation(size)]})
        retrieved, judged = (rng.random(size) < rng.choice([0.0, 0.6, 1.0], p=[0.05, 0.6, 0.35]) for _ in range(2))
        relevance = rng.choice([-1, 0, 1, 2], size, p=[0.1, 0.5, 0.3, 0.1])
        run.append(frame.with_columns(score=score).filter(retrieved))
        judgments.append(frame.with_columns(relevance=relevance).filter(judged))
    return pl.concat(run), pl.concat(judgments).sample(fraction=1, shuffle=True, seed=1)


def joined(run: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
    return run.pr.join_judgments(judgments, on=["query", "document"])


def as_dicts(frame: pl.DataFrame, value: str) -> dict[str, dict[str, float]]:
    """One dict per query, from document to value, in the order of the rows."""
    return {
        query: dict(part.select("document", value).rows())
        for (query,), part in frame.group_by("query", maintain_order=True)
    }


def trec_eval(run: pl.DataFrame, judgments: pl.DataFrame, measures: set[str]) -> dict[str, dict[str, float]]:
    evaluator = pytrec_eval.RelevanceEvaluator(as_dicts(judgments, "relevance"), measures)
    return evaluator.evaluate(as_dicts(run, "score"))


def assert_equal(ours: pl.DataFrame, theirs: dict[str, dict[str, float]], names: dict[str, str], tolerance=1e-12):
    """Their values, of each query that they have, under our names."""
    rows = {row["query"]: row for row in ours.iter_rows(named=True)}
    assert theirs
    for query, values in theirs.items():
        for our_name, their_name in names.items():
            found, expected = rows[query][our_name], values[their_name]
            assert math.isclose(found, expected, rel_tol=0, abs_tol=tolerance), (query, our_name, found, expected)


def test_the_searches_have_all_that_a_search_can_have():
    run, judgments = search(300, ties=True)
    both = joined(run, judgments)
    queries = both.group_by("query").agg(
        pl.col("score", "relevance").is_null().all(),
        unjudged=pl.col("relevance").is_null().any(),
        positives=RELEVANT.sum(),
    )
    assert queries.filter("score").height > 5
    assert queries.filter("relevance").height > 5
    assert queries.filter("unjudged").height > 50
    assert queries.filter((pl.col("positives") == 0) & ~pl.col("relevance")).height > 5
    assert both.filter(pl.col("score").is_null() & RELEVANT).height > 100
    assert both.pr.evaluate("ties", RELEVANT, "score", **SEARCH).item() > 1000


# scikit-learn -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    data = pl.DataFrame(
        {
            "label": rng.choice(["ham", "spam"], 60),
            "score": rng.integers(0, 12, 60) / 4,
            "weight": rng.choice([0.0, 0.5, 1.25, 3.0], 60),
        }
    )
    label, score, weight = (data[name].to_numpy() for name in data.columns)
    expected = sklearn_metrics.average_precision_score(label, score, pos_label="spam", sample_weight=weight)
    found = data.pr.average_precision("label", "score", positive="spam", weight="weight").item()
    assert found == near(float(expected))
    curve = data.pr.curve("label", "score", positive="spam")
    precision, recall, _ = sklearn_metrics.precision_recall_curve(label, score, pos_label="spam")
    assert [*curve["precision"].reverse(), 1.0] == pytest.approx(precision)
    assert [*curve["recall"].reverse(), 0.0] == pytest.approx(recall)


def test_scikit_learn_without_positives():
    with pytest.warns(UserWarning, match="No positive"):
        expected = sklearn_metrics.average_precision_score([0, 0], [0.5, 0.25])
    data = pl.DataFrame({"label": [0, 0], "score": [0.5, 0.25]})
    assert data.pr.average_precision("label", "score", undefined=0.0).item() == expected == 0


# trec_eval ----------------------------------------------------------------------------------------------------------

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
    ours = joined(run, judgments).pr.evaluate(list(TREC_NAMES), RELEVANT, "score", by="query", **TREC)
    assert_equal(ours, theirs, TREC_NAMES)
    if ties:
        without = {name: value for name, value in TREC.items() if name != "tie_break"}
        other = joined(run, judgments).pr.average_precision(RELEVANT, "score", by="query", **without)
        with pytest.raises(AssertionError):
            assert_equal(other, theirs, {"average_precision": "map"})


def test_trec_eval_keeps_scores_in_32_bits():
    run = pl.DataFrame({"query": "q", "document": ["a", "b"], "score": [1 + 2e-10, 1 + 1e-10]})
    judgments = pl.DataFrame({"query": ["q"], "document": ["a"], "relevance": [1]})
    assert trec_eval(run, judgments, {"map"})["q"]["map"] == 0.5
    both = joined(run, judgments)
    assert both.pr.average_precision(RELEVANT, "score", **SEARCH).item() == 1
    single = pl.col("score").cast(pl.Float32)
    assert both.pr.average_precision(RELEVANT, single, tie_break="document", **SEARCH).item() == 0.5


def test_means_of_trec_eval():
    run, judgments = search(300, ties=True)
    theirs = [one["map"] for one in trec_eval(run, judgments, {"map"}).values()]
    judged = joined(run, judgments).filter(pl.col("relevance").is_not_null().any().over("query"))
    answered = judged.filter(pl.col("score").is_not_null().any().over("query"))
    asked = judgments["query"].n_unique()
    assert len(theirs) < asked
    # With -c the sum is over all judged queries.
    for frame, count in ((answered, len(theirs)), (judged, asked)):
        mean = frame.pr.evaluate("average_precision", RELEVANT, "score", by="query", mean_over="query", **TREC)
        assert mean["groups"].item() == count
        assert mean["mean_average_precision"].item() == near(sum(theirs) / count)


def test_recall_levels_of_trec_eval():
    run, judgments = search(400, ties=True)
    run = run.join(judgments, on="query", how="semi")
    levels = [f"0.{i}" for i in range(10)] + ["1.0"]
    names = {level: f"iprec_at_recall_{float(level):.2f}" for level in levels}
    theirs = trec_eval(run, judgments, {f"iprec_at_recall.{','.join(levels)}", "num_rel"})
    both = joined(run, judgments)
    exact = both.pr.evaluate(
        [*(f"interpolated_precision@recall={level}" for level in levels), "positives"],
        RELEVANT,
        "score",
        by="query",
        **TREC,
    )
    rounded = 0
    for row in exact.filter(pl.col("query").is_in(list(theirs))).iter_rows(named=True):
        for level, name in names.items():
            positives, value = row["positives"], theirs[row["query"]][name]
            hits = int(float(level) * positives + 0.9)  # what it asks for
            if hits == math.ceil(Fraction(level) * positives):
                assert row[f"interpolated_precision@recall={level}"] == near(value), (row["query"], level)
            else:
                # Any recall above that of one hit less gives its number.
                asked = f"interpolated_precision@recall={(hits - 0.5) / positives}"
                query = both.filter(query=row["query"])
                assert query.pr.evaluate(asked, RELEVANT, "score", **TREC).item() == near(value), (row["query"], level)
                rounded += 1
    assert 5 < rounded < 0.1 * exact.height * len(levels)


def set_figures(run: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
    retrieved = joined(run, judgments).with_columns(retrieved=pl.col("score").is_not_null())
    table = retrieved.pr.confusion(RELEVANT, prediction="retrieved", by="query", unjudged="negative", undefined=0.0)
    return table.with_columns(set_map=pl.col("precision") * pl.col("recall"))


def test_sets_of_trec_eval():
    run, judgments = search(300, ties=True)
    names = {"precision": "set_P", "recall": "set_recall", "f1": "set_F", "set_map": "set_map"}
    assert_equal(set_figures(run, judgments), trec_eval(run, judgments, set(names.values())), names)


# ir_measures --------------------------------------------------------------------------------------------------------


def test_ir_measures():
    measures = pytest.importorskip("ir_measures")
    run, judgments = search(100, ties=True)
    # Our beta is 2, 1/2 and 1; its beta is 4, 1/4 and 1.
    asked = {
        "precision": measures.SetP,
        "recall": measures.SetR,
        "f1": measures.SetF,
        "f2": measures.SetF(beta=4.0),
        "f0.5": measures.SetF(beta=0.25),
        "set_map": measures.SetAP,
    }
    theirs: dict[str, dict[str, float]] = {}
    qrels = [measures.Qrel(*row) for row in judgments.rows()]
    for one in measures.iter_calc(list(asked.values()), qrels, [measures.ScoredDoc(*row) for row in run.rows()]):
        theirs.setdefault(one.query_id, {})[str(one.measure)] = one.value
    table = set_figures(run, judgments)
    flags = pl.col("score").is_not_null().cast(pl.Int8)
    names = ["f2@threshold=1", "f0.5@threshold=1"]
    policies = {"unjudged": "negative", "undefined": 0.0}
    figures = joined(run, judgments).pr.evaluate(names, RELEVANT, flags, by="query", **policies)
    table = table.join(figures.rename(lambda name: name.removesuffix("@threshold=1")), on="query")
    answered = {query: values for query, values in theirs.items() if query in run["query"]}
    assert_equal(table, answered, {name: str(measure) for name, measure in asked.items()})
    with pytest.raises(AssertionError):
        assert_equal(table, answered, {"f2": str(asked["f0.5"])})


# ranx ---------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # numba compiles, and warns of what it finds in ranx
def test_ranx():
    ranx = pytest.importorskip("ranx")
    run, judgments = search(60, ties=False)
    names = {
        "average_precision": "map",
        "average_precision@5/positives": "map@5",
        "precision@5": "precision@5",
        "recall@5": "recall@5",
        "f1@5": "f1@5",
        "r_precision": "r-precision",
    }
    qrels = ranx.Qrels(as_dicts(judgments, "relevance"))
    found = ranx.Run(as_dicts(run, "score"))
    means = ranx.evaluate(qrels, found, list(names.values()), make_comparable=True)
    judged = joined(run, judgments).filter(pl.col("relevance").is_not_null().any().over("query"))
    ours = judged.pr.evaluate(list(names), RELEVANT, "score", by="query", mean_over="query", undefined=0.0, **SEARCH)
    for our_name, their_name in names.items():
        assert ours[f"mean_{our_name}"].item() == near(float(means[their_name])), our_name


# torchmetrics -------------------------------------------------------------------------------------------------------


def test_torchmetrics():
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        retrieval = pytest.importorskip("torchmetrics.functional.retrieval")
        classification = pytest.importorskip("torchmetrics.functional.classification")
    rng = np.random.default_rng(2)
    parts = []
    for group in range(60):
        size = int(rng.integers(1, 30))
        truth = rng.random(size) < rng.choice([0.0, 0.3, 0.9])
        parts.append(pl.DataFrame({"query": group, "truth": truth, "score": rng.permutation(size) / 32 + 0.5}))
    data = pl.concat(parts)
    names = {
        "average_precision": lambda score, truth: retrieval.retrieval_average_precision(score, truth),
        "average_precision@5/hits": lambda score, truth: retrieval.retrieval_average_precision(score, truth, top_k=5),
        "precision@5": lambda score, truth: retrieval.retrieval_precision(score, truth, top_k=5),
        "recall@5": lambda score, truth: retrieval.retrieval_recall(score, truth, top_k=5),
        "r_precision": lambda score, truth: retrieval.retrieval_r_precision(score, truth),
    }
    ours = data.pr.evaluate(list(names), "truth", "score", by="query", undefined=0.0)
    theirs = {}
    for (query,), part in data.group_by("query"):
        score, truth = torch.tensor(part["score"].to_list()), torch.tensor(part["truth"].to_list())
        theirs[query] = {name: measure(score, truth).item() for name, measure in names.items()}
    assert_equal(ours, theirs, {name: name for name in names}, tolerance=1e-6)
    # The divisor is the hits: not min(k, P).
    least = data.pr.average_precision_at_k("truth", "score", k=5, by="query", undefined=0.0)
    with pytest.raises(AssertionError):
        assert_equal(least, theirs, {"average_precision@5": "average_precision@5/hits"}, tolerance=1e-6)
    # A score of 0 or less is never a hit: the second of the two hits is lost. With 3 added, AP is (1 + 2/3) / 2.
    score, truth = torch.tensor([2.0, 1.0, -1.0]), torch.tensor([1, 0, 1])
    assert retrieval.retrieval_average_precision(score, truth).item() == 1
    assert retrieval.retrieval_average_precision(score + 3, truth).item() == pytest.approx(5 / 6)
    # The classification metric takes tied scores together, as we do.
    tied = pl.DataFrame({"truth": rng.random(200) < 0.3, "score": rng.integers(0, 9, 200) / 8})
    score, truth = torch.tensor(tied["score"].to_list()), torch.tensor(tied["truth"].to_list())
    expected = classification.binary_average_precision(score, truth.int()).item()
    assert tied.pr.average_precision("truth", "score").item() == pytest.approx(expected, abs=1e-6)


# Spark --------------------------------------------------------------------------------------------------------------


def test_spark():
    # The example of pyspark.mllib.evaluation.RankingMetrics, whose documentation prints these digits.
    published = {
        "precision@1": "0.33",
        "precision@5": "0.26",
        "precision@15": "0.17",
        "average_precision": "0.35",
        "average_precision@1": "0.3333333333333333",
        "average_precision@2": "0.25",
        "recall@1": "0.06",
        "recall@5": "0.35",
        "recall@15": "0.66",
    }
    predictions = [[1, 6, 2, 7, 8, 3, 9, 10, 4, 5], [4, 1, 5, 6, 2, 7, 3, 8, 9, 10], [1, 2, 3, 4, 5]]
    relevant = {0: [1, 2, 3, 4, 5], 1: [1, 2, 3]}
    run = pl.DataFrame(
        [{"query": q, "id": d, "rank": r} for q, ids in enumerate(predictions) for r, d in enumerate(ids)]
    )
    judgments = pl.DataFrame([{"query": q, "id": d, "relevant": True} for q, ids in relevant.items() for d in ids])
    both = run.pr.join_judgments(judgments, on=["query", "id"])
    policies = {"undefined": 0.0, "unjudged": "negative"}
    means = both.pr.evaluate(list(published), "relevant", -pl.col("rank"), by="query", mean_over="query", **policies)
    for name, digits in published.items():
        assert str(means[f"mean_{name}"].item()).startswith(digits), name
    # By hand: of five relevant ones the ranks 1, 3, 6, 9, 10; of three 2, 5, 7; and a query without any.
    first = sum(Fraction(i, rank) for i, rank in enumerate([1, 3, 6, 9, 10], 1)) / 5
    second = sum(Fraction(i, rank) for i, rank in enumerate([2, 5, 7], 1)) / 3
    assert means["mean_average_precision"].item() == near((first + second) / 3)


# object detection ---------------------------------------------------------------------------------------------------

# Padilla's table of 24 detections, the hits by rank; 15 objects.
HITS = {1, 3, 10, 12, 13, 14, 23}
CONFIDENCE = [95, 95, 91, 88, 84, 80, 78, 74, 71, 70, 67, 62, 54, 48, 45, 45, 44, 44, 43, 38, 35, 23, 18, 14]
DETECTIONS = pl.DataFrame({"confidence": CONFIDENCE, "hit": [i in HITS for i in range(1, 25)]}).with_columns(objects=15)
INTERPOLATED = ["interpolated_average_precision", "interpolated_average_precision_11"]


@pytest.mark.parametrize("unfound", ["positives", "rows"])
def test_padilla(unfound):
    # 1/15 * 1 + 1/15 * 2/3 + 4/15 * 3/7 + 1/15 * 7/23, and (1 + 2/3 + 3 * 3/7) / 11: levels 0, .1, and .2 to .4.
    if unfound == "rows":
        lost = pl.DataFrame({"confidence": [None] * 8, "hit": True, "objects": 15}, schema=DETECTIONS.schema)
        frame, policies = pl.concat([DETECTIONS, lost]), {"unscored": "unretrieved"}
    else:
        frame, policies = DETECTIONS, {"positives": "objects"}
    in_order = frame.pr.evaluate(INTERPOLATED, "hit", "confidence", ties="order", **policies).row(0)
    assert in_order == (
        near(Fraction(1, 15) * (1 + Fraction(2, 3) + 4 * Fraction(3, 7) + Fraction(7, 23))),
        near((1 + Fraction(2, 3) + 3 * Fraction(3, 7)) / 11),
    )
    # As printed there, his terms rounded: 24.56 and 26.84 percent.
    assert in_order == (pytest.approx(0.2456, abs=2e-4), pytest.approx(0.2684, abs=2e-4))
    # The first two are one threshold, of precision 1/2: the envelope begins with 2/3.
    by_threshold = frame.pr.evaluate(INTERPOLATED, "hit", "confidence", **policies).row(0)
    assert by_threshold == (
        near(Fraction(1, 15) * (2 * Fraction(2, 3) + 4 * Fraction(3, 7) + Fraction(7, 23))),
        near((2 * Fraction(2, 3) + 3 * Fraction(3, 7)) / 11),
    )
    # The tied hit is first or second: (1 + 1/2) / 2 of it; the precisions of the others.
    others = sum(Fraction(i, rank) for i, rank in enumerate(sorted(HITS)[1:], 2))
    expected = frame.pr.average_precision("hit", "confidence", ties="expected", **policies).item()
    assert expected == near((Fraction(3, 4) + others) / 15)


def voc(hits: np.ndarray, objects: int, levels: np.ndarray | None) -> float:
    """The development kits: `VOCevaldet` of 2007 with recall levels, of 2010 without."""
    tp = np.cumsum(hits)
    recall, precision = tp / objects, tp / np.arange(1, len(hits) + 1)
    if levels is not None:
        return sum(precision[recall >= level].max(initial=0) for level in levels) / len(levels)
    recall, precision = np.array([0, *recall, 1]), np.array([0, *precision, 0])
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    return float(((recall[1:] - recall[:-1]) * envelope[1:]).sum())


def detected(seed: int, classes: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Detections of several classes, many of equal confidence, and how many objects there are of each class."""
    rng = np.random.default_rng(seed)
    parts, objects = [], []
    for name in range(classes):
        size = int(rng.integers(1, 90))
        hit = rng.random(size) < rng.choice([0.2, 0.8])
        parts.append(pl.DataFrame({"class": name, "confidence": rng.integers(1, 40, size) / 40, "hit": hit}))
        objects.append((name, int(hit.sum() + rng.integers(1, 20))))
    return pl.concat(parts), pl.DataFrame(objects, schema=["class", "objects"], orient="row")


def test_voc():
    frame, objects = detected(seed=4, classes=200)
    names = {"interpolated_average_precision": None, "interpolated_average_precision_11": np.arange(11) / 10}
    found = frame.pr.evaluate(list(names), "hit", "confidence", by="class", ties="order", positives=objects)
    assert found.height == 200
    for (name, count), values in zip(objects.rows(), found.rows(), strict=True):
        part = frame.filter(pl.col("class") == name)
        hits = part["hit"].to_numpy()[np.argsort(-part["confidence"].to_numpy(), kind="stable")]
        assert values == (name, *(near(voc(hits, count, levels)) for levels in names.values()))


def test_recall_levels_of_voc_in_floats():
    # Three hits first, of ten objects: the levels 0, .1, .2 and .3. np.arange(0, 1.1, .1)[3] is above 3/10.
    frame = pl.DataFrame({"hit": [1, 1, 1], "confidence": [3, 2, 1], "objects": 10})
    found = frame.pr.interpolated_average_precision("hit", "confidence", points=11, positives="objects").item()
    assert found == near(Fraction(4, 11))
    assert voc(np.ones(3), 10, np.arange(0, 1.1, 0.1)) == near(Fraction(3, 11))


def coco(hits: np.ndarray, objects: int) -> float:
    """COCOeval of one class, on images of one object or none: a detection of it, or of nothing, each."""
    api = pytest.importorskip("pycocotools.coco")
    evaluation = pytest.importorskip("pycocotools.cocoeval")
    images = [{"id": i} for i in range(1, max(len(hits), objects) + len(hits) + 1)]
    on = np.zeros(len(hits), dtype=int)
    on[hits] = np.arange(1, hits.sum() + 1)
    on[~hits] = np.arange(len(images) - (~hits).sum(), len(images)) + 1
    box = {"category_id": 1, "bbox": [0, 0, 10, 10], "area": 100}
    truth = api.COCO()
    truth.dataset = {
        "images": images,
        "categories": [{"id": 1}],
        "annotations": [{"id": i, "image_id": i, "iscrowd": 0, **box} for i in range(1, objects + 1)],
    }
    found = api.COCO()
    found.dataset = {
        **truth.dataset,
        "annotations": [
            # Scores fall with the rank: no ties.
            {"id": i + 1, "image_id": int(image), "score": 1 - i / 1000, "iscrowd": 0, **box}
            for i, image in enumerate(on)
        ],
    }
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        found.createIndex()
        run = evaluation.COCOeval(truth, found, "bbox")
        run.evaluate()
        run.accumulate()
    return float(run.eval["precision"][0, :, 0, 0, -1].mean())


def coco_loses(objects: int, hits: int) -> set[int]:
    """The levels, in hundredths, that so many hits reach, but not in the floats of COCO."""
    levels = np.linspace(0, 1, 101)
    return {i for n in range(1, hits + 1) for i in range(101) if 100 * n == i * objects and n / objects < levels[i]}


def test_coco():
    frame, objects = detected(seed=6, classes=30)
    frame = frame.with_columns(score=-pl.int_range(pl.len()).over("class"))  # no ties, and the order of the rows
    found = frame.pr.interpolated_average_precision("hit", "score", points=101, by="class", positives=objects)
    compared = 0
    for name, value in found.rows():
        hits = frame.filter(pl.col("class") == name)["hit"].to_numpy()
        count = objects.filter(pl.col("class") == name)["objects"].item()
        if not coco_loses(count, hits.sum()):
            # It adds 2e-16 to every denominator.
            assert math.isclose(value, coco(hits, count), rel_tol=0, abs_tol=1e-12), name
            compared += 1
    assert compared > 20


def test_recall_levels_of_coco_in_floats():
    # 57 hits first, of 100 objects: the levels 0 to .57. np.linspace(0, 1, 101)[57] is .5700000000000001.
    assert 57 in coco_loses(100, 57)
    frame = pl.DataFrame({"hit": [1] * 57, "score": range(57, 0, -1), "objects": 100})
    found = frame.pr.interpolated_average_precision("hit", "score", points=101, positives="objects").item()
    assert found == near(Fraction(58, 101))
    assert coco(np.ones(57, dtype=bool), 100) == near(Fraction(57, 101))


# yardstick ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "prob", "threshold", "recall", "precision", "pr_auc"),
    # From its tests of pr_curve and pr_auc.
    [
        ("xxyy", [0.9, 0.8, 0.4, 0.3], [0.9, 0.8, 0.4, 0.3], [1 / 2, 1, 1, 1], [1, 1, 2 / 3, 1 / 2], 1),
        ("xxyy", [0.9, 0.8, 0.3, 0.3], [0.9, 0.8, 0.3], [1 / 2, 1, 1], [1, 1, 1 / 2], 1),
        ("xxyy", [0.9, 0.9, 0.4, 0.3], [0.9, 0.4, 0.3], [1, 1, 1], [1, 2 / 3, 1 / 2], 1),
        (
            "xyyxx",
            [0.9, 0.9, 0.8, 0.4, 0.3],
            [0.9, 0.8, 0.4, 0.3],
            [1 / 3, 1 / 3, 2 / 3, 1],
            [1 / 2, 1 / 3, 1 / 2, 3 / 5],
            0.572222222222222,
        ),
    ],
    ids=["separated", "tied last", "tied first", "both classes tied"],
)
def test_yardstick(truth, prob, threshold, recall, precision, pr_auc):
    data = pl.DataFrame({"truth": list(truth), "prob": prob})
    curve = data.pr.curve("truth", "prob", positive="x")
    assert curve["threshold"].to_list() == threshold
    assert curve["recall"].to_list() == pytest.approx(recall)
    assert curve["precision"].to_list() == pytest.approx(precision)
    # Its curve begins at recall 0 and precision 1, and pr_auc is the area below straight lines.
    before = pl.col("precision").shift(1, fill_value=1.0)
    area = curve.select((pl.col("recall_step") * (pl.col("precision") + before) / 2).sum()).item()
    assert area == pytest.approx(pr_auc)
    # average_precision is the area below the steps to these points.
    steps = np.diff([0, *recall]) @ np.array(precision)
    assert data.pr.average_precision("truth", "prob", positive="x").item() == pytest.approx(steps)


def test_yardstick_without_events():
    # From its tests of average_precision: one row, "a" is the event; 1 where it is one, NaN where it is not.
    events = pl.DataFrame({"truth": [True, False], "case": ["a", "b"], "prob": [0.9, 0.9]})
    found = events.pr.average_precision("truth", "prob", by="case", undefined=math.nan)["average_precision"]
    assert found[0] == 1
    assert math.isnan(found[1])
