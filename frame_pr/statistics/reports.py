"""The usual metrics of a ranking or a classifier in one frame; any result as a table in Markdown, LaTeX or HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias, Unpack, get_args

import polars as pl

from frame_pr.frames.arguments import filling, names_of, one_of, public, whole
from frame_pr.frames.columns import by_name, refuse_clash, refuse_missing
from frame_pr.frames.kinds import Frame, kind_of, lazily
from frame_pr.frames.messages import shown
from frame_pr.functions.evaluation import means_for, metrics_of
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.means import Statistic
from frame_pr.metrics.names import is_metric, metric, request_for
from frame_pr.metrics.numbers import each
from frame_pr.statistics.intervals import intervals_of_means, validate_confidence
from frame_pr.statistics.sampled_rows import bounds_of, refuse_policies, row_metric, values_and_errors
from frame_pr.statistics.unit_values import UnitValues, keys_left, refuse_engine, unit_values_of


@lazily
@public(REFUSED["report"])
def report(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    k: int | Sequence[int] = (1, 5, 10),
    threshold: float | Sequence[float] | None = None,
    confidence: float | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    statistics: Statistic | str | Sequence[Statistic | str] = "mean",
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Summarise a ranking in the usual metrics, one row per group, the most important metrics first.

    `evaluate` computes any other choice of metrics.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    k : int or list of int
        Cutoffs for precision, recall and average precision.
    threshold : float or list of float, optional
        Adds the metrics of the confusion matrix at this threshold, or at each of these.
    confidence : float, optional
        Adds the bounds `low_...` and `high_...` of `intervals` at this confidence level after each share. With
        `mean_over`, all means of shares have bounds. Otherwise, metrics with a closed form for rows have bounds.
    mean_over : True, str or list of str, optional
        Columns of `by` to average over. The result has one row per group of the other columns. True: all columns but
        `system`.
    statistics : str or list of str
        Statistics over the groups that `mean_over` names: "mean", "median", "std" (of a sample), "min", "max",
        quantiles such as "q25", "range" (max - min), "ratio" (min / max), means weighted by the positives of the group
        ("weighted"), by its rows ("by_rows") or by its pairs of a positive and a negative ("by_pairs"), and "defined"
        (the number of groups that have a value).
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`,
        `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"` and `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `rows, positives, prevalence, ties` (rows that share their score with another),
        `average_precision, interpolated_average_precision, average_precision_lift` (average precision over prevalence),
        `r_precision`, `precision@k, recall@k, average_precision@k` for each k, `max_f1, threshold@max_f1`, and with a
        threshold the metrics there, such as `precision@threshold=0.5`.

    Raises
    ------
    ValueError, TypeError
        k or threshold is no such number; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    evaluate, intervals, compare

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> table = fp.report(run, "relevant", "score", k=2, by="query")
    >>> table.select("query", "positives", "average_precision", "precision@2", "max_f1")
    shape: (2, 5)
    ┌───────┬───────────┬───────────────────┬─────────────┬────────┐
    │ query ┆ positives ┆ average_precision ┆ precision@2 ┆ max_f1 │
    │ ---   ┆ ---       ┆ ---               ┆ ---         ┆ ---    │
    │ str   ┆ i64       ┆ f64               ┆ f64         ┆ f64    │
    ╞═══════╪═══════════╪═══════════════════╪═════════════╪════════╡
    │ ink   ┆ 2         ┆ 0.833333          ┆ 0.5         ┆ 0.8    │
    │ tea   ┆ 2         ┆ 0.583333          ┆ 0.5         ┆ 0.8    │
    └───────┴───────────┴───────────────────┴─────────────┴────────┘
    """
    ranks = [Rank.of(rank) for rank in each("k", k)]
    names = ["rows", "positives", "prevalence", "tied_rows"]
    names += ["average_precision", "interpolated_average_precision", "average_precision_lift", "r_precision"]
    names += [f"{rate}@{rank}" for rate in ("precision", "recall", "average_precision") for rank in ranks]
    names += ["max_f1", "threshold@max_f1"]
    if threshold is not None:
        cutoffs = [Threshold.of(value) for value in each("threshold", threshold)]
        names += [f"{rate}@{cutoff}" for cutoff in cutoffs for rate in rates.CONFUSION_AT_CUTOFF]
    means = means_for(mean_over, statistics)
    if confidence is None:
        return metrics_of(frame, names, truth, score, policies, by, positive, undefined, means)
    if means is not None and list(means.statistics) != ["mean"]:
        raise ValueError("confidence= adds bounds of the mean over groups: leave out statistics=, or confidence=")
    confidence, undefined = validate_confidence(confidence), filling("undefined", undefined)
    refuse_engine(frame)
    if mean_over is not None:
        unit_values = unit_values_of(frame, names, truth, score, by, positive, undefined, policies)
        keys = keys_left(unit_values.keys, mean_over)
        table = _side_by_side(intervals_of_means(unit_values, keys, confidence), keys, unit_values)
        return unit_values.give(table.sort(unit_values.sort_columns(keys)) if keys else table, keys)
    request = request_of(truth, score, by, positive, policies)
    targets = [target for name in names if (target := row_metric(name))]
    refuse_policies(request, [target.name for target in targets], clusters=False)
    rows, output = rows_of(frame, request_for(names, request))
    table = values_and_errors(rows, targets, undefined, names)
    bounds = {
        f"{side}_{target.name}": bound
        for i, target in enumerate(targets)
        for side, bound in bounds_of(i, target, pl.col(target.name), confidence).items()
    }
    candidates = (column for name in names for column in (name, f"low_{name}", f"high_{name}"))
    return output.result(table.with_columns(**bounds), [name for name in candidates if name in (*names, *bounds)])


