"""Compute what other people's code computes, with frame_pr, and compare values and CPU time.

Usage: python examples/instead_of.py [mteb] [pheval] [loop] [--write]. `mteb` needs `pip install
mteb`, `pheval` needs `pip install pheval`, and `loop` needs scikit-learn. `--write` puts the tables
into the pages docs/instead-of-*.md.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import frame_pr as fp

DOCS = Path(__file__).parents[1] / "docs"
REPEATS = 3
CUTOFFS = (10, 100)

Rows = list[tuple[str, float, float]]
"""Names of values, with theirs and ours."""


def cpu_seconds(call: Callable[[], Any]) -> float:
    """The CPU time of all threads, the least of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


# MTEB: retrieval metrics of 1,000 queries with 100 documents each
# --------------------------------------------------------------------------------------------


def retrieval_run(queries: int = 1_000, documents: int = 100) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run with tied scores, and grades of 20 documents for each query."""
    rng = np.random.default_rng(0)
    size = queries * documents
    query = np.repeat(np.arange(queries), documents)
    document = np.concatenate([rng.permutation(5_000)[:documents] for _ in range(queries)])
    grade = rng.choice([0, 1, 2], size, p=[0.9, 0.07, 0.03])
    score = np.round(grade + rng.normal(size=size), 2).astype(np.float32)
    rows = pl.DataFrame({"query": query, "document": document, "score": score, "grade": grade})
    rows = rows.with_columns(pl.format("q{}", "query"), pl.format("d{}", "document"))
    judged = rows.filter((pl.col("grade") > 0) | (pl.col("document").hash(1) % 9 == 0))
    judgments = judged.select("query", "document", relevance="grade")
    return rows.drop("grade"), judgments


def as_dicts(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    dicts: dict[str, dict[str, Any]] = {}
    for query, document, number in frame.select("query", "document", value).iter_rows():
        dicts.setdefault(query, {})[document] = number
    return dicts


def metric_names() -> dict[str, str]:
    """Our names, by the names that MTEB's result has."""
    names = {}
    for k in CUTOFFS:
        names[f"NDCG@{k}"] = f"ndcg@{k}"
        names[f"MAP@{k}"] = f"average_precision@{k}/positives"
        names[f"Recall@{k}"] = f"recall@{k}"
        names[f"P@{k}"] = f"precision@{k}"
        names[f"MRR@{k}"] = f"reciprocal_rank@{k}"
    return names


def evaluate_run(run: pl.DataFrame, judgments: pl.DataFrame) -> dict[str, float]:
    """The metrics of MTEB in one call, and their means over the queries."""
    joined = run.pr.join_judgments(judgments, on=["query", "document"])
    means = joined.pr.evaluate(
        metric_names(),
        pl.col("relevance") >= 1,
        "score",
        gain="relevance",
        mean_over="query",
        **fp.TREC_EVAL,
    )
    return means.row(0, named=True)


def compare_mteb() -> tuple[Rows, float, float]:
    from mteb._evaluators import retrieval_metrics as mteb

    run, judgments = retrieval_run()
    results, qrels = as_dicts(run, "score"), as_dicts(judgments, "relevance")

    def theirs() -> Any:
        return mteb.calculate_retrieval_scores(results, qrels, CUTOFFS)

    def ours() -> dict[str, float]:
        return evaluate_run(run, judgments)

    scores = theirs()
    by_name = {**scores.ndcg, **scores.map, **scores.recall, **scores.precision, **scores.mrr}
    mine = ours()
    rows = [(name, by_name[name], mine[name]) for name in metric_names()]
    return rows, cpu_seconds(theirs), cpu_seconds(ours)


# pheval: ranks of the right gene or disease in 2,000 cases
# --------------------------------------------------------------------------------------------


def ranked_cases(cases: int = 2_000, ranks: int = 10) -> pl.DataFrame:
    """Candidates of each case with their rank. A right one that was not found has the rank 0."""
    rng = np.random.default_rng(0)
    frames = []
    for case in range(cases):
        right = rng.permutation(ranks)[: rng.integers(1, 3)] + 1
        candidates = np.arange(1, ranks + 1)
        frames.append(
            pl.DataFrame(
                {
                    "file_path": f"case-{case}",
                    "rank": candidates,
                    "true_positive": np.isin(candidates, right),
                }
            )
        )
        if rng.random() < 0.3:
            missed = {"file_path": [f"case-{case}"], "rank": [0], "true_positive": [True]}
            frames.append(pl.DataFrame(missed))
    return pl.concat(frames)


