"""Paired significance tests between systems, over the groups that both have a value for; corrections for many tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal, TypeAlias, Unpack

import polars as pl

from frame_pr.frames.arguments import filling, is_whole, one_of, public, whole
from frame_pr.frames.columns import by_name, has_keys, map_whole, refuse_clash, stacked
from frame_pr.frames.kinds import Frame, kind_of, lazily
from frame_pr.frames.messages import did_you_mean, nearest, shown, warn
from frame_pr.functions.evaluation import metric_names, sorted_by
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.inputs.request import request_of
from frame_pr.metrics.names import request_for
from frame_pr.statistics.bounds import number_bounds, t_p_value
from frame_pr.statistics.intervals import validate_confidence
from frame_pr.statistics.paired_tests import TIE, compared_rows, p_values, refuse_delong, signs
from frame_pr.statistics.unit_values import CLUSTERS_OF_ROWS, UnitValues, has_unit_values, keys_left, unit_values_of
from frame_pr.statistics.unpaired_tests import COLUMNS as GROUP_COLUMNS
from frame_pr.statistics.unpaired_tests import compare_groups

COLUMNS = (
    *("metric", "baseline", "system", "groups", "undefined", "mean_baseline", "mean_system", "difference"),
    *("low", "high", "p_value", "p_adjusted", "effect_size", "wins", "equal", "losses"),
)
"""The columns of a paired comparison, after the keys."""
_REFUSED = {
    "wilcoxon": "tests whether differences are symmetric about 0, so it reports systems whose means are equal",
    "sign": "tests the median difference, so it reports systems whose means are equal",
    "bootstrap": "reports too many differences if there are few groups",
}
_MOST_RESAMPLES = 10**6
_TWO_SCORES = "score: compare takes two scores or more; give the columns of the systems as a list"
_NO_SYSTEM = (
    "compare: the frame has no column 'system'; a frame of metrics needs one that names the system of each row, so "
    "rename yours. For scored rows give truth and a list of scores"
)
_UNPAIRED = (
    "compare pairs the values of one group; for systems with different groups, such as two arms of an A/B test, give "
    "between='system'"
)


@lazily
@public()
def compare(
    frame: Frame,
    metrics: str | Sequence[str],
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    between: str | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    sampled: Literal["groups", "rows"] | None = None,
    cluster: Column | None = None,
    baseline: object = None,
    test: Literal["t", "permutation", "delong"] = "t",
    correction: Literal["holm", "bh"] | None = "holm",
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compare systems, or groups, by significance tests, one row per metric and pair.

    Several scores of the same rows are compared by paired tests. With `between`, groups of different rows, such as
    weeks or cohorts, are compared by unpaired tests of one score.

    Groups: with the differences of n groups, their mean d and its standard error e, the interval is `d -+ t(n - 1) e`
    and the p-value is that of Student's paired t-test, or of random sign flips. Differences below 6e-14 of the largest
    value are rounding errors and count as 0.

    Rows: without `by`, rows are the sample, and e follows from the influence of each row on both values (see
    `intervals`). For ROC AUC it is the standard error of DeLong, DeLong and Clarke-Pearson (1988), with Student's t of
    min(P, N) - 1 degrees of freedom for P positives and N negatives. `test="delong"` gives their normal p-value.

    Groups of `between`: where rows are the sample, the interval follows from those of both values, as Newcombe (1998)
    combines them: `b - a - sqrt((b - low_b)^2 + (high_a - a)^2)`, and the upper bound has the same form. The test is
    the score test of two proportions, or Welch's t-test of the logits of average precision or ROC AUC. Clusters that
    are in both groups enter by their covariance. Where groups such as queries are the sample, it is Welch's (1947)
    t-test of both means.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; or, without `truth` and `score`, a frame of metrics, one row for each group and `system`, from
        `evaluate` or another tool. Never changed.
    metrics : str or list of str
        Names of metrics, such as ``"precision@10"``; of a frame of metrics, its columns.
    truth : str or polars expression, optional
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : several names or polars expressions, optional
        The systems, each a column of scores. Higher scores rank first, unless `ascending`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    between : str, optional
        The column whose groups are compared, inside each group of `by`.
    mean_over : str or list of str, optional
        Columns of `by` to average over, all unless some are named: systems are compared in each group of the others.
        With `between`, the groups of these columns, such as queries, are the sample.
    sampled : "groups" or "rows", optional
        The sampling unit: the groups, which is the default with `by`, or the rows of each group.
    cluster : str or polars expression, optional
        Cluster of each row, such as an image or a user. Rows of one cluster are not independent, so clusters are the
        sample.
    baseline : optional
        The system, or the group of `between`, to compare all others with. Default: all pairs. With `between` also
        "previous", the group before in sorted order, or "rest", all other groups together.
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
        Seed of the random sign flips. Default 0. One seed gives one p-value, on every machine.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Which of them goes with
        which metric: the page of the docs on policies.

    Returns
    -------
    Frame of the same kind
        The keys that are left, then `metric, baseline, system` (names), `groups` (in which both have a value),
        `undefined` (the other groups), `mean_baseline, mean_system, difference` (system less baseline), `low, high,
        p_value, p_adjusted`, `effect_size` (the mean of the differences over their standard deviation), and in how many
        groups the system has the larger value, `wins`, the same one, `equal`, or the smaller one, `losses`. Counts are
        Int64, numbers Float64. Null: the bounds and the p-value of fewer than two groups, and the p-value where all
        differences are one number other than 0. Where all are 0 it is 1.

        With `between`: the keys, then `metric, baseline, group` (of "rest" the baseline is null), `units_baseline,
        units_group` (Int64: rows, clusters or groups that were drawn), `value_baseline, value_group, difference` (group
        less baseline), `standard_error, low, high, p_value, p_adjusted` (Float64).

    Raises
    ------
    ValueError, TypeError
        There is one system or group only, or none named as `baseline`; two systems share no group; another test; `seed`
        or `resamples` without permutation; a column is missing, given twice, of the wrong type, or has missing values.

    Warns
    -----
    DataWarning
        Two systems share less than half of the groups of the smaller one; with `between`, a key of `by` has no two
        groups to compare.

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

    Steele, Lea and Flood (2014). Fast splittable pseudorandom number generators. OOPSLA, 453-472.
    https://doi.org/10.1145/2660193.2660195

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> labels = {"query": [1, 1, 2, 2, 3, 3], "truth": [1, 0, 1, 0, 1, 0]}
    >>> run = pl.DataFrame(labels | {"old": [2, 1, 1, 2, 1, 2], "new": [2, 1, 2, 1, 1, 2]})
    >>> compared = fp.compare(run, "average_precision", "truth", ["old", "new"], by="query")
    >>> compared.select("system", pl.col("difference", "p_value").round(4), "wins", "equal")
    shape: (1, 5)
    ┌────────┬────────────┬─────────┬──────┬───────┐
    │ system ┆ difference ┆ p_value ┆ wins ┆ equal │
    │ ---    ┆ ---        ┆ ---     ┆ ---  ┆ ---   │
    │ str    ┆ f64        ┆ f64     ┆ i64  ┆ i64   │
    ╞════════╪════════════╪═════════╪══════╪═══════╡
    │ new    ┆ 0.1667     ┆ 0.4226  ┆ 1    ┆ 2    │
    └────────┴────────────┴─────────┴──────┴──────┘

    >>> weeks = pl.DataFrame(
    ...     {"week": [1] * 6 + [2] * 6, "truth": [1, 1, 0, 1, 0, 0] + [1, 0] * 3}
    ... )
    >>> weeks = weeks.with_columns(score=pl.Series([6, 5, 4, 3, 2, 1] * 2))
    >>> compared = fp.compare(weeks, "roc_auc", "truth", "score", between="week")
    >>> compared.select("baseline", "group", pl.col("difference", "low", "high").round(4))
    shape: (1, 5)
    ┌──────────┬───────┬────────────┬────────┬────────┐
    │ baseline ┆ group ┆ difference ┆ low    ┆ high   │
    │ ---      ┆ ---   ┆ ---        ┆ ---    ┆ ---    │
    │ i64      ┆ i64   ┆ f64        ┆ f64    ┆ f64    │
    ╞══════════╪═══════╪════════════╪════════╪════════╡
    │ 1        ┆ 2     ┆ -0.2222    ┆ -0.888 ┆ 0.7183 │
    └──────────┴───────┴────────────┴────────┴────────┘
    """
    if isinstance(test, str) and test in _REFUSED:
        raise ValueError(f"test={test!r} {_REFUSED[test]}; use test='t' or 'permutation'")
    one_of("test", test, ("t", "permutation", "delong"))
    one_of("correction", correction, tuple(CORRECTIONS))
    confidence, undefined = validate_confidence(confidence), filling("undefined", undefined)
    draws = _validate_draws(test, resamples, seed)
    has_values = has_unit_values(frame, truth, score)
    if between is not None:
        if test != "t":
            raise ValueError(f"test={test!r} is for pairs, and groups of between= have different rows: use test='t'")
        unpaired = compare_groups(
            frame,
            metrics,
            truth,
            score,
            by,
            between,
            baseline,
            mean_over=mean_over,
            sampled=sampled,
            cluster=cluster,
            positive=positive,
            undefined=undefined,
            confidence=confidence,
            policies=policies,
        )
        keys = list(unpaired.keys)
        return unpaired.give(_in_order(unpaired.table, keys, unpaired.systems, correction, GROUP_COLUMNS), keys)
    if baseline is not None and not (isinstance(baseline, str) or is_whole(baseline)):
        raise TypeError(f"baseline takes the name of a system; got {shown(baseline)}")
    by_groups = has_values or (has_keys(by) and cluster is None and test != "delong")
    unit = one_of("sampled", sampled, ("groups", "rows", None)) or ("groups" if by_groups else "rows")
    if truth is not None and score is not None and unit == "rows":
        for name, value in (("mean_over", mean_over), ("test", "permutation" if test == "permutation" else None)):
            if value is not None:
                raise ValueError(f"{name}= is about groups that were drawn: with sampled='rows' leave it out")
        names = metric_names(metrics, truth, score)
        request = request_for(names, request_of(truth, score, by, positive, policies))
        if test == "delong":
            refuse_delong(names, cluster)
        if not request.several:
            raise ValueError(_TWO_SCORES)
        pairs_of = partial(_pair_places, baseline=baseline)
        table, output = compared_rows(
            frame, request, names, undefined, pairs_of, cluster, confidence=confidence, normal=test == "delong"
        )
        keys = [key for key in output.keys if key != "system"]
        refuse_clash(keys, COLUMNS)
        return output.give(_in_order(table, keys, (), correction, COLUMNS), keys)
    if truth is not None and cluster is not None:
        raise ValueError(CLUSTERS_OF_ROWS)
    if unit == "rows" or cluster is not None:
        raise ValueError(
            "cluster= and sampled='rows' are about rows that were drawn: a frame of metrics has groups only"
        )
    if test == "delong":
        raise ValueError("test='delong' compares the rows of one test set: give truth and a list of scores")
    if not has_keys(by):
        raise ValueError("compare needs groups, whose values are paired: name the grouping columns, by=...")
    if has_values and "system" not in kind_of(frame).columns:
        raise ValueError(_NO_SYSTEM)
    unit_values = unit_values_of(frame, metrics, truth, score, by, positive, undefined, policies, system=True)
    if truth is not None and len(unit_values.systems) < 2:
        raise ValueError(_TWO_SCORES)
    units = [key for key in unit_values.keys if key != "system"]
    keys = [] if mean_over is None else keys_left(units, mean_over)
    refuse_clash(keys, COLUMNS)
    pairs = _pairs(unit_values, keys, [key for key in units if key not in keys], baseline)
    table = _test_pairs(pairs, keys, unit_values.metrics, confidence, draws)
    return unit_values.give(_in_order(table, keys, (), correction, COLUMNS), keys)


