"""Texts of errors and warnings: short values, types, counts, the nearest name, and words of other libraries."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, time, timedelta
from numbers import Number
from pathlib import PurePath
from typing import Any

import polars as pl

# The check of a LazyFrame runs inside its plan, so polars frames are on the stack above it.
_INSIDE = (__name__.partition(".")[0], "polars")
_LONGEST = 80  # characters of a value
_MOST_SHOWN = 5  # values of a list


class DataWarning(UserWarning):
    """Data or arguments that look like a mistake, although the result may be what was meant."""


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn, by default about data that look like a mistake. The warning names the line outside frame_pr and polars."""
    level, frame = 1, sys._getframe()
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def shown(value: Any) -> str:
    """Format a value for an error message: in full if it is short, else by its type."""
    value = str(value) if isinstance(value, PurePath) else value
    if isinstance(value, (str, bytes)) and len(value) > _LONGEST:
        return repr(value[: _LONGEST // 2]) + "..."
    if isinstance(value, (date, time, timedelta)):
        return str(value)
    is_array_without_axes = (
        type(value).__module__.startswith("numpy") and getattr(value, "ndim", None) == 0
    )
    if isinstance(value, (str, bytes, Number, type(None))) or is_array_without_axes:
        with suppress(ValueError):  # Python writes no integer of more than 4,300 digits.
            return _cut(repr(value))
    if type(value) in (list, tuple, set, frozenset):
        start, end = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
        more = (
            ", ..." if len(value) > _MOST_SHOWN else "," if start == "(" and len(value) == 1 else ""
        )
        return _cut(start + ", ".join(map(shown, list(value)[:_MOST_SHOWN])) + more + end)
    return kind_of_value(value)


def kind_of_value(value: Any) -> str:
    """Describe the type of an object, such as `a polars DataFrame`."""
    if isinstance(value, type) or type(value).__name__ in (
        "function",
        "builtin_function_or_method",
    ):
        return f"the {'class' if isinstance(value, type) else 'function'} {_cut(value.__name__)}"
    package, name = type(value).__module__.partition(".")[0], _cut(type(value).__name__)
    name = "expression" if isinstance(value, pl.Expr) else name
    name = name if package in ("builtins", "__main__", "collections") else f"{package} {name}"
    return f"{'an' if name[0].lower() in 'aeio' else 'a'} {name}"


def examples(values: Iterable[Any]) -> str:
    """Format the first few values, and count the rest."""
    values = list(values)
    first = ", ".join(map(shown, values[:_MOST_SHOWN]))
    return first + (f" and {len(values) - _MOST_SHOWN} more" if len(values) > _MOST_SHOWN else "")


def nearest(name: str, candidates: Iterable[Any], cutoff: float = 0.5) -> list[Any]:
    """Return the candidates nearest to a name: those that differ from it only by case, otherwise at most three."""
    import difflib  # Takes 1 ms, which only an error needs.

    by_text = {str(candidate): candidate for candidate in candidates}
    lower, lowered = name[:_LONGEST].lower(), {text.lower(): text for text in reversed(by_text)}
    near = [lowered[text] for text in difflib.get_close_matches(lower, lowered, n=3, cutoff=cutoff)]
    return [by_text[text] for text in [text for text in by_text if text.lower() == lower] or near]


def did_you_mean(near: Sequence[Any]) -> str:
    """Return the question that suggests the nearest name."""
    return f"did you mean {' or '.join(map(shown, near))}?"


def pluralize(number: int, singular: str, plural: str) -> str:
    """Format a number and its noun."""
    return f"{number} {singular if number == 1 else plural}"


def first_line(error: BaseException) -> str:
    """Return the first line of a polars error, without the plan."""
    return _cut(str(error).strip().partition("\n")[0], 2 * _LONGEST)


def _cut(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


WORDS: Mapping[str, str] = {
    # Arguments. `answers` drops n_, num_ and _column, and a misspelt name needs no word.
    "by=": "group group_by groupby groups group_keys keys key over partition_by query hue",
    "positive=": "pos_label positive_label positive_class event_level",
    "weight=": "sample_weight sample_weights weights case_weights",
    "count=": "frequency freq",
    "gain=": "grade grades relevance y_gain amount amounts utility",
    "undefined=": "zero_division fill_value empty_target_action",
    "classes=": "labels class_names",
    "truth=": "y_true target targets label y actual y_test ground_truth",
    "prediction=": "y_pred pred predicted predictions",
    "score=": "y_score y_pred y_prob y_proba pred preds predictions probability proba",
    "prevalence=": "base_rate prior",
    "k=": "top_k topk cutoff cutoffs at_k at ks",
    "threshold=": "thresholds thresh thr cut operating_point",
    "rates=": "figures metrics columns",
    "metrics=": "metric measures scoring",
    "confidence=": "conf_level confidence_level level ci",
    "resamples=": "permutations bootstraps boot iterations",
    "repeats=": "resamples bootstraps boot iterations boot_n replicates",
    "seed=": "random_state rng",
    "memory_budget=": "memory_limit max_memory",
    "total_positives=": "positives",
    "total_rows=": "rows",
    "ax=": "axes axis",
    "colors=": "palette cmap colours color_discrete_map",
    "facet=": "col row cols col_wrap facet_col facet_row",
    # Sentences about arguments.
    "ascending=True ranks lower scores first": "lower smaller higher greater reverse descending",
    "average_precision_at_k and others take k=, evaluate 'precision@10'": "k top_k topk cutoff cutoffs at_k at ks",
    "evaluate takes names with a cutoff, such as 'precision@threshold=0.5'": "threshold recall precision fpr",
    "compare(..., baseline=...) names the system of the differences": "baseline reference control",
    "a level of relevance makes labels, truth=pl.col('grade') >= 2": "rel_threshold relevance_level rel_level rel_lvl",
    "evaluate(..., mean_over=...) gives means over groups": "average mean_over macro_over average_over statistics",
    "intervals and compare take cluster=": "cluster",
    "evaluate('roc_auc@fpr=0.1', ...) gives the partial area up to a false positive rate of 0.1": "max_fpr",
    "confusion_matrix has the shares as columns, of_truth for 'true' and of_prediction for 'pred'": "normalize",
    "the confidence level, 1 - alpha, is confidence= of intervals, compare, report and average_curve": "alpha",
    "the frame comes first, without a name, or as frame=": "df data dataframe data_frame",
    "what has no value stays null here: fill_null(...) fills it": "undefined zero_division",
    "intervals(..., method='bootstrap') and compare(...) draw samples": "boot bootstraps resamples",
    "ax.set(...) and ax.figure.savefig(...) do that with ax=...": "title xlim ylim xlabel ylabel path savefig figsize",
    # Calls.
    "intervals(...)": "ci confidence_interval confidence_intervals error_bars standard_error",
    "intervals(..., method='bootstrap')": "bootstrap bootstrap_ci",
    "compare(...)": "significance significance_test paired_test ttest t_test permutation_test delong",
    "plot(...)": "plot_pr plot_curve plot_precision_recall plot_pr_curve",
    "plot(..., x='fpr', y='recall')": "plot_roc plot_roc_curve kind",
    "plot_intervals(...)": "plot_trend plot_forest",
    "plot_comparison(...)": "plot_differences plot_slopes",
    "curve(...)": "precision_recall_curve pr_curve roc_curve det_curve",
    "report(...)": "describe summary summarize classification_report",
    "frame_pr.metrics()": "metrics metric_names list_metrics",
    # Metrics and rates, without their cutoff.
    "roc_auc": "auc auroc roc rocauc auc_roc roc_auc_score c_statistic c_index concordance pauc partial_auc gauc",
    "average_precision": "ap map map_cut mean_average_precision avg_precision lrap auc auprc aupr pr_auc prauc auc_pr",
    "interpolated_average_precision_11": "11pt_avg iprec_avg eleven_point_average",
    "interpolated_precision": "iprec iprec_at_recall",
    "equal_error_rate": "eer",
    "reciprocal_rank": "mrr rr recip_rank mean_reciprocal_rank",
    "success": "hit_rate hit_ratio hr hit hits top_k_accuracy top_k_accuracy_score",
    "ndcg": "ndcg_cut ndcg_score normalized_dcg",
    "dcg": "dcg_score discounted_cumulative_gain",
    "r_precision": "rprec r_prec",
    "rbp0.8": "rbp rank_biased_precision",
    "max_informedness": "ks ks_statistic kolmogorov_smirnov youden youden_index youden_j",
    "max_f1": "max_f best_f best_f1 f1_max optimal_f1 max_f1_score best_f1_score",
    "threshold@max_f1": "best_threshold optimal_threshold best_f1_threshold f1_threshold threshold@f1 optimal_cutoff",
    "positives": "support num_rel positives",
    "rows": "num_ret n size rows",
    "net_benefit": "decision_curve dca",
    "fpr@recall=0.95": "fpr95 fpr@95 fpr95tpr",
    "tp": "true_positives",
    "fp": "false_positives false_alarms",
    "fn": "false_negatives misses",
    "tn": "true_negatives",
    "precision": "p prec ppv positive_predictive_value precision_score",
    "recall": "r rec sensitivity sens tpr true_positive_rate recall_score detection_rate tar",
    "specificity": "tnr true_negative_rate selectivity spec",
    "npv": "negative_predictive_value",
    "fpr": "false_positive_rate fallout fall_out false_alarm_rate far",
    "fnr": "false_negative_rate miss_rate",
    "fdr": "false_discovery_rate",
    "accuracy": "acc accuracy_score",
    "balanced_accuracy": "balanced_accuracy_score bacc bac",
    "f1": "f f1_score f_score f_measure f_beta fbeta fbeta_score dice",
    "mcc": "matthews matthews_corrcoef phi phi_coefficient",
    "kappa": "cohen_kappa cohens_kappa cohen_kappa_score",
    "prevalence": "base_rate baseline positive_rate",
    "lift": "enrichment enrichment_factor",
    # Formulas of other metrics, and metrics that other libraries have.
    "it is 2 * roc_auc - 1": "gini gini_coefficient accuracy_ratio somers_d",
    "it is f1 / (2 - f1) at the same cutoff": "jaccard jaccard_score iou csi threat_score",
    "it is the root of recall * specificity at the same cutoff": "g_mean gmean geometric_mean",
    "it is 1 - accuracy at the same cutoff": "error error_rate hamming_loss",
    "scikit-learn has it, for probabilities": "brier brier_score log_loss logloss ece calibration_error",
    "ir_measures has it": "err expected_reciprocal_rank alpha_ndcg infap",
}
"""Words of other libraries, by the argument `x=`, the call `x(...)`, the metric or the sentence that answers them."""


def answers(word: str) -> list[str]:
    """Return the arguments, calls, metrics and sentences that a word of another library means."""
    return [answer for answer, words in WORDS.items() if _stem(word) in words.split()]


def meaning(word: str, names: Iterable[str]) -> str | None:
    """Return the argument that a word is a synonym or a misspelling of."""
    names, stem = list(names), _stem(word)
    exact = [
        name
        for name in (stem, *(answer[:-1] for answer in answers(word) if answer[-1] == "="))
        if name in names
    ]
    has_sentence = any(" " in answer for answer in answers(word))
    return next(iter(exact or ([] if has_sentence else nearest(word, names, cutoff=0.8))), None)


def advice(word: str, names: Iterable[str]) -> str:
    """Return what to write instead of an unknown keyword; empty if nothing is known."""
    if argument := meaning(word, names):
        return f"did you mean {argument}=?"
    return next((f"{x} does that" if x[-1] == ")" else x for x in answers(word) if " " in x), "")


def _stem(word: str) -> str:
    return re.sub(r"^(n|num)_(?=\w{4})|_(columns?|cols?|name|is_better)$", "", word.lower())
