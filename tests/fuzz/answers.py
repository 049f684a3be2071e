"""What the oracle says of a call, what the library says, and where they differ."""

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite, sqrt
from typing import Any

import numpy as np
import polars as pl
from oracle import Group

import frame_pr as fp
from fuzz.calls import STARTED, Call, group_keys, parts_of, plain, rows_of, scores_of, tally_options
from fuzz.cases import ASSOCIATIONS, BEST_RATES, COUNTS, FIGURES, QUOTIENTS, TOTALS


def in_type(dtype: Any, text: str) -> Any:
    """A threshold as a score of this type would be: rounded, unless that makes infinity of it."""
    if "inf" in text or dtype == pl.Float64:
        return float(text)
    exact = Fraction(text)
    if dtype in (pl.Float16, pl.Float32):
        with np.errstate(over="ignore"):
            near = float((np.float16 if dtype == pl.Float16 else np.float32)(float(text)))
        return near if isfinite(near) else exact
    return exact


def known_of(call: Call, key: tuple[Any, ...]) -> dict[str, Any]:
    """The known totals of a group."""
    found = {}
    for name in ("total_positives", "total_rows", "prevalence"):
        given = call.options.get(name)
        if isinstance(given, str):
            here = [
                total for total, one in zip(call.frame[given].to_list(), group_keys(call), strict=True) if one == key
            ]
            found[name] = here[0] if here else None
        elif given is not None:
            (column,) = set(given.columns) - set(call.keys)
            ours = given.select(call.keys).rows() if call.keys else [()] * given.height
            found[name] = next(
                t for t, one in zip(given[column].to_list(), ours, strict=True) if tuple(map(plain, one)) == key
            )
    return found


def at_prevalence(call: Call, key: Any, rows: list[Any]) -> list[Any]:
    """The rows with the weights, as floats, that give the positives of the group their share."""
    given = call.options.get("prevalence")
    if given is None:
        return rows
    share = given if isinstance(given, float) else known_of(call, key)["prevalence"]
    drop = [name for name, by in (("truth", "unjudged"), ("score", "unscored")) if call.options.get(by) == "drop"]
    counted = [row for row in rows if not any(getattr(row, name) is None for name in drop)]
    total, positives = sum(row.count for row in counted), sum(row.count for row in counted if row.truth)
    if positives in (0, total):
        return [row._replace(weight=0) for row in rows]
    weights = share * total / positives, (1 - share) * total / (total - positives)
    return [row._replace(weight=Fraction(weights[not row.truth])) for row in rows]


def groups_of(call: Call) -> dict[tuple[Any, ...], Group]:
    """The groups of the result by their keys, `system` last."""
    found, policies, several = {}, call.options, not isinstance(call.score, str)
    keys = group_keys(call)
    lacking = [
        any(None is one for one in row) for row in zip(*(scores_of(call.frame, s) for s in call.systems), strict=True)
    ]
    for system in call.systems:
        dtype = call.frame.schema[system]
        ascending = call.options.get("ascending", False)

        def reaches(score: Any, text: str, dtype: Any = dtype, ascending: bool = ascending) -> bool:
            return score <= in_type(dtype, text) if ascending else score >= in_type(dtype, text)

        members: dict[Any, list[Any]] = {} if call.keys else {(): []}
        for key, row, lacks in zip(keys, rows_of(call, system), lacking, strict=True):
            if row.count == 0 and call.keys:
                continue  # no row, and so no group
            gone = lacks and policies.get("unscored") == "drop"
            members.setdefault(key, []).append(row._replace(score=None) if gone else row)
        for key, rows in members.items():
            rows = at_prevalence(call, key, rows)
            known = {} if "prevalence" in policies else known_of(call, key)
            found[(*key, system) if several else key] = Group(rows, reaches, policies, known)
    return found


