"""What a call costs when there is nothing to compute, and what an import costs."""

from __future__ import annotations

import io

import numpy as np
import polars as pl

import frame_pr as fp
from benchmarks.calls import BASE, CALLS, average_precision
from benchmarks.contenders import EVERYWHERE, SMALL
from benchmarks.measure import Times, import_seconds, in_turns
from benchmarks.peers import OURS, present

ROWS = 10
FEW = (10, 100, 1_000, 10_000)
# The first call after those of other libraries finds none of its own code and data in the caches of the processor.
REPEATS = 3
AFTER_POLARS = "frame_pr, after polars"
TEXT_KEY = f"{BASE}, a String key"
PANELS = "`plot` of 80 panels, saved as SVG"
FLIPS = "`compare` of 3 systems on 1,000 queries, 10,000 sign flips"


def per_call(calls: int) -> dict[str, Times]:
    """Seconds of a call on a frame of two groups."""
    rows = pl.DataFrame(
        {
            "query": [i % 2 for i in range(ROWS)],
            "relevant": [i % 3 == 0 for i in range(ROWS)],
            "score": [i / ROWS for i in range(ROWS)],
        }
    )
    lazy, pandas, text = rows.lazy(), rows.to_pandas(), rows.with_columns(pl.col("query").cast(pl.String))
    runs = {
        BASE: lambda: average_precision(rows),
        f"{BASE}, LazyFrame, collected": lambda: average_precision(lazy),
        f"{BASE}, pandas": lambda: average_precision(pandas),
        TEXT_KEY: lambda: average_precision(text),
    }
    runs |= {name: lambda call=call: call(rows) for name, call in CALLS.items()}
    runs |= {name: entry.run for name, entry in present(EVERYWHERE, rows).items()}
    draw = np.random.default_rng(0)
    keys = {"query": np.arange(3_000) // 3, "system": np.arange(3_000) % 3}
    figures = pl.DataFrame({**keys, "average_precision": draw.random(3_000)})
    flips = {FLIPS: lambda: fp.compare(figures, "average_precision", by="query", test="permutation")}
    times = in_turns(runs, calls, repeats=REPEATS)
    return times | in_turns(flips, max(3, calls // 30)) | in_turns({PANELS: _panels}, 3)


def by_rows(calls: int) -> dict[int, dict[str, Times]]:
    """Seconds of average precision of one group, by the number of its rows: ours, and those of the peers."""
    draw, found = np.random.default_rng(0), {}
    for rows in FEW:
        data = pl.DataFrame(
            {
                "query": np.zeros(rows, np.int64),
                "relevant": np.arange(rows) % 3 == 0,
                "score": draw.random(rows).round(3),
            }
        )
        runs = {OURS: lambda data=data: fp.average_precision(data, "relevant", "score")}
        runs |= {name: entry.run for name, entry in present(SMALL, data).items()}
        found[rows] = in_turns(runs, calls, repeats=REPEATS)
    return found


def _panels() -> None:
    """Two systems, 300 rows to a panel."""
    import matplotlib.pyplot as plt

    draw = np.random.default_rng(0)
    rows = pl.DataFrame({"group": np.arange(24_000) // 300, "hit": draw.random(24_000) < 0.2})
    rows = rows.with_columns(new=pl.Series(draw.random(24_000)), old=pl.Series(draw.random(24_000)))
    figure = fp.plot(rows, "hit", ["new", "old"], by="group", facet=True, max_groups=80)
    with io.BytesIO() as file:
        figure.savefig(file, format="svg")
    plt.close(figure)


def imports(runs: int) -> dict[str, Times]:
    """CPU seconds to import each, on top of what it comes after."""
    return {
        "polars": import_seconds("polars", (), runs),
        AFTER_POLARS: import_seconds("frame_pr", ("polars",), runs),
        "pandas, after polars": import_seconds("pandas", ("polars",), runs),
        "pandas, after polars and frame_pr": import_seconds("pandas", ("polars", "frame_pr"), runs),
    }
