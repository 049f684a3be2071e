"""From a name to its metric; and from what is no name to the nearest ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import lru_cache

import polars as pl

from frame_pr.frames.wording import shown
from frame_pr.inputs.request import Use
from frame_pr.metrics import rates
from frame_pr.metrics.aggregates import Blocks
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.families import FAMILIES
from frame_pr.metrics.metric import Metric
from frame_pr.metrics.numbers import refuse_long

_FRACTION = r"[0-9]*\.[0-9]+"
# What others call our metrics, without the rank behind it.
_SYNONYMS = {
    "average_precision": ("ap", "map", "map_cut", "mean_average_precision", "average_precision_score"),
    "roc_auc, average_precision": ("auc",),
    "average_precision, interpolated_average_precision": ("auprc", "aupr", "pr_auc", "prauc", "auc_pr"),
    "roc_auc": ("auroc", "roc", "rocauc", "auc_roc", "roc_auc_score", "gini"),
    "reciprocal_rank": ("mrr", "rr", "recip_rank", "mean_reciprocal_rank"),
    "success": ("hit_rate", "hitrate", "hit_ratio", "hr", "hit", "hits"),
    "ndcg": ("ndcg_cut", "ndcg_score", "normalized_dcg"),
    "precision": ("p", "prec", "ppv", "precision_score"),
    "recall": ("r", "rec", "sensitivity", "tpr", "recall_score"),
    "specificity": ("tnr", "selectivity"),
    "f1": ("f", "f1_score", "f_score", "f_beta", "fbeta"),
    "r_precision": ("rprec", "r_prec", "rprecision"),
    "interpolated_precision": ("iprec",),
    "interpolated_average_precision_11": ("11pt_avg", "iprec_avg"),
    "max_informedness": ("ks", "ks_statistic", "youden", "youden_j"),
    "positives": ("support", "num_rel"),
    "rows": ("num_ret", "n"),
}
_NOTES = {
    "map": "of each group: mean_over= averages them",
    "mrr": "of each group: mean_over= averages it",
    "map_cut": "over P, as trec_eval has it: average_precision@K/positives",
    "gini": "it is 2 * roc_auc - 1",
    "auc": "under the ROC curve, or under the precision-recall curve",
}
HEADS = (
    *rates.RATES,
    "average_precision",
    "interpolated_average_precision",
    "interpolated_average_precision_11",
    "interpolated_precision",
    "normalized_average_precision",
    "chance_average_precision",
    "r_precision",
    "roc_auc",
    "reciprocal_rank",
    "success",
    "dcg",
    "ndcg",
    "bpref",
    "judged",
    "threshold",
    "threshold@max_f1",
    "max_f1",
    "max_informedness",
    "min_cost10",
    "rbp0.8",
    "rows",
    "positives",
    "prevalence",
    "ties",
    "lift",
)


COLUMNS = Blocks(pl.col)
"""Of tables whose masses are whole."""
FIXED_POINT_COLUMNS = Blocks(pl.col, whole=False)
"""Of tables whose masses are in fixed point."""
GRADED_COLUMNS = Blocks(pl.col, graded=True)
"""Of tables whose rows have a gain."""


def metric(name: str, blocks: Blocks = COLUMNS) -> Metric:
    """Read a metric's name: its formulas name the columns of the table of blocks, or of what stands in its place."""
    if not isinstance(name, str):
        raise TypeError(f"a metric is asked for by its name, got {shown(name)}")
    refuse_long("metric", name)
    return _read(name, blocks)


@lru_cache(maxsize=1024)
def _read(name: str, blocks: Blocks) -> Metric:
    for family in FAMILIES:
        if match := re.fullmatch(family.pattern, name):
            head, _, cut = name.partition("@")
            if re.fullmatch(_FRACTION, cut):
                raise ValueError(
                    f"k must be a whole number of at least 1, got {cut}: at a score it is {head}@threshold={cut}"
                )
            return family.build(match, blocks)
    raise ValueError(f"no metric is named {name!r}; {_nearest(name)}")


def is_metric(name: object) -> bool:
    """Whether this is the name of a metric."""
    return isinstance(name, str) and _is_name(name)


def use_of(names: Iterable[str], *, averages: bool = False) -> Use:
    """What these metrics make of the scores."""
    metrics = [metric(name) for name in names]
    thresholds = [float(one.cut.threshold) for one in metrics if isinstance(one.cut, Threshold)]
    ranks = any(any(one.aggregates.values()) and not isinstance(one.cut, Threshold) for one in metrics)
    return Use(ranks, list(dict.fromkeys(thresholds)), averages)


def _nearest(name: str) -> str:
    text = re.sub(r"\s*@\s*|_at_", "@", name.strip().lower())
    if _is_name(text):
        return f"the nearest names are {text}"
    head, _, tail = text.partition("@")
    # As trec_eval writes its ranks and recalls: P_10, ndcg_cut.10, iprec_at_recall_0.10.
    if (rank := re.fullmatch(r"(.+?)[_.]([0-9]+)", head)) and not head.startswith("interpolated"):
        head, tail = rank[1], rank[2]
    tail = re.sub("^recall_", "recall=", tail)
    meant = next((ours for ours, others in _SYNONYMS.items() if head in others), "")
    note = f" ({_NOTES[head]})" if head in _NOTES else ""
    figure = meant or head
    if figure in rates.FIGURES and not tail:
        return f"it needs a cut, the nearest names are {figure}@10, {figure}@threshold=0.5, {figure}@recall=0.8"
    if meant:
        return f"the nearest names are {', '.join(n for one in meant.split(', ') for n in _with_cut(one, tail))}{note}"
    # By itself: with a long cut behind them, all heads are alike.
    heads = difflib.get_close_matches(head, HEADS, n=len(HEADS))
    names = dict.fromkeys(n for one in heads for n in (one, *_with_cut(one, tail)) if _is_name(n))
    if near := difflib.get_close_matches(f"{head}@{tail}" if tail else head, names, n=3):
        return f"the nearest names are {', '.join(near)}"
    return "names look like average_precision, precision@10, f1@threshold=0.5, k@recall=0.8"


def _with_cut(head: str, cut: str) -> list[str]:
    """The name with this cut; where it has none of this kind, with those that it has."""
    wanted = f"{head}@{cut}" if cut else head
    others = (head, f"{head}@10", f"{head}@threshold=0.5", f"{head}@recall=0.8")
    return [wanted] if _is_name(wanted) else [other for other in others if _is_name(other)]


def _is_name(name: str) -> bool:
    cut = name.partition("@")[2]
    return not re.fullmatch(_FRACTION, cut) and any(re.fullmatch(family.pattern, name) for family in FAMILIES)
