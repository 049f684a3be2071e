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
- K, T, R and B in a name stand for numbers: `precision@10`, `f0.5@threshold=0.5`, `k@recall=0.8`,
  `max_f2`.

"""
CUTOFFS = """
## Rates at a cutoff

`RATE` stands for a [metric of the confusion matrix](#confusion-matrix-metrics), or for `fB` with
another beta. Every name with a K accepts a percentage.

| name | rows that are predicted positive |
| --- | --- |
| `RATE@K` | the first K rows |
| `RATE@K%` | K percent of the rows of the group, rounded up |
| `RATE@threshold=T` | the rows with a score of at least T |
| `RATE@recall=R` | the rows at the highest threshold with a recall of at least R |
| `RATE@npv=V` | the rows at the highest threshold with an NPV of at least V |
| `RATE@precision=Q` | the rows at the largest recall with a precision of at least Q |
| `RATE@fpr=X` | the rows at the largest recall with an FPR of at most X |
| `RATE@specificity=S` | the rows at the largest recall with a specificity of at least S |
| `RATE@GOAL` | the rows at the best threshold for a goal, such as `max_f1` or `min_cost5` |
| `RATE@threshold@K` | the rows at the lowest threshold that selects at most K rows |
"""
CONFUSION = """
## Confusion matrix metrics

If a group has fewer than K rows, the missing rows count as negatives. A metric is null if its
denominator is 0. `costR` is (fp + R fn) / N.

"""
FOOT = """
`docs/metrics.py` writes this page from the code.
"""


def page() -> str:
    """The whole page."""
    names = [
        (family.name, family.value) for family in FAMILIES if not family.name.startswith("RATE@")
    ]
    confusion = [(name, _first_line(rate.formula)) for name, rate in rates.RATES.items()]
    return HEAD + _table("name", names) + CUTOFFS + CONFUSION + _table("metric", confusion) + FOOT


def _first_line(formula: rates.Formula) -> str:
    return (formula.__doc__ or "").splitlines()[0].rstrip(".")


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {title} | value |", "| --- | --- |"]
    for names, value in rows:
        lines.append(f"| {', '.join(f'`{name}`' for name in names.split(', '))} | {value} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "metric-names.md").write_text(page(), encoding="utf-8")
