"""Results as tables in Markdown, LaTeX or text, with bounds in the cell of their value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import check_choice, check_flag, check_whole, public_result
from frame_pr.frames.columns import by_name, refuse_missing
from frame_pr.frames.dispatch import kind_of
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.metrics.names import is_metric, metric

Direction: TypeAlias = Literal["largest", "smallest"]
Format: TypeAlias = Literal["markdown", "latex", "text"]
P_VALUES = {"p_adjusted": "adjusted p", "p_value": "p"}
"""Columns with p-values, the adjusted ones first."""
_BOUNDS = ("low", "high")
_BOUNDED = ("value", "difference", "precision")
"""The columns that have bounds, of intervals, comparisons and averaged curves."""
_NAMES = ("baseline", "system")
"""The columns of a comparison that tell its rows apart, after the keys and the metric."""
SIGNIFICANT = 0.05
"""A difference with a smaller p-value is marked in tables, and a filled dot in plots."""
_SIGNS = {"largest": -1.0, "smallest": 1.0, "none": 0.0}


class _Style(NamedTuple):
    """How a table is written."""

    escape: Callable[[pl.Expr], pl.Expr]
    bold: tuple[str, str]
    """What stands before and after a number in bold."""
    mark: str
    """What follows a significant difference."""
    note: str
    """A note below the table, with {} for its text."""
    write: Callable[[Sequence[Sequence[str]], Sequence[bool]], str]
    """Write the lines of a table, the titles first, and which columns hold numbers."""

    def escaped(self, *texts: str) -> list[str]:
        """Return escaped texts."""
        escaped = self.escape(pl.lit(pl.Series(texts)))
        return pl.select(escaped).to_series().to_list()


@public_result()
def format_table(
    frame: Frame,
    *,
    decimals: int = 3,
    best: bool | Mapping[str, Direction] | None = None,
    to: Format = "markdown",
    tests: Any = None,
) -> str:
    """Write any result as a table in Markdown, LaTeX or plain text.

    The bounds `low` and `high` are in the cell of their `value`, `difference` or `precision`, as
    `0.54 [0.44, 0.65]`. A result of `intervals` or `compare` with a column `system` has a row for
    each system and a column for each metric, and a note with the confidence level.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What a function returned, or any small frame. It is not changed. A LazyFrame is collected.
    decimals : int
        How many decimals a number has that is not whole. A p-value that rounds to 0 is written as
        `<0.001`.
    best : bool or dict, optional
        The columns whose best value is bold. True: all columns that are named after a metric, and
        `value` next to a column `metric`. The name of a metric says whether the largest or the
        smallest value is best. For other columns and for metrics under other names, give a dict
        such as `{"MAP": "largest", "cost": "smallest"}`. Rows are compared that differ in `system`
        alone, or all rows if there is no column `system`. All values that look the same as the best
        are bold. Default: True if there is a column `system`.
    to : "markdown", "latex" or "text"
        The format. LaTeX needs the package booktabs.
    tests : frame, optional
        The result of `compare` for the same systems, with a `baseline`. Systems whose p-value is
        below 0.05 get a dagger, and the note names the baseline and, if the result has `details`,
        the test.

    Returns
    -------
    str
        The table, with a line break at its end.

    Raises
    ------
    TypeError
        A column holds lists, structs, bytes or objects.
    ValueError
        The frame has no columns; `best` names a column or a metric that is missing or holds no
        numbers, or is True and says nothing of a metric under another name; `decimals` is above 15;
        `tests` has several baselines, or the frame has no columns `system` and `metric`.

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
    places = check_whole("decimals", decimals, least=0, most=15)
    style = _STYLES[check_choice("to", to, tuple(_STYLES))]
    table = _read(frame)
    numbers = table.select(cs.numeric()).columns
    # The column that the bounds belong to, if there are bounds.
    bounded = next((name for name in _BOUNDED if {name, *_BOUNDS}.issubset(numbers)), None)
    texts = _texts(table, style, places, _signs(table, numbers, best))
    p_values: pl.Series | None = None
    note = ""
    if tests is not None:
        compared = _read(tests)
        p_values = _p_values_of_systems(table, compared)
        note = f" against {_baseline_of(compared, table)}{_method_of(compared)}"
    elif bounded == "difference" and "metric" in table.columns:
        p_values = _p_values(table)
        note = _method_of(table)
    if bounded is None:
        return _written(texts, style, numbers)

    texts = _with_bounds(texts, bounded, p_values, style.mark)
    has_rows = "system" in texts.columns or bounded == "difference"
    if "metric" not in texts.columns or not has_rows:
        # The level is the same in all rows of intervals: the caption of a table names it.
        texts = texts.drop(*_BOUNDS, "level", strict=False)
        return _written(texts, style, numbers)

    metrics = table["metric"].cast(pl.String)
    texts = _by_metric(texts.with_columns(metrics), bounded)
    level, about = style.escaped(_level_of(table), note)
    notes = [level]
    if p_values is not None:
        notes.append(f"{style.mark} {P_VALUES[p_values.name]} < {SIGNIFICANT}{about}")
    return _written(texts, style, metrics.to_list(), "; ".join(filter(None, notes)))


