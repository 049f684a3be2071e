"""Words of other libraries, and what answers them: arguments, calls, metrics and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from frame_pr.frames.messages import nearest

ARGUMENTS: Mapping[str, str] = {
    # `_stem` drops n_, num_ and _column, and a misspelt name needs no word.
    "by": "group group_by groupby groups group_keys keys key over partition_by query hue",
    "positive": "pos_label positive_label positive_class event_level",
    "weight": "sample_weight sample_weights weights case_weights",
    "count": "frequency freq",
    "gain": "grade grades relevance y_gain amount amounts utility",
    "undefined": "zero_division fill_value empty_target_action",
    "classes": "labels class_names",
    "truth": "y_true target targets label y actual y_test ground_truth",
    "prediction": "y_pred pred predicted predictions",
    "score": "y_score y_pred y_prob y_proba pred preds predictions probability proba",
    "prevalence": "base_rate prior",
    "k": "top_k topk cutoff cutoffs at_k at ks",
    "threshold": "thresholds thresh thr cut cutoff cutoffs operating_point",
    "rates": "figures metrics columns",
    "metrics": "metric measures scoring",
    "confidence": "conf_level confidence_level level ci",
    "resamples": "permutations bootstraps boot iterations",
    "repeats": "resamples bootstraps boot iterations boot_n replicates",
    "seed": "random_state rng",
    "memory_budget": "memory_limit max_memory",
    "total_positives": "positives",
    "total_rows": "rows",
    "ax": "axes axis",
    "colors": "palette cmap colours color_discrete_map",
    "facet": "col row cols col_wrap facet_col facet_row",
}
"""Words for an argument, by its name."""

SENTENCES: Mapping[str, str] = {
    # Arguments.
    "ascending=True ranks lower scores first": (
        "lower smaller higher greater reverse descending greater_is_better "
        "higher_is_better lower_is_better smaller_is_better"
    ),
    "average_precision_at_k and others take k=, evaluate 'precision@10'": (
        "k top_k topk cutoff cutoffs at_k at ks"
    ),
    "evaluate takes names with a cutoff, such as 'precision@threshold=0.5'": (
        "threshold recall precision fpr"
    ),
    "evaluate and with_metrics take the names of metrics": "metric metrics measures scoring",
    "compare(..., baseline=...) names the system of the differences": "baseline reference control",
    "a level of relevance makes labels, truth=pl.col('grade') >= 2": (
        "rel_threshold relevance_level rel_level rel_lvl"
    ),
    "evaluate(..., mean_over=...) gives means over groups": (
        "average mean_over macro_over average_over statistics"
    ),
    "intervals and compare take cluster=": "cluster",
    "evaluate('roc_auc@fpr=0.1', ...) gives the partial area up to a false positive rate of 0.1": (
        "max_fpr"
    ),
    "confusion_matrix has shares as columns, of_truth for 'true' and of_prediction for 'pred'": (
        "normalize"
    ),
    "the confidence level, 1 - alpha, is confidence= of intervals, compare, report and "
    "average_curve": "alpha",
    "the frame comes first, without a name, or as frame=": "df data dataframe data_frame",
    "what has no value stays null here: fill_null(...) fills it": "undefined zero_division",
    "intervals(..., method='bootstrap') and compare(...) draw samples": (
        "boot bootstraps resamples repeats"
    ),
    "ax.set(...) and ax.figure.savefig(...) do that with ax=...": (
        "title xlim ylim xlabel ylabel path savefig figsize"
    ),
    # Metrics.
    "it is 2 * roc_auc - 1": "gini gini_coefficient accuracy_ratio somers_d",
    "it is f1 / (2 - f1) at the same cutoff": "jaccard jaccard_score iou csi threat_score",
    "it is the root of recall * specificity at the same cutoff": "g_mean gmean geometric_mean",
    "it is 1 - accuracy at the same cutoff": "error error_rate hamming_loss",
    "it is 1 - npv at the same cutoff": "false_omission_rate for fomr",
    "it is 1 - f1 at the same cutoff": "e_measure effectiveness",
    "it is 1 - brier_score / (prevalence * (1 - prevalence))": "brier_skill_score bss",
    "it is recall / fpr at the same cutoff": (
        "plr lr+ positive_likelihood_ratio class_likelihood_ratios likelihood_ratio"
    ),
    "it is fnr / specificity at the same cutoff": "nlr lr- negative_likelihood_ratio",
    "it is (tp * tn) / (fp * fn) at the same cutoff": "dor diagnostic_odds_ratio odds_ratio",
    "it is the root of precision * recall at the same cutoff": (
        "fowlkes_mallows fowlkes_mallows_index fmi fm"
    ),
    "gains_table(...) has the mean score next to the precision of each bin": (
        "ece calibration_error expected_calibration_error calibration calibration_curve"
    ),
    "ir_measures has it": "err expected_reciprocal_rank alpha_ndcg infap",
    "scikit-learn has it": "d2_log_loss_score hinge_loss zero_one_loss coverage_error",
}
"""Words for what has no name here, by the sentence that says how it is done."""

CALLS: Mapping[str, str] = {
    "intervals(...)": "ci confidence_interval confidence_intervals error_bars standard_error",
    "intervals(..., method='bootstrap')": "bootstrap bootstrap_ci",
    "compare(...)": (
        "significance significance_test paired_test ttest t_test permutation_test delong"
    ),
    "confusion(..., prediction=...)": (
        "precision_score recall_score f1_score fbeta_score accuracy_score balanced_accuracy_score "
        "matthews_corrcoef cohen_kappa_score precision_recall_fscore_support"
    ),
    "plot(...)": "plot_pr plot_curve plot_precision_recall plot_pr_curve",
    "plot(..., x='fpr', y='recall')": "plot_roc plot_roc_curve kind",
    "plot_intervals(...)": "plot_trend plot_forest",
    "plot_comparison(...)": "plot_differences",
    "curve(...)": "precision_recall_curve pr_curve roc_curve det_curve",
    "report(...)": "describe summary summarize",
    "confusion(..., by='class') of the result of unpivot_classes(...)": "classification_report",
    "frame_pr.metrics()": "metrics metric_names list_metrics",
}
"""Words for a function, by its call."""

METRICS: Mapping[str, str] = {
    # Metrics and rates, without their cutoff.
    "roc_auc": (
        "auc auroc roc rocauc auc_roc roc_auc_score c_statistic c_index concordance pauc "
        "partial_auc gauc"
    ),
    "average_precision": (
        "ap map map_cut mean_average_precision avg_precision lrap auc auprc aupr pr_auc prauc "
        "auc_pr"
    ),
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
    "threshold@max_f1": (
        "best_threshold optimal_threshold best_f1_threshold f1_threshold threshold@f1 "
        "optimal_cutoff"
    ),
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
    "specificity": "tnr true_negative_rate selectivity spec inverse_recall",
    "npv": "negative_predictive_value inverse_precision",
    "fpr": "false_positive_rate fallout fall_out false_alarm_rate far",
    "fnr": "false_negative_rate miss_rate",
    "fdr": "false_discovery_rate",
    "accuracy": "acc accuracy_score",
    "balanced_accuracy": "bacc bac balanced_accuracy_score",
    "f1": "f f1_score f_score f_measure f_beta fbeta fbeta_score dice",
    "mcc": "matthews matthews_corrcoef phi phi_coefficient",
    "informedness": "bookmaker deltap_prime",
    "markedness": "deltap delta_p",
    "kappa": "cohen_kappa cohens_kappa cohen_kappa_score",
    "prevalence": "base_rate baseline observed_rate event_rate",
    "selection_rate": (
        "demographic_parity statistical_parity alert_rate positive_rate predicted_positive_rate "
        "acceptance_rate approval_rate review_rate flag_rate positive_prediction_rate"
    ),
    "mean_score": (
        "mean_probability mean_prediction avg_score average_score mean_proba predicted_rate "
        "mean_p expected_rate"
    ),
    "brier_score": "brier brier_score_loss brier_loss mse mean_squared_error",
    "log_loss": "logloss cross_entropy binary_cross_entropy bce nll neg_log_loss",
    "lift": "enrichment enrichment_factor",
}
"""Words for a metric or a rate, by its name without a cutoff."""


def meant(table: Mapping[str, str], word: str) -> list[str]:
    """Return the answers of a table to a word of another library."""
    stem = _stem(word)
    return [answer for answer, words in table.items() if stem in words.split()]


def is_word(word: str) -> bool:
    """Return whether a table has a word."""
    return any(meant(table, word) for table in (ARGUMENTS, SENTENCES, CALLS, METRICS))


def arguments_meant(word: str, names: Iterable[str]) -> list[str]:
    """Return the arguments among these that a word is a synonym or a misspelling of."""
    names = list(names)
    exact = [name for name in (_stem(word), *meant(ARGUMENTS, word)) if name in names]
    if exact:
        return list(dict.fromkeys(exact))[:2]
    if meant(SENTENCES, word):
        return []
    return nearest(word, names, cutoff=0.8)[:1]


def keyword_hint(word: str, names: Iterable[str]) -> str:
    """Return what to write instead of an unknown keyword; empty if nothing is known."""
    arguments = arguments_meant(word, names)
    if arguments:
        return f"did you mean {' or '.join(f'{name}=' for name in arguments)}?"
    calls = [f"{call} does that" for call in meant(CALLS, word)]
    return next(iter([*meant(SENTENCES, word), *calls]), "")


def _stem(word: str) -> str:
    return re.sub(r"^(n|num)_(?=\w{4})|_(columns?|cols?|name)$", "", word.lower())
