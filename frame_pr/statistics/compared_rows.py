"""Systems against each other where rows were drawn, and not groups: two models on one test set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from frame_pr.frames.columns import stacked
from frame_pr.frames.kinds import Frame
from frame_pr.inputs.policies import Column
from frame_pr.inputs.request import Request
from frame_pr.inputs.rows import WayBack, rows_of
from frame_pr.statistics.sampled_rows import (
    of_rows,
    refuse_cluster,
    refuse_policies,
    sums_of_clusters,
    values_and_errors,
)


def compared_rows(
    frame: Frame,
    request: Request,
    names: Sequence[str],
    undefined: float | None,
    pairs_of: Callable[[Sequence[str]], list[tuple[int, int]]],
    cluster: Column | None,
) -> tuple[pl.LazyFrame, WayBack[Frame]]:
    """A row per group, pair and metric, and the way to the caller's kind of frame.

    `pairs_of`: the places of the systems that are compared, of these names.

    Columns: the keys, of which `system` is the baseline; `a`, `b`, the places of the two systems, and `m`, that of the
    metric; their values, the `difference` and its `error`, by the D that each row, or cluster, has under either; `df`.
    """
    chosen = [of_rows(name) for name in names]
    refuse_policies(request, names, clusters=True)
    if cluster is not None:
        refuse_cluster(cluster, request)
    # Without clusters each row is one, so that its two D find each other.
    rows, way_back = rows_of(frame, replace(request, cluster=cluster, each_row=cluster is None))
    systems, places = len(way_back.systems), range(len(names))
    found = values_and_errors(rows, chosen, undefined)
    own = pl.col("group") // systems, pl.col("group") % systems

    def sides(table: pl.LazyFrame, on: list[str]) -> pl.LazyFrame:
        """Of each pair, the columns of both systems, those of the second with an `other` before their names."""
        table = table.with_columns(own=own[0], place=own[1]).drop("group")
        both = pl.LazyFrame(pairs_of(way_back.systems), schema={"a": pl.Int64, "b": pl.Int64}, orient="row")
        both = both.join(table, left_on="a", right_on="place")
        others = {name: f"other {name}" for name in table.collect_schema().names() if name not in (*on, "place")}
        return both.join(table.rename(others), left_on=["b", *on], right_on=["place", *on])

    pair = ["own", "a", "b"]
    squares = ((pl.col(f"other D {i}") - pl.col(f"D {i}")) ** 2 for i in places)
    sums = (
        sides(sums_of_clusters(rows, chosen, found), ["own", "cluster"])
        .group_by(pair)
        .agg(*(square.sum().alias(f"squares {i}") for i, square in enumerate(squares)), units=pl.len().cast(pl.Int64))
    )
    table = sides(found, ["own"]).join(sums, on=pair, how="left").sort(pair)
    lines = []
    for i, name in enumerate(names):
        a, b = pl.col(name), pl.col(f"other {name}")
        df = pl.min_horizontal(f"df {i}", f"other df {i}") if cluster is None else pl.col("units") - 1
        variance = pl.when(df > 0).then(pl.col(f"squares {i}") * (df + 1) / df)
        both = (a + b).is_not_null()
        lines.append(
            {
                "m": pl.lit(i, dtype=pl.Int32),
                "metric": pl.lit(name),
                "groups": both.cast(pl.Int64),
                "undefined": (~both).cast(pl.Int64),
                "mean_baseline": pl.when(both).then(a),
                "mean_system": pl.when(both).then(b),
                "difference": b - a,
                "error": variance.sqrt(),
                "df": df,
            }
        )
    keyed = table.with_columns(group=pl.col("own") * systems + pl.col("a"))
    return way_back.restore(stacked(keyed, [pl.col(name) for name in ("group", "a", "b")], lines)), way_back
