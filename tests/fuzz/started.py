"""Engines that have to be started: clusters, of whose frames the parts are spread over partitions, and databases."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import engines
import polars as pl
from polars.testing import assert_frame_equal

import frame_pr as fp
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
        results = {name: _result_of(engine) for name, engine in running.items()}
        if "ibis" in names:
            results["ibis"] = _of_databases(stack.enter_context(engines.databases()))
        yield results


def _of_databases(connections: dict[str, Any]) -> Callable[[Call], pl.DataFrame]:
    """The result of the first database, where it is that of all, by a tally and by rows, and of the plain call."""
    import frame_pr.ibis
    from frame_pr.parts.ibis_table import IbisFrame

    def result_of(call: Call) -> Any:
        results = []
        for name, connection in connections.items():
            try:
                results += results_on(connection, call)
            except Exception as error:  # whose traceback does not come here from another process
                raise AssertionError(f"{name}: {type(error).__name__}: {error}") from None
        return results[0]

    def results_on(connection: Any, call: Call) -> Iterator[pl.DataFrame]:
        table, arguments = engines.stored(connection, call.frame), (call.names, "y", call.score)
        options = {
            name: engines.storable(connection.name, option) if isinstance(option, pl.DataFrame) else option
            for name, option in call.options.items()
        }
        rows = engines.storable(connection.name, call.frame)
        # The last bits of a mean depend on how polars divides the groups, so their values are compared, too.
        of_groups = {name: option for name, option in options.items() if name not in ("mean_over", "statistics")}
        plain, groups = (fp.evaluate(rows, *arguments, **given) for given in (options, of_groups))
        for is_small in (True, False):
            with mock.patch.object(IbisFrame, "_is_tally_small", return_value=is_small):
                result = frame_pr.ibis.evaluate(table, *arguments, **options)
                exact = result if options == of_groups else frame_pr.ibis.evaluate(table, *arguments, **of_groups)
            if not exact.equals(groups):
                raise ValueError(f"the result of a {'tally' if is_small else 'query'} is {exact}, not {groups}")
            assert_frame_equal(result, plain, rel_tol=1e-12, abs_tol=1e-12)
            yield result

    return result_of


def _result_of(engine: engines.Running) -> Callable[[Call], pl.DataFrame]:
    def result_of(call: Call) -> Any:
        frame = engine.make(call.frame, parts_of(call))
        return engine.read(engine.functions.evaluate(frame, call.names, "y", call.score, **call.options))

    return result_of
