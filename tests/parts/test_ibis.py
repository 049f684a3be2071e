"""Rows in databases: the numbers of the plain call, by a tally in the database and by rows that are sent here."""

import math
import re
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

import polars as pl
import pytest
from compare import assert_same
from engines import databases, stored

import frame_pr as fp

ibis = pytest.importorskip("ibis")
pytest.importorskip("frame_pr.ibis", exc_type=ImportError)
sqlglot = pytest.importorskip("sqlglot")
import frame_pr.parts  # noqa: E402
from frame_pr.parts import ibis_table  # noqa: E402
from frame_pr.parts.ibis_table import IbisFrame  # noqa: E402

INF, NAN = math.inf, math.nan
RUN = pl.DataFrame({"q": ["a", "a", "b", "b"], "y": [True, False, False, True], "s": [0.9, 0.8, 0.7, 0.6]})


@pytest.fixture(scope="module")
def connections():
    with databases(["duckdb", "sqlite"]) as made:
        yield made


@pytest.fixture(scope="module")
def postgres():
    with databases(["postgres"]) as made:
        if not made:
            pytest.skip("PostgreSQL is not installed")
        yield made["postgres"]


SERVER = pytest.param("postgres", marks=[pytest.mark.slow, pytest.mark.xdist_group("postgres")])


@pytest.fixture(params=["duckdb", "sqlite", SERVER])
def database(request):
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    return request.getfixturevalue("connections")[request.param]


@pytest.fixture(params=["tally", "rows"])
def way(request, monkeypatch):
    """Force one of the two ways."""
    monkeypatch.setattr(IbisFrame, "_is_tally_small", lambda *_: request.param == "tally")
    return request.param


def test_infinities_and_zeros(database, way):
    table = stored(database, pl.DataFrame({"y": [1, 0, 1, 1, 0], "s": [INF, 0.5, -INF, -0.0, 0.0]}))
    result = table.pr.evaluate(["average_precision", "roc_auc", "ties"], "y", "s")
    # Precision 1, 2/4 and 3/5 where recall rises, by a third each time. Of 6 pairs, inf wins 2, and a tie counts 1/2.
    assert result.row(0) == (pytest.approx((1 + 1 / 2 + 3 / 5) / 3, abs=2e-16), 2.5 / 6, 2)


def test_missing_scores_labels_and_keys(database, way):
    rows = [
        ("a", 1, NAN),
        ("a", 0, 0.5),
        ("a", 1, 0.2),
        ("a", 1, None),
        ("a", 1, None),
        (None, None, 0.3),
        (None, 1, 0.3),
    ]
    table = stored(database, pl.DataFrame(rows, schema=["q", "y", "s"], orient="row"))
    given = {"by": "q", "unscored": "unretrieved", "unjudged": "negative"}
    result = table.pr.evaluate(["average_precision", "rows", "positives"], "y", "s", **given)
    # Of a, one of four positives is retrieved, at rank 2: 1/4 * 1/2. Of null, a tie of one positive and one negative.
    assert result.rows() == [(None, 0.5, 2, 1), ("a", 0.125, 5, 4)]


def test_weights(database, way):
    rows = [(1, 0.1, 0.5), (1, 0.1, 0.5), (0, 0.1, 1.25), (1, 0.9, 2.0)]
    table = stored(database, pl.DataFrame(rows, schema=["y", "s", "w"], orient="row"))
    result = table.pr.evaluate(["average_precision", "rows"], "y", "s", weight="w")
    # Precision 1 at recall 2/3, then 3/4.25 for the last third.
    assert result.rows() == [(pytest.approx(2 / 3 + 1 / 3 * 3 / 4.25, abs=1e-15), 4.25)]


COLLATED = {
    "duckdb": ["CREATE TABLE collated (q VARCHAR COLLATE NOCASE, y BOOLEAN, s DOUBLE)"],
    "sqlite": ["CREATE TABLE collated (q TEXT COLLATE NOCASE, y BOOLEAN, s REAL)"],
    "postgres": [
        "CREATE COLLATION IF NOT EXISTS nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE collated (q text COLLATE nocase, y boolean, s double precision)",
    ],
}


