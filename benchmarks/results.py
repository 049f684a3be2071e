"""What a run found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.measure import Times
from benchmarks.scale import Taken


class Results(NamedTuple):
    """Every measurement of one run."""

    times: dict[str, dict[str, dict[str, Times]]]
    """By section, shape and name."""
    memory: dict[str, dict[str, float]]
    """Bytes a row, by name and shape."""
    growth: dict[str, dict[int, tuple[Times, float]]]
    """Seconds and bytes a row, by shape and number of rows."""
    per_call: dict[str, Times]
    few_rows: dict[int, dict[str, Times]]
    """Average precision of one group, by its rows and by who computes it."""
    imports: dict[str, Times]
    reshaped: dict[str, Times]
    """Of lists, and of tallies: frames of other shapes."""
    scaled: dict[str, dict[str, Taken]]
    """In parts and on engines, by case and way."""

    def ratios(self, section: str, name: str, base: str, shapes: Iterable[str]) -> dict[str, float]:
        """Best run over best run, where both have been measured."""
        found = {shape: self.times[section].get(shape, {}) for shape in shapes}
        return {
            shape: times[name].best / times[base].best
            for shape, times in found.items()
            if name in times and base in times
        }
