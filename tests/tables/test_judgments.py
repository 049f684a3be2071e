import pandas as pd
import polars as pl
import pytest
from compare import assert_same
from pandas.testing import assert_frame_equal as assert_pandas_equal

import frame_pr as fp

ON = ["query", "document"]
RUN = pl.DataFrame(
    {
        "query": ["b", "b", "a", "a", "only run"],
        "document": ["x", "y", "x", "z", "x"],
        "score": [2.5, 1.5, 5.5, 4.5, 3.5],
        "rank": [1, 2, 1, 2, 1],
    }
)
JUDGMENTS = pl.DataFrame(
    {
        "document": ["w", "y", "z", "x", "x"],
        "query": ["b", "b", "a", "only judged", "b"],
        "relevance": [2, 1, 0, 1, 0],
        "judge": ["m", "m", "n", "n", "n"],
    }
)
JOINED = pl.DataFrame(
    {
        "query": ["b", "b", "a", "a", "only run", "b", "only judged"],
        "document": ["x", "y", "x", "z", "x", "w", "x"],
        "score": [2.5, 1.5, 5.5, 4.5, 3.5, None, None],
        "rank": [1, 2, 1, 2, 1, None, None],
        "relevance": [0, 1, None, 0, None, 2, 1],
        "judge": ["n", "m", None, "n", None, "m", "n"],
    }
)
RUNS = pl.concat([RUN.with_columns(tag=pl.lit("old")), RUN.head(2).with_columns(tag=pl.lit("new"))])
OPTIONS = {"unscored": "unretrieved", "unjudged": "negative"}


def collected(frame):
    return frame.collect() if isinstance(frame, pl.LazyFrame) else frame


def test_every_document_of_either_stands_once():
    joined = RUN.pr.join_judgments(JUDGMENTS, on=ON)
    assert_same(joined, JOINED)


def test_the_figures_of_information_retrieval():
    joined = RUN.pr.join_judgments(JUDGMENTS, on=ON)
    names = ["average_precision", "recall@2", "positives", "rows"]
    relevant = JOINED.with_columns(pl.col("relevance").clip(0, 1))
    expected = [
        # No positive is judged.
        ("a", None, None, 0, 2),
        # x 0, y 1; w, judged 2, was not retrieved: AP (1/2) / 2, recall 1/2.
        ("b", 0.25, 0.5, 2, 3),
        # Nothing was retrieved for it.
        ("only judged", 0.0, 0.0, 1, 1),
        ("only run", None, None, 0, 1),
    ]
    found = relevant.pr.evaluate(names, "relevance", "score", by="query", **OPTIONS)
    assert_same(found, pl.DataFrame(expected, schema=["query", *names], orient="row"), dtypes=False)
    if isinstance(joined, pd.DataFrame):
        joined["relevant"] = joined["relevance"] >= 1
        graded = joined.pr.evaluate(names, "relevant", "score", by="query", **OPTIONS)
    else:
        graded = joined.pr.evaluate(names, pl.col("relevance") >= 1, "score", by="query", **OPTIONS)
    assert_same(graded, found)


def test_one_column():
    joined = RUN.filter(query="b").pr.join_judgments(
        JUDGMENTS.filter(query="b").drop("query"), on="document"
    )
    assert joined.columns == ["document", "query", "score", "rank", "relevance", "judge"]
    assert joined["document"].to_list() == ["x", "y", "w"]


def test_nulls_are_equal():
    run = pl.DataFrame({"d": ["x", None], "score": [1.0, 0.5]})
    judgments = pl.DataFrame({"d": [None, "y"], "relevance": [True, False]})
    message = r"on: 1 row of the run is joined with a judgment by a missing value of \(d\)"
    for frames in ((run, judgments), (run.lazy(), judgments.lazy())):
        with pytest.warns(fp.DataWarning, match=message):
            joined = fp.join_judgments(*frames, on=["d"]).lazy().collect()
        assert joined.rows() == [("x", 1.0, None), (None, 0.5, True), ("y", None, False)]
    # Nothing is said if no row is joined by them.
    assert run.pr.join_judgments(judgments.drop_nulls(), on="d")["relevance"].null_count() == 2


