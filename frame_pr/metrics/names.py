"""Read the name of a metric, and answer an unknown name with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

import polars as pl

from frame_pr.frames.messages import shown
from frame_pr.inputs.policies import Ties
from frame_pr.inputs.request import TOTALS, Request, Use
from frame_pr.metrics import (
    at_cutoffs,
    average_precisions,
    rank_metrics,
    roc,
)
from frame_pr.metrics.cutoffs import LIMITED, Threshold
from frame_pr.metrics.metric import GROUP_FAMILIES, Blocks, Metric
from frame_pr.metrics.numbers import DECIMAL, refuse_long
from frame_pr.metrics.rates import COUNTS, NUMBERED_NAME, RATES
from frame_pr.metrics.synonyms import METRIC_SYNONYMS, MOST, NOTES, normalize, not_offered, similar_names

FAMILIES = (
    *average_precisions.FAMILIES,
    *at_cutoffs.FAMILIES,
    *roc.FAMILIES,
    *rank_metrics.FAMILIES,
    *GROUP_FAMILIES,
)
"""All families of metrics."""

HEADS = (
    *(name for name in RATES if name not in COUNTS),
    "average_precision",
    "interpolated_average_precision",
    "interpolated_average_precision_11",
    "interpolated_precision",
    "normalized_average_precision",
    "chance_average_precision",
    "r_precision",
    "roc_auc",
    "equal_error_rate",
    "threshold@equal_error_rate",
    "reciprocal_rank",
    "first_rank",
    "mean_rank",
    "success",
    "dcg",
    "ndcg",
    "bpref",
    "captured_gain",
    "judged",
    "threshold",
    "threshold@max_f1",
    "max_f1",
    *(f"{at}max_{name}" for name, rate in RATES.items() if rate.best_by is not None for at in ("", "threshold@")),
    "cost10",
    "min_cost10",
    "threshold@min_cost10",
    "total_cost5",
    "min_total_cost5",
    "threshold@min_total_cost5",
    "net_benefit",
    "standardized_net_benefit",
    "rbp0.8",
    "rows",
    "positives",
    "tied_rows",
    "average_precision_lift",
)
"""The parts of names before a cutoff, for completion in editors and for suggestions."""

COLUMNS = Blocks(pl.col)
"""For tables whose weighted counts are whole numbers."""
FLOAT_COLUMNS = Blocks(pl.col, whole=False)
"""For tables whose weighted counts are floats."""
GRADED_COLUMNS = Blocks(pl.col, graded=True)
"""For tables whose rows have a gain."""

_FRACTION = r"[0-9]*\.[0-9]+"
_KEYWORDS = ("threshold", "recall", *LIMITED, "npv")
_DIVISORS = ("positives", "hits", "min")
# Limits of other rates are limits of these, or of 1 minus them.
_COMPLEMENTS = {"fnr": "recall", "fdr": "precision"}


def metric(name: str, blocks: Blocks = COLUMNS) -> Metric:
    """Read a metric's name.

    Its formulas name the columns of the table of blocks, or of its equivalent in an expression.
    """
    if not isinstance(name, str):
        raise TypeError(f"a metric is asked for by its name, got {shown(name)}")
    return _read(name, blocks)


@lru_cache(maxsize=1024)
def _read(name: str, blocks: Blocks) -> Metric:
    refuse_long("metric", name)
    for family in FAMILIES:
        if match := re.fullmatch(family.pattern, name):
            head, _, cutoff = name.partition("@")
            if re.fullmatch(_FRACTION, cutoff):
                hint = " or ".join(_with_cutoff(head, cutoff)) or "leave it out"
                raise ValueError(
                    f"k must be a whole number of at least 1, got {cutoff}: at a score or a rate it is {hint}"
                )
            return family.build(match, blocks)
    examples = "names look like average_precision, precision@10, f1@threshold=0.5, k@recall=0.8"
    raise ValueError(f"no metric is named {name!r}; {metric_hint(name) or examples}")


def is_metric(name: object) -> bool:
    """Return whether a text is the name of a metric."""
    return isinstance(name, str) and _is_name(name)


def request_for(names: Iterable[str], request: Request, *, averages: bool = False) -> Request:
    """Return the request, adapted to what these metrics read. Warn about options that no metric uses."""
    metrics = [metric(name) for name in names]
    thresholds = [float(record.cutoff.threshold) for record in metrics if isinstance(record.cutoff, Threshold)]
    ranks = any(any(record.aggregates.values()) and not isinstance(record.cutoff, Threshold) for record in metrics)
    numbers = frozenset(TOTALS)
    if request.totals:
        read = (_columns_of(record, request.ties) for record in metrics)
        numbers &= frozenset(chain.from_iterable(read))
    return request.used_as(Use(ranks, list(dict.fromkeys(thresholds)), averages), numbers)


def _columns_of(record: Metric, ties: Ties) -> set[str]:
    """Return the columns and facts that a metric reads."""
    formulas = [record.value, *(part.over for part in record.aggregates.get(ties, {}).values())]
    return {name for formula in formulas for name in formula.meta.root_names()}


def _is_name(name: str) -> bool:
    cutoff = name.partition("@")[2]
    return not re.fullmatch(_FRACTION, cutoff) and any(re.fullmatch(family.pattern, name) for family in FAMILIES)


def metric_hint(name: str) -> str:
    """Return what to write instead of an unknown name: at most two names, with the caller's cutoff, or nothing."""
    text = normalize(name)
    if "," in text:
        return f"several metrics are a list: {[_best(part) for part in text.split(',') if part]}"
    # `ndcg_at_5` is ndcg@5, and `ndcg_at_k` has any cutoff.
    text = re.sub("_at_k$", "@10", re.sub("_at_(?=[0-9])", "@", text))
    if _is_name(text) and not re.fullmatch(r"fpr@[0-9]+", text):
        return f"the nearest names are {text}"
    head, tail = _split(text)
    if re.fullmatch(r"m?ap(_?[0-9]{2}(_?[0-9]{2})?|@0?\.[0-9]+(:0?\.[0-9]+)*)", text):
        return (
            "overlaps (IoU) belong to the matching of boxes, which comes before: average_precision of the matched "
            "detections, by class"
        )
    note = f" ({NOTES[head]})" if head in NOTES else ""
    if targets := _targets(head):
        if not tail and all(_needs_cutoff(target) for target in targets):
            examples = (f"{target}@{cutoff}" for target in targets for cutoff in ("10", "threshold=0.5"))
            return f"it needs a cutoff, such as {' or '.join([*filter(_is_name, examples)][:MOST])}{note}"
        return f"the nearest names are {', '.join(_with_cutoffs(targets, tail))}{note}"
    if reason := not_offered(head):
        return reason
    synonyms = {target: tuple(others) for target, others in _all_synonyms()}
    if names := _with_cutoffs(similar_names(head, synonyms), tail):
        return f"the nearest names are {', '.join(names)}"
    return ""