def _in_order(
    table: pl.LazyFrame, keys: Sequence[str], systems: Sequence[str], correction: str | None, columns: Sequence[str]
) -> pl.LazyFrame:
    """Return the keys, which the table has as `key0`, ..., and these columns, with `p_adjusted`, sorted."""
    key_columns = [f"key{i}" for i in range(len(keys))]
    table = adjust(table, correction).sort(*sorted_by(keys, systems, key_columns), "m", "a", "b")
    named = (pl.col(column).alias(key) for key, column in zip(keys, key_columns, strict=True))
    return table.select(*named, *columns)


def _validate_draws(test: str, resamples: Any, seed: Any) -> tuple[int, int] | None:
    """Validate the number of random sign flips and their seed; None if the test draws none."""
    if test == "permutation":
        number = whole("resamples", 10_000 if resamples is None else resamples, 1)
        if number > _MOST_RESAMPLES:
            raise ValueError(
                f"resamples must be at most {_MOST_RESAMPLES:,}, got {number}: a p-value then varies by 0.0005 at most"
            )
        return number, whole("seed", seed or 0, 0)
    for name, value in (("resamples", resamples), ("seed", seed)):
        if value is not None:
            raise ValueError(f"{name}= is about random draws, and test={test!r} has none: leave it out")
    return None


