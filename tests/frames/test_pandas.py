from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pandas.testing as tm
import pyarrow as pa
import pytest
from names import CALL_CASES, call

import frame_pr as fp
from frame_pr.frames.dispatch import find_kind

DAYS = pd.to_datetime(
    ["1969-12-31 23:59:59.123456789", "2024-02-28", "2024-02-29 12:30"], format="ISO8601"
)
# Each ascending: as results are sorted.
KEYS = {
    "int8": pd.Series([-128, 0, 127], dtype="int8"),
    "int32": pd.Series([-5, 0, 2**31 - 1], dtype="int32"),
    "int64": pd.Series([-(2**63), 0, 2**60 + 1, 2**63 - 1], dtype="int64"),
    "uint64": pd.Series([0, 2**63, 2**64 - 1], dtype="uint64"),
    "float64": pd.Series([-1.5, 0.0, 2.5]),
    "float32": pd.Series([-1.5, 0.1, 2.5], dtype="float32"),
    "bool": pd.Series([False, True]),
    "str": pd.Series(["a", "b", "é"]),
    "object": pd.Series(["a", "b", "é"], dtype="object"),
    "string": pd.Series(["a", "b", "é"], dtype="string"),
    "category": pd.Series(pd.Categorical(["a", "b", "c"])),
    "category of numbers": pd.Series(pd.Categorical([1, 2, 3])),
    "category in another order": pd.Series(
        pd.Categorical(["c", "a", "b"], categories=["c", "a", "d", "b"])
    ),
    "category of numbers in order": pd.Series(
        pd.Categorical([3, 1, 2], categories=[3, 1, 2], ordered=True)
    ),
    "category of intervals": pd.Series(pd.cut([1, 4, 8], [0.0, 2.5, 5.0, 9.5])),
    "period": pd.Series(pd.period_range("2023-12", periods=3, freq="M")),
    "interval": pd.Series(pd.interval_range(0.0, 3.0)),
    "datetime64[ns]": pd.Series(DAYS).astype("datetime64[ns]"),
    "datetime64[us]": pd.Series(DAYS.floor("us")).astype("datetime64[us]"),
    "datetime64[s]": pd.Series(DAYS.floor("s")).astype("datetime64[s]"),
    "datetime64[ns, tz]": pd.Series(DAYS.tz_localize("Asia/Tokyo")).astype(
        "datetime64[ns, Asia/Tokyo]"
    ),
    "timedelta64": pd.Series(pd.to_timedelta([-1, 0, 2**40])),
    "dates": pd.Series([date(1969, 12, 31), date(2024, 2, 28), date(2024, 2, 29)], dtype="object"),
    "Int8": pd.Series([-128, 0, 127], dtype="Int8"),
    # As floats these are two.
    "Int64": pd.Series([0, 2**60, 2**60 + 1], dtype="Int64"),
    "UInt64": pd.Series([0, 2**63, 2**64 - 1], dtype="UInt64"),
    "Float64": pd.Series([-1.5, 0.0, 2.5], dtype="Float64"),
    "boolean": pd.Series([False, True], dtype="boolean"),
    "int64[pyarrow]": pd.Series([0, 2**60, 2**60 + 1], dtype="int64[pyarrow]"),
    "double[pyarrow]": pd.Series([-1.5, 0.0, 2.5], dtype="double[pyarrow]"),
    "bool[pyarrow]": pd.Series([False, True], dtype="bool[pyarrow]"),
    "string[pyarrow]": pd.Series(["a", "b", "é"], dtype="string[pyarrow]"),
    "timestamp[ns][pyarrow]": pd.Series(DAYS).astype("timestamp[ns][pyarrow]"),
    "dictionary[pyarrow]": pd.Series(
        ["a", "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    ),
    "dictionary of numbers[pyarrow]": pd.Series(
        [1, 2], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.int64()))
    ),
    "date32[pyarrow]": pd.Series(
        [date(1969, 12, 31), date(2024, 2, 29)], dtype="date32[day][pyarrow]"
    ),
}
HOLDS_NULL = [
    name
    for name in KEYS
    if KEYS[name].dtype.kind not in "iub" or not isinstance(KEYS[name].dtype, np.dtype)
]


