"""What the caller gave -> canonical rows, and the way back to the caller's keys and kind of frame."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Literal, TypeAlias, TypedDict, Unpack, get_args

import polars as pl
import polars.selectors as cs

from frame_pr import checks
from frame_pr.callers import Caller, Frame, caller_of
from frame_pr.groups import CODES, CODES_BESIDE_TIES, TIES, Recode, coding
from frame_pr.totals import totals_in_frame, totals_in_rows

_UNSCORED = (
    "unscored='unretrieved' counts these rows but ranks them nowhere, unscored='drop' leaves them out, or fill them"
)
_UNJUDGED = "unjudged='negative' counts these rows as negatives, unjudged='drop' leaves them out, or fill them"
_UNPREDICTED = "drop these rows, or fill them, before the call"
TOTALS: Sequence[Literal["positives", "rows"]] = ("positives", "rows")
"""The policies that are columns, or frames of their own."""
# What other libraries call our arguments.
_ELSEWHERE = {
    "group": "by",
    "group_by": "by",
    "groupby": "by",
    "groups": "by",
    "keys": "by",
    "over": "by",
    "pos_label": "positive",
    "sample_weight": "weight",
    "weights": "weight",
    "zero_division": "undefined",
}

Column: TypeAlias = str | pl.Expr
Columns: TypeAlias = Column | Sequence[Column]
Ties: TypeAlias = Literal["threshold", "expected", "optimistic", "pessimistic", "order"]


class Policies(TypedDict, total=False):
    """What to do where rows are tied, weighted, unscored, unjudged, or not all there. Every function takes these.

    Parameters
    ----------
    ties : "threshold", "expected", "optimistic", "pessimistic" or "order"
        What equal scores mean. "threshold", the default: they are taken together, as a threshold takes them, and a rank
        cut-off among them takes its expected share. "expected": the expectation over all their orders (McSherry and
        Najork 2008). "optimistic", "pessimistic": positives first, last; no order gives more, or less. "order": they
        stand in the order of the rows.
    tie_break : str or polars expression
        A column that ranks rows of equal score.
    descending : bool
        Whether the largest `tie_break` comes first; the default, and what trec_eval does with document names.
    weight : str or polars expression
        Weights of rows: a row of weight 2 counts as two rows, one of weight 0 not at all.
    unscored : "raise", "unretrieved" or "drop"
        Rows whose score is null or NaN. "raise", the default: an error says how many. "unretrieved": they count among
        the rows and positives of their group and are ranked nowhere. "drop": they are left out.
    unjudged : "raise", "negative" or "drop"
        Rows whose truth is null or NaN. "raise", the default: an error says how many. "negative": they count as
        negatives. "drop": they are left out.
    positives : str, polars expression or frame
        The known number of positives in the group, a whole number, where the frame holds only the top of a ranking: a
        column that is constant in each group, or a frame of the `by` columns and one more. With `weight`, the sum of
        their weights. A group of which the frame has no row is left out: rows with a null score and
        `unscored="unretrieved"` put it in.
    rows : str, polars expression or frame
        Likewise, the known number of rows.
    """

    ties: Ties
    tie_break: Column
    descending: bool
    weight: Column
    unscored: Literal["raise", "unretrieved", "drop"]
    unjudged: Literal["raise", "negative", "drop"]
    positives: Column | Any
    rows: Column | Any


@dataclass(frozen=True)
class Rows(Generic[Frame]):
    """Canonical rows, and the way back to the caller's keys and frame.

    Columns: `group` (Int64), `truth` (Boolean), `score` (null where unretrieved); `weight` and `tie` where given.
    """

    frame: pl.LazyFrame
    """The rows that count."""
    carried: pl.LazyFrame
    """All rows, with what `rows_of` was told to carry."""
    score_dtype: pl.DataType
    ties: Ties
    ordered: bool
    """Whether rows of equal score have a place among them, `tie`."""
    weighted: bool
    fractional: bool
    """Whether the weights are floats."""
    unretrieved: bool
    """Whether there may be rows that are not retrieved."""
    totals: list[pl.LazyFrame]
    """`group` with the known `positives`, and with the known `rows`, where given."""
    starts: pl.LazyFrame | None
    """Where groups are ranges of scores of larger ones: `group` with what the range starts with, `ranking.START`."""
    keys: tuple[str, ...]
    systems: tuple[str, ...]
    """The names of the scores, where there are several; then `system` is the last key."""
    groups: int | None
    """How many groups there are, without `by`."""
    restore: Recode
    caller: Caller[Frame]

    def result(self, table: pl.LazyFrame, columns: Sequence[str]) -> Frame:
        """The keys, then these columns of a table that has a `group`, as a frame of the caller's kind."""
        checks.refuse_clash(self.keys, columns)
        result = self.restore(table.select("group", *columns)).select(*self.keys, *columns)
        return self.give(result, self.keys)

    def give(self, result: pl.LazyFrame, keys: Sequence[str]) -> Frame:
        """A result, as a frame of the caller's kind."""
        return self.caller.give(result, [key for key in keys if not (self.systems and key == "system")])

    def beside(self, table: pl.LazyFrame, on: str, columns: Sequence[str], prefix: str) -> Frame:
        """The caller's rows, in their order, each with these columns of the row of the table that it matches."""
        new = {prefix + name: name for name in columns}
        checks.refuse_taken(new, self.caller.columns)
        table = table.select(on, **{name: pl.col(column) for name, column in new.items()})
        return self.caller.give_beside(self.carried.join(table, on=on, how="left", maintain_order="left"), list(new))