def _texts(
    table: pl.DataFrame, style: _Style, decimals: int, signs: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Return the table as texts, the best values in bold."""
    before, after = style.bold
    cells: list[pl.Expr] = []
    for name, dtype in table.schema.items():
        text = _text(name, dtype, style, decimals)
        if name in signs:
            is_best = _is_best(text, name, signs[name], table.columns)
            text = pl.when(is_best).then(before + text + after).otherwise(text)
        cells.append(text.alias(name))
    return table.select(cells)


def _with_bounds(
    texts: pl.DataFrame, name: str, p_values: pl.Series | None, mark: str
) -> pl.DataFrame:
    """Return the texts with bounds, and a mark for a small p-value, in the cells of a column."""
    cell = pl.col(name)
    cell = pl.coalesce(pl.format("{} [{}, {}]", cell, *_BOUNDS), cell)
    if p_values is not None:
        is_small = pl.lit(p_values < SIGNIFICANT)
        cell = pl.when(is_small).then(cell + mark).otherwise(cell)
    return texts.with_columns(cell.alias(name))


def _written(texts: pl.DataFrame, style: _Style, numbers: Sequence[str], note: str = "") -> str:
    """Write texts in a style. `numbers`: the columns that hold numbers."""
    header = style.escaped(*texts.columns)
    rows = texts.fill_null("-").rows()
    is_number = [name in numbers for name in texts.columns]
    table = style.write([header, *rows], is_number)
    if note:
        table += style.note.format(note)
    return table


def _read(frame: Any) -> pl.DataFrame:
    """Read a frame whose columns cells can hold."""
    kind = kind_of(frame)
    # polars reads a period of pandas as an extension type, which it cannot write, and cuts objects.
    extensions = ("category", "interval", "object", "period")
    has_no_text = [name for name in kind.columns if kind.type_of(str(name)).startswith(extensions)]
    kind, _ = kind.with_keys(has_no_text)
    table = kind.read(kind.columns).collect()

    if not table.width:
        raise ValueError("frame: it has no columns; a table needs at least one")
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            type_name = str(dtype)[:100]
            raise TypeError(
                f"frame: column {shown(name)} is {type_name}, which no cell can hold; leave it out"
            )
    return table


# cells
# -------------------------------------------------------------------------------------------------


def _text(name: str, dtype: pl.DataType, style: _Style, decimals: int) -> pl.Expr:
    """Return a column as texts; null where the value is missing."""
    column = by_name(name)
    if dtype == pl.Duration:
        return column.dt.to_string("polars")
    if dtype.is_integer() or not dtype.is_numeric():
        return style.escape(column.cast(pl.String))

    value = column.cast(pl.Float64).fill_nan(None)
    decimal = value.cast(pl.Decimal(38, decimals), strict=False)
    # A number that is too large for a decimal, or infinite, has the text of a float.
    text = pl.coalesce(
        decimal.cast(pl.String),
        value.cast(pl.String),
    )
    if name not in P_VALUES:
        return text

    rounds_to_0 = text.cast(pl.Float64) == 0
    is_small = (value > 0) & rounds_to_0
    least = 10.0**-decimals
    less = pl.lit(f"<{least:.{decimals}f}")
    return pl.when(is_small).then(less).otherwise(text)


def _best_of(name: str) -> str | None:
    """Return which value of a metric is best by its name; None if the name does not say."""
    if not is_metric(name):
        name = name.removeprefix("mean_").removeprefix("median_")
    if not is_metric(name):
        return None
    record = metric(name)
    return "none" if record.kind == "threshold" else record.best


def _signs(table: pl.DataFrame, numbers: Sequence[str], best: Any) -> dict[str, pl.Expr]:
    """Return the columns whose best value is bold, with the sign of each value; see `_SIGNS`."""
    metrics: list[str] = []
    if "value" in numbers and "metric" in table.columns:
        names = table["metric"].cast(pl.String)
        metrics = names.unique(maintain_order=True).to_list()

    columns = [*numbers, *metrics]
    if isinstance(best, Mapping):
        refuse_missing([*best], columns, "numbers of the frame", "best")
        for name, direction in best.items():
            check_choice(f"best[{name!r}]", direction, ("largest", "smallest"))
        directions = dict(best)
    else:
        is_bold = "system" in table.columns if best is None else check_flag("best", best)
        directions = {name: _best_of(name) for name in columns if is_bold}

    signs = {name: _SIGNS[direction] for name, direction in directions.items() if direction}
    unknown = [name for name in metrics if name not in signs]
    if unknown and best is True:
        first = unknown[0]
        raise ValueError(
            f"best: the name {shown(first)} does not say whether its largest value is best; "
            f"give best={{{first!r}: 'largest'}}, or 'smallest'"
        )
    of_columns = {name: pl.lit(signs[name]) for name in numbers if name in signs}
    if len(unknown) < len(metrics):
        metric_name = pl.col("metric").cast(pl.String)
        of_columns["value"] = metric_name.replace_strict(
            signs,
            default=None,
            return_dtype=pl.Float64,
        )
    return of_columns


def _is_best(text: pl.Expr, name: str, sign: pl.Expr, columns: Sequence[str]) -> pl.Expr:
    """Return whether a number looks like the best one of rows that differ only in `system`."""
    place = columns.index("system") if "system" in columns else 0
    before = columns[:place]
    names = [column for column in columns if column in before or column == "metric"]
    # The literal stands for all rows, if there are no keys.
    keys = [*map(by_name, names), pl.lit(0)]
    value = by_name(name).cast(pl.Float64).fill_nan(None)
    best_first = text.sort_by(value * sign, nulls_last=True)
    best = best_first.first().over(keys)
    rows = pl.len().over(keys)
    has_best = (rows > 1) & (sign != 0)
    return has_best & (text == best)


# tables of systems and metrics
# -------------------------------------------------------------------------------------------------


def _p_values_of_systems(table: pl.DataFrame, tests: pl.DataFrame) -> pl.Series:
    """Return the p-values of the rows of intervals; null for those of the baseline."""
    if not {"metric", "system", "value", *_BOUNDS}.issubset(table.columns):
        raise ValueError(
            "tests: they mark the intervals of systems, and the frame is not the result of "
            "intervals, or of report with confidence=, for several scores"
        )
    p_values = _p_values(tests)
    if p_values is None or not {"metric", "system"}.issubset(tests.columns):
        raise ValueError(
            "tests: give it the result of compare for the same systems, with baseline= and, if "
            "there are two systems, details=True"
        )
    before = table.columns[: table.columns.index("value")]
    names = [name for name in before if name in tests.columns]
    keys = pl.col(names).cast(pl.String)
    joined = table.select(keys).join(
        tests.select(keys, p_values),
        on=names,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return joined[p_values.name]


def _baseline_of(tests: pl.DataFrame, table: pl.DataFrame) -> str:
    """Return the only baseline of a comparison, which is a system of the table without a test."""
    if "baseline" in tests.columns:
        name = _only_value(tests, "baseline")
        if name is None:
            raise ValueError("tests: it has several baselines; name one, compare(..., baseline=)")
        return str(name)
    untested = {*map(str, table["system"])} - {*map(str, tests["system"])}
    return untested.pop() if len(untested) == 1 else "the baseline"


def _p_values(tests: pl.DataFrame) -> pl.Series | None:
    """Return the p-values of a comparison, the adjusted ones if there are any."""
    return next((tests[name] for name in P_VALUES if name in tests.columns), None)


def _method_of(tests: pl.DataFrame) -> str:
    """Return the method of a comparison in brackets, if it is the same in all rows."""
    method = _only_value(tests, "method")
    if method is None:
        return ""
    return f" ({method})"


def _level_of(table: pl.DataFrame) -> str:
    """Return a note of the confidence level and of n, as far as they are the same in all rows."""
    level = _only_value(table, "level")
    if level is None:
        return ""
    note = f"in brackets: {100 * level:.4g} % confidence intervals"
    n = _only_value(table, "n")
    if n is not None:
        note += f", n = {n}"
    return note


def _only_value(table: pl.DataFrame, name: str) -> Any:
    """Return the value of a column that is the same in all rows, otherwise None."""
    if name not in table.columns or table[name].n_unique() != 1:
        return None
    return table[name][0]


def _by_metric(texts: pl.DataFrame, value: str) -> pl.DataFrame:
    """Return a column for each metric, and a row for each combination of the keys."""
    columns = texts.columns
    keys = columns[: columns.index("metric")]
    keys += [name for name in _NAMES if name in columns and name not in keys]
    return texts.pivot(
        "metric",
        index=keys,
        values=value,
        maintain_order=True,
    )


# formats
# -------------------------------------------------------------------------------------------------


def _one_line(text: pl.Expr) -> pl.Expr:
    """Replace line breaks, of which each ends a row."""
    return text.str.replace_all("\r\n|[\r\n\u2028\u2029]", " ")


def _escape_markdown(text: pl.Expr) -> pl.Expr:
    """Escape what Markdown reads as formatting. It reads an underscore inside a word as itself."""
    escaped = _one_line(text).str.replace_all(r"([\\`*_\[\]<>|~&$])", r"\${1}")
    # Twice, because the neighbours of a match are used up.
    for _ in range(2):
        escaped = escaped.str.replace_all(r"([0-9A-Za-z])\\_([0-9A-Za-z])", "${1}_${2}")
    return escaped


def _write_markdown(lines: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Write a table of GitHub's Markdown."""
    rules = ["--:" if is_number else ":--" for is_number in numbers]
    header, *rows = lines
    table = ""
    for row in (header, rules, *rows):
        cells = " | ".join(row)
        table += f"| {cells} |\n"
    return table


_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _escape_latex(text: pl.Expr) -> pl.Expr:
    """Escape what LaTeX reads as commands."""
    return _one_line(text).str.replace_many(_LATEX)


def _write_latex(lines: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Write a tabular of the package booktabs."""
    columns = "".join("r" if is_number else "l" for is_number in numbers)
    header, *rows = [" & ".join(line) + r" \\" for line in lines]
    parts = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        header,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]
    return "\n".join(parts)


def _write_text(lines: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Write columns of equal width."""
    columns = []
    for column, is_number in zip(zip(*lines, strict=True), numbers, strict=True):
        width = max(map(len, column))
        pad = str.rjust if is_number else str.ljust
        columns.append([pad(cell, width) for cell in column])
    rows = ["  ".join(row).rstrip() + "\n" for row in zip(*columns, strict=True)]
    return "".join(rows)


_STYLES: Mapping[str, _Style] = {
    "markdown": _Style(
        escape=_escape_markdown,
        bold=("**", "**"),
        mark="†",
        note="\n{}\n",
        write=_write_markdown,
    ),
    "latex": _Style(
        escape=_escape_latex,
        bold=(r"\textbf{", "}"),
        mark=r"$^\dagger$",
        note=r"\par\smallskip{{\footnotesize {}}}" + "\n",
        write=_write_latex,
    ),
    "text": _Style(
        escape=_one_line,
        bold=("**", "**"),
        mark="†",
        note="\n{}\n",
        write=_write_text,
    ),
}
