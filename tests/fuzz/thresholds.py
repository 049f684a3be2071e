"""Random confusion tables at a threshold for each group, given as a frame or as a column."""

import random
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import polars as pl

import frame_pr as fp
from frame_pr.metrics.rates import CONFUSION, COUNTS
from fuzz.answers import equal, groups_of
from fuzz.calls import Call, group_keys, plain, scores_of
from fuzz.cases import DECIMALS, FLOATS, INTEGERS, a_call, limits

OPTIONS = (
    "by",
    "positive",
    "weight",
    "count",
    "unscored",
    "unjudged",
    "ascending",
    "total_positives",
    "total_rows",
    "undefined",
)
NARROW = {pl.Float16: np.float16, pl.Float32: np.float32}


def narrowed(number: Any, dtype: Any) -> float:
    with np.errstate(over="ignore"):
        return float(NARROW[dtype](float(number)))


def a_threshold(draw: random.Random, score: Any, dtype: Any) -> Any:
    """A threshold of this type, near a score; None, or any other, where there is none near."""
    if draw.random() < 0.1:
        return None
    if dtype in FLOATS:
        number = draw.choice(
            [0.0, 0.5, 0.7, -0.3, 1e-46, 1e-320, inf, -inf] if score is None else [float(score)] * 3 + [0.7]
        )
        return narrowed(number, dtype) if dtype in NARROW else number
    if score is None or abs(score) == inf:
        number = draw.randint(-3, 3)
    else:
        number = Fraction(score) + draw.choice([0, 0, 0, 1, -1])
    if dtype in INTEGERS:
        low, high = limits(dtype)
        return min(max(int(number), low), high)
    most = 10 ** min(dtype.precision, 27) - 1
    return Decimal(min(max(int(number * 10**dtype.scale), -most), most)).scaleb(-dtype.scale)


def reached(score: Any, threshold: Any, dtype: Any, *, ascending: bool) -> bool:
    """Whether a score reaches a threshold, rounded as a score of this type is; unless that makes infinity of it."""
    if dtype in NARROW and abs(threshold) != inf:
        near = narrowed(threshold, dtype)
        threshold = threshold if abs(near) == inf else near
    elif dtype == pl.Float64:
        threshold = float(threshold)
    elif isinstance(dtype, pl.Decimal) and isinstance(threshold, float) and abs(threshold) != inf:
        threshold = Decimal(repr(threshold))  # by the digits that name it
    exact = [
        number if isinstance(number, float) and abs(number) == inf else Fraction(number)
        for number in (score, threshold)
    ]
    return exact[0] <= exact[1] if ascending else exact[0] >= exact[1]


def differences(seed: int) -> tuple[int, list[Any]]:
    """How many groups were compared, and what differs."""
    draw, number, call = random.Random(seed), 0, None
    while call is None or not call.keys or call.frame.is_empty() or not isinstance(call.score, str):
        call, number = a_call(seed, number, ["polars", "lazy", "pandas"]), number + 1
    options = {name: value for name, value in call.options.items() if name in OPTIONS}
    call = Call(call.frame, [], call.score, options, call.engine)
    scores: dict[Any, list[Any]] = {}
    for key, score in zip(group_keys(call), scores_of(call.frame, call.score), strict=True):
        scores.setdefault(key, []).append(score)
    dtype, ascending = draw.choice([*INTEGERS, *FLOATS, *FLOATS, *DECIMALS]), options.get("ascending", False)
    if call.engine == "pandas" and dtype in (pl.Int128, pl.UInt128, pl.Float16):
        dtype = pl.Float64
    thresholds = {key: a_threshold(draw, draw.choice(of), dtype) for key, of in scores.items()}
    column = pl.Series("cut", [thresholds[key] for key in group_keys(call)], dtype=dtype)
    frame: Any = call.frame.with_columns(column)
    table: Any = frame.select(*call.keys, "cut").unique(maintain_order=True).reverse()
    by_column = draw.random() < 0.5
    frame, score_type = frame if by_column else call.frame, call.frame.schema[call.score]
    if call.engine == "lazy":
        frame = frame.lazy()
    elif call.engine == "pandas":
        frame, table = (one.to_pandas(use_pyarrow_extension_array=True) for one in (frame, table))
    found = fp.confusion(frame, "y", call.score, threshold="cut" if by_column else table, **options)
    result = pl.from_pandas(found) if call.engine == "pandas" else found.lazy().collect()
    rows = {tuple(plain(row[key]) for key in call.keys): row for row in result.iter_rows(named=True)}
    groups, wrong = groups_of(call), []
    if rows.keys() != groups.keys():
        return len(groups), [(seed, "groups", [*rows], [*groups])]
    for key, group in groups.items():
        cut = thresholds[key]
        steps = (
            [(0, 0)]
            if cut is None
            else [(0, 0), *((k, tp) for s, k, tp in group.curve if reached(s, cut, score_type, ascending=ascending))]
        )
        for name in CONFUSION:
            exact = group.figure(name, steps[-1][1], steps[-1][0]) if cut is not None or name == "prevalence" else None
            if exact is None and name not in COUNTS and (cut is not None or name == "prevalence"):
                exact = options.get("undefined")
            got = rows[key][name]
            if not equal(call, f"{name}@threshold=0", got, exact, group, None):
                wrong.append((seed, call.engine, by_column, key, cut, name, got, str(exact)))
    return len(groups), wrong