def with_null(keys: pd.Series) -> pd.Series:
    """A missing key before the others, as results are sorted."""
    return pd.concat([pd.Series([None], dtype=keys.dtype), keys], ignore_index=True)


def rows_of(keys: pd.Series) -> tuple[pd.DataFrame, list[float]]:
    """A frame of groups whose AP is 1, 1/2, 1/3, ...: the hit of the i-th group has rank i."""
    place = [i for i in range(len(keys)) for _ in range(i + 2)]
    rank = [rank for i in range(len(keys)) for rank in range(i + 2)]
    score = -np.array(rank, dtype="float64")
    data = {
        "key": keys.iloc[place].reset_index(drop=True),
        "relevant": np.equal(rank, place),
        "score": score,
    }
    order = np.random.default_rng(5).permutation(len(place))
    frame = pd.DataFrame(data).iloc[order]
    return frame.set_axis([7] * len(frame), axis=0), [1 / (i + 1) for i in range(len(keys))]


def same_missing(result: pd.DataFrame) -> pd.DataFrame:
    """An object column may hold None or NaN: which of them says missing is all one."""
    key = result["key"]
    return result.assign(key=key.where(key.notna(), None)) if key.dtype == object else result


CASES = [
    *((name, KEYS[name]) for name in KEYS),
    *((f"{name} and null", with_null(KEYS[name])) for name in HOLDS_NULL),
]


# With a null, in `make check`, where the type holds one.
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(keys, id=name, marks=[pytest.mark.slow] * (name in HOLDS_NULL))
        for name, keys in CASES
    ],
)
def test_keys_of_every_dtype_keep_it(keys):
    frame, ap = rows_of(keys)
    expected = pd.DataFrame({"key": keys, "average_precision": ap})
    tm.assert_frame_equal(
        same_missing(frame.pr.average_precision("relevant", "score", by="key")), expected
    )

    frame["other"] = 1
    two = frame.pr.average_precision("relevant", "score", by=["key", "other"])
    expected.insert(1, "other", 1)
    tm.assert_frame_equal(same_missing(two), expected)

    curve = frame.pr.curve("relevant", "score", by="key")
    assert curve["key"].dtype == keys.dtype
    assert len(curve) == len(frame)


@pytest.mark.parametrize(
    "name", ["int64", "str", "category", "datetime64[ns]", "Int64", "string[pyarrow]"]
)
def test_keys_keep_their_dtype_in_means_and_with_systems(name):
    frame, ap = rows_of(KEYS[name])
    frame["user"] = "u"
    means = frame.pr.evaluate(
        "average_precision", "relevant", "score", by=["key", "user"], mean_over="user"
    )
    assert means["key"].dtype == KEYS[name].dtype
    assert means["mean_average_precision"].tolist() == ap
    frame["other"] = frame["score"]
    systems = frame.pr.average_precision("relevant", ["score", "other"], by="key")
    assert systems["key"].dtype == KEYS[name].dtype
    assert systems["system"].tolist() == ["score", "other"] * len(ap)


def test_categories_that_no_row_has():
    key = pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"], ordered=True)
    frame = pd.DataFrame({"key": key, "relevant": [1, 1, 0], "score": [2, 1, 1]})
    result = frame.pr.average_precision("relevant", "score", by="key")
    # One row per group that is there; the dtype, with its order and its third category, stays.
    assert result["key"].dtype == frame["key"].dtype
    assert result["key"].tolist() == ["b", "a"]
    assert result["average_precision"].tolist() == [1.0, 1.0]


def test_an_ordered_dictionary():
    # Compared by its values, as pandas 2 cannot make a new one.
    words = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, 1], pa.int8()), pa.array(["b", "a"]), ordered=True
    )
    frame = pd.DataFrame(
        {"key": pd.arrays.ArrowExtensionArray(words), "relevant": [1, 1, 0], "score": [2, 1, 1]}
    )
    result = frame.pr.average_precision("relevant", "score", by="key")
    assert result["key"].tolist() == ["a", "b"]
    assert pa.types.is_dictionary(result["key"].dtype.pyarrow_dtype)


