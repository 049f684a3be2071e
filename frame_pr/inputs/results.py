"""Results of a call: the keys of its groups, and the caller's kind of frame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Generic, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name, refuse_clash, refuse_existing
from frame_pr.frames.kinds import Frame, FrameKind, on_frame
from frame_pr.inputs.groups import Groups
from frame_pr.inputs.request import Request
from frame_pr.inputs.validate import Selection

_OTHERS = pl.exclude("group")


class OutputFrame(NamedTuple, Generic[Frame]):
    """The output of a call.

    Restores the caller's keys from `group`, and the caller's kind of frame.
    """

    kind: FrameKind[Frame]
    keys: tuple[str, ...]
    systems: tuple[str, ...]
    """The names of the scores, if there are several; then `system` is the last key."""
    formulas: Sequence[pl.Expr]
    """Each key as a formula of `group`."""
    rows: pl.LazyFrame
    """The caller's rows in input order, plus the columns needed to rebuild them."""

    @property
    def key_columns(self) -> dict[str, str]:
        """Return the columns of `restored` by the names of their keys."""
        return {key: f"key{i}" for i, key in enumerate(self.keys)}

    def restored(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Return a table with the keys as `key0`, `key1`, ... in place of its `group`."""
        return self._with_keys(table, self.key_columns.values(), [_OTHERS])

    def restore(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Return a table with the caller's keys in place of its `group`."""
        return self._with_keys(table, self.keys, [_OTHERS])

    def _with_keys(
        self, table: pl.LazyFrame, names: Collection[str], columns: Iterable[pl.Expr]
    ) -> pl.LazyFrame:
        keys = [formula.alias(name) for formula, name in zip(self.formulas, names, strict=True)]
        return table.select(*keys, *columns)

    def result(self, table: pl.LazyFrame, columns: Sequence[str]) -> Frame:
        """Return the keys, then these columns of a table, as a frame of the caller's kind."""
        refuse_clash(self.keys, columns)
        return self.give(self._with_keys(table, self.keys, map(by_name, columns)), self.keys)

    def give(self, result: pl.LazyFrame, keys: Sequence[str]) -> Frame:
        """Return a result as a frame of the caller's kind."""
        of_caller = [key for key in keys if not (self.systems and key == "system")]
        return self.kind.give(result, of_caller)

    def append_columns(self, table: pl.LazyFrame, columns: Sequence[str], prefix: str) -> Frame:
        """Return the caller's rows in their order, each with these columns of its group."""
        new = {prefix + name: by_name(name) for name in columns}
        refuse_existing(new, self.kind.columns)
        values = table.select("group", **new)
        joined = self.rows.join(values, on="group", how="left", maintain_order="left")
        return self.kind.append_columns(joined, list(new))


def on_rows(
    frame: Frame,
    request: Request,
    compute: Callable[[Any, Request], Any],
    *,
    all_rows: bool = False,
) -> Frame:
    """Apply a function of a frame in memory to any frame; see `on_frame`.

    `all_rows`: it gives back all rows.
    """
    items = None if all_rows else request.columns
    return on_frame(
        frame,
        lambda rows: compute(rows, request),
        items,
        lambda no_rows: compute(no_rows, request.without_rows()),
    )


def output_of(
    rows: pl.LazyFrame, selection: Selection[Frame], groups: Groups
) -> OutputFrame[Frame]:
    """Return the output of a call. If there are several systems, `system` is the last key."""
    keys = {name: groups.keys[role] for role, name in selection.keys.items()}
    systems: tuple[str, ...] = ()
    if selection.several:
        systems = tuple(selection.scores.values())
        keys["system"] = pl.lit(pl.Series(systems)).gather(pl.col("group") % len(systems))
    return OutputFrame(selection.kind, tuple(keys), systems, list(keys.values()), rows)
