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

from frame_pr.frames.arguments import (
    DEFAULTS,
    check_choice,
    check_flag,
    check_float,
    refuse_options,
    scalar,
)
from frame_pr.frames.columns import listed, refuse_repeats, refuse_several
from frame_pr.frames.dispatch import backend_class, find_kind, read_stream
from frame_pr.frames.kinds import FrameKind
from frame_pr.frames.messages import kind_of_value, shown, warn
from frame_pr.inputs.options import (
    TIES,
    TOGETHER,
    Column,
    Columns,
    Options,
    RowOptions,
    TieRule,
    Ties,
)

TOTALS = ("positives", "rows")
"""The numbers of a group that known totals replace."""
# Positives that are not in the frame are rows that are not in the frame.
TOTAL_OPTIONS: Mapping[str, Sequence[str]] = {"total_positives": TOTALS, "total_rows": ("rows",)}
"""The options that are known totals, columns or frames, and the numbers of a group that each
changes.
"""
_PER_GROUP = (*TOTAL_OPTIONS, "prevalence")
_CHOICES: Mapping[str, Sequence[str]] = {
    "ties": tuple(TIES),
    "unscored": ("raise", "unretrieved", "drop"),
    "unjudged": ("raise", "negative", "drop", "trec_eval"),
}
OTHER_SYSTEM = "other"
"""What the names of the scores of other systems begin with."""
_FLAGS = ("ascending", "tie_break_descending", "tie_break_as_text")
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
    options: Options
    predicted: bool
    """Whether the scores are predicted classes."""
    threshold: Column | None = None
    """A column with the threshold of each group."""
    cluster: Column | None = None
    """The cluster of each row, if clusters of rows were sampled."""
    each_row: bool = False
    """Whether each row is a cluster."""
    other_systems: Sequence[Column] = ()
    """Scores of other systems: `unscored="drop"` also drops rows that one of them leaves unscored.
    """
    use: Use | None = None
    """How the call uses the scores; None: no warnings about their values."""
    is_part: bool = False
    """Whether the frame is a part of the caller's: then another part may have the positive label.
    """
    numbers_read: Set[str] = frozenset(TOTALS)
    """The numbers of a group that results depend on, among those that the caller may pass."""

    @cached_property
    def roles(self) -> Roles:
        """Return the columns of the call by their role."""
        return _roles_of(self)

    def _option(self, name: str) -> Any:
        """Return the value of an option, or its default."""
        options: Mapping[str, Any] = self.options
        return options.get(name, DEFAULTS.get(name))

    @property
    def ties(self) -> Ties:
        """Return the meaning of equal scores."""
        ties: Ties = self._option("ties")
        return ties

    @property
    def tie_rule(self) -> TieRule:
        """Return the record of `ties`."""
        return TIES[self.ties]

    @property
    def ordered(self) -> bool:
        """Return whether rows of equal score have a place, `tie`.

        By a column, by their gains, or by row number.
        """
        rule = self.tie_rule
        single = self.roles.single
        return "tie_break" in single or rule.by_row or ("gain" in single and rule.bounds)

    @property
    def breaks_ties_descending(self) -> bool:
        """Return whether larger values of `tie_break`, gain or row number rank first."""
        rule = self.tie_rule
        if rule.by_row or "tie_break" not in self.roles.single:
            return rule.descending
        return bool(self.options.get("tie_break_descending", True))

    @property
    def ascending(self) -> bool:
        """Return whether lower scores rank first."""
        return bool(self._option("ascending"))

    @property
    def unscored(self) -> str:
        """Return the treatment of rows without a score."""
        return str(self._option("unscored"))

    @property
    def keeps_unscored(self) -> bool:
        """Return whether rows without a score count but are not retrieved."""
        return self.unscored == "unretrieved"

    @property
    def unjudged(self) -> str:
        """Return the treatment of rows without a label."""
        return str(self._option("unjudged"))

    @property
    def fills_labels(self) -> bool:
        """Return whether rows without a label count as negatives; they are not `judged`."""
        return self.unjudged in ("negative", "trec_eval")

    @property
    def totals(self) -> Mapping[str, Any]:
        """Return the known totals."""
        totals = {name: self._option(name) for name in TOTAL_OPTIONS}
        return {name: total for name, total in totals.items() if total is not None}

    @property
    def totals_read(self) -> Mapping[str, Any]:
        """Return the known totals on which a result depends.

        The content of others is not validated.
        """
        totals = self.totals.items()
        return {name: total for name, total in totals if self.numbers_read & {*TOTAL_OPTIONS[name]}}

    @cached_property
    def prevalence(self) -> Any:
        """Return the share of positives at which metrics are wanted.

        A number, a column, a frame, or None.
        """
        share = self._option("prevalence")
        is_number = isinstance(scalar(share), (Real, Decimal))
        return check_float("prevalence", share) if is_number else share

    def used_as(self, use: Use, numbers_read: Collection[str] = TOTALS) -> Request:
        """Return the request with this use of the scores and numbers.

        Warn about options that change nothing there.
        """
        request = replace(self, use=use, numbers_read=frozenset(numbers_read))
        # Not for `ties` and `tie_break`: they may be options of a whole evaluation, also of calls
        # that rank nothing.
        for name in request.totals:
            if name not in request.totals_read:
                numbers = " or ".join(TOTAL_OPTIONS[name])
                reason = f"no result of the call depends on the number of {numbers} of a group"
                warn(f"{name}: the option changes nothing, as {reason}; leave it out")
        return request

    def without_rows(self) -> Request:
        """Return the request for a frame without rows, in which no LazyFrame is left."""
        options: Any = {
            name: pl.DataFrame(schema=value.collect_schema())
            if isinstance(value, pl.LazyFrame)
            else value
            for name, value in self.options.items()
        }
        return replace(self, options=options)

    def in_parts(self) -> Request:
        """Return the request of a part of the frame.

        Warnings about values are for a whole frame.
        """
        return replace(self, use=None, is_part=True)

    def with_totals(self, totals: Mapping[str, Any]) -> Request:
        """Return the request with these known totals, and no others."""
        others: Any = {
            name: value for name, value in self.options.items() if name not in TOTAL_OPTIONS
        }
        return replace(self, options=others | totals)


