"""What a call costs when there is nothing to compute, and what an import costs."""

from __future__ import annotations

import polars as pl

from benchmarks.calls import BASE, CALLS, average_precision
from benchmarks.contenders import EVERYWHERE
from benchmarks.measure import Times, import_seconds, in_turns
from benchmarks.peers import present

ROWS = 10
WITH_PANDAS = "frame_pr, after polars and pandas"


def per_call(calls: int) -> dict[str, Times]:
    """Seconds of a call on a frame of two groups."""
    rows = pl.DataFrame(
        {
            "query": [i % 2 for i in range(ROWS)],
            "relevant": [i % 3 == 0 for i in range(ROWS)],
            "score": [i / ROWS for i in range(ROWS)],
        }
    )
    lazy, pandas = rows.lazy(), rows.to_pandas()
    runs = {
        BASE: lambda: average_precision(rows),
        f"{BASE}, LazyFrame, collected": lambda: average_precision(lazy),
        f"{BASE}, pandas": lambda: average_precision(pandas),
    }
    runs |= {name: lambda call=call: call(rows) for name, call in CALLS.items()}
    runs |= {name: entry.run for name, entry in present(EVERYWHERE, rows).items()}
    return in_turns(runs, calls)


def imports(runs: int) -> dict[str, Times]:
    """Seconds to import each, on top of what it comes after."""
    return {
        "polars": import_seconds("polars", (), runs),
        "frame_pr and pandas, after polars": import_seconds("frame_pr", ("polars",), runs),
        "pandas alone, after polars": import_seconds("pandas", ("polars",), runs),
        WITH_PANDAS: import_seconds("frame_pr", ("polars", "pandas"), runs),
    }
