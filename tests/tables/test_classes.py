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
    # Weights, hits first: .7 (2), .6 (1 more), .5 (2 + 3 misses), .4 (2 + 3 hits): (3 + 5 * 8/13) / 8.
    assert micro == near(F(3, 8) + F(5, 8) * F(8, 13))


def test_predicted_labels():
    long = IMAGES.pr.unpivot_classes("shown", prediction="predicted", classes=CLASSES)
    table = read(long.pr.confusion("truth", prediction="prediction", by="class"))
    # cat: 3 predicted, 2 right of 2. dog: 2 predicted, 1 right of 2. owl: none predicted of 1.
    assert table["precision"].to_list() == [near(F(2, 3)), near(F(1, 2)), None]
    assert table["recall"].to_list() == [near(F(1)), near(F(1, 2)), near(F(0))]
    assert table["f1"].to_list() == [near(F(4, 5)), near(F(1, 2)), near(F(0))]
    micro = long.pr.confusion("truth", prediction="prediction")
    assert micro["f1"].item() == near(F(3, 5))


def test_a_class_that_is_never_shown():
    data = IMAGES.with_columns(bat=pl.lit(0.0))
    found = data.pr.unpivot_classes("shown", [*CLASSES, "bat"]).pr.evaluate(
        "average_precision", "truth", "score", by="class", mean_over="class"
    )
    assert found.row(0) == (4, near(F(17, 18)), 1)


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


@pytest.mark.parametrize("labels", [[0, 1], [False, True], ["a", "b"]], ids=["numbers", "booleans", "texts"])
@pytest.mark.parametrize("carry", [False, True])
def test_labels_of_any_type(labels, carry):
    pick = [labels[i] for i in (0, 1, 1)]
    data = pl.DataFrame(
        {"y": pick, "p0": [0.9, 0.8, 0.1], "p1": [0.1, 0.2, 0.9]} | ({"id": [7, 8, 9]} if carry else {})
    )
    for frame in (data, data.lazy(), data.to_pandas()):
        long = frame.pr.unpivot_classes("y", dict(zip(labels, ["p0", "p1"], strict=True)))
        long = long.collect() if isinstance(long, pl.LazyFrame) else pl.from_pandas(long) if frame is not data else long
        assert long["class"].to_list() == [labels[0]] * 3 + [labels[1]] * 3
        assert long["truth"].to_list() == [True, False, False, False, True, True]


def test_several_labels_a_row():
    data = pl.DataFrame({"is_a": [1, 1, 0], "is_b": [0, 1, 1], "a": [0.9, 0.1, 0.5], "b": [1, 2, 3]})
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


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"scores": ["cat", "dog"]},
            ValueError,
            "truth column 'shown' has labels that are no class: 'owl' 1 time; name",
        ),
        (
            {"scores": None, "prediction": "predicted", "classes": ["dog", "owl"]},
            ValueError,
            "truth column 'shown' has labels that are no class: 'cat' 2 times",
        ),
        (
            {"truth": "n"},
            TypeError,
            "truth column 'n' is Int64, and the classes are texts: give the labels .*{0: \"p0\"",
        ),
        (
            {"scores": {1: "cat", 2: "dog"}},
            TypeError,
            "'shown' is String, of which the classes 1, 2 cannot all be labels",
        ),
        ({"scores": ["cat", "cat"]}, ValueError, "scores gives column 'cat' twice"),
        ({"scores": ["cat", "dog", "shown"]}, ValueError, "column 'shown' is given twice, to truth= and to scores="),
        ({"scores": None}, ValueError, "unpivot_classes takes scores, prediction= or both: got none"),
        ({"scores": None, "prediction": "predicted"}, ValueError, r"prediction alone needs classes=\[...\]"),
        ({"classes": CLASSES}, ValueError, "classes= names the classes where nothing else does"),
        (
            {"scores": None, "prediction": "predicted", "classes": ["cat", "cat"]},
            ValueError,
            "classes has 'cat' twice",
        ),
        (
            {"scores": None, "prediction": "n", "classes": CLASSES},
            TypeError,
            "'shown' is String and prediction column 'n' is",
        ),
        ({"truth": {"cat": "n"}}, ValueError, "must name the same classes; 'dog', 'owl' is in one of them only"),
        (
            {"truth": {"cat": "n"}, "scores": None, "prediction": "predicted"},
            ValueError,
            "prediction is a column of one label",
        ),
        ({"scores": ["cat", "dog", "predicted"]}, TypeError, "score column 'predicted' is String: it must be numeric"),
        ({"scores": ["cat", "dgo"]}, ValueError, "scores: no column 'dgo' in the frame; did you mean 'dog'"),
    ],
)
def test_wrong_arguments(given, error, message):
    for frame in (IMAGES, IMAGES.lazy()):
        with pytest.raises(error, match=message):
            fp.unpivot_classes(frame, **{"truth": "shown", "scores": CLASSES} | given).lazy().collect()


