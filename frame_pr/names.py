"""From a name to its metric or figure; and from what is no name to the nearest ones."""

from __future__ import annotations

import difflib
import re
from functools import cache

import polars as pl

from frame_pr import rates
from frame_pr.metrics import DECIMAL, FAMILIES, Metric, read_beta
from frame_pr.rates import Figure

_SYNONYMS = {
    "ap": "average_precision",
    "map": "average_precision",
    "auc": "average_precision",
    "auprc": "average_precision",
    "pr_auc": "average_precision",
    "p": "precision",
    "ppv": "precision",
    "r": "recall",
    "sensitivity": "recall",
    "tpr": "recall",
    "tnr": "specificity",
    "f": "f1",
    "f1_score": "f1",
    "f_score": "f1",
    "f_beta": "f1",
    "fbeta": "f1",
    "support": "positives",
}
_HEADS = (
    *rates.RATES,
    "average_precision",
    "interpolated_average_precision",
    "interpolated_average_precision_11",
    "interpolated_precision",
    "r_precision",
    "threshold",
    "threshold@max_f1",
    "max_f1",
    "rows",
    "positives",
    "prevalence",
    "ties",
    "lift",
)


def metric(name: str, score_dtype: pl.DataType) -> Metric:
    """Read a metric's name."""
    if not isinstance(name, str):
        raise TypeError(f"a metric is asked for by its name, got {name!r}")
    return _read(name, score_dtype)


@cache
def _read(name: str, score_dtype: pl.DataType) -> Metric:
    for family in FAMILIES:
        if match := re.fullmatch(family.pattern, name):
            head, _, cut = name.partition("@")
            if re.fullmatch(r"[0-9]*\.[0-9]+", cut):
                raise ValueError(
                    f"k must be a whole number of at least 1, got {cut}: at a score it is {head}@threshold={cut}"
                )
            return family.build(match, score_dtype)
    raise ValueError(f"no metric is named {name!r}; {_nearest(name)}")


def figure_of(name: str) -> Figure:
    """Formula of a figure of the confusion table, by its name."""
    if name in rates.FIGURES:
        return rates.FIGURES[name]
    if isinstance(name, str) and re.fullmatch(f"f{DECIMAL}", name):
        return rates.f_beta(read_beta(name[1:]))
    near = difflib.get_close_matches(str(name), rates.FIGURES, n=3, cutoff=0)
    raise ValueError(f"no figure is named {name!r}; the nearest are {', '.join(near)}")


def _nearest(name: str) -> str:
    head, _, tail = re.sub(r"\s*@\s*|_at_", "@", name.strip().lower()).partition("@")
    head = _SYNONYMS.get(head, head)
    if head in rates.FIGURES and not tail:
        return f"it needs a cut, the nearest names are {head}@10, {head}@threshold=0.5, {head}@recall=0.8"
    tails = [f"@{t}" for t in (tail, "10", "threshold=0.5", "recall=0.8") if t]
    # By itself: with a long cut behind them, all heads are alike.
    heads = difflib.get_close_matches(head, _HEADS, n=len(_HEADS))
    names = [
        n for h in heads for n in (h, *(h + t for t in tails)) if any(re.fullmatch(f.pattern, n) for f in FAMILIES)
    ]
    near = difflib.get_close_matches(f"{head}@{tail}" if tail else head, list(dict.fromkeys(names)), n=3)
    if near:
        return f"the nearest names are {', '.join(near)}"
    return "names look like average_precision, precision@10, f1@threshold=0.5, k@recall=0.8"
