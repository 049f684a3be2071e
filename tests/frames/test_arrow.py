"""Tables of pyarrow go in and come out, with the numbers of polars and the types of the keys."""

from datetime import date, datetime, time, timedelta

import polars as pl
import pytest
from compare import assert_same
from names import CALL_CASES
from polars.testing import assert_frame_equal

import frame_pr as fp

pa = pytest.importorskip("pyarrow")

DATA = pl.DataFrame(
    {
        "query": ["a", "a", "a", "b", "b"],
        "relevant": [1, 0, 1, 0, 1],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5],
        "predicted": [1, 1, 0, 0, 1],
    }
)
DAYS = [date(2024, 1, 1), date(2024, 1, 2)]
TIMES = [datetime(2024, 1, 1, 12), datetime(2024, 1, 2)]
KEYS = {
    "string": (["a", "b"], pa.string()),
    "large_string": (["a", "b"], pa.large_string()),
    "dictionary": (["a", "b"], pa.dictionary(pa.int32(), pa.string())),
    "int8": ([1, 2], pa.int8()),
    "uint64": ([1, 2**63], pa.uint64()),
    "bool": ([False, True], pa.bool_()),
    "date32": (DAYS, pa.date32()),
    "date64": (DAYS, pa.date64()),
    "timestamp[s]": (TIMES, pa.timestamp("s")),
    "timestamp[ns, UTC]": (TIMES, pa.timestamp("ns", "UTC")),
    "time32": ([time(1), time(2)], pa.time32("s")),
    "duration": ([timedelta(seconds=1), timedelta(seconds=2)], pa.duration("s")),
    "float": ([0.5, 1.5], pa.float32()),
    "binary": ([b"a", b"b"], pa.binary()),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_return_in_their_types(name):
    values, dtype = KEYS[name]
    for keys in (values, [values[0], None]):
        column = pa.array([keys[0], keys[0], keys[1]], type=dtype)
        table = pa.table({"q": column, "y": pa.array([1, 0, 1]), "s": pa.array([0.3, 0.2, 0.1])})
        result = fp.average_precision(table, "y", "s", by="q")
        assert result.schema.field("q").type == dtype
        # Nulls come first.
        assert sorted(map(repr, result.column("q").to_pylist())) == sorted(
            map(repr, pa.array(keys, type=dtype).to_pylist())
        )
        assert result.schema.field("average_precision").type == pa.float64()


def test_record_batches_and_methods():
    batch = DATA.to_arrow().to_batches()[0]
    assert isinstance(fp.PR(batch).evaluate("rows", "relevant", "score"), pa.Table)
    assert isinstance(fp.PR(DATA.to_arrow()).curve("relevant", "score"), pa.Table)


def test_what_is_carried_keeps_its_type():
    users = pa.table(
        {
            "user": pa.array(["u", "v"], type=pa.dictionary(pa.int8(), pa.string())),
            "rel": pa.array([[1], []], type=pa.list_(pa.int64())),
            "shown": pa.array([[2, 1], []], type=pa.list_(pa.int64())),
        }
    )
    long = fp.explode_lists(users, "rel", "shown", by="user")
    assert long.schema.field("user").type == users.schema.field("user").type
    assert long.drop_columns("user").to_pylist() == [
        {"item": 2, "score": -1, "truth": False},
        {"item": 1, "score": -2, "truth": True},
        {"item": None, "score": None, "truth": False},
    ]
    classes = fp.unpivot_classes(
        pa.table({"y": ["a", "b"], "a": [0.9, 0.1], "b": [0.1, 0.9]}), "y", ["a", "b"]
    )
    assert classes.column("truth").to_pylist() == [True, False, False, True]
    assert fp.confusion_matrix(pa.table({"y": ["a", "b"], "p": ["a", "a"]}), "y", "p").num_rows == 4


def test_judgments_and_totals():
    run = pa.table(
        {"q": pa.array(["a", "a"], pa.string()), "d": pa.array([1, 2], pa.int8()), "s": [2.0, 1.0]}
    )
    judged = pa.table(
        {
            "q": pa.array(["a"], pa.string()),
            "d": pa.array([3], pa.int8()),
            "y": pa.array([1], pa.int16()),
        }
    )
    joined = fp.join_judgments(run, judged, on=["q", "d"])
    assert joined.column_names == ["q", "d", "s", "y"]
    assert joined.schema.types == [pa.string(), pa.int8(), pa.float64(), pa.int16()]
    assert joined.column("d").to_pylist() == [1, 2, 3]
    totals = pa.table({"query": ["a", "b", "c"], "n": [4, 2, 1]})
    result = fp.average_precision(
        DATA.to_arrow(), "relevant", "score", by="query", total_positives=totals
    )
    assert result.column("query").to_pylist() == ["a", "b", "c"]


@pytest.mark.filterwarnings("ignore:.* have no bounds")
@pytest.mark.parametrize(("function", "given"), CALL_CASES)
def test_a_stream_gives_what_polars_gives(function, given):
    given = {"truth": "relevant", "score": "score", "by": "query"} | given
    result = getattr(fp, function)(DATA.to_arrow().to_reader(), **given)
    assert_same(result, getattr(fp, function)(DATA, **given))


def test_a_stream_is_read_once():
    reader = DATA.to_arrow().to_reader()
    assert fp.average_precision(reader, "relevant", "score").height == 1
    with pytest.raises(
        ValueError,
        match="the stream of a RecordBatchReader has no rows: it may have been read before",
    ):
        fp.average_precision(reader, "relevant", "score")
    run = fp.PR(DATA.to_arrow().to_reader())
    assert_same(
        run.average_precision("relevant", "score"), DATA.pr.average_precision("relevant", "score")
    )
    assert run.curve("relevant", "score").height == 5


def test_a_stream_gives_the_columns_of_the_call_only():
    duckdb = pytest.importorskip("duckdb")
    odd = {"relevant": 'the "truth"', "score": "a.score", "query": "%q; --"}
    data = DATA.rename(odd)
    names = {"truth": odd["relevant"], "score": odd["score"], "by": odd["query"]}
    # A relation that cannot be read whole.
    relation = duckdb.from_arrow(data.to_arrow()).project("*, error('read') AS unread")
    for stream in (relation, data.with_columns(number=1).to_arrow().to_reader()):
        result = fp.evaluate(stream, ["average_precision", "max_f1"], **names)
        assert_same(result, fp.evaluate(data, ["average_precision", "max_f1"], **names))


def test_wrong_names_leave_a_stream_unread():
    reader = DATA.to_arrow().to_reader()
    with pytest.raises(
        ValueError, match="score: no column 'scor' in the frame; did you mean 'score'"
    ):
        fp.roc_auc(reader, "relevant", "scor")
    assert fp.roc_auc(reader, "relevant", "score").height == 1


def test_streams_beside_a_frame():
    totals = pl.DataFrame({"query": ["a", "b", "c"], "n": [4, 2, 1]})
    cuts = pl.DataFrame({"query": ["a", "b"], "cut": [0.75, 0.55]})
    run = DATA.select("query", "score")
    judged = DATA.select("query", "score", "relevant")
    calls = [
        lambda of: fp.average_precision(
            DATA, "relevant", "score", by="query", total_positives=of(totals)
        ),
        lambda of: fp.confusion(DATA, "relevant", "score", by="query", threshold=of(cuts)),
        lambda of: fp.join_judgments(of(run), of(judged), on=["query", "score"]),
    ]
    for call in calls:
        assert_same(call(lambda frame: frame.to_arrow().to_reader()), call(lambda frame: frame))


def test_a_dictionary_of_large_texts():
    # As polars gives categories; pyarrow before 16 makes none of a list.
    data = pl.DataFrame({"q": ["b", "a", "b"], "y": [1, 1, 0], "s": [3, 2, 1]}).cast(
        {"q": pl.Categorical}
    )
    frame = data.to_pandas(use_pyarrow_extension_array=True)
    result = frame.pr.evaluate("rows", "y", "s", by="q")
    # The integers of the dictionary may be shorter with pyarrow before 16.
    assert str(result["q"].dtype).startswith("dictionary<values=large_string")
    assert sorted(zip(result["q"], result["rows"], strict=True)) == [("a", 1), ("b", 2)]


STREAMED = pl.DataFrame(
    {
        "y": [1, 0] * 12,
        "s": [i * 7.0 % 24 for i in range(24)],
        "t": [i * 5.0 % 24 for i in range(24)],
        "q": ["a", "b", "c"] * 8,
    }
)


@pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")
@pytest.mark.parametrize(
    "call",
    [
        lambda frame: fp.compare(frame, "roc_auc", "y", ["s", "t"]),
        lambda frame: fp.compare(frame, "average_precision", "y", ["s", "t"], mean_over="q"),
        lambda frame: fp.compare(frame, "roc_auc", "y", "s", between="q"),
        lambda frame: fp.intervals(frame, ["precision@5", "roc_auc"], "y", "s", repeats=100),
        lambda frame: fp.evaluate(frame, "roc_auc", "y", "s", slices=["q"]),
        lambda frame: fp.report(frame, "y", "s", confidence=0.95),
        lambda frame: fp.confusion(frame, "y", "s", threshold=["max_f1", 0.5]),
    ],
)
def test_functions_that_need_the_rows_of_a_stream_again(call):
    assert_frame_equal(call(STREAMED.to_arrow().to_reader()), call(STREAMED))
