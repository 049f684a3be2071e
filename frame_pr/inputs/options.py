"""Options and tie rules: records of what they mean, and of the functions that refuse them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast, get_args

import polars as pl

from frame_pr.frames.arguments import Refusal

if TYPE_CHECKING:
    from typing_extensions import TypedDict
else:
    from typing import TypedDict

Ties: TypeAlias = Literal["threshold", "expected", "optimistic", "pessimistic", "order"]


class TieRule(NamedTuple):
    """A meaning of equal scores."""

    orders: Literal["nothing", "all orders", "truth", "rows"]
    """What orders rows of equal score: nothing, so that a threshold selects them together; nothing,
    and the value is the mean over all their orders; their labels (or gains); or the order of the
    rows in the frame.
    """
    descending: bool = False
    """Whether tied rows are in descending order: positives first, or the last row first."""
    refusal: str = ""
    """What an error says about a metric that is undefined under the rule, if there is one."""

    @property
    def bounds(self) -> bool:
        """Return whether a value is the largest or smallest over all orders of equal scores."""
        return self.orders == "truth"

    @property
    def by_row(self) -> bool:
        """Return whether the order of the rows matters: a counted row has no single place."""
        return self.orders == "rows"


TIES: Mapping[Ties, TieRule] = {
    "threshold": TieRule("nothing"),
    "expected": TieRule(
        "all orders",
        refusal="has no closed form in expectation: {way}ties='threshold' selects equal scores "
        "together",
    ),
    "optimistic": TieRule(
        "truth",
        descending=True,
        refusal="is not best with positives first: ties='optimistic' would be no bound of it",
    ),
    "pessimistic": TieRule(
        "truth",
        refusal="is not worst with positives last: ties='pessimistic' would be no bound of it",
    ),
    "order": TieRule("rows"),
}
assert get_args(Ties) == tuple(TIES), "Ties and TIES name different rules"

BOUNDING_TIES = tuple(name for name, rule in TIES.items() if rule.bounds)
"""The tie rules that bound a value."""
_BY_ROW = tuple(name for name, rule in TIES.items() if rule.by_row)


Column: TypeAlias = str | pl.Expr
Columns: TypeAlias = Column | Sequence[Column]


class RowOptions(TypedDict, total=False):
    """The options that every function of rows accepts; see `Options`."""

    ascending: bool
    count: Column
    unscored: Literal["raise", "unretrieved", "drop"]
    unjudged: Literal["raise", "negative", "drop", "trec_eval"]


class RankOptions(RowOptions, total=False):
    """The options of metrics at ranks; see `Options`."""

    ties: Ties
    tie_break: Column
    tie_break_descending: bool
    tie_break_as_text: bool
    total_positives: Column | Any
    total_rows: Column | Any


class LabelOptions(RankOptions, total=False):
    """The options of metrics of labels without grades; see `Options`."""

    weight: Column
    prevalence: float | Column | Any


class GainOptions(RankOptions, total=False):
    """The options of metrics of gains at ranks; see `Options`."""

    gain: Column


class TallyOptions(RowOptions, total=False):
    """The options of `tally`; see `Options`."""

    weight: Column
    gain: Column


class RowCurveOptions(RowOptions, total=False):
    """The options of `with_curve`; see `Options`."""

    weight: Column
    total_positives: Column | Any
    total_rows: Column | Any
    prevalence: float | Column | Any


class AllOptions(LabelOptions, GainOptions, total=False):
    """Options for tied rows, weights, missing values, and rows that are not in the frame.

    Each function accepts the options that have a meaning for it, and names those that it does not
    accept. The docs have a table of all of them. With `weight`, `ties` is "threshold", and metrics
    at a cutoff k are an error, because a weighted row stands for several.

    Parameters
    ----------
    ties : "threshold", "expected", "optimistic", "pessimistic" or "order"
        Rule for rows with equal scores. "threshold", the default: a threshold selects all or none
        of them. If a cutoff k falls inside a tie, the tied rows share their positives evenly.
        "expected": the mean over all orders of the tied rows (McSherry and Najork 2008).
        "optimistic": positives first. "pessimistic": positives last. They give the best
        and the worst value over all orders; `fp`, `fpr` and other rates of errors, and `k` at a
        recall, are smallest for "optimistic". "order": the tied rows keep the order of the frame.
    tie_break : str or polars expression
        A column that orders rows with equal scores. Only with `ties="threshold"`.
    tie_break_descending : bool
        Whether the largest `tie_break` comes first. Default True, as trec_eval orders the names of
        documents.
    tie_break_as_text : bool
        Whether the values of `tie_break` are ordered as text, so that "9" comes after "10".
        trec_eval orders ids so, whatever they are. Default False: in the order of their dtype.
    ascending : bool
        Whether lower scores rank first, as for ranks, distances and losses. A threshold then
        selects rows with at most its score, and the lowest threshold replaces the highest one.
    weight : str or polars expression
        Weights of rows. A row of weight 2 counts as two rows, and a row of weight 0 does not count.
        All counts except `tied_rows` are then sums of weights: Int64 for integer weights, else
        Float64.
    count : str or polars expression
        Number of rows that a row stands for, as in a `tally`: a whole number, at most 2**56 in
        total. All values equal those of the single rows. `weight` and `gain` are those of each
        single row. Not with `tie_break` and `ties="order"`, because counted rows have no order.
    gain : str or polars expression
        Gain of a row for `dcg` and `ndcg`, 0 or more, such as a relevance grade or `2 ** grade -
        1`. Default: 1 for a positive. The gain may be missing where the label is missing.
    unscored : "raise", "unretrieved" or "drop"
        Rows whose score is null or NaN. "raise", the default: an error says how many.
        "unretrieved": they count among the rows and positives of their group, but have no rank.
        "drop": they are left out.
    unjudged : "raise", "negative", "drop" or "trec_eval"
        Rows whose label is null or NaN. "raise", the default: an error says how many. "negative":
        they count as negatives. "drop": they are left out. "trec_eval": they count as negatives,
        and groups without any label are left out, as trec_eval leaves out queries without
        judgments; their rows in `with_metrics` and `with_curve` get null.
    total_positives : str, polars expression or frame
        Known number of positives of the group, if the frame has only the top of a ranking: a whole
        number. Either a column that is constant in each group, or a frame with the columns of `by`
        and one more column. With `weight`, it is the sum of the weights. A group that occurs only
        in such a frame has retrieved nothing: it counts in means, has no curve, and adds no rows to
        `with_metrics`. If `total_rows` is a column, it is left out. A total of 0 is a group without
        positives.
    total_rows : str, polars expression or frame
        Known number of rows of the group, given in the same way.
    prevalence : float, str, polars expression or frame
        The share of positives for which to compute the metrics, above 0 and below 1: a number, a
        column that is constant in each group, or a frame of the `by` columns and one more.
        Positives and negatives are weighted so that positives have this share of the N rows of
        their group. A group without positives or negatives has no value.
    """


if TYPE_CHECKING:
    # No subclass adds keys, so `**options` of this type may stand next to other keywords.
    class Options(AllOptions, total=False, closed=True):
        """The options of all functions."""
else:
    Options = TypedDict("Options", AllOptions.__annotations__, total=False)
    Options.__doc__ = AllOptions.__doc__


class EvaluationOptions(AllOptions, total=False):
    """The options of `Options`, the positive label, and what replaces null metrics."""

    positive: object
    undefined: float | None


class ReportOptions(GainOptions, total=False):
    """The options of `report`."""

    positive: object
    undefined: float | None


def options_in(options: Mapping[str, Any]) -> Options:
    """Return the options of `Options` among those of a function."""
    return cast(
        Options,
        {name: value for name, value in options.items() if name in Options.__annotations__},
    )


if TYPE_CHECKING:

    class TrecEvalOptions(TypedDict, closed=True):
        """The options of `TREC_EVAL`."""

        tie_break: Column
        tie_break_as_text: Literal[True]
        unscored: Literal["unretrieved"]
        unjudged: Literal["trec_eval"]
        undefined: float


TREC_EVAL: TrecEvalOptions = {
    "tie_break": "document",
    "tie_break_as_text": True,
    "unscored": "unretrieved",
    "unjudged": "trec_eval",
    "undefined": 0.0,
}
"""What trec_eval does with equal scores, with documents that were not retrieved or judged, and
without positives.
"""

_RANKED_LATER = (
    "rows of the tally stand for several, which have no order: evaluate the rows themselves"
)
_TOTALS_LATER = "give known totals where the tally is evaluated"
_GAIN = Refusal(
    "gain", "dcg, ndcg and captured_gain add it up: leave it out, or ask for one of them"
)
_CURVE = (
    _GAIN,
    Refusal(
        "ties",
        "a curve has no expectation over orders, because a threshold selects equal scores "
        "together: leave out ties=",
        values=("expected",),
    ),
    Refusal(
        "ties",
        "the curve would have a row for each row, and a row with a count= stands for several: "
        "leave out ties=",
        with_option="count",
    ),
)
_NO_RANKING = "predicted classes have no ranking: leave it out"
_AT_ITS_SCORE = (
    "rows get the values at their own score, so a threshold selects equal scores together: leave "
    "it out"
)
_TIE_BREAKS = ("tie_break_descending", "tie_break_as_text", "tie_break")
_WEIGHT_OPTIONS = ("weight", "prevalence")
"""The options by which rows have weights."""
_WEIGHTS = tuple(
    Refusal(option, "weighted rows have no rank: leave it out") for option in _WEIGHT_OPTIONS
)
_AT_RANKS = (_GAIN, *_WEIGHTS)
REFUSED: Mapping[str, Sequence[Refusal]] = {
    "average_curve": _CURVE,
    "average_precision": (_GAIN,),
    "average_precision_at_k": _AT_RANKS,
    "confusion": (
        _GAIN,
        Refusal("ties", _NO_RANKING, with_option="prediction"),
        Refusal("tie_break", _NO_RANKING, with_option="prediction"),
        Refusal("ascending", _NO_RANKING, with_option="prediction"),
        *(
            Refusal(
                option,
                f"weighted rows have no rank: give threshold= instead, or leave out {option}=",
                with_option="k",
            )
            for option in _WEIGHT_OPTIONS
        ),
    ),
    "curve": _CURVE,
    "f_beta": (_GAIN,),
    "gains_table": _AT_RANKS,
    "interpolated_average_precision": (_GAIN,),
    "ndcg": _WEIGHTS,
    "plot": _CURVE,
    "plot_scores": _CURVE,
    "precision_at_k": _AT_RANKS,
    "recall_at_k": _AT_RANKS,
    "report": tuple(
        Refusal(
            option,
            f"a report has metrics at ranks, and weighted rows have no rank: evaluate([...], "
            f"{option}=) has others",
        )
        for option in _WEIGHT_OPTIONS
    ),
    "roc_auc": (_GAIN,),
    "tally": (
        Refusal("ties", "say what equal scores mean where the tally is evaluated"),
        *(Refusal(option, _RANKED_LATER) for option in _TIE_BREAKS),
        Refusal("total_positives", _TOTALS_LATER),
        Refusal("total_rows", _TOTALS_LATER),
        Refusal(
            "prevalence",
            "give it where the tally is evaluated, as merged tallies have other shares",
        ),
    ),
    "with_curve": (
        _GAIN,
        *(Refusal(option, _AT_ITS_SCORE) for option in ("ties", *_TIE_BREAKS)),
    ),
}
"""The options that a function refuses for every metric."""
_NO_PLACES = (
    "a row with a count= stands for several rows of equal score: ties='expected' is the mean over "
    "their orders, "
    "'optimistic' and 'pessimistic' bound it"
)
_SAMPLED = "there is no standard error for it where rows are sampled: leave it out"
_RESAMPLED = (
    "it has no closed form where rows are sampled: intervals(method='bootstrap') computes an "
    "interval"
)
SAMPLED_ROWS = (
    *(Refusal(option, _RESAMPLED) for option in (*_WEIGHT_OPTIONS, "gain")),
    *(Refusal(option, _SAMPLED) for option in ("tie_break", "ties")),
    Refusal(
        "total_rows",
        f"{_SAMPLED}, and put missing rows in, with a null score and unscored='unretrieved'",
    ),
)
"""The options that a standard error over sampled rows refuses."""
SAMPLED_CLUSTERS = (
    Refusal(
        "total_positives",
        f"{_SAMPLED}, and put missing rows in, with a null score and unscored='unretrieved'",
    ),
)
"""The options that are refused as well if clusters of rows are sampled."""
EACH_ROW = (
    Refusal("count", "a row stands for several, which are compared: give the rows themselves"),
    *SAMPLED_CLUSTERS,
)
"""The options that are refused as well if each row has a value of its own."""
_DRAWN = (
    "a row that is drawn twice is two rows of equal score, which {} does not tell apart: leave it "
    "out"
)
DRAWN_ROWS = (
    Refusal("tie_break", _DRAWN.format("tie_break=")),
    Refusal("ties", _DRAWN.format("the order of rows"), values=_BY_ROW),
    *(
        Refusal(
            total,
            "rows that are missing cannot be drawn: put them in, with a null score and "
            "unscored='unretrieved'",
        )
        for total in ("total_positives", "total_rows")
    ),
)
"""The options that a bootstrap refuses."""
TOGETHER = (
    Refusal(
        "tie_break", "both rank the rows of equal score: give one of the two", with_option="ties"
    ),
    Refusal(
        "gain",
        "ranks discount gains, and rows with a weight= have no rank: give one of the two",
        with_option="weight",
    ),
    Refusal(
        "gain",
        "the gain of each row is needed, and total_positives= says that rows are missing: put them "
        "in, with a null "
        "score and unscored='unretrieved'",
        with_option="total_positives",
    ),
    Refusal("tie_break", _NO_PLACES, with_option="count"),
    Refusal("ties", _NO_PLACES, values=_BY_ROW, with_option="count"),
    *(
        Refusal(
            "ties",
            "weighted rows of equal score have no order: tie_break= ranks them by a column",
            with_option=option,
        )
        for option in _WEIGHT_OPTIONS
    ),
    Refusal(
        "weight", "both say how much rows count: give one of the two", with_option="prevalence"
    ),
    Refusal(
        "gain",
        "ranks discount gains, and rows with a prevalence= have no rank: give one of the two",
        with_option="prevalence",
    ),
    *(
        Refusal(
            total,
            "prevalence= weights the rows at hand: put missing rows in, with a null score and "
            "unscored='unretrieved'",
            with_option="prevalence",
        )
        for total in ("total_positives", "total_rows")
    ),
)
"""The options that exclude each other in every function."""
