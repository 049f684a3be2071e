"""The arguments of a call, validated as far as possible without the frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from itertools import chain
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


class Request(NamedTuple):
    """The columns and options of a call."""

    keys: Sequence[Column]
    scores: Sequence[Column]
    several: bool
    """Whether the scores are systems, even if there is only one."""
    predicted: bool
    """Whether the scores are predicted classes."""
    single: dict[str, Column]
    """The single columns by their role, which is their argument; `truth` is the first."""
    frames: dict[str, Any]
    """The frames of known totals, and of prevalences, by the option."""
    positive: object
    says_ties: bool
    """Whether the caller says what equal scores mean, by `ties` or `tie_break`."""
    ties: Ties
    tie_break_descending: bool
    tie_break_as_text: bool
    ascending: bool
    unscored: str
    unjudged: str
    prevalence: float | None = None
    """The share of positives at which metrics are wanted, if it is a number."""
    each_row: bool = False
    """Whether each row is a cluster."""
    use: Use | None = None
    """How the call uses the scores; None: no warnings about their values."""
    is_part: bool = False
    """Whether the frame is a part of the caller's: then another part may have the positive label.
    """
    unread_totals: Collection[str] = ()
    """The known totals on which no result depends: their content is not validated."""

    @property
    def score(self) -> str:
        """Return the argument of the scores."""
        return "prediction" if self.predicted else "score"

    @property
    def arguments(self) -> dict[str, Sequence[Column]]:
        """Return all columns, by the argument that names them.

        A column with two roles occurs twice.
        """
        single = {name: [column] for name, column in self.single.items()}
        return {"by": self.keys, "truth": single["truth"], self.score: self.scores, **single}

    @property
    def columns(self) -> list[Column]:
        """Return all columns."""
        return list(chain.from_iterable(self.arguments.values()))

    def columns_of(self, *names: str) -> list[tuple[str, Column]]:
        """Return the columns of these arguments, each with its argument."""
        arguments = self.arguments
        return [(name, column) for name in names for column in arguments.get(name, ())]

    @property
    def distinct(self) -> list[tuple[str, Column]]:
        """Return the columns that must differ, each with its argument."""
        return self.columns_of("by", "truth", self.score, "cluster")

    @property
    def codes(self) -> list[Column]:
        """Return the columns by which rows are grouped or ordered.

        Values that polars does not have may be numbered there.
        """
        columns = self.columns_of("by", "tie_break", "cluster")
        return [column for _, column in columns if not isinstance(column, pl.Expr)]

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
        return "tie_break" in self.single or rule.by_row or ("gain" in self.single and rule.bounds)

    @property
    def breaks_ties_descending(self) -> bool:
        """Return whether larger values of `tie_break`, gain or row number rank first."""
        if "tie_break" in self.single:
            return self.tie_break_descending
        return self.tie_rule.descending

    @property
    def keeps_unscored(self) -> bool:
        """Return whether rows without a score count but are not retrieved."""
        return self.unscored == "unretrieved"

    @property
    def fills_labels(self) -> bool:
        """Return whether rows without a label count as negatives; they are not `judged`."""
        return self.unjudged in ("negative", "trec_eval")

    @property
    def totals(self) -> list[str]:
        """Return the options that are known totals."""
        return [name for name in TOTAL_OPTIONS if name in self.single or name in self.frames]

    @property
    def totals_read(self) -> list[str]:
        """Return the known totals on which a result depends."""
        return [name for name in self.totals if name not in self.unread_totals]

    @property
    def weights_classes(self) -> bool:
        """Return whether `prevalence` gives positives and negatives their weights."""
        columns = {*self.single, *self.frames}
        return self.prevalence is not None or "prevalence" in columns

    def used_as(self, use: Use, numbers_read: Collection[str] = TOTALS) -> Request:
        """Return the request with this use of the scores, and of the numbers of a group.

        Warn about options that change nothing there.
        """
        unread = [name for name in self.totals if not {*TOTAL_OPTIONS[name]} & {*numbers_read}]
        # Not for `ties` and `tie_break`: they may be options of a whole evaluation, also of calls
        # that rank nothing.
        for name in unread:
            # A frame may have more groups than the rows, and these groups are in the result.
            if self.keys and name in self.frames:
                continue
            numbers = " or ".join(TOTAL_OPTIONS[name])
            reason = f"no result of the call depends on the number of {numbers} of a group"
            warn(f"{name}: the option changes nothing, as {reason}; leave it out")
        return self._replace(use=use, unread_totals=unread)

    def without_rows(self) -> Request:
        """Return the request for a frame without rows, in which no LazyFrame is left."""
        frames = {name: without_rows(frame) for name, frame in self.frames.items()}
        return self._replace(frames=frames)

    def in_parts(self) -> Request:
        """Return the request of a part of the frame.

        Warnings about values are for a whole frame.
        """
        return self._replace(use=None, is_part=True)

    def with_totals(self, names: Collection[str]) -> Request:
        """Return the request with these known totals, and no others."""
        left_out = {*TOTAL_OPTIONS}.difference(names)
        single, frames = (
            {name: column for name, column in columns.items() if name not in left_out}
            for columns in (self.single, self.frames)
        )
        return self._replace(single=single, frames=frames)


def without_rows(frame: Any) -> Any:
    """Return a frame without rows in place of a LazyFrame, and any other frame as it is."""
    if isinstance(frame, pl.LazyFrame):
        return pl.DataFrame(schema=frame.collect_schema())
    return frame


def request_of(
    truth: Column,
    score: Columns,
    by: Columns | None,
    positive: object,
    options: RowOptions,
    *,
    predicted: bool = False,
    threshold: Column | None = None,
    cluster: Column | None = None,
) -> Request:
    """Validate the arguments of a call, as far as possible without the frame.

    `threshold`: a column with the threshold of each group. `cluster`: that of each row, if clusters
    of rows were sampled.
    """
    score = scalar(score)
    scores = listed("prediction" if predicted else "score", score)
    if not scores:
        raise ValueError(
            "score names no column: give the name of the score column, or a list of names"
        )
    columns, frames, values = _by_kind(options)
    others = {**columns, "threshold": threshold, "cluster": cluster}
    single = {"truth": truth}
    single |= {name: column for name, column in others.items() if column is not None}
    for name, item in single.items():
        refuse_several(name, item)
    request = Request(
        keys=[] if by is None else listed("by", by),
        scores=scores,
        several=len(scores) > 1 or scores[0] is not score or cs.is_selector(score),
        predicted=predicted,
        single=single,
        frames=frames,
        positive=positive,
        says_ties="ties" in values or "tie_break" in single,
        **{**DEFAULTS, **values},
    )
    # A weight that is the label leaves no negative, and makes the order of the score the best order
    # of such gains.
    for names in (("truth", "weight"), ("truth", "count"), ("score", "gain")):
        refuse_repeats(request.columns_of(*names))
    return request


def _by_kind(options: RowOptions) -> list[dict[str, Any]]:
    """Validate options: those that are columns, those that are frames, and the values of others."""
    refuse_options("a ranking", options, TOGETHER)
    if "tie_break_descending" in options and options.get("tie_break") is None:
        raise ValueError(
            "tie_break_descending says how tie_break= ranks rows of equal score, and there is "
            "none: ascending=True "
            "ranks lower scores first"
        )
    columns: dict[str, Any] = {}
    frames: dict[str, Any] = {}
    values: dict[str, Any] = {}
    passed: Mapping[str, Any] = options
    for name, value in passed.items():
        if name in _CHOICES:
            values[name] = check_choice(name, value, _CHOICES[name])
        elif name in _FLAGS:
            values[name] = check_flag(name, value)
        elif name in _COLUMN_OPTIONS or isinstance(value, (str, pl.Expr)):
            columns[name] = value
        elif name == "prevalence" and isinstance(scalar(value), (Real, Decimal)):
            values[name] = _share(value)
        elif value is not None:
            frames[name] = read_stream(value)
            kind_of_totals(name, frames[name])
    return [columns, frames, values]


def _share(prevalence: Any) -> float:
    """Return a prevalence that is a number, which lies between 0 and 1."""
    share = check_float("prevalence", prevalence)
    if 0 < share < 1:
        return share
    percent = ""
    if 1 < share < 100:
        percent = f": write {share / 100:g} for {share:g} percent"
    raise ValueError(
        f"prevalence must lie between 0 and 1, both excluded; got {shown(share)}{percent}"
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
