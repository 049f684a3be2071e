"""Metrics of probabilities, selection rates and goals within limits, in every function and option.

The fuzzer compares the values with the oracle. Here each function agrees with `evaluate`.
"""

import polars as pl
import pytest
from compare import assert_same, near

import frame_pr as fp

# Three groups of 40 rows, with tied probabilities and weights of 1 to 3.
ROWS = pl.DataFrame(
    {
        "q": [i % 3 for i in range(120)],
        "y": [(i * i + i // 7) % 5 < 2 for i in range(120)],
        "s": [(i * 37 % 29) / 28 for i in range(120)],
        "t": [(i * 53 % 31) / 30 for i in range(120)],
        "w": [1 + i % 3 for i in range(120)],
    }
)
OF_RANKS = ["mean_score@7", "selection_rate@20%", "selection_rate@5"]
NAMES = [
    *("mean_score", "brier_score", "log_loss", "selection_rate@threshold=0.5"),
    *("selection_rate@max_f1", "precision@max_f1", "recall@min_cost5", "k@min_cost5"),
    *("max_f1@recall=0.6", "max_precision@recall=0.8", "min_cost5@precision=0.4"),
    *("threshold@max_f1", "threshold@max_f1@recall=0.6", "recall@max_precision@recall=0.8"),
    *OF_RANKS,
]
EVERY = pytest.mark.parametrize("name", NAMES)


@EVERY
def test_kinds_of_frames(name):
    expected = ROWS.pr.evaluate(name, "y", "s", by="q")
    assert expected[name].null_count() == 0
    assert_same(ROWS.lazy().pr.evaluate(name, "y", "s", by="q").collect(), expected)
    assert_same(pl.from_pandas(ROWS.to_pandas().pr.evaluate(name, "y", "s", by="q")), expected)
    parts = fp.partitioned(ROWS.lazy(), partitions=2, progress=False)
    assert_same(parts.evaluate(name, "y", "s", by="q"), expected)
    ranges = fp.partitioned(ROWS.lazy(), partitions=3, progress=False)
    assert_same(ranges.evaluate(name, "y", "s"), ROWS.pr.evaluate(name, "y", "s"))
    tallied = ROWS.pr.tally("y", "s", by="q").pr.evaluate(name, "y", "s", by="q", count="count")
    assert_same(tallied, expected)


@EVERY
def test_extra_columns_and_expressions(name):
    expected = ROWS.pr.evaluate(name, "y", "s", by="q")
    rows = ROWS.pr.with_metrics(name, "y", "s", by="q")
    assert_same(rows.select("q", name).unique().sort("q"), expected)
    grouped = ROWS.group_by("q").agg(pl.col("s").pr.metric(name, "y").alias(name)).sort("q")
    assert_same(grouped, expected)


@EVERY
def test_means(name):
    values = ROWS.pr.evaluate(name, "y", "s", by="q")[name]
    means = ROWS.pr.evaluate({"m": name}, "y", "s", mean_over="q")
    assert means["m"].item() == near(values.mean())


@EVERY
def test_weights_and_counts(name):
    repeated = ROWS.select(pl.all().repeat_by("w")).explode(pl.all())
    expected = repeated.pr.evaluate(name, "y", "s", by="q")
    assert_same(ROWS.pr.evaluate(name, "y", "s", by="q", count="w"), expected)
    if name in OF_RANKS:
        with pytest.raises(ValueError, match="weight"):
            ROWS.pr.evaluate(name, "y", "s", by="q", weight="w")
        return
    weighted = ROWS.pr.evaluate(name, "y", "s", by="q", weight="w")
    assert_same(weighted.cast(expected.schema), expected)


@EVERY
def test_ties(name):
    # Without ties, all rules agree.
    rows = ROWS.with_columns(s=(pl.int_range(120) * 37 % 127 + 1) / 128)
    expected = rows.pr.evaluate(name, "y", "s", by="q")
    refusals = []
    for rule in ("order", "expected", "optimistic", "pessimistic"):
        try:
            found = rows.pr.evaluate(name, "y", "s", by="q", ties=rule)
        except ValueError as error:
            refusals.append(str(error))
            continue
        assert_same(found.cast(expected.schema), expected)
    # A best threshold has no expectation over orders, and a rate there no bounds.
    assert bool(refusals) == ("max_" in name or "min_" in name)
    assert all(text.startswith(f"{name} ") for text in refusals)


@EVERY
def test_prevalence(name):
    if name in OF_RANKS:
        with pytest.raises(ValueError, match="prevalence"):
            ROWS.pr.evaluate(name, "y", "s", prevalence=0.5)
        return
    # At the prevalence of the rows, nothing changes but the counts, which become shares.
    share = ROWS["y"].mean()
    value = ROWS.pr.evaluate(name, "y", "s", prevalence=share)[name].item()
    assert value == near(float(ROWS.pr.evaluate(name, "y", "s")[name].item()))


@EVERY
@pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")
def test_intervals_and_comparisons(name):
    value = ROWS.pr.evaluate(name, "y", "s")[name].cast(pl.Float64).item()
    bounds = ROWS.pr.intervals(name, "y", "s", repeats=100, method="bootstrap")
    assert bounds["value"].item() == near(value)
    if name.startswith("selection_rate@") and name in OF_RANKS:
        # It is the same in all replicates.
        assert bounds["low"].item() is None
        return
    assert bounds["low"].item() <= value <= bounds["high"].item()
    other = ROWS.pr.evaluate(name, "y", "t")[name].cast(pl.Float64).item()
    compared = ROWS.pr.compare(name, "y", ["s", "t"], repeats=100, method="bootstrap")
    assert compared["difference"].item() == near(other - value)
    assert compared["low"].item() <= other - value <= compared["high"].item()
