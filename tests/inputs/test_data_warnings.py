"""Data that look like a mistake get a warning, and their legitimate neighbours do not."""

import warnings

import polars as pl
import pytest

import frame_pr as fp

AP = "average_precision"
ROWS = pl.DataFrame(
    {
        "q": list("aaaabbbbcccc"),
        "y": [1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0],
        "label": list("xyyxyxxyxyyy"),
        "predicted": [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0],
        "s": [0.9, 0.8, 0.7, 0.6, 0.95, 0.85, 0.75, 0.65, 0.5, 0.4, 0.3, 0.2],
    }
)


def result(frame, call):
    return call(frame)


def warns(frame, call, text):
    with pytest.warns(fp.DataWarning, match=text) as told:
        result(frame, call)
    assert len(told) == 1
    # As an error it is the same sentence, also out of the plan of a LazyFrame.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(fp.DataWarning, match=text):
            result(frame, call)


@pytest.mark.parametrize(
    "call",
    [
        lambda frame: fp.average_precision(frame, "y", "predicted", by="q"),
        lambda frame: fp.report(frame, "y", "predicted"),
        lambda frame: fp.evaluate(frame, ["precision@2", "f1@threshold=1"], "y", "predicted"),
        lambda frame: fp.confusion(frame, "y", "predicted", k=2),
        lambda frame: fp.curve(frame, "y", "predicted"),
        lambda frame: fp.intervals(frame, AP, "y", "predicted"),
        lambda frame: fp.with_metrics(frame, "roc_auc", "label", "predicted", positive="x"),
        lambda frame: fp.average_curve(frame, "y", "predicted", mean_over="q"),
    ],
)
def test_predicted_classes_as_a_score(call):
    warns(ROWS, call, "score: column 'predicted' holds only the whole numbers 0 and 1")


@pytest.mark.parametrize(
    ("dtype", "ends"),
    [
        (pl.Float64, "0 and 1"),  # Spark, and pandas with a missing value
        (pl.Float32, "0 and 1"),
        (pl.Decimal(3, 2), "0 and 1"),
        (pl.UInt8, "0 and 1"),
        (pl.Int64, "-1 and 1"),  # outlier detectors
        (pl.Float64, "-1 and 1"),
    ],
)
def test_predicted_classes_of_any_dtype(dtype, ends):
    classes = pl.col("predicted") * 2 - 1 if ends == "-1 and 1" else pl.col("predicted")
    frame = ROWS.with_columns(classes.cast(dtype))
    text = f"score: column 'predicted' holds only the whole numbers {ends}, which look like"
    with pytest.warns(fp.DataWarning, match=text):
        fp.average_precision(frame, "y", "predicted", by="q")
    with pytest.warns(fp.DataWarning, match=text):
        fp.average_precision(frame.to_pandas(), "y", "predicted", by="q")
    lazy = fp.average_precision(frame.lazy(), "y", "predicted", by="q")
    with pytest.warns(fp.DataWarning, match=text):
        lazy.collect()


def test_predicted_classes_with_missing_values():
    for missing in (None, float("nan")):
        frame = ROWS.with_columns(p=pl.Series([1.0, 0.0, missing, 1.0] * 3))
        warns(
            frame,
            lambda frame: fp.roc_auc(frame, "y", "p", unscored="drop"),
            "score: column 'p' holds only the whole numbers 0 and 1",
        )


