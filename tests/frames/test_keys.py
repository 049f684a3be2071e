"""Keys of a result are the caller's own, whatever their dtype: pandas groups and merges by them."""

import datetime

import pytest

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from pandas_keys import KEYS  # noqa: E402

import frame_pr as fp  # noqa: E402

D = datetime.date
# So few rows have no standard error.
pytestmark = pytest.mark.filterwarnings("ignore:.* have no bounds")


@pytest.mark.parametrize("name", [*KEYS])
def test_columns_that_tell_rows_apart(name):
    values = KEYS[name].dropna().reset_index(drop=True)
    if name.startswith("arrow list"):
        pytest.skip("a list is no label")
    keys = pd.concat([values, values, values], ignore_index=True)
    n = len(keys)
    frame = pd.DataFrame(
        {"c": keys, "y": [i % 2 == 0 for i in range(n)], "s": [i * 7 % 5 for i in range(n)]}
    )
    intervals = frame.pr.intervals("average_precision", "y", "s", cluster="c")
    assert intervals["n"].tolist() == [len(values.drop_duplicates()) if name != "mixed" else 3]
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
    [
        [1, 1, 2, 2],
        ["b", "b", "a", None],
        [D(2024, 1, 1), None, None, D(2023, 1, 1)],
        [0.5, 0.5, None, 1.5],
    ],
)
def test_dictionaries_of_arrow(values, chunks):
    parts = [pa.array(values).dictionary_encode()] * chunks
    column = pa.chunked_array(parts)
    truth = [0, 1] * 2 * chunks
    score = [0.1, 0.9, 0.8, 0.7] * chunks
    table = pa.table({"g": column, "y": truth, "s": score})
    result = fp.evaluate(table, "rows", "y", "s", by="g")
    assert result.schema.field("g").type == column.type
    missing = [None] * (None in values)
    assert result["g"].to_pylist() == [*missing, *sorted({*values} - {None})]
    assert sum(result["rows"].to_pylist()) == 4 * chunks
