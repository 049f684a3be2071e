import random
import re

import polars as pl
import pytest
from compare import near
from names import AT_CUT, COUNTS, FIGURES, NAMES, RATES, call
from oracle import oracle
from test_averages import TEN

import frame_pr as fp
from frame_pr import rates
from frame_pr.metrics import FAMILIES
from frame_pr.names import figure_of, metric

INFINITY = float("inf")


def groups() -> pl.DataFrame:
    """Small groups of every sort: ties, one row, all positive, none, both zeros, infinities."""
    rng = random.Random(3)
    pools = [[0.0, -0.0, 0.5], [0.5, 0.75, 1.0], [-INFINITY, -1.0, 0.5, INFINITY], [1e300, 1e-300, -1e300], None]
    rows = []
    for group in range(120):
        pool = pools[group % len(pools)]
        share = rng.choice([0.0, 0.1, 0.5, 1.0])
        for _ in range(rng.choice([1, 2, 3, 7, 15])):
            score = rng.random() if pool is None else rng.choice(pool)
            rows.append((group, rng.random() < share, score))
    rng.shuffle(rows)
    return pl.DataFrame(rows, schema=["q", "relevant", "score"], orient="row")


def test_every_name_is_what_the_oracle_says(kind):
    data = groups()
    result = kind.read(kind(data).pr.evaluate(NAMES, "relevant", "score", by="q"))
    assert result.columns == ["q", *NAMES]
    parts = data.partition_by("q", as_dict=True)
    assert result["q"].to_list() == sorted(q for (q,) in parts)
    for row in result.iter_rows(named=True):
        part = parts[row["q"],]
        truth, score = part["relevant"].to_list(), part["score"].to_list()
        expected = {name: near(oracle(name, truth, score)) for name in NAMES}
        wrong = {name: (row[name], expected[name]) for name in NAMES if row[name] != expected[name]}
        assert not wrong, part


def test_the_names_of_these_tests_reach_every_metric():
    for family in FAMILIES:
        assert any(re.fullmatch(family.pattern, name) for name in NAMES), family.name
    assert set(rates.COUNTS) == set(COUNTS)
    assert set(rates.RATES) == set(RATES)
    for figure in [*FIGURES, "f0.5"]:
        assert sum(name.startswith(f"{figure}@") for name in AT_CUT) == len(AT_CUT) // (len(FIGURES) + 2)


@pytest.mark.parametrize(
    ("names", "dtype"),
    [
        (["rows", "positives", "ties", "k@5", "k@recall=0.5", "k@threshold=3"], pl.Int64),
        (["tp@threshold=3", "fp@threshold=3", "fn@recall=0.5", "tn@recall=0.5"], pl.Int64),
        (["tp@5", "fp@5", "fn@5", "tn@5"], pl.Float64),
        (["average_precision", "precision@5", "recall@recall=0.5", "mcc@threshold=3", "max_f1"], pl.Float64),
        (["prevalence", "lift", "r_precision", "interpolated_average_precision_11"], pl.Float64),
        (["threshold@max_f1", "threshold@recall=0.5"], pl.Int16),
    ],
)
def test_dtypes(names, dtype):
    result = TEN.cast({"score": pl.Int16}).pr.evaluate(names, "relevant", "score")
    assert dict(result.schema) == dict.fromkeys(names, dtype)


@pytest.mark.parametrize(
    ("name", "same_as"),
    [
        ("f1@3", "f1.0@3"),
        ("max_f0.5", "max_f.5"),
        ("precision@recall=0.8", "precision@recall=.8"),
        ("recall@threshold=5", "recall@threshold=5.0"),
        ("recall@threshold=5", "recall@threshold=+5"),
        ("recall@threshold=5", "recall@threshold=50e-1"),
        ("recall@threshold=-5", "recall@threshold=-5.0"),
        ("recall@threshold=inf", "recall@threshold=+inf"),
    ],
)
def test_ways_to_write_a_number(name, same_as):
    result = TEN.pr.evaluate([name, same_as], "relevant", "score")
    # The column is named as it was asked for.
    assert result.columns == [name, same_as]
    assert result[name].item() == result[same_as].item()