def rows_of(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    predicted: bool = False,
    carry: bool = False,
    starts: pl.DataFrame | None = None,
    **policies: Unpack[Policies],
) -> Rows[Frame]:
    """Check a frame and bring it into canonical form; a list of scores becomes a last key, `system`.

    `predicted`: the scores are predicted classes, and become 1 and 0. `carry`: the rows keep their order, and those of
    a LazyFrame have a column `row`, which holds the caller's. `starts`: a frame of the columns of `by` and those of
    `ranking.START`.
    """
    ties, unscored, unjudged = _policies(policies)
    given = _selected(frame, truth, score, by, policies, carry=carry)
    source = _canonical(given, positive, unscored, unjudged, predicted=predicted)
    schema = source.collect_schema()
    weighted, ordered = "weight" in given.others, "tie_break" in given.others or ties == "order"
    number = partial(coding, height=given.caller.height, in_order=carry)
    if "tie_break" in given.others:
        places = number(source, ["tie_break"], limit=TIES - 1)
        source = _with_tie(places.code(source), descending=policies.get("descending", True))
    elif ordered:
        source = source.with_row_index("tie")
    limit = CODES_BESIDE_TIES if ordered or weighted else CODES
    coder = number(source, list(given.keys), limit=limit // len(given.scores))
    rows, restore = coder.code(source).drop(list(given.keys)), coder.restore
    if given.several:
        rows, restore = _stacked(rows, list(given.scores)), _with_system(restore, list(given.scores.values()))
    else:
        rows = rows.rename({"0": "score"})
    ours = {name: column for column, name in given.keys.items()}
    known = {name: policies[name] for name in TOTALS if policies.get(name) is not None}
    amount = schema["weight"] if weighted else pl.Int64()
    groups = None if ours else len(given.scores)
    totals = [
        totals_in_rows(rows, name, given.others[name], amount, groups)
        if name in given.others
        else totals_in_frame(total, name, ours, schema, coder, len(given.scores), amount)
        for name, total in known.items()
    ]
    return Rows(
        frame=_counted(rows, unscored, unjudged, weighted=weighted),
        carried=rows,
        score_dtype=rows.collect_schema()["score"],
        ties=ties,
        ordered=ordered,
        weighted=weighted,
        fractional=amount.is_float(),
        unretrieved=unscored == "unretrieved",
        totals=totals,
        starts=None if starts is None else coder.look_up(starts.lazy().rename(ours)),
        keys=(*ours, "system") if given.several else tuple(ours),
        systems=tuple(given.scores.values()) if given.several else (),
        groups=groups,
        restore=lambda table: restore(table).rename(given.keys),
        caller=given.caller,
    )


@dataclass(frozen=True)
class _Selection(Generic[Frame]):
    """The columns that the caller named, under names of our own; these, with the caller's."""

    frame: pl.LazyFrame
    keys: dict[str, str]
    """`by0`, `by1`, ..."""
    scores: dict[str, str]
    """`0`, `1`, ..."""
    others: dict[str, str]
    """`truth`, and where given `weight`, `tie_break`, `positives`, `rows`."""
    several: bool
    """Whether the scores are systems; there can be one."""
    caller: Caller[Frame]


def _selected(
    frame: Frame, truth: Column, score: Columns, by: Columns | None, policies: Policies, *, carry: bool
) -> _Selection[Frame]:
    """Find the columns that the caller named."""
    key_items = [] if by is None else checks.listed("by", by)
    score_items = checks.listed("score", score)
    if not score_items:
        raise ValueError("score names no column: give the name of the score column, or a list of names")
    extras = {name: policies[name] for name in ("weight", "tie_break") if policies.get(name) is not None}
    others = {"truth": truth, **extras}
    for name, item in others.items():
        checks.refuse_several(name, item)
    checks.refuse_repeats([*key_items, truth, *score_items])
    others |= {name: policies[name] for name in TOTALS if isinstance(policies.get(name), (str, pl.Expr))}
    caller = caller_of(frame, [*key_items, truth, *score_items, *others.values()])
    source = caller.frame
    keys = checks.expanded(source, "by", key_items)
    scores = checks.expanded(source, "score", score_items)
    single = {name: checks.expanded_one(source, name, item) for name, item in others.items()}
    several = len(scores) > 1 or score_items[0] is not score or cs.is_selector(score)
    if several and carry:
        raise ValueError(f"score gives {len(scores)} columns: metric columns beside the rows take one score at a time")
    if several:
        checks.refuse_clash(keys, ["system"])
    columns = {f"by{i}": expression for i, expression in enumerate(keys.values())}
    columns |= {str(i): expression for i, expression in enumerate(scores.values())}
    columns |= {name: expression for name, (_, expression) in single.items()}
    if carry and caller.height is None:
        columns["row"] = pl.struct(pl.all())
    return _Selection(
        frame=source.select(**columns),
        keys={f"by{i}": name for i, name in enumerate(keys)},
        scores={str(i): name for i, name in enumerate(scores)},
        others={name: column for name, (column, _) in single.items()},
        several=several,
        caller=caller,
    )


def _canonical(
    given: _Selection[Frame], positive: object, unscored: str, unjudged: str, *, predicted: bool
) -> pl.LazyFrame:
    """Check what the columns hold, and make Boolean truths of it, and Int64 or Float64 weights."""
    source, schema, truth = given.frame, given.frame.collect_schema(), given.others["truth"]
    weight = given.others.get("weight")
    canonical = [checks.is_positive("truth", truth, schema["truth"], positive)]
    for column, name in given.scores.items():
        if predicted:
            canonical.append(checks.is_positive(column, name, schema[column], positive).cast(pl.Int8))
        else:
            checks.refuse_score_type(name, schema[column])
    for name in ("weight", *TOTALS):
        if name in given.others:
            checks.refuse_text(name, given.others[name], schema[name])
    if weight is not None:
        canonical.append(pl.col("weight").cast(pl.Int64 if schema["weight"].is_integer() else pl.Float64))

    def checked(data: pl.DataFrame) -> pl.DataFrame:
        checks.check_labels("truth", truth, data["truth"], positive, _UNJUDGED if unjudged == "raise" else "")
        for column, name in given.scores.items():
            if predicted:
                checks.check_labels("prediction", name, data[column], positive, _UNPREDICTED)
            else:
                checks.check_score(name, data[column], _UNSCORED if unscored == "raise" else "")
        if not predicted and len({schema[column] for column in given.scores}) > 1:
            checks.check_common_type(list(given.scores.values()), data.select(given.scores.keys()))
        if weight is not None:
            checks.check_weight(weight, data["weight"])
        return data

    # Cached, as the groups are numbered from it too: it is read once, and cannot differ between two readings.
    if given.caller.height is None:
        source = source.map_batches(checked, schema=schema).cache()
    else:
        try:
            computed = source.collect(engine="in-memory")
        except pl.exceptions.ShapeError as error:
            names = ", ".join(map(repr, {**given.keys, **given.scores, **given.others}.values()))
            raise ValueError(
                f"an expression among {names} does not give one value for every row ({error}): filter the frame before "
                "the call"
            ) from None
        source = checked(computed).lazy()
    floats = [*(given.scores if unscored != "raise" else []), *(["truth"] if unjudged != "raise" else [])]
    source = source.with_columns(pl.col(name).fill_nan(None) for name in floats if schema[name].is_float())
    return source.with_columns(canonical)


def _with_tie(coded: pl.LazyFrame, *, descending: bool) -> pl.LazyFrame:
    """The place among equal scores that the code of a `tie_break` gives, null last."""
    tie = TIES - 1 - pl.col("group") if descending else pl.col("group")
    tie = pl.when(pl.col("tie_break").is_not_null()).then(tie).otherwise(TIES - 1)
    return coded.with_columns(tie=tie).drop("group", "tie_break")


def _policies(given: Policies) -> tuple[Ties, str, str]:
    known = Policies.__annotations__
    for unknown in sorted(set(given) - set(known)):
        near = difflib.get_close_matches(unknown, known, n=1, cutoff=0.7)
        meant = _ELSEWHERE.get(unknown) or next(iter(near), None)
        hint = f"did you mean {meant}=?" if meant else f"the policies are {', '.join(known)}"
        raise TypeError(f"unexpected keyword argument {unknown!r}; {hint}")
    ties = given.get("ties", "threshold")
    unscored, unjudged = given.get("unscored", "raise"), given.get("unjudged", "raise")
    checks.one_of("ties", ties, get_args(Ties))
    checks.one_of("unscored", unscored, ("raise", "unretrieved", "drop"))
    checks.one_of("unjudged", unjudged, ("raise", "negative", "drop"))
    if given.get("tie_break") is not None and ties != "threshold":
        raise ValueError(f"tie_break ranks the rows of equal score, and ties={ties!r} too: give one of the two")
    if given.get("weight") is not None and ties == "expected":
        raise ValueError("ties='expected' averages over orders of equal rows: it has no meaning with weight=")
    return ties, unscored, unjudged


def _counted(rows: pl.LazyFrame, unscored: str, unjudged: str, *, weighted: bool) -> pl.LazyFrame:
    """The rows that count for something."""
    if unjudged == "negative":
        rows = rows.with_columns(pl.col("truth").fill_null(False))
    conditions = {"truth": unjudged == "drop", "score": unscored == "drop"}
    counts = [pl.col(name).is_not_null() for name, dropped in conditions.items() if dropped]
    if weighted:
        counts.append(pl.col("weight") > 0)
    return rows.filter(counts) if counts else rows


def _stacked(rows: pl.LazyFrame, scores: list[str]) -> pl.LazyFrame:
    """Several scores below each other, each of them a group of its own in every group."""
    index = cs.exclude(*scores)
    rows = rows.unpivot(on=scores, index=index, variable_name="system", value_name="score")
    return rows.with_columns(group=pl.col("group") * len(scores) + pl.col("system").cast(pl.Int64)).drop("system")


def _with_system(restore: Recode, systems: list[str]) -> Recode:
    """Undo the stacking: the code is that of the group times the number of systems, plus a system."""
    group = pl.col("group")
    system = pl.lit(pl.Series(systems)).gather(group % len(systems))
    return lambda table: restore(table.with_columns(system=system, group=group // len(systems)))
