"""Write docs/options.md, which option goes with what, from the tables of refusals: `python docs/option_tables.py`."""

import inspect
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import frame_pr
from frame_pr.frames.arguments import Refusal, parameters_of, refuse_options
from frame_pr.inputs.options import DRAWN_ROWS, REFUSED, SAMPLED_ROWS, TIES, TOGETHER
from frame_pr.inputs.weights import GAINS
from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.names import FAMILIES, GRADED_BLOCKS, metric

TARGET = Path(__file__).with_name("options.md")
HEAD = """# Options supported by each metric and function

Which function and which metric accepts which option. `Options`, in the [API reference](reference.md#classes),
describes the options. A dash means that the function or the metric raises an error, with the reason.

"""
METRICS = """
## By metric

`evaluate`, `with_metrics`, `compare` and `plot_comparison` accept the options that all of their metrics accept.

"""
ELSEWHERE = """
## Combinations that are not allowed

- These options exclude each other: {pairs}. `tie_break_descending=` needs `tie_break=`.
- With `gain=`, only `dcg` and `ndcg` accept `ties="optimistic"` and `ties="pessimistic"`. With `count=`, `curve` and
  `average_curve` do not accept them. `statistics="weighted"` does not accept thresholds.
- Frames [in parts](lazy-frames-and-files.md), Spark frames and Dask frames do not accept `ties="order"`.
- Expressions, `pl.col("score").pr`, accept only `ascending=`.

`docs/option_tables.py` writes this page from the tables of options in the code.
"""

# Each option with a value that is not its default, by how the page calls it.
TRIALS: dict[str, dict[str, Any]] = {
    "weight=": {"weight": "times"},
    "count=": {"count": "times"},
    "gain=": {"gain": "times"},
    "tie_break=": {"tie_break": "name"},
    "tie_break_descending=": {"tie_break": "name", "tie_break_descending": False},
    **{f'ties="{ties}"': {"ties": ties} for ties, rule in TIES.items() if rule.orders != "nothing"},
    "ascending=": {"ascending": True},
    "unscored=": {"unscored": "drop"},
    "unjudged=": {"unjudged": "drop"},
    "total_positives=": {"total_positives": "total"},
    "total_rows=": {"total_rows": "total"},
    "prevalence=": {"prevalence": 0.3},
}


class Way(NamedTuple):
    """One of the ways to call a function that differ in what they refuse."""

    words: str = ""
    """When it is this way, as the page says it."""
    arguments: Mapping[str, Any] = {}
    metrics: tuple[str, ...] = ()
    """The metrics that the function computes."""
    refusals: tuple[Refusal, ...] = ()
    """What it refuses beside the table of the function."""


def _figures(cut: str) -> tuple[str, ...]:
    return tuple(f"{figure}@{cut}" for figure in rates.RATES)