NO_NAMES = ["", " ", "average_precison", "Average_Precision", "average precision", "AP", "map", "mAP", "ndcg@10"]
NO_NAMES += ["precision", "precision@", "precision@ 10", "precision@k", "precision@threshold", "precision@threshold="]
NO_NAMES += ["precison@10", "F1@10", "f1_score", "f1", "f@10", "max_f", "max_f1@10", "threshold@max_f1@3"]
NO_NAMES += ["precision@recall=", "precision@recall=.", "precision@recall=1..2", "precision@recall=high"]
NO_NAMES += ["f1@threshold=1..2", "f1@threshold=nan", "f..@3", "max_f.", "precision@٣", "recall@10/positives"]
NO_NAMES += [
    "average_precision@10/min",
    "interpolated_average_precision_10",
    "rows@10",
    "auc",
    "qqqqqqqq",
    "@",
    "rows\n",
]


@pytest.mark.parametrize("name", NO_NAMES)
@pytest.mark.parametrize("lazy", [False, True])
def test_no_metric(name, lazy):
    frame = TEN.lazy() if lazy else TEN
    with pytest.raises(ValueError, match="no metric is named") as error:
        frame.pr.evaluate(["average_precision", name], "relevant", "score")
    message = str(error.value)
    assert repr(name) in message
    offered = re.search(r"(?:the nearest names are|names look like) (.*)$", message)[1].split(", ")
    # What is offered can be asked for.
    assert TEN.pr.evaluate(offered, "relevant", "score").columns == offered


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("average_precison", "average_precision"),
        ("Average_Precision", "average_precision"),
        ("precison@7", "precision@7"),
        ("average_precision_at_7", "average_precision@7"),
        ("precision_at_5", "precision@5"),
        ("recall @ 5", "recall@5"),
        ("AP@5", "average_precision@5"),
        ("map", "average_precision"),
        ("mean_average_precision@5", "average_precision@5"),
        ("auc", "average_precision"),
        ("auprc", "average_precision"),
        ("pr_auc", "average_precision"),
        ("p@5", "precision@5"),
        ("ppv@5", "precision@5"),
        ("r@5", "recall@5"),
        ("sensitivity@5", "recall@5"),
        ("tpr@5", "recall@5"),
        ("tnr@5", "specificity@5"),
        ("f@5", "f1@5"),
        ("f1_score@5", "f1@5"),
        ("f_score@5", "f1@5"),
        ("recal@threshold=0.25", "recall@threshold=0.25"),
        ("r_precison", "r_precision"),
        ("interpolated_average_precision_10", "interpolated_average_precision"),
        ("F1@10", "f1@10"),
        ("prevalance", "prevalence"),
        ("MCC@threshold=0.5", "mcc@threshold=0.5"),
        ("max_F1", "max_f1"),
        ("f_beta@5", "f1@5"),
        ("fbeta@5", "f1@5"),
        ("support", "positives"),
        ("interpolated_average_precison", "interpolated_average_precision"),
        ("interpolated_average_precison_11", "interpolated_average_precision_11"),
        ("interpolated_precison@recall=0.4", "interpolated_precision@recall=0.4"),
        ("treshold@recall=0.4", "threshold@recall=0.4"),
        ("threshold", "threshold@max_f1"),
        ("row", "rows"),
        ("positive", "positives"),
        ("tie", "ties"),
        ("lifts", "lift"),
        ("precisoin", "precision@10"),
    ],
)
def test_the_nearest_names(name, meant):
    with pytest.raises(ValueError, match=rf"no metric is named '{name}'; the nearest names are (.*, )?{meant}(,|$)"):
        metric(name, pl.Float64())


@pytest.mark.parametrize(("name", "figure"), [("recall", "recall"), ("Precision", "precision"), ("f", "f1")])
def test_a_figure_without_a_cut(name, figure):
    offered = f"{figure}@10, {figure}@threshold=0.5, {figure}@recall=0.8"
    with pytest.raises(
        ValueError, match=f"no metric is named '{name}'; it needs a cut, the nearest names are {offered}$"
    ):
        metric(name, pl.Float64())