def test_categories_are_sorted_as_they_stand():
    # Within a group everything keeps its order.
    size = pd.Categorical(["S", "L", "M", None] * 3, categories=["S", "M", "L"], ordered=True)
    frame = pd.DataFrame(
        {"shop": [2, 1] * 6, "size": size, "relevant": [1] * 12, "score": range(12), "b": range(12)}
    )
    result = frame.pr.curve("relevant", ["score", "b"], by=["shop", "size"])
    assert result["shop"].tolist() == [1] * 12 + [2] * 12
    assert result["size"].isna().tolist() == ([True] * 6 + [False] * 6 + [False] * 12)
    assert result["size"].tolist()[6:] == ["L"] * 6 + ["S"] * 6 + ["M"] * 6
    assert result["system"].tolist() == (["score"] * 3 + ["b"] * 3) * 4
    assert result["k"].tolist() == [1, 2, 3] * 8
    assert result.index.tolist() == list(range(24))


def test_categories_without_an_order_stand_as_they_stood():
    # pandas takes ["S", "L"] and ["L", "S"] for the same dtype.
    size = pd.Categorical(["L", "S", "L"], categories=["S", "L"])
    frame = pd.DataFrame({"size": size, "relevant": 1, "score": [1, 2, 3]})
    result = frame.pr.average_precision("relevant", "score", by="size")["size"]
    assert result.tolist() == result.cat.categories.tolist() == ["S", "L"]


def test_categories_are_sorted_beside_keys_that_pandas_cannot_sort():
    # pandas 3 fails to sort a dictionary with a null beside another column.
    word = pd.Series(
        ["y", None, "x", "y"], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    )
    size = pd.Categorical(["S", "L", "L", "L"], categories=["S", "L"], ordered=True)
    frame = pd.DataFrame({"size": size, "word": word, "relevant": 1, "score": range(4)})
    result = frame.pr.average_precision("relevant", "score", by=["size", "word"])
    assert result["size"].tolist() == ["S", "L", "L", "L"]
    assert [None if pd.isna(one) else one for one in result["word"]] == ["y", None, "x", "y"]


def test_a_whole_key_column_may_be_null():
    for dtype in ("object", "float64", "Int64", "string", "datetime64[ns]"):
        frame = pd.DataFrame(
            {"key": pd.Series([None, None], dtype=dtype), "relevant": [1, 0], "score": [2, 1]}
        )
        result = frame.pr.average_precision("relevant", "score", by="key")
        assert result["average_precision"].tolist() == [1.0], dtype
        assert result["key"].isna().tolist() == [True], dtype
        assert result["key"].dtype == frame["key"].dtype, dtype


def test_columns_of_the_result():
    frame = pd.DataFrame({"relevant": [True, False, True], "score": np.float32([0.5, 0.25, 0.125])})
    result = frame.pr.evaluate(
        ["rows", "average_precision", "threshold@max_f1"], "relevant", "score"
    )
    assert result.dtypes.astype(str).to_dict() == {
        "rows": "int64",
        "average_precision": "float64",
        "threshold@max_f1": "float32",
    }
    assert isinstance(result.index, pd.RangeIndex)


@pytest.mark.parametrize(
    "index",
    [
        [5, 5, 5, 5],
        ["d", "c", "b", "a"],
        pd.MultiIndex.from_tuples([(1, "x"), (1, "y"), (0, "x"), (0, "y")], names=["i", "j"]),
        pd.date_range("2024-01-01", periods=4, tz="UTC", name="when"),
        pd.CategoricalIndex(list("aabb")),
    ],
    ids=["repeated", "text", "multi", "dates", "categories"],
)
def test_the_index_is_ignored_for_results_and_kept_beside_the_rows(index):
    frame = pd.DataFrame(
        {"q": list("abab"), "relevant": [1, 0, 0, 1], "score": [4.0, 3.0, 2.0, 1.0]}
    )
    plain_ap = frame.pr.average_precision("relevant", "score", by="q")
    plain_curve = frame.pr.with_curve("relevant", "score", by="q")
    plain_metrics = frame.pr.with_metrics("average_precision", "relevant", "score", by="q")
    indexed = frame.set_axis(index, axis=0)
    tm.assert_frame_equal(indexed.pr.average_precision("relevant", "score", by="q"), plain_ap)
    for result, plain in (
        (indexed.pr.with_curve("relevant", "score", by="q"), plain_curve),
        (indexed.pr.with_metrics("average_precision", "relevant", "score", by="q"), plain_metrics),
    ):
        tm.assert_index_equal(result.index, indexed.index)
        tm.assert_frame_equal(result.reset_index(drop=True), plain)
    # Rows a: a hit, a miss. Rows b: a miss, a hit.
    assert plain_curve["precision"].tolist() == [1.0, 0.0, 0.5, 0.5]


