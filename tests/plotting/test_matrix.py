"""Pictures of all sizes, drawn and measured: nothing that is written covers what is drawn, or lies outside."""

import re
from itertools import product
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from pictures import lay_out, set_sizes

import frame_pr as fp
from frame_pr.plotting.room import Box, along, extent

SYSTEMS, GROUPS, MARKS = (1, 2, 5, 8), (1, 6, 40), (False, True)
PLACES = ("own", "2 x 3", "journal", "font 18")
NAMES = {
    "short": "{}",
    "long": "a name of more than thirty letters {}",
    "dollars": "price ${} to $9",
    "underscore": "_{}",
}
# Every size in every place, and of names and marks each with every other factor, in most triples of them too.
CASES = [
    (systems, groups, MARKS[(s // 2 + g + p // 2 + p) % 2], place, list(NAMES)[(s + g + p) % 4])
    for (s, systems), (g, groups), (p, place) in product(*map(enumerate, (SYSTEMS, GROUPS, PLACES)))
]
FAST = [(2, 1, True, "own", "long"), (5, 6, True, "own", "dollars"), (1, 6, False, "journal", "underscore")]
# Axes of an inch, or of two, with so many curves have no room: there the legend takes some, or covers what it must, and
# of forty curves names those that fit.
SMALL = {"2 x 3": 5, "journal": 5}
MAY = re.compile("a legend covers a curve|a note covers a legend|axes of|[0-9]+ entries of 40")


def run(systems: int, groups: int, name: str) -> tuple[pl.DataFrame, list[str]]:
    rng = np.random.default_rng(systems + groups)
    n = 300 * groups + 1000
    truth = rng.random(n) < 0.2
    called = [NAMES[name].format(f"s{i}") for i in range(systems)]
    scores = {one: truth * (0.7 + 0.3 * i) + rng.normal(size=n) for i, one in enumerate(called)}
    keys = [NAMES[name].format(f"g{i:02d}") for i in rng.integers(0, groups, n)]
    return pl.DataFrame({"g": keys, "y": truth, **scores}), called


def drawn(systems: int, groups: int, marks: bool, place: str, name: str, **more: Any) -> tuple[Any, list[Any]]:
    """The figure, and the axes that were drawn in."""
    rows, scores = run(systems, groups, name)
    given: dict[str, Any] = {"by": "g", "max_groups": 40} if groups > 1 else {}
    caller = place in ("2 x 3", "journal")
    if groups > 1 and systems > 1:
        given |= {"average": True} if caller else {"facet": True}
    if marks and "average" not in given:
        given |= {"mark": "max_f1"}
    given |= more
    if caller:
        shape = {"nrows": 2, "ncols": 3, "figsize": (6, 4)} if place == "2 x 3" else {"figsize": (3.4, 2.4)}
        figure, grid = plt.subplots(**shape, squeeze=False, layout="constrained")
        fp.plot(rows, "y", scores, ax=grid[0, 0], **given)
        return figure, [grid[0, 0]]
    with mpl.rc_context({"font.size": 18} if place == "font 18" else {}):
        made = fp.plot(rows, "y", scores, **given)
    return (made, made.axes) if given.get("facet") else (made.figure, [made])


def faults(systems: int, groups: int, marks: bool, place: str, name: str) -> list[str]:
    figure, panels = drawn(systems, groups, marks, place, name)
    lay_out(figure)
    found = []
    whole = extent(figure).wider(1)
    written: list[tuple[str, Box]] = []
    for ax in panels:
        if not ax.axison:
            continue
        legend = ax.get_legend()
        notes = [text for text in ax.texts if text.get_gid() == "note"]
        ours = [("legend", extent(legend))] if legend else []
        for note in notes:
            # An annotation reaches to its point: of the text alone.
            ours.append(("note", Box(*mpl.text.Text.get_window_extent(note).extents)))
        lines = [one for one in ax.get_lines() if one.get_label() not in ("prevalence", "_prevalence")]
        for what, box in ours:
            inner = box.wider(-1)
            for one in lines:
                points = along(ax, one)
                covered = (points > (inner.left, inner.low)).all(1) & (points < (inner.right, inner.high)).all(1)
                if covered.any():
                    found.append(f"a {what} covers a curve")
                    break
        written += ours
        ticks = [tick for axis in (ax.xaxis, ax.yaxis) for tick in axis._update_ticks()]
        labels = [*(tick.label1 for tick in ticks), ax.title, ax.xaxis.label, ax.yaxis.label]
        written += [("label", extent(one)) for one in labels if one.get_text() and one.get_visible()]
        # Every curve is told.
        curves = [one for one in ax.get_lines() if one.get_gid() is None and not one.get_label().startswith("_")]
        entries = len(legend.get_texts()) if legend else 0
        if entries < len(curves):
            found.append(f"{entries} entries of {len(curves)} curves")
    written += [("shared legend", extent(one)) for one in figure.legends]
    for number, (what, box) in enumerate(written):
        if not box.within(whole):
            found.append(f"a {what} leaves the figure")
        for other, another in written[:number]:
            if (what, other) != ("label", "label") and box.wider(-0.5).overlaps(another.wider(-0.5)):
                found.append(f"a {what} covers a {other}")
    bare_figure, bare = drawn(systems, groups, False, place, name, legend=False)
    set_sizes(bare_figure)
    for ax, without in zip(panels, bare, strict=True):
        sizes = [(box.right - box.left) * (box.high - box.low) for box in (extent(ax), extent(without))]
        if sizes[0] < 0.8**2 * sizes[1]:
            found.append(f"axes of {sizes[0] / sizes[1]:.0%} of their size")
            break
    plt.close("all")
    return sorted(set(found))


@pytest.mark.parametrize("case", [pytest.param(case, id="-".join(map(str, case))) for case in FAST])
def test_what_is_written_covers_nothing(case: tuple[Any, ...]) -> None:
    assert faults(*case) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(case, id="-".join(map(str, case))) for case in CASES])
def test_what_is_written_covers_nothing_in_all_pictures(case: tuple[Any, ...]) -> None:
    systems, groups, _, place, _ = case
    curves = groups if systems == 1 else systems
    crowded = curves >= SMALL.get(place, 41)
    assert [one for one in faults(*case) if not (crowded and MAY.match(one))] == []
