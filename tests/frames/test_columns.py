"""A caller's name is a name, in every role: no pattern of polars, and none of our own names."""

import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest

import frame_pr as fp

# Patterns, to `polars.col`: the first two mean all columns, the third those that begin with an s or
# a g.
PATTERNS = ["*", "^.*$", "^[sg].*$", ""]


@pytest.fixture(params=PATTERNS)
def odd(request):
    return request.param


def scored(**more):
    # Ranked b, a, d, c: precisions 1/2 and 2/4, so that AP is 1/2. Backwards 1/1 and 2/3, that is
    # 5/6.
    columns = {"s": [2.0, 3.0, 0.0, 1.0], "y": [1, 0, 1, 0], "g": ["u", "v", "u", "v"]}
    return pl.DataFrame(columns | more)


def test_weights_and_tie_breaks(odd):
    # Of weights 0, 0, 1, 1: c alone, and d before it.
    weighted = scored(**{odd: [0, 0, 1, 1]})
    assert fp.average_precision(weighted, "y", "s", weight=odd).item() == 0.5
    tied = scored(**{odd: [4, 3, 2, 1]}).with_columns(s=pl.lit(1.0))
    assert fp.average_precision(tied, "y", "s", tie_break=odd).item() == pytest.approx(5 / 6)


def test_known_totals(odd):
    in_rows = scored(**{odd: [5] * 4})
    assert fp.evaluate(in_rows, "positives", "y", "s", total_positives=odd).item() == 5
    data = scored(**{odd: [1, 1, 2, 2]})
    for total in ("n", "^x*$"):
        known = pl.DataFrame({odd: [1, 2], total: [5, 6]})
        result = fp.evaluate(data, "positives", "y", "s", by=odd, total_positives=known)
        assert result.rows() == [(1, 5), (2, 6)]
    known = pl.DataFrame({"g": ["u", "v"], odd: [5, 6]})
    result = fp.evaluate(data, "positives", "y", "s", by="g", total_positives=known)
    assert result.rows() == [("u", 5), ("v", 6)]


def test_expressions(odd):
    data = scored(**{odd: [0, 1, 0, 1], "x": 1})
    assert data.select(pl.col("s").pr.average_precision(odd)).item() == pytest.approx(5 / 6)
    by_group = data.group_by("x").agg(pl.col("s").pr.average_precision(odd))
    assert by_group["average_precision"].item() == pytest.approx(5 / 6)


def test_parts(odd):
    for role in ("s", "y", "g"):
        names = {"s": "s", "y": "y", "g": "g", role: odd}
        parts = fp.partitioned(scored().rename({role: odd}), partitions=3, progress=False)
        # Of the scores 0 and 2, and 1 and 3, the higher ones are of u, with the label 1, and v,
        # with the label 0.
        by_group = parts.average_precision(names["y"], names["s"], by=names["g"])
        assert by_group["average_precision"].to_list() == [1, None]
        assert parts.average_precision(names["y"], names["s"]).item() == 0.5


def test_selectors_of_such_names():
    data = pl.DataFrame({"y": [1, 0], "*": [2.0, 1.0], "^x.*$": [1.0, 2.0], "x": ["a", "b"]})
    for frame in (data, data.lazy()):
        result = fp.average_precision(frame, "y", cs.float()).lazy().collect()
        assert result.rows() == [("*", 1.0), ("^x.*$", 0.5)]
        assert fp.evaluate(
            frame, "rows", "y", "*", by=cs.starts_with("^", "x")
        ).lazy().collect().columns == [
            "^x.*$",
            "x",
            "rows",
        ]


@pytest.mark.parametrize("name", [*PATTERNS, "q_right", "d_right", "query", "r0", "on0", "times"])
def test_runs_and_judgments(name):
    run = pl.DataFrame({"q": [1, 1], "d": ["a", "b"], name: [2.0, 1.0]})
    judged = pl.DataFrame({"q": [1, 1], "d": ["b", "c"], "r": [1, 0]})
    joined = [(1, "a", 2.0, None), (1, "b", 1.0, 1), (1, "c", None, 0)]
    result = fp.join_judgments(run, judged, on=["q", "d"])
    assert result.rows() == joined
    assert result.columns[2] in (name, "column_2")
    run = pl.DataFrame({name: [1, 1], "d": ["a", "b"], "q": [2.0, 1.0]})
    keyed = fp.join_judgments(run, judged.rename({"q": name}), on=[name, "d"])
    assert keyed.rows() == joined
    twice = pl.concat([judged.rename({"q": name})] * 2)
    with pytest.raises(
        Exception,
        match=r"in the judgments, 2 values of \(.*, d\) stand in more than one row, such as \(1, ",
    ):
        fp.join_judgments(run, twice, on=[name, "d"])


def test_names_that_are_no_texts():
    frame = pd.DataFrame([[1, 2.0, 7, "a"], [0, 3.0, 7, "b"]], columns=["y", 1, 2, ""])
    result = fp.evaluate(frame, "rows", "y", 1, by=[2, ""], mean_over=2)
    assert result.to_dict("list") == {"": ["a", "b"], "groups": [1, 1], "mean_rows": [1.0, 1.0]}
    assert fp.evaluate(frame, "rows", "y", 1, by=2).columns.tolist() == [2, "rows"]


@pytest.mark.parametrize(
    "roles",
    [{"score": 1}, {"score": "1"}, {"score": "s", "by": [1, "1"]}, {"score": "s", "by": "1"}],
)
def test_two_names_that_are_one_as_text(roles):
    frame = pd.DataFrame([[1, 2.0, 3.0, 4.0]], columns=["y", "s", 1, "1"])
    with pytest.raises(
        ValueError, match="the frame has 2 columns named 1 and '1': rename them before the call"
    ):
        fp.evaluate(frame, "rows", "y", **roles)
    assert fp.evaluate(frame, "rows", "y", "s")["rows"].item() == 1  # they have no part in it
    with pytest.raises(ValueError, match="the frame has 2 columns named 1 and '1'"):
        fp.join_judgments(frame, frame[[1, "1"]], on=[1, "1"])


def test_a_key_of_the_totals_that_the_type_of_the_keys_would_cut():
    data = pl.DataFrame({"g": [1, 2], "y": [1, 1], "s": [2.0, 1.0]})

    def positives(keys, own=None, **schema):
        frame = data if own is None else data.with_columns(g=pl.Series(own))
        known = pl.DataFrame({"g": keys, "P": [3, 4]}, schema_overrides=schema)
        return fp.evaluate(frame, "positives", "y", "s", by="g", total_positives=known).rows()

    dates = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 2), eager=True)
    same = [([1.0, 2.0], None), (["1", "2"], None), ([1, 0], [True, False])]
    for keys, own in same:
        assert sorted(positives(keys, own))[0][1] in (3, 4)
    cut = [
        ([1.5, 2.9], None),
        (["01", "+2"], None),
        (["1.0", " 2"], None),
        ([5, 2], [True, False]),
        (dates.cast(pl.Datetime).dt.offset_by("23h"), dates),
        (dates.cast(pl.Int32), dates),
        (["true", "false"], [True, False]),
        ([[1], [2]], None),
    ]
    assert positives(dates.cast(pl.Datetime), dates) == [(dates[0], 3), (dates[1], 4)]
    for keys, own in cut:
        wrong = [
            "positives frame has [12] groups?, such as .*, that the types of the by columns do not",
            "in the total_positives frame: cast one of them$",
            "positives frame has no row for [12] of [234] groups",
        ]
        with pytest.raises((ValueError, TypeError), match="|".join(wrong)):
            positives(keys, own)
