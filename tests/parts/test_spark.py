"""What is Spark's own."""

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
        unread.pr.evaluate(["rows", "average_precision"], "relevant", "score", by="query", mean_over="query"),
        unread.pr.with_metrics("average_precision", "relevant", "score", by="query"),
    ]
    for result in results:
        with pytest.raises(Exception, match="the rows were read"):
            result.collect()


def test_a_stream_is_refused(spark):
    from frame_pr.spark import average_precision

    stream = spark.readStream.format("rate").load().selectExpr("value AS score", "value = 1 AS relevant")
    with pytest.raises(TypeError, match=r"a streaming DataFrame has no last row.* in foreachBatch"):
        average_precision(stream, "relevant", "score")
    with pytest.raises(TypeError, match="a streaming DataFrame has no last row"):
        stream.pr.average_precision("relevant", "score")


def test_keys_and_other_columns_keep_their_types(frame):
    frame = frame.selectExpr(
        "*", "array(query) AS list", "map('score', score) AS counts", "named_struct('a', row) AS s"
    )
    frame = frame.selectExpr("*", "cast(time AS timestamp_ntz) AS local", "cast(row AS short) AS short").na.drop()
    beside = frame.pr.with_metrics("rows", "relevant", "score", by=["text", "local"])
    assert [f.dataType for f in beside.schema[:-1]] == [f.dataType for f in frame.schema]
    assert sorted(row[:-1] for row in beside.drop("counts").collect()) == sorted(
        tuple(row) for row in frame.drop("counts").collect()
    )
    keys = ["text", "date", "time", "local", "decimal", "binary", "real", "flag", "model", "short"]
    result = frame.pr.evaluate(["rows", "threshold@max_f1"], "relevant", "score", by=keys)
    assert [f.dataType for f in result.schema[:-2]] == [f.dataType for f in frame.select(keys).schema]
    assert result.dtypes[-2:] == [("rows", "bigint"), ("threshold@max_f1", "double")]
    assert result.count() == result.select(keys).distinct().count()


@pytest.mark.parametrize("score", ["cast(row % 5 AS byte)", "cast(row % 5 AS float)", "cast(row AS decimal(12, 3))"])
def test_a_threshold_has_the_type_of_the_score(frame, score):
    frame = frame.selectExpr("query", "relevant", f"{score} AS score")
    result = frame.pr.evaluate("threshold@max_f1", "relevant", "score", by="query")
    assert result.dtypes[1][1] == frame.dtypes[2][1]
    # Query 5 has no positive, and no best threshold.
    assert result.where("`threshold@max_f1` IS NULL").collect() == [(5, None)]


def test_a_method_is_not_in_the_way_of_a_column(frame):
    renamed = frame.withColumnRenamed("query", "pr")
    assert renamed.pr.average_precision("relevant", "score", by="pr").columns == ["pr", "average_precision"]
    assert fp.spark.average_precision(renamed, "relevant", "score", by="pr").count() == 23
