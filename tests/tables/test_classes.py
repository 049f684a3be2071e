"""Classes become rows, whose figures are scikit-learn's averages."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from compare import near

import frame_pr as fp

F = Fraction
IMAGES = pl.DataFrame(
    {
        "image": [1, 2, 3, 4, 5],
        "shown": ["cat", "dog", "cat", "owl", "dog"],
        "cat": [0.7, 0.5, 0.6, 0.1, 0.2],
        "dog": [0.2, 0.4, 0.3, 0.5, 0.7],
        "owl": [0.1, 0.1, 0.1, 0.4, 0.1],
        "n": [1, 2, 1, 3, 1],
        "predicted": ["cat", "cat", "cat", "dog", "dog"],
    }
)
CLASSES = ["cat", "dog", "owl"]
# Dogs stand at ranks 1 and 3 of the score of dogs: (1/1 + 2/3) / 2.
PER_CLASS = [("cat", F(1)), ("dog", F(5, 6)), ("owl", F(1))]


def read(frame):
    return frame.fill_nan(None)


def test_per_class_macro_and_micro():
    long = IMAGES.pr.unpivot_classes("shown", CLASSES)
    found = long.pr.average_precision("truth", "score", by="class")
    assert found.rows() == [(name, near(value)) for name, value in PER_CLASS]
    macro = long.pr.evaluate("average_precision", "truth", "score", by="class", mean_over="class")
    assert macro["mean_average_precision"].item() == near(F(17, 18))
    # In one ranking .7 (cat, dog: 2 of 2), .6 (3 of 3), .5 (none of two), .4 (dog and owl: 5 of 7):
    # (2 * 1 + 1 * 1 + 2 * 5/7) / 5 = 31/35.
    micro = long.pr.average_precision("truth", "score").item()
    assert micro == near(F(31, 35))


def test_weighted_rows():
    long = IMAGES.pr.unpivot_classes("shown", CLASSES)
    found = long.pr.average_precision("truth", "score", by="class", weight="n")
    # Dogs: weight 1 of 1 at .7, then 3 owls at .5, then 2 of 2 at .4: (1 * 1 + 2 * 3/6) / 3.
    assert found["average_precision"].to_list() == [near(F(1)), near(F(2, 3)), near(F(1))]
    micro = long.pr.average_precision("truth", "score", weight="n").item()
    # Weights, hits first: .7 (2), .6 (1 more), .5 (2 + 3 misses), .4 (2 + 3 hits): (3 + 5 * 8/13) /
    # 8.
    assert micro == near(F(3, 8) + F(5, 8) * F(8, 13))


def test_predicted_labels():
    long = IMAGES.pr.unpivot_classes("shown", prediction="predicted", classes=CLASSES)
    call = {"truth": "truth", "prediction": "prediction", "rates": ["precision", "recall", "f1"]}
    table = read(long.pr.confusion(**call, by="class"))
    # cat: 3 predicted, 2 right of 2. dog: 2 predicted, 1 right of 2. owl: none predicted of 1.
    assert table["precision"].to_list() == [near(F(2, 3)), near(F(1, 2)), None]
    assert table["recall"].to_list() == [near(F(1)), near(F(1, 2)), near(F(0))]
    assert table["f1"].to_list() == [near(F(4, 5)), near(F(1, 2)), near(F(0))]
    micro = long.pr.confusion(**call)
    assert micro["f1"].item() == near(F(3, 5))


def test_a_class_that_is_never_shown():
    data = IMAGES.with_columns(bat=pl.lit(0.0))
    found = data.pr.unpivot_classes("shown", [*CLASSES, "bat"]).pr.evaluate(
        "average_precision", "truth", "score", by="class", mean_over="class"
    )
    assert found.row(0) == (4, 1, near(F(17, 18)))


def test_rows_and_types():
    data = IMAGES.head(2).with_columns(pl.col("shown").cast(pl.Enum(["owl", "dog", "cat"])))
    long = data.pr.unpivot_classes("shown", {"dog": "dog", "cat": "cat"})
    assert long.columns == ["image", "owl", "n", "predicted", "class", "truth", "score"]
    assert long.schema["class"] == data.schema["shown"]
    assert long.select("image", "class", "truth", "score").rows() == [
        (1, "dog", False, 0.2),
        (2, "dog", True, 0.4),
        (1, "cat", True, 0.7),
        (2, "cat", False, 0.5),
    ]


def test_a_lazy_frame_stays_lazy_and_tells_its_schema():
    lazy = IMAGES.lazy().pr.unpivot_classes("shown", CLASSES, prediction="predicted")
    assert isinstance(lazy, pl.LazyFrame)
    eager = IMAGES.pr.unpivot_classes("shown", CLASSES, prediction="predicted")
    assert lazy.collect_schema() == eager.schema
    for engine in ("in-memory", "streaming"):
        assert lazy.collect(engine=engine).equals(eager)


@pytest.mark.parametrize(
    "labels", [[0, 1], [False, True], ["a", "b"]], ids=["numbers", "booleans", "texts"]
)
@pytest.mark.parametrize("carry", [False, True])
def test_labels_of_any_type(labels, carry):
    pick = [labels[i] for i in (0, 1, 1)]
    data = pl.DataFrame(
        {"y": pick, "p0": [0.9, 0.8, 0.1], "p1": [0.1, 0.2, 0.9]}
        | ({"id": [7, 8, 9]} if carry else {})
    )
    for frame in (data, data.lazy(), data.to_pandas()):
        long = frame.pr.unpivot_classes("y", dict(zip(labels, ["p0", "p1"], strict=True)))
        if isinstance(long, pl.LazyFrame):
            long = long.collect()
        elif frame is not data:
            long = pl.from_pandas(long)
        assert long["class"].to_list() == [labels[0]] * 3 + [labels[1]] * 3
        assert long["truth"].to_list() == [True, False, False, False, True, True]


def test_several_labels_a_row():
    data = pl.DataFrame(
        {"is_a": [1, 1, 0], "is_b": [0, 1, 1], "a": [0.9, 0.1, 0.5], "b": [1, 2, 3]}
    )
    long = data.pr.unpivot_classes({"a": "is_a", "b": "is_b"}, ["a", "b"])
    assert long["truth"].to_list() == [True, True, False, False, True, True]
    assert long["score"].to_list() == [0.9, 0.1, 0.5, 1.0, 2.0, 3.0]


def test_missing_labels_and_scores_stay():
    data = pl.DataFrame({"y": ["a", None], "a": [None, 0.5], "b": [0.1, 0.2]})
    long = data.pr.unpivot_classes("y", ["a", "b"])
    assert long["truth"].to_list() == [True, None, False, None]
    assert long["score"].to_list() == [None, 0.5, 0.1, 0.2]
    with pytest.raises(ValueError, match="truth column 'truth' has 2 missing"):
        long.pr.average_precision("truth", "score", by="class", unscored="drop")


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt8, pl.Float64])
@pytest.mark.parametrize(
    "columns",
    [["0", "1"], pd.Index(["0", "1"]), range(2), np.arange(2.0), [0, 1], {0: "0", 1: "1"}],
)
def test_columns_named_by_numbers(dtype, columns):
    data = pl.DataFrame({"y": pl.Series([0, 1], dtype=dtype), "0": [0.7, 0.4], "1": [0.3, 0.6]})
    rows = fp.unpivot_classes(data, "y", columns)
    assert rows.rows() == [(0, True, 0.7), (0, False, 0.4), (1, False, 0.3), (1, True, 0.6)]


SHARES = pl.DataFrame(
    {"shown": ["cat", "dog", "cat"], "cat": [0.7, 0.2, 0.6], "dog": [0.3, 0.8, 0.4]}
)


def test_labels_that_are_written_in_two_ways():
    frame = pl.DataFrame({"shown": ["cat", "dog", "cat"], "said": ["CAT", "DOG", "CAT"]})
    text = "column 'said' and truth column 'shown' have no label in common, they hold 'CAT', 'DOG'"
    for data in (frame, frame.lazy()):
        with pytest.warns(fp.DataWarning, match=text):
            fp.unpivot_classes(
                data, "shown", prediction="said", classes=["cat", "dog", "CAT", "DOG"]
            ).lazy().collect()
    # One wrong prediction is a wrong prediction.
    frame[:1].with_columns(said=pl.lit("dog")).pr.unpivot_classes(
        "shown", prediction="said", classes=["cat", "dog"]
    )
