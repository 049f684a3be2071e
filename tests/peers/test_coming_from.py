"""The tables of docs/migration.md: each row, run by the tool that it names, on many data."""

import math
import re
import warnings
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from searches import RELEVANT, as_dicts, joined, search, trec_eval

PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text(encoding="utf-8")
SECTIONS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])
NOT_RUN = [
    "Implicit",
    "LensKit",
    "RePlay",
    "RecTools",
    "rankerEval",
    "rapidstats",
    "recommenders",
    "yardstick",
]
NAMES = {"math": math, "pl": pl}


def codes(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def arguments(texts: list[str]) -> dict:
    """`name=value` as it would stand in a call."""
    return {name: eval(value, NAMES) for name, value in (text.split("=", 1) for text in texts)}


def rows(tool: str) -> list[tuple[str, str, dict, str]]:
    """Their name, ours, our arguments, and the difference."""
    lines = re.findall(r"^\| (`.*) \| (`.*) \|(.*)\|$", SECTIONS[tool], re.MULTILINE)
    return [
        (codes(theirs)[0], *_ours(codes(ours)), phrase.strip()) for theirs, ours, phrase in lines
    ]


def _ours(texts: list[str]) -> tuple[str, dict]:
    return texts[0], arguments(texts[1:])


def shared(tool: str) -> dict:
    """What the section says of all of its rows: the paragraph that begins "Pass"."""
    (paragraph,) = re.findall(r"(?ms)^Pass (`[^|]*?`)\.\n", SECTIONS[tool])
    return arguments(codes(paragraph))


def of_table(tool: str):
    table = rows(tool)
    return pytest.mark.parametrize(
        ("theirs", "name", "options", "phrase"), table, ids=[row[0] for row in table]
    )


def same(found, expected, tolerance: float) -> bool:
    if found is None or expected is None:
        return found is expected
    return (math.isnan(found) and math.isnan(expected)) or math.isclose(
        found, expected, rel_tol=0, abs_tol=tolerance
    )


def assert_row(compared, phrase: str, tolerance: float = 1e-12) -> None:
    """The two are equal on plain data, and on others only where the page names no difference."""
    for plain in (True, False):
        ours, theirs = compared(plain=plain)
        assert theirs
        other = {
            q: (ours[q], value)
            for q, value in theirs.items()
            if not same(ours[q], value, tolerance)
        }
        if plain or not phrase:
            assert not other
        else:
            assert other, "no difference that these data show"


@pytest.mark.parametrize("tool", NOT_RUN)
def test_our_names_of_tools_that_are_not_run(tool):
    data = pl.DataFrame({"y": [1, 0, 1], "s": [0.9, 0.6, 0.2], "rating": [3, 0, 1]})
    for _, name, options, _ in rows(tool):
        assert data.pr.evaluate(name, "y", "s", **shared(tool), **options).columns == [name]


# scikit-learn and torchmetrics: one group at a time
# ---------------------------------------------------------------


@cache
def segments(*, plain: bool) -> pl.DataFrame:
    rng = np.random.default_rng(23)
    parts = []
    for group in range(25 if plain else 80):
        size = 24 if plain else int(rng.choice([1, 2, 4, 9, 30]))
        s = (
            rng.permutation(size) / 32 + 1 / 8
            if plain or group % 2
            else rng.integers(1, 7, size) / 8
        )
        y = rng.random(size) < (0.4 if plain else rng.choice([0.0, 0.3, 0.6, 1.0]))
        if plain:
            y[:2] = [True, False]
        g = rng.choice([1, 2, 3], size) * y
        parts.append(
            pl.DataFrame(
                {"y": y.astype(int), "s": s, "w": rng.choice([0.5, 1, 2], size), "g": g, "q": group}
            )
        )
    return pl.concat(parts)


def of_segments(theirs, name, options, *, plain):
    data = segments(plain=plain)
    ours = dict(data.pr.evaluate(name, "y", "s", by="q", **options).rows())
    return ours, {q: theirs(part) for (q,), part in data.partition_by("q", as_dict=True).items()}


@of_table("scikit-learn")
def test_scikit_learn(theirs, name, options, phrase):
    from sklearn import metrics

    def value(part):
        known = {column: part[column].to_numpy() for column in part.columns}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it says of one class only
            try:
                return float(eval(theirs, vars(metrics) | known))
            except ValueError:
                return None

    assert_row(partial(of_segments, value, name, options), phrase)


@of_table("torchmetrics")
def test_torchmetrics(theirs, name, options, phrase):
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classification = pytest.importorskip("torchmetrics.functional.classification")
        retrieval = pytest.importorskip("torchmetrics.functional.retrieval")

    def value(part):
        known = {column: torch.tensor(part[column].to_list()) for column in ("y", "s", "g")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(theirs, vars(classification) | vars(retrieval) | known).item()

    assert_row(partial(of_segments, value, name, shared("torchmetrics") | options), phrase, 1e-6)


# The tools of search: runs and judgments
# ----------------------------------------------------------------------------


@cache
def searches(*, plain: bool, ties: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Queries with judgments and results; plain: of each document, grades 0 and 1, no ties."""
    run, judgments = search(250, ties=ties and not plain)
    judgments = judgments.filter(pl.col("relevance") >= 0)
    if plain:
        run = run.join(judgments, on=["query", "document"], how="semi")
        judgments = judgments.join(run, on=["query", "document"], how="semi")
        sorts = [pl.len() >= 20, RELEVANT.sum() > 3, (~RELEVANT).any()]
        kept = judgments.group_by("query").agg(kept=pl.all_horizontal(sorts)).filter("kept")
        judgments = judgments.join(kept, on="query", how="semi").with_columns(
            pl.col("relevance").clip(upper_bound=1)
        )
    run = run.join(judgments, on="query", how="semi")
    return run, judgments.join(run, on="query", how="semi")


def of_searches(theirs, name, options, *, plain, ties=True):
    run, judgments = searches(plain=plain, ties=ties)
    both = joined(run, judgments)
    return dict(both.pr.evaluate(name, RELEVANT, "score", by="query", **options).rows()), theirs(
        run, judgments
    )


@of_table("trec_eval")
def test_trec_eval(theirs, name, options, phrase):
    def values(run, judgments):
        found = trec_eval(run, judgments, {theirs})
        return {query: next(iter(one.values())) for query, one in found.items()}

    assert_row(partial(of_searches, values, name, shared("trec_eval") | options), phrase)


@of_table("ir_measures")
def test_ir_measures(theirs, name, options, phrase):
    measures = pytest.importorskip("ir_measures")

    def values(run, judgments):
        qrels = [measures.Qrel(*row) for row in judgments.rows()]
        docs = [measures.ScoredDoc(*row) for row in run.rows()]
        measure = eval(theirs, vars(measures).copy())
        return {one.query_id: one.value for one in measures.iter_calc([measure], qrels, docs)}

    assert_row(partial(of_searches, values, name, shared("trec_eval") | options), phrase)


@pytest.mark.filterwarnings("ignore")  # numba compiles, and warns of what it finds in ranx
@of_table("ranx")
def test_ranx(theirs, name, options, phrase):
    ranx = pytest.importorskip("ranx")

    def values(run, judgments):
        found = ranx.Run(as_dicts(run, "score"))
        ranx.evaluate(ranx.Qrels(as_dicts(judgments, "relevance")), found, theirs)
        return {query: float(value) for query, value in found.scores[theirs].items()}

    assert_row(partial(of_searches, values, name, shared("ranx") | options, ties=False), phrase)


# RankingMetrics makes the context that Spark has deprecated itself.
OLD_CONTEXT = pytest.mark.filterwarnings("ignore:Deprecated in 3.0.0:FutureWarning")


@OLD_CONTEXT
@pytest.mark.xdist_group("spark")
@of_table("Spark")
def test_spark(spark, theirs, name, options, phrase):
    from pyspark.mllib.evaluation import RankingMetrics

    run, judgments = searches(plain=False, ties=False)
    relevant = judgments.filter(RELEVANT)
    # Those without anything relevant first.
    found = (
        judgments.group_by("query", maintain_order=True)
        .agg(relevant=RELEVANT.sum())
        .sort("relevant")
    )
    queries = [*found["query"][:8], *found["query"][-30:]]
    lists = [
        tuple(
            frame.filter(query=query)["document"].to_list()
            for frame in (run.sort("score", descending=True), relevant)
        )
        for query in queries
    ]
    metrics = RankingMetrics(spark.sparkContext.parallelize(lists, 2))
    assert not phrase
    assert min(len(documents) for _, documents in lists) == 0
    both = joined(run, judgments).filter(pl.col("query").is_in(queries))
    given = {"by": "query", "mean_over": "query", **shared("Spark"), **options}
    ours = both.pr.evaluate(name, RELEVANT, "score", **given)[f"mean_{name}"].item()
    assert ours == pytest.approx(eval(theirs, {"metrics": metrics}), abs=1e-12)


@OLD_CONTEXT
@pytest.mark.xdist_group("spark")
def test_what_the_page_says_of_spark(spark):
    from pyspark.mllib.evaluation import BinaryClassificationMetrics, RankingMetrics

    parallelize = spark.sparkContext.parallelize
    ids, relevant = [1, 2, 3], [1, 3]
    graded = RankingMetrics(parallelize([(ids, relevant, [1.0, 3.0])])).ndcgAt(3)
    assert graded == RankingMetrics(parallelize([(ids, relevant)])).ndcgAt(3)
    for truth, score, area in (
        ([1, 0, 1], [0.5, 0.5, 0.3], 0.25),
        ([1, 1], [0.5, 0.3], 1),
        ([0, 0], [0.5, 0.3], 0),
    ):
        pairs = [(s, float(y)) for y, s in zip(truth, score, strict=True)]
        assert BinaryClassificationMetrics(parallelize(pairs)).areaUnderROC == area
        ours = pl.DataFrame({"y": truth, "s": score}).pr.roc_auc("y", "s").item()
        assert ours == (area if len(set(truth)) == 2 else None)
