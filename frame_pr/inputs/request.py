"""The arguments of a call, validated as far as possible without the frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import check_choice, check_flag, check_real, refuse_options, scalar
from frame_pr.frames.columns import listed, refuse_repeats, refuse_several
from frame_pr.frames.kinds import backend_class, find_kind, read_stream
from frame_pr.frames.messages import kind_of_value, shown, warn
from frame_pr.inputs.policies import DEFAULT_TIES, TIES, TOGETHER, Column, Columns, Policies, TieRule, Ties

_ENGINES = ("pyspark.", "dask.")
# Positives that are not in the frame are rows that are not in the frame.
TOTALS = ("positives", "rows")
"""The numbers of a group that known totals replace."""
TOTAL_POLICIES: Mapping[str, Sequence[str]] = {"total_positives": TOTALS, "total_rows": ("rows",)}
"""The options that are known totals, columns or frames, and the numbers of a group that each changes."""
_CHOICES: Mapping[str, Sequence[str]] = {
    "ties": tuple(TIES),
    "unscored": ("raise", "unretrieved", "drop"),
    "unjudged": ("raise", "negative", "drop", "trec_eval"),
}
_FLAGS = ("ascending", "tie_break_descending")
_COLUMN_OPTIONS = ("weight", "count", "gain", "tie_break")


class Use(NamedTuple):
    """How a call uses the scores, which decides whether their values look like a mistake."""

    ranks: bool
    """Whether it ranks the rows, and does more than compare scores with thresholds."""
    thresholds: Sequence[float] = ()
    averages: bool = False
    """Whether it averages over groups."""


@dataclass(frozen=True, eq=False, repr=False)
class Request:
    """The columns and options of a call."""

    truth: Column
    scores: Sequence[Column]
    several: bool
    """Whether the scores are systems, even if there is only one."""
    keys: Sequence[Column]
    positive: object
    policies: Policies
    predicted: bool
    """Whether the scores are predicted classes."""
    threshold: Column | None = None
    """A column with the threshold of each group."""
    cluster: Column | None = None
    """The cluster of each row, if clusters of rows were sampled."""
    each_row: bool = False
    """Whether each row is a cluster."""
    other_systems: Sequence[Column] = ()
    """Scores of other systems: `unscored="drop"` also drops rows that one of them leaves unscored."""
    use: Use | None = None
    """How the call uses the scores; None: no warnings about their values."""
    numbers_read: Set[str] = frozenset(TOTALS)
    """The numbers of a group that results depend on, among those that the caller may pass."""

    @cached_property
    def ties(self) -> Ties:
        """The meaning of equal scores."""
        return self.policies.get("ties", DEFAULT_TIES)

    @cached_property
    def tie_rule(self) -> TieRule:
        """The record of `ties`."""
        return TIES[self.ties]

    @cached_property
    def ordered(self) -> bool:
        """Whether rows of equal score have a place among them, `tie`: by a column, by their gains, or by row number."""
        return "tie_break" in self.single or self.tie_rule.by_row or ("gain" in self.single and self.tie_rule.bounds)

    @cached_property
    def ascending(self) -> bool:
        """Whether lower scores rank first."""
        return self.policies.get("ascending", False)

    @cached_property
    def unscored(self) -> str:
        """The treatment of rows without a score."""
        return self.policies.get("unscored", "raise")

    @cached_property
    def unjudged(self) -> str:
        """The treatment of rows without a label."""
        return self.policies.get("unjudged", "raise")

    @cached_property
    def keeps_unscored(self) -> bool:
        """Whether rows without a score count but are not retrieved."""
        return self.unscored == "unretrieved"

    @cached_property
    def fills_labels(self) -> bool:
        """Whether rows without a label count as negatives; they are not `judged`."""
        return self.unjudged in ("negative", "trec_eval")

    @cached_property
    def totals(self) -> dict[str, Any]:
        """The known totals."""
        totals: dict[str, Any] = dict(self.policies)
        return {name: totals[name] for name in TOTAL_POLICIES if totals.get(name) is not None}

    @cached_property
    def totals_read(self) -> dict[str, Any]:
        """The known totals on which a result depends. The content of others is not validated."""
        totals = self.totals.items()
        return {name: total for name, total in totals if not self.numbers_read.isdisjoint(TOTAL_POLICIES[name])}

    @cached_property
    def prevalence(self) -> Any:
        """The share of positives at which metrics are wanted: a number, a column, a frame, or None."""
        share = self.policies.get("prevalence")
        return float(check_real("prevalence", share)) if isinstance(scalar(share), (Real, Decimal)) else share

    @cached_property
    def single(self) -> dict[str, Column]:
        """The single columns by their role, without totals that are frames."""
        options: dict[str, Any] = dict(self.policies)
        columns: dict[str, Any] = {"truth": self.truth}
        columns |= {name: options[name] for name in _COLUMN_OPTIONS if options.get(name) is not None}
        columns |= {name: total for name, total in self.totals.items() if isinstance(total, (str, pl.Expr))}
        columns |= {"prevalence": self.prevalence} if isinstance(self.prevalence, (str, pl.Expr)) else {}
        columns |= {"threshold": self.threshold} if self.threshold is not None else {}
        columns |= dict(zip(self.other_columns(), self.other_systems, strict=True))
        return columns | ({"cluster": self.cluster} if self.cluster is not None else {})

    def other_columns(self) -> list[str]:
        """Return names for the scores of the other systems."""
        return [f"other{i}" for i, _ in enumerate(self.other_systems)]

    @cached_property
    def arguments(self) -> dict[str, Sequence[Column]]:
        """All columns, by the argument that names them; a column with two roles occurs twice."""
        (_, truth), *others = self.single.items()
        score = "prediction" if self.predicted else "score"
        named = {"by": self.keys, "truth": [truth], score: self.scores}
        return named | {name: [column] for name, column in others}

    def parts(self) -> list[tuple[str, Column]]:
        """Return the columns that must differ: keys, truth and scores, each with its argument."""
        keys_truth_scores = list(self.arguments.items())[:3]
        return [(argument, column) for argument, columns in keys_truth_scores for column in columns]

    def columns(self) -> list[Column]:
        """Return all columns."""
        return [column for columns in self.arguments.values() for column in columns]

    def codes(self) -> list[Column]:
        """Return the columns that tell rows apart, by which they are grouped or ordered; labels, too, if one is named.

        Values that polars does not have may be numbered there.
        """
        single = [self.single[name] for name in ("tie_break", "cluster") if name in self.single]
        labels = [self.truth] if self.positive is not None else []
        return [item for item in (*self.keys, *single, *labels) if not isinstance(item, pl.Expr)]

    def frames(self) -> dict[str, Any]:
        """Return the frames of known totals, and of prevalences, by the option."""
        given = {**self.totals, "prevalence": self.prevalence}
        no_frame = (str, float, pl.Expr, type(None))
        return {name: frame for name, frame in given.items() if not isinstance(frame, no_frame)}

    def used_as(self, use: Use, numbers_read: Collection[str] = TOTALS) -> Request:
        """Return the request with this use of the scores and numbers. Warn about options that change nothing there."""
        request = replace(self, use=use, numbers_read=frozenset(numbers_read))
        # Not for `ties` and `tie_break`: they may be options of a whole evaluation, also of calls that rank nothing.
        for name in request.totals:
            if name not in request.totals_read:
                numbers = " or ".join(TOTAL_POLICIES[name])
                reason = f"no result of the call depends on the number of {numbers} of a group"
                warn(f"{name}: the option changes nothing, as {reason}; leave it out")
        return request

    def without_rows(self) -> Request:
        """Return the request for a frame without rows, in which no LazyFrame is left to be collected."""
        policies: Any = {
            name: pl.DataFrame(schema=value.collect_schema()) if isinstance(value, pl.LazyFrame) else value
            for name, value in self.policies.items()
        }
        return replace(self, policies=policies)

    def in_parts(self) -> Request:
        """Return the request of a part of the frame.

        Values of a part may look like a mistake although those of the frame do not.
        """
        return replace(self, use=None)

    def with_totals(self, totals: dict[str, Any]) -> Request:
        """Return the request with these known totals, and no others."""
        others: Any = {name: value for name, value in self.policies.items() if name not in TOTAL_POLICIES}
        return replace(self, policies=others | totals)


def request_of(
    truth: Column,
    score: Columns,
    by: Columns | None,
    positive: object,
    policies: Policies,
    *,
    predicted: bool = False,
    threshold: Column | None = None,
) -> Request:
    """Validate the arguments of a call, as far as possible without the frame."""
    check_policies(policies)
    score = scalar(score)
    keys, scores = [] if by is None else listed("by", by), listed("prediction" if predicted else "score", score)
    if not scores:
        raise ValueError("score names no column: give the name of the score column, or a list of names")
    several = len(scores) > 1 or scores[0] is not score or cs.is_selector(score)
    request = Request(truth, scores, several, keys, positive, policies, predicted, threshold)
    if request.totals:
        request = request.with_totals({name: read_stream(total) for name, total in request.totals.items()})
    if isinstance(share := request.prevalence, float):
        if not 0 < share < 1:
            percent = f": write {share / 100:g} for {share:g} percent" if 1 < share < 100 else ""
            raise ValueError(f"prevalence must lie between 0 and 1, both excluded; got {shown(share)}{percent}")
    elif share is not None:
        policies = {**policies, "prevalence": read_stream(share)}
        request = replace(request, policies=policies)
        _refuse_no_total("prevalence", request.prevalence)
    for name, item in request.single.items():
        refuse_several(name, item)
    for name, total in request.totals.items():
        _refuse_no_total(name, total)
    # A weight that is the label leaves no negative, and makes the order of the score the best order of such gains.
    for option, role, column in (("weight", "truth", truth), ("count", "truth", truth), ("gain", "score", scores[0])):
        if (other := request.single.get(option)) is not None:
            refuse_repeats([(role, column), (option, other)])
    return request


def check_policies(policies: Policies) -> None:
    """Validate the values of options, and whether they go together."""
    for name, value in policies.items():
        if name in _CHOICES:
            check_choice(name, value, _CHOICES[name])
        elif name in _FLAGS:
            check_flag(name, value)
    refuse_options("a ranking", policies, TOGETHER)
    if "tie_break_descending" in policies and policies.get("tie_break") is None:
        raise ValueError(
            "tie_break_descending says how tie_break= ranks rows of equal score, and there is none: ascending=True "
            "ranks lower scores first"
        )


def _refuse_no_total(name: str, total: Any) -> None:
    kind = type(total)
    if isinstance(total, (str, pl.Expr)) or find_kind(total) is not None or kind.__module__.startswith(_ENGINES):
        return
    if backend := backend_class(total):
        raise TypeError(f"{name} takes a polars or pandas frame, got a {backend.name}: give {backend.in_memory}")
    way = ": a number that holds for every row makes a column, too"
    if kind.__name__ == "Series":
        way = ": reset_index() makes a frame of it" if hasattr(kind, "reset_index") else ": make a column of it"
    raise TypeError(
        f"{name} takes a column, or a frame of the by columns and one more; got {kind_of_value(total)}{way}"
    )