@pytest.mark.parametrize("name", ["class", "truth", "score"])
def test_carried_columns_like_those_of_the_result(name):
    with pytest.raises(ValueError, match=f"the frame has a column '{name}', as the result has one"):
        IMAGES.with_columns(pl.lit(1).alias(name)).pr.unpivot_classes("shown", CLASSES)


def test_multilabel_truths_are_checked():
    data = pl.DataFrame({"a": [2, 1], "b": [0, 1], "p": [0.1, 0.2], "q": [0.3, 0.4]})
    with pytest.raises(ValueError, match="truth column 'a' is neither boolean nor 0/1, it holds 1, 2"):
        data.pr.unpivot_classes({"x": "a", "y": "b"}, {"x": "p", "y": "q"})


@pytest.mark.parametrize("columns", [np.array(["cat", "dog"]), pd.Index(["cat", "dog"]), ("cat", "dog")])
def test_scores_may_be_an_array_of_names(columns):
    frame = pl.DataFrame({"shown": ["cat", "dog"], "cat": [0.7, 0.5], "dog": [0.3, 0.5]})
    assert frame.pr.unpivot_classes("shown", columns).equals(frame.pr.unpivot_classes("shown", ["cat", "dog"]))
    data = frame.to_pandas()
    assert data.pr.unpivot_classes("shown", data.columns[1:]).equals(data.pr.unpivot_classes("shown", ["cat", "dog"]))


def test_scores_may_be_a_series_of_names():
    assert SHARES.pr.unpivot_classes("shown", pl.Series(["cat", "dog"])).equals(
        SHARES.pr.unpivot_classes("shown", ["cat", "dog"])
    )


@pytest.mark.parametrize("columns", [np.arange(2), [0, 1], range(2), {0: 0, 1: 1}])
def test_classes_of_a_model_that_are_numbers(columns):
    data = pl.DataFrame({"digit": [0, 1], "0": [0.75, 0.5], "1": [0.25, 0.5]})
    long = data.pr.unpivot_classes("digit", columns)
    assert long.select(pl.col("class").cast(pl.Int64), "truth", "score").rows() == [
        (0, True, 0.75),
        (0, False, 0.5),
        (1, False, 0.25),
        (1, True, 0.5),
    ]
    with pytest.raises(TypeError, match="got 2"):
        data.pr.unpivot_classes("digit", [0, 2])


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt8, pl.Float64])
@pytest.mark.parametrize(
    "columns", [["0", "1"], pd.Index(["0", "1"]), range(2), np.arange(2.0), [0, 1], {0: "0", 1: "1"}]
)
def test_columns_named_by_numbers(dtype, columns):
    data = pl.DataFrame({"y": pl.Series([0, 1], dtype=dtype), "0": [0.7, 0.4], "1": [0.3, 0.6]})
    rows = fp.unpivot_classes(data, "y", columns)
    assert rows.rows() == [(0, True, 0.7), (0, False, 0.4), (1, False, 0.3), (1, True, 0.6)]


