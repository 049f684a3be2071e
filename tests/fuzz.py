"""Random calls against exact answers: hypothesis draws them, and makes one that fails small.

`python dev.py fuzz --cases 100000 --seed 7` compares so many groups; tests/test_fuzz.py few, always
the same.
"""

import argparse
import datetime as dt
import os
import random
import re
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf, isfinite, isnan, nan, sqrt
from multiprocessing import get_context
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import HealthCheck, assume, given, seed, settings
from hypothesis import strategies as st
from oracle import Group, Row
from pandas_keys import KEYS as PANDAS_KEYS

import frame_pr as fp
from frame_pr.inputs.options import TIES
from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.names import is_metric, metric

INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
FLOATS = [pl.Float32, pl.Float64, pl.Float64]
# Truths: the dtype, the positive label, the negative one, and whether `positive=` has to say so.
TRUTHS = [(pl.Boolean, True, False, False), (pl.Int8, 1, 0, False), (pl.Float32, 1.0, 0.0, False)]
TRUTHS += [
    (pl.String, "yes", "no", True),
    (pl.Int64, 2, 1, True),
    (pl.Enum(["ham", "spam"]), "spam", "ham", True),
]
KEYS = {
    pl.Int64: [0, 1, -1, 2**63 - 1, -(2**63), 7],
    pl.Int8: [0, 1, -128, 127],
    pl.UInt64: [0, 1, 2**64 - 1, 2**63],
    pl.Boolean: [True, False],
    pl.String: ["a", "b", "", "a ", "B", "ä"],
    pl.Categorical: ["b", "a", "", "c"],
    pl.Enum(["z", "a", "m"]): ["a", "z", "m"],
    pl.Date: [dt.date(2024, 1, 1), dt.date(2024, 1, 31), dt.date(1969, 12, 31)],
    pl.Datetime("us"): [dt.datetime(2024, 1, 1, hour) for hour in (0, 1, 23)],
    pl.Float64: [0.5, -0.5, inf, 1e300],
    pl.Decimal(10, 2): [Decimal("1.50"), Decimal("-2.25"), Decimal("0.00")],
}
TIE_BREAKS = {pl.Int64: [1, 2, 3], pl.String: ["a", "b", "c"], pl.Float64: [0.5, 1.5, -inf]}
WEIGHTS = {
    pl.Int64: [[0, 1, 2, 3], [1, 10**6]],
    pl.UInt8: [[0, 1, 255]],
    pl.Float64: [[0.1, 0.7, 0.0], [1 / 3, 2.0]],
}
GAINS = {
    pl.Int64: [[0, 1, 2, 3], [0, 10**6, 1]],
    pl.Float64: [[0.0, 0.5, 1.0, 7.0], [0.1, 0.2, 1e6]],
}
RATES = [*rates.RATES, "f2", "f0.5", "f100000000000", "cost3", "cost0.7"]
BEST = [f"max_{name}" for name, rate in rates.RATES.items() if rate.best_by is not None]
BEST += ["max_f2", "max_f0.5", "min_cost1", "min_cost3", "min_cost0.3"]
WHOLE = [
    "average_precision",
    "average_precision_lift",
    "interpolated_average_precision",
    "prevalence",
    "rows",
    "bpref",
]
WHOLE += [
    "interpolated_average_precision_11",
    "interpolated_average_precision_101",
    "r_precision",
    "positives",
    "dcg",
]
WHOLE += [
    "roc_auc",
    "roc_auc@fpr=0.1",
    "roc_auc@fpr=0.5",
    "reciprocal_rank",
    "ndcg",
    "rbp0.5",
    "rbp0.95",
    "tied_rows",
]
WHOLE += [
    "chance_average_precision",
    "normalized_average_precision",
    "first_rank",
    "mean_rank",
    "equal_error_rate",
]
WHOLE += ["threshold@equal_error_rate", *BEST, *(f"threshold@{name}" for name in BEST)]
WHOLE = [name for name in WHOLE if is_metric(name)]
GAINED = [
    "dcg",
    "ndcg",
    "dcg@1",
    "ndcg@3",
    "ndcg@20%",
    "captured_gain@1",
    "captured_gain@3",
    "captured_gain@20%",
]
RECALLS = ["0", "0.1", "0.3", "0.5", "0.8", "1", "0.333", "1e-3"]
CUTOFFS = [
    "1",
    "3",
    "12",
    "33.3%",
    "100%",
    "threshold=1",
    "threshold=3",
    "recall=0",
    "recall=0.333",
    "recall=1",
]
CUTOFFS += ["precision=0.5", "specificity=0.8", "npv=0.5", "fpr=0.3"]
SPECIAL = [
    f"{name}@{k}"
    for name in ("reciprocal_rank", "success", "judged", "average_precision")
    for k in ("3", "50%")
]
SPECIAL += [
    "average_precision@3/positives",
    "average_precision@3/hits",
    "recall@3/min",
    "net_benefit@threshold=0.2",
]
SPECIAL += [
    "standardized_net_benefit@threshold=0.2",
    "interpolated_precision@recall=0.333",
    "roc_auc@fpr=0.3",
]
TABLES = ("total_positives", "total_rows", "prevalence")
WAYS = [
    "polars",
    "lazy",
    "streaming",
    "pandas",
    "numpy",
    "with_metrics",
    "expressions",
    "lazy expressions",
    "tally",
]
WAYS += ["partitioned", "dask"]
IN_PARTS = ("partitioned", "dask")
WEIGHTS_OF_GROUPS = {
    "by_rows": lambda group: group.rows,
    "weighted": lambda group: group.positives,
    "by_pairs": lambda group: group.positives * (group.rows - group.positives),
}
STATISTICS = ["std", "min", "max", "range", "median", "q25", "defined", *WEIGHTS_OF_GROUPS]
RANDOM = settings(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
    report_multiple_bugs=False,
)