class Roles(NamedTuple):
    """The columns of a call by their role."""

    keys: Sequence[Column]
    scores: Sequence[Column]
    score: str
    """The argument of the scores: "score" or "prediction"."""
    single: Mapping[str, Column]
    """The single columns, without totals that are frames; `truth` is the first."""
    frames: Mapping[str, Any]
    """The frames of known totals, and of prevalences, by the option."""

    @property
    def arguments(self) -> Mapping[str, Sequence[Column]]:
        """Return all columns, by the argument that names them.

        A column with two roles occurs twice.
        """
        single = {name: [column] for name, column in self.single.items()}
        return {"by": self.keys, "truth": single["truth"], self.score: self.scores, **single}

    @property
    def columns(self) -> Sequence[Column]:
        """Return all columns."""
        truth, *others = self.single.values()
        return [*self.keys, truth, *self.scores, *others]

    @property
    def distinct(self) -> Sequence[tuple[str, Column]]:
        """Return the columns that must differ.

        Keys, truth, scores and the cluster, each with its argument.
        """
        names = ("by", "truth", self.score, "cluster")
        arguments = self.arguments
        return [(name, column) for name in names for column in arguments.get(name, ())]

    @property
    def codes(self) -> Sequence[Column]:
        """Return the columns by which rows are grouped or ordered.

        Values that polars does not have may be numbered there.
        """
        columns = [*self.keys, self.single.get("tie_break"), self.single.get("cluster")]
        return [
            column for column in columns if column is not None and not isinstance(column, pl.Expr)
        ]


