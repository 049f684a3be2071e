"""`confusion`, counts and rates at cutoffs, and `confusion_matrix`, counts of pairs of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal, TypeAlias, Unpack

import polars as pl

from frame_pr.frames.arguments import check_choice, filling, public, refuse_both, scalar
from frame_pr.frames.columns import by_name, refuse_clash, refuse_several, root_names, stacked
from frame_pr.frames.dispatch import find_kind, read_stream
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import examples, shown
from frame_pr.functions.evaluation import averaged, keys_of_means, means_for
from frame_pr.inputs.options import REFUSED, Column, Columns, LabelOptions
from frame_pr.inputs.request import Request, Use, request_of
from frame_pr.inputs.results import on_rows
from frame_pr.inputs.rows import rows_of
from frame_pr.inputs.thresholds import predicted_by_group
from frame_pr.inputs.validate import selected
from frame_pr.inputs.values import (
    TEXTS,
    classes_of,
    label_value,
    listed_classes,
    refuse_missing_labels,
    refuse_objects,
    refuse_other_types,
    refuse_text,
    refuse_unknown_labels,
    warn_of_no_common_label,
)
from frame_pr.inputs.weights import check_weights
from frame_pr.metrics.aggregation import plan_for, values
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.goals import is_goal, threshold_of
from frame_pr.metrics.means import Means, Statistic
from frame_pr.metrics.metric import Cutoff, ratio
from frame_pr.metrics.names import request_for
from frame_pr.metrics.numbers import each, read_number
from frame_pr.metrics.rates import CONFUSION, columns_of_rates, rate_of

_COUNTS = ("tp", "fp", "fn", "tn")
CONFUSION_COLUMNS = (*_COUNTS, "precision", "recall")
"""The counts and rates of `confusion` after the cutoff."""
_MOST_BEFORE_RATES = 2
"""After more columns of keys and cutoffs there are only counts: a screen has eight columns."""
Keys: TypeAlias = dict[Cutoff, dict[str, pl.Expr]]
"""Cutoffs, each with the columns that tell it from others."""
_MOST_CUTOFFS = 200  # Cutoffs in one call. Each has all rates, so more of them would take seconds.


@public(REFUSED["confusion"], options=LabelOptions)
def confusion(
    frame: Frame,
    truth: Column,
    score: Columns | None = None,
    *,
    threshold: float | Sequence[float] | Column | Any = None,
    k: int | str | Sequence[int | str] | None = None,
    prediction: Column | None = None,
    rates: str | Sequence[str] = (),
    by: Columns | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    statistics: Statistic | str | Sequence[Statistic | str] = "mean",
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[LabelOptions],
) -> Frame:
    """Compute the confusion matrix and its rates at cutoffs or for predicted classes.

    At a threshold and for predicted classes, the function needs one aggregation and no ranking.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several; optional
        Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`. Not with `prediction`.
    threshold : float or str, or list of these; polars expression or frame; optional
        Rows with at least this score, or with `ascending` at most this score, are predicted
        positive. A goal is the best threshold of each group: "max_f1", "precision=0.9",
        "max_precision@recall=0.8", "min_cost5", or "threshold@20%" for the lowest one that selects
        at most 20 % of the rows. Several thresholds and goals give a row each. For a threshold per
        group, pass a column that is constant in the group, or a frame with the columns of `by` and
        one more, such as a result of `evaluate`. Where its threshold is null, all values but the
        prevalence are null.
    k : int, str or list of these; optional
        The first k rows are predicted positive. In a smaller group, the missing rows count as
        misses. Or a share of the rows of the group, such as "10%", rounded up.
    prediction : str or polars expression, optional
        Predicted class, instead of a score. True means predicted positive, and so does 1 if `truth`
        does not hold numbers. Other values are labels, as in `truth`, together with `positive`.
    rates : str or list of str
        More columns: rates such as "f1", "fpr" or "mcc". "all": all rates of the confusion matrix.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    mean_over : True, str or list of str, optional
        Columns of `by` to average over. The result has one row per group of the other columns.
        True: all columns but `system`.
    statistics : str or list of str
        Statistics over the groups that `mean_over` names: "mean", "median", "std" (of a sample),
        "min", "max", quantiles such as "q25", "range" (max - min), "ratio" (min / max), means
        weighted by the positives of the group ("weighted"), by its rows ("by_rows") or by its pairs
        of a positive and a negative ("by_pairs"), and "defined" (the number of groups that have a
        value).
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: with `k`, `weight=` and `prevalence=`; with `prediction`, `tie_break=`,
        `tie_break_descending=`, `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"`,
        `ties="order"` and `ascending=`.

    Returns
    -------
    Frame of the same kind
        The keys and the cutoff: `threshold` (after `goal` where several goals are given), or `k`
        (after `share` where several shares of the rows are given). Then `tp, fp, fn, tn` (Int64; at
        a rank Float64, as a block of equal scores may be shared; with weights see `Options`),
        `precision, recall` and the `rates` (Float64; null where a denominator is 0). After three
        columns of keys and cutoffs or more, `precision` and `recall` are left out unless `rates`
        names them. With `mean_over`, what `evaluate` gives of them; a group
        whose threshold is null is among the undefined.

    Raises
    ------
    ValueError, TypeError
        Not exactly one of threshold, k and prediction is given; a column is missing, given twice or
        of the wrong type.

    See Also
    --------
    confusion_matrix, f_beta, curve, plot_confusion

    References
    ----------
    Youden (1950). Index for rating diagnostic tests. Cancer 3(1), 32-35.
    https://doi.org/10.1002/1097-0142%281950%293:1%3C32::AID-CNCR2820030106%3E3.0.CO;2-3

    Matthews (1975). Comparison of the predicted and observed secondary structure of T4 phage
    lysozyme. BBA 405(2), 442-451. https://doi.org/10.1016/0005-2795%2875%2990109-9

    Cohen (1960). A coefficient of agreement for nominal scales. Educational and Psychological
    Measurement 20(1), 37-46. https://doi.org/10.1177/001316446002000104

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.confusion(run, "relevant", "score", threshold=3, by="query")
    shape: (2, 8)
    ┌───────┬───────────┬─────┬─────┬─────┬─────┬───────────┬────────┐
    │ query ┆ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  ┆ precision ┆ recall │
    │ ---   ┆ ---       ┆ --- ┆ --- ┆ --- ┆ --- ┆ ---       ┆ ---    │
    │ str   ┆ i64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64       ┆ f64    │
    ╞═══════╪═══════════╪═════╪═════╪═════╪═════╪═══════════╪════════╡
    │ ink   ┆ 3         ┆ 2   ┆ 1   ┆ 0   ┆ 0   ┆ 0.666667  ┆ 1.0    │
    │ tea   ┆ 3         ┆ 0   ┆ 1   ┆ 2   ┆ 0   ┆ 0.0       ┆ 0.0    │
    └───────┴───────────┴─────┴─────┴─────┴─────┴───────────┴────────┘
    >>> best = fp.confusion(
    ...     run, "relevant", "score", threshold="max_f1", rates="mcc", by="query"
    ... )
    >>> best.select("query", "threshold", "tp", "mcc").rows()
    [('ink', 4, 2, None), ('tea', 1, 2, None)]
    """
    _refuse_arguments(score, threshold, k, prediction)
    means = means_for(mean_over, statistics)
    threshold = read_stream(threshold)
    is_column = _is_column(threshold, frame)
    by_group = is_column or find_kind(threshold) is not None
    scores: Any = score if prediction is None else prediction
    request = request_of(
        truth,
        scores,
        keys_of_means(by, mean_over, frame),
        positive,
        options,
        predicted=prediction is not None,
        threshold=threshold if is_column else None,
    )

    # A Boolean prediction has the threshold 1.
    keys: Keys = {Threshold.of(1): {}}
    if k is not None:
        keys = _ranks(k)
    elif threshold is not None and not by_group:
        keys = _thresholds(threshold, of_groups=means is None)
    key, *_ = keys.values()
    sizes = [] if k is None else ["k"]
    before = len(request.keys) + request.several + len({*key, *sizes}) + by_group
    columns = [*sizes, *_columns_after(before if means is None else 0, rates)]
    lines = [
        {name: pl.col(f"{name}@{cutoff}") for name in columns if name not in key} | key
        for cutoff, key in keys.items()
    ]
    metrics = root_names(*(line.values() for line in lines))

    averages = means is not None
    if by_group:
        request = request.used_as(Use(ranks=False, averages=averages))
    else:
        request = request_for(metrics, request, averages=averages)
    compute = partial(
        _confusion,
        metrics=metrics,
        lines=lines,
        columns=list(dict.fromkeys([*key, *columns])),
        by_group=threshold if by_group else None,
        means=means,
        undefined=filling(undefined),
    )
    return on_rows(frame, request, compute)


def _columns_after(before: int, rates: str | Sequence[str]) -> list[str]:
    """Return the counts and rates after so many columns of keys and cutoffs."""
    columns = columns_of_rates(rates, CONFUSION_COLUMNS, CONFUSION)
    if before <= _MOST_BEFORE_RATES:
        return columns
    named = columns_of_rates(rates, _COUNTS, CONFUSION)
    return [name for name in columns if name in named]


def _is_column(threshold: Any, frame: Any) -> bool:
    """Return whether a threshold is a column, which a text may be that is also a goal."""
    if isinstance(threshold, pl.Expr):
        return True
    if not isinstance(threshold, str):
        return False
    kind = find_kind(frame)
    return not is_goal(threshold) or (kind is not None and threshold in kind.columns)


def _refuse_arguments(score: Any, threshold: Any, k: Any, prediction: Any) -> None:
    """Require a score with a threshold or a cutoff, or a prediction without a score."""
    if score is not None and all(cut is None for cut in (threshold, k, prediction)):
        raise ValueError(
            "confusion takes one of threshold=, k=, prediction=; got none: a score needs "
            f"threshold=0.5 or k=10, and predicted classes are prediction={shown(score)}"
        )
    refuse_both("confusion", {"threshold": threshold, "k": k, "prediction": prediction})
    if (score is None) != (prediction is not None):
        passed = "no score, and no prediction" if score is None else "a score, and a prediction"
        raise ValueError(
            "confusion needs a score and a cutoff or threshold, or prediction= and no score; got "
            f"{passed}"
        )
    if prediction is not None:
        refuse_several("prediction", prediction)


def _confusion(
    frame: Frame,
    request: Request,
    metrics: Sequence[str],
    lines: Sequence[Mapping[str, pl.Expr]],
    columns: Sequence[str],
    by_group: Any,
    means: Means | None,
    undefined: float | None,
) -> Frame:
    """Compute what `confusion` returns.

    `lines`: the `columns` of each cutoff, formulas of the `metrics`. `by_group`: the threshold of
    each group, as a column or a frame, if groups have their own.
    """
    rows, output = rows_of(frame, request, all_groups=True)
    thresholds = None
    if by_group is not None:
        rows, thresholds = predicted_by_group(rows, output, by_group)

    named = {name: name for name in metrics}
    if means is not None:
        named |= means.totals
    table = stacked(values(rows, named, undefined), [pl.exclude(metrics)], lines)
    if thresholds is not None:
        # Where the threshold of a group is null, the counts are null too.
        table = table.join(thresholds, on="group", how="left", maintain_order="left")
        at_threshold = pl.col(name for name in columns if not rate_of(name).of_group)
        has_threshold = pl.col("threshold").is_not_null()
        table = table.with_columns(pl.when(has_threshold).then(at_threshold))

    if means is None:
        before = [] if thresholds is None else ["threshold"]
        return output.result(table, [*before, *columns])
    undefinable = by_group is not None or bool(plan_for(rows, metrics, undefined).undefinable())
    # The literals tell cutoffs apart.
    key = [name for name, formula in lines[0].items() if not formula.meta.root_names()]
    columns = [name for name in columns if name not in key]
    return averaged(output, table, columns, means, undefinable=undefinable, more_keys=key)


def _thresholds(threshold: Any, *, of_groups: bool) -> Keys:
    """Validate thresholds and goals, each of them once.

    `of_groups`: whether the threshold of a goal, which depends on the group, is in the result.
    """
    cutoffs = [threshold_of(value) for value in each("threshold", threshold, _MOST_CUTOFFS)]
    texts = [str(cutoff).removeprefix("threshold=") for cutoff in cutoffs]
    _refuse_twice("threshold", cutoffs, texts)
    numbers = [read_number(cut.text) for cut in cutoffs if isinstance(cut, Threshold)]
    has_goals = len(numbers) < len(cutoffs)
    are_whole = all(isinstance(number, int) and abs(number) < 2**63 for number in numbers)
    dtype = pl.Int64 if are_whole and not has_goals else pl.Float64

    keys: Keys = {}
    for cutoff, goal in zip(cutoffs, texts, strict=True):
        threshold = pl.col(f"threshold@{goal.removeprefix('threshold@')}")
        if isinstance(cutoff, Threshold):
            threshold = pl.lit(read_number(goal))
        if numbers:
            threshold = threshold.cast(dtype)
        key = {"goal": pl.lit(goal)} if has_goals and len(cutoffs) > 1 else {}
        if of_groups or not has_goals:
            key["threshold"] = threshold
        keys[cutoff] = key
    return keys


def _ranks(k: Any) -> Keys:
    """Validate ranks, each of them once."""
    ranks = [Rank.of(value) for value in each("k", k, _MOST_CUTOFFS)]
    _refuse_twice("k", ranks, list(map(str, ranks)))
    if len({type(rank.k) for rank in ranks}) > 1:
        raise ValueError(f"k: {shown(k)} has numbers of rows and shares; give one of the two")
    if isinstance(scalar(k), str):
        # The k of each group says which rows a single share selects.
        return {ranks[0]: {}}

    keys: Keys = {}
    for rank in ranks:
        if isinstance(rank.k, Fraction):
            keys[rank] = {"share": pl.lit(float(rank.k))}
        else:
            keys[rank] = {"k": pl.lit(rank.k, dtype=pl.Int64)}
    return keys


def _refuse_twice(argument: str, cutoffs: Sequence[Cutoff], texts: Sequence[str]) -> None:
    """Check that no cutoff is there twice, also if a share is written in two ways."""
    for cutoff, text in zip(cutoffs, texts, strict=True):
        if cutoffs.count(cutoff) > 1:
            raise ValueError(f"{argument} has {shown(text)} twice")


_MATRIX_COLUMNS = ("truth", "prediction", "rows", "of_truth", "of_prediction")
_MOST_PAIRS = 10**6  # Pairs of classes in one matrix. A million takes 0.2 s and 200 MiB.
_MOST_LINES = 10**8  # Rows of the result, for all groups.
# Distinct numbers that may be classes of a few rows.
_FEW_FRACTIONS = 10
_FEW_NUMBERS = 100
_PREDICTIONS = (
    "give predicted classes, such as the class of the highest probability, or probabilities as the "
    "score of confusion(..., threshold=...)"
)


@public()
def confusion_matrix(
    frame: Frame,
    truth: Column,
    prediction: Column,
    *,
    classes: Sequence[Any] | None = None,
    by: Columns | None = None,
    weight: Column | None = None,
    unjudged: Literal["raise", "drop"] = "raise",
) -> Frame:
    """Compute a confusion matrix of several classes: a row for each pair of label and prediction.

    `of_truth` is the share of the rows with this label, so the row of a class and itself has the
    recall of the class. Its precision is in `of_prediction`. Pairs that never occur have a row,
    too. `pivot` makes a square matrix.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Rows with a label and a predicted label. The frame is not changed.
    truth : str or polars expression
        The labels.
    prediction : str or polars expression
        The predicted labels.
    classes : list, optional
        The labels, in the order of the result. Without it, those that the type of `truth` declares,
        else those that occur in either column, sorted.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    weight : str or polars expression; optional
        Weights of rows, whose sums are then counted.
    unjudged : "raise" or "drop"
        Rows whose truth is null or NaN. "raise", the default: an error says how many. "drop": they
        are left out.

    Returns
    -------
    Frame of the same kind
        The keys, then `truth`, `prediction` (labels), `rows` (Int64; with weights their sum,
        Float64 where these are floats), `of_truth`, `of_prediction` (Float64; null where a class is
        never shown, or never predicted).

    Raises
    ------
    ValueError
        A label is none of the classes; without `classes`, truth and prediction have no label in
        common; a truth or a prediction is missing; a column is missing, or given twice.
    TypeError
        The labels are of different types.

    See Also
    --------
    confusion, unpivot_classes, plot_confusion

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> images = pl.DataFrame({"fold": [1, 1, 2, 2], "shown": ["cat", "dog", "cat", "dog"]})
    >>> images = images.with_columns(predicted=pl.Series(["cat", "cat", "cat", "dog"]))
    >>> fp.confusion_matrix(images, "shown", "predicted", by="fold")
    shape: (8, 6)
    ┌──────┬───────┬────────────┬──────┬──────────┬───────────────┐
    │ fold ┆ truth ┆ prediction ┆ rows ┆ of_truth ┆ of_prediction │
    │ ---  ┆ ---   ┆ ---        ┆ ---  ┆ ---      ┆ ---           │
    │ i64  ┆ str   ┆ str        ┆ i64  ┆ f64      ┆ f64           │
    ╞══════╪═══════╪════════════╪══════╪══════════╪═══════════════╡
    │ 1    ┆ cat   ┆ cat        ┆ 1    ┆ 1.0      ┆ 0.5           │
    │ 1    ┆ cat   ┆ dog        ┆ 0    ┆ 0.0      ┆ null          │
    │ 1    ┆ dog   ┆ cat        ┆ 1    ┆ 1.0      ┆ 0.5           │
    │ 1    ┆ dog   ┆ dog        ┆ 0    ┆ 0.0      ┆ null          │
    │ 2    ┆ cat   ┆ cat        ┆ 1    ┆ 1.0      ┆ 1.0           │
    │ 2    ┆ cat   ┆ dog        ┆ 0    ┆ 0.0      ┆ 0.0           │
    │ 2    ┆ dog   ┆ cat        ┆ 0    ┆ 0.0      ┆ 0.0           │
    │ 2    ┆ dog   ┆ dog        ┆ 1    ┆ 1.0      ┆ 1.0           │
    └──────┴───────┴────────────┴──────┴──────────┴───────────────┘
    """
    check_choice("unjudged", unjudged, ("raise", "drop"))
    labels = None if classes is None else listed_classes(classes)
    refuse_several("prediction", prediction)
    options: Any = {"unjudged": unjudged, "weight": weight}
    request = request_of(truth, prediction, by, None, options, predicted=True)
    return on_rows(frame, request, partial(_matrix, labels=labels))


def _matrix(frame: Frame, request: Request, labels: Sequence[Any] | None) -> Frame:
    """Compute what `confusion_matrix` returns."""
    selection = selected(frame, request, classes=labels or [])
    keys = selection.keys
    refuse_clash(keys.values(), _MATRIX_COLUMNS)
    schema = selection.data.schema
    for role, name in keys.items():
        refuse_objects("by", name, schema[role])
    names = {"truth": selection.others["truth"], "prediction": selection.scores["0"]}
    dtype = schema["truth"]
    refuse_other_types(names["truth"], dtype, names["prediction"], schema["0"])
    weight = selection.others.get("weight")
    if weight is not None:
        refuse_text("weight", weight, schema["weight"])
    if labels is not None:
        labels = [selection.kind.label(names["truth"], label) for label in labels]
    elif isinstance(dtype, pl.Enum):
        labels = dtype.categories.to_list()

    rows = selection.data.select(*keys, *schema.keys() & {"weight"}, **_labels(schema))
    groups = rows.select(*keys).unique()
    if labels is None:
        classes = _occurring_classes(names, rows, dtype)
    else:
        classes = classes_of(names["truth"], dtype, labels)
    _refuse_large_matrix(names["truth"], len(classes), max(groups.height, 1))
    if request.unjudged == "drop":
        rows = rows.drop_nulls("truth")
    _validate_labels(rows, names, classes if labels is not None else None)
    if weight is not None:
        check_weights("weight", weight, rows["weight"], rows["truth"])
    result = _pairs(rows.lazy(), groups.lazy(), list(keys), classes).rename(keys)
    result = result.select(*map(by_name, keys.values()), *_MATRIX_COLUMNS)
    if dtype in TEXTS:
        result = result.with_columns(pl.col("truth", "prediction").cast(dtype))
    # If the dtype of the truth holds all classes, they come back as they stand there.
    sources = {key: key for key in keys.values()}
    if result.collect_schema()["truth"] == dtype:
        sources |= dict.fromkeys(names, names["truth"])
    return selection.kind.give(result, sources)


def _occurring_classes(
    names: Mapping[str, str], rows: pl.DataFrame, dtype: pl.DataType
) -> pl.Series:
    """Return the labels that occur.

    Refuse a column of many distinct numbers that the other column does not hold.
    """
    truths = rows["truth"].drop_nulls().unique()
    predictions = rows["prediction"].drop_nulls().unique()
    classes = pl.concat([truths, predictions.alias("truth")]).unique().sort()
    if not classes.dtype.is_numeric():
        return classes
    for argument, numbers, others, advice in (
        ("prediction", predictions, truths, _PREDICTIONS),
        ("truth", truths, predictions, "truth comes first, then the predicted classes"),
    ):
        alone = numbers.filter(~numbers.is_in(others.implode()))
        has_fractions = (alone % 1 != 0).any()
        few = _FEW_FRACTIONS if has_fractions else _FEW_NUMBERS
        if len(alone) > max(few, len(numbers) / 2):
            if dtype == numbers.dtype:
                advice += "; if they are classes, list all classes, classes=[...]"
            raise ValueError(
                f"{argument} column {shown(names[argument])} holds {len(numbers)} numbers, such as "
                f"{examples(alone.sort().head(3))}, and most of them are not in the other column: "
                f"{advice}"
            )
    return classes


def _refuse_large_matrix(truth: str, classes: int, groups: int) -> None:
    """Refuse a matrix of so many classes that its pairs would fill the memory."""
    pairs = classes**2
    if pairs > _MOST_PAIRS or pairs * groups > _MOST_LINES:
        raise ValueError(
            f"truth column {shown(truth)}: {classes} classes make {pairs} pairs, and a matrix has "
            f"at most {_MOST_PAIRS}, the matrices of all groups {_MOST_LINES}: group_by and a "
            "count give the pairs that occur"
        )


def _labels(schema: pl.Schema) -> dict[str, pl.Expr]:
    """Cast both columns of labels to one dtype."""
    labels = {
        "truth": label_value(pl.col("truth"), schema["truth"]),
        "prediction": label_value(pl.col("0"), schema["0"]),
    }
    columns = pl.LazyFrame(schema=schema).select(**labels)
    common = columns.unpivot().collect_schema()["value"]
    return {name: label.cast(common) for name, label in labels.items()}


def _validate_labels(
    rows: pl.DataFrame, names: Mapping[str, str], classes: pl.Series | None
) -> None:
    """Raise if a label is missing, or is none of the classes."""
    for argument, advice in (
        ("truth", "unjudged='drop' leaves these rows out, or fill them"),
        ("prediction", "fill them"),
    ):
        refuse_missing_labels(argument, names[argument], rows[argument], advice)
        if classes is not None:
            refuse_unknown_labels(argument, names[argument], rows[argument], classes)
    if classes is None:
        warn_of_no_common_label(
            names["truth"], names["prediction"], rows["truth"], rows["prediction"]
        )


def _pairs(
    rows: pl.LazyFrame, groups: pl.LazyFrame, keys: list[str], classes: pl.Series
) -> pl.LazyFrame:
    """Return all pairs of classes in each group, and the number of rows of each pair."""
    schema = rows.collect_schema()
    truths = pl.LazyFrame({"truth": classes.cast(schema["truth"])})
    predictions = truths.rename({"truth": "prediction"})
    pairs = truths.join(predictions, how="cross", maintain_order="left_right")
    if keys:
        pairs = groups.sort(keys).join(pairs, how="cross", maintain_order="left_right")

    total = pl.len().cast(pl.Int64)
    if "weight" in schema:
        dtype = pl.Int64 if schema["weight"].is_integer() else pl.Float64
        total = pl.col("weight").sum().cast(dtype)
    pair = [*keys, "truth", "prediction"]
    counts = rows.group_by(pair).agg(rows=total)
    pairs = pairs.join(counts, on=pair, how="left", nulls_equal=True, maintain_order="left")

    number = pl.col("rows").fill_null(0)
    return pairs.with_columns(
        rows=number,
        of_truth=ratio(number, number.sum().over(*keys, "truth")),
        of_prediction=ratio(number, number.sum().over(*keys, "prediction")),
    )
