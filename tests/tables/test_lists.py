"""Lists become rows, whose figures are those that others compute from lists."""

from fractions import Fraction

import polars as pl
import pytest
from compare import near
from hypothesis import given
from hypothesis import strategies as st

import frame_pr as fp

F = Fraction
USERS = pl.DataFrame(
    {
        "user": ["a", "b", "c", "d", "e"],
        "country": ["X", "X", "Y", "Y", "X"],
        "shown": [[1, 2, 3, 4], [1, 1, 2, 5], [7, 8], [], []],
        "relevant": [[2, 4, 9], [1, 2], [], [1], []],
    }
)
NAMES = ["precision@3", "recall@3", "average_precision", "average_precision@3"]
CALL = {"truth": "truth", "score": "score", "by": "user", "unscored": "unretrieved"}
# a: hits at 2 and 4 of 3 relevant: P@3 1/3, R@3 1/3, AP (1/2 + 2/4) / 3, AP@3 (1/2) / 3.
A = [F(1, 3), F(1, 3), F(1, 3), F(1, 6)]
# b: as a miss in place 2, hits at 1 and 3 of 2: (1/1 + 2/3) / 2. Left out, hits at 1 and 2.
MISS = [F(2, 3), F(1), F(5, 6), F(5, 6)]
DROP = [F(2, 3), F(1), F(1), F(1)]
NONE = [F(0), None, None, None]  # nothing relevant: precision 0, and the others have no value
LOST = [F(0), F(0), F(0), F(0)]  # something relevant, nothing shown


@pytest.mark.parametrize(("duplicates", "b"), [("miss", MISS), ("drop", DROP)])
def test_known_figures(duplicates, b):
    long = USERS.pr.explode_lists("relevant", "shown", by="user", duplicates=duplicates)
    figures = long.pr.evaluate(NAMES, **CALL)
    assert figures["user"].to_list() == ["a", "b", "c", "d", "e"]
    for row, known in zip(
        figures.drop("user").fill_nan(None).rows(), [A, b, NONE, LOST, NONE], strict=True
    ):
        assert list(row) == [near(one) for one in known]


@pytest.mark.parametrize(
    ("duplicates", "undefined", "known"),
    [
        (
            "miss",
            0.0,
            [0.2, 0.266667, 0.233333, 0.2],
        ),  # the means of the rows above, as Spark's RankingMetrics has them
        ("drop", 0.0, [0.2, 0.266667, 0.266667, 0.233333]),
        ("drop", None, [0.2, 0.444444, 0.444444, 0.388889]),
    ],
)
def test_known_means(duplicates, undefined, known):
    long = USERS.pr.explode_lists("relevant", "shown", by="user", duplicates=duplicates)
    means = long.pr.evaluate(NAMES, **CALL, mean_over="user", undefined=undefined)
    assert means["groups"].item() == 5
    assert [round(means[f"mean_{name}"].item(), 6) for name in NAMES] == known
    if undefined is None:
        assert means["undefined"].item() == 2


def test_rows():
    rows = USERS.pr.explode_lists("relevant", "shown", by="user", duplicates="miss")
    assert rows.columns == ["user", "country", "item", "score", "truth"]
    assert rows.dtypes == [pl.String, pl.String, pl.Int64, pl.Int64, pl.Boolean]
    # What the list lacks stands behind it; a user of two empty lists has a row.
    assert rows.filter(user="a").row(4) == ("a", "X", 9, None, True)
    assert rows.filter(user="e").rows() == [("e", "X", None, None, False)]


def test_a_lazy_frame_stays_lazy_and_tells_its_schema():
    lazy = fp.explode_lists(USERS.lazy(), "relevant", "shown", by="user", duplicates="drop")
    assert isinstance(lazy, pl.LazyFrame)
    eager = fp.explode_lists(USERS, "relevant", "shown", by="user", duplicates="drop")
    assert lazy.collect_schema() == eager.schema
    for engine in ("in-memory", "streaming"):
        assert lazy.collect(engine=engine).equals(eager)


def test_several_lists_are_systems():
    data = pl.DataFrame({"u": [1, 2], "rel": [[1], [3]], "old": [[2, 1], [3]], "new": [[1], []]})
    rows = data.pr.explode_lists("rel", ["old", "new"], by="u")
    assert rows.rows() == [
        (1, "old", 2, -1, False),
        (1, "old", 1, -2, True),
        (1, "new", 1, -1, True),
        (2, "old", 3, -1, True),
        (2, "new", 3, None, True),
    ]
    assert data.pr.explode_lists("rel", ["new"], by="u").columns == [
        "u",
        "old",
        "system",
        "item",
        "score",
        "truth",
    ]


def test_scores_beside_the_items():
    data = pl.DataFrame(
        {"u": [1], "rel": [["z", "w"]], "shown": [["x", "y", "z"]], "p": [[0.2, 0.9, 0.9]]}
    )
    rows = data.pr.explode_lists("rel", "shown", by="u", scores="p")
    assert rows["score"].to_list() == [0.2, 0.9, 0.9, None]
    found = rows.pr.evaluate(
        ["average_precision", "precision@1"], "truth", "score", by="u", unscored="unretrieved"
    )
    # y and z are tied: precision 1/2 at the one of 2 relevant that is found, and half a hit in the
    # first place.
    assert found.row(0) == (1, 0.25, 0.5)


