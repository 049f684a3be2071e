"""Options and tie rules: records of what they mean, and of the functions that refuse them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import polars as pl

from frame_pr.frames.arguments import Refusal

Ties: TypeAlias = Literal["threshold", "expected", "optimistic", "pessimistic", "order"]


@dataclass(frozen=True)
class TieRule:
    """A meaning of equal scores. Fields have no defaults, so an incomplete record fails at import."""

    orders: Literal["nothing", "all orders", "truth", "rows"]
    """What orders rows of equal score: nothing, so that a threshold selects them together; nothing, and the value is
    the mean over all their orders; their labels (or gains); or the order of the rows in the frame.
    """
    descending: bool
    """Whether tied rows are in descending order: positives first, or the last row first."""
    refusal: str
    """What an error says about a metric that is undefined under the rule, if there is one."""
    definition: str
    """What `identify` says about a value under the rule."""
    sentence: str
    """The sentence in the docs."""

    @cached_property
    def together(self) -> bool:
        """Return whether a threshold selects equal scores together."""
        return self.orders == "nothing"

    @cached_property
    def averages(self) -> bool:
        """Return whether a value is the mean over all orders of equal scores."""
        return self.orders == "all orders"

    @cached_property
    def bounds(self) -> bool:
        """Return whether a value is the largest or smallest over all orders, because labels order equal scores."""
        return self.orders == "truth"

    @cached_property
    def by_row(self) -> bool:
        """Return whether the order of the rows matters, so that a row with a count has no single place."""
        return self.orders == "rows"


TIES: Mapping[Ties, TieRule] = {
    "threshold": TieRule(
        orders="nothing",
        descending=False,
        refusal="",
        definition="",
        sentence="they are taken together, as a threshold takes them, and a rank cut-off among them takes its expected "
        "share",
    ),
    "expected": TieRule(
        orders="all orders",
        descending=False,
        refusal="has no closed form in expectation: {way}ties='threshold' takes equal scores together",
        definition="in expectation over the orders of equal scores",
        sentence="the expectation over all their orders (McSherry and Najork 2008)",
    ),
    "optimistic": TieRule(
        orders="truth",
        descending=True,
        refusal="is not best with positives first: ties='optimistic' would be no bound of it",
        definition="positives first among equal scores",
        sentence="positives first",
    ),
    "pessimistic": TieRule(
        orders="truth",
        descending=False,
        refusal="is not worst with positives last: ties='pessimistic' would be no bound of it",
        definition="positives last among equal scores",
        sentence="positives last",
    ),
    "order": TieRule(
        orders="rows",
        descending=False,
        refusal="",
        definition="equal scores in the order of the rows, as VOC and COCO have them, and ranx where there are at "
        "most 15",
        sentence="they stand in the order of the rows",
    ),
}
assert get_args(Ties) == tuple(TIES), "Ties and TIES name different rules"

DEFAULT_TIES: Ties = next(iter(TIES))
BOUNDS = tuple(name for name, rule in TIES.items() if rule.bounds)
"""The tie rules that bound a value."""


Column: TypeAlias = str | pl.Expr
Columns: TypeAlias = Column | Sequence[Column]


class Policies(TypedDict, total=False):
    """Options for rows that are tied, weighted, without a score, without a label, or missing from the frame.

    Each function takes those that have a meaning there, and says which it refuses; the docs have them all in one table.
    With `weight`, `ties` is "threshold", and there are no figures at ranks, as a weighted row stands for several.

    Parameters
    ----------
    ties : "threshold", "expected", "optimistic", "pessimistic" or "order"
        What equal scores mean. "threshold", the default: they are taken together, as a threshold takes them, and a rank
        cut-off among them takes its expected share. "expected": the expectation over all their orders (McSherry and
        Najork 2008). "optimistic": positives first; "pessimistic": positives last; no order is better, or worse. A
        count or rate of mistakes, such as `fp` and `fpr`, and `k` at a recall are smallest in the best. "order": they
        stand in the order of the rows.
    tie_break : str or polars expression
        A column that ranks rows of equal score, with no other `ties` than "threshold".
    tie_break_descending : bool
        Whether the largest `tie_break` comes first; the default, and what trec_eval does with document names.
    ascending : bool
        Whether a small score is best, as of ranks, distances and losses. A threshold then takes the rows that score at
        most as much, and the lowest threshold is what is called the highest elsewhere.
    weight : str or polars expression
        Weights of rows: a row of weight 2 counts as two rows, one of weight 0 not at all. All counts but `ties` are
        sums of weights then, Int64 where the weights are integers, and else Float64.
    count : str or polars expression
        How many rows a row stands for, as `tally` counts them: a whole number, 0 for none, up to 2**56 in all. All
        figures are those of so many rows, to the last bit, and ranks count each of them; `weight` and `gain` are what
        each of them has. Not with `tie_break` and `ties="order"`, as they have no places of their own.
    gain : str or polars expression
        What a row is worth to `dcg` and `ndcg`, 0 or more, such as a grade of relevance, or `2 ** grade - 1`. Without
        it, a positive is worth 1. It may be missing where the truth is.
    unscored : "raise", "unretrieved" or "drop"
        Rows whose score is null or NaN. "raise", the default: an error says how many. "unretrieved": they count among
        the rows and positives of their group and are ranked nowhere. "drop": they are left out.
    unjudged : "raise", "negative" or "drop"
        Rows whose truth is null or NaN. "raise", the default: an error says how many. "negative": they count as
        negatives. "drop": they are left out.
    positives : str, polars expression or frame
        The known number of positives in the group, a whole number, where the frame holds only the top of a ranking: a
        column that is constant in each group, or a frame of the `by` columns and one more. With `weight`, the sum of
        their weights. A group that only such a frame has is one of which nothing was retrieved, and counts in a mean;
        it has no curve, and no rows for `with_metrics`, and is left out beside a column of the other total. A group of
        none is one with a total of 0.
    rows : str, polars expression or frame
        Likewise, the known number of rows.
    """

    ties: Ties
    tie_break: Column
    tie_break_descending: bool
    ascending: bool
    weight: Column
    count: Column
    gain: Column
    unscored: Literal["raise", "unretrieved", "drop"]
    unjudged: Literal["raise", "negative", "drop"]
    positives: Column | Any
    rows: Column | Any


class TrecEvalOptions(TypedDict):
    """The options of `TREC_EVAL`."""

    tie_break: Column
    unscored: Literal["unretrieved"]
    unjudged: Literal["negative"]
    undefined: float


TREC_EVAL: TrecEvalOptions = {
    "tie_break": "document",
    "unscored": "unretrieved",
    "unjudged": "negative",
    "undefined": 0.0,
}
"""What trec_eval does with equal scores, with documents that were not retrieved or judged, and without positives."""

_RANKED_LATER = "rows of the tally stand for several, which have no order: evaluate the rows themselves"
_TOTALS_LATER = "give known totals where the tally is evaluated"
_CURVE = (
    Refusal("gain", "dcg, ndcg and captured_gain add it up, and a curve has none of them: leave it out"),
    Refusal(
        "ties",
        "a curve has no expectation over orders, and a threshold takes equal scores together: leave out ties=",
        values=tuple(name for name, rule in TIES.items() if rule.averages),
    ),
    Refusal(
        "ties",
        "the curve would have a row for each row, and a row with a count= stands for several: leave out ties=",
        with_option="count",
    ),
)
_NO_RANKING = "predicted classes have no ranking: leave it out"
_OWN_SCORE = "rows get the figures at their own score, so equal scores are taken together: leave it out"
REFUSED: Mapping[str, Sequence[Refusal]] = {
    "above_chance": (
        Refusal("weight", "rows of different weight are not equally likely to be positive: leave it out"),
        Refusal("gain", "average precision and ROC AUC do not use it: leave it out"),
        Refusal(
            "ties",
            "random rankings keep the equal scores, without an order of positives among them: leave it out",
            values=tuple(name for name, rule in TIES.items() if rule.averages or rule.bounds),
        ),
    ),
    "average_curve": _CURVE,
    "confusion": (
        Refusal("ties", _NO_RANKING, with_option="prediction"),
        Refusal("tie_break", _NO_RANKING, with_option="prediction"),
        Refusal("ascending", _NO_RANKING, with_option="prediction"),
        Refusal("weight", "weighted rows have no rank: give threshold= instead, or leave out weight=", with_option="k"),
    ),
    "curve": _CURVE,
    "gains_table": (Refusal("weight", "weighted rows have no rank: leave it out"),),
    "identify": (
        Refusal("ties", "identify tries all of its values: leave it out"),
        Refusal("weight", "the definitions that it tries have ranks, and weighted rows have none: leave it out"),
        Refusal("positives", "identify tries the definitions on the rows at hand: put missing rows in"),
        Refusal("rows", "identify tries the definitions on the rows at hand: put missing rows in"),
    ),
    "plot": (*_CURVE, Refusal("weight", "weighted rows have no rank: leave out k=, or weight=", with_option="k")),
    "plot_scores": (
        Refusal("by", "it draws the scores of all rows: filter one group, or call it for each group"),
        *_CURVE,
    ),
    "report": (
        Refusal(
            "weight",
            "a report has metrics at ranks, and weighted rows have no rank: evaluate([...], ..., weight=) takes others",
        ),
    ),
    "tally": (
        Refusal("ties", "say what equal scores mean where the tally is evaluated"),
        Refusal("tie_break_descending", _RANKED_LATER),
        Refusal("tie_break", _RANKED_LATER),
        Refusal("positives", _TOTALS_LATER),
        Refusal("rows", _TOTALS_LATER),
    ),
    "with_curve": (
        _CURVE[0],
        *(Refusal(option, _OWN_SCORE) for option in ("ties", "tie_break_descending", "tie_break")),
    ),
}
"""The options that a function refuses for every metric."""
_NO_PLACES = (
    "a row with a count= stands for several rows of equal score: ties='expected' is the mean over their orders, "
    "'optimistic' and 'pessimistic' bound it"
)
_SAMPLED = "there is no standard error for it where rows are sampled: leave it out"
SAMPLED_ROWS = (
    *(Refusal(option, _SAMPLED) for option in ("weight", "gain", "tie_break", "ties")),
    Refusal("rows", f"{_SAMPLED}, and put missing rows in, with a null score and unscored='unretrieved'"),
)
"""The options that a standard error over sampled rows refuses."""
SAMPLED_CLUSTERS = (
    Refusal("count", "a row stands for several, of one cluster or more: give the rows themselves"),
    Refusal("positives", f"{_SAMPLED}, and put missing rows in, with a null score and unscored='unretrieved'"),
)
"""The options that are refused as well if clusters of rows are sampled."""
TOGETHER = (
    Refusal("tie_break", "both rank the rows of equal score: give one of the two", with_option="ties"),
    Refusal(
        "gain", "ranks discount gains, and rows with a weight= have no rank: give one of the two", with_option="weight"
    ),
    Refusal(
        "gain",
        "the gain of each row is needed, and positives= says that rows are missing: put them in, with a null score and "
        "unscored='unretrieved'",
        with_option="positives",
    ),
    Refusal("tie_break", _NO_PLACES, with_option="count"),
    Refusal("ties", _NO_PLACES, values=tuple(name for name, rule in TIES.items() if rule.by_row), with_option="count"),
    Refusal(
        "ties", "weighted rows of equal score have no order: tie_break= ranks them by a column", with_option="weight"
    ),
)
"""The options that exclude each other in every function."""
