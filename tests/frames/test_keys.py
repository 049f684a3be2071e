"""Keys of a result are the caller's own, whatever their dtype: pandas groups and merges by them."""

import datetime
import decimal
import uuid

import pytest

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

import numpy as np  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import frame_pr as fp  # noqa: E402

D, DT, BIG = datetime.date, datetime.datetime, 2**60
OBJECTS = {
    "large integers": [BIG, BIG + 1, 2**70, None],
    "unsigned": [17915699055171962696, 17915699055171962697],
    "dates and times": [D(2024, 1, 1), DT(2024, 1, 2, 5), DT(2024, 1, 2, 17)],
    "dates": [D(2024, 1, 1), D(2023, 1, 1), None],
    "nanoseconds": [pd.Timestamp(1), pd.Timestamp(2), pd.NaT],
    "decimals": [decimal.Decimal("1.5"), decimal.Decimal("9" * 45), None],
    "tuples": [(1, 2), (0, 3), (1, 1)],
    "uuids": [uuid.UUID(int=5), uuid.UUID(int=3), None],
    "bytes": [b"b", b"a", None],
    "mixed": [1, "1", 2.5, None],
    "text": ["b", "a", "", None],
    "surrogates": ["\ud800", "a", None],
    "booleans": [True, False, None],
    "floats": [1.5, -0.0, None],
}
ARRAYS = {
    "int8": np.array([3, 1, 2], dtype="int8"),
    "uint64": np.array([2**63, 2**63 + 1], dtype="uint64"),
    "float32": np.array([1.5, np.nan, 0.25], dtype="float32"),
    "bool": np.array([True, False]),
    "Int64": pd.array([2**62 + 1, None, 1], dtype="Int64"),
    "boolean": pd.array([True, None, False], dtype="boolean"),
    "string": pd.array(["b", None, "a"], dtype="string"),
    "datetime": pd.array(pd.to_datetime(["2024-01-01", None, "2023-01-01"])),
    "zone": pd.array(pd.to_datetime(["2024-01-01", None]).tz_localize("Europe/Berlin")),
    "offset": pd.array(pd.to_datetime(["2024-01-01T00:00+05:30", "2023-01-01T00:00+05:30"])),
    "timedelta": pd.array(pd.to_timedelta([1, 2, None])),
    "period": pd.array(pd.period_range("2025-01", periods=3, freq="M")),
    "interval": pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3]),
    "bins": pd.cut([5, 15, 30], [0, 10, 20]),
    "categories": pd.Categorical(["b", "a", None], categories=["b", "c", "a"]),
    "whole categories": pd.Categorical([3, 1, 2], categories=[3, 2, 1], ordered=True),
    "complex": np.array([1j, 2, 1]),
    "sparse": pd.arrays.SparseArray([1.0, 0.0, 1.0]),
    **{
        f"arrow {dtype}": pd.array(values, dtype=pd.ArrowDtype(dtype))
        for dtype, values in {
            pa.int64(): [2**62 + 1, None, 1],
            pa.date32(): [D(2024, 1, 1), None],
            pa.timestamp("ns"): [pd.Timestamp(1), None],
            pa.decimal128(10, 2): [decimal.Decimal("1.50"), None],
            pa.dictionary(pa.int32(), pa.string()): ["b", "a", None],
            pa.binary(): [b"b", b"a", None],
            pa.list_(pa.int64()): [[2], [1], None],
        }.items()
    },
}
KEYS = {name: pd.Series(values, dtype=object) for name, values in OBJECTS.items()}
KEYS |= {name: pd.Series(values) for name, values in ARRAYS.items()}


@st.composite
def frames(draw):
    name = draw(st.sampled_from([*KEYS]))
    values = KEYS[name]
    rows = draw(st.lists(st.integers(0, len(values) - 1), min_size=2, max_size=12))
    keys = values.iloc[rows].reset_index(drop=True)
    truth = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    return name, pd.DataFrame({"g": keys, "y": truth, "s": np.arange(len(rows))[::-1] * 1.0})


@settings(max_examples=60, deadline=None)
@given(frames())
def test_groups_are_those_of_pandas(case):
    name, frame = case
    options = {"by": "g"}
    result = frame.pr.evaluate(["rows", "positives"], "y", "s", **options)
    assert result["g"].dtype == frame["g"].dtype
    unhashable = ("arrow list", "surrogates", *(["arrow timestamp"] if pd.__version__ < "3" else []))
    if not name.startswith(unhashable):  # pandas cannot group by them.
        expected = frame.groupby("g", dropna=False, observed=True, sort=False).agg(n=("y", "size"), p=("y", "sum"))
        merged = frame.merge(result, on="g")
        assert len(merged) == len(frame)
        assert sorted(result[["rows", "positives"]].itertuples(index=False, name=None)) == sorted(
            expected.itertuples(index=False, name=None)
        )
    points = frame.pr.curve("y", "s", **options)
    assert points["g"].dtype == frame["g"].dtype
    assert frame.pr.with_metrics("rows", "y", "s", **options)["g"].equals(frame["g"])
    # Totals under the keys of a result are found again, whatever these are.
    totals = result.rename(columns={"rows": "n"})[["g", "n"]]
    again = frame.pr.evaluate(["rows", "positives"], "y", "s", total_rows=totals, **options)
    pd.testing.assert_frame_equal(again, result)


@pytest.mark.parametrize("name", [*KEYS])
def test_columns_that_tell_rows_apart(name):
    values = KEYS[name].dropna().reset_index(drop=True)
    if name.startswith("arrow list"):
        pytest.skip("a list is no label")
    keys = pd.concat([values, values, values], ignore_index=True)
    n = len(keys)
    frame = pd.DataFrame({"c": keys, "y": [i % 2 == 0 for i in range(n)], "s": [i * 7 % 5 for i in range(n)]})
    intervals = frame.pr.intervals("average_precision", "y", "s", cluster="c")
    assert intervals["units"].tolist() == [len(values.drop_duplicates()) if name != "mixed" else 3]
    assert len(frame.pr.evaluate("average_precision", "y", "s", tie_break="c")) == 1
    if not name.startswith(("nanoseconds", "timedelta", "arrow timestamp")):
        label = next(iter(keys))
        labels = pd.DataFrame({"y": keys, "s": range(n)})
        expected = sum(type(key) is type(label) and key == label for key in keys)
        assert fp.evaluate(labels, "positives", "y", "s", positive=label).iloc[0, 0] == expected
    tally = frame.pr.tally("y", "s", by="c")
    assert tally["c"].dtype == frame["c"].dtype
    assert tally["count"].sum() == n


@pytest.mark.parametrize("chunks", [1, 2])
@pytest.mark.parametrize(
    "values",
    [[1, 1, 2, 2], ["b", "b", "a", None], [D(2024, 1, 1), None, None, D(2023, 1, 1)], [0.5, 0.5, None, 1.5]],
)
def test_dictionaries_of_arrow(values, chunks):
    parts = [pa.array(values).dictionary_encode()] * chunks
    column = pa.chunked_array(parts)
    truth, score = [0, 1] * 2 * chunks, [0.1, 0.9, 0.8, 0.7] * chunks
    table = pa.table({"g": column, "y": truth, "s": score})
    result = fp.evaluate(table, "rows", "y", "s", by="g")
    assert result.schema.field("g").type == column.type
    missing = [None] * (None in values)
    assert result["g"].to_pylist() == [*missing, *sorted({*values} - {None})]
    assert sum(result["rows"].to_pylist()) == 4 * chunks