@dataclass(frozen=True)
class Call:
    """A call of `evaluate`; as text, code to be copied."""

    frame: pl.DataFrame
    names: list[str]
    score: str | list[str]
    options: dict[str, Any]
    way: str

    def __repr__(self) -> str:
        return f"{self.way}: {code(self.frame)}.pr.evaluate({self.names}, 'y', {self.score!r}{coded(self.options)})"

    @property
    def keys(self) -> list[str]:
        return self.options.get("by", [])

    @property
    def systems(self) -> list[str]:
        return [self.score] if isinstance(self.score, str) else self.score

    @property
    def result_keys(self) -> list[str]:
        keys = [*self.keys, *([] if isinstance(self.score, str) else ["system"])]
        return [key for key in keys if key not in self.options.get("mean_over", [])]


def code(frame: pl.DataFrame) -> str:
    types = ", ".join(f"{name!r}: pl.{dtype!r}" for name, dtype in frame.schema.items())
    return f"pl.DataFrame({frame.to_dict(as_series=False)!r}, schema={{{types}}})"


def coded(options: dict[str, Any]) -> str:
    shown = {
        name: code(value) if isinstance(value, pl.DataFrame) else repr(value)
        for name, value in options.items()
    }
    return "".join(f", {name}={value}" for name, value in shown.items())


# Strategies
# ----------------------------------------------------------------------------------------------------------


