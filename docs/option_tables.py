"""Write the tables of docs/options.md: `python docs/option_tables.py` tries each option."""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import polars as pl

import frame_pr as fp
from frame_pr.metrics.names import FAMILIES
from frame_pr.metrics.rates import RATES

matplotlib.use("Agg")  # files only: needs no screen

PAGE = Path(__file__).with_name("options.md")
NAME = "name"
ROWS = pl.DataFrame(
    {
        "group": [1, 1, 1, 1, 2, 2, 2, 2],
        "y": [1, 0, 1, 0, 0, 1, 1, 0],
        "s": [0.9, 0.7, 0.5, 0.1, 0.8, 0.6, 0.4, 0.3],
        "times": [1, 2, 1, 2, 1, 2, 1, 2],
        NAME: list("abcdefgh"),
        "predicted": [1, 1, 0, 0, 1, 0, 1, 0],
    }
).with_columns(positives=4, rows=8)
BY_GROUP = ROWS.with_columns(positives=2, rows=4)
"""The same rows, with the totals of each group."""
TRIALS: dict[str, dict[str, Any]] = {
    "weight": {"weight": "times"},
    "count": {"count": "times"},
    "gain": {"gain": "y"},
    "tie_break": {"tie_break": NAME},
    'ties="order"': {"ties": "order"},
    'ties="expected"': {"ties": "expected"},
    'ties="optimistic"': {"ties": "optimistic"},
    'ties="pessimistic"': {"ties": "pessimistic"},
    "ascending": {"ascending": True},
    "unscored": {"unscored": "drop"},
    "unjudged": {"unjudged": "drop"},
    "total_positives": {"total_positives": "positives"},
    "total_rows": {"total_rows": "rows"},
    "prevalence": {"prevalence": 0.3},
}
"""Each option with a value that is not its default."""
SCORED = {"truth": "y", "score": "s"}
AP = {"metrics": "average_precision"}
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("average_precision", "", {}),
    ("average_precision_at_k", '`divisor="min"` or `"positives"`', {"k": 2}),
    ("average_precision_at_k", '`divisor="hits"`', {"k": 2, "divisor": "hits"}),
    ("interpolated_average_precision", "", {}),
    ("precision_at_k", "", {"k": 2}),
    ("recall_at_k", "", {"k": 2}),
    ("roc_auc", "", {}),
    ("ndcg", "", {}),
    ("f_beta", "no cutoff", {}),
    ("f_beta", "`threshold`", {"threshold": 0.55}),
    ("f_beta", "`k`", {"k": 2}),
    ("confusion", "`threshold`", {"threshold": 0.55}),
    ("confusion", "`k`", {"k": 2}),
    ("confusion", "`prediction`", {"score": None, "prediction": "predicted"}),
    ("curve", "", {}),
    ("with_curve", "", {}),
    ("average_curve", "", {"by": "group"}),
    ("gains_table", "", {"bins": 4}),
    ("tally", "", {}),
    ("report", "", {"k": 2}),
    ("intervals", "rows sampled", AP),
    ("intervals", "groups sampled", {**AP, "by": "group", "mean_over": "group"}),
    ("intervals", '`method="bootstrap"`', {**AP, "method": "bootstrap", "repeats": 100}),
    ("plot", "", {}),
    ("plot_scores", "", {}),
]
"""The function, which way of calling it if there are several, and the arguments of this way."""
LETTERS = {"K": "2", "P": "50", "T": "0.55", "B": "0.8", "C": "5"}
"""Numbers for the letters in names of families; another letter is a share."""


def accepted(call: Callable[..., Any], arguments: dict[str, Any]) -> frozenset[str]:
    """The trials that a call accepts."""
    return frozenset(
        trial for trial, options in TRIALS.items() if runs(call, {**arguments, **options})
    )


def runs(call: Callable[..., Any], arguments: dict[str, Any]) -> bool:
    rows = BY_GROUP if {"by", "mean_over"} & {*arguments} else ROWS
    try:
        call(rows, **arguments)
    except (TypeError, ValueError):
        return False
    plt.close()
    return True


def functions() -> Iterator[tuple[str, frozenset[str]]]:
    """Each function, or way of calling it, with the trials that it accepts."""
    for name, way, arguments in CALLS:
        label = f"`{name}` ({way})" if way else f"`{name}`"
        yield label, accepted(getattr(fp, name), {**SCORED, **arguments})


def metrics() -> Iterator[tuple[str, frozenset[str]]]:
    """Each metric with the trials that it accepts. A rate that differs has its own line."""
    for family in FAMILIES:
        first, *others = family.name.split(", ")
        for pattern in (first, *(other.replace("...", first) for other in others)):
            rates = list(RATES) if pattern.startswith("RATE") else ["mcc"]
            by_rate = {rate: accepted_by_metric(pattern.replace("RATE", rate)) for rate in rates}
            usual = most_common(by_rate.values())
            yield pattern, usual
            for rate, trials in by_rate.items():
                if trials != usual:
                    yield pattern.replace("RATE", rate), trials


def accepted_by_metric(pattern: str) -> frozenset[str]:
    number = re.compile(r"(?<=[@=a-z])[A-Z](?![A-Za-z])")
    pattern = pattern.replace("GOAL", "max_f1").replace("LIMIT", "recall=R")
    name = number.sub(lambda letter: LETTERS.get(letter[0], "0.5"), pattern)
    return accepted(fp.evaluate, {**SCORED, "metrics": name})


def most_common(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    listed = list(sets)
    return max(listed, key=listed.count)


def table(title: str, labels: Iterable[tuple[str, frozenset[str]]]) -> str:
    """A table with one line for all that accept the same options."""
    by_accepted: dict[frozenset[str], list[str]] = {}
    for label, trials in labels:
        by_accepted.setdefault(trials, []).append(label)

    lines = [f"| {title} | raises an error for |", "| --- | --- |"]
    for trials, labels_of_line in by_accepted.items():
        refused = [f"`{trial}`" for trial in TRIALS if trial not in trials]
        cells = [", ".join(labels_of_line), ", ".join(refused) or "none of them"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def fill(text: str, mark: str, made: str) -> str:
    """Put a table between two marks of the page."""
    before, _, rest = text.partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition(f"<!-- end of {mark} -->")
    return f"{before}<!-- {mark} -->\n{made}\n{end}{after}"


def page() -> str:
    """The whole page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.DataWarning)  # eight rows are few
        by_function = table("function", functions())
        by_metric = table("metric", ((f"`{name}`", trials) for name, trials in metrics()))
    text = PAGE.read_text(encoding="utf-8")
    return fill(fill(text, "functions", by_function), "metrics", by_metric)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
