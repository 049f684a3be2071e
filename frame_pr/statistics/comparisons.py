"""Paired significance tests between systems, over the groups that both have a value for; corrections for many tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

import polars as pl

from frame_pr.frames.arguments import check_choice, check_flag, check_whole, filling, is_whole, public
from frame_pr.frames.columns import has_keys, listed
from frame_pr.frames.kinds import Frame, kind_of, on_frame
from frame_pr.frames.messages import shown
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.statistics.bounds import scipy_special
from frame_pr.statistics.comparison_table import Options, Scored
from frame_pr.statistics.intervals import validate_confidence
from frame_pr.statistics.paired_tests import compare_rows, compare_units
from frame_pr.statistics.unit_values import CLUSTERS_OF_ROWS, has_unit_values, keys_left
from frame_pr.statistics.unpaired_tests import compare_groups

_REFUSED = {
    "wilcoxon": "tests whether differences are symmetric about 0, so it reports systems whose means are equal",
    "sign": "tests the median difference, so it reports systems whose means are equal",
    "bootstrap": "reports too many differences if there are few groups",
}
_MOST_RESAMPLES = 10**6
_TWO_SCORES = (
    "score: compare takes two scores or more; give the columns of the systems as a list, rename the column that tells "
    "them apart to 'system', or name the groups to compare, between=..."
)
_NO_SYSTEM = (
    "compare: the frame has no column 'system'; a frame of metrics needs one that names the system of each row, so "
    "rename yours. For scored rows give truth and a list of scores"
)


@public()
def compare(
    frame: Frame,
    metrics: str | Sequence[str] | Mapping[str, str],
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    cluster: Column | None = None,
    positive: object = None,
    between: str | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    sampled: Literal["groups", "rows"] | None = None,
    baseline: object = None,
    test: Literal["t", "permutation", "delong"] = "t",
    correction: Literal["holm", "bh"] | None = "holm",
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    details: bool = False,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compare systems, or groups, by significance tests, one row per metric and pair.

    There are three ways:

    1. Systems in the same groups, such as queries (`by=`): a paired test over the groups. The systems are several
       scores, a column `system` in `by=`, a frame of metrics with a column `system`, or a dict of frames.
    2. Several scores of the rows of one test set (without `by=`, or with `cluster=`, or `sampled="rows"`): a paired
       test over the rows, or clusters.
    3. Groups of different rows, such as weeks or cohorts (`between=`): an unpaired test of one score.

    Groups: with the differences of n groups, their mean d and its standard error e, the interval is `d -+ t(n - 1) e`
    and the p-value is that of Student's paired t-test, or of random sign flips. Differences below 6e-14 of the largest
    value are rounding errors and count as 0.

    Rows: e follows from the influence of each row on both values (see `intervals`). For ROC AUC it is the standard
    error of DeLong, DeLong and Clarke-Pearson (1988), with Student's t of min(P, N) - 1 degrees of freedom for P
    positives and N negatives. `test="delong"` uses the normal distribution, as they do.

    Groups of `between`: where rows or clusters are the sample, the interval follows from those of both values, as
    Newcombe (1998) combines them: `b - a - sqrt((b - low_b)^2 + (high_a - a)^2)`, and the upper bound has the same
    form. The p-value is the largest error rate at which this interval contains 0, so p is below 0.05 exactly if the
    95 % interval excludes 0. Clusters that are in both groups enter by their covariance. Where groups such as queries
    are the sample, it is Welch's (1947) t-test of both means, whose standard error is not pooled.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame, or a dict of them
        Scored rows; or, without `truth` and `score`, a frame of metrics, one row for each group and `system`, from
        `evaluate` or another tool. Never changed. A dict has a frame for each system, such as
        `{"last week": old, "now": new}`: with `by=` the groups are paired, and without it rows are independent.
    metrics : str or list of str, or dict of new name and metric
        Names of metrics, such as ``"precision@10"``; of a frame of metrics, its columns.
    truth : str or polars expression, optional
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several; optional
        The systems, each a column of scores. Higher scores rank first, unless `ascending`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group. With one score, the column `system`
        names the systems.
    cluster : str or polars expression, optional
        Cluster of each row, such as an image or a user. Rows of one cluster are not independent, so clusters are the
        sample.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    between : str, optional
        The column whose groups are compared, inside each group of `by`.
    mean_over : str or list of str, optional
        Columns of `by` to average over, all unless some are named: systems are compared in each group of the others.
        With `between`, the groups of these columns, such as queries, are the sample.
    sampled : "groups" or "rows", optional
        The sampling unit: the groups, which is the default with `by`, or the rows of each group.
    baseline : optional
        The system, or the group of `between`, to compare all others with. Default: all pairs. With `between` also
        "previous", the group before in sorted order.
    test : "t", "permutation" or "delong"
        Student's paired t-test; random sign flips, all of them for up to 20 groups that differ; or, for ROC AUC of
        independent rows, the normal test of DeLong et al., which reports too many differences if positives are few.
    correction : "holm", "bh" or None
        How `p_adjusted` accounts for all tests of the call: Holm (1979) bounds the probability of any false positive,
        and Benjamini and Hochberg (1995) the share of false positives among the reported differences. None: no
        correction.
    confidence : float
        Confidence level of the interval, strictly between 0 and 1.
    resamples : int, optional
        Number of random sign flips for `test="permutation"`, at most 1,000,000. Default 10,000.
    seed : int, optional
        Seed of the random sign flips. Default 0. One seed gives one p-value.
    details : bool
        Whether the result also has the value of each system, the standard error, the numbers of units, the effect size
        and the numbers of wins and losses.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Which of them goes with
        which metric: the page of the docs on policies.

    Returns
    -------
    Frame of the same kind
        The keys that are left, then `metric, baseline, system` (names; with `between` the groups), `difference` (system
        less baseline), `low, high, p_value` and `p_adjusted` (if the call may have several tests and `correction` is
        not None). With several scores and `between`, the scores are the key `score`.

        With `details`, these columns follow: `value_baseline, value_system, standard_error`, `units_baseline,
        units_system` (how many groups, rows or clusters were compared) and `undefined` (groups without a value of
        either system). For paired groups also, and otherwise null: `effect_size` (the mean of the differences over
        their standard deviation), and in how many groups the system has the larger value, `wins`, the same one,
        `equal`, or the smaller one, `losses`; `level`, the confidence level. Counts are Int64, numbers Float64.

        Null: the bounds and the p-value of fewer than two groups, and where there is a difference without a standard
        error: all differences are one number other than 0, or both means of Welch's test have variance 0. If all
        differences are 0, the p-value is 1.

    Raises
    ------
    ValueError, TypeError
        There is one system or group only, or none named as `baseline`; two systems share no group; another test; `seed`
        or `resamples` without permutation; a column is missing, given twice, of the wrong type, or has missing values.
    ImportError
        scipy is not installed.

    Warns
    -----
    DataWarning
        Two systems share less than half of the groups of the smaller one; with `between`, a key of `by` has no two
        groups to compare, or units such as queries occur in several groups, so that a paired test has more power.

    See Also
    --------
    intervals, evaluate, plot_comparison

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988). Comparing the areas under two or more correlated receiver operating
    characteristic curves. Biometrics 44(3), 837-845. https://doi.org/10.2307/2531595

    Smucker, Allan and Carterette (2007). A comparison of statistical significance tests for information retrieval
    evaluation. CIKM, 623-632. https://doi.org/10.1145/1321440.1321528

    Newcombe (1998). Interval estimation for the difference between independent proportions: comparison of eleven
    methods. Statistics in Medicine 17(8), 873-890.
    https://doi.org/10.1002/%28SICI%291097-0258%2819980430%2917:8%3C873::AID-SIM779%3E3.0.CO;2-I

    Zou and Donner (2008). Construction of confidence limits about effect measures: a general approach. Statistics in
    Medicine 27(10), 1693-1702. https://doi.org/10.1002/sim.3095

    Welch (1947). The generalization of "Student's" problem when several different population variances are involved.
    Biometrika 34, 28-35. https://doi.org/10.1093/biomet/34.1-2.28

    Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6(2),
    65-70.

    Benjamini and Hochberg (1995). Controlling the false discovery rate. JRSS B 57(1), 289-300.
    https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> labels = {"query": [1, 1, 2, 2, 3, 3], "truth": [1, 0, 1, 0, 1, 0]}
    >>> run = pl.DataFrame(labels | {"old": [2, 1, 1, 2, 1, 2], "new": [2, 1, 2, 1, 1, 2]})
    >>> call = {"truth": "truth", "score": ["old", "new"], "by": "query"}
    >>> fp.compare(run, {"MAP": "average_precision"}, **call)
    shape: (1, 7)
    ┌────────┬──────────┬────────┬────────────┬───────────┬──────────┬─────────┐
    │ metric ┆ baseline ┆ system ┆ difference ┆ low       ┆ high     ┆ p_value │
    │ ---    ┆ ---      ┆ ---    ┆ ---        ┆ ---       ┆ ---      ┆ ---     │
    │ str    ┆ str      ┆ str    ┆ f64        ┆ f64       ┆ f64      ┆ f64     │
    ╞════════╪══════════╪════════╪════════════╪═══════════╪══════════╪═════════╡
    │ MAP    ┆ old      ┆ new    ┆ 0.166667   ┆ -0.550442 ┆ 0.883775 ┆ 0.42265 │
    └────────┴──────────┴────────┴────────────┴───────────┴──────────┴─────────┘
    >>> compared = fp.compare(run, "average_precision", **call, details=True)
    >>> compared.select("system", "units_system", "wins", "equal", "losses").row(0)
    ('new', 3, 1, 2, 0)

    >>> weeks = pl.DataFrame(
    ...     {"week": [1] * 6 + [2] * 6, "truth": [1, 1, 0, 1, 0, 0] + [1, 0] * 3}
    ... )
    >>> weeks = weeks.with_columns(score=pl.Series([6, 5, 4, 3, 2, 1] * 2))
    >>> fp.compare(weeks, "roc_auc", "truth", "score", between="week", correction=None)
    shape: (1, 7)
    ┌─────────┬──────────┬────────┬────────────┬───────────┬──────────┬──────────┐
    │ metric  ┆ baseline ┆ system ┆ difference ┆ low       ┆ high     ┆ p_value  │
    │ ---     ┆ ---      ┆ ---    ┆ ---        ┆ ---       ┆ ---      ┆ ---      │
    │ str     ┆ i64      ┆ i64    ┆ f64        ┆ f64       ┆ f64      ┆ f64      │
    ╞═════════╪══════════╪════════╪════════════╪═══════════╪══════════╪══════════╡
    │ roc_auc ┆ 1        ┆ 2      ┆ -0.222222  ┆ -0.888017 ┆ 0.718306 ┆ 0.565414 │
    └─────────┴──────────┴────────┴────────────┴───────────┴──────────┴──────────┘

    >>> frames = {"last week": run, "now": run.with_columns(old="new")}
    >>> compared = fp.compare(frames, "average_precision", "truth", "old", by="query")
    >>> compared.select("baseline", "system", "difference").row(0)
    ('last week', 'now', 0.16666666666666666)
    """
    scipy_special()
    options = _options(baseline, test, correction, confidence, resamples, seed)
    options = options._replace(
        between=between, mean_over=mean_over, sampled=sampled, details=check_flag("details", details)
    )
    undefined = filling("undefined", undefined)
    rows: Any = frame
    if isinstance(rows, Mapping):
        if between is not None:
            raise ValueError("between= compares groups of one frame, and a dict of frames is compared by its names")
        rows, systems = _stacked_frames(rows)
        options = options._replace(systems=systems, between=None if has_keys(by) else "system")
        by = [*listed("by", by), "system"] if has_keys(by) else None
    scored: Scored[Any] = Scored(rows, metrics, truth, score, by, cluster, positive, undefined, policies)
    result: Frame = on_frame(rows, lambda frame: _compared(scored._replace(frame=frame), options))
    return result


