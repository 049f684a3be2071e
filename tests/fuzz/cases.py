"""Random calls, each from a seed and a number alone."""

import datetime
import random
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from math import inf, nan
from typing import Any

import polars as pl

from frame_pr.inputs.policies import TIES
from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.names import metric
from frame_pr.metrics.rates import RATES
from fuzz.calls import IN_PARTS, STARTED, Call, group_keys, rows_of, scores_of

INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.UInt128]
FLOATS = [pl.Float16, pl.Float32, pl.Float64]
DECIMALS = [pl.Decimal(10, 2), pl.Decimal(18, 9), pl.Decimal(38, 0)]
# Truths: the positive label, the negative one, and whether `positive=` has to say so.
TRUTHS = [
    (pl.Boolean, True, False, False),
    (pl.Int8, 1, 0, False),
    (pl.UInt64, 1, 0, False),
    (pl.Float32, 1.0, 0.0, False),
]
TRUTHS += [(pl.String, "yes", "no", True), (pl.Int64, 2, 1, True), (pl.Enum(["ham", "spam"]), "spam", "ham", True)]
KEYS = {
    pl.Int64: [0, 1, -1, 2**63 - 1, -(2**63), 7, None],
    pl.Int8: [0, 1, -128, 127, None],
    pl.UInt64: [0, 1, 2**64 - 1, 2**63, 5, None],
    pl.Boolean: [True, False, None],
    pl.String: ["a", "b", "", "a ", "B", "ä", None],
    pl.Categorical: ["b", "a", "", "c", None],
    pl.Enum(["z", "a", "m"]): ["a", "z", "m", None],
    pl.Date: [datetime.date(2024, 1, day) for day in (1, 2, 31)] + [datetime.date(1969, 12, 31), None],
    pl.Datetime("us"): [datetime.datetime(2024, 1, 1, hour) for hour in (0, 1, 23)] + [None],
    pl.Float64: [0.5, -0.5, inf, 1e300, None],
    pl.Decimal(10, 2): [Decimal("1.50"), Decimal("-2.25"), Decimal("0.00"), None],
}
TIE_BREAKS = {pl.Int64: [1, 2, 3, None], pl.String: ["a", "b", "c", None], pl.Float64: [0.5, 1.5, -inf, nan, None]}
TIE_BREAKS[pl.Date] = [datetime.date(2024, 1, day) for day in (1, 2, 3)] + [None]
WEIGHTS = {
    pl.Int64: [[0, 1, 2, 3], [1, 10**6, 10**12], [3 * 10**9, 1]],
    pl.UInt8: [[0, 1, 2, 255]],
    pl.Float64: [[0.1, 0.2, 0.3, 0.7, 0.0], [1.5, 2.5, 0.5], [1e-9, 1.0, 1e6], [0.1], [1 / 3, 0.3, 2.0]],
    pl.Float32: [[0.1, 0.7, 1.0]],
    pl.Decimal(5, 2): [[Decimal("0.10"), Decimal("0.70"), Decimal("1.25")]],
}

COUNTS = [*rates.COUNTS]
# A balanced accuracy is a quotient of products, which floats may not hold.
SUMS = ("balanced_accuracy", "prevalence")
QUOTIENTS = [*(name for name, rate in RATES.items() if rate.range == "0 to 1" and name not in SUMS), "f2", "f0.5"]
ASSOCIATIONS = [name for name, rate in RATES.items() if rate.range == "-1 to 1"]
FIGURES = [*RATES, "f2", "f0.5", "f0.3", "cost3", "cost0.7"]
TOTALS = ["rows", "positives", "tied_rows"]
WHOLE = ["average_precision", "average_precision_lift", "interpolated_average_precision"]
WHOLE += [f"interpolated_average_precision_{points}" for points in ("11", "101", "101/coco")]
WHOLE += ["r_precision", "roc_auc", "prevalence", *TOTALS]
WHOLE += [f"{head}max_f{beta}" for head in ("", "threshold@") for beta in ("1", "2", "0.5", "0.3")]
WHOLE += ["roc_auc@fpr=0.1", "roc_auc@fpr=0.5", "roc_auc@fpr=1", "reciprocal_rank", "dcg", "ndcg", "ndcg", "bpref"]
WHOLE += ["rbp0.5", "rbp0.8", "rbp0.95", "chance_average_precision", "normalized_average_precision"]
WHOLE += ["first_rank", "mean_rank", "equal_error_rate", "threshold@equal_error_rate"]
BEST_RATES = [f"max_{name}" for name, rate in RATES.items() if rate.best_by is not None]
OPTIMA = [*BEST_RATES, "min_cost1", "min_cost3", "min_cost0.3", "min_cost2.5"]
WHOLE += [f"{head}{name}" for head in ("", "threshold@") for name in OPTIMA]
GAINED = [
    *(
        "total_cost0.5@1",
        "total_cost3@20%",
        "total_cost0.1@3",
        "total_cost3@threshold=0.5",
        "total_cost0.25@threshold=0",
    ),
    *("min_total_cost0.5", "min_total_cost3", "min_total_cost1000"),
    "captured_gain@1",
    "captured_gain@3",
    "captured_gain@20%",
    "dcg",
    "ndcg",
    "dcg@1",
    "ndcg@3",
    "ndcg@10",
    "ndcg@20%",
    "dcg@50%",
]
GAINS = {
    pl.Int64: [[0, 1, 2, 3], [0, 0, 0, 1], [0, 10**9, 1]],
    pl.Float64: [[0.0, 0.5, 1.0, 7.0], [1e-9, 1e-6, 1.0], [0.1, 0.2, 1e15]],
    pl.UInt8: [[0, 1, 3, 7, 15]],
}
STATISTICS = ["mean", "median", "std", "min", "max", "range", "q25", "q2.5", "defined"]
STATISTICS += ["weighted", "by_rows", "by_pairs"]
OF_THRESHOLDS = ["mean", "min", "max", "defined"]
SCALES = [1, 10**6, 10**10, 10**15]
RECALLS = ["0", "0.1", "0.3", "0.5", "0.7", "0.8", "1", "0.333", "1e-3", "0.999999"]


