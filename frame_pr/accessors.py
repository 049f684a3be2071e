"""`.pr` on frames: a method is a public function, which gets the frame as first argument."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from frame_pr.frames.dispatch import backend_class, read_stream
from frame_pr.frames.messages import did_you_mean, kind_of_value, nearest, shown
from frame_pr.frames.signatures import Accessor, Frame, Stream
from frame_pr.frames.words import CALLS, meant
from frame_pr.functions import confusion as matrices
from frame_pr.functions import curves, evaluation, single_metrics, tallies
from frame_pr.metrics.names import example_names, meant_names, metric_hint
from frame_pr.plotting import plots
from frame_pr.statistics import average_curves, comparisons, format_tables, reports
from frame_pr.statistics import intervals as interval_estimates
from frame_pr.tables import classes, judgments, lists

if TYPE_CHECKING:
    import pandas as pd

METHODS = {
    "Any metrics": ("evaluate", "with_metrics", "report", "format_table"),
    "Intervals, tests": ("intervals", "compare", "average_curve"),
    "Rankings": (
        "average_precision",
        "interpolated_average_precision",
        "average_precision_at_k",
        "roc_auc",
        "ndcg",
    ),
    "At a cutoff": (
        "precision_at_k",
        "recall_at_k",
        "f_beta",
        "confusion",
        "confusion_matrix",
        "gains_table",
    ),
    "Curves": ("curve", "with_curve"),
    "Plots": (
        "plot",
        "plot_intervals",
        "plot_comparison",
        "plot_gains",
        "plot_scores",
        "plot_confusion",
    ),
    "Large data": ("tally",),
    "Reshape": ("explode_lists", "unpivot_classes", "join_judgments"),
}
"""The methods of `.pr` by task."""
_FUNCTIONS = ("metrics", "partitioned", "read_trec_qrels", "read_trec_run", "show_versions")
"""The public functions that are no methods."""
_WIDTH = 80  # Columns of a terminal.


class PR(Accessor[Frame]):
    """Give frames their `.pr`: a method is the function of that name, with the frame filled in.

    A type checker cannot see `frame.pr`; it can see `PR(frame)`, which is the same.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows. The frame is not changed. Also a Table of pyarrow, or a stream of Arrow, such
        as a DuckDB relation. A stream is read once, at this call.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 0, 1], "score": [0.9, 0.8, 0.7]})
    >>> run.pr.average_precision("relevant", "score").item()  # (1/1 + 2/3) / 2
    0.8333333333333333
    >>> fp.PR(run).average_precision("relevant", "score").item()
    0.8333333333333333
    """

    @overload
    def __init__(self: PR[pl.DataFrame], frame: pl.DataFrame) -> None: ...
    @overload
    def __init__(self: PR[pl.LazyFrame], frame: pl.LazyFrame) -> None: ...
    @overload
    def __init__(self: PR[pd.DataFrame], frame: pd.DataFrame) -> None: ...
    @overload
    def __init__(self, frame: Frame) -> None: ...
    @overload
    def __init__(self: PR[pl.DataFrame], frame: Stream) -> None: ...
    def __init__(self, frame: Any) -> None:
        super().__init__(read_stream(frame))

    evaluate = evaluation.evaluate
    with_metrics = evaluation.with_metrics
    report = reports.report
    format_table = format_tables.format_table
    intervals = interval_estimates.intervals
    compare = comparisons.compare
    average_curve = average_curves.average_curve
    average_precision = single_metrics.average_precision
    interpolated_average_precision = single_metrics.interpolated_average_precision
    average_precision_at_k = single_metrics.average_precision_at_k
    precision_at_k = single_metrics.precision_at_k
    recall_at_k = single_metrics.recall_at_k
    f_beta = single_metrics.f_beta
    confusion = matrices.confusion
    confusion_matrix = matrices.confusion_matrix
    gains_table = curves.gains_table
    roc_auc = single_metrics.roc_auc
    ndcg = single_metrics.ndcg
    curve = curves.curve
    with_curve = curves.with_curve
    plot = plots.plot
    plot_intervals = plots.plot_intervals
    plot_comparison = plots.plot_comparison
    plot_gains = plots.plot_gains
    plot_scores = plots.plot_scores
    plot_confusion = plots.plot_confusion
    tally = tallies.tally
    explode_lists = lists.explode_lists
    unpivot_classes = classes.unpivot_classes
    join_judgments = judgments.join_judgments

    def __repr__(self) -> str:
        title = f".pr of a {self._kind()}"
        if backend := backend_class(self._frame):
            return f"{title}, with {backend.functions}"
        lines = [f"{title}; help(frame.pr.evaluate) has arguments and examples"]
        for task, names in METHODS.items():
            indent = " " * 20
            lines += wrap(
                ", ".join(names), _WIDTH, initial_indent=f"  {task:18}", subsequent_indent=indent
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the methods by task, which a notebook shows."""
        from html import escape  # Takes 2 ms, which only a notebook needs.

        if backend_class(self._frame):
            return f"<p>{escape(repr(self))}</p>"
        rows = (
            f"<tr><th>{task}</th><td>{_linked(names)}</td></tr>" for task, names in METHODS.items()
        )
        help_text = "<code>help(frame.pr.evaluate)</code> has arguments and examples"
        title = f"<code>.pr</code> of a {self._kind()}; {help_text}"
        return "\n".join([f"<table><caption>{title}</caption>", *rows, "</table>"])

    def _kind(self) -> str:
        backend = backend_class(self._frame)
        if backend:
            return backend.name
        return kind_of_value(self._frame).removeprefix("a ")

    if not TYPE_CHECKING:  # With it, type checkers would accept every name.

        def __getattr__(self, name: str) -> Any:
            # Copying and unpickling ask for special methods before there is a frame.
            if not name.startswith("_") and (backend := backend_class(self._frame)):
                raise AttributeError(
                    f".pr of a {backend.name} has no {shown(name)}, it has {backend.functions}"
                )
            if name in _FUNCTIONS:
                raise AttributeError(
                    f".pr has no {shown(name)}: it is a function, frame_pr.{name}(...)"
                )
            raise AttributeError(_missing_name(name))


def _missing_name(name: str) -> str:
    """Return the error for a method that does not exist, with what to call instead."""
    text = f".pr has no {shown(name)}"
    if name.startswith("_"):
        return text
    calls = meant(CALLS, name)
    if calls:
        return f"{text}; {calls[0]} does that"
    methods = [method for names in METHODS.values() for method in names]
    near = nearest(name, methods, cutoff=0.9)
    if near:
        return f"{text}; {did_you_mean(near[:2])}"
    computed = [example for other in meant_names(name) for example in example_names(other)]
    if computed:
        return f"{text}; evaluate({computed[0]!r}, ...) computes it"
    near = nearest(name, methods, cutoff=0.8)
    if near:
        return f"{text}; {did_you_mean(near[:2])}"
    return f"{text}; {metric_hint(name) or 'print(frame.pr) lists the methods'}"


def _linked(names: Sequence[str]) -> str:
    """Return names of methods for HTML, with the first sentence of their help as a tooltip."""
    from html import escape

    spans = []
    for name in names:
        sentence = (getattr(PR, name).__doc__ or "").partition("\n")[0].replace("`", "")
        spans.append(f'<code title="{escape(sentence)}">{name}</code>')
    return ", ".join(spans)