def _side_by_side(table: pl.LazyFrame, keys: Sequence[str], unit_values: UnitValues[Any]) -> pl.LazyFrame:
    """Pivot a row for each metric into the columns that `evaluate` returns for means, with their bounds."""

    def value_of(name: str, column: str) -> pl.Expr:
        """Return the value of a column in the row of a metric."""
        return pl.col(column).filter(pl.col("metric") == name).first()

    first = unit_values.metrics[0]
    columns = {"groups": value_of(first, "units") + value_of(first, "undefined")}
    for name in unit_values.metrics:
        columns[f"mean_{name}"] = value_of(name, "value")
        if metric(name).kind == "share":
            columns |= {f"{side}_{name}": value_of(name, side) for side in ("low", "high")}
    columns |= {f"undefined_{name}": value_of(name, "undefined") for name in unit_values.undefinable}
    refuse_clash(keys, columns)
    return table.group_by(map(by_name, keys)).agg(**columns) if keys else table.select(**columns)


Markup: TypeAlias = Literal["markdown", "latex", "html"]


class _Syntax(NamedTuple):
    """How a markup language writes a table."""

    escapes: Mapping[str, str]
    bold: tuple[str, str]
    table: str
    """Template of the table, with `{titles}`, `{rules}` (one for each column) and `{rows}`."""
    row: tuple[str, str, str]
    """Start of a row, separator of its cells, and end of the row."""
    rules: tuple[str, str] = ("", "")
    """Alignment of a column of text, and of a column of numbers."""
    cells: tuple[str, str] = ("", "")
    """Start of a cell with text, and of a cell with a number."""
    undefined: str = "-"


