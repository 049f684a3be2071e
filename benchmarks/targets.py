"""What the library is meant to reach, and whether a run reached it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks import lists
from benchmarks.calls import BASE, BESIDE, CALLS, KEYS, POLICIES
from benchmarks.peers import OURS
from benchmarks.results import Results
from benchmarks.small import FLIPS, WITH_PANDAS

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
    for shape, limit in zip(SMALL, (1.5, 2), strict=True):
        here = {shape: kernel[shape]} if shape in kernel else {}
        yield Target("our AP takes this many times the compiled kernel", False, limit, here)
    yield Target("18 metrics, over AP", False, 1.5, ours(next(iter(CALLS))))
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
    for key in KEYS:
        yield Target(f"{key}, over an Int64 key", False, 1.5, ours(key))
    for policy in POLICIES:
        yield Target(f"{policy}, over the default", False, 2, ours(policy))
    yield Target("peak memory of AP, bytes a row above the input", False, 60, found.memory.get(BASE, {}))
    yield Target("AP of 10 rows, ms", False, 2, {"eager": found.per_call[BASE].median * 1e3})
    yield Target(f"{FLIPS}, ms", False, 200, {"eager": found.per_call[FLIPS].median * 1e3})
    yield Target("`import frame_pr`, ms", False, 30, {WITH_PANDAS: found.imports[WITH_PANDAS].best * 1e3})