def test_columns_of_pandas_that_are_floats():
    frame = pd.DataFrame([[0.7, 0.3], [0.4, 0.6]], columns=[0.0, 1.0]).assign(y=[0.0, 1.0])
    for columns in ([0, 1], np.array([0.0, 1.0]), frame.columns[:2]):
        assert list(fp.unpivot_classes(frame, "y", columns)["class"]) == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("classes", [3, "cat"])
def test_classes_are_a_list(classes):
    frame = pl.DataFrame({"shown": ["cat", "dog"], "said": ["dog", "dog"]})
    with pytest.raises(TypeError, match="classes takes a list of labels, got"):
        frame.pr.unpivot_classes("shown", prediction="said", classes=classes)


SHARES = pl.DataFrame({"shown": ["cat", "dog", "cat"], "cat": [0.7, 0.2, 0.6], "dog": [0.3, 0.8, 0.4]})


@pytest.mark.parametrize(
    ("columns", "scores", "text"),
    [
        # Those of another model: sums of 1.2, 1.1 and 1.5.
        ({"dog": [0.5, 0.9, 0.9]}, ["cat", "dog"], "scores: the columns of the classes sum up to 1.1 to 1.5 in a row"),
        ({"fox": [0.1, 0.1, 0.1]}, ["cat", "dog", "fox"], "sum up to 1.1 to 1.1 in a row"),
        ({}, {"cat": "dog", "dog": "cat"}, "scores: class 'cat' has column 'dog', which is named like another class"),
    ],
)
def test_columns_that_are_hardly_those_of_the_classes(columns, scores, text):
    data = SHARES.with_columns(**{name: pl.Series(values) for name, values in columns.items()})
    with pytest.warns(fp.DataWarning, match=text):
        fp.unpivot_classes(data, "shown", scores)


@pytest.mark.parametrize(
    ("columns", "truth", "scores"),
    [
        ({}, "shown", {"cat": "cat", "dog": "dog"}),
        ({"dog": [0.31, 0.79, 0.41]}, "shown", ["cat", "dog"]),  # rounded
        ({"dog": [0.3, 0.9, 0.4]}, "shown", ["cat", "dog"]),  # one row of three
        ({"dog": [0.5, 0.9, 0.9]}, "shown", {"cat": "cat", "dog": "dog"}),  # a dict says that they are meant
        ({"dog": [-0.3, 0.9, 1.7]}, "shown", ["cat", "dog"]),  # no shares, as of a support vector machine
        ({"cat": [1, 0, 1], "dog": [1, 0, 1]}, "shown", ["cat", "dog"]),  # votes
        (
            {"isa": [1, 0, 1], "isb": [1, 1, 0], "dog": [0.9, 0.9, 0.1]},
            {"a": "isa", "b": "isb"},
            {"a": "cat", "b": "dog"},
        ),
    ],
)
def test_columns_that_may_be_those_of_the_classes(columns, truth, scores):
    data = SHARES.with_columns(**{name: pl.Series(values) for name, values in columns.items()})
    assert data.pr.unpivot_classes(truth, scores).height == 6


def test_texts_for_classes_that_are_numbers():
    data = pl.DataFrame({"y": [0, 1], "p": [0, 1]})
    for call in (
        lambda: data.pr.confusion_matrix("y", "p", classes=["0", "1"]),
        lambda: data.pr.unpivot_classes("y", prediction="p", classes=["0", "1"]),
    ):
        with pytest.raises(
            TypeError, match=r"the classes are texts: give the labels as the column has them, such as \[0, 1\]$"
        ):
            call()
    with pytest.raises(TypeError, match="classes: a set has no order"):
        data.pr.confusion_matrix("y", "p", classes={0, 1})
