"""Write docs/policies.md, which policy goes with what, by calling everything: `python docs/policies.py`."""

import inspect
import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import polars as pl

import frame_pr
from frame_pr.inputs.policies import Ties
from frame_pr.metrics import rates
from frame_pr.metrics.families import FAMILIES

TARGET = Path(__file__).with_suffix(".md")
HEAD = """# Which policy goes with what

`Policies`, in the [reference](reference.md#classes), says what each of them does. A dash: refused, with an error
that says why.

"""
METRICS = """
## By metric

What `evaluate`, `with_metrics` and the means take depends on the metrics that they are asked for.

"""
ELSEWHERE = """
## Two at once, and elsewhere

- Not together: {pairs}. Nor is `tie_break_descending=` taken without `tie_break=`.
- `ties="optimistic"` and `ties="pessimistic"` with `gain=` take `dcg` and `ndcg` only. `curve` and `average_curve`
  refuse them with `count=`. `statistics="weighted"` refuses thresholds.
- Frames [in parts](scale.md), on Spark and on Dask refuse {parts} besides.
- Expressions, `pl.col("score").pr`, take {expressions} only.

Made by `docs/policies.py`, which calls everything with every policy; a test holds this page to it.
"""

RUN = pl.DataFrame(
    {
        "relevant": [1, 0, 0, 1, 1],
        "score": [0.9, 0.8, 0.7, 0.6, 0.6],
        "predicted": [1, 0, 1, 1, 0],
        "name": ["v", "w", "x", "y", "z"],
        "times": [1, 2, 1, 3, 1],
        "total": [9, 9, 9, 9, 9],
    }
)
# What is tried, by how the page calls it: a value of each policy that is not its default.
TRIALS: dict[str, dict[str, Any]] = {
    "weight=": {"weight": "times"},
    "count=": {"count": "times"},
    "gain=": {"gain": "times"},
    "tie_break=": {"tie_break": "name"},
    "tie_break_descending=": {"tie_break": "name", "tie_break_descending": False},
    **{f'ties="{ties}"': {"ties": ties} for ties in get_args(Ties) if ties != "threshold"},
    "ascending=": {"ascending": True},
    "unscored=": {"unscored": "drop"},
    "unjudged=": {"unjudged": "drop"},
    "positives=": {"positives": "total"},
    "rows=": {"rows": "total"},
}
# The ways to call a function that differ in what they refuse, by when that is.
WAYS: dict[str, dict[str, dict[str, Any]]] = {
    "average_precision_at_k": {
        'with `divisor="min"`': {"k": 2},
        'with `divisor="positives"`': {"k": 2, "divisor": "positives"},
        'with `divisor="hits"`': {"k": 2, "divisor": "hits"},
    },
    "interpolated_average_precision": {"over all points": {}, "with `points`": {"points": 11}},
    "precision_at_k": {"": {"k": 2}},
    "recall_at_k": {"": {"k": 2}},
    "success_at_k": {"": {"k": 2}},
    "precision_at_recall": {"": {"recall": 0.5}},
    "k_at_recall": {"": {"recall": 0.5}},
    "f_beta": {"without a cut": {}, "with `threshold`": {"threshold": 0.65}, "with `k`": {"k": 2}},
    "confusion": {
        "with `threshold`": {"threshold": 0.65},
        "with `k`": {"k": 2},
        "with `prediction`": {"score": None, "prediction": "predicted"},
    },
    "identify": {"": {"value": 0.5}},
    "plot": {"without `k`": {}, "with `k`": {"k": 2}},
    "average_curve": {"": {"by": "times"}},
    "intervals": {
        "where rows are sampled": {"metrics": "average_precision"},
        "where groups are": {"metrics": "average_precision", "by": "times", "mean_over": "times"},
    },
}
BY_METRIC = ("evaluate", "with_metrics", "compare", "plot_comparison")
# Numbers for the letters that stand for them in the names of families.
LETTERS = {"K": "2", "P": "40", "T": "0.65", "R": "0.5", "Q": "0.5", "X": "0.5", "B": "0.8"}


def page() -> str:
    """The whole page."""
    functions = {f"`{name}`{', ' * bool(way)}{way}": refused for name in taking() for way, refused in _ways(name)}
    metrics = dict(_metrics())
    columns: dict[tuple[bool, ...], list[str]] = {}  # trials that everything treats alike share a column
    for trial in TRIALS:
        refused = tuple(trial in trials for trials in (*functions.values(), *metrics.values()))
        columns.setdefault(refused, []).append(trial)
    all_take = "".join(f"All take {_listed(trials)}.\n\n" for refused, trials in columns.items() if not any(refused))
    shown = [trials for refused, trials in columns.items() if any(refused)]
    made = HEAD + all_take + _table("function", functions, shown) + METRICS + _table("metric", metrics, shown)
    return made + ELSEWHERE.format(pairs=_pairs(), parts=_parts(), expressions=_expressions())


def taking() -> list[str]:
    """The functions that take policies, but for those that take what their metrics take."""
    unknown = set(frame_pr.Policies.__annotations__) - set().union(*TRIALS.values())
    if unknown:
        raise ValueError(f"say in TRIALS a value of {', '.join(unknown)}")
    found = [name for name in frame_pr.__all__ if inspect.isfunction(getattr(frame_pr, name))]
    by_name = {name: inspect.signature(getattr(frame_pr, name)).parameters for name in found}
    # `plot` takes the policies among its options, beside those of matplotlib.
    return [name for name in found if "policies" in by_name[name] or name == "plot" if name not in BY_METRIC]


