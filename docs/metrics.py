"""Write the names of metrics from the code that computes them: `python docs/metrics.py`.

It writes the page docs/metric-names.md.
"""

from pathlib import Path

from frame_pr.metrics import rates
from frame_pr.metrics.names import FAMILIES

ROOT = Path(__file__).parents[1]
HEAD = """# Metric names

These are the names of metrics that `evaluate` accepts. Result columns have the same names. [Metric
definitions](metric-definitions.md) explains the formulas with examples.

- N is the number of rows of a group, and P the number of its positives.
- A threshold selects the k rows with at least this score. tp of them are positive.
- A step is a threshold at which recall rises. It adds d positives, so recall rises by d/P.
- K, T, R and B in a name stand for numbers: `precision@10`, `f0.5@threshold=0.5`, `k@recall=0.8`, `max_f2`.

"""
CONFUSION = """
## Confusion matrix metrics

`RATE` in the names above stands for one of these metrics, or for `fB` with another beta. If a group has fewer than K
rows, the missing rows count as negatives. A metric is null if its denominator is 0.

"""
FOOT = """
`docs/metrics.py` writes this page from the code.
"""


def page() -> str:
    """The whole page."""
    names = [(family.name, family.value) for family in FAMILIES]
    confusion = [(name, _first_line(rate.formula)) for name, rate in rates.RATES.items()]
    return HEAD + _table("name", names) + CONFUSION + _table("metric", confusion) + FOOT


def _first_line(formula: rates.Formula) -> str:
    return (formula.__doc__ or "").splitlines()[0].rstrip(".")


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {title} | value |", "| --- | --- |"]
    for names, value in rows:
        lines.append(f"| {', '.join(f'`{name}`' for name in names.split(', '))} | {value} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "metric-names.md").write_text(page(), encoding="utf-8")
