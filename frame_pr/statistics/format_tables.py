"""Results as tables in Markdown, LaTeX or text, with bounds in the cell of their value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.arguments import check_choice, check_flag, check_whole, public_result
from frame_pr.frames.columns import by_name, refuse_missing
from frame_pr.frames.dispatch import kind_of
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.metrics.names import is_metric, metric

Direction: TypeAlias = Literal["largest", "smallest"]
Format: TypeAlias = Literal["markdown", "latex", "text"]
_WORDS = {"p_adjusted": "adjusted p", "p_value": "p"}
"""Columns with p-values, the adjusted ones first."""
_BOUNDS = ("low", "high")
_BOUNDED = ("value", "difference", "precision")
"""The columns that have bounds, of intervals, comparisons and averaged curves."""
_NAMES = ("baseline", "system")
"""The columns of a comparison that tell its rows apart, after the keys and the metric."""
_LEVEL = 0.05
"""A smaller p-value gets a mark."""
_SIGNS = {"largest": -1.0, "smallest": 1.0, "none": 0.0}
_WORD_UNDERSCORE = "\ue000"
"""Stands for an underscore inside a word while others are escaped."""


class _Style(NamedTuple):
    """How a table is written."""

    escape: Callable[[pl.Expr], pl.Expr]
    bold: tuple[str, str]
    """What stands before and after a number in bold."""
    mark: str
    """What follows a significant difference."""
    write: Callable[[Sequence[Sequence[str]], Sequence[bool], str], str]
    """Write the lines of a table, the title first, which columns hold numbers, and a note."""


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
        What a function returned, or any small frame; never changed. A LazyFrame is collected.
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
    numbers = [name for name, dtype in table.schema.items() if dtype.is_numeric()]
    signs = _signs(table, numbers, best)
    bounded = next((name for name in _BOUNDED if {name, *_BOUNDS} <= {*numbers}), None)
    marks: pl.Series | None = None
    note = ""
    if tests is not None:
        marks, note = _significant(table, _read(tests), style)
    elif bounded == "difference" and "metric" in table.columns:
        marks, note = _significant_differences(table, style)

    texts = _texts(table, style, places, signs)
    if bounded is None:
        return _written(texts, style, numbers)
    cell = pl.col(bounded)
    cell = pl.coalesce(pl.format("{} [{}, {}]", cell, *_BOUNDS), cell)
    if marks is not None:
        cell = pl.when(pl.lit(marks)).then(cell + style.mark).otherwise(cell)
    texts = texts.with_columns(cell.alias(bounded))
    if {"metric", "system"} <= {*texts.columns}:
        notes = [part for part in (_level_of(table), note) if part]
        texts = _by_metric(texts.with_columns(table["metric"].cast(pl.String)), bounded)
        return _written(texts, style, table["metric"].to_list(), "; ".join(notes))
    # The level is the same in all rows of intervals: the caption of a table names it.
    return _written(texts.drop(*_BOUNDS, "level", strict=False), style, numbers)


def _texts(
    table: pl.DataFrame, style: _Style, decimals: int, signs: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Return the table as texts, the best values in bold."""
    cells = {}
    for name, dtype in table.schema.items():
        text = _text(name, dtype, style, decimals)
        if name in signs:
            is_best = _is_best(text, name, signs[name], table.columns)
            before, after = map(pl.lit, style.bold)
            text = pl.when(is_best).then(before + text + after).otherwise(text)
        cells[name] = text
    return table.select(text.alias(name) for name, text in cells.items())


def _written(texts: pl.DataFrame, style: _Style, numbers: Sequence[str], note: str = "") -> str:
    """Write texts in a style. `numbers`: the columns that hold numbers."""
    titles = pl.DataFrame({"title": texts.columns}).select(style.escape(pl.col("title")))
    lines = [titles["title"].to_list(), *texts.fill_null("-").rows()]
    return style.write(lines, [name in numbers for name in texts.columns], note)


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
            raise TypeError(
                f"frame: column {shown(name)} is {str(dtype)[:100]}, which no cell can hold; leave "
                "it out"
            )
    return table


# cells
# -------------------------------------------------------------------------------------------------


