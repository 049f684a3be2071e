"""The public page of performance and its chart, from the page of results: `python -m benchmarks.performance`."""

from __future__ import annotations

import math
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers import OURS
from benchmarks.summary import PAGE, ROOT, table_of

TARGET = ROOT / "docs" / "performance.md"
CHART = ROOT / "docs" / "images" / "performance.svg"
TOOLS = (OURS, "scors per group", "polarbearings", "polars_ds", "pandas `groupby.apply`", "scikit-learn per group")
SHAPES = {"100k x 100": "100,000 groups of 100 rows", "1 x 10M": "a single group of 10 million rows"}
MEMORY = {"average precision": "`average_precision`", "18 metrics": "`evaluate` of 18 metrics", "`curve`": "`curve`"}
SMALL = {"average precision": "`average_precision`", "18 metrics": "`evaluate` of 18 metrics", "`curve`": "`curve`"}

TEXT = """# Performance

Average precision of 10 million rows takes {many} s in 100,000 groups of 100 rows, and {single} s in a single group, on
two CPU cores. All groups share one sort and whole-column arithmetic. There is no loop over groups.

![Seconds for average precision of 10 million rows, per tool: {alt}](images/performance.svg)

Time for average precision of 10 million rows with tied scores, on a logarithmic axis; shorter is faster. Times of
scikit-learn, scors, pandas and polars_ds with 100,000 groups are extrapolated from a sample of the groups. scors and
scikit-learn compute one group per call, from arrays that are split by group before the measurement.

## Time

| tool | {shapes} |
| --- | --- | --- |
{times}

## Memory

Peak memory above the input, in bytes per row:

| call | {shapes} |
| --- | --- | --- |
{memory}

## Small frames

A call has a fixed cost, which matters for frames of a few rows. Milliseconds for 10 rows:

| call | best | median |
| --- | --- | --- |
{small}

Average precision of a single group, by the number of its rows: best times in milliseconds. scikit-learn and scors get
arrays and validate less.

{few_rows}

So pass all groups in one call with `by=`. A loop over groups pays the fixed cost each time.

## More rows than memory

| rows | backend | seconds | peak memory, GiB |
| --- | --- | --- | --- |
{scale}

Eight metrics, from Parquet files to Parquet files. `partitioned` needs no cluster: see
[data larger than memory](howto/files.md#data-larger-than-memory), and [Spark and Dask](engines.md).

## How to make a call faster

- Name all metrics in one call of `evaluate`: they share the ranking.
- Use a LazyFrame on Parquet files: only the needed columns are read.
- For repeated reports over history, keep [tallies](howto/tallies.md) and merge them.

## How this was measured

`make bench` measures all contenders in turns on one machine and compares their values before a time counts. The numbers
of this page are from one run on a machine of two CPUs. {machine}

The [benchmark report](benchmarks.md) has all tables: more shapes, other calls, peers, growth and targets.

`python -m benchmarks.performance` writes this page from the report.
"""


class Scheme(NamedTuple):
    """Colours of a chart."""

    ink: str
    bar: str
    ours: str
    line: str


SCHEMES = {
    "": Scheme("#1f2328", "#9aa5b1", "#2980b9", "#d0d7de"),
    "-dark": Scheme("#ced6dd", "#5b6672", "#4aa3df", "#3d444d"),
}


