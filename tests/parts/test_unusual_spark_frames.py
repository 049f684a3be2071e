"""Unusual frames on Spark: nested keys, names that Spark reads in its own way, rows that change."""

import random

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]
functions = pytest.importorskip("pyspark.sql.functions")


@pytest.fixture
def run(spark):
    pytest.importorskip("frame_pr.spark", exc_type=ImportError)
    rows = [(i % 3, i % 2 == 0, i / 10) for i in range(12)]
    return spark.createDataFrame(rows, "q int, t boolean, s double")


def test_nested_keys_of_spark(run):
    keys = ["array(q)", "array(named_struct('a', q, 'b', array('x')))", "named_struct('a', q, 'b', array(1.5))"]
    frame = run.selectExpr("*", *(f"{key} AS k{place}" for place, key in enumerate(keys)))
    names = [f"k{place}" for place in range(len(keys))]
    result = frame.pr.evaluate("rows", "t", "s", by=names)
    assert [field.dataType for field in result.select(names).schema] == [
        field.dataType for field in frame.select(names).schema
    ]
    assert sorted(row.rows for row in result.collect()) == [4, 4, 4]


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ("collate(if(q = 0, 'A', 'a'), 'UNICODE_CI')", "column 'k' has the collation UNICODE_CI, by which texts are"),
        ("collate(if(q = 0, 'A', 'a'), 'UTF8_LCASE')", "column 'k' has the collation UTF8_LCASE, by which texts are"),
        ("array(collate('a', 'UNICODE_CI'))", "column 'k' has the collation UNICODE_CI, by which texts are equal"),
        ("interval '1' year", "column 'k' is interval year, which Spark does not send to Python: cast it or drop it"),
        ("array(make_interval(1, 2))", "column 'k' is array<interval>, which Spark does not send to Python: cast it"),
        ("parse_json('1')", "column 'k' is or holds a variant, which Spark does not group by: give variant_get"),
        ("named_struct('a', parse_json('1'))", "column 'k' is or holds a variant, which Spark does not group by"),
        ("if(q = 0, map('a', 1, 'b', 2), map('b', 2, 'a', 1))", "column 'k' is or holds a map, whose entries stand in"),
    ],
)
def test_keys_that_spark_tells_apart_in_another_way(run, column, sentence):
    for given in ({"by": "k"}, {"by": "q", "truth": "k", "positive": "a"}):
        with pytest.raises(TypeError, match=sentence):
            run.selectExpr("*", f"{column} AS k").pr.evaluate(**{"metrics": "rows", "truth": "t", "score": "s"} | given)


@pytest.mark.parametrize(
    ("q", "t", "s"),
    [
        ("frame_pr range", "0", "c0"),
        ("0", "c0", "error"),
        ("c0", "error", "range"),
        ("error", "range", "frame_pr range"),
        ("range", "frame_pr range", "0"),
    ],
)
def test_no_name_of_ours_meets_one_of_spark(run, q, t, s):
    # Positives are every second row, in query 1 from the best on, (1/1 + 2/3) / 2, and else from the second best on.
    result = run.toDF(q, t, s).pr.evaluate("average_precision", t, s, by=q)
    assert sorted(row[-1] for row in result.collect()) == pytest.approx([0.5, 0.5, 5 / 6])


@pytest.mark.parametrize(("t", "s"), [("0", "frame_pr range"), ("range", "c0")])
def test_no_name_of_ours_meets_one_of_spark_in_one_group(run, t, s):
    result = run.toDF("q", t, s).pr.evaluate("average_precision", t, s)
    assert [row[-1] for row in result.collect()] == pytest.approx([0.5])


def test_keys_are_not_patterns(run):
    names = ["*", "^q$", "^.*$", "a`b", "a\nb"]
    frame = run.toDF("q", "t", "s").selectExpr("t", "s", *("q" for _ in names)).toDF("t", "s", *names)
    assert sorted(frame.pr.evaluate("rows", "t", "s", by=names).collect()) == [(*[q] * 5, 4) for q in range(3)]
    assert frame.pr.evaluate("rows", "t", "s", by=names, mean_over=names).collect() == [(3, 4.0)]
    assert frame.pr.with_metrics("rows", "t", "s", by=names).columns == ["t", "s", *names, "rows"]
    assert frame.pr.tally("t", "s", by=names).count() == 12