@pytest.mark.parametrize("hashes", [lambda rows: 0, lambda rows: rows.to_series(0).str.len_chars()])
@pytest.mark.parametrize("by", [None, "tag"])
def test_keys_with_equal_hashes(monkeypatch, hashes, by):
    def hash_rows(rows):
        return pl.select(pl.repeat(0, rows.height, dtype=pl.UInt64)).to_series() + hashes(rows)

    run = RUNS if by else RUN
    expected = run.pr.join_judgments(JUDGMENTS, on=ON, by=by)
    monkeypatch.setattr(pl.DataFrame, "hash_rows", hash_rows)
    assert_same(run.pr.join_judgments(JUDGMENTS, on=ON, by=by), expected)
    with pytest.raises(ValueError, match=r"in the run, 1 value of .* \('b', 'x'\) 2 times"):
        pl.concat([RUN, RUN.head(1)]).pr.join_judgments(JUDGMENTS, on=ON)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (0.0, -0.0),
        (float("nan"), -float("nan")),
        ([1, None], [1, None]),
        ({"a": None}, {"a": None}),
    ],
)
def test_equal_keys_of_every_type(first, second):
    run = pl.DataFrame({"d": [first], "score": [1.0]})
    judgments = pl.DataFrame({"d": [second], "relevance": [1]})
    assert run.pr.join_judgments(judgments, on="d").drop("d").rows() == [(1.0, 1)]