def test_a_name_of_the_index_is_no_column():
    frame = pd.DataFrame({"relevant": [1], "score": [1]}, index=pd.Index([1], name="q"))
    with pytest.raises(
        ValueError, match=r"'q' is in the index of the frame: reset_index\(\) makes a column of it"
    ):
        frame.pr.average_precision("relevant", "score", by="q")
    assert frame.reset_index().pr.average_precision("relevant", "score", by="q")["q"].tolist() == [
        1
    ]
    # A column of that name is one, whatever the index is called.
    assert frame.assign(q=2).pr.average_precision("relevant", "score", by="q")["q"].tolist() == [2]


def test_a_frame_without_rows_and_dtypes():
    frame = pd.DataFrame(columns=["g", "y", "s"])
    for options in ({}, {"positive": "spam"}):
        result = frame.pr.average_precision("y", "s", by="g", **options)
        assert result.columns.tolist() == ["g", "average_precision"]
        assert result.empty


def test_columns_of_several_levels():
    frame = pd.DataFrame({("a", "relevant"): [1, 0], ("a", "score"): [2, 1]})
    with pytest.raises(
        ValueError, match="the columns of the frame have 2 levels: give them plain names"
    ):
        frame.pr.average_precision(("a", "relevant"), ("a", "score"))


def test_a_missing_name_that_is_a_number_as_text():
    frame = pd.DataFrame({0: [1, 0], 1: [2, 1]})
    with pytest.raises(ValueError, match=r"no column '0' in the frame; did you mean 0\?"):
        frame.pr.average_precision("0", "1")


def strange() -> pd.DataFrame:
    """Columns of every sort, of which the library is to touch none."""
    return pd.DataFrame(
        {
            "q": pd.Categorical(list("abab")),
            "relevant": [1, 0, 0, 1],
            "predicted": [True, False, True, True],
            "score": np.float32([0.5, 0.25, -0.0, 0.0]),
            "anything": [{"a": 1}, [1, 2], None, Decimal(1)],
            "types": [1, "a", 2.5, None],
            "Int64": pd.array([1, None, 2**60 + 1, 3], dtype="Int64"),
            "when": pd.date_range("2024-01-01", periods=4, tz="UTC"),
            3: [1, 2, 3, 4],
        },
        index=[3, 1, 1, 0],
    )


@pytest.mark.filterwarnings("ignore:.* have no bounds")
@pytest.mark.parametrize(("function", "given"), CALL_CASES)
def test_the_callers_frame_is_unchanged(function, given):
    frame = strange()
    frame.attrs["note"] = "kept"
    before = frame.copy(deep=True)
    data = {column: frame[column].array for column in ("relevant", "score", "Int64")}
    result = call(frame, function, by="q", **given)
    tm.assert_frame_equal(frame, before)
    assert frame.attrs == {"note": "kept"}
    assert all(frame[column].array is not None for column in data)
    # Nor does writing into the result reach it.
    for column in result.columns:
        if result[column].dtype.kind in "if":
            result[column] = 0
            result.loc[:, column] = -1
    tm.assert_frame_equal(frame, before)


@pytest.mark.parametrize("function", ["with_curve", "with_metrics"])
def test_other_columns_stand_beside_untouched(function):
    frame = strange()
    given = {"metrics": "average_precision"} if function == "with_metrics" else {}
    result = call(frame, function, by="q", **given)
    tm.assert_frame_equal(result[frame.columns], frame)
    assert result.shape[1] > frame.shape[1]