def _validate_systems(baseline: Any, systems: Sequence[Any]) -> None:
    """Check that there are two systems or more, and that the baseline is one of them."""
    if len(systems) < 2:
        raise ValueError(f"compare takes two systems or more, and there is {shown(systems[0])} only")
    if baseline is not None and baseline not in systems:
        near = nearest(str(baseline), [str(system) for system in systems])
        hint = did_you_mean(near) if near else f"there are {', '.join(map(str, systems))}"[:200]
        raise ValueError(f"baseline={shown(baseline)} is none of the systems; {hint}")


def _pair_places(systems: Sequence[Any], baseline: Any) -> list[tuple[int, int]]:
    """Return the places of the two systems of each comparison, the baseline first."""
    _validate_systems(baseline, systems)
    if baseline is None:
        return list(combinations(range(len(systems)), 2))
    first = list(systems).index(baseline)
    return [(first, other) for other in range(len(systems)) if other != first]


def _pairs(unit_values: UnitValues[Any], keys: Sequence[str], units: Sequence[str], baseline: Any) -> pl.LazyFrame:
    """Return a row per unit and pair of systems: `key0`, ...; `place` of the unit; names; values `a0`, `b0`, ..."""
    kept = {f"key{i}": by_name(key) for i, key in enumerate(keys)}
    unit = {f"unit{i}": by_name(key) for i, key in enumerate(units)}
    values = {f"m{i}": by_name(name) for i, name in enumerate(unit_values.metrics)}
    table = unit_values.table.select("system", **kept, **unit, **values)
    if unit_values.systems:
        pairs = _name_pairs(pl.Series(unit_values.systems), baseline).lazy()
    else:
        dtype = table.collect_schema()["system"]
        pairs = map_whole(
            table.select("system", *kept, *unit),
            partial(_validate_shared, baseline=baseline),
            {"baseline": dtype, "system": dtype, "a": pl.Int64, "b": pl.Int64},
        )
    unit_keys = [*kept, *unit]
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    grid = table.select(unit_keys).unique().sort(unit_keys)
    grid = grid.with_columns(place=place.over(list(kept)) if kept else place).join(pairs, how="cross")
    for name, side in (("baseline", "a"), ("system", "b")):
        values_of_system = table.rename({"system": name} | {value: value.replace("m", side) for value in values})
        grid = grid.join(values_of_system, on=[*unit_keys, name], how="left", nulls_equal=True, maintain_order="left")
    return grid.drop(list(unit))


