"""Spark and Dask as the fuzzer starts them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import engines
import polars as pl

from fuzz.calls import Call, parts_of


@contextmanager
def started(names: list[str]) -> Iterator[dict[str, Callable[[Call], pl.DataFrame]]]:
    """Of the engines among these names, what gives the result of a call."""
    running = {}
    with ExitStack() as stack:
        if "dask" in names:
            import dask

            stack.enter_context(dask.config.set(scheduler="synchronous"))
            running["dask"] = engines.on_dask("dask")
        if "spark" in names:
            running["spark"] = engines.on_spark(stack.enter_context(engines.spark_session()))
        yield {name: _result_of(engine) for name, engine in running.items()}


def _result_of(engine: engines.Running) -> Callable[[Call], pl.DataFrame]:
    def result_of(call: Call) -> Any:
        frame = engine.make(call.frame, parts_of(call))
        return engine.read(engine.functions.evaluate(frame, call.names, "y", call.score, **call.options))

    return result_of