def some_scores(draw: random.Random, dtype: Any, height: int) -> list[Any]:
    """Scores of a type: few, so that they are tied, or many; of any size that it holds."""
    if dtype in INTEGERS:
        low, high = limits(dtype)
        small = [low + i for i in range(7)] if draw.random() < 0.2 else [i for i in range(-3, 4) if i >= low]
        far = [low, low + 1, high, high - 1, *(n for n in (2**53, 2**53 + 1, -(2**53) - 1) if low <= n <= high)]
        pool = draw.choice([small, small, far, [draw.randint(low, high) for _ in range(9)]])
    elif dtype in FLOATS:
        largest = {pl.Float16: 65504.0, pl.Float32: 3.4028234663852886e38}.get(dtype, 1.7976931348623157e308)
        least = {pl.Float16: 6e-8, pl.Float32: 1e-45}.get(dtype, 5e-324)
        plain = [0.0, 0.5, 0.7, 0.1, 0.3, 1.0, -0.5]
        far = [0.0, -0.0, inf, -inf, largest, -largest, least, -least, 1.0]
        pool = draw.choice([plain, plain, far, [round(draw.uniform(-2, 2), 2) for _ in range(30)]])
    else:
        digits = 10 ** min(18, dtype.precision) - 1
        pool = draw.choice(
            [range(-3, 4), [digits, digits - 1, -digits, 1, 0], [draw.randint(-digits, digits) for _ in range(9)]]
        )
        pool = [Decimal(n).scaleb(-dtype.scale) for n in pool]
    pool = draw.sample(list(pool), draw.randint(1, len(pool)))
    return [draw.choice(pool) for _ in range(height)]


def limits(dtype: Any) -> tuple[int, int]:
    """The least and the largest score of a type of integers: of 128 bits, 63 may be used."""
    unsigned, _, bits = str(dtype()).rpartition("Int")
    if bits == "128":
        return 0 if unsigned else 1 - 2**63, 2**63 - 1
    return (0, 2 ** int(bits) - 1) if unsigned else (-(2 ** (int(bits) - 1)), 2 ** (int(bits) - 1) - 1)


def with_missing(draw: random.Random, values: list[Any], share: float, missing: list[Any]) -> list[Any]:
    return [draw.choice(missing) if draw.random() < share else value for value in values]


def some_names(draw: random.Random, call: Call) -> list[str]:
    """Names of metrics that the plan does not refuse under the options of the call."""
    ties, weighted = call.options.get("ties", "threshold"), bool({"weight", "prevalence"} & {*call.options})
    wanted = draw.choice([1, 6, 12, 12, 25])
    if "gain" in call.options and TIES[ties].bounds:
        wanted = min(wanted, 6)
    found: dict[str, None] = {}
    while len(found) < wanted:
        name = draw.choice(WHOLE) if draw.random() < 0.35 else a_cut(draw, call)
        if "gain" in call.options and draw.random() < 0.5:
            name = draw.choice(GAINED)
        plan = metric(name)
        if ties not in plan.aggregates or (weighted and (isinstance(plan.cutoff, Rank) or plan.counts_ranks)):
            continue
        if call.fractional and "mean_over" in call.options and name.removeprefix("threshold@") in BEST_RATES:
            continue  # see `answers.equal`
        if name.startswith("threshold@") and not {*call.options.get("statistics", [])} <= {*OF_THRESHOLDS}:
            continue
        if "gain" in call.options and name not in GAINED and (TIES[ties].bounds or not found):
            continue
        found[name] = None
    return list(found)


