"""What the library is meant to reach, and whether a run reached it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks import lists
from benchmarks.calls import BASE, BESIDE, CALLS, COARSE, CURVES, KEYS, POLICIES, UNTIED
from benchmarks.peers import CURVE, OURS
from benchmarks.results import Results
from benchmarks.scale import DASK, FEW, GROUP_SIZE, IN_MEMORY, IN_PARTS, SPARK, case
from benchmarks.small import AFTER_POLARS, FLIPS, PANELS
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
    kernel = {shape: 1 / ratio for shape, ratio in peer("compiled kernel", SMALL).items()}
    yield from _each("our AP takes this many times the compiled kernel", kernel, {"100k x 100": 1.15, "2M x 5": 2})
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
        shape: times[f"polarbearings, {CURVE}"].best / times[CURVE].best
        for shape, times in found.times["suites"].items()
        if f"polarbearings, {CURVE}" in times
    }
    yield Target("polarbearings takes this many times our curve", True, 1, curve)
    yield Target(f"{CURVES}, over AP", False, 3, ours(CURVES))
    yield Target(f"peak memory of {CURVES}, bytes a row above the input", False, 100, found.memory.get(CURVES, {}))
    eighteen = next(iter(CALLS))
    limits = {"100k x 100": 1.3, "2M x 5": 1.7, "20 x 500k": 1.5, "1 x 10M": 1.5, "skewed": 1.5}
    yield from _each(f"{eighteen}, over AP", ours(eighteen), limits)
    yield Target("a LazyFrame, over a DataFrame", False, 1.1, ours("LazyFrame"))
    for name, limit in zip(BESIDE, (1.2, 2, 2.5, 2), strict=True):
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
    for policy in POLICIES:
        yield Target(f"{policy}, over the default", False, 1.2 if policy.startswith("`weight`") else 2, ours(policy))
    in_parts = {one: ways[IN_PARTS].seconds for one, ways in found.scaled.items() if IN_PARTS in ways}
    limits = {case(10**8, GROUP_SIZE): 9, case(10**9, GROUP_SIZE): 110, case(10**9, None): 40}
    yield from _each(f"8 metrics, {IN_PARTS}, s", in_parts, limits)
    few = found.scaled.get(case(10**7, FEW), {})
    engines = {way: taken.seconds / few[IN_MEMORY].seconds for way, taken in few.items()}
    yield from _each(f"8 metrics of {case(10**7, FEW)}, over those in memory", engines, {SPARK: 6, DASK: 3})
    yield Target("peak memory of AP, bytes a row above the input", False, 60, found.memory.get(BASE, {}))
    yield Target("AP of 10 rows, ms", False, 1, {"eager": found.per_call[BASE].median * 1e3})
    yield Target(f"{FLIPS}, ms", False, 200, {"eager": found.per_call[FLIPS].median * 1e3})
    yield Target(f"{PANELS}, s", False, 5, {"best": found.per_call[PANELS].best})
    yield Target("`import frame_pr`, CPU ms", False, 40, {AFTER_POLARS: found.imports[AFTER_POLARS].best * 1e3})


def _each(aim: str, measured: dict[str, float], limits: dict[str, float]) -> Iterator[Target]:
    """At most a limit of its own for each shape."""
    for shape, limit in limits.items():
        if shape in measured:
            yield Target(aim, False, limit, {shape: measured[shape]})