@pytest.mark.parametrize(
    ("frame", "call"),
    [
        (ROWS, lambda frame: fp.evaluate(frame, ["f1@threshold=1", "positives"], "y", "predicted")),
        (ROWS, lambda frame: fp.confusion(frame, "y", "predicted", threshold=1)),
        (ROWS, lambda frame: fp.confusion(frame, "y", prediction="predicted")),
        (ROWS, lambda frame: fp.average_precision(frame, "y", "predicted", ties="expected")),
        (ROWS, lambda frame: fp.average_precision(frame, "y", "predicted", ties="threshold")),
        (ROWS, lambda frame: fp.average_precision(frame, "y", "predicted", tie_break="s")),
        (
            ROWS,
            lambda frame: fp.evaluate(frame, AP, "y", ["s", "predicted"]),
        ),  # a rule, compared with a model
        (
            ROWS.with_columns(predicted=1),
            lambda frame: fp.average_precision(frame, "y", "predicted"),
        ),  # a constant
        (
            ROWS.with_columns(pl.col("predicted") * 2),
            lambda frame: fp.average_precision(frame, "y", "predicted"),
        ),
        # Probabilities between, and exactly, 0 and 1.
        (
            ROWS.with_columns(p=pl.Series([0.0, 1.0, 0.5] * 4)),
            lambda frame: fp.average_precision(frame, "y", "p", by="q"),
        ),
        # Three classes, of which the largest is 1.
        (
            ROWS.with_columns(p=pl.Series([-1.0, 1.0, 0.0] * 4)),
            lambda frame: fp.average_precision(frame, "y", "p", by="q"),
        ),
        # The first and the second of two: they are ranked.
        (
            ROWS[:2].with_columns(r=pl.Series([1, 0])),
            lambda frame: fp.average_precision(frame, "y", "r"),
        ),
        (
            ROWS[2:6].with_columns(r=pl.Series([1, 0] * 2)),
            lambda frame: fp.average_precision(frame, "y", "r", by="q"),
        ),
    ],
)
def test_scores_of_0_and_1_that_are_meant(frame, call):
    result(frame, call)


@pytest.mark.parametrize(
    ("scale", "threshold"), [(1, 50), (1, [50, 75]), (1, 2.5), (100, 0.5), (100, 1000), (0.001, 5)]
)
def test_thresholds_on_another_scale(scale, threshold):
    scaled = ROWS.with_columns(s=(pl.col("s") * 0.5 + 0.4) * scale)
    text = "threshold: .* far from all scores of column 's'"
    warns(scaled, lambda frame: fp.confusion(frame, "y", "s", threshold=threshold), text)
    warns(scaled, lambda frame: fp.report(frame, "y", "s", threshold=threshold), text)


@pytest.mark.parametrize(
    ("scale", "threshold"),
    [
        (1, 0.99),  # a day without an alarm
        (0.01, 0.5),  # so rare that no probability is high
        (1, 1),
        (1, [50, 0.5]),  # some are reached
        (1, float("inf")),  # to predict nothing, or all
        (1, -1),
        (1, 1e300),
        (100, 90),
        (-1, 0),
    ],
)
def test_thresholds_that_some_scores_may_reach(scale, threshold):
    scaled = ROWS.with_columns(s=(pl.col("s") * 0.5 + 0.4) * scale)
    result(scaled, lambda frame: fp.confusion(frame, "y", "s", threshold=threshold))


TOTALS = ROWS.with_columns(N=pl.lit(20), P=pl.lit(10), doc=pl.col("s") * 10)
AT = "precision@threshold=0.5"


@pytest.mark.parametrize(
    ("option", "call"),
    [
        ("total_rows", lambda frame: fp.average_precision(frame, "y", "s", total_rows="N")),
        (
            "total_rows",
            lambda frame: fp.evaluate(
                frame, [AP, "recall@2", AT], "y", "s", by="q", total_rows="N"
            ),
        ),
        (
            "total_rows",
            lambda frame: fp.with_metrics(frame, "k@recall=0.5", "y", "s", total_rows="N"),
        ),
        (
            "total_rows",
            lambda frame: fp.average_curve(frame, "y", "s", mean_over="q", total_rows="N"),
        ),
        (
            "total_positives",
            lambda frame: fp.evaluate(frame, "k@threshold=0.5", "y", "s", total_positives="P"),
        ),
    ],
)
def test_options_that_change_nothing(option, call):
    warning = f"^{option}: the option changes nothing, as .*; leave it out$"
    warns(TOTALS, call, warning)
    # Nobody looks at what it holds, whatever a plan of polars happens to compute.
    warns(TOTALS.with_columns(N=pl.lit(-1), P=pl.lit(-1)), call, warning)


