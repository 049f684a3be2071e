"""Precision-recall curves, drawn from the very table that the metrics are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from frame_pr.frames.frame_kind import Frame
from frame_pr.frames.kinds import read_stream
from frame_pr.functions.curves import curve
from frame_pr.functions.evaluation import evaluate
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.inputs.request import request_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# What was given is handed on as `locals()`, taken first of all: the options stand in two signatures, which is enough.

# Both functions return `Axes | Any`: a union with Figure would make every typed caller test which of the two it got,
# and overloads would repeat the whole signature four times.


def plot(
    frame: Frame,
    /,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    x: str = "recall",
    y: str | Sequence[str] = "precision",
    facet: bool | str | Sequence[str] = False,
    average: bool | str | Sequence[str] = False,
    rectangles: bool = False,
    interpolated: bool = False,
    points: int | None = None,
    k: int | None = None,
    threshold: float | Sequence[float] | None = None,
    recall: float | Sequence[float] | None = None,
    mark: str | Sequence[str] | None = None,
    iso_f: bool | Sequence[float] = False,
    beta: float = 1,
    threshold_labels: int = 0,
    baseline: bool = True,
    decimals: int = 2,
    label: str | None = None,
    max_groups: int | None = None,
    spread: Literal["quartiles", "interval", "groups"] | None = "quartiles",
    colors: Mapping[Any, Any] | None = None,
    highlight: int | str | Sequence[Any] | None = None,
    legend: bool = True,
    ax: Axes | None = None,
    figure: Figure | SubFigure | None = None,
    **options: Any,
) -> Axes | Any:
    """Precision-recall curves, one per group, with average precision and positives in the legend.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed. Of a LazyFrame, the curve is collected.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a curve each.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    x : str
        The figure along: any of `confusion` between 0 and 1, such as "fpr"; "threshold", "k", or "share" (k of all
        rows).
    y : str or list of str
        The figure up, also "lift" (precision over prevalence); several give a curve each, in a colour each. ROC is
        `x="fpr", y="recall"`, gain `x="share", y="recall"`. What is an area under precision against recall, such as
        `rectangles`, is drawn there only.
    facet : bool, str or list of str
        Small multiples with shared axes, one for each group of these key columns; True: of all keys but `system`. Two
        keys make rows and columns. Marks are told above the panel.
    average : bool, str or list of str
        Average over these key columns: the mean of the groups' precision at each recall, the area under which is the
        mean of their average precisions, and how they `spread`. True: all keys but `system`; beside `facet`, other keys
        than there. With `x="k"`, the mean of the figure at each rank.
    rectangles : bool
        Fill the rectangle under each step: their area is the average precision printed. Points mark the thresholds.
    interpolated : bool
        Add the envelope, the max precision at this or any later threshold, and shade what it adds. `rectangles` then
        fill the area of the interpolated average precision.
    points : int, optional
        11 or 101: mark the levels of recall that the average over so many samples; implies `interpolated`.
    k : int, optional
        Emphasise the curve up to this rank, with AP@k in the legend.
    threshold : float or list of float, optional
        Mark the operating points at these thresholds.
    recall : float or list of float, optional
        Mark the operating points where these recalls are reached.
    mark : str or list of str, optional
        Mark the best point: "max_f1", "max_f0.5" and so on.
    iso_f : bool or list of float
        Contours of equal F; True: .2, .4, .6 and .8.
    beta : float
        The beta of these contours.
    threshold_labels : int
        Write at most so many thresholds along the curve.
    baseline : bool
        Draw the prevalence, the mean precision of random rankings at any rank, as a faint line.
    decimals : int
        Of the numbers in the legend.
    label : str, optional
        The name of the curve, if it is one curve.
    max_groups : int, optional
        How many curves one axes may hold, 10 by default; with `facet`, how many panels, 48 by default.
    spread : "quartiles", "interval", "groups" or None
        Around an average: the middle half of the groups, the interval of their mean (see `average_curve`), or the
        single groups. Of three averages and more, the edges of the first two.
    colors : dict, optional
        Colours by the name of a system; without several of these, of a group. Names that are not drawn may be there.
    highlight : int, str or list, optional
        Names of curves, or how many of the best and of the worst: these have colours and names, all others are thin and
        grey, and there may be 200 of them.
    legend : bool
        Whether to draw it.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to draw panels, with `facet`. Without it, on a new figure.
    **options
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`; with `k`,
        `weight=`. All others are properties of the lines: `color`, `linewidth`, `linestyle`, `alpha` and so on.

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
    plot_curve : The same from a frame that `curve` gave.

    Notes
    -----
    Drawn in steps, as average precision sums them: a line slanted from point to point would promise precision that no
    threshold has. No point (recall 0, precision 1) is invented. A group without positives is named in the legend. The
    ROC curve is drawn in straight lines, from (0, 0) to (1, 1), as its area has a tie count as half.

    Colour is the system, stroke the group; where there are not several of both, colour is what there is. A legend that
    finds no room on the curves stands beside them, for which a new figure becomes wider; in axes of the caller it
    becomes smaller first; in panels it stands above them. A curve that lies on a later one is wider there, so that both
    are seen. All else is matplotlib's: `set_title`, `set_xlim`, `set_yscale` of what is returned, style
    sheets.

    A curve of more than 100,000 thresholds is thinned: each strip of recall 1/4096 wide keeps its first, last, lowest
    and highest, which moves nothing by more than half a pixel on axes up to 2048 pixels wide, and its rectangles are
    merged within strips to the same area. Legend and marks are computed from all thresholds.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> ax = fp.plot(run, "relevant", "score", ax=Figure().subplots())
    >>> ax.get_legend().get_texts()[0].get_text()
    'AP = 0.92, P = 3'
    """
    given = locals()
    # Loaded when something is drawn: a third of the import of this package.
    from frame_pr.plotting.curve_frames import TOTALS
    from frame_pr.plotting.panels import checked, draw, refuse_other_keys

    policies: Any = {name: options.pop(name) for name in Policies.__annotations__ if name in options}
    chosen, target = checked(given | dict.fromkeys(Policies.__annotations__), options)
    request = request_of(truth, score, by, positive, policies)
    if all(isinstance(column, str) for column in [*request.keys, *request.scores]):
        refuse_other_keys(target, [*map(str, request.keys), *(["system"] if request.several else [])])
    if k is not None and "weight" in policies:
        raise ValueError("k= cuts at a rank, and weighted rows have none: leave out k=, or weight=")
    # Once, as a stream that is read twice has no rows.
    frame = read_stream(frame)
    curves = curve(frame, truth, score, by=by, positive=positive, **policies)
    # An average counts the groups that retrieved nothing, too, of which a curve has no row.
    averages = average is not False and by is not None
    totals = evaluate(frame, TOTALS, truth, score, by=by, positive=positive, **policies) if averages else None
    return draw(curves, chosen, target, totals)


def plot_curve(
    frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame,
    *,
    x: str = "recall",
    y: str | Sequence[str] = "precision",
    facet: bool | str | Sequence[str] = False,
    average: bool | str | Sequence[str] = False,
    rectangles: bool = False,
    interpolated: bool = False,
    points: int | None = None,
    k: int | None = None,
    threshold: float | Sequence[float] | None = None,
    recall: float | Sequence[float] | None = None,
    mark: str | Sequence[str] | None = None,
    iso_f: bool | Sequence[float] = False,
    beta: float = 1,
    threshold_labels: int = 0,
    baseline: bool = True,
    decimals: int = 2,
    label: str | None = None,
    max_groups: int | None = None,
    spread: Literal["quartiles", "interval", "groups"] | None = "quartiles",
    colors: Mapping[Any, Any] | None = None,
    highlight: int | str | Sequence[Any] | None = None,
    legend: bool = True,
    ax: Axes | None = None,
    figure: Figure | SubFigure | None = None,
    **line: Any,
) -> Axes | Any:
    """Draw a frame that `curve` gave: as `plot`, for a curve at hand or made with other options.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What `curve` gave; its columns before `threshold` are the keys of the groups. Never changed.
    x : str
        The figure along: any of `confusion` between 0 and 1, such as "fpr"; "threshold", "k", or "share" (k of all
        rows).
    y : str or list of str
        The figure up, also "lift" (precision over prevalence); several give a curve each, in a colour each. ROC is
        `x="fpr", y="recall"`, gain `x="share", y="recall"`. What is an area under precision against recall, such as
        `rectangles`, is drawn there only.
    facet : bool, str or list of str
        Small multiples with shared axes, one for each group of these key columns; True: of all keys but `system`. Two
        keys make rows and columns. Marks are told above the panel.
    average : bool, str or list of str
        Average over these key columns: the mean of the groups' precision at each recall, the area under which is the
        mean of their average precisions, and how they `spread`. True: all keys but `system`; beside `facet`, other keys
        than there. With `x="k"`, the mean of the figure at each rank.
    rectangles : bool
        Fill the rectangle under each step: their area is the average precision printed. Points mark the thresholds.
    interpolated : bool
        Add the envelope, the max precision at this or any later threshold, and shade what it adds. `rectangles` then
        fill the area of the interpolated average precision.
    points : int, optional
        11 or 101: mark the levels of recall that the average over so many samples; implies `interpolated`.
    k : int, optional
        Emphasise the curve up to this rank, with AP@k in the legend.
    threshold : float or list of float, optional
        Mark the operating points at these thresholds.
    recall : float or list of float, optional
        Mark the operating points where these recalls are reached.
    mark : str or list of str, optional
        Mark the best point: "max_f1", "max_f0.5" and so on.
    iso_f : bool or list of float
        Contours of equal F; True: .2, .4, .6 and .8.
    beta : float
        The beta of these contours.
    threshold_labels : int
        Write at most so many thresholds along the curve.
    baseline : bool
        Draw the prevalence, the mean precision of random rankings at any rank, as a faint line.
    decimals : int
        Of the numbers in the legend.
    label : str, optional
        The name of the curve, if it is one curve.
    max_groups : int, optional
        How many curves one axes may hold, 10 by default; with `facet`, how many panels, 48 by default.
    spread : "quartiles", "interval", "groups" or None
        Around an average: the middle half of the groups, the interval of their mean (see `average_curve`), or the
        single groups. Of three averages and more, the edges of the first two.
    colors : dict, optional
        Colours by the name of a system; without several of these, of a group. Names that are not drawn may be there.
    highlight : int, str or list, optional
        Names of curves, or how many of the best and of the worst: these have colours and names, all others are thin and
        grey, and there may be 200 of them.
    legend : bool
        Whether to draw it.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to draw panels, with `facet`. Without it, on a new figure.
    **line
        Properties of the lines: `color`, `linewidth`, `linestyle`, `alpha` and so on.

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
    plot : The same from scored rows.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> ax = fp.plot_curve(fp.curve(run, "relevant", "score"), ax=Figure().subplots(), label="run 1")
    >>> ax.get_legend().get_texts()[0].get_text()
    'run 1 (AP = 0.92, P = 3)'
    """
    given = locals()
    # Loaded when something is drawn: a third of the import of this package.
    from frame_pr.plotting.panels import checked, draw

    return draw(frame, *checked(given, line))