_LATEX_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"<": "$<$", ">": "$>$", "|": "$|$", "[": "{[}"}
"""A row that begins with [ would be an option of the line break above it."""
_SYNTAXES: Mapping[Markup, _Syntax] = {
    "markdown": _Syntax(
        escapes={"|": r"\|", "\n": " "},
        bold=("**", "**"),
        table="{titles}\n| {rules}\n{rows}\n",
        row=("| ", " | ", " |"),
        rules=(":-- | ", "--: | "),
    ),
    "latex": _Syntax(
        escapes={**_LATEX_SIGNS, "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        bold=(r"\textbf{", "}"),
        undefined="--",
        table="\\begin{{tabular}}{{{rules}}}\n\\toprule\n{titles}\n\\midrule\n{rows}\n\\bottomrule\n\\end{{tabular}}\n",
        row=("", " & ", r" \\"),
        rules=("l", "r"),
    ),
    "html": _Syntax(
        escapes={"&": "&amp;", "<": "&lt;", ">": "&gt;"},
        bold=("<b>", "</b>"),
        table="<table>\n<thead>\n{titles}\n</thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n",
        row=("<tr>", "</td>", "</td></tr>"),
        cells=("<td>", '<td style="text-align: right">'),
    ),
}
assert get_args(Markup) == tuple(_SYNTAXES), "Markup and _SYNTAXES name different ones"
_WITH_BOUNDS = ("value", "difference")
"""Columns whose bounds are `low` and `high`."""
_P_VALUES = ("p_value", "p_adjusted")
"""Columns in which a number that rounds to 0 is written as smaller than the last digit."""
_MOST_DECIMALS = 15


@public()
def format_table(
    frame: Frame, markup: Markup = "markdown", *, decimals: int = 3, best: bool | str | Sequence[str] | None = None
) -> str:
    """Write any result as a table in Markdown, LaTeX or HTML, for an issue, a paper or a page.

    Bounds are in the cell of their value: the columns `low_X` and `high_X` join `X` or `mean_X`, and `low` and `high`
    join `value` or `difference`, as `0.54 [0.44, 0.65]`.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What a function returned, or any small frame; never changed. A LazyFrame is collected.
    markup : "markdown", "latex" or "html"
        LaTeX needs the package booktabs in the document. HTML has the style of great_tables where that is installed,
        and is a bare table elsewhere.
    decimals : int
        How many decimals a number has that is not whole. A p-value that rounds to 0 is written as `<0.001`.
    best : bool, str or list of str, optional
        The columns whose best value is bold. True: all columns that are named after a metric. The best value is the
        smallest for errors and costs such as `fpr`, and else the largest. Rows are compared that differ in `system`
        alone, or all rows if there is no column `system`. All values that look the same as the best are bold.
        Default: True if there is a column `system`.

    Returns
    -------
    str
        The table, with a row for each row of the frame, and a line break at its end.

    Raises
    ------
    TypeError
        A column holds lists, structs, bytes or objects.
    ValueError
        The frame has no columns.
        `best` names a column that is missing or holds no numbers; `markup` is another one; `decimals` is above 15.

    See Also
    --------
    report, evaluate, intervals, compare

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame(
    ...     {"relevant": [0, 1, 0, 1], "old": [0.9, 0.8, 0.7, 0.6], "new": [0.6, 0.9, 0.8, 0.7]}
    ... )
    >>> values = run.pr.evaluate(["average_precision", "fpr@2"], "relevant", ["old", "new"])
    >>> print(values.pr.format_table(decimals=2))
    | system | average_precision | fpr@2 |
    | :-- | --: | --: |
    | old | 0.50 | **0.50** |
    | new | **0.83** | **0.50** |
    <BLANKLINE>
    """
    syntax = _SYNTAXES[one_of("markup", markup, get_args(Markup))]
    places = whole("decimals", decimals, least=0, most=_MOST_DECIMALS)
    kind = kind_of(frame)
    table = kind.read(kind.columns).collect()
    if not table.width:
        raise ValueError("frame: it has no columns; a table needs at least one")
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            raise TypeError(f"frame: column {shown(name)} is {str(dtype)[:100]}, which no cell can hold; leave it out")
    bounds = _bounds_in(table.columns)
    directions = _directions(table, best)
    inside = {bound for pair in bounds.values() for bound in pair}
    cells, numbers = {}, {name: table.schema[name].is_numeric() for name in table.columns if name not in inside}
    with_style = markup == "html" and find_spec("great_tables") is not None
    marks = _SYNTAXES["markdown"] if with_style else syntax
    for name, is_number in numbers.items():
        if not is_number:
            is_duration = table.schema[name] == pl.Duration
            text = by_name(name).dt.to_string("polars") if is_duration else by_name(name).cast(pl.String)
            cells[name] = text if with_style else _escaped(text, marks)
            continue
        shown_number = _number(name, table.schema[name], places)
        cell = _escaped(shown_number, marks)
        if name in directions:
            is_best = _is_best(shown_number, name, directions[name], table.columns)
            cell = (
                pl.when(is_best).then(pl.concat_str(pl.lit(marks.bold[0]), cell, pl.lit(marks.bold[1]))).otherwise(cell)
            )
        if name in bounds:
            low, high = (_number(bound, table.schema[bound], places) for bound in bounds[name])
            cell = pl.coalesce(pl.concat_str(cell, pl.lit(" ["), low, pl.lit(", "), high, pl.lit("]")), cell)
        cells[name] = cell
    texts = table.select(cell.alias(name) for name, cell in cells.items())
    right = [name for name, is_number in numbers.items() if is_number]
    if with_style:
        from great_tables import GT

        # A missing value is no Markdown, where a lone "-" is a list.
        styled = GT(texts, id="frame_pr").fmt_markdown(right).sub_missing(missing_text=syntax.undefined)
        return str(styled.cols_align("right", right).as_raw_html()) + "\n"
    texts = texts.fill_null(syntax.undefined)
    titles = pl.DataFrame({name: [name] for name in texts.columns}).select(_escaped(pl.all(), syntax))
    start, separator, end = syntax.row
    starts = {name: pl.lit(syntax.cells[is_number]) for name, is_number in numbers.items()}
    joined = pl.concat_str((pl.concat_str(begin, by_name(name)) for name, begin in starts.items()), separator=separator)
    row = pl.concat_str(pl.lit(start), joined, pl.lit(end))
    title, rows = ("\n".join(part.select(row).to_series()) for part in (titles, texts))
    rules = "".join(syntax.rules[is_number] for is_number in numbers.values()).rstrip()
    return syntax.table.format(titles=title, rules=rules, rows=rows)


def _number(name: str, dtype: pl.DataType, decimals: int) -> pl.Expr:
    """Format a number as text; null if the number is missing."""
    if dtype.is_integer():
        return by_name(name).cast(pl.String)
    value = by_name(name).cast(pl.Float64).fill_nan(None)
    text = pl.coalesce(value.cast(pl.Decimal(38, decimals), strict=False).cast(pl.String), value.cast(pl.String))
    if name in _P_VALUES:
        least = 10.0**-decimals
        text = pl.when((value > 0) & (value < least / 2)).then(pl.lit(f"<{least:.{decimals}f}")).otherwise(text)
    return text


def _escaped(text: pl.Expr, syntax: _Syntax) -> pl.Expr:
    """Return the text with the characters escaped that the markup would read as its own."""
    return text.str.replace_many(list(syntax.escapes), list(syntax.escapes.values()))


def _bounds_in(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the columns that have bounds, with the names of their bounds."""
    bounded = {name: (f"low_{base}", f"high_{base}") for name in columns for base in (name, name.removeprefix("mean_"))}
    bounded |= {name: ("low", "high") for name in _WITH_BOUNDS if name in columns}
    return {name: pair for name, pair in bounded.items() if {*pair} <= {*columns}}


def _directions(table: pl.DataFrame, best: bool | str | Sequence[str] | None) -> dict[str, Any]:
    """Return the columns whose best value is bold, and whether the largest or the smallest value is best."""
    numbers = [name for name, dtype in table.schema.items() if dtype.is_numeric()]
    of_metrics = {}
    for name in numbers:
        base = name.removeprefix("mean_").removeprefix("median_")
        if is_metric(base) and metric(base).kind == "share":
            of_metrics[name] = metric(base).best
    if best is None or isinstance(best, bool):
        wanted = list(of_metrics) if best or (best is None and "system" in table.columns) else []
    else:
        wanted = names_of("best", best, "True, False or names of columns")
        refuse_missing(wanted, table.columns, "frame", "best")
        if texts := [name for name in wanted if name not in numbers]:
            raise ValueError(f"best: column {shown(texts[0])} holds no numbers; name columns of numbers")
    directions = {name: of_metrics.get(name, "largest") for name in wanted}
    return {name: direction for name, direction in directions.items() if direction != "none"}


def _is_best(text: pl.Expr, name: str, direction: str, columns: Sequence[str]) -> pl.Expr:
    """Return whether a number looks like the best one of several rows that differ only in `system`."""
    by_rank = by_name(name).cast(pl.Float64).fill_nan(None)
    best, rows = text.sort_by(by_rank, descending=direction == "largest", nulls_last=True).first(), pl.len()
    place = columns.index("system") if "system" in columns else 0
    if keys := [by_name(key) for key in (*columns[:place], "metric") if place and key in columns]:
        best, rows = best.over(keys), rows.over(keys)
    return (text == best) & (rows > 1)