@pytest.mark.parametrize(
    "dtype",
    [
        pl.String,
        pl.Categorical,
        pl.Enum(["1", "2", "3", "4", "5", "7", "8", "9"]),
        pl.Int8,
        pl.UInt64,
        pl.Float64,
    ],
)
def test_types_of_items(dtype):
    texts = [pl.col(name).cast(pl.List(pl.String)) for name in ("shown", "relevant")]
    data = USERS.with_columns(texts) if dtype in (pl.String, pl.Categorical, pl.Enum) else USERS
    data = data.with_columns(pl.col("shown", "relevant").cast(pl.List(dtype)))
    rows = data.pr.explode_lists("relevant", "shown", by="user", duplicates="drop")
    plain = USERS.pr.explode_lists("relevant", "shown", by="user", duplicates="drop")
    assert rows.schema["item"] == dtype
    assert rows.drop("item").equals(plain.drop("item"))


@pytest.mark.parametrize("rel", [[[], []], [[1], []]])
def test_lists_of_nothing(rel):
    data = pl.DataFrame({"u": [1, 2], "rel": rel, "shown": [[], []]})
    assert data.pr.explode_lists("rel", "shown", by="u")["truth"].to_list() == [bool(rel[0]), False]
    for lazy in (False, True):
        none = data.clear().lazy() if lazy else data.clear()
        assert none.pr.explode_lists("rel", "shown", by="u").lazy().collect().height == 0


ITEMS = st.lists(st.integers(0, 6), max_size=6)


@given(st.lists(st.tuples(ITEMS, ITEMS), min_size=1, max_size=5))
def test_any_lists(users):
    data = pl.DataFrame(
        {
            "u": range(len(users)),
            "rel": [rel for rel, _ in users],
            "shown": [shown for _, shown in users],
        },
        schema_overrides={"rel": pl.List(pl.Int64), "shown": pl.List(pl.Int64)},
    )
    # The gain of an item is its first place among the relevant ones.
    data = data.with_columns(
        back=pl.col("shown").list.reverse(),
        places=pl.int_ranges(1, 1 + pl.col("rel").list.len().cast(pl.Int64)),
    )
    call = {"by": "u", "gain": "places"}
    for duplicates in ("miss", "drop"):
        rows = data.pr.explode_lists("rel", ["shown", "back"], duplicates=duplicates, **call)
        expected = []
        for user, (rel, shown) in enumerate(users):
            for system, ranked in (("shown", shown), ("back", shown[::-1])):
                listed = list(dict.fromkeys(ranked)) if duplicates == "drop" else ranked
                known = [
                    (item, -1 - i, item in rel and item not in listed[:i])
                    for i, item in enumerate(listed)
                ]
                known += [(item, None, True) for item in dict.fromkeys(rel) if item not in shown]
                expected += [
                    (user, system, *row, 1 + rel.index(row[0]) if row[2] else 0)
                    for row in known or [(None, None, False)]
                ]
        assert rows.rows() == expected


@pytest.mark.parametrize("items", [[True, False], [{"a": 1}, {"a": None}], [[1], []]])
def test_items_of_types_without_set_operations(items):
    first, second = items
    data = pl.DataFrame({"u": [1, 2], "rel": [[first], [second]], "shown": [[second, first]] * 2})
    rows = data.pr.explode_lists("rel", "shown", by="u")
    assert rows["item"].to_list() == [second, first] * 2
    assert rows["truth"].to_list() == [False, True, True, False]


RATED = USERS.with_columns(ratings=pl.Series([[5, 4, 1], [3, 2], [], [9], []]))


@pytest.mark.parametrize("lazy", [False, True])
def test_gains_of_the_relevant_items(lazy):
    frame = RATED.lazy() if lazy else RATED
    rows = (
        frame.pr.explode_lists("relevant", ["shown"], by="user", gain="ratings", duplicates="miss")
        .lazy()
        .collect()
    )
    assert rows.columns == ["user", "country", "system", "item", "score", "truth", "gain"]
    # a: 2 and 4 are rated 5 and 4, 9 was not shown. b: item 1 counts once. e has no item.
    assert rows.filter(user="a").select("item", "gain").rows() == [
        (1, 0),
        (2, 5),
        (3, 0),
        (4, 4),
        (9, 1),
    ]
    assert rows.filter(user="b")["gain"].to_list() == [3, 0, 2, 0]
    assert rows.filter(user="d").select("item", "gain").rows() == [(1, 9)]
    assert rows.filter(user="e")["gain"].to_list() == [0]
    # d lacks its only item: 0 of its ideal gain.
    assert rows.pr.ndcg("truth", "score", by="user", gain="gain", unscored="unretrieved").row(
        3
    ) == ("d", 0.0)