def a_cut(draw: random.Random, call: Call) -> str:
    kinds = [
        "rank",
        "threshold",
        "recall",
        "threshold@recall",
        "interpolated",
        "average",
        "ranks",
        "limit",
        "capped",
        "benefit",
    ]
    kind = draw.choice([*kinds, "threshold@limit"])
    ranks = [1, 2, 3, 4, 5, 10, 100, "1%", "10%", "33.3%", "100%"]
    ranks += [10**6 + 7, 10**12] if "count" in call.options else []
    rank, recall = draw.choice(ranks), draw.choice(RECALLS)
    if kind == "ranks":
        return f"{draw.choice(['reciprocal_rank', 'success', 'dcg', 'ndcg', 'judged', 'threshold'])}@{rank}"
    limit = draw.choice(
        [f"{rate}={draw.choice(RECALLS[1:])}" for rate in ("precision", "specificity", "npv")] + [f"fpr={recall}"]
    )
    if kind in ("limit", "threshold@limit"):
        return f"{draw.choice(FIGURES) if kind == 'limit' else 'threshold'}@{limit}"
    if kind == "benefit":
        chance = draw.choice(["0", "0.1", "0.5", "0.123456789", "0.999", "1e-9"])
        return f"{draw.choice(['', 'standardized_'])}net_benefit@threshold={chance}"
    if kind == "capped":
        return f"recall@{rank}/min"
    if kind == "average":
        return f"average_precision@{rank}{draw.choice(['', '/positives', '/hits'])}"
    if kind == "threshold@recall":
        return f"threshold@recall={recall}"
    if kind == "interpolated":
        return f"interpolated_precision@recall={recall}"
    cut = {"rank": str(rank), "recall": f"recall={recall}", "threshold": f"threshold={a_threshold(draw, call)}"}[kind]
    return f"{draw.choice(FIGURES)}@{cut}"


def a_threshold(draw: random.Random, call: Call) -> str:
    scores = [score for score in scores_of(call.frame, draw.choice(call.systems)) if score is not None]
    if draw.random() < 0.4 or not scores:
        return draw.choice(["0", "0.5", "0.7", "-inf", "inf", "1e300", "-1e300", "1", "2.5", "-0.3"])
    score = draw.choice(scores)
    return f"{score:f}" if isinstance(score, Decimal) else repr(score)


def a_call(seed: int, number: int, engines: list[str]) -> Call:
    """The call of this number, whatever was called before it."""
    draw = random.Random(f"{seed} {number}")
    # Parts are written to a disk and read again, which takes ten times as long.
    engine = draw.choices(engines, [0.2 if engine in IN_PARTS else 1 for engine in engines])[0]
    while not fits(call := a_call_of(draw, engine)):
        pass
    return call