_REPORT = (
    "r_precision",
    "interpolated_average_precision",
    "max_f1",
    "threshold@max_f1",
    "precision@2",
)
WAYS: dict[str, list[Way]] = {
    "average_precision": [Way(metrics=("average_precision",))],
    "average_precision_at_k": [
        Way('with `divisor="min"`', {"k": 2}, ("average_precision@2",)),
        Way(
            'with `divisor="positives"`',
            {"k": 2, "divisor": "positives"},
            ("average_precision@2/positives",),
        ),
        Way('with `divisor="hits"`', {"k": 2, "divisor": "hits"}, ("average_precision@2/hits",)),
    ],
    "interpolated_average_precision": [
        Way("over all points", {}, ("interpolated_average_precision",)),
        Way("with `points`", {"points": 11}, ("interpolated_average_precision_11",)),
    ],
    "precision_at_k": [Way("", {"k": 2}, ("precision@2",))],
    "recall_at_k": [Way("", {"k": 2}, ("recall@2",))],
    "roc_auc": [Way(metrics=("roc_auc",))],
    "ndcg": [Way(metrics=("ndcg",))],
    "f_beta": [
        Way("without a cutoff", {}, ("max_f1", "threshold@max_f1")),
        Way("with `threshold`", {"threshold": 0.65}, ("f1@threshold=0.65",)),
        Way("with `k`", {"k": 2}, ("f1@2",)),
    ],
    "confusion": [
        Way("with `threshold`", {"threshold": 0.65}, _figures("threshold=0.65")),
        Way("with `k`", {"k": 2}, _figures("2")),
        Way(
            "with `prediction`", {"score": None, "prediction": "predicted"}, _figures("threshold=1")
        ),
    ],
    "gains_table": [Way("", {"bins": 4}, ("precision@25%", "threshold@25%"))],
    "plot": [Way("without `k`"), Way("with `k`", {"k": 2})],
    "average_curve": [Way("", {"by": "times"})],
    "report": [Way(metrics=_REPORT)],
    "intervals": [
        Way(
            "where rows are sampled",
            {"metrics": "average_precision"},
            ("average_precision",),
            SAMPLED_ROWS,
        ),
        Way(
            "where groups are",
            {"metrics": "average_precision", "by": "times", "mean_over": "times"},
            ("average_precision",),
        ),
        Way(
            'with `method="bootstrap"`',
            {"metrics": "average_precision", "method": "bootstrap", "repeats": 100},
            ("average_precision",),
            DRAWN_ROWS,
        ),
    ],
}
BY_METRIC = ("evaluate", "with_metrics", "compare", "plot_comparison")
# Numbers for the letters that stand for them in the names of families.
LETTERS = {
    "K": "2",
    "P": "40",
    "T": "0.65",
    "R": "0.5",
    "Q": "0.5",
    "X": "0.5",
    "S": "0.5",
    "B": "0.8",
    "V": "0.8",
}
LETTERS["C"] = "5"


def page() -> str:
    """The whole page."""
    functions = {
        f"`{name}`{', ' * bool(way)}{way}": refused
        for name in taking()
        for way, refused in _ways(name)
    }
    metrics = dict(by_metric())
    columns: dict[
        tuple[bool, ...], list[str]
    ] = {}  # trials that everything treats alike share a column
    for trial in TRIALS:
        refused = tuple(trial in trials for trials in (*functions.values(), *metrics.values()))
        columns.setdefault(refused, []).append(trial)
    all_take = "".join(
        f"All functions accept {_listed(trials)}.\n\n"
        for refused, trials in columns.items()
        if not any(refused)
    )
    shown = [trials for refused, trials in columns.items() if any(refused)]
    made = (
        HEAD
        + all_take
        + _table("function", functions, shown)
        + METRICS
        + _table("metric", metrics, shown)
    )
    return made + ELSEWHERE.format(pairs=_pairs())


def taking() -> list[str]:
    """The functions that take options, but for those that take what their metrics take."""
    without_trial = set(frame_pr.Options.__annotations__) - set().union(*TRIALS.values())
    if without_trial:
        raise ValueError(f"add a value to TRIALS for {', '.join(without_trial)}")
    functions = {
        name: getattr(frame_pr, name) for name in frame_pr.__all__ if name not in BY_METRIC
    }
    return [
        name
        for name, of in functions.items()
        if inspect.isfunction(of) and "ties" in parameters_of(of)[2]
    ]


def sentence(name: str) -> str:
    """What the docstring of a function says of what it refuses."""
    if name in BY_METRIC:
        return "Which of them goes with which metric: the page of the docs on options."
    # What a gain is for, `Options` says.
    ways = {
        way: [trial for trial in TRIALS if trial in refused and trial != "gain="]
        for way, refused in _ways(name)
    }
    common = [trial for trial in TRIALS if all(trial in refused for refused in ways.values())]
    parts = [_listed(common)] if common else []
    for way, refused in ways.items():
        if own := [trial for trial in refused if trial not in common]:
            parts.append(f"{way}, {_listed(own)}")
    return f"Refused: {'; '.join(parts)}." if parts else ""


@cache
def _ways(name: str) -> list[tuple[str, set[str]]]:
    refused = {way.words: refused_by(name, way) for way in WAYS.get(name, [Way()])}
    alike = len({frozenset(trials) for trials in refused.values()}) == 1
    return [("", next(iter(refused.values())))] if alike else list(refused.items())