def _compared(scored: Scored[Frame], options: Options) -> Frame:
    """Compare in the way that the arguments choose."""
    frame, _, truth, score, by, cluster, _, _, _ = scored
    test, mean_over, baseline = options.test, options.mean_over, options.baseline
    if options.between is not None:
        if test != "t":
            raise ValueError(f"test={test!r} is for pairs, and groups of between= have different rows: use test='t'")
        return compare_groups(scored, options).result(options)
    if baseline is not None and not (isinstance(baseline, str) or is_whole(baseline)):
        raise TypeError(f"baseline takes the name of a system; got {shown(baseline)}")
    has_values = has_unit_values(frame, truth, score)
    by_groups = has_values or (has_keys(by) and cluster is None and test != "delong")
    unit = check_choice("sampled", options.sampled, ("groups", "rows", None)) or ("groups" if by_groups else "rows")
    if not has_values and unit == "rows":
        for name, value in (("mean_over", mean_over), ("test", "permutation" if test == "permutation" else None)):
            if value is not None:
                raise ValueError(f"{name}= is about groups that were drawn: with sampled='rows' leave it out")
        return compare_rows(scored, options).result(options)
    _validate_units(scored, unit, test)
    unit_values = scored.unit_values(system=True)
    if "system" not in unit_values.keys or len(unit_values.systems) == 1:
        raise ValueError(_TWO_SCORES)
    if unit_values.systems:
        options.pairs(unit_values.systems)
        options = options._replace(systems=unit_values.systems)
    units = [key for key in unit_values.keys if key != "system"]
    keys = [] if mean_over is None else keys_left(units, mean_over)
    return compare_units(unit_values, keys, options).result(options)


