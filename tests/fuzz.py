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
import tempfile
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf, isfinite, isnan, nan, sqrt
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import HealthCheck, assume, given, seed, settings
from hypothesis import strategies as st
from oracle import Group, Row
from pandas_keys import KEYS as PANDAS_KEYS

import frame_pr as fp
from frame_pr.inputs.options import TIES
from frame_pr.metrics import goals, rates
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.names import is_metric, metric


def words(text: str) -> list[str]:
    return text.split()


INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
FLOATS = [pl.Float32, pl.Float64, pl.Float64]


class Labels(NamedTuple):
    """A column of labels: its dtype, the two labels, and whether `positive=` has to name one."""

    dtype: Any
    positive: Any
    negative: Any
    is_named: bool = False


LABELS = [
    Labels(pl.Boolean, True, False),
    Labels(pl.Int8, 1, 0),
    Labels(pl.Float32, 1.0, 0.0),
    Labels(pl.String, "yes", "no", is_named=True),
    Labels(pl.Int64, 2, 1, is_named=True),
    Labels(pl.Enum(["ham", "spam"]), "spam", "ham", is_named=True),
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
TIE_BREAKS = {
    pl.Int64: [1, 2, 3, -10, 10],
    pl.UInt8: [9, 10, 100],
    pl.String: ["a", "b", "c", "B", ""],
    pl.Enum(["b", "c", "a"]): ["a", "b", "c"],
    pl.Categorical: ["b", "a", "c"],
    pl.Float64: [0.5, 1.5, -inf],
    pl.Boolean: [True, False],
    pl.Date: [dt.date(2024, 1, 1), dt.date(1969, 12, 31)],
}
# What names a document: TREC_EVAL compares these as text.
DOCUMENTS = {
    pl.Int64: [1, 2, 9, 10, 100, -1],
    pl.UInt16: [9, 10, 100],
    pl.String: ["d1", "d10", "d2", "D2", ""],
    pl.Enum(["d2", "d10", "d1"]): ["d1", "d10", "d2"],
    pl.Categorical: ["d2", "d10", "d1"],
}
WEIGHTS = {
    pl.Int64: [[0, 1, 2, 3], [1, 10**6]],
    pl.UInt8: [[0, 1, 255]],
    pl.Float64: [[0.1, 0.7, 0.0], [1 / 3, 2.0], [0.01, 0.29, 0.3]],
}
GAINS = {
    pl.Int64: [[0, 1, 2, 3], [0, 10**6, 1]],
    pl.Float64: [[0.0, 0.5, 1.0, 7.0], [0.1, 0.2, 1e6]],
}
RATES = [*rates.RATES, "f2", "f0.5", "f100000000000", "cost3", "cost0.7"]
BEST = [
    *(f"max_{name}" for name in ("f1", *goals.BEST)),
    *("max_f2", "max_f0.5", "min_cost1", "min_cost3", "min_cost0.3"),
    *("max_f1@recall=0.333", "max_precision@recall=0.5", "max_mcc@recall=0.5"),
    *("max_accuracy@precision=0.5", "max_f1@fpr=0.3", "min_cost3@npv=0.5", "min_cost3@recall=1"),
    *("max_lift@specificity=0.8", "max_kappa@recall=0", "max_markedness@precision=1"),
]
"""The best value of a rate over all thresholds, and over those within a limit."""
WHOLE = words("""
average_precision average_precision_lift chance_average_precision normalized_average_precision
interpolated_average_precision interpolated_average_precision_11 interpolated_average_precision_101
roc_auc roc_auc@fpr=0.1 roc_auc@fpr=0.5 equal_error_rate threshold@equal_error_rate
prevalence rows positives tied_rows r_precision bpref
reciprocal_rank first_rank mean_rank rbp0.5 rbp0.95 dcg ndcg
""")
WHOLE += [name for best in BEST for name in (best, f"threshold@{best}") if is_metric(name)]
"""Metrics of a whole ranking."""
GAINED = words("""
dcg ndcg dcg@1 ndcg@3 ndcg@20% captured_gain@1 captured_gain@3 captured_gain@20%
""")
RECALLS = ["0", "0.1", "0.3", "0.5", "0.8", "1", "0.333", "1e-3"]
CUTOFFS = words("""
1 3 12 33.3% 100% threshold=1 threshold=3 recall=0 recall=0.333 recall=1
precision=0.5 specificity=0.8 npv=0.5 fpr=0.3
threshold@3 threshold@33.3% max_f1 min_cost3 max_accuracy max_mcc@recall=0.5 max_f2@precision=0.5
""")
SPECIAL = words("""
reciprocal_rank@3 reciprocal_rank@50% success@3 success@50% judged@3 judged@50%
average_precision@3 average_precision@50% average_precision@3/positives average_precision@3/hits
recall@3/min net_benefit@threshold=0.2 standardized_net_benefit@threshold=0.2
interpolated_precision@recall=0.333 roc_auc@fpr=0.3
""")
OF_PROBABILITIES = ["mean_score", "mean_score@1", "mean_score@33.3%", "brier_score", "log_loss"]
"""Metrics that are drawn where all scores are probabilities in Float64."""
TABLES = ("total_positives", "total_rows", "prevalence")
IN_PARTS = ("partitioned", "dask")
WAYS = [
    *("polars", "streaming", "pandas", "with_metrics", "expressions", "tally"),
    *IN_PARTS,
]
"""How a metric is computed. tests/test_frames.py calls every function on every kind of frame."""
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
        arguments = f"{self.names}, 'y', {self.score!r}{coded(self.options)}"
        return f"{self.way}: {code(self.frame)}.pr.evaluate({arguments})"

    @property
    def keys(self) -> list[str]:
        return self.options.get("by", [])

    @property
    def systems(self) -> list[str]:
        return [self.score] if isinstance(self.score, str) else self.score

    @property
    def all_keys(self) -> list[str]:
        """The keys of a group of one system."""
        return [*self.keys, "system"] if isinstance(self.score, list) else self.keys

    @property
    def result_keys(self) -> list[str]:
        averaged = self.options.get("mean_over", [])
        return [key for key in self.all_keys if key not in averaged]


def code(frame: pl.DataFrame) -> str:
    types = ", ".join(f"{name!r}: pl.{dtype!r}" for name, dtype in frame.schema.items())
    return f"pl.DataFrame({frame.to_dict(as_series=False)!r}, schema={{{types}}})"


def coded(options: dict[str, Any]) -> str:
    texts = []
    for name, value in options.items():
        text = code(value) if isinstance(value, pl.DataFrame) else repr(value)
        texts.append(f", {name}={text}")
    return "".join(texts)


# Strategies
# ------------------------------------------------------------------------------------------------


class Draw:
    """What a strategy draws: one of some values, a column of them, and whether something is so."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw = draw

    def one(self, values: Any) -> Any:
        return self.draw(st.sampled_from(list(values)))

    def is_so(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def values(self, pool: Any, height: int, missing: tuple[Any, ...] = ()) -> list[Any]:
        """So many values; with missing ones, a fifth or more are missing."""
        pool = list(pool)
        if missing:
            pool += list(missing) * max(1, len(pool) // 4)
        return self.draw(st.lists(st.sampled_from(pool), min_size=height, max_size=height))

    def scores(self, dtype: Any) -> list[Any]:
        """Scores of a dtype: few, so that they are tied, or many; of any size that it holds."""
        if dtype in FLOATS:
            largest = 3.4028234663852886e38 if dtype == pl.Float32 else 1.7976931348623157e308
            least = 1e-45 if dtype == pl.Float32 else 5e-324
            far = [0.0, -0.0, inf, -inf, largest, -largest, least, 1.0]
            few = [0.0, 0.5, 0.7, 0.1, -0.5]
            probabilities = [0.0, 0.25, 0.1, 0.7, 1.0]
            return self.one([few, [1.0, 0.5], far, [n / 8 for n in range(30)], probabilities])
        low = dtype.min().pipe(pl.select).item()
        high = dtype.max().pipe(pl.select).item()
        return self.one([range(5), [low, low + 1, high, high - 1], range(high - 30, high)])


class CallDraw(Draw):
    """The columns and options of a call of `evaluate`, added one after the other."""

    def __init__(self, draw: Callable[..., Any], ways: list[str]) -> None:
        super().__init__(draw)
        self.way = self.one(ways)
        self.has_options = self.way != "expressions"
        self.height = self.one([8, 2, 0, 20, 40, 60])
        if self.way in IN_PARTS or not self.has_options:
            self.height = max(self.height, 2)
        self.columns: dict[str, pl.Series] = {}
        self.options: dict[str, Any] = {}

    def add(self, name: str, dtype: Any, values: list[Any]) -> None:
        self.columns[name] = pl.Series(name, values, dtype=dtype, strict=True)

    def add_from(self, name: str, pools: dict[Any, list[Any]]) -> Any:
        """Add a column of one of the dtypes, and return the dtype."""
        dtype = self.one([dtype for dtype in pools if holds(self.way, dtype)])
        pool = pools[dtype]
        values = self.one(pool) if isinstance(pool[0], list) else pool
        self.add(name, dtype, self.values(values, self.height))
        return dtype

    def add_keys(self) -> None:
        keys = ["q", "r"][: self.one([1, 0, 2, 2])]
        for key in keys:
            dtype = self.one([dtype for dtype in KEYS if holds(self.way, dtype, key=True)])
            missing = (None,) if self.is_so(30) else ()
            self.add(key, dtype, self.values(KEYS[dtype], self.height, missing))
        if keys:
            self.options["by"] = keys

    def add_labels(self) -> None:
        labels = self.one([labels for labels in LABELS if holds(self.way, labels.dtype)])
        yes, no = labels.positive, labels.negative
        lacks_labels = self.has_options and self.is_so(25)
        pool = self.one([[no, yes], [no, no, no, yes], [yes], [no]])
        values = self.values(pool, self.height, (None,) if lacks_labels else ())
        if labels.is_named:
            values[:1] = [yes] * min(1, self.height)  # a label that no row has is an error
            self.options["positive"] = yes
        self.add("y", labels.dtype, values)
        if lacks_labels:
            self.options["unjudged"] = self.one(["negative", "drop"])

    def add_scores(self) -> str | list[str]:
        systems = ["s", "t"][: 1 + (self.has_options and self.is_so(30))]
        dtype = self.one([dtype for dtype in (*INTEGERS, *FLOATS) if holds(self.way, dtype)])
        missing: tuple[Any, ...] = ()
        if self.has_options and self.is_so(25):
            missing = (None, nan) if dtype in FLOATS else (None,)
            self.options["unscored"] = self.one(["unretrieved", "drop"])
        for system in systems:
            self.add(system, dtype, self.values(self.scores(dtype), self.height, missing))
        return systems if len(systems) > 1 else "s"

    def add_options(self) -> None:
        """Ties, tie-breaks, weights, gains, counts and directions."""
        kind = self.one(["plain", "ties", "tie_break", "trec_eval", "weight", "gain", "count"])
        if kind == "gain":
            self.add_from("g", GAINS)
            self.options["gain"] = "g"
        if kind == "ties" or (kind in ("gain", "count") and self.is_so(30)):
            no_rows = (*IN_PARTS, "tally")
            rules = [
                name for name, rule in TIES.items() if not (rule.by_row and self.way in no_rows)
            ]
            self.options["ties"] = self.one(rules)
        if kind == "tie_break" and self.way != "tally":
            # A dictionary of Arrow, which pandas has in place of an Enum, has no order.
            is_pandas = self.way in ("pandas", "dask")
            pools = TIE_BREAKS.items()
            ordered = {dtype: pool for dtype, pool in pools if not (is_pandas and dtype == pl.Enum)}
            self.add_from("d", ordered)
            self.options["tie_break"] = "d"
            if self.is_so(30):
                self.options["tie_break_descending"] = False
        if kind == "trec_eval" and self.way != "tally":
            self.add_from("document", DOCUMENTS)
            names = ("tie_break", "tie_break_as_text")
            self.options |= {name: fp.TREC_EVAL[name] for name in names}
        if kind == "weight":
            self.add_from("w", WEIGHTS)
            self.options["weight"] = "w"
        if kind == "count":
            self.add_counts()
        if self.is_so(20):
            self.options["ascending"] = True
        if self.is_so(15):
            self.options["undefined"] = 0.5

    def add_counts(self) -> None:
        rule = TIES[self.options.get("ties", "threshold")]
        if rule.by_row:
            return
        large = self.one([[1, 2, 3, 0], [1, 1000, 2000], [1, 10**5]])
        pool = [1, 2, 3, 0] if rule.bounds else large
        self.add("n", pl.Int64, self.values(pool, self.height))
        self.options["count"] = "n"

    def add_means(self, score: str | list[str]) -> None:
        systems = ["system"] if isinstance(score, list) else []
        self.options["mean_over"] = [self.one([*self.options["by"], *systems])]
        if self.is_so(50):
            self.options["statistics"] = [self.one(STATISTICS), "mean"]


@st.composite
def calls(draw: Any, ways: list[str]) -> Call:
    """A frame, names of metrics, and options that the library takes together."""
    of = CallDraw(draw, ways)
    of.add_keys()
    of.add_labels()
    score = of.add_scores()
    if of.has_options:
        of.add_options()
        if "by" in of.options and of.is_so(20):
            of.add_means(score)
    call = Call(pl.DataFrame(list(of.columns.values())), [], score, of.options, of.way)
    if of.has_options and of.is_so(25):
        call = with_totals(of, call)
    assume(fits(call))
    return replace(call, names=some_names(of, call))


def holds(way: str, dtype: Any, *, key: bool = False) -> bool:
    """Whether the frames of this way have the dtype."""
    if way == "dask":  # whose partitions have categories of their own, and no missing flags
        is_flag = key and dtype == pl.Boolean
        return not (isinstance(dtype, pl.Enum) or dtype == pl.Categorical or is_flag)
    return True


def with_totals(of: Draw, call: Call) -> Call:
    """The call with known totals, or with another prevalence: as a column, or as a frame."""
    frame, options = call.frame, call.options
    if frame.is_empty() or call.way in ("tally", "with_metrics") or "n" in frame.columns:
        return call
    name = of.one(["total_rows"] if "gain" in options else TABLES)
    # A large group in parts refuses prevalence=.
    if name == "prevalence" and ({"weight", "gain", "ties"} & {*options} or call.way in IN_PARTS):
        return call
    keys = keys_of(call)
    totals = totals_of(of, call, name)
    is_float = name == "prevalence" or any(isinstance(total, Fraction) for total in totals.values())
    number = float if is_float else int
    values = [number(totals[key]) for key in keys]
    total = pl.Series("total", values, dtype=pl.Float64 if is_float else pl.Int64)
    if of.is_so(50):
        return replace(call, frame=frame.with_columns(total), options=options | {name: "total"})
    known = frame.with_columns(total).select(*call.keys, "total")
    return replace(call, options=options | {name: known.unique(maintain_order=True).reverse()})


def totals_of(of: Draw, call: Call, name: str) -> dict[Any, Any]:
    """A prevalence, or a total that is not below that of the frame, for each group."""
    keys, rows = keys_of(call), rows_of(call, call.systems[0])
    if name == "prevalence":
        return {key: of.one([0.5, 0.1, 0.9, 0.01]) for key in dict.fromkeys(keys)}
    totals = dict.fromkeys(keys, 0)
    for key, row in zip(keys, rows, strict=True):
        if row.truth or name == "total_rows":
            totals[key] += row.mass
    return {key: total + of.one([0, 1, 1000]) for key, total in totals.items()}


def fits(call: Call) -> bool:
    """Whether the way takes the call."""
    options, way = call.options, call.way
    if way == "with_metrics":
        # A row that counts nothing is in the frame, too, and a group of such rows is not in the
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
    if has_probabilities(call):
        names += [of.one(OF_PROBABILITIES) for _ in range(2)]
    names = [name for name in dict.fromkeys(names) if takes(call, name)]
    # Bounds of ties are of gains only, where there are gains, and a prevalence has no ranks.
    assume(names)
    return names


def has_probabilities(call: Call) -> bool:
    """Whether Brier score and log loss take the scores: probabilities of a positive."""
    if "ascending" in call.options:
        return False
    columns = [call.frame[name] for name in call.systems]
    is_float = all(column.dtype == pl.Float64 for column in columns)
    scores = [score for column in columns for score in present(column) if score is not None]
    return is_float and all(0 <= score <= 1 for score in scores)


def takes(call: Call, name: str) -> bool:
    """Whether the library takes this metric with the options of the call."""
    plan, options = metric(name), call.options
    is_float = "prevalence" in options or call.frame.schema.get("w") == pl.Float64
    if is_float and re.search("@(recall|precision|specificity|npv|fpr)=|precision_1", name):
        return False  # a limit that a sum of floats reaches but for its last bits
    if is_float and re.search("^(?!threshold@).*@(max|min)_", name):
        return False  # values of two thresholds that differ by their last bits
    of_thresholds = {"mean", "min", "max", "defined"}
    if name.startswith("threshold@") and not {*options.get("statistics", [])} <= of_thresholds:
        return False
    ties = options.get("ties", "threshold")
    if ties not in plan.aggregates:
        return False
    is_of_ranks = isinstance(plan.cutoff, Rank) or plan.counts_ranks
    if is_of_ranks and {"weight", "prevalence"} & {*options}:
        return False
    if "gain" not in options or not TIES[ties].bounds:
        return True
    return name in GAINED or not plan.aggregates[ties]


def every_metric(options: dict[str, Any]) -> Call:
    """A call of all metrics at cutoffs of each kind, on small groups with ties and missing scores.

    One group has no positives, one no negatives, and one no scores.
    """
    draw = random.Random(str(options))
    rows = []
    for group in range(18):
        share = {0: 0, 1: 1}.get(group, 0.4)
        scores = [None] if group == 2 else [None, 0.5, 1.0, 1.5, 2.0, 2.5]
        total = 0.3 if "prevalence" in options else 12 + group
        for _ in range(1 + group // 2):
            row = {"q": group, "y": draw.random() < share, "s": draw.choice(scores)}
            row |= {"d": draw.randrange(3), "w": draw.choice([0, 1, 2, 3])}
            row |= {"n": draw.randint(1, 3), "g": draw.choice([0, 0, 1, 3]), "total": total}
            rows.append(row)
    is_float = options.get("weight") == "f"
    frame = pl.DataFrame(rows, schema_overrides={"w": pl.Float64} if is_float else {})
    if "unjudged" in options:
        frame = frame.with_columns(y=pl.when(pl.int_range(pl.len()) % 4 > 0).then("y"))
    options = {"by": ["q"], "unscored": "unretrieved"} | options
    if "weight" in options:
        options["weight"] = "w"
    columns = [value for value in options.values() if str(value) in frame.columns]
    call = Call(frame.select("q", "y", "s", *columns), [], "s", options, "polars")
    at_cutoffs = [f"{rate}@{cutoff}" for rate in RATES for cutoff in CUTOFFS]
    thresholds = [f"threshold@{cut}" for cut in CUTOFFS if not cut.startswith("threshold")]
    names = dict.fromkeys([*WHOLE, *GAINED, *SPECIAL, *at_cutoffs, *thresholds])
    return replace(call, names=[name for name in names if is_metric(name) and takes(call, name)])


def a_cutoff(of: Draw, call: Call) -> str:
    """The name of a metric at a rank, a threshold, a recall, or a limit of another rate."""
    rank = of.one([1, 2, 3, 5, 10, 100, "1%", "10%", "33.3%", "100%"])
    recall = of.one(RECALLS)
    limited = of.one(["precision", "specificity", "npv", "fpr"])
    limit = f"{limited}={of.one(RECALLS[1:])}"
    scores = [score for score in present(call.frame[call.systems[0]]) if score is not None]
    threshold = of.one([0.5, 0, -inf, 1e300, *scores[:5]])
    of_ranks = words("reciprocal_rank success dcg ndcg judged threshold average_precision")
    benefit = of.one(["net_benefit", "standardized_net_benefit"])
    chance = of.one(["0", "0.1", "0.5", "0.999"])
    best = of.one(BEST).partition("@")[0]
    goal = of.one([best, f"{best}@{limit}", f"{best}@recall={recall}"])
    return of.one(
        [
            goal,
            f"threshold@{goal}",
            f"{of.one(RATES)}@{goal}",
            f"{of.one(RATES)}@threshold@{rank}",
            f"{of.one(RATES)}@{rank}",
            f"{of.one(RATES)}@threshold={threshold!r}",
            f"{of.one(RATES)}@recall={recall}",
            f"{of.one(RATES)}@{limit}",
            f"threshold@{of.one([limit, f'recall={recall}'])}",
            f"{of.one(of_ranks)}@{rank}",
            f"average_precision@{rank}/{of.one(['positives', 'hits'])}",
            f"recall@{rank}/min",
            f"interpolated_precision@recall={recall}",
            f"{benefit}@threshold={chance}",
        ]
    )


# What the oracle says
# ------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A key that equals itself, whatever frame it comes from."""
    return "nan" if isinstance(value, float) and isnan(value) else value


def keys_of(call: Call) -> list[tuple[Any, ...]]:
    if not call.keys:
        return [()] * call.frame.height
    return [tuple(map(plain, key)) for key in call.frame.select(call.keys).rows()]


def present(values: pl.Series) -> list[Any]:
    return [None if value != value else value for value in values.to_list()]


def rows_of(call: Call, system: str) -> list[Row]:
    frame = call.frame
    positive = call.options.get("positive", 1)
    labels = [None if label is None else label == positive for label in frame["y"].to_list()]
    weights: list[Any] = [1] * frame.height
    if "w" in frame.columns:
        number: Callable[[Any], Any] = int if frame.schema["w"].is_integer() else Fraction
        weights = [number(weight) for weight in frame["w"].to_list()]
    gains: list[Any] = [None] * frame.height
    if "g" in frame.columns:
        gains = [Fraction(gain) for gain in frame["g"].to_list()]
    counts = frame["n"].to_list() if "n" in frame.columns else [1] * frame.height
    columns = (labels, present(frame[system]), weights, tie_breaks_of(frame), gains, counts)
    return list(map(Row, *columns))


def tie_breaks_of(frame: pl.DataFrame) -> list[Any]:
    """What orders tied rows: a column's own order, or the text of a document."""
    if "document" in frame.columns:
        return frame["document"].cast(pl.String).to_list()
    if "d" not in frame.columns:
        return [None] * frame.height
    if isinstance(frame.schema["d"], pl.Enum):
        return frame["d"].to_physical().to_list()
    return present(frame["d"])


def known_of(call: Call, name: str) -> dict[tuple[Any, ...], Any]:
    """A known total of each group."""
    total = call.options[name]
    if isinstance(total, str):
        return dict(zip(keys_of(call), call.frame[total].to_list(), strict=True))
    keys = total.select(call.keys).rows() if call.keys else [()]
    keys = [tuple(map(plain, key)) for key in keys]
    return dict(zip(keys, total["total"].to_list(), strict=True))


def at_prevalence(rows: list[Row], share: float, options: dict[str, Any]) -> list[Row]:
    """The rows with the weights, as floats, that give the positives this share."""
    dropped = {"truth": options.get("unjudged"), "score": options.get("unscored")}
    fields = [field for field, option in dropped.items() if option == "drop"]
    present_rows = [row for row in rows if not any(getattr(row, field) is None for field in fields)]
    total = sum(row.count for row in present_rows)
    positives = sum(row.count for row in present_rows if row.truth)
    if positives in (0, total):
        return [row._replace(weight=0) for row in rows]
    of_positives = Fraction(share * total / positives)
    of_negatives = Fraction((1 - share) * total / (total - positives))
    return [row._replace(weight=of_positives if row.truth else of_negatives) for row in rows]


def reaches(score: Any, text: str, is_narrow: bool, ascending: bool) -> bool:
    """Whether a row of this score is selected at a threshold."""
    is_float = isinstance(score, float) or "inf" in text
    threshold: Any = float(text) if is_float else Fraction(text)
    if is_narrow:
        # A threshold is rounded as a score is, unless that makes infinity of it.
        with np.errstate(over="ignore"):
            near = float(np.float32(threshold))
        threshold = near if isfinite(near) else threshold
    return score <= threshold if ascending else score >= threshold


def groups_of(call: Call) -> dict[tuple[Any, ...], Group]:
    """The groups of the call by their keys, `system` last."""
    groups = {}
    for system in call.systems:
        for key, group in groups_of_system(call, system).items():
            groups[(*key, system) if isinstance(call.score, list) else key] = group
    return groups


def groups_of_system(call: Call, system: str) -> dict[tuple[Any, ...], Group]:
    options = call.options
    known = {name: known_of(call, name) for name in TABLES if name in options}
    select = partial(
        reaches,
        is_narrow=call.frame.schema[system] == pl.Float32,
        ascending=options.get("ascending", False),
    )
    # A row without one of several scores is dropped for all of them.
    scores = zip(*(present(call.frame[name]) for name in call.systems), strict=True)
    is_dropped = [None in row and options.get("unscored") == "drop" for row in scores]
    members: dict[Any, list[Row]] = {} if call.keys else {(): []}
    for key, row, drop in zip(keys_of(call), rows_of(call, system), is_dropped, strict=True):
        if row.count or not call.keys:
            members.setdefault(key, []).append(row._replace(score=None) if drop else row)
    groups = {}
    for key, rows in members.items():
        totals = {name: of_group.get(key) for name, of_group in known.items()}
        if "prevalence" in totals:
            rows = at_prevalence(rows, totals.pop("prevalence"), options)
        totals = {name.removeprefix("total_"): total for name, total in totals.items()}
        groups[key] = Group(rows, select, options, totals)
    return groups


COUNTS = (*rates.COUNTS, "rows", "positives", "tied_rows")


def exact_answers(
    call: Call, groups: dict[tuple[Any, ...], Group]
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The value of each name of the result, by its keys."""
    exact = {key: {name: group.value(name) for name in call.names} for key, group in groups.items()}
    filled = [name for name in call.names if is_filled(name)]
    for values in exact.values():
        values |= {name: call.options.get("undefined") for name in filled if values[name] is None}
    if "mean_over" not in call.options:
        return exact
    places = [call.all_keys.index(key) for key in call.result_keys]
    parts: dict[Any, list[Any]] = {} if places else {(): []}
    for key, group in groups.items():
        parts.setdefault(tuple(key[place] for place in places), []).append((group, exact[key]))
    return {key: averaged(call, part) for key, part in parts.items()}


def is_filled(name: str) -> bool:
    """Whether `undefined=` replaces the null of a metric."""
    return not name.startswith("threshold@") and name.partition("@")[0] not in COUNTS


def averaged(call: Call, part: list[tuple[Group, dict[str, Any]]]) -> dict[str, Any]:
    means: dict[str, Any] = {"groups": len(part)}
    for name in call.names:
        defined = [(group, values[name]) for group, values in part if values[name] is not None]
        for statistic in call.options.get("statistics", ["mean"]):
            means[f"{statistic}_{name}"] = statistic_of(statistic, defined)
    if lacking := sum(any(values[name] is None for name in call.names) for _, values in part):
        means["undefined"] = lacking
    return means


def statistic_of(statistic: str, defined: list[tuple[Group, Any]]) -> Any:
    numbers = sorted(value for _, value in defined)
    if statistic == "defined":
        return len(numbers)
    if not numbers or (statistic == "std" and len(numbers) < 2):
        return None
    if not all(map(isfinite, numbers)):
        if statistic == "mean":
            # Infinite thresholds of both signs have no mean.
            total = sum(map(float, numbers))
            return None if isnan(total) else total
        return numbers[0] if statistic == "min" else numbers[-1]
    if statistic in WEIGHTS_OF_GROUPS:
        return weighted_mean(statistic, defined)
    numbers = [Fraction(number) for number in numbers]
    mean = sum(numbers) / len(numbers)
    if statistic == "mean":
        return mean
    if statistic == "range":
        return numbers[-1] - numbers[0]
    if statistic == "std":
        return sqrt(sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1))
    return quantile(
        numbers, {"min": "0", "median": "50", "max": "100"}.get(statistic, statistic[1:])
    )


def weighted_mean(statistic: str, defined: list[tuple[Group, Any]]) -> Any:
    weight = WEIGHTS_OF_GROUPS[statistic]
    total = Fraction(sum(weight(group) for group, _ in defined))
    if not total:
        return None
    return sum(Fraction(value) * weight(group) for group, value in defined) / total


def quantile(numbers: list[Fraction], percent: str) -> Fraction:
    """The quantile of sorted numbers, on the line between the two next to it."""
    place = Fraction(percent) / 100 * (len(numbers) - 1)
    low = numbers[int(place)]
    high = numbers[min(int(place) + 1, len(numbers) - 1)]
    return low + (high - low) * (place - int(place))


# What the library says
# ------------------------------------------------------------------------------------------------


def result_of(call: Call) -> pl.DataFrame:
    """The result of the call, as a polars frame."""
    frame, options = call.frame, call.options
    arguments = (call.names, "y", call.score)
    if call.way == "streaming":
        return frame.lazy().pr.evaluate(*arguments, **options).collect(engine="streaming")
    if call.way in ("pandas", "dask"):
        return pandas_result(call)
    if call.way == "with_metrics":
        result = frame.pr.with_metrics(*arguments, prefix="its ", **options)
        return result.select(*call.keys, pl.col("^its .*$").name.replace("its ", "")).unique()
    if call.way == "expressions":
        label = options.get("positive")
        metrics = [pl.col("s").pr.metric(name, "y", positive=label) for name in call.names]
        return frame.group_by(call.keys).agg(metrics) if call.keys else frame.select(metrics)
    if call.way == "tally":
        return evaluated_tally(call)
    if call.way == "partitioned":
        return fp.partitioned(frame, partitions=2, progress=False).evaluate(*arguments, **options)
    return frame.pr.evaluate(*arguments, **options)


def pandas_result(call: Call) -> pl.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows: Any = call.frame.to_pandas(use_pyarrow_extension_array=True)
        arguments = (call.names, "y", call.score)
        if call.way == "pandas":
            return pl.from_pandas(rows.pr.evaluate(*arguments, **call.options))
        import dask.dataframe

        import frame_pr.dask  # noqa: F401  gives its frames .pr

        rows = dask.dataframe.from_pandas(rows, npartitions=2)
        result = rows.pr.evaluate(*arguments, **call.options)
        return pl.from_pandas(result.compute(scheduler="synchronous"))


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
        group = None if "mean_over" in call.options else groups[key]
        for name, value in exact[key].items():
            is_right = is_equal(name, row[name], value, group)
            if group is None and "threshold@" in name:
                is_right = is_right or is_mean_threshold(call, row[name], value)
            assert is_right, f"{name} of {key} is {row[name]!r}, not {shown(value)}"
    return len(groups)


def is_mean_threshold(call: Call, value: Any, exact: Any) -> bool:
    """Whether a mean of thresholds is exact to the size of the scores."""
    if None in (value, exact) or not isfinite(exact):
        return False
    return abs(value - float(exact)) <= 1e-11 * largest_score(call)


def largest_score(call: Call) -> float:
    sizes = (abs(float(value)) for name in call.systems for value in call.frame[name].drop_nulls())
    return max((size for size in sizes if isfinite(size)), default=0.0)


def shown(value: Any) -> str:
    return f"{float(value)!r} ({value})" if isinstance(value, Fraction) else repr(value)


def is_equal(name: str, value: Any, exact: Any, group: Group | None) -> bool:
    """Counts and thresholds as they are, all else to 1e-12, or to the last bits of its sums.

    NaN equals nothing: a metric without a value is null.
    """
    if value == exact:
        return True
    is_best = group is not None and is_as_good(group, name, value)
    if value is None or exact is None:
        return is_best
    if name.startswith("threshold@") or not isfinite(exact):
        return float(value) == float(exact) or is_best
    is_of_floats = group is None or isinstance(group.rows, Fraction)
    if name.partition("@")[0] in COUNTS and isinstance(exact, int) and not is_of_floats:
        return False
    return abs(value - float(exact)) <= slack(name, group) * max(1.0, abs(float(exact)))


def slack(name: str, group: Group | None) -> float:
    """1e-12, and more where a value is a quotient by a small part of the sums of its group."""
    if group is None:
        is_quotient = any(word in name for word in ("std_", "lift", "normalized"))
        return 1e-9 if is_quotient else 1e-11
    if name == "normalized_average_precision":
        return 1e-13 / float(1 - group.value("chance_average_precision") or 1)
    parts = [block.size for block in group.blocks] + [group.positives, group.negatives]
    least = min((part for part in parts if part > 0), default=1)
    return max(1e-12, 1e-14 * float(group.rows) / float(least))


def is_as_good(group: Group, name: str, threshold: Any) -> bool:
    """Whether the rate at a threshold is the best one up to rounding; None is above all scores."""
    matched = re.fullmatch("threshold@(max|min)_(.+)", name)
    if not matched:
        return False
    sign = 1 if matched[1] == "max" else -1
    numbers = {}
    for score, k, tp in [(None, 0, 0), *group.curve]:
        value = group.rate(matched[2], tp, k)
        if value is not None:
            numbers[score] = sign * value
    return threshold in numbers and numbers[threshold] >= max(numbers.values()) - Fraction(
        1, 10**12
    )


# Thresholds of groups
# ------------------------------------------------------------------------------------------------


class ThresholdCall(NamedTuple):
    """A call of `confusion`, and a threshold of each group: as a column, or as a frame."""

    call: Call
    table: pl.DataFrame
    is_column: bool


THRESHOLD_OPTIONS = ("by", "positive", "weight", "count", "unscored", "unjudged", "ascending")


@st.composite
def threshold_calls(draw: Any) -> ThresholdCall:
    call = draw(calls(["polars", "streaming", "pandas"]))
    assume(call.keys and isinstance(call.score, str) and not call.frame.is_empty())
    of = Draw(draw)
    scores: dict[Any, list[Any]] = {}
    keys = call.frame.select(call.keys)
    for key, score in zip(keys.rows(), present(call.frame[call.score]), strict=True):
        scores.setdefault(key, [None]).append(score)
    thresholds = [of.one(of_group) for of_group in scores.values()]
    cuts = pl.Series("cut", thresholds, dtype=call.frame.schema[call.score])
    options = {name: option for name, option in call.options.items() if name in THRESHOLD_OPTIONS}
    call = replace(call, names=["tp", "k", "precision", "recall", "f1"], options=options)
    table = keys.unique(maintain_order=True).with_columns(cuts)
    return ThresholdCall(call, table, of.is_so(50))


def check_thresholds(drawn: ThresholdCall) -> int:
    call, table = drawn.call, drawn.table
    groups = groups_of(call)
    cuts = {tuple(map(plain, key)): cut for *key, cut in table.select(*call.keys, "cut").rows()}
    rows = {}
    for row in confusion_at(drawn).to_dicts():
        rows[tuple(plain(row[key]) for key in call.keys)] = row
    assert {*rows} == {*groups}
    for key, group in groups.items():
        tp, k = counts_at(group, cuts[key], ascending=call.options.get("ascending", False))
        for name in call.names:
            exact = None if cuts[key] is None else group.rate(name, tp, k)
            value = rows[key][name]
            assert is_equal(name, value, exact, group), f"{name} of {key} is {value!r}"
    return len(groups)


def confusion_at(drawn: ThresholdCall) -> pl.DataFrame:
    call = drawn.call
    frame: Any = call.frame
    threshold: Any = drawn.table
    if drawn.is_column:
        on_keys = {"on": call.keys, "nulls_equal": True, "maintain_order": "left"}
        frame = frame.join(drawn.table, **on_keys)
        threshold = "cut"
    if call.way == "pandas":
        frame = frame.to_pandas(use_pyarrow_extension_array=True)
        if not drawn.is_column:
            threshold = threshold.to_pandas(use_pyarrow_extension_array=True)
    if call.way == "streaming":
        frame = frame.lazy()
    result: Any = fp.confusion(
        frame, "y", call.score, threshold=threshold, **call.options, rates="all"
    )
    if call.way == "pandas":
        return pl.from_pandas(result)
    return result.lazy().collect()


def counts_at(group: Group, cut: Any, *, ascending: bool) -> tuple[Any, Any]:
    """True positives and selected rows at a threshold."""
    if cut is None:
        return 0, 0
    reached = [(0, 0)]
    for score, k, tp in group.curve:
        if score <= cut if ascending else score >= cut:
            reached.append((tp, k))
    return reached[-1]


# Keys of pandas
# ------------------------------------------------------------------------------------------------


@st.composite
def keyed_frames(draw: Any) -> tuple[str, pd.DataFrame]:
    """A pandas frame with a key of some dtype, and with an index of any labels."""
    of = Draw(draw)
    name = of.one(PANDAS_KEYS)
    height = of.one([2, 5, 9])
    places = of.values(range(len(PANDAS_KEYS[name])), height)
    keys = PANDAS_KEYS[name].iloc[places].reset_index(drop=True)
    columns = {"g": keys, "y": of.values([0, 1], height), "s": of.values(range(4), height)}
    return name, pd.DataFrame(columns).set_axis(of.values(range(3), height), axis=0)


UNHASHABLE = ("arrow list", "surrogates")
if pd.__version__ < "3":
    UNHASHABLE += ("arrow timestamp", "arrow dictionary")
"""Keys by which pandas cannot group."""


def check_keys(drawn: tuple[str, pd.DataFrame]) -> int:
    """A result has the groups of pandas with its keys, so that a merge finds every row."""
    name, frame = drawn
    result = frame.pr.evaluate(["rows", "positives"], "y", "s", by="g")
    assert result["g"].dtype == frame["g"].dtype
    if not name.startswith(UNHASHABLE):
        groups = frame.groupby("g", dropna=False, observed=True, sort=False)
        counts = groups.agg(n=("y", "size"), p=("y", "sum")).values.tolist()
        assert len(frame.merge(result, on="g")) == len(frame)
        assert sorted(result[["rows", "positives"]].values.tolist()) == sorted(counts)
    assert frame.pr.curve("y", "s", by="g")["g"].dtype == frame["g"].dtype
    assert frame.pr.with_metrics("rows", "y", "s", by="g")["g"].equals(frame["g"])
    # Totals under the keys of a result are found again, whatever these are.
    totals = result.rename(columns={"rows": "n"})[["g", "n"]]
    again = frame.pr.evaluate(["rows", "positives"], "y", "s", by="g", total_rows=totals)
    pd.testing.assert_frame_equal(again, result)
    return len(result)


# Comparisons of groups without an error
# ------------------------------------------------------------------------------------------------


@st.composite
def separated_groups(draw: Any) -> tuple[pl.DataFrame, str]:
    """Two groups, the first of which has a metric of exactly 0 or 1."""
    of = Draw(draw)
    positives = of.one([2, 3, 8])
    negatives = of.one([2, 3, 8])
    height = of.one([6, 20])
    score_of_positives = 9 if of.is_so(50) else 1
    labels = [True] * positives + [False] * negatives
    scores = [score_of_positives] * positives + [5] * negatives
    separated = pl.DataFrame({"g": "a", "y": labels, "s": scores})
    labels = [True, True, False, False, *of.values([True, False], height)]
    mixed = pl.DataFrame({"g": "b", "y": labels, "s": of.values(range(10), 4 + height)})
    metrics = words("roc_auc average_precision recall@threshold=5 precision@threshold=5")
    return pl.concat([separated, mixed]), of.one(metrics)


def check_comparison(drawn: tuple[pl.DataFrame, str]) -> int:
    """A p-value below 5 % and an interval of 95 % without 0 are the same finding."""
    frame, name = drawn
    (row,) = fp.compare(frame, name, "y", "s", between="g", correction=None).to_dicts()
    if row["p_value"] is not None and row["low"] is not None:
        excludes_0 = not row["low"] <= 0 <= row["high"]
        is_close = min(abs(row["low"]), abs(row["high"])) < 1e-9
        assert is_close or excludes_0 == (row["p_value"] < 0.05), row
    return 1


# Replicates without a value
# ------------------------------------------------------------------------------------------------


@st.composite
def few_positives(draw: Any) -> tuple[pl.DataFrame, list[str], dict[str, Any]]:
    """Rows with one to three positives, so that replicates lack a class."""
    of = Draw(draw)
    height = of.one([3, 5, 12])
    positives = of.one([1, 2, 3])
    labels = [row < positives for row in range(height + positives)]
    columns = {"y": labels, "s": of.values([0.1, 0.2, 0.5, 0.9], len(labels))}
    options: dict[str, Any] = {"repeats": 100, "seed": of.one(range(50))}
    if of.is_so(40):
        columns["w"] = of.values(of.one([[0.1, 0.97], [1, 3], [2**45, 1]]), len(labels))
        options["weight"] = "w"
    if of.is_so(30):
        columns["c"] = of.values(range(4), len(labels))
        options["cluster"] = "c"
    elif of.is_so(30):
        options["stratified"] = True
    return pl.DataFrame(columns), ["roc_auc", "average_precision", "max_f1"], options


def check_replicates(drawn: tuple[pl.DataFrame, list[str], dict[str, Any]]) -> int:
    """Bounds are shares, and replicates without a value are counted and warned of."""
    frame, names, options = drawn
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        result = fp.intervals(frame, names, "y", "s", method="bootstrap", details=True, **options)
    messages = [str(warning.message) for warning in raised]
    for row in result.to_dicts():
        for bound in (row["low"], row["high"]):
            assert bound is None or 0 <= bound <= 1, row
        assert row["low"] is None or row["low"] <= row["high"], row
        # Without bounds, the warning says why there are none.
        word = "no bounds" if row["low"] is None else "replicates"
        is_named = any(word in text for text in messages)
        assert row["undefined_replicates"] <= 1 or is_named, (row, messages)
    return len(names)


# Classes of any kind
# ------------------------------------------------------------------------------------------------

CLASSES: dict[str, list[Any]] = {
    "text": ["b", "a", "", "None", "nan"],
    "integers": [-1, 10, 9],
    "floats": [0.5, -1.5, 2.0],
    "Booleans": [True, False],
    "dates": [dt.date(2024, 1, 1), dt.date(1969, 12, 31)],
    "timestamps": [
        pd.Timestamp("2024-01-01 10:00", tz="Asia/Tokyo"),
        pd.Timestamp("1969-12-31", tz="Asia/Tokyo"),
    ],
    "durations": [pd.Timedelta("1h"), pd.Timedelta("-2D")],
    "periods": [pd.Period("2024-01", "M"), pd.Period("1969-12", "M")],
    "intervals": [pd.Interval(0, 1), pd.Interval(1, 2), pd.Interval(-1, 0)],
    "UUIDs": [uuid.UUID(int=number) for number in (1, 2**100)],
    "tuples": [("a", 1), ("b", 0), ("a", 2)],
    "decimals": [Decimal("1.5"), Decimal("-2")],
    "bytes": [b"a", b"\xff"],
}


@st.composite
def classified_rows(draw: Any) -> tuple[str, pd.DataFrame]:
    """True and predicted classes of some kind, as objects or in the dtype that pandas infers."""
    of = Draw(draw)
    kind = of.one(CLASSES)
    height = of.one([1, 4, 9])
    dtype = object if of.is_so(50) else None
    columns = {}
    for name in ("truth", "prediction"):
        columns[name] = pd.Series(of.values(CLASSES[kind], height), dtype=dtype)
    return kind, pd.DataFrame(columns)


def check_classes(drawn: tuple[str, pd.DataFrame]) -> int:
    """The matrix has the pairs that occur, with the labels of the caller."""
    _, frame = drawn
    counts = Counter(zip(frame["truth"], frame["prediction"], strict=True))
    matrix = frame.pr.confusion_matrix("truth", "prediction")
    pairs = list(zip(matrix["truth"], matrix["prediction"], strict=True))
    assert len(pairs) == len({*pairs})
    assert dict(zip(pairs, matrix["rows"], strict=True)) == {pair: counts[pair] for pair in pairs}
    assert {*counts} <= {*pairs}
    return 1


# Files of judgments and results
# ------------------------------------------------------------------------------------------------


@st.composite
def trec_lines(draw: Any) -> tuple[list[str], list[tuple[str, str, float]], bool]:
    """Lines of a file, the rows that they say, and whether they are results."""
    of = Draw(draw)
    is_run = of.is_so(50)
    lines, rows = [], []
    for number in range(of.one([1, 3, 8])):
        for _ in range(of.one([0, 0, 1, 2])):
            noise = [
                "",
                "   ",
                "# query iteration document relevance",
                "#q1 0 d1 1",
                " # 1 2 3 4 5 6",
            ]
            lines.append(of.one(noise))
        query = of.one(["1", "q1", "301"])
        value = of.one([0, 1, 2, -1, 0.5, 2.75, 1e-3])
        between = of.one([" ", "\t", "  "])
        fields = [query, "Q0", f"d{number}", str(value)]
        if is_run:
            fields = [query, "Q0", f"d{number}", str(number), repr(value), "tag"]
        lines.append(between.join(fields) + of.one(["", " "]))
        rows.append((query, f"d{number}", float(value)))
    return lines, rows, is_run


def check_files(drawn: tuple[list[str], list[tuple[str, str, float]], bool]) -> int:
    """Blank lines and comments are no rows, and all others are."""
    lines, rows, is_run = drawn
    read = fp.read_trec_run if is_run else fp.read_trec_qrels
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file.txt")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        frame = read(path)
    value = "score" if is_run else "relevance"
    assert frame.select("query", "document", value).rows() == rows
    return 1


# Running
# ------------------------------------------------------------------------------------------------


class Subject(NamedTuple):
    """What is drawn, how it is checked, and its share of the cases."""

    strategy: Callable[[], st.SearchStrategy[Any]]
    check: Callable[[Any], int]
    share: int


SUBJECTS = {
    **{way: Subject(partial(calls, [way]), check, 8) for way in WAYS},
    "thresholds": Subject(threshold_calls, check_thresholds, 4),
    "keys": Subject(keyed_frames, check_keys, 2),
    "comparisons": Subject(separated_groups, check_comparison, 1),
    "replicates": Subject(few_positives, check_replicates, 1),
    "classes": Subject(classified_rows, check_classes, 2),
    "files": Subject(trec_lines, check_files, 2),
}


def compare_cases(name: str, cases: int, start: int) -> int:
    """Check examples until so many groups are compared; return how many were."""
    subject = SUBJECTS[name]
    done = 0
    while done < cases:
        before = done
        start += 1

        @seed(start)
        @settings(RANDOM, max_examples=min(200, max(5, (cases - done) // 2)))
        @given(subject.strategy())
        def compare(drawn: Any) -> None:
            nonlocal done
            try:
                done += subject.check(drawn)
            except Exception as error:
                error.add_note(repr(drawn))
                raise

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # Random rows look like mistakes now and then.
            warnings.simplefilter("ignore", fp.DataWarning)
            no_support = "PySpark does not yet fully support pandas"
            warnings.filterwarnings("ignore", no_support, FutureWarning)
            compare()
        assert done > before, f"no case of {name} in {start}"
    return done


def attempt(task: tuple[str, int, int]) -> tuple[str, int, str]:
    """How many cases were compared, or what differs in the smallest example."""
    name, cases, start = task
    pl.Config.set_tbl_rows(100)
    try:
        return name, compare_cases(name, cases, start), ""
    except Exception as error:
        return name, 0, f"{type(error).__name__}: {error}\n{error.__notes__[0]}"


def tasks_of(names: list[str], cases: int, seed_of_run: int) -> list[tuple[str, int, int]]:
    """(subject, cases, first seed) of at most 2,000 cases each, the subjects in turn."""
    shares = sum(SUBJECTS[name].share for name in names)
    tasks = []
    for name in names:
        of_subject = -(-cases * SUBJECTS[name].share // shares)
        chunks = -(-of_subject // 2000)
        for chunk in range(chunks):
            tasks.append((name, -(-of_subject // chunks), (seed_of_run * 1000 + chunk) * 10**5))
    return sorted(tasks, key=lambda task: task[2])


def main() -> None:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="groups of results to compare")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--subjects", nargs="+", choices=SUBJECTS, default=[*SUBJECTS])
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    subjects = ", ".join(options.subjects)
    print(f"seed {options.seed}, {options.cases:,} cases of {subjects}", flush=True)
    begun = time.monotonic()
    done = 0
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        tasks = tasks_of(options.subjects, options.cases, options.seed)
        for name, cases, difference in pool.map(attempt, tasks):
            if difference:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"{name}: {difference}")
            done += cases
            rate = done / (time.monotonic() - begun)
            print(f"{done:,} cases, {rate:.0f} a second", file=sys.stderr, flush=True)
    print(f"{done:,} cases, no difference, {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
