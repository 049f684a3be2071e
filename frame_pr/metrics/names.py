"""Read the name of a metric, and answer an unknown name with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from frame_pr.frames.messages import nearest
from frame_pr.frames.words import CALLS, METRICS, SENTENCES, is_word, meant
from frame_pr.inputs.options import Ties
from frame_pr.inputs.request import TOTALS, Request, Use
from frame_pr.metrics import (
    at_cutoffs,
    average_precisions,
    rank_metrics,
    roc,
)
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.metric import Blocks, Metric
from frame_pr.metrics.numbers import refuse_long
from frame_pr.metrics.rates import COUNTS, NUMBERED_NAME, RATES

FAMILIES = (
    *average_precisions.FAMILIES,
    *at_cutoffs.FAMILIES,
    *roc.FAMILIES,
    *rank_metrics.FAMILIES,
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
    *(
        f"{at}max_{name}"
        for name, rate in RATES.items()
        if rate.best_by is not None
        for at in ("", "threshold@")
    ),
    "cost10",
    "min_cost10",
    "threshold@min_cost10",
    "net_benefit",
    "standardized_net_benefit",
    "rbp0.8",
    "rows",
    "positives",
    "tied_rows",
    "average_precision_lift",
)
"""The parts of names before a cutoff, for completion in editors and for suggestions."""

BLOCKS = Blocks()
"""For tables whose weighted counts are whole numbers."""
FLOAT_BLOCKS = Blocks(fractional=True)
"""For tables whose weighted counts are floats."""
GRADED_BLOCKS = Blocks(graded=True)
"""For tables whose rows have a gain."""

_FRACTION = r"[0-9]*\.[0-9]+"
_NUMBER = r"-?([0-9.]+(e-?[0-9]+)?|inf)"
_EXAMPLES = {
    "threshold": "0.5",
    "recall": "0.8",
    "precision": "0.9",
    "fpr": "0.1",
    "specificity": "0.9",
    "npv": "0.9",
}
"""A number for each word of a cutoff."""
_KEYWORDS = tuple(_EXAMPLES)


def metric(name: str, blocks: Blocks = BLOCKS) -> Metric:
    """Read a metric's name. Its formulas name the columns of the table of blocks."""
    return _read(name, blocks)


@lru_cache(maxsize=1024)
def _read(name: str, blocks: Blocks) -> Metric:
    refuse_long("metric", name)
    for family in FAMILIES:
        if match := re.fullmatch(family.pattern, name):
            head, _, cutoff = name.partition("@")
            if re.fullmatch(_FRACTION, cutoff):
                hint = (
                    " or ".join(name for name in _with_cutoff(head, cutoff)[:2] if "=" in name)
                    or "leave it out"
                )
                raise ValueError(
                    f"k must be a whole number of at least 1, got {cutoff}: at a score or a rate it is {hint}"
                )
            return family.build(match, blocks)
    hint = (
        metric_hint(name)
        or "names look like average_precision, precision@10, f1@threshold=0.5, k@recall=0.8"
    )
    raise ValueError(f"no metric is named {name!r}; {hint}")


def is_metric(name: object) -> bool:
    """Return whether a text is the name of a metric."""
    return isinstance(name, str) and _is_name(name)


def request_for(names: Iterable[str], request: Request, *, averages: bool = False) -> Request:
    """Return the request, adapted to what these metrics read. Warn about options that no metric uses."""
    thresholds, ranks, read = dict[float, None](), False, set[str]()
    for record in map(metric, names):
        if isinstance(record.cutoff, Threshold):
            thresholds[float(record.cutoff.threshold)] = None
        else:
            ranks = ranks or bool(record.aggregates["threshold"]())
        if request.totals:
            read |= _columns_of(record, request.ties)
    numbers = read.intersection(TOTALS) if request.totals else TOTALS
    return request.used_as(Use(ranks, list(thresholds), averages), numbers)


def _columns_of(record: Metric, ties: Ties) -> set[str]:
    """Return the columns and facts that a metric reads."""
    aggregates = record.aggregates[ties]() if ties in record.aggregates else {}
    formulas = [record.value, *(aggregate.over for aggregate in aggregates.values())]
    return {name for formula in formulas for name in formula.meta.root_names()}


