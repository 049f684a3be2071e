"""What a caller asks of a frame, checked as far as it can be without the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import flag, one_of, refuse_options, scalar
from frame_pr.frames.columns import listed, refuse_repeats, refuse_several
from frame_pr.frames.kinds import find_kind, read_stream
from frame_pr.frames.wording import kind_of_value
from frame_pr.inputs.policies import TOGETHER, Column, Columns, Policies
from frame_pr.inputs.tie_rules import DEFAULT_TIES, TIES, TieRule, Ties

_ENGINES = ("pyspark.", "dask.")
TOTAL_POLICIES = ("positives", "rows")
"""The policies that are known totals: columns, or frames of their own."""


class Use(NamedTuple):
    """What a call makes of the scores, by which their values may look like a mistake."""

    ranks: bool
    """Whether it ranks the rows, and does more than compare scores with thresholds."""
    thresholds: Sequence[float] = ()
    averages: bool = False
    """Whether it averages over groups."""


class Request(NamedTuple):
    """The columns that a call is about, and the policies by which."""

    truth: Column
    scores: Sequence[Column]
    several: bool
    """Whether the scores are systems; there can be one."""
    keys: Sequence[Column]
    positive: object
    policies: Policies
    predicted: bool
    """Whether the scores are predicted classes."""
    threshold: Column | None = None
    """A column of the threshold of each group."""
    cluster: Column | None = None
    """What rows were drawn by, where not one by one."""
    each_row: bool = False
    """Whether each row is a cluster of its own."""
    beside: Sequence[Column] = ()
    """Other systems, which are asked about by themselves: what they leave unscored and is dropped, is dropped here."""
    use: Use | None = None
    """None: values that look like a mistake get no warning, such as those of a part of the caller's frame."""

    @property
    def ties(self) -> Ties:
        """What equal scores mean."""
        return self.policies.get("ties", DEFAULT_TIES)

    @property
    def tie_rule(self) -> TieRule:
        """The record of `ties`."""
        return TIES[self.ties]

    @property
    def ascending(self) -> bool:
        """Whether a small score is best."""
        return self.policies.get("ascending", False)

    @property
    def unscored(self) -> str:
        """What to do with rows without a score."""
        return self.policies.get("unscored", "raise")

    @property
    def unjudged(self) -> str:
        """What to do with rows without a truth."""
        return self.policies.get("unjudged", "raise")

    @property
    def totals(self) -> dict[str, Any]:
        """The known totals that are given."""
        given = {name: self.policies.get(name) for name in TOTAL_POLICIES}
        return {name: total for name, total in given.items() if total is not None}

    def single(self) -> dict[str, Column]:
        """The columns of which there is one each, by what they are."""
        given: dict[str, Any] = {name: self.policies.get(name) for name in ("weight", "count", "gain", "tie_break")}
        # A total that is no column is a frame of its own.
        given |= {name: total for name, total in self.totals.items() if isinstance(total, (str, pl.Expr))}
        given["threshold"] = self.threshold
        given |= dict(zip(self.beside_columns(), self.beside, strict=True))
        given["cluster"] = self.cluster
        return {"truth": self.truth} | {name: column for name, column in given.items() if column is not None}

    def beside_columns(self) -> list[str]:
        """Names for the scores of the other systems."""
        return [f"beside{i}" for i in range(len(self.beside))]

    def arguments(self) -> dict[str, Sequence[Column]]:
        """All columns, by the argument that names them; one that plays two parts stands twice."""
        (_, truth), *others = self.single().items()
        score = "prediction" if self.predicted else "score"
        named = {"by": self.keys, "truth": [truth], score: self.scores}
        return named | {name: [column] for name, column in others}

    def columns(self) -> list[Column]:
        """All of them."""
        return [column for columns in self.arguments().values() for column in columns]

    def with_totals(self, totals: dict[str, Any]) -> Request:
        """The same with these known totals, and no others."""
        others: Any = {name: value for name, value in self.policies.items() if name not in TOTAL_POLICIES}
        return self._replace(policies=others | totals)


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
    """Check and put together what a caller gave."""
    check_policies(policies)
    score = scalar(score)
    keys, scores = [] if by is None else listed("by", by), listed("prediction" if predicted else "score", score)
    if not scores:
        raise ValueError("score names no column: give the name of the score column, or a list of names")
    several = len(scores) > 1 or scores[0] is not score or cs.is_selector(score)
    request = Request(truth, scores, several, keys, positive, policies, predicted, threshold)
    request = request.with_totals({name: read_stream(total) for name, total in request.totals.items()})
    for name, item in request.single().items():
        refuse_several(name, item)
    for name, total in request.totals.items():
        _refuse_no_total(name, total)
    refuse_repeats([*keys, truth, *scores])
    return request


def check_policies(policies: Policies) -> None:
    """Check the values of options, and that they go together."""
    one_of("ties", policies.get("ties", DEFAULT_TIES), tuple(TIES))
    for name in ("ascending", "tie_break_descending"):
        flag(name, policies.get(name, False))
    one_of("unscored", policies.get("unscored", "raise"), ("raise", "unretrieved", "drop"))
    one_of("unjudged", policies.get("unjudged", "raise"), ("raise", "negative", "drop"))
    refuse_options("a ranking", policies, TOGETHER)
    if "tie_break_descending" in policies and policies.get("tie_break") is None:
        raise ValueError(
            "tie_break_descending says how tie_break= ranks rows of equal score, and there is none: say ascending=True "
            "where a small score is best"
        )


def _refuse_no_total(name: str, total: Any) -> None:
    kind = type(total)
    if isinstance(total, (str, pl.Expr)) or find_kind(total) is not None or kind.__module__.startswith(_ENGINES):
        return
    way = ": a number that holds for every row makes a column, too"
    if kind.__name__ == "Series":
        way = ": reset_index() makes a frame of it" if hasattr(kind, "reset_index") else ": make a column of it"
    raise TypeError(
        f"{name} takes a column, or a frame of the by columns and one more; got {kind_of_value(total)}{way}"
    )