def _options(baseline: Any, test: Any, correction: Any, confidence: Any, resamples: Any, seed: Any) -> Options:
    """Validate how systems are compared."""
    if isinstance(test, str) and test in _REFUSED:
        raise ValueError(f"test={test!r} {_REFUSED[test]}; use test='t' or 'permutation'")
    check_choice("test", test, ("t", "permutation", "delong"))
    check_choice("correction", correction, ("holm", "bh", None))
    if test != "permutation":
        for name, value in (("resamples", resamples), ("seed", seed)):
            if value is not None:
                raise ValueError(f"{name}= is about random draws, and test={test!r} has none: leave it out")
    number = check_whole("resamples", 10_000 if resamples is None else resamples, 1)
    if number > _MOST_RESAMPLES:
        raise ValueError(
            f"resamples must be at most {_MOST_RESAMPLES:,}, got {number}: a p-value then varies by 0.0005 at most"
        )
    return Options(
        baseline, test, correction, validate_confidence(confidence), number, check_whole("seed", seed or 0, 0)
    )


def _validate_units(scored: Scored[Any], unit: str, test: str) -> None:
    """Check the arguments of a comparison over units."""
    if scored.truth is not None and scored.cluster is not None:
        raise ValueError(CLUSTERS_OF_ROWS)
    if unit == "rows" or scored.cluster is not None:
        raise ValueError(
            "cluster= and sampled='rows' are about rows that were drawn: a frame of metrics has groups only"
        )
    if test == "delong":
        raise ValueError("test='delong' compares the rows of one test set: give truth and a list of scores")
    if not has_keys(scored.by):
        raise ValueError("compare needs groups, whose values are paired: name the grouping columns, by=...")
    if scored.truth is None and "system" not in kind_of(scored.frame).columns:
        raise ValueError(_NO_SYSTEM)


def _stacked_frames(frames: Mapping[Any, Any]) -> tuple[Any, tuple[str, ...]]:
    """Return the rows of several frames as one frame with a column `system`, and the names of the frames."""
    for name, frame in frames.items():
        if not isinstance(name, str):
            raise TypeError(f"frame: a dict of frames has names; got the name {shown(name)}")
        if "system" in kind_of(frame).columns:
            raise ValueError(f"frame {shown(name)} has a column 'system' already: rename it before the call")
    kinds = {type(frame) for frame in frames.values()}
    if len(frames) < 2 or len(kinds) > 1:
        raise TypeError("a dict of frames takes two frames or more, all of one kind")
    if issubclass(kind := kinds.pop(), (pl.DataFrame, pl.LazyFrame)):
        parts = [frame.with_columns(system=pl.lit(name)) for name, frame in frames.items()]
        return pl.concat(parts, how="diagonal_relaxed"), tuple(frames)
    if not hasattr(kind, "assign"):
        raise TypeError(f"a dict of frames takes polars or pandas frames; got a {kind.__name__}")
    import pandas as pd

    named = [frame.assign(system=name) for name, frame in frames.items()]
    return pd.concat(named, ignore_index=True), tuple(frames)