def test_texts_are_equal_by_their_bytes(database, way):
    for statement in [*COLLATED[database.name], "INSERT INTO collated VALUES ('Ink', true, .5), ('ink', true, .5)"]:
        execute(database, statement)
    execute(database, "INSERT INTO collated VALUES ('ink', false, .6), ('a\\b', true, .5), ('\u00e4', true, .5)")
    try:
        run = database.table("collated")
        result = run.pr.evaluate(["average_precision", "rows"], "y", "s", by="q")
        assert result.rows() == [("Ink", 1.0, 1), ("a\\b", 1.0, 1), ("ink", 0.5, 2), ("\u00e4", 1.0, 1)]
        assert run.pr.tally("y", "s", by="q").to_pyarrow().num_rows == 5
    finally:
        execute(database, "DROP TABLE collated")


def execute(database, statement):
    if database.name == "duckdb":
        database.con.execute(statement)
        return
    with database.begin() as cursor:
        cursor.execute(statement)


def test_names_are_quoted(database, way):
    names = {"q": "group by", "y": "tr%uth", "s": "sc\"o're"}
    name = 'sel"ect; DROP TABLE e1; --'
    stored(database, RUN, "e1")
    table = stored(database, RUN, "odd").rename({new: old for old, new in names.items()})
    table = database.create_view(name, table, overwrite=True)
    result = table.pr.average_precision(names["y"], names["s"], by=names["q"])
    assert result.rows() == [("a", 1.0), ("b", 0.5)]
    tally = table.pr.tally(names["y"], names["s"], by=names["q"])
    assert list(tally.columns) == [*names.values(), "count"]
    assert tally.count().to_pyarrow().as_py() == 4
    assert "e1" in database.list_tables()
    database.drop_view(name)


def test_counts_in_errors_are_those_of_the_rows(database, way):
    data = pl.DataFrame(
        {"y": [i % 3 == 0 for i in range(1000)], "s": [None if i % 10 == 0 else i % 4 / 4 for i in range(1000)]}
    )
    table = stored(database, data)
    with pytest.raises(ValueError, match="score column 's' has 100 missing of 1000 values: unscored="):
        table.pr.roc_auc("y", "s")
    table = stored(database, data.select(y=pl.when(pl.col("y")).then(1), s=pl.col("y").cast(pl.Float64)))
    with pytest.raises(ValueError, match="truth column 'y' has 666 missing of 1000 values: unjudged="):
        table.pr.roc_auc("y", "s")


def test_a_label_that_does_not_occur(database, way):
    table = stored(database, RUN.with_columns(label=pl.when("y").then(pl.lit("spam")).otherwise(pl.lit("ham"))))
    assert table.pr.average_precision("label", "s", positive="spam").equals(fp.average_precision(RUN, "y", "s"))
    with pytest.raises(ValueError, match="truth column 'label' has no 'nope', it holds 'ham', 'spam'"):
        table.pr.average_precision("label", "s", positive="nope")


def test_large_whole_numbers_beside_a_missing_one(database, way):
    keys = [2**53, 2**53 + 1, None, 2**63 - 1]
    table = stored(database, RUN.with_columns(q=pl.Series(keys)))
    assert table.pr.evaluate("rows", "y", "s", by="q").rows() == [(None, 1), (2**53, 1), (2**53 + 1, 1), (2**63 - 1, 1)]


EDGES = [0.0, 0.1, 0.3, 1.0]
NEAR = [value for edge in EDGES for value in (math.nextafter(edge, -INF), edge, math.nextafter(edge, INF))]


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_bins_are_those_of_the_plain_call(database, dtype, ascending):
    scores = pl.Series([*NEAR, -0.0, INF, -INF, NAN, None, 7.5], dtype=dtype)
    data = pl.DataFrame({"y": [i % 2 == 0 for i in range(len(scores))], "s": scores})
    table = stored(database, data)
    rows = pl.DataFrame(table.to_pyarrow())
    given = {"bins": EDGES, "ascending": ascending, "unscored": "unretrieved"}
    expected = fp.tally(rows, "y", "s", **given).sort(pl.all())
    result = pl.DataFrame(table.pr.tally("y", "s", **given).to_pyarrow())
    assert result.sort(pl.all()).equals(expected)


