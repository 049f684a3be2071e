"""What a caller asks of a frame, checked as far as it can be without the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import flag, one_of, refuse_unknown, scalar
from frame_pr.frames.columns import listed, refuse_repeats, refuse_several
from frame_pr.frames.kinds import find_kind, read_stream
from frame_pr.frames.wording import kind_of_value
from frame_pr.inputs.policies import Column, Columns, Policies, Ties

_ENGINES = ("pyspark.", "dask.")
TOTAL_POLICIES = ("positives", "rows")
"""The policies that are known totals: columns, or frames of their own."""
ARGUMENTS = ("by", "positive", "undefined", *Policies.__annotations__)
"""The arguments that most functions take by name."""


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

    @property
    def ties(self) -> Ties:
        """What equal scores mean."""
        return self.policies.get("ties", "threshold")

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
    if isinstance(score, (set, frozenset)):
        raise TypeError("score: a set has no order, and results depend on the order of the systems; give a list")
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


def refuse_undefined(policies: Policies, advice: str) -> None:
    """A function whose figures are not filled has no `undefined`, by whatever name."""
    for word in ("undefined", "zero_division"):
        if word in policies:
            raise TypeError(f"unexpected keyword argument {word!r}; {advice}")


def check_policies(given: Policies) -> None:
    """Policies are such as there are, and go together."""
    refuse_unknown(given, Policies.__annotations__, ARGUMENTS)
    ties = one_of("ties", given.get("ties", "threshold"), get_args(Ties))
    for name in ("ascending", "tie_break_descending"):
        flag(name, given.get(name, False))
    one_of("unscored", given.get("unscored", "raise"), ("raise", "unretrieved", "drop"))
    one_of("unjudged", given.get("unjudged", "raise"), ("raise", "negative", "drop"))
    if given.get("tie_break") is not None and ties != "threshold":
        raise ValueError(f"tie_break ranks the rows of equal score, and ties={ties!r} too: give one of the two")
    if "tie_break_descending" in given and given.get("tie_break") is None:
        raise ValueError(
            "tie_break_descending says how tie_break= ranks rows of equal score, and there is none: say ascending=True "
            "where a small score is best"
        )
    if given.get("gain") is not None:
        if given.get("weight") is not None:
            raise ValueError("gain= is discounted by ranks, and rows with a weight= have none: give one of the two")
        if given.get("positives") is not None:
            raise ValueError(
                "gain= needs all rows that have one, and positives= says that some are missing: put them in with a "
                "null score and unscored='unretrieved'"
            )
    if given.get("count") is not None and (ties == "order" or given.get("tie_break") is not None):
        raise ValueError(
            f"{'tie_break=' if ties != 'order' else 'ties=' + repr(ties)} ranks rows of equal score, and a row with a "
            "count= stands for several: ties='expected' is their mean, 'optimistic' and 'pessimistic' bound it"
        )
    if given.get("weight") is not None and ties != "threshold":
        raise ValueError(
            f"ties={ties!r} orders rows of equal score, and weighted rows stand for several: it has no meaning with "
            "weight=; tie_break= ranks them by a column"
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
