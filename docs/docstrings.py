"""Write into the docstrings what public functions say of a shared parameter: `python docs/docstrings.py`.

A parameter that stands in TEXTS (in the functions that plot: or in PLOTS, which goes before) has this text, and the
type that TYPES gives its annotation. Those that OWN lists, and all others, are written by hand, in their place only.
REFUSED stands for what docs/policies.py finds that the function refuses.

It also writes the section See Also from RELATED, and the section References from the table of docs/citation.md.
"""

import inspect
import re
import runpy
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import frame_pr
from frame_pr.plotting.plots import LineArguments

POLICIES = runpy.run_path(str(Path(__file__).with_name("policies.py")))
WIDTH = 120
TYPES = {
    "Frame": "polars DataFrame or LazyFrame, pandas DataFrame",
    "Column": "str or polars expression",
    "Column | None": "str or polars expression, optional",
    "Columns": "str or polars expression, or several",
    "Columns | None": "str, polars expression or selector, or several; optional",
    "Unpack[Policies]": "",
    "Unpack[PlotArguments]": "",
    "Unpack[PlotCurveArguments]": "",
    "Unpack[ScoresArguments]": "",
    "Unpack[ComparisonArguments]": "",
    "Mapping[Any, str] | None": "dict, optional",
    "Literal['frame', 'value'] | Sequence[Any] | None": 'list, "value" or "frame"; optional',
    "object": "optional",
    "str": "str",
    "str | None": "str, optional",
    "str | Sequence[str]": "str or list of str",
    "str | Sequence[str] | None": "str or list of str, optional",
    "int": "int",
    "int | None": "int, optional",
    "int | Sequence[int]": "int or list of int",
    "int | Sequence[int] | None": "int or list of int, optional",
    "float": "float",
    "float | None": "float, optional",
    "float | Sequence[float]": "float or list of float",
    "float | Sequence[float] | None": "float or list of float, optional",
    "int | Sequence[float] | None": "int or list of float, optional",
    "float | str": "float or str",
    "bool": "bool",
    "bool | Sequence[float]": "bool or list of float",
    "bool | str | Sequence[str] | None": "True, str or list of str, optional",
    "MetricName": "str",
    "MetricName | Sequence[MetricName]": "str or list of str",
    "MetricName | Sequence[MetricName] | Mapping[str, MetricName]": (
        "str or list of str, or dict of new name and metric"
    ),
    "Statistic | str | Sequence[Statistic | str]": "str or list of str",
    "bool | str | Sequence[str]": "bool, str or list of str",
    "Literal['raise', 'miss', 'drop']": '"raise", "miss" or "drop"',
    "Literal['min', 'positives', 'hits']": '"min", "positives" or "hits"',
    "Literal[11, 101] | None": "11 or 101, optional",
    "Literal['groups', 'rows'] | None": '"groups" or "rows", optional',
    "Literal['t', 'permutation']": '"t" or "permutation"',
    "Literal['holm', 'bh'] | None": '"holm", "bh" or None',
    "Literal['matplotlib', 'altair']": '"matplotlib" or "altair"',
    "Literal['linear', 'log', 'logit'] | None": '"linear", "log" or "logit", optional',
    "Method": '"closed form" or "bootstrap"',
    "Axes | None": "matplotlib Axes, optional",
    "Figure | SubFigure | None": "matplotlib Figure or SubFigure, optional",
    "Mapping[Any, Any] | None": "dict, optional",
    "int | str | Sequence[Any] | None": "int, str or list, optional",
    "Literal['quartiles', 'interval', 'groups'] | None": '"quartiles", "interval", "groups" or None',
    "Any": "",
}
TEXTS = {
    "frame": "Scored rows, one row per item. The frame is not changed.",
    "metrics": 'Names of metrics, such as "precision@10". The list of metrics in the docs has all names.',
    "truth": "Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.",
    "score": "Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column "
    "`system` after `by`.",
    "by": "Columns whose values form the groups. Without `by`, the frame is one group.",
    "mean_over": "Columns of `by` to average over. The result has one row per group of the other columns. True: all "
    "columns but `system`.",
    "statistics": 'Statistics over the groups that `mean_over` names: "mean", "median", "std" (of a sample), "min", '
    '"max", quantiles such as "q25", "range" (max - min), "ratio" (min / max), means weighted by the positives of the '
    'group ("weighted"), by its rows ("by_rows") or by its pairs of a positive and a negative ("by_pairs"), and '
    '"defined" (the number of groups that have a value).',
    "positive": "The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that "
    "does not occur.",
    "ascending": "Whether lower scores rank first, as for ranks and distances. A threshold then selects the scores up "
    "to it.",
    "undefined": "Value that replaces null where a metric is undefined. Counts and thresholds stay null.",
    "**policies": "Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. REFUSED",
    "k": "Cutoff: the first k rows are predicted positive. In a smaller group, the missing rows count as misses.",
    "threshold": "Rows with at least this score are predicted positive. With `ascending`, those up to this score.",
    "recall": "Recall from 0 to 1, compared exactly, as the decimal that is written. The rows at the highest threshold "
    "with at least this recall are predicted positive.",
    "beta": "Weight of recall relative to precision. 1 gives their harmonic mean (F1).",
    "points": "Number of recall levels to average over: 11 (VOC 2007) or 101 (COCO). Default: all points.",
    "divisor": "Divisor of the sum: min(k, P), P (trec_eval's `map_cut`) or the hits among the first k (torchmetrics), "
    "for P positives.",
    "figures": 'Names of rates of the confusion matrix to add as columns, such as "fpr", "f1", "f0.5" or "mcc".',
    "confidence": "Confidence level of the interval, strictly between 0 and 1.",
    "prefix": "Prefix of the names of the new columns.",
}
PLOTS = {
    "x": 'Quantity on the x axis: a rate of `confusion` between 0 and 1, such as "fpr", or "threshold", "k" or "share" '
    '(k over all rows). Default "recall".',
    "y": 'Quantity on the y axis: a rate, "lift" (precision over prevalence), "cost10" (a missed positive costs 10) '
    'or, with `x="threshold"`, "net_benefit". Several quantities give one curve each. Default "precision". '
    '`x="fpr", y="recall"` is the ROC curve, `x="fpr", y="fnr"` the DET curve and `x="share", y="recall"` the gain '
    "curve. Options about areas, such as `rectangles`, need precision against recall.",
    "facet": "Draw a panel for each group of these key columns, with shared axes. True: of all keys but `system`. Two "
    "keys make rows and columns. The values of marks are above the panel.",
    "average": "Average over these key columns: the mean of the groups' precision at each recall. The area under it is "
    "the mean of their average precisions. True: all keys but `system`. `facet` and `average` name different keys. "
    'With `x="k"`, the curve is the mean of y at each rank.',
    "rectangles": "Fill the rectangle under each step. The total area is the average precision in the legend. Points "
    "mark the thresholds. Default False.",
    "interpolated": "Add the envelope, which is the max precision at this or any later threshold, and shade what it "
    "adds. `rectangles` then fill the area of the interpolated average precision. Default False.",
    "points": "11 or 101: mark the levels of recall of the 11-point or 101-point average. Implies `interpolated`.",
    "k": "Emphasise the curve up to this rank. The legend has AP@k.",
    "threshold": "Mark the operating points at these thresholds.",
    "recall": "Mark the operating points at which these recalls are reached.",
    "mark": 'Mark the threshold with the best value of a metric, such as "max_f1", "max_mcc" or "min_cost10". The '
    "legend has the value and the threshold.",
    "iso_f": "Draw contours of equal F. True: 0.2, 0.4, 0.6 and 0.8.",
    "beta": "The beta of these contours. Default 1.",
    "threshold_labels": "Write at most this number of thresholds along the curve. Default 0.",
    "baseline": "Draw the prevalence, which is the mean precision of random rankings at any rank, as a dotted line. "
    "The prevalences of many groups are a band. On other axes, the baseline is a random ranking, or the cost of "
    "treating all rows and of treating none. Default True.",
    "label": "The name of the curve, if the plot has one curve.",
    "spread": "What to draw around an average: the middle half of the groups (the default for one y), the confidence "
    "interval of the mean (see `average_curve`), or the single groups. Three or more averages have lines instead of "
    "bands.",
    "highlight": "Names of curves, or how many of the best and of the worst. These curves have colours and names. The "
    "others are thin and grey, up to 200 in total.",
    "backend": 'The plotting library. "altair" gives an interactive chart with at most 5,000 points per curve: a '
    'tooltip shows the thresholds, and the legend selects curves. Default "matplotlib".',
    "xscale": 'Scale of the x axis. Default "linear", or "log" for a thousand ranks and more.',
    "yscale": 'Scale of the y axis. Default "linear", or "log" for precision if positives are rare (prevalence below '
    "1 %) and all average precisions are below 0.1.",
    "**options": "Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. REFUSED All "
    "other keywords are properties of the lines, such as `color`, `linewidth`, `linestyle` and `alpha`.",
}
SHARED = {
    "labels": "Labels by name: of systems, groups, key columns, metrics and words of the legend, such as `{'s1': "
    "'Baseline', 'recall': 'Sensitivity'}`.",
    "order": 'Names of systems and groups, in the order of the plot; all others follow. "value": the largest value '
    'first. "frame": as in the frame. Default: PLOT_ORDER.',
    "decimals": "Number of decimals in the legend, and of percentages. Default DECIMALS.",
    "max_groups": "Maximum number of groups in the plot. Default: MOST_GROUPS.",
    "ax": "The axes to draw in. Default: a new figure.",
    "colors": "Colours by name: COLOURS. Names that the plot does not have are ignored, unless it has none of them.",
    "legend": "Whether to draw the legend. Default True.",
    "figure": "The figure to draw in, instead of `ax`.",
}
"""The arguments that all plots share."""
OF_SYSTEMS = "of systems; without several systems, of groups"
WORDS = {
    "PLOT_ORDER": {
        **dict.fromkeys(("plot_intervals", "plot_comparison", "plot_differences"), '"value"'),
        "": '"frame"',
    },
    "DECIMALS": {"plot_scores": "0", "plot_confusion": "0", "": "2"},
    "MOST_GROUPS": {
        "plot": "10 curves, 48 panels",
        "plot_intervals": "60 rows",
        "plot_differences": "60 rows",
        "plot_slopes": "60 lines",
        "plot_comparison": "all",
        "plot_trend": "10 lines",
        "": "48 panels",
    },
    "COLOURS": {
        "plot_scores": 'of "positives" and "negatives"',
        "plot_comparison": 'of "better" and "worse"',
        "plot_intervals": "of systems",
        "plot_trend": "of systems",
        "plot_slopes": 'of "better" and "worse"',
        "plot_differences": 'of "better" and "worse"',
        "plot_gains": 'of "bin" and "cumulative"',
        "": OF_SYSTEMS,
    },
}
"""Words of these texts, by function."""
OWN = {
    "PR": ["frame"],
    "Policies": ["ascending"],
    "ExprPR": ["score"],
    "average_curve": ["mean_over", "points", "confidence"],
    "compare": ["frame", "metrics", "truth", "score", "mean_over", "baseline", "confidence"],
    "intervals": ["frame", "metrics", "truth", "score", "mean_over"],
    "confusion": ["score", "threshold", "k"],
    "confusion_matrix": ["frame", "truth"],
    "curve": ["points"],
    "explode_lists": ["frame", "truth", "by"],
    "unpivot_classes": ["frame", "truth"],
    "format_table": ["frame"],
    "partitioned": ["frame"],
    "plot": ["frame", "score"],
    "plot_comparison": ["frame", "truth", "score"],
    "plot_confusion": ["frame"],
    "plot_intervals": ["frame"],
    "plot_differences": ["frame"],
    "plot_gains": ["frame", "y"],
    "plot_slopes": ["frame"],
    "plot_trend": ["frame"],
    "plot_scores": ["frame", "score", "threshold"],
    "plot_curve": ["frame", "**options"],
    "report": ["k", "threshold", "confidence"],
    "identify": ["score", "value"],
    "with_curve": ["score"],
    "with_metrics": ["score"],
}


