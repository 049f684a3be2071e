"""What the library is meant to reach, and whether a run reached it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks import lists
from benchmarks.calls import (
    BASE,
    BESIDE,
    CALLS,
    COARSE,
    CURVES,
    FLOAT,
    KEYS,
    POLICIES,
    TOGETHER,
    UNTIED,
    UNTIED_WEIGHTS,
    WHOLE,
)
from benchmarks.peers import CURVE, OURS
from benchmarks.results import Results
from benchmarks.scale import DASK, FEW, GROUP_SIZE, IN_MEMORY, IN_PARTS, SPARK, case
from benchmarks.small import AFTER_POLARS, FLIPS, PANELS, TEXT_KEY
from benchmarks.sorting import PACKED

LARGE, SMALL = ("20 x 500k", "1 x 10M"), ("100k x 100", "2M x 5")


class Target(NamedTuple):
    """One aim: `measured` by shape, or by another name of the case."""

    aim: str
    at_least: bool
    limit: float
    measured: dict[str, float]

    @property
    def missed(self) -> list[str]:
        """The cases that do not reach it."""
        return [case for case, value in self.measured.items() if (value < self.limit) == self.at_least]


def targets(found: Results) -> Iterator[Target]:
    """Those for which this run measured something."""
    return (target for target in _targets(found) if target.measured)


def _targets(found: Results) -> Iterator[Target]:
    shapes = tuple(found.times["tied"])

    def peer(name: str, of: tuple[str, ...] = shapes) -> dict[str, float]:
        return found.ratios("tied", name, OURS, of)

    def ours(name: str) -> dict[str, float]:
        return found.ratios("variations", name, BASE, shapes)

    yield Target("polarbearings takes this many times our AP", True, 4, peer("polarbearings"))
    yield Target(
        "scikit-learn per group takes this many times our AP", True, 100, peer("scikit-learn per group", SMALL)
    )
    yield Target("the same, one group", True, 4, peer("scikit-learn per group", ("1 x 10M",)))
    yield Target("the compiled kernel takes this many times our AP", True, 1.5, peer("compiled kernel", LARGE))
    kernel = found.ratios("untied", OURS, "compiled kernel", SMALL)
    yield Target("our AP takes this many times the compiled kernel, no tied scores", False, 1, kernel)
    bound = {
        shape: times[OURS].best / found.times["sorts"][shape][PACKED].best
        for shape, times in found.times["untied"].items()
    }
    limits = {"100k x 100": 1.5, "2M x 5": 1.2, "20 x 500k": 1.3, "1 x 10M": 1.08}
    yield from _each("AP over its bound: keys packed and sorted, no tied scores", bound, limits)
    tied = {f"{shape}, 3 digits": 1 / ratio for shape, ratio in found.ratios("variations", UNTIED, BASE, LARGE).items()}
    tied |= {f"{shape}, 2 digits": ratio for shape, ratio in found.ratios("variations", COARSE, UNTIED, LARGE).items()}
    yield Target("AP of tied scores, over no tied ones", False, 0.3, tied)
    curve = {
        shape: times[CURVE].best / times[f"polarbearings, {CURVE}"].best
        for shape, times in found.times["suites"].items()
        if f"polarbearings, {CURVE}" in times
    }
    yield Target("our curve takes this many times that of polarbearings", False, 1.15, curve)
    yield Target(f"{CURVES}, over AP", False, 3.5, ours(CURVES))
    yield Target(f"peak memory of {CURVES}, bytes a row above the input", False, 100, found.memory.get(CURVES, {}))
    eighteen = next(iter(CALLS))
    limits = {"100k x 100": 1.3, "2M x 5": 1.7, "20 x 500k": 1.5, "1 x 10M": 1.5, "skewed": 1.5}
    yield from _each(f"{eighteen}, over AP", ours(eighteen), limits)
    yield Target("a LazyFrame, over a DataFrame", False, 1.2, ours("LazyFrame"))
    for name, limit in zip(BESIDE, (1.2, 2, 3.5, 2), strict=True):
        yield Target(f"{name}, over AP", False, limit, ours(name))
    for name in ("`intervals`", "`intervals` of the mean"):
        yield Target(f"{name}, over AP", False, 2, ours(name))
    yield Target("`tally`, over AP", False, 1.1, ours("`tally`"))
    *_, tally, plain = found.reshaped.values()
    yield Target("AP of a tally, over AP of as many rows", False, 1.5, {"a tally": tally.best / plain.best})
    listed = found.reshaped[lists.ROWS].best / found.reshaped[lists.IN_PANDAS].best
    yield Target("`explode_lists`, over the same in pandas", False, 1 / 3, {"lists": listed})
    yield Target("pandas, over polars", False, 1.15, ours("pandas"))
    text, *others = KEYS
    limits = {"100k x 100": 1.4, "2M x 5": 2.5, "20 x 500k": 1.5, "1 x 10M": 1.5, "skewed": 2.5}
    yield from _each(f"{text}, over an Int64 key", ours(text), limits)
    for key in others:
        yield Target(f"{key}, over an Int64 key", False, 1.5, ours(key))
    integer, string = TOGETHER
    sorted_keys = found.ratios("variations", string, integer, shapes)
    yield Target(f"{string}, over {integer}", False, 1.3, sorted_keys)
    limits = {WHOLE: 1.5, FLOAT: 1.8, "`positives`": 1.5}
    for policy in POLICIES:
        yield Target(f"{policy}, over the default", False, limits.get(policy, 2), ours(policy))
    for policy, untied in zip((WHOLE, FLOAT), UNTIED_WEIGHTS, strict=True):
        weighted = found.ratios("variations", untied, UNTIED, shapes)
        yield Target(f"{untied}, over no weights", False, limits[policy], weighted)
    in_parts = {one: ways[IN_PARTS].seconds for one, ways in found.scaled.items() if IN_PARTS in ways}
    limits = {case(10**8, GROUP_SIZE): 9, case(10**9, GROUP_SIZE): 110, case(10**9, None): 40}
    yield from _each(f"8 metrics, {IN_PARTS}, s", in_parts, limits)
    peaks = {one: ways[IN_PARTS].peak for one, ways in found.scaled.items() if IN_PARTS in ways}
    yield from _each(f"peak memory of 8 metrics, {IN_PARTS}, GiB", peaks, {case(10**8, GROUP_SIZE): 0.97})
    few = found.scaled.get(case(10**7, FEW), {})
    engines = {way: taken.seconds / few[IN_MEMORY].seconds for way, taken in few.items()}
    yield from _each(f"8 metrics of {case(10**7, FEW)}, over those in memory", engines, {SPARK: 6, DASK: 3})
    yield Target("peak memory of AP, bytes a row above the input", False, 60, found.memory.get(BASE, {}))
    for name, limit in ((BASE, 1.0), (TEXT_KEY, 1.5), (eighteen, 1.5)):
        label = "AP" if name == BASE else name.replace(BASE, "AP")
        yield Target(f"{label} of 10 rows, ms", False, limit, {"best": found.per_call[name].best * 1e3})
    for tool, rows, limit in (("polarbearings", 10, 2.2), ("scikit-learn", 1_000, 1)):
        times = found.few_rows[rows]
        if tool in times:
            measured = {"best": times[OURS].best / times[tool].best}
            yield Target(f"AP of {rows:,} rows, over {tool}", False, limit, measured)
    yield Target(f"{FLIPS}, ms", False, 200, {"eager": found.per_call[FLIPS].median * 1e3})
    yield Target(f"{PANELS}, s", False, 5, {"best": found.per_call[PANELS].best})
    yield Target("`import frame_pr`, CPU ms", False, 40, {AFTER_POLARS: found.imports[AFTER_POLARS].best * 1e3})


def _each(aim: str, measured: dict[str, float], limits: dict[str, float]) -> Iterator[Target]:
    """At most a limit of its own for each shape."""
    for shape, limit in limits.items():
        if shape in measured:
            yield Target(aim, False, limit, {shape: measured[shape]})
