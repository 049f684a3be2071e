"""`.pr` on frames, and `partitioned`, the `.pr` of parts on disk: every method is a public function."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import wraps
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

import polars as pl

from frame_pr.expressions.namespace import ExprPR
from frame_pr.frames.arguments import check_flag, check_whole, is_whole, path_of, public, scalar
from frame_pr.frames.dispatch import (
    Backend,
    backend_class,
    is_stream,
    path_advice,
    read_stream,
    register_backend,
)
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import answers, did_you_mean, kind_of_value, nearest, shown
from frame_pr.metrics.names import example_names, meant_names, metric_hint

if TYPE_CHECKING:
    from frame_pr.functions import confusion as matrices
    from frame_pr.functions import curves, evaluation, single_metrics, tallies
    from frame_pr.plotting import confusion_plots, curve_plots, interval_plots, score_plots
    from frame_pr.statistics import average_curves, comparisons, intervals, reports
    from frame_pr.tables import classes, judgments, lists
else:

    class _Module:
        """A module of public functions that is imported when one of them is called first. Checkers see the module."""

        def __init__(self, name):
            self._name = name

        def __getattr__(self, function):
            return self._name, function

    def _modules(folder, names):
        return [_Module(f"{folder}.{name}") for name in names.split()]

    matrices, curves, evaluation, single_metrics, tallies = _modules(
        "functions", "confusion curves evaluation single_metrics tallies"
    )
    confusion_plots, curve_plots, interval_plots, score_plots = _modules(
        "plotting", "confusion_plots curve_plots interval_plots score_plots"
    )
    average_curves, comparisons, intervals, reports = _modules(
        "statistics", "average_curves comparisons intervals reports"
    )
    classes, judgments, lists = _modules("tables", "classes judgments lists")

_MOST_PARTITIONS = 10_000
"""The most parts. Each of them takes a file and about 20 ms."""
_LEAST_BUDGET = 2**20
"""Bytes. A number meant as gibibytes is far below it, and would give as many files as there are rows."""
P = ParamSpec("P")
Result = TypeVar("Result")


class Stream(Protocol):
    """What type checkers need to know of a stream of Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the stream as a capsule of Arrow's C interface."""


# The subjects of the methods, in the words of docs/reference.md.
_ANY = "Any metrics, and reports"
_UNCERTAINTY = "Confidence intervals and tests"
_AVERAGE_PRECISION = "Average precision"
_CUTOFFS = "Metrics at a cutoff, threshold or recall"
_RANKING = "Other ranking metrics"
_CURVES = "Curves and plots"
_PARTS = "Out-of-core and mergeable computation"
_RESHAPING = "Reshape lists and class columns"
_SEARCH = "Search runs and relevance judgments"


FUNCTIONS = {
    "metrics": "functions.metric_list",
    "partitioned": "accessors",
    "read_trec_qrels": "tables.trec",
    "read_trec_run": "tables.trec",
    "show_versions": "frames.environment",
}
"""The modules of the public functions by name: those that are no methods of `.pr`, and `_method` adds the others."""


def load(name: str) -> Any:
    """Import a public function."""
    return getattr(import_module(f"frame_pr.{FUNCTIONS[name]}"), name)


if TYPE_CHECKING:

    def _method(
        subject: str, function: Callable[Concatenate[Frame, P], Result]
    ) -> Callable[Concatenate[PR[Frame], P], Result]: ...

else:

    class _method:
        """A method of `.pr` that calls a public function with the frame. The function is imported on first use."""

        def __init__(self, subject, function):
            module, self.name = function
            self.subject = subject
            FUNCTIONS[self.name] = module

        def __get__(self, accessor, owner):
            function, subject = load(self.name), self.subject

            @wraps(function)
            def method(self, /, *args, **kwargs):
                return function(self._frame, *args, **kwargs)

            method.subject = subject
            setattr(PR, self.name, method)
            return method if accessor is None else method.__get__(accessor, owner)


