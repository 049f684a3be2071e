"""`.pr` on polars and pandas frames: every method is a public function with the frame filled in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

import polars as pl

from frame_pr.expressions.namespace import ExprPR
from frame_pr.frames.kinds import Backend, Frame, backend_class, read_stream, register_backend
from frame_pr.frames.messages import kind_of_value, shown
from frame_pr.functions import average_precision as ap
from frame_pr.functions import confusion as matrices
from frame_pr.functions import (
    curves,
    cutoff_metrics,
    evaluation,
    identification,
    rankings,
    tallies,
)
from frame_pr.plotting import class_plots, plots, statistics_plots
from frame_pr.statistics import average_curves, comparisons, intervals, reports
from frame_pr.tables import classes, judgments, lists

P = ParamSpec("P")
Result = TypeVar("Result")


def _method(function: Callable[Concatenate[Frame, P], Result]) -> Callable[Concatenate[PR[Frame], P], Result]:
    @wraps(function)
    def method(self: PR[Frame], /, *args: P.args, **kwargs: P.kwargs) -> Result:
        return function(self._frame, *args, **kwargs)

    return method


class PR(Generic[Frame]):
    """Give frames their `.pr`: each method is the function of the same name, with the frame filled in.

    A type checker cannot see `frame.pr`; it can see `PR(frame)`, which is the same.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed. A Table of pyarrow, too, and a stream of Arrow, such as a DuckDB relation, as every
        function takes them; a stream is read once, when this is made.

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

    def __init__(self, frame: Frame) -> None:
        self._frame: Frame = read_stream(frame)

    average_precision = _method(ap.average_precision)
    interpolated_average_precision = _method(ap.interpolated_average_precision)
    average_precision_at_k = _method(ap.average_precision_at_k)
    precision_at_k = _method(cutoff_metrics.precision_at_k)
    recall_at_k = _method(cutoff_metrics.recall_at_k)
    r_precision = _method(cutoff_metrics.r_precision)
    precision_at_recall = _method(cutoff_metrics.precision_at_recall)
    k_at_recall = _method(cutoff_metrics.k_at_recall)
    f_beta = _method(cutoff_metrics.f_beta)
    roc_auc = _method(rankings.roc_auc)
    reciprocal_rank = _method(rankings.reciprocal_rank)
    success_at_k = _method(rankings.success_at_k)
    ndcg = _method(rankings.ndcg)
    confusion = _method(matrices.confusion)
    confusion_matrix = _method(matrices.confusion_matrix)
    curve = _method(curves.curve)
    with_curve = _method(curves.with_curve)
    evaluate = _method(evaluation.evaluate)
    with_metrics = _method(evaluation.with_metrics)
    report = _method(reports.report)
    intervals = _method(intervals.intervals)
    compare = _method(comparisons.compare)
    average_curve = _method(average_curves.average_curve)
    tally = _method(tallies.tally)
    identify = _method(identification.identify)
    plot = _method(plots.plot)
    plot_scores = _method(class_plots.plot_scores)
    plot_comparison = _method(statistics_plots.plot_comparison)
    join_judgments = _method(judgments.join_judgments)
    explode_lists = _method(lists.explode_lists)
    unpivot_classes = _method(classes.unpivot_classes)

    def __repr__(self) -> str:
        backend = backend_class(self._frame)
        return f".pr of {f'a {backend.name}' if backend else kind_of_value(self._frame)}, with {self._methods()}"

    def _methods(self) -> str:
        backend = backend_class(self._frame)
        return backend.functions if backend else ", ".join(name for name in vars(PR) if not name.startswith("_"))

    if not TYPE_CHECKING:  # else every name would be one

        def __getattr__(self, name: str) -> Any:
            if backend := backend_class(self._frame):
                text = f".pr of a {backend.name} has no {shown(name)}, it has {backend.functions}"
            elif name in sys.modules["frame_pr"].__all__:
                text = f".pr has no {shown(name)}: it is a function, frame_pr.{name}(...)"
            else:
                text = f".pr has no {shown(name)}, it has {self._methods()}"
            raise AttributeError(text, name=name, obj=self)


def register_frames(backend: type[Backend[Any]]) -> None:
    """Make the frames of a backend known to the functions, and `.pr` known to them."""
    register_backend(backend)
    backend.frame_type.pr = property(PR)


def register() -> None:
    """Make `.pr` known to polars and, where it is installed, to pandas."""
    for register_in_polars in (pl.api.register_dataframe_namespace, pl.api.register_lazyframe_namespace):
        register_in_polars("pr")(PR)
    pl.api.register_expr_namespace("pr")(ExprPR)
    try:
        import pandas as pd
    except ImportError:
        return
    pd.api.extensions.register_dataframe_accessor("pr")(PR)