WHOLE = pl.Series([-5, 0, 3, 7, 100, None])
EXACT = {
    "whole numbers": WHOLE,
    "small whole numbers": WHOLE.cast(pl.Int16),
    "decimals": pl.Series(["-5.01", "0.00", "0.30", "0.31", "7.25", None]).cast(pl.Decimal(10, 2)),
}
CUTS = {False: [-INF, 0, 0.3, 7], True: [0, 0.3, 7, INF]}


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("scores", EXACT.values(), ids=EXACT)
def test_bins_of_scores_that_are_no_floats(database, scores, ascending):
    data = pl.DataFrame({"y": [True, False] * 3, "s": scores})
    # From SQLite, Ibis reads whole numbers with a null among them as floats, of which 2**63 - 1 is none.
    table = stored(database, data.drop_nulls() if database.name == "sqlite" else data)
    given = {"bins": CUTS[ascending], "ascending": ascending, "unscored": "unretrieved"}
    expected = fp.tally(pl.DataFrame(table.to_pyarrow()), "y", "s", **given).sort(pl.all())
    result = pl.DataFrame(table.pr.tally("y", "s", **given).to_pyarrow())
    assert result.sort(pl.all()).equals(expected)


def test_bins_of_whole_numbers_without_a_sign(connections):
    # Every such score reaches 0. In SQLite, they are whole numbers with a sign.
    table = stored(connections["duckdb"], pl.DataFrame({"y": [1, 0, 1], "s": pl.Series([0, 9, 200], dtype=pl.UInt8)}))
    tally = table.pr.tally("y", "s", bins=[0, 9]).to_polars()
    assert sorted(tally.rows()) == [(0, 9, 1), (1, 0, 1), (1, 9, 1)]


def test_a_tally_stays_in_the_database(database):
    table = stored(database, RUN)
    tally = database.create_table("tallied", table.union(table).pr.tally("y", "s", by="q"), overwrite=True)
    again = tally.pr.tally("y", "s", by="q", count="count")
    for frame in (tally, again):
        assert sorted(frame.to_pyarrow().column("count").to_pylist()) == [2, 2, 2, 2]
        result = frame.pr.evaluate(["average_precision", "rows"], "y", "s", by="q", count="count")
        assert result.rows() == [("a", 1.0, 4), ("b", 0.5, 4)]


