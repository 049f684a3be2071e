"""Curves of any length -> as much as can be seen of them."""

from __future__ import annotations

import polars as pl

ALL = 100_000
"""Thresholds, or rectangles, up to which all are drawn."""

STRIPS = 4096
"""Strips of recall that a longer curve is cut into: half a pixel each, on axes 2048 pixels wide."""


def thinned(
    blocks: pl.DataFrame,
    strips: int = STRIPS,
    at_most: int = ALL,
    x: str = "recall",
    y: str = "precision",
    logarithmic: bool = False,
) -> pl.DataFrame:
    """The first, last, lowest and highest threshold in every strip of recall, or of another figure, 1/strips wide.

    Figures that do not lie between 0 and 1 are cut from their lowest to their highest.

    Within a strip, the line through these four covers the same heights as the line through all; from strip to strip it
    joins the same two neighbours. So every point of either line has a point of the other at its own height, less than a
    strip away.
    """
    if blocks.height <= at_most:
        return blocks
    row, height = pl.col("row"), pl.col(y)
    along = pl.col(x).cast(pl.Float64).log() if logarithmic else pl.col(x).cast(pl.Float64)
    if x == "x":
        along = (along - along.min()) / (along.max() - along.min())
    strip = (along * strips).floor().fill_nan(0).cast(pl.Int32)
    kept = (
        blocks.lazy()
        .select(height, strip=strip)
        .with_row_index("row")
        .group_by("strip")
        .agg(
            first=row.first(),
            last=row.last(),
            lowest=row.get(height.arg_min()),
            highest=row.get(height.arg_max()),
        )
        .unpivot(["first", "last", "lowest", "highest"])
        .select(pl.col("value").unique().sort())
        .collect()
    )
    return blocks[kept["value"]]


def rectangles(blocks: pl.DataFrame, height: str, strips: int = STRIPS, at_most: int = ALL) -> pl.DataFrame:
    """`left`, `right` and `height` of the rectangle of every step; their area is the sum of height times recall step.

    Of more than `at_most`, those narrower than half a strip are merged within it, into one of the same area.
    """
    steps = blocks.select(left=pl.col("recall").shift(1, fill_value=0.0), right="recall", height=height).filter(
        pl.col("right") > pl.col("left")
    )
    if steps.height <= at_most:
        return steps
    strip = (pl.col("left") * strips * 2).floor()
    wide = (pl.col("right") - pl.col("left")) * strips * 2 >= 1
    starts = wide | wide.shift(1) | (strip != strip.shift(1))
    width = pl.col("right") - pl.col("left")
    return (
        steps.lazy()
        .with_columns(merged=starts.fill_null(True).cum_sum())
        .group_by("merged", maintain_order=True)
        .agg(
            left=pl.col("left").first(),
            right=pl.col("right").last(),
            height=(pl.col("height") * width).sum() / width.sum(),
        )
        .drop("merged")
        .collect()
    )
