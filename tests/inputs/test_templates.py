"""Plans that are kept for the next call: each call gives what a new plan would give, and leaves nothing behind."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_pr as fp
from frame_pr.inputs import templates

SCORES = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64]
NAMES = ["average_precision", "precision@2", "threshold@max_f1", "ndcg@3", "roc_auc"]


def rows(seed: int = 0, height: int = 20) -> pl.DataFrame:
    number = pl.int_range(height) * 7 + seed
    return pl.select(
        q=number % 3 - 1,
        text=(number % 3).cast(pl.String),
        y=number % 5 < 2,
        s=(number * number % 11) / 7,
        w=number % 4,
    )


@pytest.fixture(autouse=True)
def no_templates():
    templates._templates.cache_clear()


def usual(frame: pl.DataFrame, *arguments, **options) -> pl.DataFrame:
    """The result without a template."""
    return frame.lazy().pr.evaluate(*arguments, **options).collect()


@pytest.mark.parametrize("by", [None, "q", "text", ["q", "text"]])
@pytest.mark.parametrize("options", [{}, {"weight": "w"}])
def test_a_second_call_has_the_values_of_its_own_rows(by, options):
    names = NAMES if "weight" not in options else ["average_precision", "threshold@max_f1"]
    for seed in range(4):
        frame = rows(seed)
        found = fp.evaluate(frame, names, "y", "s", by=by, **options)
        assert_frame_equal(found, usual(frame, names, "y", "s", by=by, **options), check_exact=True)
    assert templates._templates.cache_info().currsize == 1


@pytest.mark.parametrize(
    "options", [{}, {"figures": ["f1"], "points": 3}, {"by": "text", "weight": "w"}, {"by": "q", "ties": "optimistic"}]
)
def test_a_second_curve_has_the_thresholds_of_its_own_rows(options):
    for seed in range(3):
        frame = rows(seed)
        found = fp.curve(frame, "y", "s", **options)
        assert_frame_equal(found, frame.lazy().pr.curve("y", "s", **options).collect(), check_exact=True)
    assert templates._templates.cache_info().currsize == 1


def test_means_and_systems():
    for seed in range(3):
        frame = rows(seed).with_columns(t=pl.col("w") * 0.5)
        for options in ({"mean_over": "q"}, {"mean_over": True, "statistics": ["min", "weighted"]}):
            found = fp.evaluate(frame, {"ap": NAMES[0], "p": NAMES[1]}, "y", ["s", "t"], by="q", **options)
            assert_frame_equal(found, usual(frame, {"ap": NAMES[0], "p": NAMES[1]}, "y", ["s", "t"], by="q", **options))


def test_other_types_and_labels_have_other_templates():
    frame = rows()
    for dtype in (pl.Int8, pl.Int64, pl.UInt64, pl.String, pl.Date, pl.Enum(["-1", "0", "1"]), pl.Categorical):
        keys = pl.col("q").cast(pl.String) if dtype == pl.Categorical or isinstance(dtype, pl.Enum) else pl.col("q")
        typed = frame.with_columns(q=keys.cast(dtype, strict=False))
        for _ in range(2):
            assert fp.average_precision(typed, "y", "s", by="q").schema["q"] == dtype
    whole = frame.with_columns(y=pl.col("y").cast(pl.Int64))
    for positive in (1, 0, 1.0, 1):
        found = fp.evaluate(whole, "positives", "y", "s", positive=positive)
        assert found.item() == (whole["y"] == positive).sum()


def test_keys_that_do_not_fit_the_plan_go_the_usual_way():
    small, large = rows(), rows().with_columns(q=pl.col("q") * 2**61)
    for frame in (small, large, small, large):
        found = fp.average_precision(frame, "y", "s", by="q")
        assert_frame_equal(found, usual(frame, "average_precision", "y", "s", by="q"), check_exact=True)


def test_errors_and_warnings_are_those_of_each_call():
    good, missing = rows(), rows().with_columns(s=pl.lit(None, dtype=pl.Float64))
    classes = rows().with_columns(s=(pl.col("w") > 1).cast(pl.Float64), y=pl.col("w") > 1)
    for _ in range(2):
        fp.average_precision(good, "y", "s", by="q")
        with pytest.raises(ValueError, match="20 missing"):
            fp.average_precision(missing, "y", "s", by="q")
        with pytest.warns(fp.DataWarning, match="equals the label"):
            fp.average_precision(classes, "y", "s", by="q")
        with pytest.raises(ValueError, match="no column 's'"):
            fp.average_precision(good.drop("s"), "y", "s", by="q")
        with pytest.raises(TypeError, match="must be numeric"):
            fp.average_precision(good.with_columns(s=pl.col("text")), "y", "s", by="q")


def test_a_template_keeps_no_rows():
    kept = []
    for frame in (rows(), rows(1).with_columns(s=pl.lit(None, dtype=pl.Float64))):
        column = frame.get_column("s")
        kept.append(weakref.ref(column))
        with suppress(ValueError):
            fp.average_precision(frame, "y", "s", by="q")
        del frame, column
    gc.collect()
    assert [reference() for reference in kept] == [None, None]
    cells = [cell for cell in gc.get_objects() if isinstance(cell, templates.Cell)]
    assert cells
    assert all(cell.data is None for cell in cells)


@pytest.mark.slow
def test_threads_have_rows_of_their_own():
    expected = {seed: usual(rows(seed, 50), NAMES, "y", "s", by="q") for seed in range(8)}

    def differs(seed: int) -> bool:
        return not fp.evaluate(rows(seed, 50), NAMES, "y", "s", by="q").equals(expected[seed])

    with ThreadPoolExecutor(8) as pool:
        assert not any(pool.map(differs, [*range(8)] * 10))
    copies = [len(t._free) for t in gc.get_objects() if isinstance(t, templates.Template)]
    assert copies
    assert max(copies) <= templates._COPIES


@pytest.mark.slow
def test_what_is_kept_is_bounded():
    frame = rows()
    for k in range(1, templates._MOST + 10):
        fp.precision_at_k(frame.head(3), "y", "s", k)
    assert templates._templates.cache_info().currsize == templates._MOST
    templates._templates.cache_clear()
    gc.collect()
    for dtype in SCORES:
        fp.average_precision(frame.with_columns(s=pl.int_range(20).cast(dtype)), "y", "s")
    (kept,) = (each for each in gc.get_objects() if isinstance(each, templates.Templates))
    assert len(kept._by_dtypes) == len(SCORES) - templates._DTYPES
