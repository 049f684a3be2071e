"""Several readings of one frame: each pass over its parts makes the engine compute it anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BytesIO

import polars as pl
import polars.selectors as cs

from frame_pr.parts.one_part import Call, Part
from frame_pr.parts.score_ranges import RANGE


class Readings:
    """Passes over the ranges of one frame, whose rows have to be the same in each of them.

    What one pass counted and another one sums would else be put together to a number of no frame at all.
    """

    def __init__(self) -> None:
        self._whole: pl.DataFrame | None = None

    def of(self, call: Call, over_ranges: Callable[[Part], pl.DataFrame]) -> Callable[[Part], pl.DataFrame]:
        """What a function makes of the parts, as `over_ranges` gives it, of rows that are those of the pass before."""
        ranges: list[pl.DataFrame] = []

        def over(function: Part) -> pl.DataFrame:
            parts = over_ranges(partial(_read, call=call, function=function))
            seen = _unpacked(parts["seen"]).group_by(RANGE).sum().sort(RANGE)
            if not ranges:
                ranges.append(seen)
                call.refuse_label(_unpacked(parts["labels"]))
            _refuse_changed(ranges[0], seen)
            # The scores are those of one system.
            whole = seen.select(cs.exclude(RANGE, "^scores.*$")).sum()
            self._whole = whole if self._whole is None else self._whole
            _refuse_changed(self._whole, whole)
            return _unpacked(parts["result"])

        return over


def _read(part: pl.DataFrame, call: Call, function: Part) -> pl.DataFrame:
    labelled = call.request.positive is not None
    tables = {
        "result": function(part),
        "seen": part.group_by(RANGE).agg(**call.counts(part.schema)),
        "labels": part.select(**call.labels(part.schema)) if labelled else pl.DataFrame(),
    }
    return pl.DataFrame({name: [table.serialize()] for name, table in tables.items()})


def _unpacked(tables: pl.Series) -> pl.DataFrame:
    return pl.concat(pl.DataFrame.deserialize(BytesIO(table)) for table in tables)


def _refuse_changed(before: pl.DataFrame, now: pl.DataFrame) -> None:
    """Counts are equal; so are sums of floats, but for the last bits, which depend on the order of the rows."""
    alike = before.shape == now.shape and all(
        (one.eq_missing(other) | ((one - other).abs() <= 1e-9 * one).fill_null(False)).all()
        for one, other in zip(before, now, strict=True)
    )
    if not alike:
        raise ValueError(
            "the frame gave other rows when it was read again, and a number would be one of no frame: persist it "
            "before the call, or write it to a file, as what it is made by is random or changes meanwhile"
        )