def evaluate_cases(cases: pl.DataFrame) -> dict[str, float]:
    """The rank statistics of pheval, as their docstrings define them."""
    names = {f"MAP@{k}": f"average_precision@{k}" for k in (1, 3, 5, 10)}
    names |= {f"NDCG@{k}": f"ndcg@{k}" for k in (3, 5, 10)}
    names |= {f"precision@{k}": f"precision@{k}" for k in (1, 3, 5, 10)}
    score = pl.when(pl.col("rank") > 0).then(-pl.col("rank"))
    means = cases.pr.evaluate(
        names,
        "true_positive",
        score,
        mean_over="file_path",
        unscored="unretrieved",
    )
    return means.row(0, named=True)


def compare_pheval() -> tuple[Rows, float, float]:
    from pheval.analyse.rank_stats import compute_rank_stats

    cases = ranked_cases()

    def theirs() -> dict[str, float]:
        return compute_rank_stats("run", cases.lazy()).collect().row(0, named=True)

    def ours() -> dict[str, float]:
        return evaluate_cases(cases)

    their_values = theirs()
    rows = [
        (name, their_values[name], value) for name, value in ours().items() if name in their_values
    ]
    return rows, cpu_seconds(theirs), cpu_seconds(ours)


# A loop over 2,000 segments with scikit-learn
# --------------------------------------------------------------------------------------------


def scored_segments(segments: int = 2_000, rows: int = 50) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    size = segments * rows
    label = rng.random(size) < 0.3
    return pl.DataFrame(
        {
            "segment": np.repeat(np.arange(segments), rows),
            "label": label,
            "score": np.round(label + rng.normal(size=size), 2),
        }
    )


def loop_over_segments(frame: pl.DataFrame) -> pl.DataFrame:
    from sklearn.metrics import average_precision_score, precision_score, roc_auc_score

    rows = []
    for (segment,), part in frame.group_by("segment", maintain_order=True):
        label, score = part["label"].to_numpy(), part["score"].to_numpy()
        rows.append(
            {
                "segment": segment,
                "average_precision": average_precision_score(label, score),
                "roc_auc": roc_auc_score(label, score),
                "precision@threshold=1": precision_score(label, score >= 1),
            }
        )
    return pl.DataFrame(rows)


def evaluate_segments(frame: pl.DataFrame) -> pl.DataFrame:
    metrics = ["average_precision", "roc_auc", "precision@threshold=1"]
    return frame.pr.evaluate(metrics, "label", "score", by="segment")


def compare_loop() -> tuple[Rows, float, float]:
    frame = scored_segments()
    theirs, ours = loop_over_segments(frame), evaluate_segments(frame)
    names = ours.columns[1:]
    farthest = max((theirs[name] - ours[name]).abs().max() for name in names)
    if farthest > 1e-12:
        raise ValueError(f"values differ by {farthest}")
    rows = [(f"mean of {name}", theirs[name].mean(), ours[name].mean()) for name in names]
    times = (
        cpu_seconds(lambda: loop_over_segments(frame)),
        cpu_seconds(lambda: evaluate_segments(frame)),
    )
    return rows, *times


COMPARISONS = {"mteb": compare_mteb, "pheval": compare_pheval, "loop": compare_loop}
PAGES = {
    "mteb": "instead-of-mteb-metrics.md",
    "pheval": "instead-of-pheval-ranks.md",
    "loop": "instead-of-a-loop.md",
}


def table(rows: Rows, seconds_theirs: float, seconds_ours: float) -> str:
    lines = ["| value | theirs | frame_pr |", "| --- | --: | --: |"]
    lines += [f"| {name} | {theirs:.5f} | {ours:.5f} |" for name, theirs, ours in rows]
    lines.append(f"| CPU time, s | {seconds_theirs:.2f} | {seconds_ours:.2f} |")
    return "\n".join(lines)


def write(page: str, made: str) -> None:
    """Put the table between the marks of the page."""
    path = DOCS / page
    before, _, rest = path.read_text(encoding="utf-8").partition("<!-- values -->\n")
    after = rest.partition("<!-- end of values -->")[2]
    text = f"{before}<!-- values -->\n{made}\n<!-- end of values -->{after}"
    path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*COMPARISONS, []])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.names or COMPARISONS:
        made = table(*COMPARISONS[name]())
        print(f"{name}\n{made}\n")
        if arguments.write:
            write(PAGES[name], made)


if __name__ == "__main__":
    main()