# Functions that compute similar metrics, or that a call often goes with: the section See Also.
RELATED = {
    "average_curve": "curve, plot, intervals",
    "average_precision": "interpolated_average_precision, average_precision_at_k, curve, evaluate, intervals",
    "average_precision_at_k": "average_precision, precision_at_k, recall_at_k, evaluate",
    "compare": "intervals, evaluate, plot_comparison",
    "confusion": "confusion_matrix, f_beta, curve, plot_confusion",
    "confusion_matrix": "confusion, unpivot_classes, plot_confusion",
    "curve": "with_curve, plot_curve, average_curve, average_precision",
    "evaluate": "with_metrics, report, intervals, compare, Policies",
    "explode_lists": "evaluate, success_at_k, join_judgments",
    "f_beta": "confusion, precision_at_recall, evaluate",
    "format_table": "report, evaluate, intervals, compare",
    "gains_table": "curve, confusion, evaluate",
    "identify": "evaluate, average_precision",
    "interpolated_average_precision": "average_precision, curve, precision_at_recall",
    "intervals": "compare, evaluate, plot_intervals, average_curve",
    "join_judgments": "read_trec_run, read_trec_qrels, evaluate",
    "k_at_recall": "precision_at_recall, recall_at_k, confusion",
    "ndcg": "reciprocal_rank, success_at_k, average_precision, evaluate",
    "partitioned": "tally, evaluate",
    "plot": "plot_curve, curve, average_curve, plot_scores, plot_intervals",
    "plot_comparison": "compare, plot_intervals, plot_slopes",
    "plot_confusion": "confusion_matrix, confusion",
    "plot_curve": "plot, curve",
    "plot_intervals": "intervals, plot_comparison",
    "plot_differences": "compare, plot_comparison, plot_intervals",
    "plot_gains": "gains_table, plot",
    "plot_scores": "plot, plot_confusion",
    "plot_slopes": "evaluate, plot_comparison",
    "plot_trend": "intervals, evaluate, plot_intervals",
    "precision_at_k": "recall_at_k, average_precision_at_k, r_precision, evaluate",
    "precision_at_recall": "k_at_recall, curve, f_beta",
    "r_precision": "precision_at_k, average_precision",
    "read_trec_qrels": "read_trec_run, join_judgments",
    "read_trec_run": "read_trec_qrels, join_judgments",
    "recall_at_k": "precision_at_k, success_at_k, k_at_recall, evaluate",
    "reciprocal_rank": "success_at_k, ndcg, explode_lists, evaluate",
    "report": "evaluate, intervals, compare",
    "roc_auc": "average_precision, curve, evaluate, intervals",
    "success_at_k": "reciprocal_rank, recall_at_k, explode_lists, evaluate",
    "tally": "partitioned, evaluate, curve",
    "unpivot_classes": "confusion_matrix, evaluate",
    "with_curve": "curve, with_metrics, plot",
    "with_metrics": "evaluate, with_curve",
}