def _with_cutoffs(heads: Sequence[str], tail: str) -> list[str]:
    """Return at most two names with this cutoff; with other cutoffs if none of the names accepts it."""
    names = dict.fromkeys(candidate for head in heads for candidate in _with_cutoff(head, tail))
    return ([candidate for candidate in names if tail and candidate.endswith(f"@{tail}")] or [*names])[:MOST]


def _best(text: str) -> str:
    """Return the first name that a text may mean, or the text itself."""
    if _is_name(text):
        return text
    head, tail = _split(text)
    return next((candidate for target in _targets(head) for candidate in _with_cutoff(target, tail)), text)


def _split(text: str) -> tuple[str, str]:
    """Return the normalized head of a name and its cutoff, in our spelling."""
    if match := re.fullmatch(r"fpr_?@?([0-9]{2})%?_?(?:tpr|recall)?", text):
        return "fpr", f"recall=0.{match[1]}"  # FPR95 is the false positive rate at 95 % recall
    if match := re.fullmatch(r"(?:max|best|optimal|maximum)_?(f[0-9.]+)|(f[0-9.]+)_?(?:max|best|optimal)", text):
        return f"max_{match[1] or match[2]}", ""
    if match := re.fullmatch(r"threshold@(?:best_|optimal_)?(f[0-9.]+)", text):
        return f"threshold@max_{match[1]}", ""
    text = re.sub(r"^f_?([0-9.]+)_?(?:score|measure)", r"f\1", text)
    text = re.sub(r"^top_?([0-9]+)_accuracy(?:_score)?$", r"top_k_accuracy@\1", text)
    head, _, tail = text.partition("@")
    # trec_eval writes ranks and recalls like this: P_10, ndcg_cut.10, iprec_at_recall_0.10.
    rank = re.fullmatch(r"(.+?)[_.]([0-9]+|0\.[0-9]+)", head)
    if rank and not tail and not head.startswith("interpolated") and not _targets(head):
        head, tail = rank[1], rank[2]
    return head, _cutoff(head, tail)


