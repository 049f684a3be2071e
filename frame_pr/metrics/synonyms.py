"""Names of metrics in other libraries and textbooks, metrics that are not offered, and suggestions for unknown names.

The synonyms of rates are in their records, in `rates.RATES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from frame_pr.frames.messages import shown

_LEAST, _LEAST_OF_SHORT, _LEAST_OF_SYNONYMS = 0.7, 0.66, 0.84
"""The least similarity of a misspelt name: to a name, to a name of the same length, to a synonym."""
MOST = 2
"""The number of names that a suggestion has at most."""

METRIC_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "average_precision": (
        *("ap", "map", "map_cut", "mean_average_precision", "average_precision_score", "avg_precision", "avep"),
        *("binary_average_precision",),
    ),
    "average_precision, interpolated_average_precision": (
        *("auprc", "aupr", "pr_auc", "prauc", "auc_pr", "aucpr", "prc_auc", "area_under_pr", "areaunderpr"),
    ),
    "roc_auc, average_precision": ("auc", "area_under_curve"),
    "roc_auc": (
        *("auroc", "roc", "rocauc", "auc_roc", "aucroc", "roc_auc_score", "area_under_roc", "areaunderroc"),
        *("c_statistic", "c_index", "concordance", "concordance_index", "mann_whitney", "partial_auc", "pauc"),
        *("gauc", "group_auc", "grouped_auc"),
    ),
    "equal_error_rate": ("eer", "crossover_error_rate"),
    "first_rank": ("first_hit_rank", "rank_of_first_hit", "median_rank"),
    "mean_rank": ("average_rank", "arithmetic_mean_rank", "amr"),
    "reciprocal_rank": ("mrr", "rr", "recip_rank", "mean_reciprocal_rank"),
    "success": ("hit_rate", "hitrate", "hit_ratio", "hr", "hit", "hits", "top_k_accuracy", "top_k_accuracy_score"),
    "ndcg": ("ndcg_cut", "ndcg_score", "normalized_dcg", "normalized_discounted_cumulative_gain"),
    "dcg": ("dcg_score", "discounted_cumulative_gain"),
    "r_precision": ("rprec", "r_prec", "rprecision"),
    "rbp0.8": ("rbp", "rank_biased_precision"),
    "interpolated_precision": ("iprec", "iprec_at_recall", "max_precision"),
    "interpolated_average_precision": ("iap", "interpolated_ap"),
    "interpolated_average_precision_11": ("11pt_avg", "iprec_avg", "eleven_point_average"),
    "max_informedness": ("ks", "ks_statistic", "kolmogorov_smirnov", "youden", "youden_index", "youden_j"),
    "threshold@max_f1": (
        *("best_threshold", "optimal_threshold", "max_f1_threshold", "best_f1_threshold", "optimal_cutoff"),
        *("f1_threshold", "threshold_f1", "threshold"),
    ),
    "max_f1": ("f1_best", "optimal_f1_score", "max_f", "best_f", "max_f_score", "max_f1_score", "best_f1_score"),
    "positives": ("support", "num_rel", "n_positives"),
    "rows": ("num_ret", "n", "count", "size"),
    "normalized_average_precision": ("normalized_ap", "average_precision_gain"),
    "chance_average_precision": ("random_average_precision", "chance_ap", "baseline_average_precision"),
    "average_precision_lift": ("ap_lift",),
    "net_benefit": ("decision_curve", "decision_curve_analysis", "dca"),
    "max_mcc": ("best_mcc",),
    "max_accuracy": ("best_accuracy",),
}
"""Heads of names, without the cutoff, by the metric that they mean."""

NOTES: Mapping[str, str] = {
    "map": "of each group: mean_over= averages them",
    "mrr": "of each group: mean_over= averages it",
    "map_cut": "over P, as trec_eval has it: average_precision@K/positives",
    **dict.fromkeys(("pauc", "partial_auc"), "up to a false positive rate: roc_auc@fpr=0.1"),
    "auc": "under the ROC curve, or under the precision-recall curve",
    "gauc": "weighted by the rows of each group: mean_over= with statistics='by_rows'",
    "median_rank": "over groups: mean_over= with statistics='median'",
    "rbp": "0.8 is the persistence",
    "capped_recall": "over min(K, P): recall@K/min",
    "recall_cap": "over min(K, P): recall@K/min",
    "lift": "average precision over prevalence is average_precision_lift",
    "top_k_accuracy": "of groups with one relevant item each",
    "f_beta": "or another beta, such as f2",
    "fbeta": "or another beta, such as f2",
}


class NotOffered(NamedTuple):
    """A metric that is deliberately not offered."""

    reason: str
    instead: str


_PROBABILITIES = "it scores probabilities, not a ranking"
_ITEMS = "it describes the retrieved items, not their labels"
_REGRESSION = "it compares numbers, and here a label is positive or not"
_FORMULA = "a formula of other metrics gives it"

_NOT_OFFERED: Mapping[tuple[str, ...], NotOffered] = {
    ("brier", "brier_score", "brier_score_loss"): NotOffered(
        _PROBABILITIES, "scikit-learn has sklearn.metrics.brier_score_loss"
    ),
    (
        "log_loss",
        "logloss",
        "cross_entropy",
        "crossentropy",
        "binary_crossentropy",
        "bce",
        "nll",
        "deviance",
    ): NotOffered(_PROBABILITIES, "scikit-learn has sklearn.metrics.log_loss"),
    (
        "ece",
        "mce",
        "ace",
        "expected_calibration_error",
        "calibration",
        "calibration_error",
        "calibration_curve",
    ): NotOffered(_PROBABILITIES, "scikit-learn has sklearn.calibration.calibration_curve"),
    ("hinge", "hinge_loss", "focal_loss", "loss"): NotOffered(
        _PROBABILITIES, "the library that trains the model has it"
    ),
    ("err", "expected_reciprocal_rank"): NotOffered("it needs a model of graded relevance", "ir_measures has ERR"),
    ("alpha_ndcg", "ia_err", "srecall", "subtopic_recall"): NotOffered(
        "it needs the subtopics of a query", "ir_measures has alpha_nDCG and others"
    ),
    (
        *("roc_curve", "pr_curve", "precision_recall_curve", "prc", "det", "det_curve", "gain_curve", "lift_curve"),
        *("cap", "cap_curve", "cumulative_gains", "cumulative_gain"),
    ): NotOffered("it is a curve, not a number", "curve(...) has its points, and plot(...) draws it"),
    ("infap", "inf_ap", "inferred_ap", "xinfap", "infndcg", "inf_ndcg"): NotOffered(
        "it needs a sample of judgments", "ir_measures has infAP"
    ),
    ("gmap", "gm_map", "geometric_map", "gm_ap"): NotOffered(
        "means over groups are arithmetic", "take the exponential of the mean logarithm of average_precision by group"
    ),
    (
        "coverage",
        "catalog_coverage",
        "item_coverage",
        "novelty",
        "diversity",
        "serendipity",
        "intra_list_similarity",
        "popularity",
        "personalization",
        "gini_index",
        "entropy",
    ): NotOffered(_ITEMS, "a group_by of the items gives it"),
    ("coverage_error", "label_ranking_loss", "ranking_loss", "lrap", "label_ranking_average_precision"): NotOffered(
        "it is a multilabel metric", "scikit-learn has it; average_precision by sample is close"
    ),
    ("bedroc", "rie"): NotOffered(
        "it weights ranks exponentially", "RDKit has CalcBEDROC; rbpB discounts in a similar way"
    ),
    ("auprg", "prg", "prg_auc", "precision_recall_gain"): NotOffered(
        "it is an area over rescaled axes", "pyprg has it; normalized_average_precision is 0 for a random ranking"
    ),
    ("survival", "survival_auc", "time_dependent_auc", "uno_c_index"): NotOffered(
        "it needs times that may be censored", "scikit-survival has it"
    ),
    ("ips", "snips", "doubly_robust", "off_policy"): NotOffered(
        "it needs the probability with which a past system showed each item", "Open Bandit Pipeline has it"
    ),
    ("max_recall", "max_tpr", "max_specificity", "max_tnr", "max_npv", "min_fpr", "min_fnr"): NotOffered(
        "a low or a high enough threshold has the best value",
        "threshold@recall=1, threshold@specificity=1 and threshold@npv=1 are the thresholds",
    ),
    ("min_fdr",): NotOffered(_FORMULA, "it is 1 - max_precision"),
    ("gini", "gini_coefficient", "accuracy_ratio", "somers_d"): NotOffered(_FORMULA, "it is 2 * roc_auc - 1"),
    ("jaccard", "jaccard_score", "jaccard_index", "iou", "csi", "threat_score", "critical_success_index"): NotOffered(
        _FORMULA, "it is f1 / (2 - f1) at the same cutoff"
    ),
    ("g_mean", "gmean", "geometric_mean", "geometric_mean_score"): NotOffered(
        _FORMULA, "it is the root of recall * specificity at the same cutoff"
    ),
    ("fowlkes_mallows", "fm_index"): NotOffered(_FORMULA, "it is the root of precision * recall at the same cutoff"),
    ("error", "error_rate", "misclassification_rate", "zero_one_loss", "hamming_loss"): NotOffered(
        _FORMULA, "it is 1 - accuracy at the same cutoff"
    ),
    ("for", "false_omission_rate"): NotOffered(_FORMULA, "it is 1 - npv at the same cutoff"),
    ("lr+", "plr", "positive_likelihood_ratio", "lr_plus", "class_likelihood_ratios"): NotOffered(
        _FORMULA, "it is recall / fpr at the same cutoff"
    ),
    ("lr-", "nlr", "negative_likelihood_ratio", "lr_minus"): NotOffered(
        _FORMULA, "it is fnr / specificity at the same cutoff"
    ),
    ("dor", "diagnostic_odds_ratio", "odds_ratio"): NotOffered(
        _FORMULA, "it is tp * tn / (fp * fn) at the same cutoff"
    ),
    (
        "mse",
        "rmse",
        "mae",
        "mape",
        "r2",
        "r2_score",
        "pearson",
        "spearman",
        "kendall",
        "kendall_tau",
        "spearmanr",
    ): NotOffered(_REGRESSION, "polars has pl.corr, scikit-learn the errors"),
    ("weighted_kappa", "quadratic_weighted_kappa", "qwk"): NotOffered(
        "it compares grades", "scikit-learn has cohen_kappa_score(weights='quadratic')"
    ),
    ("uplift", "qini", "auuc"): NotOffered(
        "it needs a treated and a control group", "scikit-uplift and causalml have it"
    ),
    ("bleu", "rouge", "perplexity", "meteor"): NotOffered("it compares texts", "Hugging Face's evaluate has it"),
}
NOT_OFFERED: Mapping[str, NotOffered] = {name: why for names, why in _NOT_OFFERED.items() for name in names}
"""Metrics that are not offered, by their names elsewhere, in lower case."""


def normalize(name: str) -> str:
    """Normalize a name: lower case, underscores, no spaces around the cutoff."""
    text = re.sub(r"\s*(?:percent|pct)", "%", name.strip().lower())
    text = re.sub(r"\s*([@=%,:])\s*", r"\1", text)
    return re.sub(r"[\s-]+(?=[a-z])|(?<=[a-z])[\s-]+", "_", text)


def not_offered(head: str) -> str:
    """Explain why a metric is not offered and what to use instead; empty for other names."""
    missing = NOT_OFFERED.get(head)
    return "" if missing is None else f"it is not offered: {missing.reason}; {missing.instead}"


def similar_names(name: str, synonyms: Mapping[str, Iterable[str]]) -> list[str]:
    """Return at most two of these names that are spelled like it or have a similar synonym."""
    import difflib  # Takes 1 ms, which only an error needs.

    scores: dict[str, float] = {}
    for target, others in synonyms.items():
        least = _LEAST_OF_SHORT if len(target) == len(name) else _LEAST
        scores[target] = max(
            score if score >= (least if other == target.lower() else _LEAST_OF_SYNONYMS) else 0.0
            for other in (target.lower(), *others)
            for score in [difflib.SequenceMatcher(None, name, other).ratio()]
        )
    best = max(scores.values(), default=0.0)
    near = [target for target, score in scores.items() if 0 < score >= best - 0.02]
    return sorted(near, key=lambda target: -scores[target])[:MOST]


def rate_hint(name: str, synonyms: Mapping[str, Sequence[str]]) -> str:
    """Return what to write instead of an unknown rate. `synonyms`: those of the possible rates."""
    head, at, _ = normalize(name).partition("@")
    targets = [target for target, others in synonyms.items() if head in (target.lower(), *others)]
    if targets:
        return f"it is {shown(targets[0])} here" + (", without a cutoff" if at else "")
    if reason := not_offered(head):
        return reason
    if any(head in (*offered.split(", "), *others) for offered, others in METRIC_SYNONYMS.items()):
        return "it is a metric of a whole ranking, not a rate at a threshold: evaluate() computes it"
    near = similar_names(head, synonyms)
    if near:
        return f"did you mean {' or '.join(map(shown, near))}?"
    return f"there are {', '.join(synonyms)}, and f with any beta"
