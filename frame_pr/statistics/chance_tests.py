"""`above_chance`: test the average precision or ROC AUC of each group against random rankings with the same ties."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, Unpack

import polars as pl

from frame_pr.frames.arguments import names_of, one_of, public
from frame_pr.frames.columns import map_whole, refuse_clash, stacked
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.functions.evaluation import metric_names, sorted_by
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import TOTAL_POLICIES, request_of
from frame_pr.inputs.rows import Rows, rows_of
from frame_pr.metrics.aggregation import aggregate, finalize, plan_for
from frame_pr.metrics.completion import MetricName
from frame_pr.metrics.metric import FACTS, Aggregate, Metric, by_ties
from frame_pr.metrics.names import COLUMNS as BLOCKS
from frame_pr.metrics.names import request_for
from frame_pr.statistics.comparisons import CORRECTIONS, adjust
from frame_pr.statistics.random_rankings import NULLS, test_columns, with_tests

_COLUMNS = ("metric", "value", "expectation", "standard_deviation", "z", "p_value", "p_adjusted", "method")


@public(REFUSED["above_chance"])
def above_chance(
    frame: Frame,
    metrics: MetricName | Sequence[MetricName],
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    correction: Literal["holm", "bh"] | None = "bh",
    positive: object = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Test whether average precision or ROC AUC is better than that of a random ranking, for each group.

    The random ranking assigns the P positives to the N rows at random and keeps the equal scores. Expectation and
    standard deviation are exact. The p-value is the share of random rankings that are at least as good: all of them are
    enumerated up to 20,000 orders, 1,000 with equal scores. Above that, it is the tail of the normal distribution (ROC
    AUC, the Mann-Whitney test) or of a shifted lognormal distribution with the same mean and variance (average
    precision). There are no random numbers.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    metrics : str or list of str
        "average_precision", "roc_auc" or both.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    correction : "holm", "bh" or None
        How `p_adjusted` accounts for all tests of the call: Benjamini and Hochberg (1995), the default, bounds the
        share of false positives among the reported groups, and Holm (1979) the probability of any false positive. None:
        no correction.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`,
        `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"` and `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `metric` (the name), `value`, `expectation` and `standard_deviation` (of a random ranking), `z`
        (the value less the expectation, over the standard deviation), `p_value`, `p_adjusted` (Float64) and `method`
        ("exact", "normal" or "lognormal"). All are null without positives, and for ROC AUC without negatives. `z` is
        null where all rankings have one value.

    Raises
    ------
    ValueError, TypeError
        Another metric; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    compare, intervals, average_precision, roc_auc

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame(
    ...     {"compound": ["a"] * 5 + ["b"] * 5, "replicate": [1, 1, 0, 0, 0] + [0, 1, 0, 0, 1]}
    ... )
    >>> run = run.with_columns(score=pl.Series([5, 4, 3, 2, 1] * 2))
    >>> tests = fp.above_chance(run, "average_precision", "replicate", "score", by="compound")
    >>> rounded = pl.col("value", "expectation", "z").round(3)
    >>> tests.select("compound", rounded, "p_value", "p_adjusted", "method")
    shape: (2, 7)
    ┌──────────┬───────┬─────────────┬────────┬─────────┬────────────┬────────┐
    │ compound ┆ value ┆ expectation ┆ z      ┆ p_value ┆ p_adjusted ┆ method │
    │ ---      ┆ ---   ┆ ---         ┆ ---    ┆ ---     ┆ ---        ┆ ---    │
    │ str      ┆ f64   ┆ f64         ┆ f64    ┆ f64     ┆ f64        ┆ str    │
    ╞══════════╪═══════╪═════════════╪════════╪═════════╪════════════╪════════╡
    │ a        ┆ 1.0   ┆ 0.592       ┆ 1.936  ┆ 0.1     ┆ 0.2        ┆ exact  │
    │ b        ┆ 0.45  ┆ 0.592       ┆ -0.677 ┆ 0.7     ┆ 0.7        ┆ exact  │
    └──────────┴───────┴─────────────┴────────┴─────────┴────────────┴────────┘
    """
    names = names_of("metrics", metrics, "names of metrics")
    for name in metric_names(names, truth, score):
        if name not in NULLS:
            raise ValueError(f"metrics: {shown(name)} has no test against random rankings; give {' or '.join(NULLS)}")
    one_of("correction", correction, tuple(CORRECTIONS))
    # The random rankings of a group follow from both of its totals.
    request = request_for([*names, *TOTAL_POLICIES], request_of(truth, score, by, positive, policies))
    rows, output = rows_of(frame, request, all_groups=True)
    refuse_clash(output.keys, _COLUMNS)
    nulls = [NULLS[name] for name in names]
    # The test of a single positive reads its average precision.
    values = [*dict.fromkeys(["average_precision", *names])]
    schema = {"group": pl.Int64(), **{name: pl.Float64() for name in values}, **test_columns(len(names))}
    table = output.restored(map_whole(_groups(rows, values), partial(with_tests, nulls=nulls), schema))
    lines = [_line(i, name) for i, name in enumerate(names)]
    keys = list(output.key_columns.values())
    table = adjust(stacked(table, [pl.col(key) for key in keys], lines), correction)
    table = table.sort(*sorted_by(output.keys, output.systems, keys), "m")
    named = (pl.col(column).alias(key) for key, column in output.key_columns.items())
    return output.give(table.select(*named, *_COLUMNS), output.keys)


def _line(i: int, name: str) -> dict[str, pl.Expr]:
    """Return the columns of the result for one metric."""
    value, mean, deviation = pl.col(name), pl.col(f"mean {i}"), pl.col(f"deviation {i}")
    exact = pl.when(f"exact {i}").then(pl.lit("exact")).otherwise(pl.lit(NULLS[name].method))
    numbers = {
        "value": value,
        "expectation": mean,
        "standard_deviation": deviation,
        "z": pl.when(deviation > 0).then((value - mean) / deviation),
        "p_value": pl.col(f"p {i}"),
        "method": exact,
    }
    defined = {column: pl.when(value.is_not_null()).then(number) for column, number in numbers.items()}
    return {"m": pl.lit(i, dtype=pl.Int32), "metric": pl.lit(name), **defined}


def _groups(rows: Rows, names: Sequence[str]) -> pl.LazyFrame:
    """Return one row per group, with `group`, these metrics, and the columns of `random_rankings.PATTERN`."""
    plan = plan_for(rows, names)
    tied = (BLOCKS.size > 1) & BLOCKS.k.is_not_null()
    lists = {
        "ends": Aggregate(pl.when(tied).then(BLOCKS.k), "list"),
        "sizes": Aggregate(pl.when(tied).then(BLOCKS.size), "list"),
    }
    numbers = {name: pl.col(name).list.drop_nulls() for name in lists}
    numbers |= {
        "positives": BLOCKS.positives,
        "rows": BLOCKS.rows,
        "ranked": BLOCKS.number("retrieved_rows").fill_null(0),
    }
    metrics = {name: Metric("count", number, by_ties({}), beyond_steps="all") for name, number in numbers.items()}
    facts = [fact for fact in FACTS if fact in plan.facts or fact in ("positives", "rows", "retrieved_rows")]
    plan = plan._replace(metrics={**plan.metrics, **metrics}, aggregates={**plan.aggregates, **lists}, facts=facts)
    table = finalize(aggregate(rows, plan), ["group"], plan)
    return table.with_columns(pl.col(list(lists)).fill_null([]))
