"""`plot`: its arguments. The modules that draw are imported when it is called."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Unpack

from frame_pr.frames.arguments import check_flag, public_result
from frame_pr.frames.kinds import Frame
from frame_pr.inputs.options import REFUSED, Column, Columns, LabelOptions, options_in
from frame_pr.plotting import draw
from frame_pr.plotting.draw import Style, StyleArguments

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PlotArguments(StyleArguments, LabelOptions, total=False):
    """More arguments of `plot`. At run time, properties of matplotlib's Line2D are more of them."""

    baseline: bool
    alpha: float | None
    color: Any
    linestyle: Any
    linewidth: float | None
    marker: Any
    markersize: float


@public_result(REFUSED["plot"], options=PlotArguments, others=True)
def plot(
    frame: Frame,
    /,
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    mean_over: bool | str | Sequence[str] = False,
    positive: object = None,
    x: str = "recall",
    y: str | Sequence[str] = "precision",
    facet: bool | str | Sequence[str] = False,
    interval: bool = False,
    interpolated: bool = False,
    rectangles: bool = False,
    mark: float | str | Sequence[float | str] | None = None,
    highlight: int | str | Sequence[Any] | None = None,
    **options: Unpack[PlotArguments],
) -> Axes | Any:
    """Draw precision-recall curves, or ROC, gain, lift, cost and threshold curves: one per group.

    Draw scored rows, or without `truth` and `score` a frame that `curve` gave.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, or the result of `curve`. The frame is not changed.
    truth : str or polars expression, optional
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several; optional
        Score of each row. Higher scores rank first, unless `ascending`. Several scores give one
        curve each.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Each group has its own curve.
    positive : optional
        The positive label of `truth`.
    x : str
        Quantity on the x axis: a rate such as "recall" (the default) or "fpr", or "threshold", "k"
        or "share" (of the rows). `x="fpr", y="recall"` is the ROC curve, `x="share", y="recall"`
        the gain curve.
    y : str or list of str
        Quantity on the y axis: a rate such as "precision" (the default), "lift" or "cost10" (a
        missed positive costs as much as 10 false alarms), or with `x="threshold"` "net_benefit".
        Several quantities give one curve each.
    facet : bool, str or list of str
        Draw a panel for each group of these key columns. True: of all keys but `system`.
    mean_over : bool, str or list of str
        Columns whose groups, such as queries or folds, have curves that are averaged, see
        `average_curve`. `by` need not repeat them. True: all keys but `system`. The band is the
        95 % confidence interval of the mean. Fewer than ten groups have their own thin curves
        instead, and the legend has the standard deviation of their areas.
    interval : bool
        Add the 95 % bootstrap interval of the precision at each recall, around at most four
        curves. See `average_curve`. It takes about 13 s for 100,000 different scores. Round the
        scores of more rows to three decimals: a million rows then take 2 s.
    interpolated : bool
        Add the envelope: the maximum precision at this or any later threshold.
    rectangles : bool
        Fill the rectangle under each step. The total area is the average precision. In up to
        twelve rectangles stand their heights tp/k, and above the axes is their sum.
    mark : float, str, or several
        Mark points: a threshold such as 0.5, a cutoff such as "recall=0.8", "precision=0.9" or
        "k=10", or a best value such as "max_f1" or "min_cost10". Up to four marks have their
        threshold next to them.
    highlight : int, str or list, optional
        Names of curves, or how many of the best and of the worst, in colour. All others are thin
        and grey.
    baseline : bool
        Draw the value of a random ranking, such as the prevalence, as a dotted line. Default True.
    colors : dict, optional
        Colours by the name of a system, or of a group. Other colours follow the order of the keys.
    labels : dict, optional
        Labels by name: of systems, groups, key columns and rates, and of the words "prevalence",
        "random ranking", "confidence interval", "mean", "no positives" and "alert on all rows".
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in; with `facet`, one for each panel. Default: a new figure.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `ties="expected"`. All other keywords are properties of the lines, such as
        `color`, `linewidth`, `linestyle` and `alpha`.

    Returns
    -------
    matplotlib Axes
        With `facet`, a numpy array with the axes of each panel.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    ValueError, TypeError
        An argument is wrong, there are too many groups, or a column is missing, of the wrong type,
        or has missing values.

    See Also
    --------
    curve, average_curve, plot_scores, plot_intervals

    Notes
    -----
    The precision-recall curve consists of steps, because average precision is a sum over steps, and
    it does not begin at recall 0 and precision 1. The legend has the area (`AP` or `AUC`) and P,
    the number of positives. A frame of `curve` may lack thresholds, so its plot has no area. Groups
    without positives have no curve. Three and more curves have line styles as well as colours.
    Limits, titles and scales are methods of the axes that come back, and
    `ax.get_legend().set_loc("upper right")` moves the legend.

    References
    ----------
    Davis and Goadrich (2006). The relationship between precision-recall and ROC curves. ICML,
    233-240. https://doi.org/10.1145/1143844.1143874

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> ax = fp.plot(run, "relevant", "score", ax=Figure().subplots())
    >>> ax.get_legend().get_texts()[0].get_text()
    'score (AP = 0.92, 3 positives)'
    """
    # Only programs that draw need these modules, 3 of 43 ms of an import of frame_pr.
    from frame_pr.plotting import curve_data, curve_plots

    draw.import_matplotlib()
    label = ""
    if positive is not None:
        label = draw.shorten(draw.value_text(positive), 20)
    of_rows = options_in(options)
    line = curve_plots.line_properties(options, signature(plot).parameters)
    panel_keys = curve_data.read_keys("facet", facet)
    chart = curve_data.Chart(
        x=curve_data.read_quantity("x", x),
        ys=curve_data.read_quantities("y", y),
        facet=panel_keys,
        mean_over=curve_data.read_keys("mean_over", mean_over),
        highlight=curve_data.read_highlight(highlight),
        marks=curve_data.read_marks(mark),
        score=curve_data.score_name(score),
        style=Style.of(options, panels=bool(panel_keys)),
        interval=check_flag("interval", interval),
        interpolated=check_flag("interpolated", interpolated),
        rectangles=check_flag("rectangles", rectangles),
        baseline=check_flag("baseline", options.get("baseline", True)),
        line=line,
        positive=label,
        noun=curve_plots.noun(of_rows),
    )
    chart.refuse_combinations()
    rows = curve_data.ScoredRows(
        frame,
        truth,
        score,
        by,
        positive,
        of_rows,
    )
    return curve_plots.draw_rows(rows, chart)
