"""Write docs/metrics.md, the table of metrics, from the code that computes them: `python docs/metrics.py`."""

from pathlib import Path

from frame_pr.metrics import rates
from frame_pr.metrics.names import FAMILIES

TARGET = Path(__file__).with_suffix(".md")
HEAD = """# List of metrics

`evaluate` accepts these names, and result columns have them. P and N are the positives and the rows of a
group; a threshold selects the k rows that score at least as much, of which tp are positive; a step is a threshold at
which recall rises, by d/P. K, T, R and B stand for numbers: `precision@10`, `f0.5@threshold=0.5`, `k@recall=0.8`,
`max_f2`. [Metric definitions](numbers.md) has the formulas.

"""
FIGURES = """
## Confusion matrix metrics

`FIGURE` above is one of these, or `fB` for another beta. A group with fewer than K rows is filled up with misses. A
metric whose denominator is 0 is null.

"""
FOOT = """
Made by `docs/metrics.py` from the code; a test holds this page to it.
"""


def page() -> str:
    """The whole page."""
    names = [(family.name, family.value) for family in FAMILIES]
    figures = [(name, _first_line(rate.formula)) for name, rate in rates.RATES.items()]
    return HEAD + _table("name", names) + FIGURES + _table("metric", figures) + FOOT


def _first_line(formula: rates.Formula) -> str:
    return (formula.__doc__ or "").splitlines()[0].rstrip(".")


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {title} | value |", "| --- | --- |"]
    for names, value in rows:
        lines.append(f"| {', '.join(f'`{name}`' for name in names.split(', '))} | {value} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
