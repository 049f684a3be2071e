"""A name of every metric, one call of every public function, and rows that every call takes."""

import polars as pl
import pytest

from frame_pr.metrics import goals, rates

COUNTS = [*rates.COUNTS]
CONFUSION = [*rates.CONFUSION]
RATES = [name for name in rates.RATES if name not in COUNTS]
FIGURES = [*COUNTS, *RATES]

CUTS = ["1", "3", "10", "threshold=0", "threshold=0.5", "threshold=-inf", "threshold=1e300"]
CUTS += ["recall=0", "recall=0.3", "recall=0.8", "recall=1", "20%", "100%", "0.1%"]
CUTS += ["precision=0.1", "precision=0.6", "precision=1", "fpr=0", "fpr=0.3", "fpr=1"]
CUTS += ["specificity=0.1", "specificity=0.7", "specificity=1", "npv=0.3", "npv=0.8", "npv=1"]

TOTALS = ["rows", "positives", "prevalence", "tied_rows"]
TOTALS += ["mean_score", "mean_score@3", "mean_score@20%"]
AREAS = ["average_precision", "average_precision_lift", "interpolated_average_precision"]
AREAS += ["interpolated_average_precision_11", "interpolated_average_precision_101", "r_precision"]
AT_K = [f"recall@{cut}/min" for cut in ("1", "3", "10", "20%")]
AT_K += [
    f"average_precision@{k}{divisor}" for k in (1, 3, 10) for divisor in ("", "/positives", "/hits")
]
BEST = [f"{head}max_f{beta}" for beta in ("1", "0.5", "2") for head in ("", "threshold@")]
AT_RECALL = [
    f"{head}@recall={r}"
    for head in ("threshold", "interpolated_precision")
    for r in ("0", "0.3", "0.8", "1")
]
AT_CUT = [f"{figure}@{cut}" for figure in (*FIGURES, "f0.5", "f2", "cost3") for cut in CUTS]

AT_LIMIT = [
    f"threshold@{limit}"
    for limit in ("precision=0.1", "precision=0.6", "precision=1", "fpr=0", "fpr=0.3")
]
AT_LIMIT += [
    "threshold@specificity=0.7",
    "threshold@specificity=1",
    "threshold@npv=0.8",
    "threshold@npv=1",
]
RANKS = [
    f"{head}{at}"
    for head in ("reciprocal_rank", "dcg", "ndcg")
    for at in ("", "@1", "@3", "@10", "@20%")
]
RANKS += [
    "success@1",
    "success@3",
    "success@10",
    "success@20%",
    "judged@1",
    "judged@3",
    "judged@10",
    "judged@20%",
]
RANKS += ["bpref", "rbp0.5", "rbp0.8", "rbp0.95"]
RANKS += [f"captured_gain@{k}" for k in ("1", "3", "10", "20%")]
RANKS += ["first_rank", "mean_rank", *(f"threshold@{k}" for k in ("1", "3", "10", "20%", "100%"))]
ROC = [
    "equal_error_rate",
    "threshold@equal_error_rate",
    "roc_auc",
    "roc_auc@fpr=0.1",
    "roc_auc@fpr=0.35",
    "roc_auc@fpr=1",
]
CHANCE = ["chance_average_precision", "normalized_average_precision", "average_precision@20%"]
BEST_RATES = [f"max_{name}" for name in goals.BEST]
BEST += [
    f"{at}{head}"
    for head in (*BEST_RATES, "min_cost1", "min_cost3", "min_cost0.3")
    for at in ("", "threshold@")
]
LIMITS = ["recall=0.6", "recall=0", "npv=0.5", "precision=0.6", "fpr=0.3", "specificity=0.7"]
GOALS = ["max_f1", "max_f2", "min_cost3", "min_cost0.3", *BEST_RATES]
AT_GOALS = [
    *(f"{rate}@{goal}" for rate in ("precision", "fn", "selection_rate") for goal in GOALS),
    *(f"{head}{goal}@{limit}" for head in ("", "threshold@") for goal in GOALS for limit in LIMITS),
    *(f"recall@{goal}@{LIMITS[i % 6]}" for i, goal in enumerate(GOALS)),
    *(f"{rate}@threshold@{k}" for rate in ("tp", "recall", "mcc") for k in ("1", "3", "50%")),
]
BENEFITS = [
    f"{at}net_benefit@threshold={t}"
    for at in ("", "standardized_")
    for t in ("0", "0.2", "0.5", "0.999")
]

NAMES = [
    *TOTALS,
    *AREAS,
    *ROC,
    *RANKS,
    *CHANCE,
    *AT_K,
    *BEST,
    *AT_RECALL,
    *AT_LIMIT,
    *AT_GOALS,
    *BENEFITS,
    *AT_CUT,
]

# Of these, scores must be probabilities.
PROBABILITIES = ["brier_score", "log_loss"]

GOOD = pl.DataFrame(
    {
        "query": ["a", "a", "a", "b", "b"],
        "relevant": [1, 0, 1, 0, 1],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5],
        "predicted": [1, 1, 0, 0, 1],
        "label": ["yes", "no", "yes", "no", "yes"],
    }
)
# Of the columns `relevant`, `score` and, for classes, `predicted`.
CALLS = [
    ("average_precision", {}),
    ("interpolated_average_precision", {}),
    ("interpolated_average_precision", {"points": 11}),
    ("average_precision_at_k", {"k": [1, 3]}),
    ("average_precision_at_k", {"k": 3, "divisor": "positives"}),
    ("average_precision_at_k", {"k": 3, "divisor": "hits"}),
    ("precision_at_k", {"k": [1, 3]}),
    ("recall_at_k", {"k": 3}),
    ("roc_auc", {}),
    ("ndcg", {}),
    ("ndcg", {"k": [1, 3]}),
    ("f_beta", {}),
    ("f_beta", {"threshold": 0.5}),
    ("f_beta", {"k": 3, "beta": 2}),
    ("confusion", {"threshold": 0.5}),
    ("confusion", {"k": 3}),
    ("gains_table", {"bins": 4}),
    ("confusion", {"score": None, "prediction": "predicted"}),
    ("curve", {}),
    ("curve", {"rates": ["mcc", "f2"]}),
    ("with_curve", {}),
    ("tally", {}),
    ("tally", {"bins": [-100, -1.5, 0.75]}),
    ("evaluate", {"metrics": ["rows", "average_precision", "threshold@max_f2", "k@recall=0.5"]}),
    ("with_metrics", {"metrics": ["positives", "average_precision"]}),
    ("report", {"wide": True}),
    ("report", {"threshold": 0.5, "wide": True}),
    ("intervals", {"metrics": "average_precision"}),
]
CALL_IDS = [
    f"{name}({', '.join(f'{key}={value}' for key, value in given.items())})"
    for name, given in CALLS
]
# As parameters: `make check` has one call of each function.
CALL_CASES = [
    pytest.param(
        *case, id=CALL_IDS[place], marks=[pytest.mark.slow] * (case[0] in dict(CALLS[:place]))
    )
    for place, case in enumerate(CALLS)
]


def call(frame, function, **given):
    """`frame.pr.function(...)` on the columns that these tests name alike."""
    return getattr(frame.pr, function)(**{"truth": "relevant", "score": "score"} | given)