class Draw:
    """What a strategy draws: one of some values, a column of them, and whether something is done."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw = draw

    def one(self, values: Any) -> Any:
        return self.draw(st.sampled_from(list(values)))

    def is_so(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def values(self, pool: Any, height: int, missing: tuple[Any, ...] = ()) -> list[Any]:
        """So many values; with missing ones, a fifth or more are missing."""
        pool = list(pool)
        pool += list(missing) * max(1, len(pool) // 4) if missing else []
        return self.draw(st.lists(st.sampled_from(pool), min_size=height, max_size=height))

    def scores(self, dtype: Any) -> list[Any]:
        """Scores of a dtype: few, so that they are tied, or many; of any size that it holds."""
        if dtype in FLOATS:
            largest = 3.4028234663852886e38 if dtype == pl.Float32 else 1.7976931348623157e308
            least = 1e-45 if dtype == pl.Float32 else 5e-324
            far = [0.0, -0.0, inf, -inf, largest, -largest, least, 1.0]
            return self.one(
                [[0.0, 0.5, 0.7, 0.1, -0.5], [1.0, 0.5], far, [n / 8 for n in range(30)]]
            )
        bits = int(str(dtype()).rpartition("Int")[2])
        low, high = (
            (0, 2**bits - 1)
            if str(dtype()).startswith("U")
            else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        )
        return self.one([range(5), [low, low + 1, high, high - 1], range(high - 30, high)])


@st.composite
def calls(draw: Any, ways: list[str]) -> Call:
    """A frame, names of metrics, and options that the library takes together."""
    of = Draw(draw)
    way = of.one(ways)
    has_options, height = "expressions" not in way, of.one([8, 2, 0, 20, 40, 60])
    if way in IN_PARTS or not has_options:
        height = max(height, 2)
    columns: dict[str, pl.Series] = {}
    options: dict[str, Any] = {}

    def column(name: str, dtype: Any, values: list[Any]) -> None:
        columns[name] = pl.Series(name, values, dtype=dtype, strict=True)

    keys = ["q", "r"][: of.one([1, 0, 2, 2])]
    for key in keys:
        dtype = of.one([dtype for dtype in KEYS if holds(way, dtype, key=True)])
        may_lack = way != "numpy" or dtype == pl.String
        column(
            key, dtype, of.values(KEYS[dtype], height, (None,) if may_lack and of.is_so(30) else ())
        )
    if keys:
        options["by"] = keys
    dtype, yes, no, is_named = of.one([truth for truth in TRUTHS if holds(way, truth[0])])
    unjudged = has_options and way != "numpy" and of.is_so(25)
    truths = of.values(
        of.one([[no, yes], [no, no, no, yes], [yes], [no]]), height, (None,) if unjudged else ()
    )
    if is_named:
        truths[:1] = [yes] * min(1, height)  # a label that no row has is an error
        options["positive"] = yes
    column("y", dtype, truths)
    if unjudged:
        options["unjudged"] = of.one(["negative", "drop"])
    systems = ["s", "t"][: 1 + (has_options and of.is_so(30))]
    dtype = of.one([dtype for dtype in (*INTEGERS, *FLOATS) if holds(way, dtype)])
    lacks = has_options and (way != "numpy" or dtype in FLOATS) and of.is_so(25)
    missing = ((None, nan) if dtype in FLOATS else (None,)) if lacks else ()
    for system in systems:
        column(system, dtype, of.values(of.scores(dtype), height, missing))
    if lacks:
        options["unscored"] = of.one(["unretrieved", "drop"])
    score = systems if len(systems) > 1 else "s"
    if has_options:
        add_options(of, way, options, column, truths, height)
        if keys and of.is_so(20):
            options["mean_over"] = [
                of.one([*keys, *(["system"] if isinstance(score, list) else [])])
            ]
            if of.is_so(50):
                options["statistics"] = [of.one(STATISTICS), "mean"]
    call = Call(pl.DataFrame(list(columns.values())), [], score, options, way)
    if has_options and of.is_so(25):
        call = with_totals(of, call)
    assume(fits(call))
    return Call(call.frame, some_names(of, call), score, call.options, way)


def holds(way: str, dtype: Any, *, key: bool = False) -> bool:
    """Whether the frames of this way have the dtype."""
    if way == "numpy":
        return dtype in (*INTEGERS, *FLOATS, pl.Boolean, pl.String, pl.Datetime("us"))
    if way == "dask":  # whose partitions have categories of their own, and no missing flags
        return not isinstance(dtype, pl.Enum) and dtype not in (
            pl.Categorical,
            pl.Boolean if key else pl.Categorical,
        )
    return True


def add_options(
    of: Draw,
    way: str,
    options: dict[str, Any],
    column: Callable[..., None],
    truths: list[Any],
    height: int,
) -> None:
    """Ties, tie-breaks, weights, gains, counts and directions."""
    rules = [
        name for name, rule in TIES.items() if not (rule.by_row and way in (*IN_PARTS, "tally"))
    ]
    kind = of.one(["plain", "ties", "tie_break", "weight", "gain", "count"])
    if kind == "gain":
        dtype = of.one(GAINS)
        column("g", dtype, of.values(of.one(GAINS[dtype]), height))
        options["gain"] = "g"
    if kind == "ties" or (kind in ("gain", "count") and of.is_so(30)):
        options["ties"] = of.one(rules)
    if kind == "tie_break" and way != "tally":
        dtype = of.one([dtype for dtype in TIE_BREAKS if holds(way, dtype)])
        column("d", dtype, of.values(TIE_BREAKS[dtype], height))
        options |= {"tie_break": "d"} | ({"tie_break_descending": False} if of.is_so(30) else {})
    if kind == "weight":
        dtype = of.one(WEIGHTS)
        column("w", dtype, of.values(of.one(WEIGHTS[dtype]), height))
        options["weight"] = "w"
    rule = TIES[options.get("ties", "threshold")]
    if kind == "count" and not rule.by_row:
        pool = [1, 2, 3, 0] if rule.bounds else of.one([[1, 2, 3, 0], [1, 1000, 2000], [1, 10**5]])
        column("n", pl.Int64, of.values(pool, height))
        options["count"] = "n"
    options |= {"ascending": True} if of.is_so(20) else {}
    options |= {"undefined": 0.5} if of.is_so(15) else {}


def with_totals(of: Draw, call: Call) -> Call:
    """The call with known totals, or with another share of positives: as a column, or as a frame."""
    frame, options = call.frame, call.options
    if frame.is_empty() or call.way in ("tally", "with_metrics") or "n" in frame.columns:
        return call
    name = of.one(
        ["total_rows"] if "gain" in options else ["total_positives", "total_rows", "prevalence"]
    )
    # A large group in parts refuses prevalence=.
    if name == "prevalence" and ({"weight", "gain", "ties"} & {*options} or call.way in IN_PARTS):
        return call
    totals: dict[Any, Any] = {}
    keys, rows = keys_of(call), rows_of(call, call.systems[0])
    for key in dict.fromkeys(keys):
        inside = [row for row, other in zip(rows, keys, strict=True) if other == key]
        counted = sum(row.mass for row in inside if row.truth or name == "total_rows")
        totals[key] = (
            of.one([0.5, 0.1, 0.9, 0.01])
            if name == "prevalence"
            else counted + of.one([0, 1, 1000])
        )
    is_float = name == "prevalence" or any(isinstance(total, Fraction) for total in totals.values())
    values = [float(totals[key]) if is_float else int(totals[key]) for key in keys]
    given = pl.Series("total", values, dtype=pl.Float64 if is_float else pl.Int64)
    if of.is_so(50):
        return Call(frame.with_columns(given), [], call.score, options | {name: "total"}, call.way)
    known = (
        frame.with_columns(given).select(*call.keys, "total").unique(maintain_order=True).reverse()
    )
    return Call(frame, [], call.score, options | {name: known}, call.way)


def fits(call: Call) -> bool:
    """Whether the way takes the call."""
    options, way = call.options, call.way
    if way == "with_metrics":
        # A row that counts nothing stands there, too, and a group of such rows is not in the
        # result.
        has_nothing = "count" in options and 0 in call.frame["n"]
        return isinstance(call.score, str) and "mean_over" not in options and not has_nothing
    if way == "tally":
        return not call.frame.is_empty()
    return not (way in IN_PARTS and "gain" in options)


def some_names(of: Draw, call: Call) -> list[str]:
    """Names of metrics that the library takes with these options."""
    names = [*(of.one(WHOLE) for _ in range(6)), *(a_cutoff(of, call) for _ in range(6))]
    if "gain" in call.options:
        names += [of.one(GAINED) for _ in range(of.one([2, 4, 8]))]
    return [name for name in dict.fromkeys(names) if takes(call, name)] or ["rows"]


def takes(call: Call, name: str) -> bool:
    """Whether the library takes this metric with the options of the call."""
    plan, options = metric(name), call.options
    ties, weighted = options.get("ties", "threshold"), bool({"weight", "prevalence"} & {*options})
    is_float = "prevalence" in options or call.frame.schema.get("w") == pl.Float64
    if is_float and re.search("@(recall|precision|specificity|npv|fpr)=|precision_1", name):
        return False  # a limit that a sum of floats reaches but for its last bits
    if name.startswith("threshold@") and not {*options.get("statistics", [])} <= {
        "mean",
        "min",
        "max",
        "defined",
    }:
        return False
    is_refused = ties not in plan.aggregates or (
        weighted and (isinstance(plan.cutoff, Rank) or plan.counts_ranks)
    )
    return not is_refused and ("gain" not in options or name in GAINED or not TIES[ties].bounds)


def every_metric(options: dict[str, Any]) -> Call:
    """A call of all metrics at cutoffs of each kind, on small groups with ties, missing scores and a single class."""
    draw, rows = random.Random(str(options)), []
    for group in range(18):
        share = {0: 0, 1: 1}.get(group, 0.4)
        for _ in range(1 + group // 2):
            scores = [None] if group == 2 else [None, 0.5, 1.0, 1.5, 2.0, 2.5]
            row = {
                "q": group,
                "y": draw.random() < share,
                "s": draw.choice(scores),
                "d": draw.randrange(3),
            }
            row |= {
                "w": draw.choice([0, 1, 2, 3]),
                "n": draw.randint(1, 3),
                "g": draw.choice([0, 0, 1, 3]),
            }
            rows.append(row | {"total": 0.3 if "prevalence" in options else 12 + group})
    frame = pl.DataFrame(
        rows, schema_overrides={"w": pl.Float64} if options.get("weight") == "f" else {}
    )
    if "unjudged" in options:
        frame = frame.with_columns(y=pl.when(pl.int_range(pl.len()) % 4 > 0).then("y"))
    options = (
        {"by": ["q"], "unscored": "unretrieved"}
        | options
        | ({"weight": "w"} if "weight" in options else {})
    )
    frame = frame.select(
        "q", "y", "s", *(value for value in options.values() if str(value) in frame.columns)
    )
    names = [f"{rate}@{cutoff}" for rate in RATES for cutoff in CUTOFFS]
    names += [f"threshold@{cutoff}" for cutoff in CUTOFFS if not cutoff.startswith("threshold=")]
    call = Call(frame, [], "s", options, "polars")
    names = list(dict.fromkeys([*WHOLE, *GAINED, *SPECIAL, *names]))
    return Call(
        frame,
        [name for name in names if is_metric(name) and takes(call, name)],
        "s",
        options,
        "polars",
    )


def a_cutoff(of: Draw, call: Call) -> str:
    rank, recall = of.one([1, 2, 3, 5, 10, 100, "1%", "10%", "33.3%", "100%"]), of.one(RECALLS)
    limit = of.one(
        [f"{rate}={of.one(RECALLS[1:])}" for rate in ("precision", "specificity", "npv", "fpr")]
    )
    scores = [
        value
        for value in call.frame[call.systems[0]].to_list()
        if value is not None and value == value
    ]
    threshold = of.one([0.5, 0, -inf, 1e300, *scores[:5]])
    ranked = of.one(
        ["reciprocal_rank", "success", "dcg", "ndcg", "judged", "threshold", "average_precision"]
    )
    return of.one(
        [
            f"{of.one(RATES)}@{rank}",
            f"{of.one(RATES)}@threshold={threshold!r}",
            f"{of.one(RATES)}@recall={recall}",
            f"{of.one(RATES)}@{limit}",
            f"threshold@{of.one([limit, f'recall={recall}'])}",
            f"{ranked}@{rank}",
            f"average_precision@{rank}/{of.one(['positives', 'hits'])}",
            f"recall@{rank}/min",
            f"interpolated_precision@recall={recall}",
            f"{of.one(['', 'standardized_'])}net_benefit@threshold={of.one(['0', '0.1', '0.5', '0.999'])}",
        ]
    )


# What the oracle says
# ------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A key that equals itself, whatever frame it comes from."""
    return "nan" if isinstance(value, float) and isnan(value) else value


