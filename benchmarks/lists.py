"""Lists of items made rows, in ours and in others' words: `python -m benchmarks.lists`, or a table of the page."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import polars as pl

import frame_pr as fp
from benchmarks.measure import Times, in_turns

SHOWN, WANTED = 20, 5
ROWS, IN_PANDAS = "`explode_lists`", "the same, pandas"


def generated(users: int) -> pl.DataFrame:
    """Lists of 20 items, and of 5 that are relevant, of 60."""
    draw = np.random.default_rng(0)

    def lists(length: int) -> pl.Series:
        return pl.Series(np.argsort(draw.random((users, 60)), axis=1)[:, :length].tolist())

    return pl.DataFrame({"user": np.arange(users), "shown": lists(SHOWN), "wanted": lists(WANTED)})


def in_polars(users: pl.DataFrame) -> pl.DataFrame:
    """What a person writes: two lists made rows, and put together."""
    shown = users.select("user", item="shown").explode("item")
    shown = shown.with_columns(score=-1 - pl.int_range(pl.len()).over("user"))
    wanted = users.select("user", item="wanted").explode("item").unique().with_columns(truth=True)
    rows = shown.join(wanted, on=["user", "item"], how="full", coalesce=True)
    return rows.with_columns(pl.col("truth").fill_null(False))


def in_pandas(users: Any) -> Any:
    """The same there."""
    shown = users[["user", "shown"]].explode("shown").rename(columns={"shown": "item"})
    shown["score"] = -1 - shown.groupby("user").cumcount()
    wanted = users[["user", "wanted"]].explode("wanted").rename(columns={"wanted": "item"}).assign(truth=True)
    rows = shown.merge(wanted, on=["user", "item"], how="outer")
    return rows.assign(truth=rows["truth"].notna())


MEANS = ["success@10", "average_precision@10", "ndcg@10", "recall@20"]


def means(users: pl.DataFrame) -> pl.DataFrame:
    """Compute four means over users from their lists."""
    rows = fp.explode_lists(users, "wanted", "shown", by="user")
    table = fp.evaluate(rows, MEANS, "truth", "score", by="user", mean_over="user", unscored="unretrieved")
    return table.select(f"mean_{name}" for name in MEANS)


def means_in_polars(users: pl.DataFrame) -> pl.DataFrame:
    """Compute the same means in hand-written polars, with a join."""
    wanted = users.select("user", item="wanted").explode("item").with_columns(hit=1)
    rows = (
        users.select("user", item="shown").explode("item").with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    )
    rows = rows.join(wanted, on=["user", "item"], how="left").with_columns(pl.col("hit").fill_null(0))
    rows = rows.with_columns(hits=pl.col("hit").cum_sum().over("user"))
    hit, rank = pl.col("hit"), pl.col("rank")
    top = hit * (rank <= 10)
    best = sum(1 / np.log2(place + 1) for place in range(1, min(WANTED, 10) + 1))
    each = rows.group_by("user").agg(
        success=top.max(),
        ap=(top * pl.col("hits") / rank).sum() / min(WANTED, 10),
        ndcg=(top / (rank + 1).log(2)).sum() / best,
        recall=hit.sum() / WANTED,
    )
    return each.select(pl.all().exclude("user").mean())


def cpu_ratio(users: int, rounds: int) -> float:
    """Return the median ratio of the CPU times of `means` and `means_in_polars`, which run in turns."""
    data, ratios = generated(users), []
    assert np.allclose(means(data).row(0), means_in_polars(data).row(0))
    for _ in range(rounds):
        start = process_time()
        means(data)
        middle = process_time()
        means_in_polars(data)
        ratios.append((middle - start) / (process_time() - middle))
    return median(ratios)


def measured(users: int, rounds: int) -> dict[str, Times]:
    """The rows, and what three means take from the lists on; all give the same rows."""
    data = generated(users)
    pandas = data.to_pandas()
    runs: dict[str, Callable[[], Any]] = {
        ROWS: lambda: fp.explode_lists(data, "wanted", "shown", by="user"),
        "`explode_lists` and three means": lambda: fp.evaluate(
            fp.explode_lists(data, "wanted", "shown", by="user"),
            ["precision@10", "recall@10", "average_precision"],
            "truth",
            "score",
            by="user",
            mean_over="user",
            unscored="unretrieved",
        ),
        "two `explode` and a join, polars": lambda: in_polars(data),
        IN_PANDAS: lambda: in_pandas(pandas),
    }

    def check(name: str, result: Any) -> None:
        if "means" not in name:
            rows = pl.DataFrame(result).select(pl.len(), pl.col("truth").sum(), pl.col("score").cast(pl.Int64).sum())
            lists = SHOWN * (SHOWN + 1) // 2
            assert rows.row(0)[1:] == (users * WANTED, -users * lists), name

    return in_turns(runs, rounds, check)


def main() -> None:
    """Print the best of a few rounds."""
    for name, times in measured(100_000, 5).items():
        print(f"{times.best:8.3f} s  {name}")
    print(f"{cpu_ratio(200_000, 9):8.2f}    CPU time of `explode_lists` and four means, over polars with a join")


if __name__ == "__main__":
    main()