def _roles_of(request: Request) -> Roles:
    """Sort the columns of a request by their role."""
    options: Mapping[str, Any] = request.options
    single: dict[str, Column] = {"truth": request.truth}
    frames: dict[str, Any] = {}
    for name in _COLUMN_OPTIONS:
        if options.get(name) is not None:
            single[name] = options[name]
    numbers = dict(request.totals)
    if not isinstance(request.prevalence, float):
        numbers["prevalence"] = request.prevalence
    for name, number in numbers.items():
        if isinstance(number, (str, pl.Expr)):
            single[name] = number
        elif number is not None:
            frames[name] = number
    if request.threshold is not None:
        single["threshold"] = request.threshold
    for i, column in enumerate(request.other_systems):
        single[f"{OTHER_SYSTEM}{i}"] = column
    if request.cluster is not None:
        single["cluster"] = request.cluster
    score = "prediction" if request.predicted else "score"
    return Roles(request.keys, request.scores, score, single, frames)


def request_of(
    truth: Column,
    score: Columns,
    by: Columns | None,
    positive: object,
    options: RowOptions,
    *,
    predicted: bool = False,
    threshold: Column | None = None,
) -> Request:
    """Validate the arguments of a call, as far as possible without the frame."""
    check_options(options)
    score = scalar(score)
    keys = [] if by is None else listed("by", by)
    scores = listed("prediction" if predicted else "score", score)
    if not scores:
        raise ValueError(
            "score names no column: give the name of the score column, or a list of names"
        )
    several = len(scores) > 1 or scores[0] is not score or cs.is_selector(score)
    by_name: Any = options
    streams = {
        name: read_stream(by_name[name]) for name in _PER_GROUP if by_name.get(name) is not None
    }
    request = Request(
        truth, scores, several, keys, positive, by_name | streams, predicted, threshold
    )
    _refuse_share(request.prevalence)
    for name, item in request.roles.single.items():
        refuse_several(name, item)
    for name, frame in request.roles.frames.items():
        kind_of_totals(name, frame)
    # A weight that is the label leaves no negative, and makes the order of the score the best order
    # of such gains.
    for option, role, column in (
        ("weight", "truth", truth),
        ("count", "truth", truth),
        ("gain", "score", scores[0]),
    ):
        other = request.roles.single.get(option)
        if other is not None:
            refuse_repeats([(role, column), (option, other)])
    return request


def _refuse_share(share: Any) -> None:
    """Check that a prevalence that is a number lies between 0 and 1."""
    if not isinstance(share, float) or 0 < share < 1:
        return
    percent = ""
    if 1 < share < 100:
        percent = f": write {share / 100:g} for {share:g} percent"
    raise ValueError(
        f"prevalence must lie between 0 and 1, both excluded; got {shown(share)}{percent}"
    )


def check_options(options: RowOptions) -> None:
    """Validate the values of options, and whether they go together."""
    for name, value in options.items():
        if name in _CHOICES:
            check_choice(name, value, _CHOICES[name])
        elif name in _FLAGS:
            check_flag(name, value)
    refuse_options("a ranking", options, TOGETHER)
    if "tie_break_descending" in options and options.get("tie_break") is None:
        raise ValueError(
            "tie_break_descending says how tie_break= ranks rows of equal score, and there is "
            "none: ascending=True "
            "ranks lower scores first"
        )


def kind_of_totals(name: str, total: Any) -> FrameKind[Any]:
    """Return a frame of known totals, or of prevalences, as one of its kind.

    Raise if it is none.
    """
    if kind := find_kind(total):
        return kind
    if backend := backend_class(total):
        raise TypeError(
            f"{name} takes a polars or pandas frame, got a {backend.name}: give {backend.in_memory}"
        )
    way = ": a number that holds for every row makes a column, too"
    if type(total).__name__ == "Series":
        way = (
            ": reset_index() makes a frame of it"
            if hasattr(total, "reset_index")
            else ": make a column of it"
        )
    raise TypeError(
        f"{name} takes a column, or a frame of the by columns and one more; got "
        f"{kind_of_value(total)}{way}"
    )
