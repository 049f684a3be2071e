"""Draw the chart of docs/performance.md from its table of seconds: `python -m benchmarks.performance`."""

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
CHART = PAGE.parent / "images" / "performance.svg"
PANELS = {"100,000 groups of 100 rows": (1, 2), "one group of 10 million rows": (3, 4)}
"""Title, and the columns of tied and untied scores in the table."""
LIGHT, DARK = ("#1f2328", "#2980b9"), ("#ced6dd", "#4aa3df")
"""Colours of text and of frame_pr, on a light and on a dark page."""


def rows_of_table() -> list[list[str]]:
    """Read the cells of the table of seconds."""
    table = PAGE.read_text(encoding="utf-8").partition("| tool |")[2].partition("\n\n")[0]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def draw_panel(ax: Axes, title: str, columns: tuple[int, int], ink: str, ours: str) -> None:
    """Draw a filled dot for tied scores and a hollow one for untied scores, per tool."""
    rows = rows_of_table()
    for place, cells in enumerate(rows):
        colour = ours if cells[0] == "frame_pr" else ink
        for column, fill in zip(columns, (colour, "none"), strict=True):
            if cells[column]:
                ax.plot(float(cells[column]), place, "o", color=colour, markerfacecolor=fill)
    tools = [re.sub(r"`", "", cells[0]).partition(",")[0] for cells in rows]
    ax.set(title=title, xscale="log", yticks=range(len(rows)), yticklabels=tools, ylim=(len(rows) - 0.5, -0.5))
    ax.set_xlabel("seconds, logarithmic scale")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.grid(axis="x", alpha=0.3)


def draw(path: Path, ink: str, ours: str) -> None:
    """Draw both panels with a legend."""
    text = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink)
    with plt.rc_context({"svg.fonttype": "path", "svg.hashsalt": "frame_pr", **text}):
        figure, panels = plt.subplots(1, 2, figsize=(8, 2.8), sharex=True, sharey=True, layout="constrained")
        for ax, (title, columns) in zip(panels, PANELS.items(), strict=True):
            draw_panel(ax, title, columns, ink, ours)
        panels[0].plot([], [], "o", color=ink, label="tied scores")
        panels[0].plot([], [], "o", color=ink, markerfacecolor="none", label="untied scores")
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path, metadata={"Date": None}, transparent=True)
        plt.close(figure)


if __name__ == "__main__":
    draw(CHART, *LIGHT)
    draw(CHART.with_stem("performance-dark"), *DARK)
