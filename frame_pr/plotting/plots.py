"""Plots of precision-recall, ROC, gain and threshold curves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.kinds import Frame, backend_class, read_stream
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import Request, request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.plotting.appearance import ColourArguments

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from frame_pr.plotting.options import PlotOptions

# `plot` and `plot_curve` return `Axes | Any`: with a union, every typed caller would have to test for a Figure.


class CurveArguments(ColourArguments, total=False):
    """The options of `plot` and `plot_curve`; their docstrings describe each."""

    x: str
    y: str | Sequence[str]
    facet: bool | str | Sequence[str]
    average: bool | str | Sequence[str]
    rectangles: bool
    interpolated: bool
    points: int | None
    k: int | None
    threshold: float | Sequence[float] | None
    recall: float | Sequence[float] | None
    mark: str | Sequence[str] | None
    iso_f: bool | Sequence[float]
    beta: float
    threshold_labels: int
    baseline: bool
    label: str | None
    spread: Literal["quartiles", "interval", "groups"] | None
    highlight: int | str | Sequence[Any] | None
    backend: Literal["matplotlib", "altair"]
    xscale: Literal["linear", "log", "logit"] | None
    yscale: Literal["linear", "log", "logit"] | None


class LineArguments(TypedDict, total=False):
    """The properties of lines that type checkers know; at run time, every property of Line2D is one."""

    alpha: float | None
    c: Any
    color: Any
    drawstyle: str
    linestyle: Any
    linewidth: float | None
    ls: Any
    lw: float | None
    marker: Any
    markersize: float
    zorder: float


class PlotCurveArguments(CurveArguments, LineArguments, total=False):
    """The keyword arguments of `plot_curve`."""


class PlotArguments(CurveArguments, LineArguments, Policies, total=False):
    """The keyword arguments of `plot`."""


@public(REFUSED["plot"], others=True)
def plot(
    frame: Frame,
    /,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    **options: Unpack[PlotArguments],
) -> Axes | Any:
    """Draw precision-recall curves, one per group, with average precision and positives in the legend.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows. The frame is not changed. Of a LazyFrame, only the curve is collected.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Higher scores rank first, unless `ascending`. Several scores give a curve each.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    labels : dict, optional
        What to write in place of names: of systems, groups, key columns, metrics and words of the legend, such as
        `{'s1': 'Baseline', 'recall': 'Sensitivity'}`.
    order : list, "value" or "frame"; optional
        Names of systems and groups in their order; others follow. Or "value", the largest first, or "frame", the order
        of the frame. Default: "frame".
    decimals : int, optional
        Decimals of the numbers in the legend, and of percentages. Default 2.
    max_groups : int, optional
        Maximum number of groups in the plot. Default: 10 curves, 48 panels.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.
    figure : matplotlib Figure or SubFigure, optional
        The figure to draw in, instead of `ax`. Without both, a new figure.
    colors : dict, optional
        Colours by name: of systems; without several systems, of groups. A dict may have other names, too, but one of
        its names must be in the plot.
    legend : bool
        Whether to draw the legend. Default True.
    x : str
        What the x axis shows: a rate of `confusion` between 0 and 1, such as "fpr"; "threshold", "k", or "share" (k
        over all rows). Default "recall".
    y : str or list of str
        What the y axis shows: a rate, "lift" (precision over prevalence), "cost10" (a missed positive costs 10) or,
        with `x="threshold"`, "net_benefit"; several give a curve each, in a colour each. Default "precision". ROC is
        `x="fpr", y="recall"`, DET `x="fpr", y="fnr"`, gain `x="share", y="recall"`. Options about areas, such as
        `rectangles`, need precision against recall.
    facet : bool, str or list of str
        Draw small multiples with shared axes, one for each group of these key columns; True: of all keys but `system`.
        Two keys make rows and columns. The values of marks are above the panel.
    average : bool, str or list of str
        Average the curves over these key columns: the mean precision of the groups at each recall. Its area is the mean
        of their average precisions, and `spread` shows how they differ. True: all keys but `system`. With `facet`, name
        other keys here. With `x="k"`, the mean of y at each rank.
    rectangles : bool
        Fill the rectangle under each step: their area is the average precision in the legend. Points mark the
        thresholds. Default False.
    interpolated : bool
        Add the envelope, the max precision at this or any later threshold, and shade what it adds. `rectangles` then
        fill the area of the interpolated average precision. Default False.
    points : int, optional
        11 or 101: mark the recall levels of the average over as many points. Implies `interpolated`.
    k : int, optional
        Emphasise the curve up to this rank, with AP@k in the legend.
    threshold : float or list of float, optional
        Mark the operating points at these thresholds.
    recall : float or list of float, optional
        Mark the operating points at which these recalls are reached.
    mark : str or list of str, optional
        Mark the best point, with its value and threshold in the legend: "max_f1", "max_mcc", "min_cost10" and so on.
    iso_f : bool or list of float
        Contours of equal F; True: 0.2, 0.4, 0.6 and 0.8.
    beta : float
        The beta of these contours. Default 1.
    threshold_labels : int
        Write at most so many thresholds along the curve. Default 0.
    baseline : bool
        Draw the prevalence, the mean precision of random rankings at any rank, as a faint line, and as a band where
        groups have many. On other axes, a random ranking, or what it costs to treat all and to treat none. Default
        True.
    label : str, optional
        The name of the curve, if it is one curve.
    spread : "quartiles", "interval", "groups" or None
        Around an average: the middle half of the groups (the default of one y), the interval of their mean (see
        `average_curve`), or the single groups. For three averages and more, the edges of the first two.
    highlight : int, str or list, optional
        Names of curves, or how many of the best and of the worst: these have colours and names, all others are thin and
        grey, and there may be 200 of them.
    backend : "matplotlib" or "altair"
        What draws: with "altair", an interactive chart that shows thresholds under the pointer, of at most 5,000 points
        for each curve, and whose legend selects. Default "matplotlib".
    xscale : "linear", "log" or "logit", optional
        Scale of the x axis. Default "linear", for a thousand ranks and more "log".
    yscale : "linear", "log" or "logit", optional
        Scale of the y axis. Default "linear"; for precision "log" if positives are rare (prevalence below 1 %) and all
        average precisions below 0.1.
    **options
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`; with `k`,
        `weight=` and `prevalence=`. All others are properties of the lines: `color`, `linewidth`, `linestyle`, `alpha`
        and so on.

    Returns
    -------
    matplotlib Axes
        With `facet`, the Figure.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    ValueError, TypeError
        An argument is wrong; there are more groups than can be told apart; a column is missing, given twice, of the
        wrong type, or has missing values.

    See Also
    --------
    plot_curve, curve, average_curve, plot_scores, plot_intervals

    Notes
    -----
    Drawn in steps, as average precision sums them: a line slanted from point to point would promise precision that no
    threshold has. No point (recall 0, precision 1) is invented. A group without positives is named in the legend. The
    ROC curve is drawn in straight lines, from (0, 0) to (1, 1), as its area has a tie count as half.

    Colours stand for systems and strokes for groups; without several of both, colours stand for what there is. The
    legend has the values of marks. If it covers a curve, it stands to the right of the axes, and a new figure becomes
    wider. Axes of the caller (`ax=`) keep their size: their legend stays inside, in smaller letters if necessary, and
    leaves them to the right only if it is larger than the axes. In panels, the numbers stand above the panel. Where a
    later curve hides an earlier one, the earlier one is drawn wider, so that both are visible. The returned object is
    matplotlib's: use `set_title`, `set_xlim`, `set_yscale` and style sheets for everything else.

    A line of more than 16,384 thresholds is drawn without those that no pixel shows. If an area has more than 2048
    steps, its narrow steps are merged into steps of the same area.

    References
    ----------
    Davis and Goadrich (2006). The relationship between precision-recall and ROC curves. ICML, 233-240.
    https://doi.org/10.1145/1143844.1143874

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> ax = fp.plot(run, "relevant", "score", ax=Figure().subplots())
    >>> ax.get_legend().get_texts()[0].get_text()
    'score (AP = 0.92, P = 3)'
    """
    # Loaded when something is drawn: a third of the import of this package.
    from frame_pr.plotting.curve_data import rank_curves
    from frame_pr.plotting.draw import draw

    # An Arrow stream gives its rows once, and they are needed for the checks and for the curve.
    frame = read_stream(frame)
    policies: Any = {name: value for name, value in options.items() if name in Policies.__annotations__}
    others = {name: value for name, value in options.items() if name not in policies}
    parsed = _parse("plot", others, ["truth", "score", "by", "positive", *Policies.__annotations__], positive)
    request = request_of(truth, score, by, positive, policies)
    _refuse_early(frame, request, parsed)
    if not request.several:
        (column,) = request.scores
        name = column.meta.output_name(raise_if_undetermined=False) if isinstance(column, pl.Expr) else column
        parsed = replace(parsed, score=str(name or ""))
    return draw(rank_curves(frame, request, parsed), parsed)


@public(others=True)
def plot_curve(frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame, **options: Unpack[PlotCurveArguments]) -> Axes | Any:
    """Draw the result of `curve`, as `plot` does for scored rows.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What `curve` gave; its columns before `threshold` are the keys of the groups. Never changed.
    **options
        The options of `plot` from `x` to `figure`. All others are properties of the lines: `color`, `linewidth`,
        `linestyle`, `alpha` and so on.

    Returns
    -------
    matplotlib Axes
        With `facet`, the Figure.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    ValueError, TypeError
        An argument is wrong; there are more groups than can be told apart; the frame lacks a column of `curve`.

    See Also
    --------
    plot, curve

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> ax = fp.plot_curve(
    ...     fp.curve(run, "relevant", "score"), ax=Figure().subplots(), label="run 1"
    ... )
    >>> ax.get_legend().get_texts()[0].get_text()
    'run 1 (AP = 0.92, P = 3)'
    """
    # Loaded when something is drawn: a third of the import of this package.
    from frame_pr.plotting.curve_data import read_curves
    from frame_pr.plotting.draw import draw

    parsed = _parse("plot_curve", options)
    return draw(read_curves(frame, parsed), parsed)


if plot.__doc__ and plot_curve.__doc__:  # `python -OO` removes docstrings
    _described = re.search(r"^ *x : str\n.*?(?=^ *\*\*options$)", plot.__doc__, re.DOTALL | re.MULTILINE)
    plot_curve.__doc__ = re.sub(
        r"^(?= *\*\*options$)", _described[0] if _described else "", plot_curve.__doc__, flags=re.MULTILINE
    )


def _parse(
    function: str, options: Mapping[str, Any], others: Sequence[str] = (), positive: object = None
) -> PlotOptions:
    from frame_pr.plotting.appearance import need_matplotlib

    need_matplotlib()
    from frame_pr.plotting.altair_charts import check_backend
    from frame_pr.plotting.options import options_of

    parsed = options_of(function, options, list(CurveArguments.__annotations__), others, positive)
    check_backend(parsed.backend, parsed)
    return parsed


def _refuse_early(frame: Any, request: Request, options: PlotOptions) -> None:
    """Refuse what cannot be drawn before rows are ranked: too many groups, and thresholds beyond all scores.

    The rows of a LazyFrame are not known yet; of these, only the names of keys are.
    """
    from frame_pr.plotting.draw import layout_of, refuse_thresholds
    from frame_pr.plotting.options import keys_of

    if all(isinstance(column, str) for column in [*request.keys, *request.scores]):
        keys = [*map(str, request.keys), *(["system"] if request.several else [])]
        for name in ("facet", "average"):
            keys_of(name, getattr(options, name), keys)
    if (
        backend_class(frame)
        or isinstance(frame, pl.LazyFrame)
        or not (request.keys or request.several or options.thresholds)
    ):
        return
    rows, output = rows_of(frame, request)
    groups = output.restore(rows.frame.select(pl.col("group").unique())).collect()
    layout_of(groups.select(output.keys), options)
    if options.thresholds:
        scores = rows.frame.select(pl.col("score").min() if request.ascending else pl.col("score").max()).collect()
        refuse_thresholds(options, scores.to_series(), ascending=request.ascending)