def references() -> dict[str, list[str]]:
    """By public name, the references of its methods: the table of docs/citation.md, whose second column names it."""
    page = Path(__file__).with_name("citation.md").read_text(encoding="utf-8")
    listed: dict[str, list[str]] = {}
    for names, sources in re.findall(r"(?m)^\| [^|]+ \| ([^|]+) \| ([^|]+\.[^|]*) \|$", page):
        for name in dict.fromkeys(re.findall(r"`(\w+)", names)):
            if name in frame_pr.__all__:
                listed.setdefault(name, []).extend(sources.split("; "))
    return listed


def public() -> Iterator[Any]:
    """Every public function and class with parameters, and the methods that are not functions of the same name."""
    for name in frame_pr.__all__:
        described = getattr(frame_pr, name)
        without = described is frame_pr.show_versions or isinstance(described, dict)
        if not (without or (inspect.isclass(described) and issubclass(described, Warning))):
            yield inspect.unwrap(described)
    yield from (inspect.unwrap(method) for name, method in vars(frame_pr.ExprPR).items() if not name.startswith("_"))


def changed() -> dict[Path, str]:
    """The files that do not say what stands above, as they should be."""
    texts: dict[Path, list[str]] = {}
    # From the bottom up, as what is replaced moves the lines below it.
    named = list(filter(_annotations, public()))
    sections = [
        *map(_parameters, named),
        *(_related(described) for described in named if described.__name__ in RELATED),
    ]
    for path, start, end, entries in sorted(sections, reverse=True):
        texts.setdefault(path, path.read_text(encoding="utf-8").split("\n"))[start:end] = entries
    made = {path: "\n".join(lines) for path, lines in texts.items()}
    return {path: text for path, text in made.items() if text != path.read_text(encoding="utf-8")}