def _text(name: str, dtype: pl.DataType, style: _Style, decimals: int) -> pl.Expr:
    """Return a column as texts; null where the value is missing."""
    column = by_name(name)
    if dtype == pl.Duration:
        return column.dt.to_string("polars")
    if not dtype.is_numeric():
        return style.escape(column.cast(pl.String))
    if dtype.is_integer():
        return column.cast(pl.String)
    value = column.cast(pl.Float64).fill_nan(None)
    decimal = value.cast(pl.Decimal(38, decimals), strict=False).cast(pl.String)
    text = pl.coalesce(decimal, value.cast(pl.String))
    if name not in _WORDS:
        return text
    is_small = (value > 0) & (text.cast(pl.Float64) == 0)
    least = f"<{10.0**-decimals:.{decimals}f}"
    return pl.when(is_small).then(pl.lit(least)).otherwise(text)


def _sign(name: str, best: Any) -> float | None:
    """Return -1 if the largest value is best, 1 if the smallest, 0 if neither; else None."""
    if isinstance(best, Mapping):
        return _SIGNS[best[name]] if name in best else None
    bare_names = (name, name.removeprefix("mean_").removeprefix("median_"))
    record = next((metric(bare) for bare in bare_names if is_metric(bare)), None)
    if record is None:
        return None
    return 0.0 if record.kind == "threshold" else _SIGNS[record.best]


def _signs(table: pl.DataFrame, numbers: Sequence[str], best: Any) -> dict[str, pl.Expr]:
    """Return the columns whose best value is bold, with the sign of each value; see `_sign`."""
    metrics: list[str] = []
    if "value" in numbers and "metric" in table.columns:
        metrics = table["metric"].cast(pl.String).unique(maintain_order=True).to_list()
    if isinstance(best, Mapping):
        refuse_missing([*best], [*numbers, *metrics], "numbers of the frame", "best")
        for name, way in best.items():
            check_choice(f"best[{name!r}]", way, ("largest", "smallest"))
    elif not ("system" in table.columns if best is None else check_flag("best", best)):
        return {}
    of_columns = {name: _sign(name, best) for name in numbers}
    of_metrics = {name: _sign(name, best) for name in metrics}
    unknown = [name for name, sign in of_metrics.items() if sign is None]
    if unknown and best is True:
        raise ValueError(
            f"best: the name {shown(unknown[0])} does not say whether its largest value is best; "
            f"give best={{{unknown[0]!r}: 'largest'}}, or 'smallest'"
        )
    signs = {name: pl.lit(sign) for name, sign in of_columns.items() if sign is not None}
    if len(unknown) < len(metrics):
        name = pl.col("metric").cast(pl.String)
        signs["value"] = name.replace_strict(of_metrics, default=None, return_dtype=pl.Float64)
    return signs


def _is_best(text: pl.Expr, name: str, sign: pl.Expr, columns: Sequence[str]) -> pl.Expr:
    """Return whether a number looks like the best one of rows that differ only in `system`."""
    value = by_name(name).cast(pl.Float64).fill_nan(None) * sign
    best = text.sort_by(value, nulls_last=True).first()
    rows = pl.len()
    place = columns.index("system") if "system" in columns else 0
    keys = [by_name(key) for key in columns if key in columns[:place] or key == "metric"]
    if keys:
        best = best.over(keys)
        rows = rows.over(keys)
    return (text == best) & (rows > 1) & (sign != 0)


# tables of systems and metrics
# -------------------------------------------------------------------------------------------------


def _significant(table: pl.DataFrame, tests: pl.DataFrame, style: _Style) -> tuple[pl.Series, str]:
    """Return which rows differ from the only baseline of a comparison, and a note about it."""
    if not {"metric", "system", "value"} <= {*table.columns}:
        raise ValueError(
            "tests: they mark the intervals of systems, and the frame is not the result of "
            "intervals for several scores"
        )
    if not {"metric", *_NAMES} <= {*tests.columns}:
        raise ValueError(
            "tests: give it the result of compare for the same systems, with baseline="
        )
    baseline = _only_value(tests, "baseline")
    if baseline is None:
        raise ValueError("tests: it has several baselines; name one, compare(..., baseline=)")
    p_value = _p_value_of(tests) or "p_value"
    keys = [name for name in table.columns[: table.columns.index("value")] if name in tests.columns]
    p_values = tests.select(pl.col(keys).cast(pl.String), p=p_value)
    of_rows = table.select(pl.col(keys).cast(pl.String))
    joined = of_rows.join(p_values, on=keys, how="left", nulls_equal=True, maintain_order="left")
    of_baseline = f" against {baseline}{_method_of(tests)}"
    note = f"{style.mark} {_WORDS[p_value]} < {_LEVEL}{_escaped(of_baseline, style)}"
    return (joined["p"] < _LEVEL).fill_null(False), note


