"""Paired tests: random sign flips of the differences of groups, and influence functions for rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from frame_pr.frames.columns import stacked
from frame_pr.frames.kinds import Frame
from frame_pr.inputs.policies import Column
from frame_pr.inputs.request import Request
from frame_pr.inputs.rows import OutputFrame, rows_of
from frame_pr.statistics.bounds import normal_p_value, normal_quantile, t_p_value, t_quantile
from frame_pr.statistics.sampled_rows import (
    RowMetric,
    of_rows,
    refuse_cluster,
    refuse_policies,
    sums_of_clusters,
    values_and_errors,
)

TIE = 2.0**-44
"""A smaller difference is a rounding error, in units of the power of two just below the largest value."""
_PARTS = 2.0**49
"""Differences are rounded to this fraction of the unit before they are added."""
_EXACT = 20
"""Up to this many nonzero differences, test all sign flips; for more, draw some at random."""
_BITS = 64
"""Sign flips per word, one bit each. Six differences have this many combinations."""
_EVERY_OTHER = [sum(1 << bit for bit in range(_BITS) if bit >> i & 1) for i in range(6)]
_GOLDEN = 0x9E3779B97F4A7C15


def signs(difference: pl.Expr) -> dict[str, pl.Expr]:
    """Return whether a difference is a win, a tie or a loss."""
    return {"wins": difference >= TIE, "equal": difference.abs() < TIE, "losses": difference <= -TIE}


def p_values(table: pl.LazyFrame, keys: Sequence[str], *, resamples: int, seed: int) -> pl.LazyFrame:
    """Return `keys` and `p_value`, from `keys`, `difference` (0 for a tie) and `place` (its number).

    With n nonzero differences, it is the share of the 2^n sign flips whose |sum| is at least that of the data. If n
    exceeds 20, it is `(1 + c) / (1 + resamples)` with the number c of such flips among those drawn. These depend only
    on the seed and on the places. Keys whose differences are all 0 are left out.
    """
    parts, word, drawn = pl.col("parts"), pl.col("word"), pl.col("n") > _EXACT
    words = -(-resamples // _BITS)
    table = table.with_columns(parts=(pl.col("difference") * _PARTS).round().cast(pl.Int128))
    nonzero = table.filter(parts != 0).with_columns(
        n=pl.len().cast(pl.Int64).over(keys), i=pl.int_range(pl.len(), dtype=pl.Int64).over(keys)
    )
    all_words = pl.lit(2, dtype=pl.Int64).pow((pl.col("n") - 6).clip(0, _EXACT - 6))
    flips = nonzero.with_columns(word=pl.int_ranges(0, pl.when(drawn).then(words).otherwise(all_words)))
    flips = flips.explode("word", empty_as_null=False).with_columns(
        signs=pl.when(drawn).then(random_words(pl.col("place") * words + word, seed)).otherwise(_all_signs())
    )
    flipped = (parts * ((pl.col("signs") & (1 << bit)) != 0) for bit in range(_BITS))
    sums = flips.group_by(*keys, "word").agg(
        *(part.sum().alias(f"{bit}") for bit, part in enumerate(flipped)), total=parts.sum(), n=pl.col("n").first()
    )
    # Rounding changes a difference by at most one part, and a tie is below 32 parts, so the tolerance never hides a
    # sign.
    least = pl.col("total").abs() - 2 * pl.col("n")
    as_large = (
        ((pl.col("total") - 2 * pl.col(f"{bit}")).abs() >= least) & (~drawn | (word * _BITS + bit < resamples))
        for bit in range(_BITS)
    )
    counts = sums.select(*keys, "n", c=pl.sum_horizontal(part.cast(pl.Int64) for part in as_large))
    return counts.group_by(keys).agg(
        p_value=pl.when(drawn.first())
        .then((pl.col("c").sum() + 1) / (pl.col("c").sum() * 0 + (resamples + 1)))
        .otherwise(pl.col("c").sum() / (_BITS * pl.len()))
    )


def _all_signs() -> pl.Expr:
    """Return the word with the signs of the i-th difference, so that all words together have all combinations."""
    i, word = pl.col("i"), pl.col("word")
    within = pl.lit(pl.Series(_EVERY_OTHER, dtype=pl.UInt64)).gather(i.clip(0, 5))
    between = (word // pl.lit(2, dtype=pl.Int64).pow((i - 6).clip(0, 62)) % 2).cast(pl.UInt64)
    return pl.when(i < 6).then(within).otherwise(between * pl.lit(2**64 - 1, dtype=pl.UInt64))


def random_words(number: pl.Expr, seed: int | pl.Expr) -> pl.Expr:
    """Return the words that SplitMix64 gives for these numbers from 0: Steele, Lea and Flood (2014).

    Products wrap around.
    """
    start = pl.lit(seed, dtype=pl.UInt64) if isinstance(seed, int) else seed
    word = (number.cast(pl.UInt64) + 1) * pl.lit(_GOLDEN, dtype=pl.UInt64) + start
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ (word // 2**shift)) * pl.lit(factor, dtype=pl.UInt64)
    return word ^ (word // 2**31)


def refuse_delong(names: Sequence[str], cluster: Column | None) -> None:
    """Check that the metric is ROC AUC over independent rows, as DeLong's test requires."""
    if cluster is not None:
        raise ValueError("test='delong' assumes independent rows, and cluster= names dependent rows: use test='t'")
    for name in names:
        if not _by_class(of_rows(name)):
            raise ValueError(f"test='delong' compares roc_auc, and not {name}: use test='t'")