class PR(Generic[Frame]):
    """Give frames their `.pr`: each method is the function of the same name, with the frame filled in.

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

    def __init__(self, frame: Frame) -> None:
        self._frame: Frame = read_stream(frame)

    evaluate = _method(_ANY, evaluation.evaluate)
    with_metrics = _method(_ANY, evaluation.with_metrics)
    report = _method(_ANY, reports.report)
    format_table = _method(_ANY, reports.format_table)
    intervals = _method(_UNCERTAINTY, intervals.intervals)
    compare = _method(_UNCERTAINTY, comparisons.compare)
    average_curve = _method(_UNCERTAINTY, average_curves.average_curve)
    average_precision = _method(_AVERAGE_PRECISION, single_metrics.average_precision)
    interpolated_average_precision = _method(
        _AVERAGE_PRECISION, single_metrics.interpolated_average_precision
    )
    average_precision_at_k = _method(_AVERAGE_PRECISION, single_metrics.average_precision_at_k)
    precision_at_k = _method(_CUTOFFS, single_metrics.precision_at_k)
    recall_at_k = _method(_CUTOFFS, single_metrics.recall_at_k)
    f_beta = _method(_CUTOFFS, single_metrics.f_beta)
    confusion = _method(_CUTOFFS, matrices.confusion)
    confusion_matrix = _method(_CUTOFFS, matrices.confusion_matrix)
    gains_table = _method(_CUTOFFS, curves.gains_table)
    roc_auc = _method(_RANKING, single_metrics.roc_auc)
    ndcg = _method(_RANKING, single_metrics.ndcg)
    curve = _method(_CURVES, curves.curve)
    with_curve = _method(_CURVES, curves.with_curve)
    plot = _method(_CURVES, curve_plots.plot)
    plot_intervals = _method(_CURVES, interval_plots.plot_intervals)
    plot_comparison = _method(_CURVES, interval_plots.plot_comparison)
    plot_gains = _method(_CURVES, score_plots.plot_gains)
    plot_scores = _method(_CURVES, score_plots.plot_scores)
    plot_confusion = _method(_CURVES, confusion_plots.plot_confusion)
    tally = _method(_PARTS, tallies.tally)
    explode_lists = _method(_RESHAPING, lists.explode_lists)
    unpivot_classes = _method(_RESHAPING, classes.unpivot_classes)
    join_judgments = _method(_SEARCH, judgments.join_judgments)

    def __repr__(self) -> str:
        title = f".pr of {self._kind()}"
        if backend := backend_class(self._frame):
            return f"{title}, with {backend.functions}"
        return (
            f"{title}; help(frame.pr.evaluate) has arguments and examples\n{methods_by_subject()}"
        )

    def _repr_html_(self) -> str:
        """Return the methods and their first sentences, which a notebook shows."""
        from html import escape  # Takes 2 ms, which only a notebook needs.

        if backend_class(self._frame):
            return f"<p>{escape(repr(self))}</p>"
        page = f"<p><code>.pr</code> of {self._kind()}</p>"
        for subject, names in methods().items():
            sentences = (
                (getattr(PR, name).__doc__ or "").partition("\n")[0].replace("`", "")
                for name in names
            )
            items = (
                f"<li><code>{n}</code>: {escape(text)}</li>"
                for n, text in zip(names, sentences, strict=True)
            )
            page += f"<p>{escape(subject)}</p><ul>{''.join(items)}</ul>"
        return page

    def _kind(self) -> str:
        backend = backend_class(self._frame)
        return f"a {backend.name}" if backend else kind_of_value(self._frame)

    if not TYPE_CHECKING:  # With it, type checkers would accept every name.

        def __getattr__(self, name: str) -> Any:
            # Copying and unpickling ask for special methods before there is a frame.
            if not name.startswith("_") and (backend := backend_class(self._frame)):
                raise AttributeError(
                    f".pr of a {backend.name} has no {shown(name)}, it has {backend.functions}"
                )
            if name in FUNCTIONS:
                raise AttributeError(
                    f".pr has no {shown(name)}: it is a function, frame_pr.{name}(...)"
                )
            raise AttributeError(missing_name(".pr has no", name))


def missing_name(finding: str, name: str) -> str:
    """Return the error for a name that `.pr` or the module lacks, with what to call instead."""
    text, names = f"{finding} {shown(name)}", list(FUNCTIONS)
    if name.startswith("_"):
        return text
    if calls := [answer for answer in answers(name) if "(" in answer and answer[-1] == ")"]:
        return f"{text}; {calls[0]} does that"
    if near := nearest(name, names, cutoff=0.9):
        return f"{text}; {did_you_mean(near[:2])}"
    if computed := [example for meant in meant_names(name) for example in example_names(meant)]:
        return f"{text}; evaluate({computed[0]!r}, ...) computes it"
    if near := nearest(name, names, cutoff=0.8):
        return f"{text}; {did_you_mean(near[:2])}"
    return f"{text}; {metric_hint(name) or 'print(frame.pr) lists the methods'}"


def methods() -> dict[str, list[str]]:
    """Return the names of the methods of `.pr` by subject."""
    by_subject: dict[str, list[str]] = {}
    for name, method in vars(PR).items():
        if subject := getattr(method, "subject", None):
            by_subject.setdefault(subject, []).append(name)
    return by_subject


def methods_by_subject() -> str:
    """Return the names of the methods of `.pr`, a line for each subject."""
    lines = (f"{subject}: {', '.join(names)}" for subject, names in methods().items())
    return "\n".join(
        fill(line, 88, initial_indent="  ", subsequent_indent="    ") for line in lines
    )


def register_frames(backend: type[Backend[Any]]) -> None:
    """Register the frames of a backend with the functions, and `.pr` on them."""
    register_backend(backend)
    backend.frame_type.pr = property(PR)


def register() -> None:
    """Register `.pr` on polars frames, and on pandas frames as soon as pandas is imported."""
    for frame, decorator, namespace in (
        (pl.DataFrame, pl.api.register_dataframe_namespace, PR),
        (pl.LazyFrame, pl.api.register_lazyframe_namespace, PR),
        (pl.Expr, pl.api.register_expr_namespace, ExprPR),
    ):
        _remove_accessor(frame)
        decorator("pr")(namespace)
    # The hook of an earlier import of frame_pr goes. Before the look at pandas: a thread may begin
    # to import it now.
    hooks = [finder for finder in sys.meta_path if type(finder).__name__ != PandasHook.__name__]
    sys.meta_path[:] = [PandasHook(), *hooks]
    register_pandas()


class PandasHook(MetaPathFinder):
    """Register `.pr` on pandas frames while pandas imports its last submodules. The hook finds no module itself."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Register, and leave the search to the other finders."""
        if name.startswith("pandas."):
            register_pandas()