@pytest.mark.parametrize("make", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
def test_columns_named_like_those_of_the_join(make):
    names = {"query": "run", "document": "row", "relevance": "judgment", "score": "on0"}
    run, judgments = (
        make(frame.rename({old: new for old, new in names.items() if old in frame.columns}))
        for frame in (RUN, JUDGMENTS)
    )
    joined = fp.join_judgments(run, judgments, on=["run", "row"])
    joined = pl.from_pandas(joined) if isinstance(joined, pd.DataFrame) else joined.lazy().collect()
    assert_same(joined, JOINED.rename(names), dtypes=False)


@pytest.mark.parametrize("part", [0, 1], ids=["no run", "no judgments"])
def test_empty_frames(part):
    run, judgments = (
        frame.clear() if part == i else frame for i, frame in enumerate((RUN, JUDGMENTS))
    )
    found = run.pr.join_judgments(judgments, on=ON)
    assert found.select(ON).rows() == (JUDGMENTS if part == 0 else RUN).select(ON).rows()
    assert found.columns == JOINED.columns


# pandas


def test_the_index_is_new_and_columns_keep_their_dtypes():
    run = RUN.to_pandas().astype({"rank": "Int32"}).set_axis([7, 7, 8, 8, 9])
    judgments = JUDGMENTS.to_pandas().astype({"judge": "category"}).set_axis(list("abcde"))
    joined = run.pr.join_judgments(judgments, on=ON)
    assert joined.index.tolist() == list(range(7))
    assert joined["rank"].dtype == "Int32"
    assert joined["judge"].dtype == judgments["judge"].dtype
    # Where nothing is missing, integers remain integers.
    all_judged = run.pr.join_judgments(run[ON].assign(relevance=1), on=ON)
    assert all_judged["relevance"].dtype == "int64"
    assert_pandas_equal(all_judged[run.columns], run.reset_index(drop=True))


def test_lists_and_maps_of_arrow_are_carried_and_joined():
    pa = pytest.importorskip("pyarrow")
    for dtype, (first, second) in {
        pa.list_(pa.int64()): ([1], [2, 3]),
        pa.map_(pa.string(), pa.int64()): ([("a", 1)], [("b", 2)]),
    }.items():
        values = pd.Series([first, second], dtype=pd.ArrowDtype(dtype))
        run = pd.DataFrame({"document": ["x", "y"], "carried": values})
        joined = run.pr.join_judgments(
            pd.DataFrame({"document": ["z", "y"], "other": values}), on="document"
        )
        assert joined["carried"].isna().tolist() == [False, False, True]
        assert joined["other"].isna().tolist() == [True, False, False]
        assert str(joined["carried"].dtype) == str(joined["other"].dtype) == str(values.dtype)
    lists = pd.Series([[1], [2, 3]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    judged = pd.DataFrame({"key": lists[1:], "relevance": [1]})
    joined = pd.DataFrame({"key": lists, "score": [2.0, 1.0]}).pr.join_judgments(judged, on="key")
    assert joined["relevance"].isna().tolist() == [True, False]


# lazy


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_parts_of_a_lazy_result(engine):
    joined = RUN.lazy().pr.join_judgments(JUDGMENTS.lazy(), on=ON)
    assert_same(joined.select("relevance").collect(engine=engine), JOINED.select("relevance"))
    assert joined.select(pl.len()).collect(engine=engine).item() == 7
    assert_same(joined.filter(query="b").collect(engine=engine), JOINED.filter(query="b"))


# what can be wrong
# ------------------------------------------------------------------------------------------------


def test_each_of_several_runs_is_joined_to_all_judgments():
    joined = RUNS.pr.join_judgments(JUDGMENTS, on=ON, by="tag")
    assert joined.columns == ["tag", "query", "document", "score", "rank", "relevance", "judge"]
    for tag in ("old", "new"):
        alone = RUNS.filter(tag=tag).drop("tag").pr.join_judgments(JUDGMENTS, on=ON)
        found = joined.filter(tag=tag).drop("tag")
        assert_same(found, alone)
    # The run's own rows first.
    assert joined["tag"].to_list()[: RUNS.height] == RUNS["tag"].to_list()


def test_runs_told_apart_by_periods():
    data = RUNS.to_pandas()
    data["month"] = pd.PeriodIndex(
        ["2024-01" if tag == "old" else "2024-02" for tag in data.pop("tag")], freq="M"
    )
    joined = data.pr.join_judgments(JUDGMENTS.to_pandas(), on=ON, by=["month"])
    assert joined["month"].dtype == data["month"].dtype
    # 5 of the old run and 2 of the new, and of the 5 judgments the 2 and 3 that they lack.
    assert (
        joined["month"].astype(str).to_list()
        == ["2024-01"] * 5 + ["2024-02"] * 2 + ["2024-01"] * 2 + ["2024-02"] * 3
    )


def test_queries_that_nobody_judged_are_left_out():
    joined = RUNS.pr.join_judgments(JUDGMENTS, on=ON, by="tag", drop_unjudged="query")
    everything = RUNS.pr.join_judgments(JUDGMENTS, on=ON, by="tag")
    judged = everything.filter(pl.col("query").is_in(JUDGMENTS["query"].to_list()))
    assert_same(joined, judged)
    assert 0 < joined.height < everything.height


@pytest.mark.parametrize("given", [{}, {"drop_unjudged": "query"}])
@pytest.mark.parametrize("column", ["query", "document"])
def test_a_run_and_judgments_that_have_nothing_in_common(column, given):
    spaced = JUDGMENTS.with_columns(pl.col(column) + " ")
    with pytest.warns(
        fp.DataWarning,
        match=r"on: run and judgments have no value of \(query, document\) in common",
    ) as told:
        RUN.pr.join_judgments(spaced, on=ON, **given)
    assert len(told) == 1


def test_a_run_of_one_document_that_nobody_judged_is_silent():
    RUN.head(1).with_columns(document=pl.lit("d99")).pr.join_judgments(JUDGMENTS, on=ON)
