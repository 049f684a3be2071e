"""Read the name of a metric, and answer an unknown name with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from frame_pr.frames.columns import root_names
from frame_pr.frames.messages import nearest
from frame_pr.frames.words import CALLS, METRICS, SENTENCES, is_word, meant
from frame_pr.inputs.request import TOTALS, Request, Use
from frame_pr.metrics import (
    at_cutoffs,
    average_precisions,
    rank_metrics,
    roc,
    score_means,
)
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.metric import Blocks, Family, Metric, NameMatch
from frame_pr.metrics.numbers import NUMBER, refuse_long
from frame_pr.metrics.rates import COUNTS, NUMBERED_NAME

FAMILIES = (
    *average_precisions.FAMILIES,
    *at_cutoffs.FAMILIES,
    *roc.FAMILIES,
    *rank_metrics.FAMILIES,
    *score_means.FAMILIES,
)
"""All families of metrics."""

HEADS = tuple(dict.fromkeys(head for family in FAMILIES for head in family.heads))
"""The names before a cutoff, for completion in editors and for suggestions."""
_WORDS = tuple(head for head in HEADS if head not in COUNTS and "/" not in head)
_NAMES_WITH_CUTOFFS = tuple(head for head in _WORDS if "@" in head)

BLOCKS = Blocks()
"""For tables whose weighted counts are whole numbers."""
FLOAT_BLOCKS = Blocks(fractional=True)
"""For tables whose weighted counts are floats."""
GRADED_BLOCKS = Blocks(graded=True)
"""For tables whose rows have a gain."""

_FRACTION = r"[0-9]*\.[0-9]+"
_EXAMPLES = {
    "threshold": "0.5",
    "recall": "0.8",
    "precision": "0.9",
    "fpr": "0.1",
    "specificity": "0.9",
    "npv": "0.9",
}
"""A number for each word of a cutoff."""
# trec_eval writes P_10, ndcg_cut.10 and iprec_at_recall_0.10; methods of other libraries end in
# _at_k.
_OTHER_SEPARATORS = (
    r"_at_|_(?=(?:threshold|recall|fpr)[_=][0-9.])|[_.](?=[0-9])|(?<=[a-z])(?=[0-9]+$)"
)


def metric(name: str, blocks: Blocks = BLOCKS) -> Metric:
    """Read a metric's name. Its formulas name the columns of the table of blocks."""
    return _read(name, blocks)


@lru_cache(maxsize=1024)
def _read(name: str, blocks: Blocks) -> Metric:
    refuse_long("metric", name)
    if family_and_match := _match(name):
        family, match = family_and_match
        return family.build(match, blocks)
    examples = "average_precision, precision@10, f1@threshold=0.5, k@recall=0.8"
    hint = metric_hint(name) or f"names look like {examples}"
    raise ValueError(f"no metric is named {name!r}; {hint}")


@lru_cache(maxsize=1024)
def _match(name: str) -> tuple[Family, NameMatch] | None:
    """Return the family of a name, and the match of its pattern. A fraction is no rank."""
    if re.fullmatch(_FRACTION, name.partition("@")[2]):
        return None
    matches = ((family, family.match(name)) for family in FAMILIES)
    return next(((family, match) for family, match in matches if match), None)


def is_metric(name: object) -> bool:
    """Return whether a text is the name of a metric."""
    return isinstance(name, str) and _match(name) is not None


def request_for(names: Iterable[str], request: Request, *, averages: bool = False) -> Request:
    """Return the request, adapted to what these metrics read.

    Warn about options that no metric uses.
    """
    thresholds: dict[float, None] = {}
    ranks = False
    columns: list[str] = []
    for record in map(metric, names):
        if isinstance(record.cutoff, Threshold):
            thresholds[float(record.cutoff.threshold)] = None
        else:
            ranks = ranks or bool(record.aggregates["threshold"])
        if request.totals:
            aggregates = record.aggregates.get(request.ties, {})
            columns += root_names(
                [record.value], (aggregate.over for aggregate in aggregates.values())
            )
    numbers = set(TOTALS).intersection(columns) if request.totals else TOTALS
    return request.used_as(Use(ranks, list(thresholds), averages), numbers)


