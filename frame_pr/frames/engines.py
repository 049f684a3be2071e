"""What a frame in parts must answer, whatever engine keeps it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class Engine(ABC):
    """A frame in parts: it runs the metrics on them in its own way, and gives frames of its own kind."""

    name = "Spark and Dask"
    """What errors call such frames."""
    metrics = "evaluate, report, with_metrics, tally and the single metrics"
    """What there is of them."""

    @abstractmethod
    def evaluate(self, request: Any, named: Mapping[str, str], means: Any | None, undefined: float | None) -> Any:
        """What `functions.evaluation.evaluated` gives."""

    @abstractmethod
    def with_metrics(self, request: Any, named: Mapping[str, str], prefix: str, undefined: float | None) -> Any:
        """What `functions.evaluation.evaluated_beside` gives."""

    @abstractmethod
    def tally(self, request: Any, bins: Any) -> Any:
        """What `functions.tallies.tallied` gives."""
