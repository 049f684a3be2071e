"""A call of `evaluate`: what it is made of, read for the oracle, and as code to be copied."""

import datetime
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl
from oracle import Row

IMPORTS = """\
import datetime
from decimal import Decimal
from math import inf, nan

import polars as pl

import frame_pr as fp

"""
ENGINES = ["polars", "lazy", "streaming", "pandas", "numpy", "beside", "expressions", "tally"]
ENGINES += ["partitioned", "dask", "spark"]

STARTED = ["dask", "spark"]
IN_PARTS = ["partitioned", *STARTED]


@dataclass(frozen=True)
class Call:
    """One call of `evaluate`."""

    frame: pl.DataFrame
    names: list[str]
    score: str | list[str]
    options: dict[str, Any]
    engine: str

    @property
    def keys(self) -> list[str]:
        return self.options.get("by") or []

    @property
    def fractional(self) -> bool:
        """Whether weights are floats."""
        whole = "weight" not in self.options or self.frame.schema["w"].is_integer()
        return "prevalence" in self.options or not whole

    @property
    def systems(self) -> list[str]:
        return [self.score] if isinstance(self.score, str) else self.score


def scores_of(frame: pl.DataFrame, system: str) -> list[Any]:
    return [None if score != score else score for score in frame[system].to_list()]


def plain(value: Any) -> Any:
    """A key that equals itself, on whatever engine."""
    if isinstance(value, float) and value != value:
        return "nan"
    # Spark's times have a zone, here UTC.
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value


def group_keys(call: Call) -> list[tuple[Any, ...]]:
    """The key of every row."""
    if not call.keys:
        return [()] * call.frame.height
    return [tuple(map(plain, key)) for key in call.frame.select(call.keys).rows()]


def rows_of(call: Call, system: str) -> list[Row]:
    """Every row, of this score."""
    frame, options = call.frame, call.options
    yes = options.get("positive", 1)
    truths = [None if y is None or y != y else y == yes for y in frame["y"].to_list()]
    weights = [1] * frame.height
    if "weight" in options:
        # Weights are whole, or Float64.
        number = int if frame.schema["w"].is_integer() else lambda w: Fraction(float(w))
        weights = [number(w) for w in frame["w"].to_list()]
    ties = [None if d != d else d for d in frame["d"].to_list()] if "tie_break" in options else [None] * frame.height
    gains = [None] * frame.height
    if "gain" in options:
        gains = [Fraction(0) if g is None or g != g else Fraction(g) for g in frame["g"].to_list()]
    counts = frame["n"].to_list() if "count" in options else [1] * frame.height
    return list(map(Row, truths, scores_of(frame, system), weights, ties, gains, counts))


def code(call: Call) -> str:
    """The call, to be copied; of Dask and Spark, as a plain one."""
    arguments = f'{call.names!r}, "y", {call.score!r}{options_code(call.options)}'
    metrics = (
        f"[pl.col('s').pr.metric('y', name, positive={call.options.get('positive')!r}) for name in {call.names!r}]"
    )
    ways = {
        "lazy": f"frame.lazy().pr.evaluate({arguments}).collect()",
        "streaming": f"frame.lazy().pr.evaluate({arguments}).collect(engine='streaming')",
        "pandas": f"frame.to_pandas(use_pyarrow_extension_array=True).pr.evaluate({arguments})",
        "numpy": f"frame.to_pandas().pr.evaluate({arguments})",
        "beside": f"frame.pr.with_metrics({arguments}, prefix='its ')",
        "expressions": f"frame.group_by({call.keys}).agg({metrics})" if call.keys else f"frame.select({metrics})",
        "tally": f'tally = fp.tally(frame, "y", {call.score!r}{options_code(tally_options(call))})\n'
        f"tally.pr.evaluate({arguments})  # and count='count'",
        "partitioned": f"fp.partitioned(frame, partitions={parts_of(call)}, progress=False).evaluate({arguments})",
    }
    last = ways.get(call.engine, f"frame.pr.evaluate({arguments})")
    return f"{IMPORTS}frame = {frame_code(call.frame)}\n{last}  # {call.engine}"


def options_code(options: dict[str, Any]) -> str:
    shown = {name: frame_code(o) if isinstance(o, pl.DataFrame) else repr(o) for name, o in options.items()}
    return "".join(f", {name}={value}" for name, value in shown.items())


def tally_options(call: Call) -> dict[str, Any]:
    """The options of the call that a tally of its rows needs."""
    shared = ("by", "positive", "weight", "count", "gain", "unscored", "unjudged", "ascending")
    return {name: call.options[name] for name in shared if name in call.options}


def parts_of(call: Call) -> int:
    """How many parts the frame is in."""
    return 2 + len(call.names) % 3


def frame_code(frame: pl.DataFrame) -> str:
    types = ", ".join(f"{name!r}: pl.{dtype!r}" for name, dtype in frame.schema.items())
    values = ", ".join(f"{column.name!r}: {column.to_list()!r}" for column in frame)
    return f"pl.DataFrame({{{values}}}, schema={{{types}}})"