def _parameters(described: Any) -> tuple[Path, int, int, list[str]]:
    """The lines of a file where a docstring describes the parameters, and what belongs there."""
    function = described.__qualname__
    lines, first = inspect.getsourcelines(described)
    stripped = [line.strip() for line in lines]
    if "Parameters" not in stripped:
        raise ValueError(f"{function} has no section Parameters: begin one, this script writes what is shared")
    start = stripped.index("Parameters") + 2
    end = next(row for row in range(start, len(lines)) if stripped[row] in ("", '"""'))
    indent = lines[start - 1].partition("-")[0]
    found = re.split(rf"^{indent}(?=\S)", "".join(lines[start:end]), flags=re.MULTILINE)[1:]
    given = {re.split(" :|\n", entry)[0]: (indent + entry).splitlines() for entry in found}
    entries = []
    for name, annotation in _annotations(described).items():
        by_hand = given.pop(name, None)
        entry = _shared(function, name, annotation, indent) or by_hand
        if entry is None:
            raise ValueError(f"{function} does not describe its parameter {name}")
        entries += entry
    if given:
        raise ValueError(f"{function} describes what is no parameter: {', '.join(given)}")
    return Path(inspect.getfile(inspect.unwrap(described))), first - 1 + start, first - 1 + end, entries