def register_pandas() -> None:
    """Register `.pr` on pandas frames if pandas is imported so far."""
    pandas: Any = sys.modules.get("pandas")
    extensions: Any = getattr(getattr(pandas, "api", None), "extensions", None)
    is_ready = hasattr(extensions, "register_dataframe_accessor") and hasattr(pandas, "DataFrame")
    if is_ready and getattr(pandas.DataFrame, "pr", None) is not PR:
        _remove_accessor(pandas.DataFrame)
        extensions.register_dataframe_accessor("pr")(PR)


def _remove_accessor(frame: Any) -> None:
    """Remove the `.pr` of an earlier import of frame_pr: polars and pandas warn if an accessor is replaced."""
    if getattr(getattr(frame, "pr", None), "__module__", "").startswith("frame_pr."):
        del frame.pr


@public()
def partitioned(
    frame: pl.LazyFrame | pl.DataFrame | Stream,
    *,
    memory_budget: str | int = "4GiB",
    partitions: int | None = None,
    directory: str | Path | None = None,
    progress: bool = True,
) -> PR[pl.DataFrame]:
    """Compute metrics of a frame that is larger than memory.

    The rows are written to a temporary directory in parts, each with whole groups, and the
    functions run on one part after the other. If a group is too large for a part, or if there are
    no groups, the rows are divided into ranges of scores. Each range continues the ranking of the
    range above it. The values are those of the call in memory. If a group is divided into ranges,
    sums of fractions may differ in the last bits.

    Parameters
    ----------
    frame : polars LazyFrame or DataFrame, stream of Arrow
        Scored rows, such as `polars.scan_parquet` of many files. A stream, such as a
        `RecordBatchReader`, what an ADBC cursor fetches or a DuckDB relation, is written to the
        directory of the parts, batch by batch and only the columns that the call reads. A reader
        can be read only once, so it serves a single call.
    memory_budget : str or int
        Approximate limit of memory: "4GiB", "500MB", or a number of bytes, at least 1 MiB. It
        determines the number of parts.
    partitions : int, optional
        Number of parts, in place of `memory_budget`: at most 10,000, because each part needs a file
        and about 20 ms.
    directory : path, optional
        Directory for the parts. They are written into a new directory in it,
        `frame_pr-<process>-...`, which is removed at the end, also after an error or Ctrl-C.
        SIGTERM and SIGKILL leave it, and the next call of the same user with this directory removes
        it. Default: the temporary directory of the system.
    progress : bool
        Whether to print the number of parts, the disk space that they may need, and the part that
        is computed, to standard error.

    Returns
    -------
    PR
        The metrics as methods: `evaluate`, `report`, `tally` and each single metric; the other
        methods of `PR` refuse. A call runs at once and gives a polars DataFrame, sorted by the
        groups.

    Raises
    ------
    ValueError, TypeError
        memory_budget is no size, or below 1 MiB; partitions is below 1 or above 10,000; a column of
        the call has a name that parts need; the source has other rows when it is read again; and
        the errors of the call in memory.
    OSError
        The directory cannot be written to, its disk is full, a part is larger than a file may be,
        or a file of the frame ends early.

    See Also
    --------
    tally, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.LazyFrame(
    ...     {"query": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]}
    ... )
    >>> parts = fp.partitioned(run, partitions=2, progress=False)
    >>> parts.average_precision("relevant", "score", by="query").rows()
    [(1, 1.0), (2, 0.5)]
    """
    if not (isinstance(frame, (pl.LazyFrame, pl.DataFrame)) or is_stream(frame)):
        is_pandas = type(frame).__module__.startswith("pandas")
        advice = ": a pandas frame is in memory already" if is_pandas else path_advice(frame)
        raise TypeError(
            "partitioned takes a polars LazyFrame or DataFrame, or a stream of Arrow, as its frame, got "
            f"{shown(frame)}{advice}"
        )
    number = None if partitions is None else check_whole("partitions", partitions, least=1)
    if number is not None and number > _MOST_PARTITIONS:
        raise ValueError(
            f"partitions={number}: each part takes a file and about 20 ms; give at most {_MOST_PARTITIONS}"
        )
    folder = None if directory is None else Path(path_of("directory", directory)).expanduser()
    options = _parse_bytes(memory_budget), number, folder, check_flag("progress", progress)
    from frame_pr.parts.disk import DiskFrame

    parts: Any = DiskFrame.of(frame, *options)
    return PR(parts)


def _parse_bytes(size: str | int) -> int:
    """Return a size such as "4GiB", or a number of bytes, as a number of bytes."""
    text = f"{size}B" if is_whole(scalar(size)) else str(size)
    match = re.fullmatch(
        r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?)(i?)B\s*", text, re.IGNORECASE | re.ASCII
    )
    if match is None:
        raise ValueError(
            f"memory_budget must be a size such as '4GiB' or '500MB', or a number of bytes, got {shown(size)}"
        )
    power = " KMGT".index(match[2].upper() or " ")
    number = int(Decimal(match[1]) * (1024 if match[3] else 1000) ** power)
    if not _LEAST_BUDGET <= number < 2**62:
        raise ValueError(
            f"memory_budget={shown(size)} must be at least 1MiB and below 2**62 bytes: 4 GiB are '4GiB'"
        )
    return number