@pytest.mark.parametrize("metric", ["precision@2", "precision@threshold=0.5"])
def test_a_frame_of_totals_adds_groups_whatever_the_metrics(metric):
    # Groups a and b have 1 positive in 2 rows, and c has no rows: precision is 0 of 2, or null.
    rows = pl.DataFrame({"q": ["a", "a", "b", "b"], "y": [1, 0, 1, 0], "s": [1.0, 0.5] * 2})
    totals = pl.DataFrame({"q": ["a", "b", "c"], "P": [1, 1, 3]})
    found = fp.evaluate(
        rows, metric, "y", "s", by="q", mean_over="q", undefined=0.0, total_positives=totals
    )
    assert found.row(0) == (3, pytest.approx(1 / 3))


PARTLY = ROWS.with_columns(pl.when(pl.col("q") != "b").then("y"))


@pytest.mark.parametrize("more", [{}, {"undefined": 0.0}])
def test_groups_that_nobody_judged_in_a_mean(more):
    def call(frame):
        return fp.evaluate(frame, AP, "y", "s", by="q", mean_over="q", unjudged="negative", **more)

    warns(PARTLY, call, "unjudged: 1 group has no label in column 'y', of 3")


def test_the_warning_names_the_line_of_the_caller():
    with pytest.warns(fp.DataWarning) as told:
        ROWS.pr.average_precision("y", "predicted")
    assert told[0].filename == __file__


def test_parts_of_a_frame_are_silent():
    # A part may well hold other scores than the whole.
    fp.partitioned(PARTLY, partitions=2, progress=False).evaluate(
        ["precision@threshold=50", AP], "y", "s", by="q", mean_over="q", unjudged="negative"
    )


# The sum of the ranks of the positives: 3 + 3 + 1 = 7. Without a relation it is 6 + 6 + 2 = 14,
# with a variance of 3 + 3 + 2/3 (p (n - p) (n + 1) / 12 of each query): 7 is 2.7 standard errors
# below.
RANKS = pl.DataFrame(
    {
        "q": list("aaaaabbbbbccc"),
        "y": [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0],
        "rank": [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3],
    }
)


@pytest.mark.parametrize(
    "rank",
    [
        pl.col("rank"),
        pl.col("rank").cast(pl.UInt8),
        pl.col("rank").cast(pl.Float32),
        (-pl.col("rank")).rank(descending=True).over("q"),  # of polars: Float64
        # Ranks of ties: 1, 2.5, 2.5, 4, 5.
        pl.col("rank").cast(pl.Float64).replace([2, 3], 2.5),
        # 1, 2, 2, 4, 5
        pl.col("rank").replace({3: 2}),
    ],
)
def test_ranks_as_a_score(rank):
    frame = RANKS.with_columns(rank.alias("rank"))
    text = (
        "score: column 'rank' holds the ranks 1 to n of each group, .* ascending=True ranks lower"
    )
    warns(frame, lambda frame: fp.average_precision(frame, "y", "rank", by="q"), text)
    warns(
        frame.sample(fraction=1, shuffle=True, seed=1),
        lambda frame: fp.curve(frame, "y", "rank", by="q"),
        text,
    )
    # Of many groups, a sample is looked at.
    many = pl.concat(frame.with_columns(pl.col("q") + str(i)) for i in range(50)).sample(
        fraction=1, shuffle=True
    )
    warns(many, lambda frame: fp.average_precision(frame, "y", "rank", by="q"), text)


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (RANKS, {"ascending": True}),
        (RANKS.with_columns(rank=1), {"ascending": True}),
        (RANKS.with_columns(y=1 - pl.col("y")), {}),  # positives have large values
        (RANKS.with_columns(pl.col("rank") + 1), {}),
        (RANKS.with_columns(pl.col("rank") + 0.5), {}),
        (RANKS.with_columns(pl.col("rank").replace({2: 1, 3: 2, 4: 3, 5: 3})), {}),  # ratings
        (RANKS[10:], {}),  # in a group of three, any order is likely
        (RANKS[:5], {}),  # of five rows, too: 3 is 1.7 standard errors below 6
        # Positives at 1, 2 and 5 have ranks that sum to 8, and 9 is expected.
        (RANKS[:5].with_columns(y=pl.Series([1, 1, 0, 0, 1])), {}),
    ],
)
def test_whole_numbers_that_are_no_ranks(frame, options):
    fp.average_precision(frame, "y", "rank", by="q", **options)
