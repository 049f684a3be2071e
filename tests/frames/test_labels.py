"""Labels of any kind are classes, and come back as they went in."""

import datetime as dt
import decimal
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import frame_pr as fp

CUT = pd.IntervalIndex.from_breaks([0, 10, 20])
MONTHS = pd.period_range("2024-01", periods=2, freq="M")
IDS = [uuid.UUID(int=1), uuid.UUID(int=2)]
TIMES = [pd.Timestamp(1), pd.Timestamp(2)]  # They differ by a nanosecond.
ZONED = [time.tz_localize("Asia/Tokyo") for time in TIMES]
SPARSE = [pd.SparseDtype("int64", 0), pd.SparseDtype("float64", 0.0), pd.SparseDtype(bool, False)]
# A dtype, and two labels in their order.
LABELS = {
    "interval": (None, *CUT),
    "period": (None, *MONTHS),
    "uuid": (object, *IDS),
    "tuple": (object, (1, "a"), (1, "b")),
    "frozenset": (object, frozenset("a"), frozenset("b")),
    "mixed": (object, "101", 101),
    "bytes": (object, b"a", b"b"),
    "date": (object, dt.date(2024, 1, 1), dt.date(2024, 1, 2)),
    "decimal": (object, decimal.Decimal("1.5"), decimal.Decimal("2.5")),
    "timestamp": ("datetime64[ns]", *TIMES),
    "timestamp in us": ("datetime64[us]", pd.Timestamp(2024, 1, 1), pd.Timestamp(2024, 1, 2)),
    "timestamp with a zone": ("datetime64[ns, Asia/Tokyo]", *ZONED),
    "timestamps as objects": (object, *TIMES),
    "timedelta": ("timedelta64[ns]", pd.Timedelta(1), pd.Timedelta(2)),
    "complex": ("complex128", 1j, 2j),
    "category of text": (pd.CategoricalDtype(["b", "a"]), "b", "a"),
    "category of numbers": (pd.CategoricalDtype([7, 3]), 7, 3),
    "category of intervals": (pd.CategoricalDtype(CUT), *CUT),
    "category of uuids": (pd.CategoricalDtype(IDS), *IDS),
    "int8": ("int8", 1, 2),
    "Int64": ("Int64", 1, 2),
    "big-endian integers": (">i4", 1, 2),
    "big-endian floats": (">f8", 1.5, 2.5),
    "sparse integers": (SPARSE[0], 0, 1),
    "sparse floats": (SPARSE[1], 0.0, 1.0),
    "sparse Booleans": (SPARSE[2], False, True),
    "text of Arrow": ("string[pyarrow]", "a", "b"),
    "times of Arrow": (pd.ArrowDtype(pa.timestamp("ns")), *TIMES),
    "decimals of Arrow": (
        pd.ArrowDtype(pa.decimal128(5, 2)),
        decimal.Decimal("1.50"),
        decimal.Decimal("2.50"),
    ),
}


@pytest.fixture(params=[*LABELS])
def labels(request):
    return LABELS[request.param]


def frame_of(labels) -> pd.DataFrame:
    """Two rows of each class, of which one is predicted as the other class."""
    dtype, a, b = labels
    truth = pd.Series([a, b, a, b], dtype=dtype)
    prediction = pd.Series([a, b, b, a], dtype=dtype)
    scores = {"s": [0.4, 0.3, 0.2, 0.1], "of_a": [1, 2, 3, 4], "of_b": [4, 3, 2, 1]}
    return pd.DataFrame({"y": truth, "p": prediction, **scores}).set_axis([3, 1, 1, 0])


def dtype_of(column: pd.Series):
    """The dtype; pandas 2 returns numbers with the bytes of this machine."""
    dtype = column.dtype
    return dtype.newbyteorder("=") if isinstance(dtype, np.dtype) else dtype


def test_confusion_matrix(labels):
    _, a, b = labels
    frame = frame_of(labels)
    for options, first, second in (({}, a, b), ({"classes": [b, a]}, b, a)):
        matrix = frame.pr.confusion_matrix("y", "p", **options)
        # 101 and "101" have no order.
        if options or a != "101":
            assert matrix["truth"].tolist() == [first, first, second, second]
            assert matrix["prediction"].tolist() == [first, second, first, second]
        assert matrix["rows"].tolist() == [1, 1, 1, 1]
        assert dtype_of(matrix["truth"]) == dtype_of(frame["y"])
        assert dtype_of(matrix["prediction"]) == dtype_of(frame["y"])


