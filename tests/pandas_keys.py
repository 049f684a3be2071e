"""Columns of pandas that may be keys, one of every dtype, with a missing value if it has one."""

import datetime
import decimal
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa

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
    "categories of times": pd.Categorical(
        [pd.Timestamp(2024, 1, 1), pd.Timestamp(2024, 1, 2), None]
    ),
    "categories of intervals": pd.Categorical([pd.Interval(0, 10), pd.Interval(10, 20), None]),
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
