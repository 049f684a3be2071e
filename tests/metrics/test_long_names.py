"""Numbers and names of any length: read at once or refused at once, and nothing kept of them."""

from fractions import Fraction

import polars as pl
import pytest
from compare import assert_same

import frame_pr as fp
from frame_pr.metrics import names

# Precision 2/3 and recall 2/4 at k = 3.
DATA = pl.DataFrame({"y": [1, 0, 1, 0, 1, 1], "s": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]})


def at_3(beta):
    rows = [
        fp.f_beta(DATA, "y", "s", beta=beta, k=3).item(),
        fp.f_beta(DATA, "y", "s", beta=beta, threshold=4).item(),
        DATA.select(pl.col("s").pr.metric(f"f{beta!r}@3", "y")).item(),
        fp.curve(DATA, "y", "s", rates=f"f{beta}")[f"f{beta}"][2],
    ]
    assert max(rows) - min(rows) < 1e-15
    return rows[0]


@pytest.mark.parametrize("beta", [1e-5, 1e-9, 1e-160, 5e-324])
def test_the_f_of_a_small_beta_is_the_precision(beta):
    # (1 + b^2) tp / (b^2 P + k) with tp = 2, P = 4, k = 3.
    square = Fraction(beta) ** 2
    assert at_3(beta) == pytest.approx(float((1 + square) * 2 / (square * 4 + 3)), rel=1e-15)
    # Where nothing is taken, it is 0, not nothing.
    assert fp.f_beta(DATA, "y", "s", beta=beta, threshold=9).item() == 0
    assert fp.f_beta(DATA, "y", "s", beta=beta).row(0) == (pytest.approx(1, rel=1e-9), 6.0)


@pytest.mark.parametrize("beta", [1e16, 1e22, 1e154, 1e200, 1e308])
def test_the_f_of_a_large_beta_is_the_recall(beta):
    assert at_3(beta) == pytest.approx(0.5, rel=1e-15)
    assert fp.f_beta(DATA, "y", "s", beta=beta).row(0) == (pytest.approx(1, rel=1e-15), 1.0)


def test_large_betas_that_are_whole():
    assert fp.f_beta(DATA, "y", "s", beta=10**200, k=3).item() == pytest.approx(0.5, rel=1e-15)
    for beta in (10**400, 10**5000, Fraction(10**400), float("inf")):
        with pytest.raises(ValueError, match="beta must be a positive number, got inf"):
            fp.f_beta(DATA, "y", "s", beta=beta)


@pytest.mark.parametrize("name", ["max_f1e-5", "threshold@max_f1e-05", "f1e-5@3", "f1e+2@threshold=1e0", "max_f1e300"])
def test_betas_with_an_exponent(name):
    plain = name.replace("1e-5", "0.00001").replace("1e-05", "0.00001").replace("1e+2", "100")
    result = fp.evaluate(DATA, list(dict.fromkeys([name, plain])), "y", "s").row(0)
    assert len(set(result)) == 1


@pytest.mark.parametrize(
    ("cut", "k"), [("1e-9999999", 1), ("5e-324", 1), ("1e-37", 1), ("0." + "9" * 37, 6), ("0.250000000000000001", 3)]
)
def test_recalls_of_any_digits(cut, k):
    # The first positive stands at rank 1, the second, which anything above 1/4 needs, at 3, the last one at 6.
    assert fp.evaluate(DATA, f"k@recall={cut}", "y", "s").item() == k
    assert DATA.select(pl.col("s").pr.metric(f"k@recall={cut}", "y")).item() == k


def test_recalls_of_many_digits_that_mean_few():
    cuts = ["0.50000000000000000000000000", "0000000000000000000000.5", "5e-1", "0.5"]
    assert set(fp.evaluate(DATA, [f"k@recall={cut}" for cut in cuts], "y", "s").row(0)) == {3}
    assert fp.evaluate(DATA, f"k@recall={0.1 + 0.2}", "y", "s").item() == 3  # 0.30000000000000004 of 4: two


@pytest.mark.parametrize(
    "name",
    [
        "f" + "1" * 20_000 + "x",
        "max_f" + "1" * 20_000 + "x",
        "k@threshold=" + "1" * 20_000 + "x",
        "k@" + "1" * 20_000,
        "f1" + " " * 20_000 + "x",
        "x" * 20_000,
    ],
)
def test_long_names(name):
    with pytest.raises(ValueError, match=r"no metric is named '.* characters, 100 are the most$") as error:
        fp.evaluate(DATA, name, "y", "s")
    with pytest.raises(ValueError, match=r"no rate is named '.* characters, 100 are the most$"):
        fp.curve(DATA, "y", "s", rates=name)
    with pytest.raises(ValueError, match=r"no metric is named '.* characters, 100 are the most$"):
        pl.col("s").pr.metric(name, "y")
    assert len(str(error.value)) < 400


def test_numbers_too_large_to_be_written():
    with pytest.raises(ValueError, match=r"k must be below 2\*\*62, got a whole number of more than 40 digits"):
        fp.precision_at_k(DATA, "y", "s", k=10**5000)
    assert fp.confusion(DATA, "y", "s", threshold=10**5000, rates="all")["k"].item() == 0
    assert fp.confusion(DATA, "y", "s", threshold=-(10**5000), rates="all")["k"].item() == 6


def test_names_are_not_kept_for_ever():
    for i in range(2000):
        names.metric(f"precision@threshold=0.{i}1")
    assert names._read.cache_info().currsize <= 1024


def test_many_keys():
    many = [f"k{i}" for i in range(200)]
    data = pl.DataFrame({"y": [1, 0, 1], "s": [3.0, 2.0, 1.0]} | {name: [1, 2, 1] for name in many})
    for keys in (many, many[:60], many[:5]):
        plain = fp.evaluate(data, "rows", "y", "s", by=keys)
        assert_same(fp.evaluate(data.lazy(), "rows", "y", "s", by=keys).collect(), plain)
        assert plain["rows"].to_list() == [2, 1]