def keys_of(call: Call) -> list[tuple[Any, ...]]:
    return [tuple(map(plain, key)) for key in call.frame.select(call.keys).rows()] or [
        ()
    ] * call.frame.height


def present(values: pl.Series) -> list[Any]:
    return [None if value != value else value for value in values.to_list()]


def rows_of(call: Call, system: str) -> list[Row]:
    frame, nothing = call.frame, [None] * call.frame.height
    yes = call.options.get("positive", 1)
    weights = [1] * frame.height
    if "w" in frame.columns:
        number: Callable[[Any], Any] = int if frame.schema["w"].is_integer() else Fraction
        weights = [number(weight) for weight in frame["w"].to_list()]
    return list(
        map(
            Row,
            [None if truth is None else truth == yes for truth in frame["y"].to_list()],
            present(frame[system]),
            weights,
            present(frame["d"]) if "d" in frame.columns else nothing,
            [Fraction(gain) for gain in frame["g"].to_list()] if "g" in frame.columns else nothing,
            frame["n"].to_list() if "n" in frame.columns else [1] * frame.height,
        )
    )


def known_of(call: Call, name: str) -> dict[tuple[Any, ...], Any]:
    """A known total of each group."""
    given = call.options[name]
    if isinstance(given, str):
        return dict(zip(keys_of(call), call.frame[given].to_list(), strict=True))
    keys = given.select(call.keys).rows() if call.keys else [()]
    return {
        tuple(map(plain, key)): total
        for key, total in zip(keys, given["total"].to_list(), strict=True)
    }


