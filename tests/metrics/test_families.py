import re

import polars as pl
import pytest
from compare import near
from names import AT_CUT, COUNTS, FIGURES, NAMES, RATES, call
from oracle import oracle
from samples import TEN, alone, groups

import frame_pr as fp
from frame_pr.metrics import rates
from frame_pr.metrics.names import FAMILIES
from frame_pr.metrics.rates import rate_of


@pytest.mark.slow
def test_every_name_is_what_the_oracle_says():
    data = groups()
    result = data.pr.evaluate(NAMES, "relevant", "score", by="q")
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
    assert set(rates.RATES) == {*COUNTS, *RATES}
    for figure in [*FIGURES, "f0.5"]:
        assert sum(name.startswith(f"{figure}@") for name in AT_CUT) == len(AT_CUT) // (len(FIGURES) + 3)


@pytest.mark.parametrize(
    ("names", "dtype"),
    [
        (["rows", "positives", "tied_rows", "k@5", "k@recall=0.5", "k@threshold=3"], pl.Int64),
        (["tp@threshold=3", "fp@threshold=3", "fn@recall=0.5", "tn@recall=0.5"], pl.Int64),
        (["tp@5", "fp@5", "fn@5", "tn@5"], pl.Float64),
        (["average_precision", "precision@5", "recall@recall=0.5", "mcc@threshold=3", "max_f1"], pl.Float64),
        (["prevalence", "average_precision_lift", "r_precision", "interpolated_average_precision_11"], pl.Float64),
        (["threshold@max_f1", "threshold@recall=0.5"], pl.Int16),
    ],
)
def test_dtypes(names, dtype):
    result = TEN.cast({"score": pl.Int16}).pr.evaluate(names, "relevant", "score")
    assert dict(result.schema) == dict.fromkeys(names, dtype)


@pytest.mark.parametrize("figure", [*FIGURES, "f0.5", "f3"])
def test_figures_are_found_by_name(figure):
    assert callable(rate_of(figure).formula)


ONLY_BY_NAME = (
    "%|@precision=|@fpr=|@specificity=|@npv=|^dcg|^judged|^bpref|^rbp|max_[^f]|cost|benefit|^chance|^normalized|/coco"
)
ONLY_BY_NAME += r"|^recall.*/|^(first|mean)_rank|^captured|equal_error_rate|^threshold@\d"
ONLY_BY_NAME += "".join(f"|^{name}@" for name, rate in rates.RATES.items() if not rate.in_confusion)


def own_method(name):
    """The method that gives this metric, its arguments, and the column; None where only `evaluate` gives it."""
    head, _, cut = name.partition("@")
    beta = re.fullmatch(r"(?:threshold@max_|max_)?f([\d.]+)", head if cut[:3] != "max" else name)
    if re.search(ONLY_BY_NAME, name):
        return None
    if name in ("average_precision", "r_precision", "roc_auc"):
        return name, {}, name
    if head in ("reciprocal_rank", "ndcg"):
        return head, {"k": int(cut)} if cut else {}, name
    if head == "success":
        return "success_at_k", {"k": int(cut)}, name
    if head == "average_precision":
        k, _, divisor = cut.partition("/")
        return "average_precision_at_k", {"k": int(k), "divisor": divisor or "min"}, name
    if name.startswith("interpolated_average_precision"):
        points = name.removeprefix("interpolated_average_precision")
        return "interpolated_average_precision", {"points": int(points[1:]) if points else None}, name
    if "max_f" in name:
        return "f_beta", {"beta": float(beta[1])}, name
    if name in ("rows", "positives", "prevalence", "tied_rows", "average_precision_lift"):
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
    at_recall = {name for name in NAMES if "@recall=" in name and not re.match(r"(precision|k)@", name)}
    assert without == {*at_recall, *(name for name in NAMES if re.search(ONLY_BY_NAME, name))}


OWN = [name for name in NAMES if own_method(name)]


@pytest.mark.parametrize("name", OWN[::6])
def test_every_name_through_its_own_method(name):
    data = groups()
    method, given, column = own_method(name)
    result = call(data, method, by="q", **given)
    if column not in result.columns:
        # A large threshold may be written in another way in the name.
        _, column = result.columns
        assert float(column.rpartition("=")[2]) == given["threshold"]
    assert result.select("q", column).rename({column: name}).equals(alone(name))


@pytest.mark.slow
def test_every_own_method_on_every_kind():
    # One name of each metric and cut: all names are compared above, on polars.
    data = groups().filter(pl.col("q") < 20)
    names = [name for name in NAMES if own_method(name) and not re.search(r"1e300|-inf|@1\b|@10|f0.5|f2", name)]
    assert len(names) > 60
    expected = fp.evaluate(data, names, "relevant", "score", by="q")
    frame = data
    for name in names[::3]:
        function, given, column = own_method(name)
        result = call(frame, function, by="q", **given)
        assert result[column].to_list() == list(map(near, expected[name].to_list())), name


def test_the_best_f_where_nothing_is_retrieved():
    # F of predicting nothing is 2*0 / (P + 0) = 0 for the query with a positive, and 0/0 for the one without.
    data = pl.DataFrame(
        {"q": [1, 2], "relevant": [1, 0], "score": [None, None]}, schema_overrides={"score": pl.Float64}
    )
    result = data.pr.evaluate(["max_f1", "threshold@max_f1"], "relevant", "score", by="q", unscored="unretrieved")
    assert result.rows() == [(1, 0.0, None), (2, None, None)]