def exact_answers(call: Call, groups: dict[tuple[Any, ...], Group]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """What the result should have, by its keys: exact values, or None."""
    undefined = call.options.get("undefined")
    shares = [n for n in call.names if not n.startswith("threshold@") and n.partition("@")[0] not in (*COUNTS, *TOTALS)]
    exact = {key: {name: group.value(name) for name in call.names} for key, group in groups.items()}
    if undefined is not None:
        for values in exact.values():
            values |= {name: undefined for name in shares if values[name] is None}
    over = call.options.get("mean_over")
    if over is None:
        return exact
    keys = [*call.keys, *(["system"] if isinstance(call.score, list) else [])]
    left = [i for i, key in enumerate(keys) if key not in over]
    parts: dict[Any, list[dict[str, Any]]] = {} if left else {(): []}
    for key, values in exact.items():
        parts.setdefault(tuple(key[i] for i in left), []).append(values)
    for key, group in groups.items():
        exact[key] |= {"P": group.positives, "N": group.rows}
        exact[key] |= {f"slack of {name}": slack(call, group, name) for name in call.names}
    statistics = call.options.get("statistics", ["mean"])
    return {key: averaged(call, values, statistics) for key, values in parts.items()}


WEIGHTS = {
    "weighted": lambda group: group["P"],
    "by_rows": lambda group: group["N"],
    "by_pairs": lambda group: group["P"] * (group["N"] - group["P"]),
}


def statistic(name: str, statistic: str, groups: list[dict[str, Any]]) -> Any:
    """Of the values of groups that have them, by the definition; None where there are too few."""
    if statistic == "defined":
        return len(groups)
    values = sorted(Fraction(group[name]) for group in groups)
    if statistic in WEIGHTS:
        weights = [Fraction(WEIGHTS[statistic](group)) for group in groups]
        total = sum(weights)
        return sum(w * Fraction(g[name]) for w, g in zip(weights, groups, strict=True)) / total if total else None
    if not values or (statistic == "std" and len(values) < 2):
        return None
    if statistic == "std":
        mean = sum(values) / len(values)
        return sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    if statistic == "range":
        return values[-1] - values[0]
    share = {"min": "0", "median": "50", "max": "100"}.get(statistic, statistic[1:])
    place = Fraction(share) / 100 * (len(values) - 1)
    low = values[int(place)]
    return low + (values[min(int(place) + 1, len(values) - 1)] - low) * (place - int(place))


def averaged(call: Call, groups: list[dict[str, Any]], statistics: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"groups": len(groups)}
    for name in call.names:
        there = [group[name] for group in groups if group[name] is not None]
        endless = [value for value in there if isinstance(value, float) and not isfinite(value)]
        numbers = endless or [Fraction(value) for value in there]
        for of in statistics:
            if endless and of != "defined":
                found[f"{of}_{name}"] = sum(endless) if of == "mean" else {"min": min, "max": max}[of](there)
            elif of == "mean":
                found[f"mean_{name}"] = sum(numbers) / len(numbers) if numbers else None
            else:
                found[f"{of}_{name}"] = statistic(name, of, [group for group in groups if group[name] is not None])
            # Of large numbers of both signs the mean has the last bits of the largest.
            least = max([1e12 * group[f"slack of {name}"] for group in groups], default=0)
            found[f"scale of {of}_{name}"] = max([*map(abs, numbers), signed(name), least])
        found[f"undefined_{name}"] = len(groups) - len(there)
    return found


# What the library says.


def result_of(call: Call) -> pl.DataFrame:
    """The result of the call on its engine, as a polars frame."""
    options = dict(call.options)
    arguments = call.names, "y", call.score
    if call.engine == "polars":
        return call.frame.pr.evaluate(*arguments, **options)
    if call.engine in ("lazy", "streaming"):
        lazy = call.frame.lazy().pr.evaluate(*arguments, **options)
        return lazy.collect(engine="streaming" if call.engine == "streaming" else "in-memory")
    if call.engine in ("pandas", "numpy"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = call.frame.to_pandas(use_pyarrow_extension_array=call.engine == "pandas")
        return pl.from_pandas(frame.pr.evaluate(*arguments, **options))
    if call.engine == "beside":
        result = call.frame.pr.with_metrics(*arguments, prefix="its ", **options)
        return result.select(*call.keys, pl.col("^its .*$").name.replace("its ", "")).unique()
    if call.engine == "expressions":
        metrics = [pl.col("s").pr.metric("y", name, positive=options.get("positive")) for name in call.names]
        return call.frame.group_by(call.keys).agg(metrics) if call.keys else call.frame.select(metrics)
    if call.engine == "tally":
        return evaluated_tally(call)
    if call.engine == "partitioned":
        return fp.partitioned(call.frame, partitions=parts_of(call), progress=False).evaluate(*arguments, **options)
    return RUNNING[call.engine](call)


def evaluated_tally(call: Call) -> pl.DataFrame:
    """The metrics of a tally, put together from those of three parts of the frame."""
    options, frame, shared = dict(call.options), call.frame, tally_options(call)
    for name in ("total_positives", "total_rows"):
        if isinstance(options.get(name), str):
            options[name] = frame.select(*call.keys, options[name]).unique()
    if "positive" in options:  # a part may lack this label
        frame = frame.with_columns(y=pl.col("y") == options.pop("positive"))
        del shared["positive"]
    part = pl.int_range(pl.len()) * 7 % 3
    tallies = pl.concat([fp.tally(frame.filter(part == i), "y", call.score, **shared) for i in range(3)])
    if parts_of(call) == 2:
        tallies = fp.tally(tallies, "y", call.score, **shared | {"count": "count"})
    return tallies.pr.evaluate(call.names, "y", call.score, **options | {"count": "count"})


RUNNING: dict[str, Callable[..., pl.DataFrame]] = {}
"""Engines that have to be started."""


@dataclass(frozen=True)
class Difference:
    """What is wrong with a result."""

    kind: str
    key: Any = None
    name: str = ""
    got: Any = None
    exact: Any = None
    error: Exception | None = field(default=None, compare=False)

    def __str__(self) -> str:
        if self.error is not None:
            return f"{type(self.error).__name__}: {str(self.error)[:300]}"
        should = "null" if self.exact is None else self.exact
        if isinstance(should, Fraction):
            should = f"{float(should)!r} ({should})" if len(str(should)) < 60 else repr(float(should))
        return f"{self.kind}: {self.name} of {self.key}: got {self.got!r}, should be {should}"


def differences(call: Call) -> Iterator[Difference]:
    """All that is wrong with the result of a call."""
    groups = groups_of(call)
    should = exact_answers(call, groups)
    try:
        result = result_of(call)
    except Exception as error:
        if "rows share a score" not in str(error):  # Metrics of ranks refuse ties of more than 2**24 rows.
            yield Difference("error", error=error, name=type(error).__name__)
        return
    keys = [*call.keys, *(["system"] if isinstance(call.score, list) else [])]
    keys = [key for key in keys if key not in call.options.get("mean_over", [])]
    there: dict[Any, dict[str, Any]] = {}
    for row in result.to_dicts():
        key = tuple(plain(row.pop(key)) for key in keys)
        if key in there:
            yield Difference("a group twice", key)
        there[key] = row
    if call.engine == "beside" and call.frame.is_empty():
        should = {}
    if there.keys() != should.keys():
        yield Difference("groups", None, "", sorted(there, key=repr), sorted(should, key=repr))
        return
    if "mean_over" in call.options:
        groups = {}
    for key, values in should.items():
        for name, exact in values.items():
            if name.startswith("scale of ") or (
                name not in there[key] and name.startswith("undefined_") and exact == 0
            ):
                continue
            got = there[key][name]
            if not equal(call, name, got, exact, groups.get(key), values.get(f"scale of {name}")):
                yield Difference("value", key, name, got, exact)


def equal(call: Call, name: str, got: Any, exact: Any, group: Group | None, scale: Any) -> bool:
    """Whether a value is right: whole counts and thresholds exactly, quotients to the last bit, others to 1e-12."""
    if call.engine in ("pandas", "numpy", *STARTED):  # where null and NaN are the same
        got, exact = (None if one is not None and one != one else one for one in (got, exact))
    if group is not None and name.startswith("threshold@"):
        return same_threshold(group, name, got, exact)
    if got is None or exact is None:
        return got is None and exact is None
    if group is None:
        if isinstance(exact, float) and not isfinite(exact):
            return float(got) == exact or (got != got and exact != exact)
        if isinstance(exact, int):
            return got == exact
        return abs(got - float(exact)) <= 1e-12 * float(scale)
    fractional = isinstance(group.rows, Fraction)
    if got == exact:
        return True
    if abs(got - exact) <= slack(call, group, name):
        return True
    head, _, cut = name.partition("@")
    if fractional:
        # Sums of float weights are right to 1e-12 of the total weight, and differences of them no better.
        of_weights = head in COUNTS or head in TOTALS
        return abs(got - exact) <= 1e-12 * float(group.rows if of_weights else max(1, abs(exact)))
    if head in COUNTS or head in TOTALS:
        return not isinstance(exact, int) and near(name, got, exact)
    an_f = re.fullmatch("(max_)?f[0-9.]+", head)
    plain = (head in QUOTIENTS and not an_f) or head in ("prevalence", "r_precision")
    if (plain and not fractional and group.rows < 2**53) or (an_f and group.rows < 2**46):
        tp = group.value(f"tp@{cut}") if cut else group.value(f"tp@{group.positives}") if name == "r_precision" else 0
        if tp is not None and Fraction(tp).denominator == 1:
            return got == float(exact)
    return near(name, got, exact)


def slack(call: Call, group: Group, name: str) -> float:
    """How far a value may be off where a row stands for many: by the last bits of what it is a difference of.

    A rank takes a share of a tie, and leaves so few of its misses, or rows, as a difference of large numbers. Over all
    orders of a long tie, precision is a difference of logarithms. A ranking is compared with chance by how much is
    missing to 1.
    """
    head, _, cut = (f"precision@{group.positives}" if name == "r_precision" else name).partition("@")
    if "count" not in call.options or not group.positives:
        return 0.0
    if head == "normalized_average_precision":
        missing = float(1 - group.value("chance_average_precision")) or 1.0
        return 1e-14 / missing * max(1.0, abs(float(group.value(name) or 0)))
    if head in ("average_precision", "average_precision_lift"):
        return 1e-15 * (group.rows / group.positives if head == "average_precision_lift" else 1)
    if head not in FIGURES or not cut[:1].isdigit():
        return 0.0
    k = group.rank_of(cut.removesuffix("/min"))
    if head in COUNTS:
        return 1e-15 * k
    classes = (group.positives, group.rows - group.positives, k, group.rows - k)
    return 1e-15 * max(group.rows, k) / min(number for number in classes if number > 0)


PRODUCTS = {"precision": 2**53, "accuracy": 2**53, "mcc": 2**13}
PRODUCTS |= {name: 2**26 for best in BEST_RATES if (name := best.removeprefix("max_")) not in PRODUCTS}
"""The number of rows below which floats hold the counts, or products of two or four counts, that a rate divides."""


def same_threshold(group: Group, name: str, got: Any, exact: Any) -> bool:
    """Whether a threshold is right: the same, or as good where floats round what its rate divides."""
    if got == exact or (got is not None and exact is not None and float(got) == float(exact)):
        return True
    rate, whole = name.removeprefix("threshold@max_"), not isinstance(group.rows, Fraction)
    if name.startswith("threshold@min_cost"):
        missed, false = Fraction(name.removeprefix("threshold@min_cost")).as_integer_ratio()
        return (not whole or group.rows * (false + missed) >= 2**53) and as_good(
            group, name.removeprefix("threshold@min_"), got
        )
    if rate in PRODUCTS:
        rounds = not whole or group.rows >= PRODUCTS[rate]
    else:
        rounds = "max_f" in name and (group.rows >= 2**46 or not whole)
    return rounds and as_good(group, rate, got)


def as_good(group: Group, rate: str, threshold: Any) -> bool:
    """Whether a rate is the best but for its last bits, and nothing above it is as good; None: to predict nothing."""
    if not 0 < group.positives < group.rows and not re.match("f[0-9]|cost", rate):
        return False
    sign = -1 if rate.startswith("cost") else 1
    values = {score: sign * value for score, k, tp in group.curve if (value := group.figure(rate, tp, k)) is not None}
    nothing, slack = sign * (group.figure(rate, 0, 0) or 0), Fraction(1, 10**14)
    if threshold is None:
        return max(values.values(), default=nothing) <= nothing + slack
    if isinstance(group.rows, Fraction):  # Of thresholds whose values agree to 1e-12, any may be returned.
        slack = Fraction(1, 10**12)
        return values[threshold] >= max([nothing, *values.values()]) - slack
    first = next(score for score in values if values[score] == values[threshold])
    return first == threshold and values[threshold] >= max([nothing, *values.values()]) - slack


def near(name: str, got: float, exact: Any) -> bool:
    """Sums of like signs have no cancellation to excuse them; where there is one, the scale is 1."""
    scale = max(abs(float(exact)), 1.0) if signed(name) else abs(float(exact))
    return abs(got - float(exact)) <= 1e-12 * scale


def signed(name: str) -> bool:
    """Whether a value is a difference."""
    return name.partition("@")[0] in (*ASSOCIATIONS, "roc_auc", "normalized_average_precision") or "benefit" in name