def _name_pairs(systems: pl.Series, baseline: Any) -> pl.DataFrame:
    """Return the two systems of each comparison, `baseline` and `system`, and their places `a` and `b`."""
    places = pl.DataFrame(_pair_places(systems.to_list(), baseline), {"a": pl.Int64, "b": pl.Int64}, orient="row")
    return places.select(baseline=pl.lit(systems).gather("a"), system=pl.lit(systems).gather("b"), a="a", b="b")


def _validate_shared(groups: pl.DataFrame, baseline: Any) -> pl.DataFrame:
    """Return the pairs of systems of a frame with a row for each system and group; raise if a pair shares no group."""
    systems = groups["system"].unique().sort()
    if systems.null_count():
        raise ValueError("column 'system' has rows that are null: each value belongs to one system")
    if systems.is_empty():
        return pl.DataFrame(schema={"baseline": systems.dtype, "system": systems.dtype, "a": pl.Int64, "b": pl.Int64})
    pairs = _name_pairs(systems, baseline)
    units = [name for name in groups.columns if name != "system"]
    both = groups.join(groups, on=units, nulls_equal=True).group_by("system", "system_right").len()
    shared = {(a, b): n for a, b, n in both.iter_rows()}
    for a, b in pairs.select("baseline", "system").iter_rows():
        number, fewer = shared.get((a, b), 0), min(shared[a, a], shared[b, b])
        if not number:
            raise ValueError(f"systems {shown(a)} and {shown(b)} share none of their groups: {_UNPAIRED}")
        if number < fewer / 2:
            warn(
                f"systems {shown(a)} and {shown(b)} share {number} of their {shared[a, a]} and {shared[b, b]} groups, "
                f"and only these are compared: {_UNPAIRED}"
            )
    return pairs