def test_column_labels_that_are_no_text():
    frame = pd.DataFrame({0: [1, 1, 2, 2], 1: [1, 0, 0, 1], 2: [4, 3, 2, 1]})
    result = frame.pr.average_precision(1, 2, by=0)
    assert result.columns.tolist() == [0, "average_precision"]
    assert result.to_numpy().tolist() == [[1.0, 1.0], [2.0, 0.5]]


def test_names_that_are_numbers_of_numpy():
    # pd.DataFrame(model.predict_proba(rows), columns=model.classes_) has such names.
    classes = np.array([0, 1])
    frame = pd.DataFrame([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], columns=classes).assign(
        shown=[0, 1, 1]
    )
    long = frame.pr.unpivot_classes("shown", list(classes))
    assert long["class"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame.pr.average_precision("shown", classes[1]).iat[0, 0] == 1
    assert frame.pr.average_precision("shown", list(classes))["system"].tolist() == ["0", "1"]


def test_the_same_label_twice():
    frame = pd.DataFrame([[1, 0, 0.5], [0, 1, 0.25]], columns=["relevant", "relevant", "score"])
    with pytest.raises(
        ValueError, match="the frame has 2 columns named 'relevant': rename them before the call"
    ):
        frame.pr.average_precision("relevant", "score")
    # One that is not asked for is in nobody's way.
    frame.columns = ["other", "relevant", "score"]
    frame = pd.concat([frame, frame[["other"]]], axis=1)
    assert frame.pr.average_precision("relevant", "score")["average_precision"].tolist() == [0.5]


@pytest.mark.parametrize(
    "name", ["list<int64>", "list<list<int8>>", "struct<a: int64>", "list<time64[ns]>"]
)
def test_nested_keys_of_arrow_with_a_null_inside(name):
    pa = pytest.importorskip("pyarrow")
    dtype, keys = {
        "list<int64>": (pa.list_(pa.int64()), [[1], [None], [1, 2], None]),
        "list<list<int8>>": (pa.list_(pa.list_(pa.int8())), [[[1]], [[None]], [None], None]),
        "struct<a: int64>": (
            pa.struct([("a", pa.int64())]),
            [{"a": 1}, {"a": None}, {"a": 2}, None],
        ),
        "list<time64[ns]>": (pa.list_(pa.time64("ns")), [[1], [None], [2], None]),
    }[name]
    column = pd.array(keys, dtype=pd.ArrowDtype(dtype))
    frame = pd.DataFrame({"q": column, "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]})
    result = frame.pr.evaluate("rows", "relevant", "score", by="q")
    assert result["rows"].tolist() == [1, 1, 1, 1]
    assert result["q"].dtype == frame["q"].dtype


@pytest.mark.parametrize(
    "dtype", ["object", "Int64", "Float64", "int64[pyarrow]", "boolean", "bool"]
)
def test_truth_dtypes(dtype):
    frame = pd.DataFrame({"relevant": pd.Series([1, 0, 1], dtype=dtype), "score": [3, 2, 1]})
    assert frame.pr.average_precision("relevant", "score")["average_precision"].tolist() == [
        pytest.approx(5 / 6)
    ]


@pytest.mark.parametrize(
    "dtype",
    ["object", "Int64", "Float64", "float16", "int64[pyarrow]", "decimal128(9, 2)[pyarrow]"],
)
def test_score_dtypes(dtype):
    score = pd.Series([Decimal(3), Decimal(2), Decimal(1)] if "decimal" in dtype else [3, 2, 1])
    score = score.astype(
        pd.ArrowDtype(__import__("pyarrow").decimal128(9, 2)) if "decimal" in dtype else dtype
    )
    frame = pd.DataFrame({"relevant": [1, 0, 1], "score": score})
    result = frame.pr.f_beta("relevant", "score")
    assert result["max_f1"].tolist() == [
        pytest.approx(4 / 5)
    ]  # all three predicted: 2 * 2 / (2 + 3)
    assert result["threshold@max_f1"].astype(float).tolist() == [1.0]


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "float64", "int64[pyarrow]", "double[pyarrow]", "object"]
)
def test_missing_scores_and_truths(dtype):
    missing = pd.Series([1, None, 0], dtype=dtype)
    for given, role in ((("m", "s"), "truth"), (("y", "m"), "score")):
        frame = pd.DataFrame({"m": missing, "y": [1, 0, 1], "s": [3, 2, 1]})
        with pytest.raises(ValueError, match=f"{role} column 'm' has 1 missing of 3 values"):
            frame.pr.average_precision(*given)


def test_a_subclass_and_a_view():
    class Mine(pd.DataFrame):
        pass

    frame = pd.DataFrame({"relevant": [1, 0, 1, 0], "score": [4, 3, 2, 1]})
    assert fp.average_precision(Mine(frame), "relevant", "score")["average_precision"].tolist() == [
        pytest.approx(5 / 6)
    ]
    # Every other row, backwards: a view with strides.
    assert frame[::-2].pr.average_precision("relevant", "score").isna().to_numpy().all()
    assert frame.iloc[2:].pr.average_precision("relevant", "score")[
        "average_precision"
    ].tolist() == [1.0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "double[pyarrow]"])