def _significant_differences(table: pl.DataFrame, style: _Style) -> tuple[pl.Series | None, str]:
    """Return which differences are significant, and a note about it; None without a p-value."""
    p_value = _p_value_of(table)
    if p_value is None:
        return None, ""
    note = f"{style.mark} {_WORDS[p_value]} < {_LEVEL}{_escaped(_method_of(table), style)}"
    return (table[p_value] < _LEVEL).fill_null(False), note


def _p_value_of(tests: pl.DataFrame) -> str | None:
    """Return the column with p-values, the adjusted ones if there are any."""
    return next((name for name in _WORDS if name in tests.columns), None)


def _escaped(text: str, style: _Style) -> str:
    """Escape a text of a note."""
    escaped: str = pl.select(style.escape(pl.lit(text))).item()
    return escaped


def _method_of(tests: pl.DataFrame) -> str:
    """Return the method of a comparison in brackets, if it is the same in all rows."""
    method = _only_value(tests, "method")
    return "" if method is None else f" ({method})"


def _level_of(table: pl.DataFrame) -> str:
    """Return a note of the confidence level and of n, as far as they are the same in all rows."""
    level = _only_value(table, "level")
    if level is None:
        return ""
    n = _only_value(table, "n")
    size = "" if n is None else f", n = {n}"
    return f"in brackets: {100 * level:.4g} % confidence intervals{size}"


def _only_value(table: pl.DataFrame, name: str) -> Any:
    """Return the value of a column that is the same in all rows, otherwise None."""
    if name not in table.columns or table[name].n_unique() != 1:
        return None
    return table[name][0]


def _by_metric(texts: pl.DataFrame, value: str) -> pl.DataFrame:
    """Return a column for each metric, and a row for each combination of the keys."""
    before = texts.columns[: texts.columns.index("metric")]
    keys = [*before, *(name for name in _NAMES if name in texts.columns and name not in before)]
    return texts.pivot("metric", index=keys, values=value, maintain_order=True)


# formats
# -------------------------------------------------------------------------------------------------


def _one_line(text: pl.Expr) -> pl.Expr:
    """Replace line breaks, of which each ends a row."""
    return text.str.replace_all("\r\n|[\r\n\u2028\u2029]", " ")


def _escape_markdown(text: pl.Expr) -> pl.Expr:
    """Escape what Markdown reads as formatting. It reads an underscore inside a word as itself."""
    word = "([0-9A-Za-z])_([0-9A-Za-z])"
    # Twice, because the neighbours of a match are used up.
    for _ in range(2):
        text = text.str.replace_all(word, f"${{1}}{_WORD_UNDERSCORE}${{2}}")
    escaped = _one_line(text).str.replace_all(r"([\\`*_\[\]<>|~&$])", r"\${1}")
    return escaped.str.replace_all(_WORD_UNDERSCORE, "_")


def _write_markdown(lines: Sequence[Sequence[str]], numbers: Sequence[bool], note: str) -> str:
    """Write a table of GitHub's Markdown."""
    rules = ["--:" if is_number else ":--" for is_number in numbers]
    rows = [lines[0], rules, *lines[1:]]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return f"{table}\n{note}\n" if note else table


_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _escape_latex(text: pl.Expr) -> pl.Expr:
    """Escape what LaTeX reads as commands."""
    return _one_line(text).str.replace_many(_LATEX)


def _write_latex(lines: Sequence[Sequence[str]], numbers: Sequence[bool], note: str) -> str:
    """Write a tabular of the package booktabs."""
    columns = "".join("r" if is_number else "l" for is_number in numbers)
    rows = [" & ".join(line) + r" \\" for line in lines]
    parts = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", rows[0], r"\midrule", *rows[1:]]
    parts += [r"\bottomrule", r"\end{tabular}"]
    if note:
        parts.append(rf"\par\smallskip{{\footnotesize {note.replace('%', chr(92) + '%')}}}")
    return "\n".join(parts) + "\n"


def _write_text(lines: Sequence[Sequence[str]], numbers: Sequence[bool], note: str) -> str:
    """Write columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows: Iterable[list[str]] = (
        [
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(line, widths, numbers, strict=True)
        ]
        for line in lines
    )
    table = "".join("  ".join(row).rstrip() + "\n" for row in rows)
    return f"{table}\n{note}\n" if note else table


_STYLES: Mapping[str, _Style] = {
    "markdown": _Style(_escape_markdown, ("**", "**"), "†", _write_markdown),
    "latex": _Style(_escape_latex, (r"\textbf{", "}"), r"$^\dagger$", _write_latex),
    "text": _Style(_one_line, ("**", "**"), "†", _write_text),
}
