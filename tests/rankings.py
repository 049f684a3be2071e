"""Rankings with ties, of hypothesis, and all the orders that a ranking may stand for."""

from itertools import permutations

import polars as pl
from hypothesis import strategies as st

import frame_pr as fp


def rankings(most: int, scores: int = 4) -> st.SearchStrategy[pl.DataFrame]:
    """Up to so many rows, of so few scores that many are tied."""
    row = st.tuples(st.booleans(), st.integers(1, scores))
    rows = st.lists(row, min_size=1, max_size=most)
    return rows.map(lambda rows: pl.DataFrame(rows, schema=["relevant", "score"], orient="row"))


RANKINGS = rankings(12)
SMALL = rankings(5, scores=3)
BOTH_CLASSES = RANKINGS.filter(lambda data: data["relevant"].n_unique() == 2)
WITH_A_HIT = RANKINGS.filter(lambda data: data["relevant"].any())


def values(data: pl.DataFrame, names: list[str], **options) -> dict[str, float | None]:
    """What `evaluate` says of one group."""
    return fp.evaluate(data, names, "relevant", "score", **options).row(0, named=True)


def mean_over_orders(data: pl.DataFrame, names: list[str], **options) -> dict[str, float | None]:
    """The mean over all orders of the rows, each taken as it stands wherever scores are equal."""
    orders = [
        data[list(order)].with_columns(order=pl.lit(i))
        for i, order in enumerate(permutations(range(len(data))))
    ]
    found = fp.evaluate(
        pl.concat(orders), names, "relevant", "score", by="order", ties="order", **options
    )
    return found.drop("order").mean().row(0, named=True)