def _cutoff(head: str, tail: str) -> str:
    """Return a cutoff in our spelling: `1%fpr` is fpr=0.01, `tpr=0.95` is recall=0.95, `k=5` is 5."""
    tail = re.sub("^(recall|precision|threshold)_(?=[0-9.])", r"\1=", tail)
    number = rf"{DECIMAL}%?"
    if match := re.fullmatch(rf"({number})_?([a-z_]+)", tail):
        tail = f"{match[2]}={match[1]}"
    elif match := re.fullmatch(rf"([a-z_]*[a-z])_?({number})", tail):
        tail = f"{match[1]}={match[2]}"
    word, equals, value = tail.partition("=")
    if not equals:
        # A fraction means a recall if nothing else is possible.
        at_recall = re.fullmatch(_FRACTION, tail) and _is_name(f"{head}@recall={tail}") and not _is_name(f"{head}@10")
        return f"recall={tail}" if at_recall else tail
    if word in ("k", "top", "top_k", "n", "rank", "cutoff"):
        return value
    word = next((target for target in _targets(word) if target in (*_KEYWORDS, *_COMPLEMENTS)), word)
    word = word if word in _COMPLEMENTS else next(iter(similar_names(word, dict.fromkeys(_KEYWORDS, ()))), word)
    if re.fullmatch(rf"{DECIMAL}%", value):
        value = f"{float(value[:-1]) / 100:g}"
    if word in _COMPLEMENTS and re.fullmatch(DECIMAL, value):
        word, value = _COMPLEMENTS[word], f"{round(1 - float(value), 12):g}"
    return f"{word}={value}"


def _targets(head: str) -> list[str]:
    """Return the metrics and rates that a head names or is a synonym of."""
    itself = head in HEADS or head in RATES or re.fullmatch(NUMBERED_NAME, head) or _is_name(head)
    metrics = (offered.split(", ") for offered, others in METRIC_SYNONYMS.items() if head in others)
    rates = [name for name, rate in RATES.items() if head in rate.synonyms]
    return [*([head] if itself else []), *chain.from_iterable(metrics), *rates]


def _needs_cutoff(target: str) -> bool:
    return not _is_name(target) and _is_name(f"{target}@10")


def _all_synonyms() -> Iterator[tuple[str, tuple[str, ...]]]:
    for head in HEADS:
        yield head, (*METRIC_SYNONYMS.get(head, ()), *(RATES[head].synonyms if head in RATES else ()))


def _with_cutoff(head: str, cutoff: str) -> list[str]:
    """Return the name with this cutoff; otherwise names with other cutoffs of the same number."""
    wanted = f"{head}@{cutoff}" if cutoff else head
    if _is_name(wanted):
        return [wanted]
    if re.fullmatch(_FRACTION, cutoff):
        others = [f"{head}@threshold={cutoff}", *(f"{head}@{word}={cutoff}" for word in _KEYWORDS[1:] if word != head)]
        if names := [other for other in others if _is_name(other)]:
            return names[:MOST]
    others = [head, f"{head}@10", f"{head}@threshold=0.5", f"{head}@recall=0.8"]
    word = cutoff.partition("=")[0]
    others = [f"{head}@{word}=0.5", *others] if word in _KEYWORDS else others
    rank, slash, _ = cutoff.partition("/")
    others = [f"{head}@{rank}", *(f"{head}@{rank}/{divisor}" for divisor in _DIVISORS), *others] if slash else others
    return [other for other in dict.fromkeys(others) if _is_name(other)][:MOST]
