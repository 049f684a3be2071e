"""Compare systems or groups by significance tests; corrections for many tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Unpack

import polars as pl

from frame_pr.frames.arguments import check_choice, check_flag, public_of_frames
from frame_pr.frames.columns import by_name, column_name, has_keys, listed, refuse_clash
from frame_pr.frames.dispatch import find_kind, kind_of
from frame_pr.frames.kinds import Frame, on_frame
from frame_pr.frames.messages import examples, shown, warn
from frame_pr.inputs.options import Column, Columns, EvaluationOptions
from frame_pr.statistics import significance_tests
from frame_pr.statistics.bounds import array_of, columns_of, scipy_special
from frame_pr.statistics.intervals import validate_confidence, validate_draws
from frame_pr.statistics.samples import (
    Evaluation,
    Sample,
    give_sorted,
    sampled_rows,
    sampling_unit,
    unit_values_of,
)
from frame_pr.statistics.significance_tests import (
    NUMBERS,
    TEST_DETAILS,
    Pairs,
    adjusted,
    baseline_place,
    pairs_of,
)

_TWO_SCORES = (
    "score: compare takes two scores or more; give the columns of the systems as a list, rename the column that tells "
    "them apart to 'system', or name the groups to compare, between=..."
)


class _Test(NamedTuple):
    """A significance test."""

    text: str
    pairs: Literal["groups", "rows"] | None = None
    """The pairs that it needs; None: it is for all comparisons."""


_TESTS = {
    "t": _Test("tests any difference"),
    "permutation": _Test(
        "flips the signs of differences of paired groups, such as queries", "groups"
    ),
    "delong": _Test("compares roc_auc of several scores of independent rows", "rows"),
}


class CompareOptions(EvaluationOptions, total=False):
    """More arguments of `compare`."""

    cluster: Column | None
    mean_over: bool | str | Sequence[str] | None
    sampled: Literal["groups", "rows"] | None
    correction: Literal["holm", "bh"] | None
    resamples: int | None
    seed: int | None
    details: bool


@public_of_frames(options=CompareOptions)
def compare(
    frame: Frame,
    metrics: str | Sequence[str] | Mapping[str, str],
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    between: str | None = None,
    baseline: object = None,
    test: Literal["t", "permutation", "delong"] = "t",
    confidence: float = 0.95,
    **options: Unpack[CompareOptions],
) -> Frame:
    """Compare systems, or groups, by significance tests, one row per metric and pair.

    There are three ways:

    1. Systems in the same groups, such as queries (`by=`): a paired test over the groups. The
    systems are several
       scores, a column `system` in `by=`, a frame of metrics with a column `system`, or a dict of
       frames.
    2. Several scores of the rows of one test set (without `by=`, or with `cluster=`, or
    `sampled="rows"`): a paired
       test over the rows, or clusters.
    3. Groups of different rows, such as weeks or cohorts (`between=`): an unpaired test of one
    score.

    Groups: with the differences of n groups, their mean d and its standard error e, the interval is
    `d -+ t(n - 1) e` and the p-value is that of Student's paired t-test, or of random sign flips,
    which have no interval of their own. Differences below 6e-14 of the largest value are rounding
    errors and count as 0.

    Rows: e follows from the influence of each row on both values (see `intervals`). For ROC AUC it
    is the standard error of DeLong, DeLong and Clarke-Pearson (1988), with Student's t of min(P, N)
    - 1 degrees of freedom for P positives and N negatives. `test="delong"` uses the normal
    distribution, as they do.

    Groups of `between`: where rows or clusters are the sample, the interval follows from those of
    both values, as Newcombe (1998) combines them: `b - a - sqrt((b - low_b)^2 + (high_a - a)^2)`,
    and the upper bound has the same form. The p-value is the largest error rate at which this
    interval contains 0, so p is below 0.05 exactly if the 95 % interval excludes 0. Clusters that
    are in both groups enter by their covariance. Where groups such as queries are the sample, it is
    Welch's (1947) t-test of both means, whose standard error is not pooled.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame, or a dict of them
        Scored rows; or, without `truth` and `score`, a frame of metrics, one row for each group and
        `system`, from `evaluate` or another tool. Never changed. A dict has a frame for each
        system, such as `{"last week": old, "now": new}`: with `by=` the groups are paired, and
        without it rows are independent.
    metrics : str or list of str, or dict of new name and metric
        Names of metrics, such as ``"precision@10"``; of a frame of metrics, its columns.
    truth : str or polars expression, optional
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several; optional
        The systems, each a column of scores. Higher scores rank first, unless `ascending`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group. With one score,
        the column `system` names the systems.
    between : str, optional
        The column whose groups are compared, inside each group of `by`.
    baseline : optional
        The system, or the group of `between`, to compare all others with. Default: all pairs. With
        `between` also "previous", the group before in sorted order, unless a group has this name.
    test : "t", "permutation" or "delong"
        Student's paired t-test; random sign flips, all of them for up to 20 groups that differ; or,
        for ROC AUC of independent rows, the normal test of DeLong et al., which reports too many
        differences if positives are few.
    confidence : float
        Confidence level of the interval, at least 0.5 and below 1.
    cluster : str or polars expression, optional
        Cluster of each row, such as an image or a user. Rows of one cluster are not independent, so
        clusters are the sample.
    mean_over : str or list of str, optional
        Columns of `by` to average over, all unless some are named: systems are compared in each
        group of the others. With `between`, the groups of these columns, such as queries, are the
        sample.
    sampled : "groups" or "rows", optional
        The sampling unit: the groups, which is the default with `by`, or the rows of each group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    correction : "holm", "bh" or None
        How `p_adjusted` accounts for all tests of the call: Holm (1979) bounds the probability of
        any false positive, and Benjamini and Hochberg (1995) the share of false positives among the
        reported differences. None: no correction.
    resamples : int, optional
        Number of random sign flips for `test="permutation"`, at most 1,000,000. Default 10,000.
    seed : int, optional
        Seed of the random sign flips. Default 0. One seed gives one p-value.
    details : bool
        Whether the result also has the value of each system, the standard error, the numbers of
        units, the effect size and the numbers of wins and losses.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`. Which
        of them goes with which metric: the page of the docs on options.

    Returns
    -------
    Frame of the same kind
        The keys that are left, then `metric, baseline, system` (names; with `between` the groups),
        `difference` (system less baseline), `low, high, p_value` and `p_adjusted` (if the call may
        have several tests and `correction` is not None). With several scores and `between`, the
        scores are the key `score`.

        With `details`, these columns follow: `value_baseline, value_system, standard_error`,
        `units_baseline, units_system` (how many groups, rows or clusters were compared) and
        `undefined` (groups without a value of either system). For paired groups also, and otherwise
        null: `effect_size` (the mean of the differences over their standard deviation), and in how
        many groups the system has the larger value, `wins`, the same one, `equal`, or the smaller
        one, `losses`; `level`, the confidence level. Counts are Int64, numbers Float64.

        Null: the bounds and the p-value of fewer than two groups, and where there is a difference
        without a standard error: all differences are one number other than 0, both means of Welch's
        test have variance 0, or the errors of clusters in both groups cancel. If all differences
        are 0, the p-value is 1.

    Raises
    ------
    ValueError, TypeError
        There is one system or group only, or none named as `baseline`; two systems share no group;
        another test; `seed` or `resamples` without permutation; a column is missing, given twice,
        of the wrong type, or has missing values.
    ImportError
        scipy is not installed.

    Warns
    -----
    DataWarning
        Two systems share less than half of the groups of the smaller one; with `between`, a key of
        `by` has no two groups to compare, or units such as queries occur in several groups, so that
        a paired test has more power.

    See Also
    --------
    intervals, evaluate, plot_comparison

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988). Comparing the areas under two or more correlated
    receiver operating characteristic curves. Biometrics 44(3), 837-845.
    https://doi.org/10.2307/2531595

    Smucker, Allan and Carterette (2007). A comparison of statistical significance tests for
    information retrieval evaluation. CIKM, 623-632. https://doi.org/10.1145/1321440.1321528

    Newcombe (1998). Interval estimation for the difference between independent proportions:
    comparison of eleven methods. Statistics in Medicine 17(8), 873-890.
    https://doi.org/10.1002/%28SICI%291097-0258%2819980430%2917:8%3C873::AID-SIM779%3E3.0.CO;2-I

    Zou and Donner (2008). Construction of confidence limits about effect measures: a general
    approach. Statistics in Medicine 27(10), 1693-1702. https://doi.org/10.1002/sim.3095

    Welch (1947). The generalization of "Student's" problem when several different population
    variances are involved. Biometrika 34, 28-35. https://doi.org/10.1093/biomet/34.1-2.28

    Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6(2), 65-70.

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
    cluster, mean_over = options.get("cluster"), options.get("mean_over")
    call = _Call(
        metrics, truth, score, by, cluster, mean_over, options, between, baseline, test, confidence
    )
    call = _validated(call)
    rows: Any = frame
    if isinstance(rows, Mapping):
        if between is not None:
            raise ValueError(
                "between= compares groups of one frame, and a dict of frames is compared by its names"
            )
        keys, group = ([*listed("by", by), "system"], None) if has_keys(by) else (by, "system")
        call = replace(call, systems=tuple(rows), by=keys, between=group)
        rows = _stacked_frames(rows)
    result: Frame = on_frame(rows, lambda frame: _compared(frame, call))
    return result


@dataclass(frozen=True)
class _Call(Evaluation):
    """The arguments of a call."""

    options: CompareOptions
    between: Any
    baseline: Any
    test: str
    confidence: float
    systems: Sequence[str] = ()
    """The names of the frames of a dict."""

    @property
    def group(self) -> str:
        """Return the key whose values are compared."""
        return "system" if self.between is None else str(self.between)

    def keys_left(self, keys: Sequence[str]) -> list[str]:
        """Return the keys that are not averaged over, with that of the compared systems or groups last."""
        if self.group not in keys:
            raise ValueError(_TWO_SCORES)
        keys = [key for key in keys if key != self.group]
        left = super().keys_left(keys)
        if len(left) == len(keys):
            raise ValueError(
                f"by: each value of {shown(self.group)} has one unit only; name the units that were drawn, such as "
                "queries, too"
            )
        return [*left, self.group]


def _validated(call: _Call) -> _Call:
    """Validate how systems are compared, and fill in the defaults of options."""
    options, test = call.options, check_choice("test", call.test, tuple(_TESTS))
    without = "" if _TESTS[test].pairs == "groups" else f"test={test!r}"
    resamples, seed = validate_draws(options, "resamples", 10_000, 1, without)
    defaults: CompareOptions = {
        "correction": check_choice(
            "correction", options.get("correction", "holm"), ("holm", "bh", None)
        ),
        "resamples": resamples,
        "seed": seed,
        "details": check_flag("details", options.get("details", False)),
    }
    return replace(
        call, confidence=validate_confidence(call.confidence), options=options | defaults
    )


def _compared(frame: Any, call: _Call) -> Any:
    """Compare in the way that the arguments choose."""
    paired, sampled, test = call.between is None, call.options.get("sampled"), _TESTS[call.test]
    call = call if paired else _with_key(frame, call)
    pairs_of_groups = has_keys(call.by) and (sampled or test.pairs) != "rows"
    unit = sampling_unit(
        call, sampled, means=pairs_of_groups if paired else call.mean_over is not None
    )
    independent = call.cluster is None and {*call.named.values()} == {"roc_auc"}
    if test.pairs and not (paired and unit == test.pairs and (unit == "groups" or independent)):
        raise ValueError(f"test={call.test!r} {test.text}: use test='t'")
    return _compare_over_units(frame, call) if unit == "groups" else _compare_over_rows(frame, call)


def _with_key(frame: Any, call: _Call) -> _Call:
    """Return the call with the column of the compared groups as a key."""
    column = column_name("between", call.between)
    kind_of(frame).refuse_missing([column], "between")
    keys = [] if call.by is None else listed("by", call.by)
    return replace(
        call, by=[*(key for key in keys if isinstance(key, pl.Expr) or key != column), column]
    )


def _compare_over_units(frame: Any, call: _Call) -> Any:
    """Compare the means of units: of those that both systems have a value for, or of different units."""
    paired, alpha, options = call.between is None, 1 - call.confidence, call.options
    source = unit_values_of(frame, call, system=paired)
    infinite = source.table.filter(pl.col("value").is_infinite())
    if infinite.height:
        name, value = [*call.named][infinite["m"][0]], infinite["value"][0]
        raise ValueError(
            f"metrics: {name} is {value} in a group, and a difference needs finite values"
        )
    pairs = _pairs(source.table, source, call)
    units = [
        column
        for column in source.output.key_columns.values()
        if column not in source.keys.values()
    ]
    values = source.table.with_columns(
        row=pl.struct(*pairs.on[:-1], *units).rank("dense").cast(pl.Int64)
    )
    values = pairs.with_places(values)
    if not paired:
        significance_tests.warn_of_pairs(values, call.group)
        table = significance_tests.compare_means(source.estimates(), pairs, alpha)
        return _result(table, pairs, source, call)
    values = values.with_columns(unit=pl.col("row") - pl.col("row").min().over(pairs.on))
    differences = significance_tests.differences_of_units(values, pairs)
    significance_tests.validate_shared(differences, pairs.names)
    table = significance_tests.compare_units(differences, pairs.on, alpha)
    if _TESTS[call.test].pairs == "groups":
        table = significance_tests.with_sign_flips(
            table, differences, options["resamples"] or 0, options["seed"] or 0
        )
    return _result(table, pairs, source, call)


def _compare_over_rows(frame: Any, call: _Call) -> Any:
    """Compare the values of sampled rows, or clusters of rows: of the same rows, or of groups of different rows."""
    paired, alpha = call.between is None, 1 - call.confidence
    if paired and call.mean_over is not None:
        raise ValueError(
            "mean_over= is about groups, and here rows or clusters are the sample: leave it out"
        )
    # Without clusters each row is its own cluster, so that its two D meet.
    rows = sampled_rows(frame, call, each_row=paired and call.cluster is None)
    if paired and not rows.output.systems:
        raise ValueError(_TWO_SCORES)
    estimates = rows.restored(rows.groups) if paired else rows.estimates()
    if _TESTS[call.test].pairs == "rows":
        estimates = estimates.with_columns(df=pl.when(pl.col("df") > 0).then(float("inf")))
    pairs = _pairs(estimates, rows, call)
    influences = pairs.with_places(rows.clusters()) if paired or rows.clustered else pl.DataFrame()
    test = significance_tests.compare_rows if paired else significance_tests.compare_values
    return _result(test(rows, estimates, influences, pairs, alpha), pairs, rows, call)


def _pairs(table: pl.DataFrame, source: Sample[Any], call: _Call) -> Pairs:
    """Return the pairs of systems, or of groups with equal keys, of a table with the columns of the keys."""
    paired, group = call.between is None, source.keys[call.group]
    present, on = (
        table[group].unique().sort(),
        [*(column for column in source.keys.values() if column != group), "m"],
    )
    scores = source.output.systems if paired else ()
    names = pl.Series(group, call.systems or scores or present, dtype=present.dtype)
    if paired and names.null_count():
        raise ValueError("column 'system' has rows that are null: each value belongs to one system")
    title = "systems" if paired else f"groups of column {shown(call.group)}"
    has_baseline = call.baseline is not None and len(names)
    baseline = (
        baseline_place(names, call.baseline, title, ordered=not paired) if has_baseline else None
    )
    pairs, equal = Pairs(names, on, table), ["m"] if paired else on
    pairs = pairs._replace(table=pairs_of(pairs.with_places(table), equal, baseline))
    if len(table) and pairs.table.is_empty():
        within = " within the keys of by" if len(equal) > 1 else ""
        raise ValueError(
            f"compare takes two {title} or more{within}, and there is {examples(present)} only"
        )
    keys = table.select(equal).unique().filter(m=0)
    if alone := keys.join(pairs.table, on=equal, how="anti", nulls_equal=True).height:
        warn(
            f"between: {alone} of {keys.height} keys of by have no two groups to compare, and no row in the result"
        )
    return pairs


def _result(table: pl.DataFrame, pairs: Pairs, source: Sample[Any], call: _Call) -> Any:
    """Return what `compare` returns."""
    paired, names, correction = (
        call.between is None,
        pl.lit(pairs.names),
        call.options["correction"],
    )
    metrics, output = list(call.named), source.output
    # The key of several scores is `score`, because `system` is the compared group.
    left = {key: column for key, column in source.keys.items() if key != call.group}
    refuse_clash(left, ["score"] if output.systems and not paired else [])
    keys = {
        "score" if output.systems and key == "system" else key: column
        for key, column in left.items()
    }
    numbers = ["metric", "baseline", "system", "difference", "low", "high", "p_value"]
    is_single = len(pairs.names) == 2 and not keys and len(metrics) == 1
    if correction is not None and not (is_single and paired and (output.systems or call.systems)):
        numbers.append("p_adjusted")
        table = table.with_columns(
            columns_of(p_adjusted=adjusted(array_of(table, "p_value"), correction))
        )
    numbers += TEST_DETAILS if call.options["details"] else ()
    table = pl.concat([pl.DataFrame(schema=NUMBERS), table], how="diagonal_relaxed").with_columns(
        metric=pl.lit(pl.Series(metrics, dtype=pl.String)).gather("m"),
        baseline=names.gather("a"),
        system=names.gather("b"),
        level=pl.lit(call.confidence),
    )
    # The compared groups are values of the caller's column, as other keys are.
    sources = {} if paired and output.systems else dict.fromkeys(("baseline", "system"), call.group)
    return give_sorted(table, keys, output, ["m", "a", "b"], numbers, **sources)


def _stacked_frames(frames: Mapping[Any, Any]) -> Any:
    """Return the rows of several frames as one frame, with the names of the frames in a column `system`."""
    # A LazyFrame is not collected for the names of its columns.
    columns = [(find_kind(frame) or kind_of(frame)).columns for frame in frames.values()]
    if taken := [name for name, names in zip(frames, columns, strict=True) if "system" in names]:
        raise ValueError(
            f"frame {shown(taken[0])} has a column 'system' already: rename it before the call"
        )
    kinds = {type(frame) for frame in frames.values()}
    if len(kinds) == 1 < len(frames) and {type(name) for name in frames} == {str}:
        # A column that only some frames have is a missing column, and not a column with nulls.
        shared = [name for name in columns[0] if all(name in names for names in columns)]
        if kinds <= {pl.DataFrame, pl.LazyFrame}:
            parts = [
                frame.select(map(by_name, shared), system=pl.lit(name))
                for name, frame in frames.items()
            ]
            with suppress(pl.exceptions.SchemaError):
                rows = pl.concat(parts, how="vertical_relaxed")
                rows.lazy().collect_schema()
                return rows
        elif hasattr(kinds.pop(), "assign"):
            import pandas as pd

            return pd.concat(
                [frame[shared].assign(system=name) for name, frame in frames.items()],
                ignore_index=True,
            )
    raise TypeError(
        "frame: a dict has names and two polars or pandas frames or more, of one kind with equal dtypes"
    )