def at_prevalence(rows: list[Row], share: float, options: dict[str, Any]) -> list[Row]:
    """The rows with the weights, as floats, that give the positives this share."""
    drop = [
        name
        for name, by in (("truth", "unjudged"), ("score", "unscored"))
        if options.get(by) == "drop"
    ]
    counted = [row for row in rows if not any(getattr(row, name) is None for name in drop)]
    total, positives = (
        sum(row.count for row in counted),
        sum(row.count for row in counted if row.truth),
    )
    if positives in (0, total):
        return [row._replace(weight=0) for row in rows]
    weights = share * total / positives, (1 - share) * total / (total - positives)
    return [row._replace(weight=Fraction(weights[not row.truth])) for row in rows]


def groups_of(call: Call) -> dict[tuple[Any, ...], Group]:
    """The groups of the call by their keys, `system` last."""
    groups, options = {}, call.options
    lacks = [
        None in scores
        for scores in zip(*(present(call.frame[name]) for name in call.systems), strict=True)
    ]
    known = {name: known_of(call, name) for name in TABLES if name in options}
    for system in call.systems:
        is_narrow = call.frame.schema[system] == pl.Float32
        ascending = options.get("ascending", False)

        def reaches(
            score: Any, text: str, is_narrow: bool = is_narrow, ascending: bool = ascending
        ) -> bool:
            threshold: Any = (
                float(text) if isinstance(score, float) or "inf" in text else Fraction(text)
            )
            with np.errstate(
                over="ignore"
            ):  # a threshold is rounded as a score is, unless that makes infinity of it
                near = float(np.float32(threshold)) if is_narrow else threshold
            threshold = near if not is_narrow or isfinite(near) else threshold
            return score <= threshold if ascending else score >= threshold

        members: dict[Any, list[Row]] = {} if call.keys else {(): []}
        for key, row, is_dropped in zip(keys_of(call), rows_of(call, system), lacks, strict=True):
            if row.count or not call.keys:
                gone = is_dropped and options.get("unscored") == "drop"
                members.setdefault(key, []).append(row._replace(score=None) if gone else row)
        for key, rows in members.items():
            totals = {name: of.get(key) for name, of in known.items()}
            if "prevalence" in totals:
                rows = at_prevalence(rows, totals.pop("prevalence"), options)
            totals = {name.removeprefix("total_"): total for name, total in totals.items()}
            groups[(*key, system) if isinstance(call.score, list) else key] = Group(
                rows, reaches, options, totals
            )
    return groups


COUNTS = (*rates.COUNTS, "rows", "positives", "tied_rows")