def sentence(name: str) -> str:
    """What the docstring of a function says of what it refuses."""
    if name in BY_METRIC:
        return "Which of them goes with which metric: the page of the docs on policies."
    # What a gain is for, `Policies` says.
    ways = {way: [trial for trial in TRIALS if trial in refused and trial != "gain="] for way, refused in _ways(name)}
    common = [trial for trial in TRIALS if all(trial in refused for refused in ways.values())]
    parts = [_listed(common)] if common else []
    for way, refused in ways.items():
        if own := [trial for trial in refused if trial not in common]:
            parts.append(f"{way}, {_listed(own)}")
    return f"Refused: {'; '.join(parts)}." if parts else ""


@cache
def _ways(name: str) -> list[tuple[str, set[str]]]:
    ways = WAYS.get(name, {"": {}})
    found = {way: refused_by(_call(RUN.pr, name, given)) for way, given in ways.items()}
    alike = len({frozenset(refused) for refused in found.values()}) == 1
    return [("", next(iter(found.values())))] if alike else list(found.items())


def _call(pr: Any, name: str, given: dict[str, Any]) -> Callable[..., Any]:
    given = {"truth": "relevant", "score": "score"} | given
    if not name.startswith("plot"):
        return lambda **policies: getattr(pr, name)(**given, **policies)
    from matplotlib.figure import Figure  # one that no window shows, and that nobody has to close

    return lambda **policies: getattr(pr, name)(**given, **policies, ax=Figure().subplots())


def refused_by(call: Callable[..., Any], trials: dict[str, dict[str, Any]] = TRIALS) -> set[str]:
    """The trials that a call refuses. Without a policy it must do."""
    call()
    found = set()
    for trial, policies in trials.items():
        try:
            call(**policies)
        except (TypeError, ValueError):
            found.add(trial)
    return found


def _metrics() -> Iterable[tuple[str, set[str]]]:
    """Metrics as the table of metrics names them; where some figures refuse more, these for themselves."""
    for family in FAMILIES:
        first, *others = family.name.split(", ")
        for pattern in (first, *(other.replace("...", first) for other in others)):
            name = re.sub(r"(?<=[@=a-z])[A-Z](?![A-Za-z])", lambda letter: LETTERS[letter.group()], pattern)
            if not name.startswith("FIGURE"):
                yield f"`{pattern}`", refused_by(_metric(name))
                continue
            figures = {figure: name.replace("FIGURE", figure) for figure in rates.FIGURES}
            doubtful = {trial: TRIALS[trial] for trial in refused_by(_metric(*figures.values()))}
            by_refused: dict[frozenset[str], list[str]] = {}
            for figure, one in figures.items():
                by_refused.setdefault(frozenset(refused_by(_metric(one), doubtful)), []).append(figure)
            most = max(by_refused, key=lambda refused: len(by_refused[refused]))
            for refused in sorted(by_refused, key=lambda refused: refused != most):
                names = ["FIGURE"] if refused == most else by_refused[refused]
                yield _listed(pattern.replace("FIGURE", one) for one in names), set(refused)


def _metric(*names: str) -> Callable[..., Any]:
    run: Any = RUN
    return lambda **policies: run.pr.evaluate(names, "relevant", "score", **policies)


def _pairs() -> str:
    """What is refused beside what, where each is taken by itself."""
    call = _call(RUN.pr, "average_precision", {})
    taken = [trial for trial in TRIALS if trial not in refused_by(call)]
    beside: dict[str, list[str]] = {}
    for one, other in combinations(taken, 2):
        together = TRIALS[one] | TRIALS[other]
        if refused_by(call, {"": together}) and one != "tie_break_descending=":
            beside.setdefault(one, []).append(other)
    return "; ".join(f"`{one}` and {_listed(others, 'or')}" for one, others in beside.items())


def _parts() -> str:
    """What frames in parts refuse, and others do not."""
    run: Any = RUN.with_columns(query=1)
    ways = (frame_pr.partitioned(run, partitions=2, progress=False), run.pr)
    there, here = (refused_by(_call(pr, "average_precision", {"by": "query"})) for pr in ways)
    return _listed(trial for trial in TRIALS if trial in there - here)


def _expressions() -> str:
    expression: Any = pl.col("score")
    refused = refused_by(lambda **policies: expression.pr.average_precision("relevant", **policies))
    return _listed(trial for trial in TRIALS if trial not in refused)


def _table(title: str, refused: dict[str, set[str]], shown: list[list[str]]) -> str:
    heads = [", ".join(f"`{trial}`" for trial in trials) for trials in shown]
    lines = [f"| {title} | {' | '.join(heads)} |", "| --- |" + " --- |" * len(shown)]
    for name, trials in refused.items():
        lines.append(f"| {name} | {' | '.join('-' if first in trials else 'yes' for first, *_ in shown)} |")
    return "\n".join(lines) + "\n"


def _listed(names: Iterable[str], last: str = "and") -> str:
    *first, end = (f"`{name}`" for name in names)
    return f"{', '.join(first)} {last} {end}" if first else end


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