def _related(described: Any) -> tuple[Path, int, int, list[str]]:
    """The lines of a file with the sections See Also, Notes and References, which stand above the examples."""
    lines, first = inspect.getsourcelines(described)
    stripped = [line.strip() for line in lines]
    heads = {
        title: stripped.index(title) for title in ("See Also", "Notes", "References", "Examples") if title in stripped
    }
    if "Examples" not in heads:
        raise ValueError(f"{described.__qualname__} has no section Examples: begin one")
    start, end = min(heads.values()), heads["Examples"]
    indent = lines[end].partition("E")[0]
    entries = [*_section("See Also", textwrap.wrap(RELATED[described.__name__], WIDTH - len(indent)), indent)]
    if "Notes" in heads:
        until = heads.get("References", end)
        entries += [line.rstrip("\n") for line in lines[heads["Notes"] : until]]
    sources = [
        textwrap.wrap(_plain(source), WIDTH - len(indent)) for source in references().get(described.__name__, [])
    ]
    if sources:
        entries += _section("References", [line for source in sources for line in (*source, "")][:-1], indent)
    return Path(inspect.getfile(described)), first - 1 + start, first - 1 + end, entries


def _section(title: str, lines: list[str], indent: str) -> list[str]:
    return [indent + title, indent + "-" * len(title), *(indent + line if line else "" for line in lines), ""]


def _plain(source: str) -> str:
    """A reference of a page, with the address of its link only."""
    return re.sub(r"\[doi:.*?\]\((\S+)\)", r"\1", source.strip())


def _annotations(described: Any) -> dict[str, str]:
    if described is frame_pr.Policies:
        return dict.fromkeys(described.__annotations__, "")
    parameters = inspect.signature(described).parameters.values()
    annotations = {}
    for parameter in parameters:
        if parameter.name == "options" and described.__name__ != "plot_curve":
            # The options of plots are a TypedDict, and each has an entry. `plot_curve` takes them from `plot`.
            fields = get_args(eval(parameter.annotation, described.__globals__))[0].__annotations__
            annotations |= {
                name: getattr(field, "__forward_arg__", field)
                for name, field in fields.items()
                if name not in frame_pr.Policies.__annotations__ and name not in LineArguments.__annotations__
            }
            if not fields.keys() & frame_pr.Policies.__annotations__.keys():
                continue
        if parameter.name != "self":
            annotations[str(parameter).partition(":")[0]] = parameter.annotation
    return annotations


def _shared(function: str, name: str, annotation: str, indent: str) -> list[str] | None:
    texts = TEXTS | (SHARED if function.startswith("plot") else {}) | (PLOTS if function == "plot" else {})
    if function != "plot":
        texts["**options"] = TEXTS["**policies"]
    if name not in texts or name in OWN.get(function, []):
        return None
    if annotation not in TYPES:
        raise ValueError(f"{function}: TYPES has no words for {name}: {annotation}; or name it in OWN")
    header = f"{indent}{name} : {TYPES[annotation]}" if TYPES[annotation] else indent + name
    text = texts[name]
    for word, by_function in WORDS.items():
        text = text.replace(word, by_function.get(function, by_function[""]))
    if "REFUSED" in text:
        text = " ".join(text.replace("REFUSED", POLICIES["sentence"](function)).split())
    wrapped = textwrap.wrap(text, WIDTH - len(indent) - 4, break_on_hyphens=False)
    return [header, *(f"{indent}    {line}" for line in wrapped)]


if __name__ == "__main__":
    for path, text in changed().items():
        path.write_text(text, encoding="utf-8")
        print(path)