def test_numbers_are_not_copied(dtype):
    frame = pd.DataFrame({"score": np.arange(100), "q": np.arange(100)}).astype({"score": dtype})
    score = find_kind(frame).read(["q", "score"]).collect()["score"].to_numpy()
    held = (
        frame["score"].array.__arrow_array__().chunk(0).to_numpy()
        if "arrow" in dtype
        else frame["score"].to_numpy()
    )
    assert np.shares_memory(score, held)


@pytest.mark.parametrize("dtype", ["i8", "u4", "i2", "f8", "f4"])
def test_numbers_in_memory_that_is_not_aligned(dtype):
    # One byte in front moves each number off its boundary, as in the messages between the workers
    # of Dask.
    numbers = np.array([3, 1, 2, 0]).astype(dtype)
    shifted = np.frombuffer(b"." + numbers.tobytes(), dtype, offset=1)
    assert not shifted.flags.aligned
    frame = pd.DataFrame({"score": shifted, "label": np.array([0, 1, 1, 0])}, copy=False)
    assert not frame["score"].to_numpy().flags.aligned
    result = frame.pr.evaluate(["average_precision", "threshold@1"], "label", "score")
    # The positives have ranks 2 and 3: (1/2 + 2/3) / 2. The first row has the score 3.
    assert result["average_precision"].tolist() == [pytest.approx(7 / 12)]
    assert result["threshold@1"].tolist() == [numbers[0]]


def test_other_columns_named_like_results_do_not_give_them_their_type():
    # The positive stands at rank 2: AP is 1/2, and is not made an integer.
    data = pd.DataFrame(
        {"q": [1, 1], "relevant": [0, 1], "score": [0.9, 0.8], "average_precision": [1, 2]}
    )
    data = data.assign(rows=["a", "b"], system=[7, 7])
    result = data.pr.evaluate(["rows", "average_precision"], "relevant", ["score"], by="q")
    assert result.to_dict("records") == [
        {"q": 1, "system": "score", "rows": 2, "average_precision": 0.5}
    ]


@pytest.mark.parametrize("digits", [17, 38, 39, 75, 80])
def test_decimals_of_any_length_are_scores(digits):
    # The positives have ranks 1 and 3: (1 + 2/3) / 2.
    scores = [Decimal("9" * digits), Decimal("0.5"), Decimal(0)]
    frame = pd.DataFrame({"label": [1, 0, 1], "score": pd.Series(scores, dtype=object)})
    if digits > 76:  # Arrow has no more.
        with pytest.raises(TypeError, match="score column 'score' is object: it must be numeric"):
            frame.pr.average_precision("label", "score")
    else:
        assert frame.pr.average_precision("label", "score").iloc[0, 0] == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    "positive", [pd.Timestamp(1), pd.Timedelta(1), pd.Timestamp("2024-02-29", tz="UTC")]
)
def test_a_positive_label_is_a_time(positive):
    labels = pd.Series([positive, positive + pd.Timedelta(1, unit="ns"), positive])
    frame = pd.DataFrame({"label": labels.dt.as_unit("ns"), "score": [3, 2, 1]})
    assert frame.pr.average_precision("label", "score", positive=positive).iloc[
        0, 0
    ] == pytest.approx(5 / 6)