@pytest.mark.parametrize("name", ["ndcg", "ndcg@10", "mrr", "roc_auc", "hit_rate@5"])
def test_a_metric_that_is_not_here(name):
    # Nothing is near to these: an offer would be a guess.
    with pytest.raises(ValueError, match=f"no metric is named '{name}'; names look like average_precision, "):
        metric(name, pl.Float64())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("precision@0", "k must be a whole number of at least 1, got 0"),
        ("average_precision@0", "k must be a whole number of at least 1, got 0"),
        ("precision@1.5", "k must be a whole number of at least 1, got 1.5: at a score it is precision@threshold=1.5"),
        ("precision@-3", "k must be a whole number of at least 1, got -3"),
        ("precision@1e2", "k must be a whole number of at least 1, got 1e2"),
        ("precision@recall=1.01", "recall must lie between 0 and 1, got 1.01"),
        ("threshold@recall=-0.1", "recall must lie between 0 and 1, got -0.1"),
        ("k@recall=inf", "recall must lie between 0 and 1, got inf"),
        ("f0@3", "beta must be a positive number, got 0"),
        ("max_f0.0", "beta must be a positive number, got 0.0"),
    ],
)
def test_a_number_that_cannot_be(name, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TEN.pr.evaluate(name, "relevant", "score")


@pytest.mark.parametrize("name", [3, None, pl.col("average_precision"), ["rows"]])
def test_a_metric_is_a_text(name):
    with pytest.raises(TypeError, match="a metric is asked for by its name, got"):
        TEN.pr.evaluate([name], "relevant", "score")


def test_a_metric_twice():
    with pytest.raises(ValueError, match="metric 'rows' is asked for twice"):
        TEN.pr.evaluate(["rows", "positives", "rows"], "relevant", "score")


@pytest.mark.parametrize("figure", [*FIGURES, "f0.5", "f3"])
def test_figures_are_found_by_name(figure):
    assert callable(figure_of(figure))


def own_method(name):
    """The method that gives this metric, its arguments, and the column; None where only `evaluate` gives it."""
    head, _, cut = name.partition("@")
    beta = re.fullmatch(r"(?:threshold@max_|max_)?f([\d.]+)", head if cut[:3] != "max" else name)
    if name in ("average_precision", "r_precision"):
        return name, {}, name
    if head == "average_precision":
        k, _, divisor = cut.partition("/")
        return "average_precision_at_k", {"k": int(k), "divisor": divisor or "min"}, name
    if name.startswith("interpolated_average_precision"):
        points = name.removeprefix("interpolated_average_precision")
        return "interpolated_average_precision", {"points": int(points[1:]) if points else None}, name
    if "max_f" in name:
        return "f_beta", {"beta": float(beta[1])}, name
    if name in ("rows", "positives", "prevalence", "ties", "lift"):
        return "report", {}, name
    where, _, number = cut.rpartition("=")
    if where == "recall":
        method = {"precision": "precision_at_recall", "k": "k_at_recall"}.get(head)
        return method and (method, {"recall": float(number)}, name)
    at = {"threshold": float(number)} if where else {"k": int(number)}
    if beta:
        return "f_beta", {"beta": float(beta[1]), **at}, name
    if not where and head in ("precision", "recall"):
        return f"{head}_at_k", at, name
    return "confusion", at, head


def test_every_name_has_its_method_but_for_these():
    without = {name for name in NAMES if own_method(name) is None}
    assert without == {name for name in NAMES if "@recall=" in name and not re.match(r"(precision|k)@", name)}


@pytest.mark.parametrize("name", [name for name in NAMES if own_method(name)])
def test_every_name_through_its_own_method(name):
    data = groups()
    method, given, column = own_method(name)
    asked = fp.evaluate(data, name, "relevant", "score", by="q")
    result = call(data, method, by="q", **given)
    if column not in result.columns:
        # A large threshold may be written in another way in the name.
        _, column = result.columns
        assert float(column.rpartition("=")[2]) == given["threshold"]
    assert result.select("q", column).rename({column: name}).equals(asked)


@pytest.mark.parametrize("method", [None, "own"])
def test_every_name_on_every_kind(kind, method):
    # One name of each metric and cut: all names are compared above, on polars.
    data = groups().filter(pl.col("q") < 20)
    names = [name for name in NAMES if own_method(name) and not re.search(r"1e300|-inf|@1\b|@10|f0.5|f2", name)]
    assert len(names) > 60
    expected = fp.evaluate(data, names, "relevant", "score", by="q")
    frame = kind(data)
    if method is None:
        result = kind.read(fp.evaluate(frame, names, "relevant", "score", by="q"))
        assert result.rows() == [tuple(map(near, row)) for row in expected.rows()]
        return
    for name in names:
        function, given, column = own_method(name)
        result = kind.read(call(frame, function, by="q", **given))
        assert result[column].to_list() == list(map(near, expected[name].to_list())), name


def test_the_best_f_where_nothing_is_retrieved():
    # F of predicting nothing is 2*0 / (P + 0) = 0 for the query with a positive, and 0/0 for the one without.
    data = pl.DataFrame(
        {"q": [1, 2], "relevant": [1, 0], "score": [None, None]}, schema_overrides={"score": pl.Float64}
    )
    result = data.pr.evaluate(["max_f1", "threshold@max_f1"], "relevant", "score", by="q", unscored="unretrieved")
    assert result.rows() == [(1, 0.0, None), (2, None, None)]
