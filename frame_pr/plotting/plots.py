"""The functions of plots: their arguments, and their help.

The modules that draw are imported when a plot is drawn. Most programs draw none, and an import of
frame_pr would take 42 ms in place of 37.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from frame_pr.frames.arguments import check_flag, public_result
from frame_pr.frames.kinds import Frame
from frame_pr.inputs.options import REFUSED, Column, Columns, LabelOptions, Options, options_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class StyleArguments(TypedDict, total=False):
    """The arguments of all plots."""

    colors: Mapping[Any, Any] | None
    labels: Mapping[Any, str] | None
    legend: bool
    ax: Any


class PlotArguments(StyleArguments, LabelOptions, total=False):
    """More arguments of `plot`. At run time, properties of matplotlib's Line2D are more of them."""

    baseline: bool
    alpha: float | None
    color: Any
    linestyle: Any
    linewidth: float | None
    marker: Any
    markersize: float


class ScoresArguments(StyleArguments, LabelOptions, total=False):
    """More arguments of `plot_scores`."""


class ConfusionArguments(TypedDict, total=False):
    """More arguments of `plot_confusion`."""

    labels: Mapping[Any, str] | None
    ax: Any


_OPTIONS = {*Options.__annotations__, *StyleArguments.__annotations__, "baseline"}
"""The options of `plot` that are no properties of lines."""


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
    from frame_pr.plotting import curve_data, curve_plots, draw

    draw.import_matplotlib()
    label = ""
    if positive is not None:
        label = draw.shorten(draw.value_text(positive), 20)
    of_rows = options_in(options)
    names = [*signature(plot).parameters, *_OPTIONS]
    others = {name: value for name, value in options.items() if name not in _OPTIONS}
    line = curve_plots.line_properties(others, names)
    panel_keys = curve_data.read_keys("facet", facet)
    chart = curve_data.Chart(
        x=curve_data.read_quantity("x", x),
        ys=curve_data.read_quantities("y", y),
        facet=panel_keys,
        mean_over=curve_data.read_keys("mean_over", mean_over),
        highlight=curve_data.read_highlight(highlight),
        marks=curve_data.read_marks(mark),
        score=curve_data.score_name(score),
        style=draw.Style.of(options, panels=bool(panel_keys)),
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


@public_result(REFUSED["plot_scores"], options=ScoresArguments)
def plot_scores(
    frame: Frame,
    /,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    threshold: float | None = None,
    bins: int = 40,
    **options: Unpack[ScoresArguments],
) -> Axes | Any:
    """Draw histograms of the scores of positives and of negatives: how well a score separates them.

    The shares of each histogram sum to 1. Several scores and groups give one panel each, with one y
    axis.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Several scores give one panel each.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Each group has its own panel.
    positive : optional
        The positive label of `truth`.
    threshold : float, optional
        Draw a line at this score. The legend, or the title of a panel, then has precision, recall
        and false positive rate of the rows that it selects.
    bins : int
        Number of bins of equal width. Default 40. The axis leaves out a few scores far from all
        others. Of positive scores with a long tail, such as amounts, the axis is logarithmic.
    colors : dict, optional
        Colours of "positives" and "negatives".
    labels : dict, optional
        Labels by name: of systems, groups, key columns, "positives" and "negatives".
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in, or one for each panel. Default: a new figure.
    **options
        Options for ties, weights and missing values: see `frame_pr.Options`. Not accepted:
        `ties="expected"`.

    Returns
    -------
    matplotlib Axes
        With several scores or groups, a numpy array with the axes of each panel.

    Raises
    ------
    ValueError, TypeError
        An argument is wrong, or a column is missing, of the wrong type, or has missing values.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    plot, plot_confusion

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> ax = fp.plot_scores(run, "relevant", "score", threshold=0.75, ax=Figure().subplots())
    >>> for text in ax.get_legend().get_texts():
    ...     print(text.get_text())
    positives (3)
    negatives (2)
    threshold 0.75: precision 100 %, recall 67 %, FPR 0 %
    """
    from frame_pr.plotting import score_plots

    return score_plots.draw_scores(frame, truth, score, by, positive, threshold, bins, options)


@public_result(options=StyleArguments)
def plot_gains(
    frame: Frame,
    /,
    *,
    y: Literal["recall", "precision", "lift"] = "recall",
    **options: Unpack[StyleArguments],
) -> Axes | Any:
    """Draw a gains table: a bar for each tenth of the rows, and a cumulative line.

    Several systems and groups give one panel each.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `gains_table`. The frame is not changed.
    y : "recall", "precision" or "lift"
        The share of the positives that the rows contain (capture rate), the share of positives
        among the rows, or the ratio of that share to the prevalence. The dotted line is a random
        ranking.
    colors : dict, optional
        Colours of "bin" and "cumulative".
    labels : dict, optional
        Labels by name: of systems, groups, key columns, "bin" and "cumulative".
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in, or one for each panel. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        With several systems or groups, a numpy array with the axes of each panel.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of `gains_table`, or an argument is wrong.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    gains_table, plot

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame(
    ...     {"fraud": [1, 1, 0, 1, 0, 0, 0, 0], "score": [9, 8, 7, 6, 5, 4, 3, 2]}
    ... )
    >>> ax = fp.plot_gains(
    ...     fp.gains_table(run, "fraud", "score", bins=4), ax=Figure().subplots()
    ... )
    >>> [f"{bar.get_height():.2f}" for bar in ax.patches]  # 2, 1, 0 and 0 of 3
    ['0.67', '0.33', '0.00', '0.00']
    """
    from frame_pr.plotting import score_plots

    return score_plots.draw_gains(frame, y, options)


@public_result(options=StyleArguments)
def plot_intervals(
    frame: Frame,
    /,
    *,
    metric: str | Sequence[str] | None = None,
    x: str | None = None,
    facet: str | None = None,
    **options: Unpack[StyleArguments],
) -> Axes | Any:
    """Draw the confidence intervals of groups: a forest plot, or a trend over time.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `intervals`, or of `evaluate` by groups, which has no intervals. The frame is
        not changed.
    metric : str or list of str, optional
        The metrics to draw, one panel each. Default: all metrics of the frame.
    x : str, optional
        The key column along the x axis, such as a week. The values of the other keys then have one
        line each. Default: the key column of dates, datetimes or periods, if there is one.
    facet : str, optional
        A key column whose values have a panel each. The frame then has one metric, or `metric=`
        names one.
    colors : dict, optional
        Colours by the name of a system, and over time by the name of a line.
    labels : dict, optional
        Labels by name: of systems, groups, key columns and metrics, and of "confidence interval",
        such as `{"confidence interval": "90 % interval"}`.
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in, or one for each metric. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        With several metrics or `facet`, a numpy array with the axes of each panel. The dotted line
        of each system is the mean of its dots. The number after the name of a group is that of the
        rows or groups behind its value. Slices are blocks with the name of the slice. Over time, a
        line has a gap where times are missing; up to three lines have bands, if they have at most
        60 points.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of `intervals` or `evaluate`, has no key column, or has too many
        groups.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    intervals, evaluate, plot_comparison

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame(
    ...     {
    ...         "q": [1, 1, 1, 1, 2, 2, 2, 2],
    ...         "truth": [1, 0, 1, 0, 1, 1, 0, 0],
    ...         "score": range(8),
    ...     }
    ... )
    >>> table = fp.intervals(run, "average_precision", "truth", "score", by="q")
    >>> ax = fp.plot_intervals(table, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1 (4)', '2 (4)']
    """
    from frame_pr.plotting import interval_plots

    return interval_plots.draw_intervals(frame, metric, x, facet, options)


@public_result(options=StyleArguments)
def plot_comparison(
    frame: Frame, /, *, metric: str | None = None, **options: Unpack[StyleArguments]
) -> Axes:
    """Draw a comparison of systems: intervals of differences, or the difference of each group.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `compare`: a dot and a whisker for each difference. Or that of `evaluate` or
        `intervals` for two systems by groups: a bar for each group, and the mean difference with
        its confidence interval from `compare`. The frame is not changed.
    metric : str, optional
        The metric to draw, if the frame has several.
    colors : dict, optional
        Colours of "better" and "worse".
    labels : dict, optional
        Labels by name: of systems, groups, key columns and metrics, and of "confidence interval",
        such as `{"confidence interval": "90 % interval"}`.
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        The plot. A dot is filled if its adjusted p-value is below 0.05; in a frame without
        p-values, if its interval does not contain 0. One-sided intervals reach the edge.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of these functions, has not two systems by groups, or has several
        metrics and `metric` is missing.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    compare, evaluate, plot_intervals

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> table = pl.DataFrame(
    ...     {"q": [1, 1, 2, 2], "system": ["old", "new"] * 2, "roc_auc": [0.6, 0.8, 0.7, 0.5]}
    ... )
    >>> ax = fp.plot_comparison(table, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['new better: 1', 'new worse: 1']
    """
    from frame_pr.plotting import interval_plots

    return interval_plots.draw_comparison(frame, metric, options)


@public_result(options=ConfusionArguments)
def plot_confusion(frame: Frame, /, **options: Unpack[ConfusionArguments]) -> Axes | Any:
    r"""Draw a confusion matrix, the result of `confusion_matrix` or of `confusion`, as a heat map.

    Rows are labels and columns are predictions. Positives come first, so the matrix is the mirror
    image of that of scikit-learn. Several groups give one panel each.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `confusion_matrix`, or of `confusion` at one cutoff. The frame is not changed.
    labels : dict, optional
        Labels by name: of classes, such as `{"positive": "fraud", "negative": "other"}`, of systems
        and groups.
    ax : matplotlib Axes, optional
        The axes to draw in, or one for each panel. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        The colour of a cell is its share of the rows with this label. Its text is the count and
        this share. With several groups, a numpy array with the axes of each panel.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of these functions, or an argument is wrong.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    confusion_matrix, confusion

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> images = pl.DataFrame(
    ...     {"shown": ["cat", "dog", "dog"], "predicted": ["cat", "cat", "dog"]}
    ... )
    >>> ax = fp.plot_confusion(
    ...     fp.confusion_matrix(images, "shown", "predicted"), ax=Figure().subplots()
    ... )
    >>> [text.get_text() for text in ax.texts]
    ['1\n100 %', '0\n0 %', '1\n50 %', '1\n50 %']
    """
    from frame_pr.plotting import confusion_plots

    return confusion_plots.draw_confusion(frame, options)