def test_unpivot_classes(labels):
    _, a, b = labels
    frame = frame_of(labels)
    classes = {"prediction": "p", "classes": [b, a]}
    for options in (classes, {"scores": {b: "of_b", a: "of_a"}}):
        rows = frame.pr.unpivot_classes("y", **options)
        assert rows["class"].tolist() == [b] * 4 + [a] * 4
        assert dtype_of(rows["class"]) == dtype_of(frame["y"])
        assert rows["truth"].tolist() == [False, True] * 2 + [True, False] * 2
    assert rows["score"].tolist() == [4, 3, 2, 1, 1, 2, 3, 4]


def test_positive(labels):
    _, _, b = labels
    frame = frame_of(labels)
    # Of b, one row is predicted and one is missed; the other prediction is a false alarm.
    counts = frame.pr.confusion("y", prediction="p", positive=b)
    assert counts[["tp", "fp", "fn", "tn"]].values.tolist() == [[1, 1, 1, 1]]
    # The rows of b have ranks 2 and 4: (1/2 + 2/4) / 2.
    assert frame.pr.average_precision("y", "s", positive=b).iloc[0, 0] == 0.5


def test_a_class_for_each_column_of_truth(labels):
    _, a, b = labels
    frame = frame_of(labels).assign(is_a=[1, 0, 1, 0], is_b=[0, 1, 0, 1])
    rows = frame.pr.unpivot_classes({b: "is_b", a: "is_a"}, {b: "of_b", a: "of_a"})
    assert rows["class"].tolist() == [b] * 4 + [a] * 4
    assert rows["truth"].tolist() == [False, True] * 2 + [True, False] * 2


def test_frames_without_rows(labels):
    _, a, b = labels
    frame = frame_of(labels).iloc[:0]
    matrix = frame.pr.confusion_matrix("y", "p", classes=[b, a])
    assert matrix["truth"].tolist() == [b, b, a, a]
    assert matrix["rows"].tolist() == [0, 0, 0, 0]
    rows = frame.pr.unpivot_classes("y", prediction="p", classes=[a, b])
    assert len(rows) == 0
    assert dtype_of(matrix["truth"]) == dtype_of(frame["y"])
    assert dtype_of(rows["class"]) == dtype_of(frame["y"])


def test_plots_and_tables(labels):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    matrix = frame_of(labels).pr.confusion_matrix("y", "p")
    ax = matrix.pr.plot_confusion(ax=Figure().subplots())
    assert [text.get_text() for text in ax.texts] == ["1\n50 %"] * 4
    assert len(matrix.pr.format_table().splitlines()) == 6


@pytest.mark.parametrize(
    ("labels", "other"),
    [
        ("interval", pd.Interval(5, 6)),
        ("period", pd.Period("2030-01", "M")),
        ("uuid", uuid.UUID(int=9)),
        ("tuple", (9,)),
        ("timestamp", pd.Timestamp(9)),
    ],
    indirect=["labels"],
)
def test_a_label_that_no_row_has(labels, other):
    _, a, b = labels
    frame = frame_of(labels)
    rows = frame.pr.unpivot_classes("y", prediction="p", classes=[a, other, b])
    assert rows["class"].tolist() == [a] * 4 + [other] * 4 + [b] * 4
    assert not rows["truth"][4:8].any()
    matrix = frame.pr.confusion_matrix("y", "p", classes=[a, other, b])
    assert matrix["rows"].tolist() == [1, 0, 1, 0, 0, 0, 1, 0, 1]
    with pytest.raises(ValueError, match="labels that are no class: "):
        frame.pr.confusion_matrix("y", "p", classes=[a, other])
    with pytest.raises(ValueError, match=r"truth column 'y' has no .*: positive= names one of"):
        frame.pr.average_precision("y", "s", positive=other)


def test_a_category_that_no_row_has():
    dtype = pd.CategoricalDtype(pd.IntervalIndex.from_breaks([0, 10, 20, 30]), ordered=True)
    low, middle, high = dtype.categories
    frame = pd.DataFrame({"y": [low, middle], "p": [low, low]}, dtype=dtype)
    matrix = frame.pr.confusion_matrix("y", "p")
    assert matrix["truth"].tolist() == [low] * 3 + [middle] * 3 + [high] * 3
    assert matrix["rows"].tolist() == [1, 0, 0, 1, 0, 0, 0, 0, 0]


def test_sparse_columns_in_all_roles():
    sparse = pd.arrays.SparseArray
    frame = pd.DataFrame({"y": sparse([0, 0, 1, 1]), "s": sparse([0, 0.4, 0, 0.8])})
    frame["w"] = sparse([1.0, 1.0, 0.0, 2.0])
    # Of four pairs, .8 wins two, and 0 ties one and loses one.
    assert frame.pr.roc_auc("y", "s").iloc[0, 0] == 0.625
    # Without the positive of weight 0, the other one wins all its pairs.
    assert frame.pr.roc_auc("y", "s", weight="w").iloc[0, 0] == 1