def _is_name(name: str) -> bool:
    cutoff = name.partition("@")[2]
    return not re.fullmatch(_FRACTION, cutoff) and any(
        re.fullmatch(family.pattern, name) for family in FAMILIES
    )


def metric_hint(name: str) -> str:
    """Return what to write instead of an unknown name, or nothing."""
    names = meant_names(name)
    if names and _needs_cutoff(names[0]):
        return f"it needs a cutoff, such as {' or '.join(example_names(names[0]))}"
    if names:
        return f"did you mean {' or '.join(map(repr, names))}?"
    head = _head_and_cutoff(name)[0]
    calls = [f"{call} does that" for call in meant(CALLS, head)]
    return next(iter([*meant(SENTENCES, head), *calls]), "")


def meant_names(name: str) -> list[str]:
    """Return the names that an unknown name may mean, at most two, with the caller's cutoff if they take it."""
    head, cutoff = _head_and_cutoff(name)
    heads = (
        [head, *meant(METRICS, head)]
        if _takes_any_cutoff(head) or is_word(head)
        else nearest(head, HEADS, cutoff=0.7)[:1]
    )
    names = [candidate for target in heads for candidate in _with_cutoff(target, cutoff)[:1]]
    return list(dict.fromkeys(names))[:2]


def example_names(name: str) -> list[str]:
    """Return the name, or if it needs a cutoff the name at two of them."""
    cutoffs = ("10", "threshold=0.5", "recall=0.8")
    return (
        [name]
        if _is_name(name)
        else [f"{name}@{cutoff}" for cutoff in cutoffs if _is_name(f"{name}@{cutoff}")][:2]
    )


def _head_and_cutoff(name: str) -> tuple[str, str]:
    """Split a name of another library or a misspelt one into its head and its cutoff, in our spelling."""
    text = re.sub(r"[\s-]+", "_", re.sub(r"\s*([@=%])\s*", r"\1", name.strip().lower()))
    if is_word(text) or _takes_any_cutoff(text):
        return text, ""
    # trec_eval writes P_10, ndcg_cut.10 and iprec_at_recall_0.10; methods of other libraries end in
    # _at_k.
    separator = (
        r"@|_at_|_(?=(?:threshold|recall|fpr)[_=][0-9.])|[_.](?=[0-9])|(?<=[a-z])(?=[0-9]+$)"
    )
    match = re.fullmatch(rf"(.+?)(?:{separator})(.*)", text)
    if match is None or re.fullmatch(NUMBERED_NAME, text):
        return text, ""
    word, _, number = re.sub(r"(?<=[a-z])_(?=[0-9.])", "=", match[2]).partition("=")
    if word in ("k", "top", "n", "rank"):
        return match[1], number or "10"
    word = next((answer for answer in meant(METRICS, word) if answer in _KEYWORDS), word)
    if not (near := nearest(word, _KEYWORDS, cutoff=0.7)):
        near = nearest(text, [head for head in HEADS if "@" in head], cutoff=0.8)
        return (near[0], "") if near else (match[1], word)
    if percent := re.fullmatch(r"([0-9]+\.?[0-9]*)%", number):
        number = f"{float(percent[1]) / 100:g}"
    return match[1], f"{near[0]}={number if re.fullmatch(_NUMBER, number) else _EXAMPLES[near[0]]}"


def _takes_any_cutoff(head: str) -> bool:
    return any(
        _is_name(f"{head}{cutoff}") for cutoff in ("", "@10", "@recall=0.8", "@threshold=0.5")
    )


def _needs_cutoff(head: str) -> bool:
    return not _is_name(head) and _takes_any_cutoff(head)


def _with_cutoff(head: str, cutoff: str) -> list[str]:
    """Return the name with this cutoff; otherwise the name alone, or names with other cutoffs."""
    others = (
        [f"@threshold={cutoff}", f"@recall={cutoff}"] if re.fullmatch(_FRACTION, cutoff) else []
    )
    others += [f"@{cutoff.partition('/')[0]}", "", "@10", "@threshold=0.5", "@recall=0.8"]
    exact = f"{head}@{cutoff}" if cutoff else head
    if not cutoff and _needs_cutoff(head):
        return [head]
    return [name for name in (exact, *(head + other for other in others)) if _is_name(name)]