def page(report: str) -> str:
    """The whole page."""
    seconds = times(report)
    peaks, calls = table_of(report, "\n## Peak memory\n"), table_of(report, "\n## Small calls and imports\n")
    large = lines_of_table(report, "\n## More rows than memory\n")[2:]
    bars = (f"{tool} {_digits(by_shape['100k x 100'])} s" for tool, by_shape in seconds.items())
    return TEXT.format(
        many=_digits(seconds[OURS]["100k x 100"]),
        single=_digits(seconds[OURS]["1 x 10M"]),
        alt=f"in 100,000 groups of 100 rows, {', '.join(bars).replace('`', '')}",
        shapes=" | ".join(SHAPES.values()),
        times="\n".join(
            f"| {tool} | {' | '.join(f'{_digits(by_shape[shape])} s' for shape in SHAPES)} |"
            for tool, by_shape in seconds.items()
        ),
        memory="\n".join(
            f"| {label} | {' | '.join(_digits(peaks[call][shape]) for shape in SHAPES)} |"
            for call, label in MEMORY.items()
        ),
        small="\n".join(
            f"| {label} | {' | '.join(f'{ms:.1f}' for ms in calls[call].values())} |" for call, label in SMALL.items()
        ),
        few_rows="\n".join(lines_of_table(report, "\nAverage precision of a single group, by the number of its rows")),
        scale="\n".join(large),
        machine=" ".join(report.partition("rounds; ")[2].partition("\n\n")[0].splitlines()[1:]),
    )


def times(report: str) -> dict[str, dict[str, float]]:
    """Seconds for average precision of tied scores, by tool and shape."""
    ratios = table_of(report, "\nTied scores:\n")
    ours = ratios[OURS]
    return {
        tool: {shape: ours[shape] * (1 if tool == OURS else ratios[tool][shape]) for shape in SHAPES} for tool in TOOLS
    }


def chart(report: str, scheme: Scheme) -> str:
    """Bars of seconds on a logarithmic axis, a panel for each shape."""
    seconds = times(report)
    left, width, row = 140, 400, 22
    shown = [by_shape[shape] for by_shape in seconds.values() for shape in SHAPES]
    # The axis begins at a power of ten below the shortest time, so that each bar has a length.
    low, high = math.ceil(math.log10(min(shown))) - 1, math.ceil(math.log10(max(shown)))
    scale = (width - left - 60) / (high - low)
    drawn, y = [], 20.0
    for shape, title in SHAPES.items():
        drawn.append(_text(title, 0, y, scheme.ink, "bold"))
        y += 8
        for tool, by_shape in seconds.items():
            length = scale * (math.log10(by_shape[shape]) - low)
            fill = scheme.ours if tool == OURS else scheme.bar
            drawn.append(f'<rect x="{left}" y="{y + 3:g}" width="{length:.1f}" height="{row - 6}" fill="{fill}"/>')
            drawn.append(_text(tool.replace("`", "").replace(" per group", ""), 0, y + 15, scheme.ink))
            drawn.append(_text(f"{_digits(by_shape[shape])} s", left + length + 6, y + 15, scheme.ink))
            y += row
        drawn.append(f'<path d="M{left} {y + 2:g}V{y - row * len(seconds):g}" stroke="{scheme.line}"/>')
        y += 24
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y - 16:g}" width="{width}" height="{y - 16:g}">'
    )
    return "\n".join([head, *drawn, "</svg>\n"])


def _text(text: str, x: float, y: float, fill: str, weight: str = "normal") -> str:
    look = f'font-family="Helvetica, Arial, sans-serif" font-size="13" font-weight="{weight}" fill="{fill}"'
    return f'<text x="{x:g}" y="{y:g}" {look}>{text}</text>'


def _digits(number: float) -> str:
    """Two digits."""
    return f"{float(f'{number:.2g}'):g}"


def lines_of_table(report: str, title: str) -> list[str]:
    """The first table below a title, as it is written."""
    lines = ("|" + report.partition(title)[2].partition("\n|")[2]).splitlines()
    return list(takewhile(lambda line: line.startswith("|"), lines))


def main() -> None:
    """Write the page and its chart."""
    report = PAGE.read_text(encoding="utf-8")
    TARGET.write_text(page(report), encoding="utf-8")
    for suffix, scheme in SCHEMES.items():
        target: Path = CHART.with_stem(CHART.stem + suffix)
        target.write_text(chart(report, scheme), encoding="utf-8")


if __name__ == "__main__":
    main()