def a_call_of(draw: random.Random, engine: str) -> Call:
    by_policies, height = engine != "expressions", draw.choice([0, 2, 8, 20, 40, 60, 90, 120])
    columns: dict[str, pl.Series] = {}
    options: dict[str, Any] = {}

    def column(name: str, values: list[Any], dtype: Any) -> None:
        columns[name] = pl.Series(name, values, dtype=dtype, strict=True)

    # Few groups of many rows, or many of few.
    for key in draw.choice([[], ["q"], ["q"], *[["q", "r"]] * 4]):
        dtype = draw.choice(list(KEYS))
        pool = draw.sample(KEYS[dtype], draw.randint(1, len(KEYS[dtype])))
        column(key, [draw.choice(pool) for _ in range(height)], dtype)
        options.setdefault("by", []).append(key)
    dtype, yes, no, named = draw.choice(TRUTHS)
    share, missing = draw.choice([0.0, 0.1, 0.4, 0.4, 0.6, 1.0]), draw.choice([0, 0, 0.2]) * by_policies
    truths = with_missing(draw, [yes if draw.random() < share else no for _ in range(height)], missing, [None])
    if named:
        options["positive"] = yes
        truths[:1] = [yes] * min(1, height)  # a label that no row has is an error
    column("y", truths, dtype)
    if missing:
        options["unjudged"] = draw.choice(["negative", "drop"])
    systems = ["s", "t", "u"][: draw.choice([1, 1, 1, 2, 3]) if by_policies else 1]
    dtype, missing = draw.choice([*INTEGERS, *FLOATS, *FLOATS, *DECIMALS]), draw.choice([0, 0, 0.2, 0.9]) * by_policies
    for system in systems:
        if dtype in FLOATS and draw.random() < 0.3:
            dtype = draw.choice(FLOATS)
        scores = some_scores(draw, dtype, height)
        column(system, with_missing(draw, scores, missing, [None, nan] if dtype in FLOATS else [None]), dtype)
    score = systems if len(systems) > 1 or (by_policies and draw.random() < 0.1) else "s"
    if missing:
        options["unscored"] = draw.choice(["unretrieved", "unretrieved", "drop"])
    if by_policies:
        policies(draw, options, column, truths)
        if draw.random() < 0.15:
            options["undefined"] = draw.choice([0.0, 0.5, -1.0])
        if "by" in options and draw.random() < 0.2:
            keys = [*options["by"], *(["system"] if isinstance(score, list) else [])]
            options["mean_over"] = draw.sample(keys, draw.randint(1, len(keys)))
            if draw.random() < 0.5:
                # Weights are totals, which tied gains refuse.
                several = STATISTICS[: -3 if "gain" in options else None]
                options["statistics"] = draw.sample(several, draw.randint(1, 5))
    call = Call(pl.DataFrame(list(columns.values())), [], score, options, engine)
    # The weights of means are totals, too.
    if by_policies and draw.random() < (0.5 if "statistics" in options else 0.2):
        call = totals(draw, call)
    elif by_policies and draw.random() < 0.15:
        call = prevalences(draw, call)
    return replace(call, names=some_names(draw, call))


def policies(draw: random.Random, options: dict[str, Any], column: Callable[..., None], truths: list[Any]) -> None:
    """Ties, tie-breaks, weights, gains, counts and directions."""
    height = len(truths)
    kind = draw.choice(["plain", "plain", "ties", "tie_break", "weight", "weight", "gain"])
    if kind == "gain":
        dtype = draw.choice(list(GAINS))
        pool = draw.choice(GAINS[dtype])
        # A gain may be missing where the truth is.
        gains = [None if truth is None and draw.random() < 0.5 else draw.choice(pool) for truth in truths]
        column("g", gains, dtype)
        options["gain"] = "g"
    if kind == "ties" or (kind == "gain" and draw.random() < 0.4):
        options["ties"] = draw.choice([*TIES])
    if kind == "tie_break" or (kind == "weight" and draw.random() < 0.2):
        dtype = draw.choice(list(TIE_BREAKS))
        column("d", [draw.choice(TIE_BREAKS[dtype]) for _ in range(height)], dtype)
        options["tie_break"] = "d"
        if draw.random() < 0.5:
            options["tie_break_descending"] = draw.random() < 0.5
    if kind == "weight":
        dtype = draw.choice(list(WEIGHTS))
        pool = draw.choice(WEIGHTS[dtype])
        if dtype == pl.Float64 and draw.random() < 0.3:
            pool = [draw.lognormvariate(0, 4) for _ in range(20)]
        column("w", [draw.choice(pool) for _ in range(height)], dtype)
        options["weight"] = "w"
    rule = TIES[options.get("ties", "threshold")]
    if draw.random() < 0.3 and "tie_break" not in options and not rule.by_row:
        # Of long runs of rows in the order of their truths the oracle has no closed form.
        # Sums have to stay below 2**56, and those of gains are exact only if these are much alike.
        known = rule.bounds or kind == "weight" or (kind == "gain" and {1e-9, 10**9, 1e15} & {*pool})
        scale = 1 if known else draw.choice(SCALES[: -1 if kind == "gain" else None])
        few = [draw.choice([1, 2, 3]) for _ in range(height)]
        many = [draw.choice([1, scale, 2 * scale, scale - 1]) for _ in range(25)]  # up to 2**56 in all
        counts = [*many, *few[25:]][:height]
        draw.shuffle(counts)
        column("n", with_missing(draw, counts, draw.choice([0, 0.2]), [0]), pl.Int64)
        options["count"] = "n"
    if draw.random() < 0.25:
        options["ascending"] = True