def test_big_endian_counts():
    frame = pd.DataFrame({"y": [0, 0, 1, 1], "s": [0, 0.4, 0, 0.8]})
    frame["n"] = np.array([1, 1, 2, 2], dtype=">i8")
    # Of the 8 pairs of rows, 4 are won, 2 tied, and 2 lost.
    assert frame.pr.roc_auc("y", "s", count="n").iloc[0, 0] == 0.625


def test_big_endian_scores_and_keys():
    stars = pd.DataFrame({"y": [0, 1, 0, 1]})
    stars["s"] = np.array([0.1, 0.2, 0.3, 0.4], dtype=">f8")
    stars["field"] = np.array([2, 2, 1, 1], dtype=">i4")
    assert stars.pr.roc_auc("y", "s").iloc[0, 0] == 0.75
    fields = stars.pr.evaluate("rows", "y", "s", by="field")
    assert fields.values.tolist() == [[1, 2], [2, 2]]
    rows = stars.pr.with_metrics("roc_auc", "y", "s", by="field")
    assert rows["roc_auc"].tolist() == [1.0] * 4


def test_big_endian_columns_that_are_carried_along():
    lists = pd.DataFrame({"u": [1], "y": [["a"]], "r": [["b"]]})
    lists["w"] = np.array([3], dtype=">i2")
    assert lists.pr.explode_lists("y", "r", by="u")["w"].tolist() == [3, 3]


@pytest.mark.parametrize("kind", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_arrow])
@pytest.mark.parametrize(
    ("dtype", "a", "b"),
    [
        (pl.Datetime("ns"), dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2)),
        (pl.Decimal(5, 2), decimal.Decimal("1.5"), decimal.Decimal("2.5")),
        (pl.Time, dt.time(1), dt.time(2)),
        (pl.Enum(["b", "a"]), "b", "a"),
        (pl.Binary, b"a", b"b"),
        (pl.UInt64, 1, 2**63 + 1),
    ],
)
def test_labels_of_polars_and_arrow(kind, dtype, a, b):
    labels = {"y": pl.Series([a, b, a, b], dtype=dtype), "p": pl.Series([a, b, b, a], dtype=dtype)}
    frame = kind(pl.DataFrame({**labels, "s": [0.4, 0.3, 0.2, 0.1]}))
    read = pl.DataFrame if kind == pl.DataFrame.to_arrow else lambda result: result.lazy().collect()
    matrix = read(fp.confusion_matrix(frame, "y", "p", classes=[b, a]))
    assert matrix.select("truth", "rows").rows() == [(b, 1), (b, 1), (a, 1), (a, 1)]
    rows = read(fp.unpivot_classes(frame, "y", prediction="p", classes=[b, a]))
    assert rows["class"].to_list() == [b] * 4 + [a] * 4
    # A threshold of decimal labels counted their digits.
    counts = read(fp.confusion(frame, "y", prediction="p", positive=b))
    assert counts.select("tp", "fp", "fn", "tn").row(0) == (1, 1, 1, 1)


def test_labels_of_more_than_64_bits():
    frame = pl.DataFrame({"y": [1, 2**70], "p": [2**70, 1]}, schema=dict.fromkeys("yp", pl.Int128))
    rows = frame.pr.unpivot_classes("y", prediction="p", classes=[2**70, 1])
    assert rows["truth"].to_list() == [False, True, True, False]


def test_labels_that_are_structs_and_have_none_in_common():
    values = [{"x": 1}, {"x": 2}, {"x": 3}]
    frame = pl.DataFrame({"y": values, "p": [{"x": -x["x"]} for x in values]})
    with pytest.warns(fp.DataWarning, match="have no label in common"):
        assert frame.pr.confusion_matrix("y", "p")["rows"].sum() == 3


def test_python_objects_of_polars():
    frame = pl.DataFrame({"y": pl.Series(IDS, dtype=pl.Object), "s": [0.1, 0.2]})
    calls = (
        lambda: frame.pr.confusion_matrix("y", "s"),
        lambda: frame.pr.unpivot_classes("y", prediction="s", classes=IDS),
        lambda: frame.pr.average_precision("y", "s", positive=IDS[0]),
    )
    for call in calls:
        with pytest.raises(TypeError, match="column 'y' is Object: make text or numbers of it"):
            call()
