"""Rows that stand for many: figures are those of so many rows, up to the limit of 2**56."""

import random
import re
from fractions import Fraction

import polars as pl
import pytest
from oracle import Group, Row

import frame_pr as fp

SCALES = [1, 10**6, 10**10, 10**15]
WHOLE = ["average_precision", "average_precision_lift"]
WHOLE += ["interpolated_average_precision", "interpolated_average_precision_101"]
WHOLE += ["roc_auc", "max_f1", "max_f0.3", "max_f2", "max_informedness", "min_cost3", "min_cost0.3"]
WHOLE += [
    "threshold@max_f1",
    "threshold@max_informedness",
    "threshold@min_cost3",
    "prevalence",
    "rows",
    "positives",
]
FIGURES = [
    "tp",
    "fp",
    "fn",
    "tn",
    "k",
    "precision",
    "recall",
    "specificity",
    "npv",
    "fpr",
    "fnr",
    "fdr",
    "accuracy",
]
FIGURES += ["f1", "f0.1", "f10", "mcc", "informedness", "markedness", "kappa"]
CUTS = [
    "1%",
    "30%",
    "100%",
    "recall=0.4",
    "recall=0.333333333333",
    "precision=0.5",
    "fpr=0.3",
    "threshold=2",
]
AT_CUTS = [f"{figure}@{cut}" for cut in CUTS for figure in FIGURES]
AT_CUTS += [
    "average_precision@30%",
    "average_precision@70%/positives",
    "average_precision@70%/hits",
    "r_precision",
]
AT_CUTS += [
    "interpolated_precision@recall=0.6",
    "threshold@recall=0.4",
    "threshold@fpr=0.3",
    "threshold@precision=0.5",
]


def tied(seed, scale):
    draw = random.Random(seed)
    rows = [
        (draw.random() < 0.4, draw.randint(0, 4), draw.randint(1, 9) * scale) for _ in range(12)
    ]
    return [(True, 2, scale), (False, 1, scale), *rows]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", [0])
def test_figures_are_exact_at_every_scale(seed, scale):
    rows, names = tied(seed, scale), [*WHOLE, *AT_CUTS]
    group = Group(
        [Row(y, s, weight=count) for y, s, count in rows], lambda s, t: s >= Fraction(t), {}, {}
    )
    frame = pl.DataFrame(rows, schema=["y", "s", "c"], orient="row")
    found = fp.evaluate(frame, names, "y", "s", count="c").row(0, named=True)
    for name in names:
        exact = group.value(name)
        assert found[name] == (
            None if exact is None else pytest.approx(float(exact), rel=1e-12, abs=2e-14)
        ), name


def test_judged_shares_do_not_depend_on_the_scale():
    rows = [(True, 2, 3), (None, 2, 4), (False, 1, 2)]
    for scale in SCALES:
        frame = pl.DataFrame(
            [(y, s, c * scale) for y, s, c in rows], schema=["y", "s", "c"], orient="row"
        )
        # The first 5 of 9 are all of the tied 7, of which 3 are judged.
        found = fp.evaluate(frame, "judged@50%", "y", "s", count="c", unjudged="negative")
        assert found.item() == pytest.approx(3 / 7, abs=1e-6)


def test_what_counts_ranks_converges():
    """Values that depend on single ranks differ by about 1 / rows from those of more rows."""
    names = [
        "average_precision",
        "average_precision@30%",
        "bpref",
        "roc_auc@fpr=0.3",
        "normalized_average_precision",
    ]
    for ties in ("threshold", "expected"):
        at = {
            scale: fp.evaluate(
                pl.DataFrame(tied(5, scale), schema=["y", "s", "c"], orient="row"),
                names,
                "y",
                "s",
                count="c",
                ties=ties,
            ).row(0)
            for scale in SCALES[1:]
        }
        for scale in SCALES[2:]:
            assert at[scale] == pytest.approx(at[10**6], abs=1e-5)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
def test_standard_errors_shrink_with_the_root_of_the_rows(metric):
    error = {}
    for scale in SCALES[1:]:
        frame = pl.DataFrame(tied(7, scale), schema=["y", "s", "c"], orient="row")
        error[scale] = (
            fp.intervals(frame, metric, "y", "s", count="c", details=True)["standard_error"].item()
            * scale**0.5
        )
    assert list(error.values()) == pytest.approx([error[10**6]] * 3, rel=1e-5)


def test_interpolated_curves_reach_the_same_levels_at_every_scale():
    heights = [
        fp.average_curve(
            pl.DataFrame(tied(9, scale), schema=["y", "s", "c"], orient="row").with_columns(q=1),
            "y",
            "s",
            mean_over="q",
            points=1001,
            count="c",
            interpolated=True,
        )["precision"].to_list()
        for scale in SCALES
    ]
    assert heights[1:] == heights[:1] * 3


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Float64, pl.Decimal(20, 0)])
def test_the_limit_is_exact(dtype):
    frame = pl.DataFrame(
        {"y": [1, 0], "s": [2, 1], "c": pl.Series([2**56 - 2**10, 2**10], dtype=dtype)}
    )
    assert fp.evaluate(frame, ["rows", "precision@100%"], "y", "s", count="c").row(0) == (
        2**56,
        1 - 2**-46,
    )
    more = frame.with_columns(c=pl.Series([2**56, 1], dtype=dtype))
    with pytest.raises(ValueError, match=re.escape("sums up to more than 2**56 rows")):
        fp.evaluate(more, "rows", "y", "s", count="c")


def test_the_limit_of_whole_weights_is_exact():
    frame = pl.DataFrame({"y": [1, 0], "s": [2, 1], "w": [2**56 - 1, 1]})
    assert fp.evaluate(frame, "rows", "y", "s", weight="w").item() == 2**56
    with pytest.raises(ValueError, match=re.escape("sums up to more than 2**56")):
        fp.evaluate(frame.with_columns(w=pl.Series([2**56, 1])), "rows", "y", "s", weight="w")
