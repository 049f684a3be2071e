"""Spark: types that polars and Spark compare in different ways, names, and streams."""

import pytest
from engines import DATA, on_spark

import frame_pr as fp

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]


@pytest.fixture
def frame(spark):
    return on_spark(spark).make(DATA)


def test_no_row_is_read_before_an_action(frame):
    def read(batches):
        raise RuntimeError("the rows were read")
        yield

    unread = frame.mapInArrow(read, frame.schema)
    results = [
        unread.pr.evaluate(
            ["rows", "average_precision"], "relevant", "score", by="query", mean_over="query"
        ),
        unread.pr.with_metrics("average_precision", "relevant", "score", by="query"),
    ]
    for result in results:
        with pytest.raises(Exception, match="the rows were read"):
            result.collect()


def test_a_stream_is_refused(spark):
    pytest.importorskip("frame_pr.spark")
    stream = (
        spark.readStream.format("rate").load().selectExpr("value AS score", "value = 1 AS relevant")
    )
    with pytest.raises(TypeError, match=r"a streaming DataFrame has no last row.* in foreachBatch"):
        fp.average_precision(stream, "relevant", "score")
    with pytest.raises(TypeError, match="a streaming DataFrame has no last row"):
        stream.pr.average_precision("relevant", "score")


def test_keys_and_other_columns_keep_their_types(frame):
    frame = frame.selectExpr(
        "*", "array(query) AS list", "map('score', score) AS counts", "named_struct('a', row) AS s"
    )
    frame = frame.selectExpr(
        "*", "cast(time AS timestamp_ntz) AS local", "cast(row AS short) AS short"
    ).na.drop()
    beside = frame.pr.with_metrics("rows", "relevant", "score", by=["text", "local"])
    assert [f.dataType for f in beside.schema[:-1]] == [f.dataType for f in frame.schema]
    assert sorted(row[:-1] for row in beside.drop("counts").collect()) == sorted(
        tuple(row) for row in frame.drop("counts").collect()
    )
    keys = ["text", "date", "time", "local", "decimal", "binary", "real", "flag", "model", "short"]
    result = frame.pr.evaluate(["rows", "threshold@max_f1"], "relevant", "score", by=keys)
    assert [f.dataType for f in result.schema[:-2]] == [
        f.dataType for f in frame.select(keys).schema
    ]
    assert result.dtypes[-2:] == [("rows", "bigint"), ("threshold@max_f1", "double")]
    assert result.count() == result.select(keys).distinct().count()


@pytest.mark.parametrize(
    "score", ["cast(row % 5 AS byte)", "cast(row % 5 AS float)", "cast(row AS decimal(12, 3))"]
)
def test_a_threshold_has_the_type_of_the_score(frame, score):
    frame = frame.selectExpr("query", "relevant", f"{score} AS score")
    result = frame.pr.evaluate("threshold@max_f1", "relevant", "score", by="query")
    assert result.dtypes[1][1] == frame.dtypes[2][1]
    # Query 5 has no positive, and no best threshold.
    assert result.where("`threshold@max_f1` IS NULL").collect() == [(5, None)]


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (
            "collate('a', 'UNICODE_CI')",
            "texts that differ are equal by its collation: give collate",
        ),
        ("array(collate('a', 'UTF8_LCASE'))", "texts that differ are equal by its collation"),
        ("interval '1' year", "Spark does not send it to Python: cast it"),
        (
            "named_struct('a', parse_json('1'))",
            "Spark does not group by variants: give variant_get",
        ),
        ("map('a', 1, 'b', 2)", "its entries have no order: give array_sort"),
    ],
)
def test_keys_that_spark_compares_in_another_way(frame, column, sentence):
    with pytest.raises(TypeError, match=f"column 'k' is .*{sentence}"):
        frame.selectExpr("*", f"{column} AS k").pr.evaluate("rows", "relevant", "score", by="k")


def test_nested_keys(frame):
    keys = [
        "array(model)",
        "array(named_struct('a', model, 'b', array('x')))",
        "named_struct('a', model, 'b', array(1.5))",
    ]
    frame = frame.selectExpr(
        "relevant", "score", *(f"{key} AS k{place}" for place, key in enumerate(keys))
    )
    result = frame.pr.evaluate("rows", "relevant", "score", by=["k0", "k1", "k2"])
    assert [f.dataType for f in result.schema[:3]] == [f.dataType for f in frame.schema[2:]]
    assert sorted(row.rows for row in result.collect()) == sorted(
        DATA["model"].value_counts()["count"]
    )


def test_names(frame):
    renamed = frame.withColumnRenamed("query", "pr")
    assert fp.average_precision(renamed, "relevant", "score", by="pr").columns == [
        "pr",
        "average_precision",
    ]
    names = ["*", "^q$", "^.*$", "a`b", "a\nb"]
    odd = frame.selectExpr("relevant", "score", *("model" for _ in names)).toDF("t", "s", *names)
    assert sorted(row[:5] for row in odd.pr.evaluate("rows", "t", "s", by=names).collect()) == [
        (i,) * 5 for i in range(3)
    ]
    assert odd.pr.with_metrics("rows", "t", "s", by=names).columns == ["t", "s", *names, "rows"]
    twice = frame.selectExpr("*", "1 AS z", "2 AS z")
    assert twice.pr.with_metrics("rows", "relevant", "score", by="query").collect()[0][-3:-1] == (
        1,
        2,
    )
    with pytest.raises(ValueError, match="several columns named 'z'"):
        twice.pr.evaluate("rows", "relevant", "score", by="z")


def test_columns_of_spark_as_arguments(frame):
    with pytest.raises(
        TypeError, match=r"by takes .*; got a pyspark Column: withColumn gives it a name"
    ):
        frame.pr.evaluate("rows", "relevant", "score", by=frame["query"])