def compared_rows(
    frame: Frame,
    request: Request,
    names: Sequence[str],
    undefined: float | None,
    pairs_of: Callable[[Sequence[str]], list[tuple[int, int]]],
    cluster: Column | None,
    *,
    confidence: float,
    normal: bool,
) -> tuple[pl.LazyFrame, OutputFrame[Frame]]:
    """Return comparisons per group, pair and metric, without `p_adjusted`, and the output in the caller's kind.

    `pairs_of`: the places of the two systems of each comparison, of the names of all systems. `normal`: whether
    p-values and bounds are those of the normal distribution. The table also has `a` and `b`, the places of the two
    systems, and `m`, that of the metric.

    The standard error of a difference follows from the influence D that each row, or cluster, has on both values.
    """
    metrics = [of_rows(name) for name in names]
    refuse_policies(request, names, clusters=True)
    if cluster is not None:
        refuse_cluster(cluster, request)
    # Without clusters each row is its own cluster, so that its two D meet.
    rows, output = rows_of(frame, replace(request, cluster=cluster, each_row=cluster is None))
    systems, values = len(output.systems), values_and_errors(rows, metrics, undefined)
    pairs = pl.LazyFrame(pairs_of(output.systems), schema={"a": pl.Int64, "b": pl.Int64}, orient="row")

    def both_systems(table: pl.LazyFrame, on: list[str]) -> pl.LazyFrame:
        """Return, for each pair, the columns of both systems, those of the second with the prefix `other`."""
        table = table.with_columns(key=pl.col("group") // systems, place=pl.col("group") % systems).drop("group")
        others = {name: f"other {name}" for name in table.collect_schema().names() if name not in (*on, "place")}
        first = pairs.join(table, left_on="a", right_on="place")
        return first.join(table.rename(others), left_on=["b", *on], right_on=["place", *on])

    pair, positive = ["key", "a", "b"], pl.col("positive")
    squares: dict[str, pl.Expr] = {}
    for i in range(len(names)):
        square = (pl.col(f"other D {i}") - pl.col(f"D {i}")) ** 2
        squares |= {f"squares {i}": square.sum(), f"positive squares {i}": square.filter(positive).sum()}
    clusters = both_systems(sums_of_clusters(rows, metrics, values), ["key", "cluster"])
    sums = clusters.group_by(pair).agg(
        units=pl.len().cast(pl.Int64), positives=positive.sum().cast(pl.Int64), **squares
    )
    table = both_systems(values, ["key"]).join(sums, on=pair, how="left").sort(pair)
    table = table.with_columns(group=pl.col("key") * systems + pl.col("a"))
    lines = [
        _line(i, metric, confidence, clusters=cluster is not None, normal=normal) for i, metric in enumerate(metrics)
    ]
    table = output.restored(stacked(table, [pl.col(name) for name in ("group", "a", "b")], lines))
    table = table.rename({output.key_columns["system"]: "baseline"})
    return table.with_columns(system=pl.lit(pl.Series(output.systems)).gather("b")), output


def _line(i: int, metric: RowMetric, confidence: float, *, clusters: bool, normal: bool) -> dict[str, pl.Expr]:
    """Return the columns of the result for the i-th metric."""
    a, b = pl.col(metric.name), pl.col(f"other {metric.name}")
    variance, df = _variance(i, metric, clusters=clusters)
    both, grain = (a + b).is_not_null(), TIE * pl.max_horizontal(a.abs(), b.abs())

    def without_noise(number: pl.Expr) -> pl.Expr:
        return pl.when(number.abs() <= grain).then(0.0).otherwise(number)

    difference, error = without_noise(b - a), without_noise(variance.clip(lower_bound=0.0).sqrt())
    # A difference of 0 gives p = 1; another difference without an error gives null.
    t = pl.when(error > 0).then(difference / error)
    tail = normal_p_value(t) if normal else t_p_value(t, df)
    p = pl.when(error.is_not_null()).then(pl.when((difference == 0) & (error == 0)).then(1.0).otherwise(tail))
    reach = error * (normal_quantile((1 + confidence) / 2) if normal else t_quantile(confidence, df))
    relative = difference / pl.max_horizontal(a.abs(), b.abs())
    return {
        "m": pl.lit(i, dtype=pl.Int32),
        "metric": pl.lit(metric.name),
        "groups": both.cast(pl.Int64),
        "undefined": (~both).cast(pl.Int64),
        "mean_baseline": pl.when(both).then(a),
        "mean_system": pl.when(both).then(b),
        "difference": difference,
        "p_value": p,
        "effect_size": pl.lit(None, dtype=pl.Float64),
        "low": difference - reach,
        "high": difference + reach,
        **{name: sign.cast(pl.Int64).fill_null(0) for name, sign in signs(relative.fill_nan(0.0)).items()},
    }


def _variance(i: int, metric: RowMetric, *, clusters: bool) -> tuple[pl.Expr, pl.Expr]:
    """Return the variance of the difference of the i-th metric, and its degrees of freedom."""
    squares, of_positives, units = pl.col(f"squares {i}"), pl.col(f"positive squares {i}"), pl.col("units")
    df = units - 1 if clusters else pl.min_horizontal(f"df {i}", f"other df {i}")
    if not clusters and _by_class(metric):
        # The D of the positives sum to 0, and so do those of the negatives: each label is a sample of its own.
        positives, negatives = pl.col("positives"), units - pl.col("positives")
        variance = of_positives * positives / (positives - 1) + (squares - of_positives) * negatives / (negatives - 1)
    else:
        variance = squares * (df + 1) / df
    return pl.when(df > 0).then(variance), df


def _by_class(metric: RowMetric) -> bool:
    """Return whether the influences of the rows of each label sum to 0."""
    return metric.of_ranking is not None and metric.of_ranking(pl.col(metric.name)).by_class