def test_names_that_are_one_to_spark(run):
    with pytest.raises(ValueError, match="columns 'Rows' and 'rows' have one name to Spark"):
        run.withColumn("Rows", functions.lit(1)).pr.with_metrics("rows", "t", "s", by="q")
    with pytest.raises(ValueError, match="columns 'Rows' and 'rows' have one name to Spark"):
        run.withColumnRenamed("q", "Rows").pr.evaluate("rows", "t", "s", by="Rows")
    with pytest.raises(ValueError, match="no column 'Q' in the frame; did you mean 'q'"):
        run.pr.evaluate("rows", "t", "s", by="Q")
    with pytest.raises(ValueError, match=r"no column 'r\.q' in the frame: a field is made a column before the call"):
        run.selectExpr("*", "named_struct('q', q) AS r").pr.evaluate("rows", "t", "s", by="r.q")


def test_columns_of_spark_as_arguments(run):
    column = run["q"]
    for argument in ("truth", "score", "by", "weight"):
        given = {"truth": "t", "score": "s", argument: column}
        with pytest.raises(TypeError, match=f"{argument} takes .*; got a Spark Column: withColumn gives it a name"):
            run.pr.evaluate("rows", **given)
    given = {"truth": "t", "score": "s"}
    for function, argument in (("evaluate", "mean_over"), ("evaluate", "positive"), ("evaluate", "undefined")):
        with pytest.raises(TypeError, match=f"{argument} takes a value or the name of a column; got a Spark Column"):
            getattr(run.pr, function)("rows", **given, by="q", **{argument: column})
    with pytest.raises(TypeError, match="k takes a value or the name of a column; got a Spark Column"):
        run.pr.precision_at_k("t", "s", column)
    with pytest.raises(TypeError, match="prefix takes a value or the name of a column; got a Spark Column"):
        run.pr.with_metrics("rows", **given, prefix=column)
    with pytest.raises(TypeError, match=r"total_positives takes a frame that is sent to every part.* its \.toPandas"):
        run.pr.evaluate("rows", "t", "s", by="q", total_positives=run)


def test_unused_columns_of_spark(run):
    twice = run.selectExpr("*", "1 AS z", "2 AS z")
    assert twice.pr.with_metrics("rows", "t", "s", by="q").collect()[0][3:] == (1, 2, 4)
    with pytest.raises(TypeError, match="column 'z' is interval year, which Spark does not send to Python: cast it or"):
        run.selectExpr("*", "interval '1' year AS z").pr.with_metrics("rows", "t", "s", by="q")


def test_what_is_wrong_on_spark_comes_first(run):
    missing = run.selectExpr("q", "t", "if(s < 0.35, null, s) AS s")
    with pytest.raises(Exception, match="missing") as raised:
        missing.pr.evaluate("rows", "t", "s", by="q").collect()
    assert str(raised.value).startswith("[USER_RAISED_EXCEPTION] score column 's' has ")
    assert "\n" not in str(raised.value).strip()
    with pytest.raises(Exception, match="missing"):  # whatever is asked of the result
        missing.pr.evaluate(["rows", "average_precision"], "t", "s", by="q").select("rows").count()
    with pytest.raises(ValueError, match=r"score column 's' has .* missing of .* where it was found"):
        missing.pr.evaluate("rows", "t", "s")
    with pytest.raises(ValueError, match="truth column 't' has no 'typo', it holds 'no', 'yes'"):
        run.selectExpr("if(t, 'yes', 'no') AS t", "s").pr.evaluate("rows", "t", "s", positive="typo")


def test_a_spark_frame_that_gives_other_rows_when_read_again(spark):
    drawn = functions.udf(lambda i: random.random(), "double").asNondeterministic()
    frame = spark.range(40, numPartitions=4).select((drawn("id") < 0.3).alias("t"), drawn("id").alias("s"))
    with pytest.raises(ValueError, match=r"the frame gave other rows when it was read again.*: persist the frame"):
        frame.pr.evaluate(["average_precision", "recall@10"], "t", "s")
    cached = frame.localCheckpoint()
    assert cached.pr.evaluate("rows", "t", "s").collect() == [(40,)]