def is_refused(arguments: Mapping[str, Any], refusals: Iterable[Refusal]) -> bool:
    """Whether one of the refusals is for these arguments."""
    try:
        refuse_options("the function", arguments, refusals)
    except ValueError:
        return True
    return False


def refused_by(name: str, way: Way) -> set[str]:
    """The trials that a function refuses, as its table and the records of its metrics state."""
    refusals = (*REFUSED.get(name, ()), *way.refusals)
    by_function = {
        trial
        for trial, options in TRIALS.items()
        if is_refused({**way.arguments, **options}, refusals)
    }
    return by_function.union(*map(refused_by_metric, way.metrics))


@cache
def refused_by_metric(name: str) -> frozenset[str]:
    """The trials that a metric refuses, as its record states."""
    record = metric(name, GRADED_BLOCKS)
    refused = {f'ties="{ties}"' for ties in TIES if ties not in record.aggregates} & {*TRIALS}
    if isinstance(record.cutoff, Rank) or record.counts_ranks:
        refused |= {"weight=", "prevalence="}
    if not any(
        {*GAINS} & {*part.over.meta.root_names()}
        for part in record.aggregates["threshold"]().values()
    ):
        refused.add("gain=")
    return frozenset(refused)


def by_metric() -> Iterable[tuple[str, frozenset[str]]]:
    """The names of the table of metrics. Rates that refuse more options than the others have a line of their own."""
    for label, names in metrics_by_refusals():
        yield label, refused_by_metric(names[0])


def metrics_by_refusals() -> Iterable[tuple[str, list[str]]]:
    """The lines of the table of metrics, each with the metrics that it stands for."""
    for family in FAMILIES:
        first, *others = family.name.split(", ")
        for pattern in (first, *(other.replace("...", first) for other in others)):
            name = re.sub(
                r"(?<=[@=a-z])[A-Z](?![A-Za-z])", lambda letter: LETTERS[letter.group()], pattern
            )
            name = name.replace("max_RATE", "max_mcc")
            if not name.startswith("RATE"):
                yield f"`{pattern}`", [name]
                continue
            by_refused: dict[frozenset[str], list[str]] = {}
            for rate in rates.RATES:
                by_refused.setdefault(refused_by_metric(name.replace("RATE", rate)), []).append(
                    rate
                )
            most = max(by_refused, key=lambda refused: len(by_refused[refused]))
            for refused in sorted(by_refused, key=lambda refused: refused != most):
                label = ["RATE"] if refused == most else by_refused[refused]
                names = [name.replace("RATE", rate) for rate in by_refused[refused]]
                yield _listed(pattern.replace("RATE", rate) for rate in label), names


def _pairs() -> str:
    """The options that no function takes together."""
    return "; ".join(f"`{one}` and {_listed(others, 'or')}" for one, others in pairs().items())


def pairs() -> dict[str, list[str]]:
    """Each option with those after it that exclude it."""
    beside: dict[str, list[str]] = {}
    for (one, options), (other, more) in combinations(TRIALS.items(), 2):
        together = not {*options} & {*more} and is_refused({**options, **more}, TOGETHER)
        if together and "tie_break_descending=" not in (one, other):
            beside.setdefault(one, []).append(other)
    return beside


def _table(title: str, refused: Mapping[str, Iterable[str]], shown: list[list[str]]) -> str:
    heads = [", ".join(f"`{trial}`" for trial in trials) for trials in shown]
    lines = [f"| {title} | {' | '.join(heads)} |", "| --- |" + " --- |" * len(shown)]
    for name, trials in refused.items():
        lines.append(
            f"| {name} | {' | '.join('-' if first in trials else 'yes' for first, *_ in shown)} |"
        )
    return "\n".join(lines) + "\n"


def _listed(names: Iterable[str], last: str = "and") -> str:
    *first, end = (f"`{name}`" for name in names)
    return f"{', '.join(first)} {last} {end}" if first else end


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