def prevalences(draw: random.Random, call: Call) -> Call:
    """The call at another share of positives: a number, a column, or a frame in another order."""
    frame, options = call.frame, call.options
    # Of 10^15 rows and few positives, weights lie too far apart for exact sums, which is an error.
    if {"weight", "gain", "ties"} & {*options} or ("count" in options and (frame["n"].max() or 0) > 10**6):
        return call
    shares = [0.5, 0.1, 0.01, 0.9, 1e-4, 0.333]
    if draw.random() < 0.4 or not call.keys or frame.is_empty():
        return replace(call, options=options | {"prevalence": draw.choice(shares)})
    of_key = {key: draw.choice(shares) for key in dict.fromkeys(group_keys(call))}
    column = pl.Series("share", [of_key[key] for key in group_keys(call)], dtype=pl.Float64)
    if draw.random() < 0.5:
        return replace(call, frame=frame.with_columns(column), options=options | {"prevalence": "share"})
    table = frame.with_columns(column).select(*call.keys, "share").unique(maintain_order=True)
    table = table.sample(fraction=1, shuffle=True, seed=draw.randint(0, 99))
    return replace(call, options=options | {"prevalence": table})


def totals(draw: random.Random, call: Call) -> Call:
    """The call with known totals: as a column, or as a frame in another order."""
    frame, options = call.frame, call.options
    if "count" in options and 0 in frame["n"]:
        return call  # these groups would be among the totals, but not among the rows
    here: dict[Any, list[Any]] = {}
    for key, row in zip(group_keys(call), rows_of(call, call.systems[0]), strict=True):
        found = here.setdefault(key, [0, 0])
        found[0], found[1] = found[0] + row.mass * (row.truth is True), found[1] + row.mass
    more = {key: [draw.choice([0, 0, 1, 5, 1000]) for _ in range(2)] for key in here}
    known = {key: (p + more[key][0], n + sum(more[key])) for key, (p, n) in here.items()}
    number = float if call.fractional else int
    given = [[("total_positives", 0)], [("total_rows", 1)], [("total_positives", 0), ("total_rows", 1)]]
    for name, at in given[1] if "gain" in options else draw.choice(given):
        given = {"total_positives": "P", "total_rows": "N"}[name]
        values = [number(known[key][at]) for key in group_keys(call)]
        column = pl.Series(given, values, dtype=pl.Float64 if call.fractional else pl.Int64)
        if draw.random() < 0.5 and frame.height:
            frame, options = frame.with_columns(column), options | {name: given}
        elif call.keys and frame.height:
            table = frame.with_columns(column).select(*call.keys, given).unique(maintain_order=True)
            options = options | {name: table.sample(fraction=1, shuffle=True, seed=draw.randint(0, 99))}
        elif frame.height:
            options = options | {name: pl.DataFrame([column]).head(1)}
    return replace(call, frame=frame, options=options)


def fits(call: Call) -> bool:
    """Whether the engine takes the call, and its frames hold what ours does."""
    schema, engine = call.frame.schema, call.engine
    gaps = [column.dtype for column in call.frame if column.null_count()]
    if engine == "beside":
        # A row that counts nothing stands there, too, and a group of such rows is not in the result.
        nothing = "count" in call.options and 0 in call.frame["n"]
        return isinstance(call.score, str) and "mean_over" not in call.options and not nothing
    if engine == "tally" and ("tie_break" in call.options or call.frame.is_empty()):
        return False
    if engine == "tally" and isinstance(call.options.get("prevalence"), str):
        return False  # a tally has no such column
    if engine in (*IN_PARTS, "tally") and "ties" in call.options and TIES[call.options["ties"]].by_row:
        return False
    # Ranges of scores take no gains, and a small partition is cut into them, too.
    if "gain" in call.options and (engine == "partitioned" or (engine in STARTED and not call.keys)):
        return False
    if engine in (*IN_PARTS, "expressions") and call.frame.is_empty():
        return False
    if engine in ("pandas", *STARTED):
        lacking = [pl.Int128, pl.UInt128, pl.Float16]
        if engine in STARTED:  # of these parts have types of their own, or thresholds
            lacking += [pl.Categorical, pl.Enum, pl.Decimal, *(pl.Boolean for key in call.keys if schema[key] in gaps)]
        if engine == "spark":
            lacking += [pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
            # Spark makes instants of them, and totals of naive ones are refused there.
            totals = any(
                isinstance(call.options.get(name), pl.DataFrame)
                for name in ("total_positives", "total_rows", "prevalence")
            )
            lacking += [pl.Datetime] if totals else []
        return not any(dtype in lacking for dtype in schema.values())
    if engine == "numpy":
        held = [pl.Boolean, pl.String, *FLOATS, pl.Datetime, *(dtype for dtype in INTEGERS if "128" not in str(dtype))]
        return all(dtype in held for dtype in schema.values()) and all(dtype in (pl.String, *FLOATS) for dtype in gaps)
    return True
