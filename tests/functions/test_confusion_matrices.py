"""How often each class was taken for each, by counting on a page."""

from fractions import Fraction

import polars as pl
import pytest
from compare import assert_same, near
from kinds import KINDS

import frame_pr as fp

F = Fraction
IMAGES = pl.DataFrame(
    {
        "shown": ["cat", "dog", "cat", "owl", "dog"],
        "predicted": ["cat", "cat", "cat", "dog", "dog"],
        "n": [1, 2, 1, 3, 1],
    }
)
CLASSES = ["cat", "dog", "owl"]


def squares(table, *columns):
    """A row of the square for each truth."""
    return [[table[column].to_list()[3 * i : 3 * i + 3] for i in range(3)] for column in columns]


def test_known():
    table = IMAGES.pr.confusion_matrix("shown", "predicted").fill_nan(None)
    assert table["truth"].to_list() == ["cat"] * 3 + ["dog"] * 3 + ["owl"] * 3
    assert table["prediction"].to_list() == CLASSES * 3
    rows, of_truth, of_prediction = squares(table, "rows", "of_truth", "of_prediction")
    # Cats are both taken for cats, one dog of two for a cat, and the owl for a dog.
    assert rows == [[2, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert of_truth == [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0]]
    # Nothing was taken for an owl.
    assert of_prediction == [[near(F(2, 3)), 0, None], [near(F(1, 3)), 0.5, None], [0, 0.5, None]]


def test_weights():
    table = IMAGES.pr.confusion_matrix("shown", "predicted", weight="n")
    assert squares(table, "rows") == [[[2, 0, 0], [2, 1, 0], [0, 3, 0]]]
    assert table.schema["rows"] == pl.Int64
    floats = IMAGES.with_columns(n=pl.col("n") / 2).pr.confusion_matrix(
        "shown", "predicted", weight="n"
    )
    assert squares(floats, "rows") == [[[1, 0, 0], [1, 0.5, 0], [0, 1.5, 0]]]


def test_groups_have_all_pairs():
    data = IMAGES.with_columns(day=pl.Series([2, 2, 1, 1, 1]))
    table = data.pr.confusion_matrix("shown", "predicted", by="day")
    assert table["day"].to_list() == [1] * 9 + [2] * 9
    # Day 1: a cat, an owl taken for a dog, a dog. Day 2: a cat, and a dog taken for one.
    assert squares(table.filter(day=1), "rows") == [[[1, 0, 0], [0, 1, 0], [0, 1, 0]]]
    assert squares(table.filter(day=2), "rows") == [[[1, 0, 0], [1, 0, 0], [0, 0, 0]]]


def test_the_order_of_classes():
    given = IMAGES.pr.confusion_matrix("shown", "predicted", classes=["owl", "bat", "dog", "cat"])
    assert given["truth"].unique(maintain_order=True).to_list() == ["owl", "bat", "dog", "cat"]
    enum = pl.Enum(["dog", "owl", "cat"])
    declared = IMAGES.with_columns(pl.col("shown").cast(enum)).pr.confusion_matrix(
        "shown", "predicted"
    )
    assert declared["prediction"].to_list() == ["dog", "owl", "cat"] * 3
    assert declared.schema["truth"] == declared.schema["prediction"] == enum
    pd = pytest.importorskip("pandas")
    data = IMAGES.to_pandas()
    data["shown"] = pd.Categorical(data["shown"], categories=["owl", "dog", "cat", "bat"])
    assert (
        data.pr.confusion_matrix("shown", "predicted")["prediction"].to_list()
        == ["owl", "dog", "cat", "bat"] * 4
    )
    # A text is a label, also if it reads like a missing one.
    texts = pl.DataFrame({"shown": ["None", "nan"], "predicted": ["nan", "nan"]})
    found = texts.pr.confusion_matrix("shown", "predicted", classes=["nan", "None"])
    assert found["rows"].to_list() == [1, 0, 1, 0]


def test_a_lazy_frame_stays_lazy_and_tells_its_schema():
    for given in ({}, {"classes": CLASSES}):
        lazy = IMAGES.lazy().pr.confusion_matrix("shown", "predicted", by="n", **given)
        assert isinstance(lazy, pl.LazyFrame)
        eager = IMAGES.pr.confusion_matrix("shown", "predicted", by="n", **given)
        assert lazy.collect_schema() == eager.schema
        for engine in ("in-memory", "streaming"):
            assert_same(lazy.collect(engine=engine), eager)


@pytest.mark.parametrize(
    "types", [(pl.Int8, pl.Int64), (pl.Float64, pl.Int64), (pl.Boolean, pl.Boolean)]
)
def test_labels_that_are_numbers(types):
    data = pl.DataFrame({"y": [0, 1, 1], "p": [0, 0, 1]}).cast(dict(zip("yp", types, strict=True)))
    assert data.pr.confusion_matrix("y", "p")["rows"].to_list() == [1, 0, 1, 1]


def test_rows_without_a_truth():
    data = pl.DataFrame({"y": ["a", None, "b"], "p": ["a", "b", "b"], "q": [1, 2, 1]})
    with pytest.raises(
        ValueError, match="truth column 'y' has 1 missing of 3 values: unjudged='drop' leaves these"
    ):
        data.pr.confusion_matrix("y", "p")
    table = data.pr.confusion_matrix("y", "p", unjudged="drop", by="q")
    assert table.rows()[:4] == [
        (1, "a", "a", 1, 1, 1),
        (1, "a", "b", 0, 0, 0),
        (1, "b", "a", 0, 0, 0),
        (1, "b", "b", 1, 1, 1),
    ]
    assert table.filter(q=2)["rows"].to_list() == [0] * 4


WORDS = pl.DataFrame(
    {"truth": ["cat", "dog", "cat", "dog"], "prediction": ["CAT", "DOG", "CAT", "CAT"]}
)


@pytest.mark.parametrize(
    "frame",
    [
        WORDS,
        WORDS.with_columns(prediction=pl.col("truth") + " "),
        WORDS.with_columns(truth=pl.Series([1, 2, 3, 1]), prediction=pl.Series([10, 20, 30, 10])),
        WORDS.with_columns(
            truth=pl.Series([0, 1, 0, 1]), prediction=pl.Series([0.2, 0.7, 0.4, 0.9])
        ),
        WORDS.with_columns(
            truth=pl.Series([0.8, 0.3, 0.6, 0.1]), prediction=pl.Series([0.25, 0.7, 0.45, 0.9])
        ),
    ],
)
def test_labels_that_have_none_in_common(frame):
    with pytest.warns(
        fp.DataWarning, match="column 'prediction' and truth column 'truth' have no label in common"
    ):
        fp.confusion_matrix(frame, "truth", "prediction")


TENTHS = [i / 10 for i in range(60)]
ALTERNATING = [0, 1] * 30
MANY = list(range(1001))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize(
    ("truth", "prediction", "sentence"),
    [
        # 0.0 and 1.0 are labels, too; the other 58 of 60 numbers are none.
        (ALTERNATING, TENTHS, "prediction column 'p' holds 60 numbers, such as 0.1, 0.2, 0.3, and"),
        (ALTERNATING, TENTHS, "such as the class of the highest probability, or probabilities as"),
        (TENTHS, ALTERNATING, "truth column 'y' holds 60 numbers, .* truth comes first"),
        (ALTERNATING * 5, list(range(300)), "prediction column 'p' holds 300 numbers, such as 2"),
        (
            MANY,
            MANY[::-1],
            "'y': 1001 classes make 1002001 pairs, and a matrix has at most 1000000",
        ),
        (list(map(str, MANY)), list(map(str, MANY)), "'y': 1001 classes make 1002001 pairs"),
    ],
)
def test_scores_and_too_many_labels_are_refused(kind, truth, prediction, sentence):
    frame = kind(pl.DataFrame({"y": truth, "p": prediction}))
    with pytest.raises(ValueError, match=sentence):
        kind.read(fp.confusion_matrix(frame, "y", "p"))


@pytest.mark.parametrize(
    ("truth", "prediction", "classes"),
    [
        # Few numbers may be classes that the other column lacks by chance.
        ([0, 1] * 5, [i / 10 for i in range(10)], 11),
        (list(range(60)), list(range(60, 120)), 120),
        # Half stars are classes.
        (TENTHS, TENTHS[::-1], 60),
    ],
)
@pytest.mark.filterwarnings("ignore:prediction")
def test_numbers_that_may_be_classes(truth, prediction, classes):
    data = pl.DataFrame({"y": truth, "p": prediction})
    assert data.pr.confusion_matrix("y", "p").height == classes**2


def test_listed_classes_are_classes():
    data = pl.DataFrame({"y": ALTERNATING, "p": TENTHS}).cast(pl.Float64)
    with pytest.raises(ValueError, match=r"if they are classes, list all classes, classes=\[...]"):
        data.pr.confusion_matrix("y", "p")
    matrix = data.pr.confusion_matrix("y", "p", classes=TENTHS)
    assert matrix["rows"].sum() == 60
    with pytest.raises(ValueError, match="1001 classes make 1002001 pairs"):
        data.pr.confusion_matrix("y", "p", classes=[i / 10 for i in MANY])
    groups = pl.DataFrame({"y": [0] * 101, "p": [0] * 101, "group": range(101)})
    with pytest.raises(ValueError, match="1000000, the matrices of all groups 100000000"):
        groups.pr.confusion_matrix("y", "p", classes=MANY[:1000], by="group")
