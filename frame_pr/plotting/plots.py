"""Plots of precision-recall, ROC, gain and threshold curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.kinds import Frame, backend_class, read_stream
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import Request, request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.plotting.appearance import PANELS, need_matplotlib, split_policies, unescape
from frame_pr.plotting.curve_data import Y_KEY, Curves, DrawnCurve, averages_of, drawn_curves, rank_curves, read_curves
from frame_pr.plotting.draw import IN_AXES, draw_axes
from frame_pr.plotting.facets import draw_facets
from frame_pr.plotting.legends import name_of
from frame_pr.plotting.options import CurveArguments, PlotOptions, keys_of, options_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEHIND, _IN_PANEL = 200, 10
"""The most curves in one axes with `highlight=`, and in a panel."""
_MOST_DECIMALS = 6
"""The most decimals that a small area gives to all areas."""

# `plot` returns `Axes | Any`: with a union, every typed caller would have to test for a Figure.


class LineArguments(TypedDict, total=False):
    """The properties of lines for type checkers. At run time, every property of Line2D is accepted."""

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


class PlotArguments(CurveArguments, LineArguments, Policies, total=False):
    """The keyword arguments of `plot`."""


@public(REFUSED["plot"], others=True)
def plot(
    frame: Frame,
    /,
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    positive: object = None,
    **options: Unpack[PlotArguments],
) -> Axes | Any:
    """Draw precision-recall curves, one per group, with average precision and positives in the legend.

    Without `truth` and `score`, the frame is a result of `curve`, whose columns before `threshold` are the keys.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows. The frame is not changed. The curve of a LazyFrame is collected.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores give one curve each.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    labels : dict, optional
        Labels by name: of systems, groups, key columns, metrics and words of the legend, such as `{'s1': 'Baseline',
        'recall': 'Sensitivity'}`.
    order : list, "value" or "frame"; optional
        Names of systems and groups, in the order of the plot; all others follow. "value": the largest value first.
        "frame": as in the frame. Default: "frame".
    decimals : int, optional
        Number of decimals in the legend, and of percentages. Default 2.
    max_groups : int, optional
        Maximum number of groups in the plot. Default: 10 curves, 48 panels.
    ax : matplotlib Axes, optional
        The axes to draw in. Default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        The figure to draw in, instead of `ax`.
    colors : dict, optional
        Colours by name: of systems; without several systems, of groups. Names that the plot does not have are ignored,
        unless it has none of them.
    legend : bool
        Whether to draw the legend. Default True.
    x : str
        Quantity on the x axis: a rate of `confusion` between 0 and 1, such as "fpr", or "threshold", "k" or "share" (k
        over all rows). Default "recall".
    y : str or list of str
        Quantity on the y axis: a rate, "lift" (precision over prevalence), "cost10" (a missed positive costs 10) or,
        with `x="threshold"`, "net_benefit". Several quantities give one curve each. Default "precision". `x="fpr",
        y="recall"` is the ROC curve, `x="fpr", y="fnr"` the DET curve and `x="share", y="recall"` the gain curve.
        Options about areas, such as `rectangles`, need precision against recall.
    facet : bool, str or list of str
        Draw a panel for each group of these key columns, with shared axes. True: of all keys but `system`. Two keys
        make rows and columns. The values of marks are above the panel.
    average : bool, str or list of str
        Average over these key columns: the mean of the groups' precision at each recall. The area under it is the mean
        of their average precisions. True: all keys but `system`. `facet` and `average` name different keys. With
        `x="k"`, the curve is the mean of y at each rank.
    rectangles : bool
        Fill the rectangle under each step. The total area is the average precision in the legend. Points mark the
        thresholds. Default False.
    interpolated : bool
        Add the envelope, which is the max precision at this or any later threshold, and shade what it adds.
        `rectangles` then fill the area of the interpolated average precision. Default False.
    points : int, optional
        11 or 101: mark the levels of recall of the 11-point or 101-point average. Implies `interpolated`.
    k : int, optional
        Emphasise the curve up to this rank. The legend has AP@k.
    threshold : float or list of float, optional
        Mark the operating points at these thresholds.
    recall : float or list of float, optional
        Mark the operating points at which these recalls are reached.
    mark : str or list of str, optional
        Mark the threshold with the best value of a metric, such as "max_f1", "max_mcc" or "min_cost10". The legend has
        the value and the threshold.
    iso_f : bool or list of float
        Draw contours of equal F. True: 0.2, 0.4, 0.6 and 0.8.
    beta : float
        The beta of these contours. Default 1.
    threshold_labels : int
        Write at most this number of thresholds along the curve. Default 0.
    baseline : bool
        Draw the prevalence, which is the mean precision of random rankings at any rank, as a dotted line. The
        prevalences of many groups are a band. On other axes, the baseline is a random ranking, or the cost of treating
        all rows and of treating none. Default True.
    label : str, optional
        The name of the curve, if the plot has one curve.
    spread : "quartiles", "interval", "groups" or None
        What to draw around an average: the middle half of the groups (the default for one y), the confidence interval
        of the mean (see `average_curve`), or the single groups. Three or more averages have lines instead of bands.
    highlight : int, str or list, optional
        Names of curves, or how many of the best and of the worst. These curves have colours and names. The others are
        thin and grey, up to 200 in total.
    xscale : "linear", "log" or "logit", optional
        Scale of the x axis. Default "linear", or "log" for a thousand ranks and more.
    yscale : "linear", "log" or "logit", optional
        Scale of the y axis. Default "linear", or "log" for precision if positives are rare (prevalence below 1 %) and
        all average precisions are below 0.1.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`;
        with `k`, `weight=` and `prevalence=`. All other keywords are properties of the lines, such as `color`,
        `linewidth`, `linestyle` and `alpha`.

    Returns
    -------
    matplotlib Axes
        With `facet`, the Figure.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    ValueError, TypeError
        An argument is wrong, there are too many groups, or a column is missing, of the wrong type, named twice, or has
        missing values.

    See Also
    --------
    curve, average_curve, plot_scores, plot_intervals

    Notes
    -----
    The curve consists of steps, because average precision is a sum over steps. A slanted line would show precision that
    no threshold has. The curve does not begin at recall 0 and precision 1. The legend names groups without positives.
    The ROC curve has straight lines from (0, 0) to (1, 1), because its area counts a tie as half.

    Colours show the system and line styles the group. If there are only systems or only groups, colours show these. If
    the legend would cover a curve, it is drawn to the right of the axes, and a new figure becomes wider. Axes of the
    caller (`ax=`) keep their size: the legend has smaller letters if necessary, and is outside only if it is larger
    than the axes. Where a later curve hides an earlier curve, the earlier curve is wider, so that both are visible. The
    result is a matplotlib object: use `set_title`, `set_xlim`, `set_yscale` and style sheets for everything else.

    A line of more than 16,384 thresholds is drawn without the points that no pixel shows. If an area has more than 2048
    steps, narrow steps are merged into steps of the same area.

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
    if truth is None and score is None:
        parsed = _parse("plot", options, ["truth", "score", "by", "positive", *Policies.__annotations__])
        return _draw(read_curves(frame, parsed), parsed)
    if truth is None or score is None:
        raise TypeError("plot takes truth and score, or neither for a frame that curve gave")
    # An Arrow stream can be read once, but the checks and the curve both read it.
    frame = read_stream(frame)
    others, policies = split_policies(options)
    parsed = _parse("plot", others, ["truth", "score", "by", "positive", *Policies.__annotations__], positive)
    request = request_of(truth, score, by, positive, policies)
    _refuse_early(frame, request, parsed)
    if not request.several:
        (column,) = request.scores
        name = column.meta.output_name(raise_if_undetermined=False) if isinstance(column, pl.Expr) else column
        parsed = replace(parsed, score=str(name or ""))
    return _draw(rank_curves(frame, request, parsed), parsed)


def _parse(
    function: str, options: Mapping[str, Any], others: Sequence[str] = (), positive: object = None
) -> PlotOptions:
    """Validate the keyword arguments of `plot`, and the packages that they need."""
    need_matplotlib()
    parsed = options_of(function, options, others, positive)
    return parsed


def _refuse_early(frame: Any, request: Request, options: PlotOptions) -> None:
    """Refuse too many groups, and thresholds beyond all scores, before rows are ranked.

    The rows of a LazyFrame are not known yet; of these, only the names of keys are.
    """
    if all(isinstance(column, str) for column in [*request.keys, *request.scores]):
        keys = [*map(str, request.keys), *(["system"] if request.several else [])]
        for name in ("facet", "average"):
            keys_of(name, getattr(options, name), keys)
    if backend_class(frame) or isinstance(frame, pl.LazyFrame):
        return
    if request.keys or request.several or options.thresholds:
        rows, output = rows_of(frame, request)
        groups = output.restore(rows.frame.select(pl.col("group").unique())).collect()
        _layout_of(groups.select(output.keys), options)
        if options.thresholds:
            score = pl.col("score")
            best = rows.frame.select(score.min() if request.ascending else score.max()).collect()
            _refuse_thresholds(options, best.to_series(), ascending=request.ascending)


def _draw(data: Curves, options: PlotOptions) -> Any:
    """Draw the curves into axes, panels or a chart."""
    if options.k is not None and not data.table["k"].dtype.is_integer():
        raise ValueError("k= is a rank, and the rows of this curve are weighted and have no rank: leave out k=")
    lines, panels, over = _layout_of(data.keys, options)
    _refuse_thresholds(options, data.table["threshold"], ascending=data.ascending)
    curves = averages_of(data, over, options) if over else drawn_curves(data, options)
    # A key with a single value does not distinguish curves.
    lines = [key for key in lines if data.keys[key].n_unique() > 1] or lines
    if len(options.ys) > 1:
        lines.append(Y_KEY)
    # A single score has a name, too.
    values = [value for curve in curves for key, value in curve.key.items() if key != Y_KEY]
    names = {unescape(name_of(curve.key, part)) for curve in curves for part in (lines, *([key] for key in lines))}
    options.check_names([*values, *({*names, options.score, options.label or ""} - {""})])
    curves = _order_curves(curves, options)
    options = replace(options, decimals=_decimals_of(curves, options))
    return draw_facets(curves, panels, lines, options) if panels else draw_axes(curves, lines, options)


def _order_curves(curves: Sequence[DrawnCurve], options: PlotOptions) -> list[DrawnCurve]:
    """Return the curves in the order of `order=`: by names, or by their areas."""
    if options.order != "value":
        return [curves[place] for place in options.places([curve.key for curve in curves])]
    if not options.areas:
        raise ValueError(
            "order='value' sorts by the area under the curves, and on these axes curves have no area: give names"
        )
    name = options.areas[0]
    return sorted(curves, key=lambda curve: (curve.numbers[name] is None, -(curve.numbers[name] or 0)))


def _decimals_of(curves: Sequence[DrawnCurve], options: PlotOptions) -> int:
    """Return the number of decimals that all areas have in common."""
    areas = [curve.numbers.get(name) for curve in curves for name in options.areas]
    # An area near 1 must not be shown as 1, nor a small area as 0.
    needed = [
        1 - math.floor(math.log10(area)) if area < 0.5 else -math.floor(math.log10(1 - area))
        for area in areas
        if area and 1e-9 < area < 1 - 1e-9 and float(f"{area:.{options.decimals}f}") in (0, 1)
    ]
    return max(options.decimals, min(max(needed, default=0), _MOST_DECIMALS))


def _layout_of(keys: pl.DataFrame, options: PlotOptions) -> tuple[list[str], list[str], list[str]]:
    """Return the keys of lines, of panels and of averages. Too many curves raise an error."""
    over, panels = keys_of("average", options.average, keys.columns), keys_of("facet", options.facet, keys.columns)
    if shared := [key for key in panels if key in over]:
        raise ValueError(f"facet= and average= both name {shared[0]!r}: a panel shows a group, or its mean")
    lines = [key for key in keys.columns if key not in (*over, *panels)]
    n_lines, n_panels = (keys[names].n_unique() if names else 1 for names in (lines, panels))
    n_lines *= len(options.ys)
    if options.label is not None and n_lines != 1:
        raise ValueError(f"label= names one curve, and there are {n_lines}: leave it out")
    most = options.max_groups or (PANELS if panels else IN_AXES if options.highlight is None else _BEHIND)
    advice = "choose groups with a filter"
    if n_panels > most:
        raise ValueError(f"facet= gives {n_panels} panels, more than max_groups={most}: {advice}, or raise max_groups=")
    if panels and n_lines > _IN_PANEL:
        raise ValueError(
            f"{n_lines} curves in one panel are more than can be told apart ({_IN_PANEL}): {advice}, or facet by more "
            "keys"
        )
    if not panels and n_lines > most:
        if keys.columns:
            more = "facet=True draws small multiples, average=True their mean, highlight=3 names the best and the worst"
            advice = f"{more}; or {advice}"
        raise ValueError(
            f"{n_lines} curves are more than can be told apart in one axes ({most}): {advice}, or raise max_groups="
        )
    return lines, panels, over


def _refuse_thresholds(options: PlotOptions, scores: pl.Series, *, ascending: bool) -> None:
    """Refuse a threshold that no score reaches."""
    if not options.thresholds:
        return
    best: Any = scores.min() if ascending else scores.max()
    where = "below every score (the lowest" if ascending else "above every score (the highest"
    for threshold in options.thresholds:
        if best is not None and (threshold < best if ascending else threshold > best):
            raise ValueError(f"threshold={threshold:g} lies {where} is {best:g}): no row is predicted positive there")