def metric_hint(name: str) -> str:
    """Return what to write instead of an unknown name, or nothing."""
    head, cutoff = _head_and_cutoff(name)
    calls = meant(CALLS, head)
    if calls and not cutoff:
        return f"{calls[0]} does that"
    names = meant_names(name)
    if names and not is_metric(names[0]):
        return f"it needs a cutoff, such as {' or '.join(example_names(names[0]))}"
    if names:
        return f"did you mean {' or '.join(map(repr, names))}?"
    return next(iter(meant(SENTENCES, head)), "")


def meant_names(name: str) -> list[str]:
    """Return at most two names that an unknown one may mean, with its cutoff if they take it."""
    head, cutoff = _head_and_cutoff(name)
    text = f"{head}@{cutoff}"
    goals = nearest(text, _NAMES_WITH_CUTOFFS, cutoff=0.85)
    if goals and not is_metric(text):
        return goals[:1]
    # The best recall within a limit of another rate is the recall at this limit.
    of_best = re.sub("^(max|min|best)_", "", head)
    if example_names(head) or is_word(head):
        heads = [head, *meant(METRICS, head)]
    elif cutoff and example_names(of_best):
        heads = [of_best]
    else:
        heads = nearest(head, _WORDS, cutoff=0.82)[:1]
    names = chain.from_iterable(_with_cutoff(target, cutoff) for target in heads)
    return list(dict.fromkeys(names))[:2]


def example_names(name: str) -> list[str]:
    """Return the name, or if it needs a cutoff the name at two of them."""
    if is_metric(name):
        return [name]
    cutoffs = ("10", "threshold=0.5", "recall=0.8")
    return [text for cutoff in cutoffs if is_metric(text := f"{name}@{cutoff}")][:2]


def _head_and_cutoff(name: str) -> tuple[str, str]:
    """Split an unknown name into its head and its cutoff, in our spelling."""
    text = re.sub(r"\s*([@=%])\s*", r"\1", name.strip().lower())
    text = re.sub(r"[\s-]+", "_", text)
    is_head = "@" not in text and bool(example_names(text))
    if is_head or is_word(text) or re.fullmatch(NUMBERED_NAME, text):
        return text, ""
    match = re.fullmatch(rf"(.+?)(?:{_OTHER_SEPARATORS})(.*)", text)
    head, separator, cutoff = text.partition("@")
    if match and not separator:
        head, cutoff = match.groups()
    return head, cutoff and _cutoff_meant(cutoff)


def _cutoff_meant(text: str) -> str:
    """Return a cutoff in our spelling: `recall=0.95` for `tpr_0.95`."""
    if re.match("(max|min|best)_", text):
        return text
    word, _, number = re.sub("(?<=[a-z])_?(?=[0-9.])", "=", text, count=1).partition("=")
    if word in ("k", "top", "n", "rank"):
        return number or "10"
    rates = [rate for rate in meant(METRICS, word) if rate in _EXAMPLES]
    rates += nearest(word, _EXAMPLES, cutoff=0.7)
    if not rates:
        return text
    if re.fullmatch(r"[0-9]+\.?[0-9]*%", number):
        number = f"{float(number[:-1]) / 100:g}"
    elif not re.fullmatch(NUMBER, number):
        number = _EXAMPLES[rates[0]]
    return f"{rates[0]}={number}"


def _with_cutoff(head: str, cutoff: str) -> list[str]:
    """Return the name with this cutoff, or similar ones; the head if it needs another."""
    similar = [f"{head}@{cutoff}", f"{head}@{cutoff.partition('/')[0]}", head]
    names = list(filter(is_metric, similar))[:1]
    if re.fullmatch(_FRACTION, cutoff):
        words = ["threshold", "recall", "fpr"] if float(cutoff) <= 1 else ["threshold"]
        at_fraction = (f"{head}@{word}={cutoff}" for word in words)
        names = [*filter(is_metric, at_fraction)] or names
    if not names and example_names(head):
        return [head]
    return names