def _test_pairs(
    pairs: pl.LazyFrame, keys: Sequence[str], metrics: Sequence[str], confidence: float, draws: tuple[int, int] | None
) -> pl.LazyFrame:
    """Return a row per key, pair and metric: a comparison without `p_adjusted`; also `m`, `a` and `b`, to sort by."""
    kept = [f"key{i}" for i in range(len(keys))]
    pair = [*kept, "a", "b"]
    places = range(len(metrics))
    scales = pairs.group_by(pair).agg(_scale(i).alias(f"scale{i}") for i in places)
    table = pairs.join(scales, on=pair, nulls_equal=True)
    table = table.with_columns(pl.col(f"{side}{i}") / pl.col(f"scale{i}") for i in places for side in "ab")
    differences = {f"d{i}": pl.col(f"b{i}") - pl.col(f"a{i}") for i in places}
    table = table.with_columns(
        pl.when(difference.abs() < TIE).then(0.0).otherwise(difference).alias(name)
        for name, difference in differences.items()
    )
    summaries = [_summary(i) for i in places]
    sums = table.group_by(pair).agg(
        pl.col("baseline", "system").first(),
        *(part.alias(f"{name} {i}") for i, summary in enumerate(summaries) for name, part in summary.items()),
    )
    rows = [
        {"m": pl.lit(i, dtype=pl.Int32), "metric": pl.lit(metrics[i])}
        | {name: pl.col(f"{name} {i}") for name in summary}
        for i, summary in enumerate(summaries)
    ]
    tests = stacked(sums, [pl.col(name) for name in (*pair, "baseline", "system")], rows)
    difference, groups, spread, scale = (pl.col(name) for name in ("difference", "groups", "spread", "scale"))
    error = spread / groups.sqrt()
    if draws is None:
        tests = tests.with_columns(p_value=t_p_value(pl.when(spread > 0).then(difference / error), groups - 1))
    else:
        # By numbers and not by names: two metrics may have the same name.
        long = table.unpivot([*differences], index=[*pair, "place"], variable_name="m", value_name="difference")
        long = long.with_columns(pl.col("m").str.slice(1).cast(pl.Int32))
        flips = p_values(long, [*pair, "m"], resamples=draws[0], seed=draws[1])
        tests = tests.join(flips, on=[*pair, "m"], how="left", nulls_equal=True)
    interval = number_bounds(difference, error, groups - 1, confidence)
    # Differences without spread would give p = 0, however few groups there are.
    p = pl.when(pl.col("wins") + pl.col("losses") == 0).then(1.0).when(spread > 0).then("p_value")
    several = groups > 1
    return tests.with_columns(
        pl.col("mean_baseline", "mean_system", "difference") * scale,
        p_value=pl.when(several).then(p),
        effect_size=pl.when(spread > 0).then(difference / spread),
        **{name: pl.when(several).then(bound * scale) for name, bound in interval.items()},
    )


def _scale(i: int) -> pl.Expr:
    """Return the power of two just below the largest value of the i-th metric; dividing by it is exact."""
    a, b = pl.col(f"a{i}").abs(), pl.col(f"b{i}").abs()
    largest = pl.when(a.is_not_null() & b.is_not_null()).then(pl.max_horizontal(a, b)).max()
    power = (largest.reinterpret(dtype=pl.Int64) // 2**52 * 2**52).reinterpret(dtype=pl.Float64)
    return power.clip(lower_bound=2.0**-1022)


def _summary(i: int) -> dict[str, pl.Expr]:
    """Sum the i-th metric over the units, in units of its scale."""
    # In order, because the last bits of a sum of floats depend on the order.
    a, b, difference = (pl.col(f"{name}{i}").sort_by("place") for name in "abd")
    both = difference.is_not_null()
    return {
        "scale": pl.col(f"scale{i}").first(),
        "groups": both.sum().cast(pl.Int64),
        "undefined": (~both).sum().cast(pl.Int64),
        "mean_baseline": a.filter(both).mean(),
        "mean_system": b.filter(both).mean(),
        "difference": difference.mean(),
        "spread": pl.when(difference.max() - difference.min() < TIE).then(0.0).otherwise(difference.std()),
        **{name: sign.sum().cast(pl.Int64) for name, sign in signs(difference).items()},
    }


Correction: TypeAlias = Callable[[pl.Expr, pl.Expr, pl.Expr], pl.Expr]
CORRECTIONS: Mapping[str | None, Correction] = {
    # Holm (1979): the largest (m - j + 1) p_j over all ranks j <= i.
    "holm": lambda p, rank, tests: ((tests - rank + 1) * p).cum_max().clip(upper_bound=1.0),
    # Benjamini and Hochberg (1995): the smallest m p_j / j over all ranks j >= i.
    "bh": lambda p, rank, tests: (tests * p / rank).cum_min(reverse=True).clip(upper_bound=1.0),
    None: lambda p, rank, tests: p,
}
"""How p-values in ascending order are adjusted, with the rank i of each among m tests."""


def adjust(table: pl.LazyFrame, correction: str | None) -> pl.LazyFrame:
    """Sort the table by `p_value` and add `p_adjusted`."""
    p = pl.col("p_value")
    rank, tests = pl.int_range(1, pl.len() + 1, dtype=pl.Int64), p.count().cast(pl.Int64)
    adjusted = CORRECTIONS[correction](p, rank, tests)
    return table.sort(p, nulls_last=True).with_columns(p_adjusted=pl.when(p.is_not_null()).then(adjusted))