DIALECTS = ["bigquery", "clickhouse", "databricks", "duckdb", "postgres", "snowflake", "sqlite"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sql_of_a_tally(dialect):
    table = ibis.table({"q": "string", "y": "boolean", "s": "float64"}, name="run")
    # Without a database, it is not known that SQLite has no NaN.
    given = {} if dialect == "sqlite" else {"bins": [0, 0.5]}
    sql = str(ibis.to_sql(table.pr.tally("y", "s", by="q", **given), dialect=dialect))
    tree = sqlglot.parse_one(sql, dialect=dialect)
    assert len(list(tree.find_all(sqlglot.exp.Group))) == 1


def test_the_number_of_statements(connections, monkeypatch):
    table, sent = stored(connections["duckdb"], RUN), []
    to_pyarrow = type(connections["duckdb"]).to_pyarrow

    def noted(self, expr, **options):
        sent.append(expr)
        return to_pyarrow(self, expr, **options)

    monkeypatch.setattr(type(connections["duckdb"]), "to_pyarrow", noted)
    table.pr.tally("y", "s", by="q")
    for given in ({"score": "t"}, {"by": "Q"}, {"positive": "spam"}, {"score": "q"}, {"ties": "order"}):
        with pytest.raises((TypeError, ValueError)):
            table.pr.roc_auc(**{"truth": "y", "score": "s"} | given)
    assert sent == []
    table.pr.evaluate(["roc_auc", "rows"], "y", "s", by="q", mean_over="q")
    assert len(sent) == 2


def test_the_choice_follows_from_a_sample(connections, monkeypatch):
    monkeypatch.setattr(ibis_table, "_SHARE", 0.5)
    scores = pl.int_range(20_000, eager=True)
    data = pl.DataFrame({"few": scores % 10, "many": scores, "y": scores % 3 == 0})
    for connection in connections.values():
        frame = IbisFrame(stored(connection, data))
        assert frame._is_tally_small(["y", "few"])
        assert not frame._is_tally_small(["y", "many"])
        assert not IbisFrame(frame.frame.limit(0))._is_tally_small(["y", "few"])


def test_calls_that_a_tally_cannot_answer_are_sent(connections):
    table = stored(connections["duckdb"], RUN.with_columns(place=pl.Series([1, 2, 3, 4]), n=2))
    with mock.patch.object(IbisFrame, "_is_tally_small", return_value=True):
        for given in ({"tie_break": "place"}, {"count": "n"}, {"gain": "place"}, {"ties": "expected"}):
            names = ["dcg"] if "gain" in given else ["average_precision", "roc_auc"]
            result = table.pr.evaluate(names, "y", "s", by="q", **given)
            assert_same(result, fp.evaluate(pl.DataFrame(table.to_pyarrow()), names, "y", "s", by="q", **given))


REFUSED = [
    (
        lambda run: run.pr.curve("y", "s"),
        r"a table of Ibis has evaluate, .* on run.pr.tally\(...\).to_polars\(\) with count",
    ),
    (lambda run: run.pr.identify(0.5, "y", "s"), r"no identify: call .* on run.pr.tally\(...\).to_polars\(\)"),
    (lambda run: run.pr.with_metrics("roc_auc", "y", "s"), r"run.join\(ibis.memtable\(run.pr.evaluate\(...\)\), by\)"),
    (lambda run: run.pr.intervals("roc_auc", "y", "s", by="q"), "statistics of a table of Ibis start from the metrics"),
    (lambda run: run.pr.roc_auc("y", pl.col("s")), r"the frame is in a database, .* run.mutate\(name=...\)"),
    (lambda run: run.pr.roc_auc(run.y, "s"), "truth takes the name of one column; got an Ibis BooleanColumn: mutate"),
    (lambda run: run.pr.roc_auc("y", run.s), "score takes .*; got an Ibis FloatingColumn"),
    (lambda run: run.pr.roc_auc("y", "s", by=ibis._.q), "by takes .*; got an Ibis Deferred"),
    (
        lambda run: run.pr.roc_auc("y", "s", ties="order"),
        "a database has no order: give the column that orders the rows",
    ),
    (
        lambda run: run.pr.roc_auc("y", "s", by="q", positives=run),
        r"positives takes .* got a table of Ibis: give its .to_pol",
    ),
    (lambda run: run.pr.tally("y", "s", bins=5), "bins=5: edges in a database are the same for all groups"),
    (lambda run: run.pr.tally("y", "s", bins=run.s), "bins takes a whole number of bins, or a list of edges; got"),
    (
        lambda run: run.mutate(s=run.s.cast("int64")).pr.tally("y", "s", bins=[1]),
        r"bins: score column 's' is Int64, .* add the edge -math.inf, or cast the scores to float64",
    ),
    (
        lambda run: run.mutate(s=run.s.cast("int64")).pr.tally("y", "s", bins=[1, -INF], ascending=True),
        "add the edge math.inf",
    ),
    (lambda run: run.mutate(s=run.s.cast("decimal")).pr.tally("y", "s", bins=[1, -INF]), "'s' is a decimal without"),
    (lambda run: run.pr.roc_auc("y", "score"), "score: no column 'score' in the frame"),
    (lambda run: run.pr.roc_auc("y", "q"), "score column 'q' is String"),
]


@pytest.mark.parametrize(("call", "match"), REFUSED)
def test_what_a_database_does_not_do(connections, call, match):
    with pytest.raises((TypeError, ValueError), match=match):
        call(stored(connections["duckdb"], RUN))


def test_types_that_cannot_be_sent(connections):
    duckdb, sqlite = connections["duckdb"], connections["sqlite"]
    interval = duckdb.sql("SELECT true AS y, 0.5::DOUBLE AS s, INTERVAL 1 DAY AS q")
    with pytest.raises(TypeError, match=r"column 'q' is interval.*, which Ibis cannot send: cast it before the call"):
        interval.pr.roc_auc("y", "s", by="q")
    uuids = duckdb.sql("SELECT true AS y, 0.5::DOUBLE AS s, '00000000-0000-0000-0000-000000000001'::UUID AS q")
    assert uuids.pr.evaluate("rows", "y", "s", by="q").rows() == [("00000000-0000-0000-0000-000000000001", 1)]
    sqlite.create_table("texts", schema={"y": "boolean", "s": "float64"}, overwrite=True)
    execute(sqlite, "INSERT INTO texts VALUES (true, 'n/a')")
    with pytest.raises(TypeError, match=r"the columns 'y' \(boolean\), 's' \(float64\): a value does not fit"):
        sqlite.table("texts").pr.roc_auc("y", "s")


def test_large_integers_and_nulls_in_sqlite(connections):
    # Ibis reads such columns as floats, in which the largest label is 2^63.
    data = pl.DataFrame({"q": [2**53 + 1, 2**53, None], "y": [2**63 - 1, None, 5], "s": [0.9, 0.8, 0.7]})
    table, given = stored(connections["sqlite"], data), {"by": "q", "positive": 2**63 - 1, "unjudged": "negative"}
    result = table.pr.evaluate(["positives", "rows"], "y", "s", **given)
    assert result.rows() == [(None, 0, 1), (2**53, 0, 1), (2**53 + 1, 1, 1)]
    tally = table.pr.tally("y", "s", **given)
    exact = tally.mutate(q=tally.q.cast("string"), y=tally.y.cast("string")).to_polars()
    assert sorted(exact["q"].drop_nulls()) == [str(2**53), str(2**53 + 1)]


def test_the_names_of_the_module():
    assert sorted({*frame_pr.parts.__all__} - {"with_metrics"}) == frame_pr.ibis.__all__


def test_a_tally_without_its_counts(connections):
    rows = pl.concat([RUN, RUN])
    table = stored(connections["duckdb"], fp.tally(rows, "y", "s", by="q"))
    with pytest.raises(ValueError, match="count: this frame looks like one that tally made"):
        table.pr.roc_auc("y", "s", by="q")


def test_ibis_is_imported_by_its_door_only():
    code = "import sys, frame_pr; assert not {'ibis', 'duckdb', 'sqlglot', 'pyarrow'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_page_runs():
    page = Path(__file__).parents[2] / "docs" / "databases.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        exec("".join(block for block in blocks if "adbc" not in block), {})


def test_partitioned_takes_an_ibis_table(database):
    run = fp.partitioned(stored(database, RUN), progress=False, partitions=2)
    assert run.average_precision("y", "s", by="q").rows() == [("a", 1.0), ("b", 0.5)]


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
def test_adbc_of_postgres(postgres):
    adbc = pytest.importorskip("adbc_driver_postgresql.dbapi")
    stored(postgres, RUN, "adbc_run")
    port = postgres.con.info.port
    with adbc.connect(f"postgresql://test@127.0.0.1:{port}/postgres") as connection, connection.cursor() as cursor:
        cursor.execute("SELECT q, y, s FROM adbc_run")
        run = fp.partitioned(cursor.fetch_record_batch(), progress=False)
        assert run.average_precision("y", "s", by="q").rows() == [("a", 1.0), ("b", 0.5)]
