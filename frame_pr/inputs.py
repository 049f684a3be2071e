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
    hits_may_lack: bool
    """Whether a group may have positives, none of them retrieved."""
    totals: list[pl.LazyFrame]
    """`group` with the known `positives`, and with the known `rows`, where given."""
    starts: pl.LazyFrame | None
    """Where groups are ranges of scores of larger ones: `group` with what the range starts with, `ranking.START`."""
    keys: tuple[str, ...]
    systems: tuple[str, ...]
    """The names of the scores, where there are several; then `system` is the last key."""
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

    `predicted`: the scores are predicted classes, and become 1 and 0. `carry`: a column `row` holds the caller's row.
    `starts`: a frame of the columns of `by` and those of `ranking.START`.
    """
    ties, unscored, unjudged = _policies(policies)
    key_items = [] if by is None else checks.listed("by", by)
    score_items = checks.listed("score", score)
    if not score_items:
        raise ValueError("score names no column: give the name of the score column, or a list of names")
    extras = {name: policies[name] for name in ("weight", "tie_break") if policies.get(name) is not None}
    for name, item in {"truth": truth, **extras}.items():
        checks.refuse_several(name, item)
    checks.refuse_repeats([*key_items, truth, *score_items])
    known = {name: policies[name] for name in ("positives", "rows") if policies.get(name) is not None}
    known_columns = {name: total for name, total in known.items() if isinstance(total, (str, pl.Expr))}
    caller = caller_of(frame, [*key_items, truth, *score_items, *extras.values(), *known_columns.values()])
    source = caller.frame
    keys = checks.expanded(source, "by", key_items)
    scores = checks.expanded(source, "score", score_items)
    singles = {"truth": truth, **extras, **known_columns}
    single = {name: checks.expanded_one(source, name, item) for name, item in singles.items()}
    several = len(scores) > 1 or score_items[0] is not score or cs.is_selector(score)
    if several and carry:
        raise ValueError(f"score gives {len(scores)} columns: metric columns beside the rows take one score at a time")
    if several:
        checks.refuse_clash(keys, ["system"])

    key_columns = {f"by{i}": expression for i, expression in enumerate(keys.values())}
    score_columns = {str(i): expression for i, expression in enumerate(scores.values())}
    columns = key_columns | score_columns | {name: expression for name, (_, expression) in single.items()}
    if carry:
        columns["row"] = pl.struct(pl.all())
    source = source.select(**columns)
    schema = source.collect_schema()
    truth_name = single["truth"][0]
    canonical = [checks.is_positive("truth", truth_name, schema["truth"], positive)]
    for column, name in zip(score_columns, scores, strict=True):
        if predicted:
            canonical.append(checks.is_positive(column, name, schema[column], positive).cast(pl.Int8))
        else:
            checks.refuse_score_type(name, schema[column])
    for name in ("weight", "positives", "rows"):
        if name in single:
            checks.refuse_text(name, single[name][0], schema[name])
    amount = pl.Float64() if "weight" in single and not schema["weight"].is_integer() else pl.Int64()
    if "weight" in single:
        canonical.append(pl.col("weight").cast(amount))

    def checked(data: pl.DataFrame) -> pl.DataFrame:
        checks.check_labels("truth", truth_name, data["truth"], positive, _UNJUDGED if unjudged == "raise" else "")
        for column, name in zip(score_columns, scores, strict=True):
            if predicted:
                checks.check_labels("prediction", name, data[column], positive, _UNPREDICTED)
            else:
                checks.check_score(name, data[column], _UNSCORED if unscored == "raise" else "")
        if not predicted and len({schema[column] for column in score_columns}) > 1:
            checks.check_common_type(list(scores), data.select(score_columns.keys()))
        if "weight" in single:
            checks.check_weight(single["weight"][0], data["weight"])
        return data

    # Cached, as the groups are numbered from it too: it is read once, and cannot differ between two readings.
    if caller.lazy:
        source = source.map_batches(checked, schema=schema).cache()
    else:
        source = checked(source.collect(engine="in-memory")).lazy()
    floats = [*(score_columns if unscored != "raise" else []), *(["truth"] if unjudged != "raise" else [])]
    source = source.with_columns(pl.col(name).fill_nan(None) for name in floats if schema[name].is_float())
    source = source.with_columns(canonical)
    numbers = partial(coding, in_memory=not caller.lazy, in_order=carry)
    if ties == "order":
        source = source.with_columns(tie=pl.int_range(pl.len()))
    if "tie_break" in single:
        coded = numbers(source, ["tie_break"], limit=TIES - 1).code(source)
        tie = TIES - 1 - pl.col("group") if policies.get("descending", True) else pl.col("group")
        tie = pl.when(pl.col("tie_break").is_not_null()).then(tie).otherwise(TIES - 1)
        source = coded.with_columns(tie=tie).drop("group", "tie_break")
    ordered = "tie_break" in single or ties == "order"
    limit = CODES_BESIDE_TIES if ordered or "weight" in single else CODES
    coder = numbers(source, list(key_columns), limit=limit // len(scores))
    rows = coder.code(source).drop(list(key_columns))
    restore = coder.restore
    if several:
        index = cs.exclude(*score_columns)
        rows = rows.unpivot(on=list(score_columns), index=index, variable_name="system", value_name="score")
        rows = rows.with_columns(group=pl.col("group") * len(scores) + pl.col("system").cast(pl.Int64)).drop("system")
        restore = _with_system(restore, list(scores))
    else:
        rows = rows.rename({"0": "score"})

    def restore_names(table: pl.LazyFrame) -> pl.LazyFrame:
        return restore(table).rename(dict(zip(key_columns, keys, strict=True)))

    canonical_keys = dict(zip(keys, key_columns, strict=True))
    totals = [
        totals_in_rows(rows, name, single[name][0], amount)
        if name in known_columns
        else totals_in_frame(total, name, canonical_keys, schema, coder, len(scores), amount)
        for name, total in known.items()
    ]
    return Rows(
        frame=_counted(rows, unscored, unjudged, weighted="weight" in single),
        carried=rows,
        score_dtype=rows.collect_schema()["score"],
        ties=ties,
        ordered=ordered,
        weighted="weight" in single,
        fractional=amount.is_float(),
        hits_may_lack=unscored == "unretrieved" or bool(totals) or starts is not None,
        totals=totals,
        starts=None
        if starts is None
        else coder.look_up(starts.lazy().rename(dict(zip(keys, key_columns, strict=True)))),
        keys=(*keys, "system") if several else tuple(keys),
        systems=tuple(scores) if several else (),
        restore=restore_names,
        caller=caller,
    )


def _policies(given: Policies) -> tuple[Ties, str, str]:
    known = Policies.__annotations__
    if unknown := sorted(set(given) - set(known)):
        near = difflib.get_close_matches(unknown[0], known, n=1, cutoff=0.7)
        meant = _ELSEWHERE.get(unknown[0]) or next(iter(near), None)
        hint = f"did you mean {meant}=?" if meant else f"the policies are {', '.join(known)}"
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}; {hint}")
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


def _with_system(restore: Recode, systems: list[str]) -> Recode:
    """Undo the stacking of several scores: the code is that of the group times the number of systems, plus a system."""
    group = pl.col("group")
    system = pl.lit(pl.Series(systems)).gather(group % len(systems))
    return lambda table: restore(table.with_columns(system=system, group=group // len(systems)))
