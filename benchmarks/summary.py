"""What the README and the first page of the docs say of speed, from the page of results.

Run:  python -m benchmarks.summary
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import OURS
from benchmarks.targets import LARGE, SMALL

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "REPORT.md"
SENTENCES = {
    ROOT / "README.md": (
        "Average precision of 10 million rows, in groups of 5 rows up to a single one, takes {ours} s on two cores. "
        "polarbearings takes {polarbearings} times as long; scikit-learn, group by group, {small} times as long where "
        "groups have 100 rows or fewer, and {large} times where they are large."
    ),
    ROOT / "docs" / "index.md": (
        "10 million rows in {ours} s; by group, scikit-learn takes [{both} times as long](benchmarks.md)."
    ),
}
"""What stands where."""
BEGIN, END = "<!-- speed -->", "<!-- end of speed -->"


def figures(page: str) -> dict[str, str]:
    """The ranges over the tables of average precision, of tied scores and of others."""
    tables = [table_of(page, f"\n{title}:\n") for title in ("Tied scores", "No tied scores")]

    def range_of(name: str, shapes: Sequence[str] | None = None) -> str:
        found = [table[name][shape] for table in tables for shape in shapes or table[name]]
        return f"{_rounded(min(found))} to {_rounded(max(found))}"

    learn = "scikit-learn per group"
    return {
        "ours": range_of(OURS),
        "polarbearings": range_of("polarbearings"),
        "small": range_of(learn, SMALL),
        "large": range_of(learn, LARGE),
        "both": range_of(learn, (*SMALL, *LARGE)),
    }


def table_of(page: str, title: str) -> dict[str, dict[str, float]]:
    """The numbers of the first table below a title, by row and column."""
    lines = (page.partition(title)[2].partition("\n|")[2]).partition("\n\n")[0].splitlines()
    header, _, *rows = ([cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines)
    found: dict[str, dict[str, float]] = {}
    for name, *cells in rows:
        numbers = {shape: cell for shape, cell in zip(header[1:], cells, strict=True) if cell != "-"}
        found[name] = {shape: float(cell.removesuffix(" s").replace(",", "")) for shape, cell in numbers.items()}
    return found


def _rounded(number: float) -> str:
    """Two digits."""
    return f"{float(f'{number:.2g}'):,.0f}" if number >= 10 else f"{number:.2g}"


def rewritten(text: str, sentence: str, page: str) -> str:
    """A text with the figures of the page in its sentence, which stands between two comments."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"no {BEGIN} ... {END} to put this between: {sentence}")
    made = sentence.format(**figures(page))
    return before + begin + textwrap.fill(made, 118, break_long_words=False, break_on_hyphens=False) + end + after


def main() -> None:
    """Write them."""
    page = PAGE.read_text(encoding="utf-8")
    for target, sentence in SENTENCES.items():
        target.write_text(rewritten(target.read_text(encoding="utf-8"), sentence, page), encoding="utf-8")


if __name__ == "__main__":
    main()