def exact_answers(
    call: Call, groups: dict[tuple[Any, ...], Group]
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The value of each name of the result, by its keys."""
    exact = {key: {name: group.value(name) for name in call.names} for key, group in groups.items()}
    for values in exact.values():
        for name, value in values.items():
            if (
                value is None
                and not name.startswith("threshold@")
                and name.partition("@")[0] not in COUNTS
            ):
                values[name] = call.options.get("undefined")
    if "mean_over" not in call.options:
        return exact
    keys = [*call.keys, *([] if isinstance(call.score, str) else ["system"])]
    left = [place for place, key in enumerate(keys) if key in call.result_keys]
    parts: dict[Any, list[Any]] = {} if left else {(): []}
    for key, group in groups.items():
        parts.setdefault(tuple(key[place] for place in left), []).append((group, exact[key]))
    return {key: averaged(call, part) for key, part in parts.items()}


def averaged(call: Call, part: list[tuple[Group, dict[str, Any]]]) -> dict[str, Any]:
    means: dict[str, Any] = {"groups": len(part)}
    for name in call.names:
        defined = [(group, values[name]) for group, values in part if values[name] is not None]
        for statistic in call.options.get("statistics", ["mean"]):
            means[f"{statistic}_{name}"] = statistic_of(statistic, defined)
        if len(defined) < len(part):
            means[f"undefined_{name}"] = len(part) - len(defined)
    return means


def statistic_of(statistic: str, defined: list[tuple[Group, Any]]) -> Any:
    numbers = sorted(value for _, value in defined)
    if statistic == "defined":
        return len(numbers)
    if not numbers or (statistic == "std" and len(numbers) < 2):
        return None
    if not all(map(isfinite, numbers)):
        return (
            sum(map(float, numbers))
            if statistic == "mean"
            else {"min": min, "max": max}[statistic](numbers)
        )
    numbers = [Fraction(number) for number in numbers]
    mean = sum(numbers) / len(numbers)
    if statistic == "mean":
        return mean
    if statistic == "range":
        return numbers[-1] - numbers[0]
    if weight := WEIGHTS_OF_GROUPS.get(statistic):
        total = Fraction(sum(weight(group) for group, _ in defined))
        return (
            sum(Fraction(value) * weight(group) for group, value in defined) / total
            if total
            else None
        )
    if statistic == "std":
        return sqrt(sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1))
    place = (
        Fraction({"min": "0", "median": "50", "max": "100"}.get(statistic, statistic[1:]))
        / 100
        * (len(numbers) - 1)
    )
    low, high = numbers[int(place)], numbers[min(int(place) + 1, len(numbers) - 1)]
    return low + (high - low) * (place - int(place))


# What the library says
# -----------------------------------------------------------------------------------------------


def result_of(call: Call) -> pl.DataFrame:
    """The result of the call, as a polars frame."""
    frame, options, arguments = call.frame, call.options, (call.names, "y", call.score)
    if call.way in ("lazy", "streaming"):
        lazy = frame.lazy().pr.evaluate(*arguments, **options)
        return lazy.collect(engine="streaming" if call.way == "streaming" else "in-memory")
    if call.way in ("pandas", "numpy", "dask"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows: Any = frame.to_pandas(use_pyarrow_extension_array=call.way != "numpy")
            if call.way == "dask":
                import dask.dataframe

                import frame_pr.dask  # noqa: F401  gives its frames .pr

                rows = dask.dataframe.from_pandas(rows, npartitions=2)
                result = rows.pr.evaluate(*arguments, **options).compute(scheduler="synchronous")
                return pl.from_pandas(result)
            return pl.from_pandas(rows.pr.evaluate(*arguments, **options))
    if call.way == "with_metrics":
        result = frame.pr.with_metrics(*arguments, prefix="its ", **options)
        return result.select(*call.keys, pl.col("^its .*$").name.replace("its ", "")).unique()
    if "expressions" in call.way:
        metrics = [
            pl.col("s").pr.metric(name, "y", positive=options.get("positive"))
            for name in call.names
        ]
        given: Any = frame.lazy() if "lazy" in call.way else frame
        found = given.group_by(call.keys).agg(metrics) if call.keys else given.select(metrics)
        return found.lazy().collect()
    if call.way == "tally":
        return evaluated_tally(call)
    if call.way == "partitioned":
        return fp.partitioned(frame, partitions=2, progress=False).evaluate(*arguments, **options)
    return frame.pr.evaluate(*arguments, **options)


def evaluated_tally(call: Call) -> pl.DataFrame:
    """The metrics of a tally, put together from those of two parts of the frame."""
    frame, options = call.frame, dict(call.options)
    if "positive" in options:  # a part may lack this label
        frame = frame.with_columns(y=pl.col("y") == options.pop("positive"))
    names = ("by", "weight", "count", "gain", "unscored", "unjudged", "ascending")
    shared = {name: options[name] for name in names if name in options}
    parts = [frame.filter(pl.int_range(pl.len()) % 2 == part) for part in range(2)]
    tallies = pl.concat([fp.tally(part, "y", call.score, **shared) for part in parts])
    return tallies.pr.evaluate(call.names, "y", call.score, **options | {"count": "count"})


def check(call: Call) -> int:
    """Raise where a value is not the exact one; return how many groups were compared."""
    groups = groups_of(call)
    exact = exact_answers(call, groups)
    result = result_of(call)
    if call.way == "with_metrics" and call.frame.is_empty():
        return 0
    rows = [(tuple(plain(row[key]) for key in call.result_keys), row) for row in result.to_dicts()]
    keys = [key for key, _ in rows]
    assert len(keys) == len({*keys}), f"a group twice: {keys}"
    assert {*keys} == {*exact}, f"groups {keys}, not {[*exact]}"
    for key, row in rows:
        for name, value in exact[key].items():
            group = groups.get(key) if "mean_over" not in call.options else None
            got, value = (None if number != number else number for number in (row[name], value))
            if (
                group is None
                and "threshold@" in name
                and None not in (got, value)
                and isfinite(value)
            ):
                assert abs(got - float(value)) <= 1e-11 * largest_score(call), (
                    f"{name} of {key} is {got!r}"
                )
                continue
            assert is_equal(name, got, value, group), (
                f"{name} of {key} is {got!r}, not {shown(value)}"
            )
    return len(groups)


def largest_score(call: Call) -> float:
    """The size of the scores, to which means of thresholds are exact."""
    scores = call.score if isinstance(call.score, list) else [call.score]
    sizes = (abs(float(value)) for name in scores for value in call.frame[name].drop_nulls())
    return max((size for size in sizes if isfinite(size)), default=0.0)


def shown(value: Any) -> str:
    return f"{float(value)!r} ({value})" if isinstance(value, Fraction) else repr(value)


def is_equal(name: str, got: Any, exact: Any, group: Group | None) -> bool:
    """Counts and thresholds as they are, all else to 1e-12, or to the last bits of the sums that it is made of."""
    if got is None or exact is None or got == exact:
        return got is exact or got == exact or (group is not None and is_as_good(group, name, got))
    if name.startswith("threshold@"):
        return float(got) == float(exact) or (group is not None and is_as_good(group, name, got))
    if not isfinite(exact):
        return float(got) == float(exact)
    is_float = group is None or isinstance(group.rows, Fraction)
    if name.partition("@")[0] in COUNTS and isinstance(exact, int) and not is_float:
        return False
    return abs(got - float(exact)) <= slack(name, group) * max(1.0, abs(float(exact)))


def slack(name: str, group: Group | None) -> float:
    """1e-12, and more where a value is a quotient by a small part of the sums of its group."""
    if group is None:
        return 1e-9 if "std_" in name or "lift" in name or "normalized" in name else 1e-11
    if name == "normalized_average_precision":
        return 1e-13 / float(1 - group.value("chance_average_precision") or 1)
    parts = [size for _, size, *_ in group.blocks] + [group.positives, group.rows - group.positives]
    least = min((part for part in parts if part > 0), default=1)
    return max(1e-12, 1e-14 * float(group.rows) / float(least))


def is_as_good(group: Group, name: str, threshold: Any) -> bool:
    """Whether the rate at a threshold is the best one up to rounding; None is the threshold above all scores."""
    matched = re.fullmatch("threshold@(max|min)_(.+)", name)
    if not matched:
        return False
    sign = 1 if matched[1] == "max" else -1
    curve = [(None, 0, 0), *group.curve]
    values = {score: group.figure(matched[2], tp, k) for score, k, tp in curve}
    numbers = {score: sign * value for score, value in values.items() if value is not None}
    return threshold in numbers and numbers[threshold] >= max(numbers.values()) - Fraction(
        1, 10**12
    )


# Thresholds of groups, keys of pandas, and comparisons of groups without an error
# ------------------------------------


@st.composite
def threshold_calls(draw: Any) -> tuple[Call, pl.DataFrame, bool]:
    """A call of `confusion`, and a threshold of each group: as a column, or as a frame."""
    call = draw(calls(["polars", "lazy", "pandas"]))
    assume(call.keys and isinstance(call.score, str) and not call.frame.is_empty())
    options = {name: option for name, option in call.options.items() if name in THRESHOLD_OPTIONS}
    of = Draw(draw)
    scores: dict[Any, list[Any]] = {}
    for key, score in zip(
        call.frame.select(call.keys).rows(), present(call.frame[call.score]), strict=True
    ):
        scores.setdefault(key, [None]).append(score)
    cuts = pl.Series(
        "cut", [of.one(own) for own in scores.values()], dtype=call.frame.schema[call.score]
    )
    table = call.frame.select(call.keys).unique(maintain_order=True).with_columns(cuts)
    return (
        Call(call.frame, ["tp", "k", "precision", "recall", "f1"], call.score, options, call.way),
        table,
        of.is_so(50),
    )


THRESHOLD_OPTIONS = ("by", "positive", "weight", "count", "unscored", "unjudged", "ascending")


def check_thresholds(drawn: tuple[Call, pl.DataFrame, bool]) -> int:
    call, table, is_column = drawn
    frame: Any = (
        call.frame.join(table, on=call.keys, nulls_equal=True, maintain_order="left")
        if is_column
        else call.frame
    )
    groups = groups_of(call)
    given: Any = "cut" if is_column else table
    if call.way == "pandas":
        frame = frame.to_pandas(use_pyarrow_extension_array=True)
        given = given if is_column else table.to_pandas(use_pyarrow_extension_array=True)
    frame = frame.lazy() if call.way == "lazy" else frame
    found = fp.confusion(frame, "y", call.score, threshold=given, **call.options, rates="all")
    result = pl.from_pandas(found) if call.way == "pandas" else found.lazy().collect()
    rows = {tuple(plain(row[key]) for key in call.keys): row for row in result.to_dicts()}
    assert {*rows} == {*groups}
    cuts = {tuple(map(plain, key)): cut for *key, cut in table.select(*call.keys, "cut").rows()}
    is_ascending = call.options.get("ascending", False)
    for key, group in groups.items():
        cut, point = cuts[key], (None, 0, 0)
        for score, k, tp in group.curve if cut is not None else ():
            point = (score, k, tp) if (score <= cut if is_ascending else score >= cut) else point
        for name in call.names:
            exact = None if cut is None else group.figure(name, point[2], point[1])
            assert is_equal(name, rows[key][name], exact, group), (
                f"{name} of {key} at {cut} is {rows[key][name]!r}"
            )
    return len(groups)


@st.composite
def keyed_frames(draw: Any) -> tuple[str, pd.DataFrame]:
    """A pandas frame with a key of some dtype, and with an index of any labels."""
    of = Draw(draw)
    name, height = of.one(PANDAS_KEYS), of.one([2, 5, 9])
    places = of.values(range(len(PANDAS_KEYS[name])), height)
    keys = PANDAS_KEYS[name].iloc[places].reset_index(drop=True)
    frame = pd.DataFrame(
        {"g": keys, "y": of.values([0, 1], height), "s": of.values(range(4), height)}
    )
    return name, frame.set_axis(of.values(range(3), height), axis=0)


def check_keys(drawn: tuple[str, pd.DataFrame]) -> int:
    """A result has the groups of pandas with its keys, so that a merge finds every row."""
    name, frame = drawn
    result = frame.pr.evaluate(["rows", "positives"], "y", "s", by="g")
    assert result["g"].dtype == frame["g"].dtype
    unhashable = (
        "arrow list",
        "surrogates",
        *(["arrow timestamp", "arrow dictionary"] if pd.__version__ < "3" else []),
    )
    if not name.startswith(unhashable):  # pandas cannot group by them.
        grouped = frame.groupby("g", dropna=False, observed=True, sort=False).agg(
            n=("y", "size"), p=("y", "sum")
        )
        assert len(frame.merge(result, on="g")) == len(frame)
        assert sorted(result[["rows", "positives"]].values.tolist()) == sorted(
            grouped.values.tolist()
        )
    assert frame.pr.curve("y", "s", by="g")["g"].dtype == frame["g"].dtype
    assert frame.pr.with_metrics("rows", "y", "s", by="g")["g"].equals(frame["g"])
    # Totals under the keys of a result are found again, whatever these are.
    totals = result.rename(columns={"rows": "n"})[["g", "n"]]
    pd.testing.assert_frame_equal(
        frame.pr.evaluate(["rows", "positives"], "y", "s", by="g", total_rows=totals), result
    )
    return len(result)


@st.composite
def separated_groups(draw: Any) -> tuple[pl.DataFrame, str]:
    """Two groups, the first of which has a metric of exactly 0 or 1."""
    of = Draw(draw)
    positives, negatives, height = of.one([2, 3, 8]), of.one([2, 3, 8]), of.one([6, 20])
    is_best = of.is_so(50)
    truths = (
        [True] * positives
        + [False] * negatives
        + [True, True, False, False]
        + of.values([True, False], height)
    )
    scores = [9 if is_best else 1] * positives + [5] * negatives + of.values(range(10), 4 + height)
    groups = ["a"] * (positives + negatives) + ["b"] * (4 + height)
    frame = pl.DataFrame({"g": groups, "y": truths, "s": scores})
    return frame, of.one(
        ["roc_auc", "average_precision", "recall@threshold=5", "precision@threshold=5"]
    )


def check_comparison(drawn: tuple[pl.DataFrame, str]) -> int:
    """A p-value below 5 % and an interval of 95 % without 0 are the same finding."""
    frame, name = drawn
    (row,) = fp.compare(frame, name, "y", "s", between="g").to_dicts()
    if row["p_value"] is not None and row["low"] is not None:
        excludes_0 = not row["low"] <= 0 <= row["high"]
        is_close = min(abs(row["low"]), abs(row["high"])) < 1e-9
        assert is_close or excludes_0 == (row["p_value"] < 0.05), row
    return 1


# Running
# -------------------------------------------------------------------------------------------------------------

SUBJECTS: dict[str, tuple[Callable[[], st.SearchStrategy[Any]], Callable[[Any], int], int]] = {
    **{way: (partial(calls, [way]), check, 8) for way in WAYS},
    "thresholds": (threshold_calls, check_thresholds, 4),
    "keys": (keyed_frames, check_keys, 2),
    "comparisons": (separated_groups, check_comparison, 1),
}
"""Of each subject, what is drawn, how it is checked, and its share of the cases."""


def compare_cases(subject: str, cases: int, start: int) -> int:
    """Check examples until so many groups are compared; return how many were."""
    strategy, checked, _ = SUBJECTS[subject]
    done = 0
    while done < cases:
        before, start = done, start + 1

        @seed(start)
        @settings(RANDOM, max_examples=min(200, max(5, (cases - done) // 2)))
        @given(strategy())
        def compare(drawn: Any) -> None:
            nonlocal done
            try:
                done += checked(drawn)
            except Exception as error:
                error.add_note(repr(drawn))
                raise

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter(
                "ignore", fp.DataWarning
            )  # random rows look like mistakes now and then
            warnings.filterwarnings(
                "ignore", "PySpark does not yet fully support pandas", FutureWarning
            )
            compare()
        assert done > before, f"no case of {subject} in {start}"
    return done


def attempt(task: tuple[str, int, int]) -> tuple[str, int, str]:
    """How many cases were compared, or what differs in the smallest example."""
    subject, cases, start = task
    pl.Config.set_tbl_rows(100)
    try:
        return subject, compare_cases(subject, cases, start), ""
    except Exception as error:
        return subject, 0, f"{type(error).__name__}: {error}\n{error.__notes__[0]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="groups of results to compare")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--subjects", nargs="+", choices=SUBJECTS, default=[*SUBJECTS])
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    print(
        f"seed {options.seed}, {options.cases:,} cases of {', '.join(options.subjects)}", flush=True
    )
    shares = {subject: SUBJECTS[subject][2] for subject in options.subjects}
    tasks = []
    for subject, share in shares.items():
        wanted = -(-options.cases * share // sum(shares.values()))
        chunks = -(-wanted // 2000)
        tasks += [
            (subject, -(-wanted // chunks), (options.seed * 1000 + chunk) * 10**5)
            for chunk in range(chunks)
        ]
    tasks.sort(key=lambda task: task[2])
    begun, done = time.monotonic(), 0
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for subject, cases, wrong in pool.map(attempt, tasks):
            if wrong:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"{subject}: {wrong}")
            done += cases
            print(
                f"{done:,} cases, {done / (time.monotonic() - begun):.0f} a second",
                file=sys.stderr,
                flush=True,
            )
    print(f"{done:,} cases, no difference, {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
