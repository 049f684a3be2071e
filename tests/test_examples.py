"""Each example runs as a reader would run it, with warnings as errors, and prints what it promises."""

import re
from html import escape
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import polars as pl
import pytest
from example_runs import output_of
from polars.testing import assert_frame_equal

import frame_pr
from frame_pr.plotting.plots import CurveArguments

pytestmark = pytest.mark.slow
# One process runs each of these examples, once.
DIGITS, SEARCH = pytest.mark.xdist_group("digits"), pytest.mark.xdist_group("search")

README = Path(__file__).parents[1] / "README.md"
CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
GALLERY = Path(__file__).parents[1] / "docs" / "gallery.md"


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> str:
    # matplotlib before 3.10.8 calls pyparsing by its old names; all else would be on stderr.
    return output_of("digits_report.py", tmp_path_factory.mktemp("digits"), warnings="ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def search() -> str:
    return output_of("search_report.py")


def table(output: str, *header: str) -> list[list[str]]:
    """Cells of the rows of the polars table that has this header."""
    (found,) = [part for part in output.split("┌")[1:] if cells(part.splitlines()[1]) == list(header)]
    body = found.partition("╡\n")[2].partition("└")[0]
    return [cells(line) for line in body.splitlines()]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split("[│┆]", line)[1:-1]]


DIGITS_HEADER = ("digit", "model", "AP", "interpolated AP", "P@10", "best F1", "at threshold")
MODELS = ("decision tree", "logistic regression")


@DIGITS
def test_digits_has_a_row_for_every_digit_and_model(digits: str) -> None:
    rows = table(digits, *DIGITS_HEADER)
    assert [(row[0], row[1]) for row in rows] == [(str(digit), model) for digit in range(10) for model in MODELS]
    for row in rows:
        ap, interpolated, *shares = map(float, row[2:])
        assert 0 < ap <= interpolated <= 1
        assert all(0 <= share <= 1 for share in shares)


@DIGITS
def test_digits_map_is_the_mean_of_the_rows_above_it(digits: str) -> None:
    rows = table(digits, *DIGITS_HEADER)
    means = table(digits, "model", "groups", "mean_average_precision", "undefined_average_precision")
    assert [row[0] for row in means] == list(MODELS)
    for model, groups, mean, undefined in means:
        of_model = [float(row[2]) for row in rows if row[1] == model]
        assert (groups, undefined) == ("10", "0")
        # Ten metrics and their mean, each rounded to three decimals.
        assert float(mean) == pytest.approx(sum(of_model) / 10, abs=0.001)


@DIGITS
def test_digits_prints_the_same_rows_in_pandas(digits: str) -> None:
    in_pandas = digits.partition("In pandas")[2]
    printed = [tuple(line.split()) for line in in_pandas.splitlines()]
    for row in table(digits, *DIGITS_HEADER):
        assert tuple(" ".join(row).split()) in printed


@DIGITS
def test_digits_says_who_agrees(digits: str) -> None:
    assert re.search(r"polars and pandas agree on all 100 values and both means: largest difference \d", digits)
    assert re.search(r"scikit-learn, asked 20 times, agrees on average precision: largest difference \d", digits)


@DIGITS
def test_digits_leaves_a_picture_and_says_where(digits: str) -> None:
    picture = Path(re.search(r"panel for each digit: (.*digits\.svg)\n", digits)[1])
    assert "</svg>" in picture.read_text(encoding="utf-8")


@SEARCH
def test_search_ranks_real_documents_for_hundreds_of_queries(search: str) -> None:
    rows, queries, documents = (
        int(number.replace(",", ""))
        for number in re.search(r"([\d,]+) rows = (\d+) queries x (\d+) documents", search).groups()
    )
    assert rows == queries * documents
    assert queries > 200
    assert documents > 300


@SEARCH
def test_search_report_compares_three_systems(search: str) -> None:
    rows = table(search, "figure", "bm25", "tfidf", "char_ngrams")
    report = {row[0]: [float(figure) for figure in row[1:]] for row in rows}
    queries = float(re.search(r"(\d+) queries", search)[1])
    assert report["groups"] == [queries] * 3
    for prevalence, ap, interpolated in zip(
        report["mean_prevalence"],
        report["mean_average_precision"],
        report["mean_interpolated_average_precision"],
        strict=True,
    ):
        # A ranking at random has an AP near prevalence: each system is far above it.
        assert 10 * prevalence < ap <= interpolated < 1
    # BM25's saturation of term counts helps on long docstrings; raw counts are the weakest of the three.
    bm25, tfidf, _ = report["mean_average_precision"]
    assert bm25 > tfidf


@SEARCH
def test_search_areas_average_to_the_whole(search: str) -> None:
    rows = table(search, "area", "groups", "bm25", "tfidf", "char_ngrams")
    assert {row[0] for row in rows} == {"numpy", "linalg", "fft", "random"}
    groups = [int(row[1]) for row in rows]
    overall = next(
        row for row in table(search, "figure", "bm25", "tfidf", "char_ngrams") if row[0] == "mean_average_precision"
    )
    for system in range(3):
        weighted = sum(n * float(row[2 + system]) for n, row in zip(groups, rows, strict=True)) / sum(groups)
        assert weighted == pytest.approx(float(overall[1 + system]), abs=0.001)


@SEARCH
def test_search_shows_where_two_systems_differ(search: str) -> None:
    rows = table(search, "query", "bm25_average_precision", "tfidf_average_precision", "gap")
    gaps = [float(row[3]) for row in rows]
    assert len(gaps) == 6
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[2] > 0 > gaps[3]
    for row, gap in zip(rows, gaps, strict=True):
        assert gap == pytest.approx(float(row[1]) - float(row[2]), abs=0.0021)


@SEARCH
def test_search_walks_down_one_query(search: str) -> None:
    rows = table(search, "document", "relevant", "bm25", "k", "tp", "precision", "recall")
    assert len(rows) == 8
    scores = [float(row[2]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    for rank, (_, _, _, k, tp, precision, _) in enumerate(rows, start=1):
        assert int(k) >= rank  # more where this score is tied with a later row's
        assert float(precision) == pytest.approx(int(tp) / int(k), abs=0.0006)
    assert {row[1] for row in rows} == {"true", "false"}


@pytest.mark.xdist_group("site")  # for which they are drawn, too
def test_gallery_draws_every_picture_that_stands_above_its_lines(gallery_plots: Path) -> None:
    docs = GALLERY.parent
    texts = {page: page.read_text(encoding="utf-8") for page in docs.rglob("*.md")}
    shown = [
        (alt, (page.parent / name).resolve().relative_to(docs))
        for page, text in texts.items()
        if "```pycon" in text
        for alt, name in re.findall(r"^!\[([^]]*)\]\((.*?\.svg)\)", text, re.MULTILINE)
    ]
    assert len(shown) >= 40
    for alt, light in shown:
        assert len(alt) > 30  # what is to be seen
        for path in (light, light.with_stem(f"{light.stem}-dark")):
            drawn = (gallery_plots / path).read_text(encoding="utf-8")
            assert f"<title>{escape(' '.join(alt.split()), quote=False)}</title>" in drawn
            # Only the plot of the README is in the repository. Another matplotlib has other margins.
            if light.stem == "textbook" and f"matplotlib=={mpl.__version__}\n" in CONSTRAINTS.read_text(
                encoding="utf-8"
            ):
                assert alike(drawn, (docs / path).read_text(encoding="utf-8")), (
                    f"{path} is another picture than its lines draw: python examples/gallery.py"
                )


def test_a_thumbnail_leads_to_each_picture_of_the_gallery() -> None:
    page = GALLERY.read_text(encoding="utf-8")
    shown = re.findall(r"^!\[[^]]*\]\((.*?\.svg)\)", page, re.MULTILINE)
    assert len(shown) >= 26
    assert [name for name in shown if f"]({name}) " not in page] == []


def test_every_option_of_plot_is_in_the_gallery() -> None:
    page = GALLERY.read_text(encoding="utf-8")
    options = ["by", *CurveArguments.__annotations__]
    assert len(options) >= 25
    missing = [name for name in options if not re.search(rf'[(, `]{name}=|"{name}": ', page)]
    assert missing == []


def alike(drawn: str, kept: str) -> bool:
    """Whether they have the same elements, at most two points apart: another machine may round otherwise."""
    drawn, kept = (re.sub(r"\b[mpC][0-9a-f]{8,}|#h?[0-9a-f]{6,}", "", text) for text in (drawn, kept))
    number = re.compile(r"-?\d+\.?\d*")
    if number.sub("", drawn) != number.sub("", kept):
        return False
    pairs = zip(number.findall(drawn), number.findall(kept), strict=True)
    return all(abs(float(one) - float(other)) < 2 for one, other in pairs)


CHEAT_SHEETS = README, GALLERY.with_name("cheat_sheet.md")
CALLS = [
    call
    for page in CHEAT_SHEETS
    for table in re.findall(r"\| task \| call \|\n.*?\n\n", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for call in re.findall(r"\| `([^`]*)` \|$", table, flags=re.MULTILINE)
]
RUN = {
    "query": ["ink", "ink", "ink", "ink", "tea", "tea", "tea", "tea"],
    "relevant": [False, True, False, True, True, True, False, True],
    "verdict": ["ham", "spam", "ham", "spam", "spam", "spam", "ham", "spam"],
    "predicted": [True, True, False, False, True, True, False, False],
    "score": [0.9, 0.8, 0.4, 0.3, 0.7, 0.6, 0.5, 0.2],
    "other_score": [0.1, 0.8, 0.4, 0.3, 0.7, 0.6, 0.5, 0.2],
}


def test_the_readme_is_short() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 160
    assert len(text.split()) <= 1000
    assert len(CALLS) >= 48


@pytest.mark.parametrize("call", dict.fromkeys(CALLS))
def test_the_cheat_sheets_run_on_every_kind_of_frame(call: str) -> None:
    frames = (pl.DataFrame(RUN), pl.LazyFrame(RUN), pd.DataFrame(RUN))
    eager, lazy, pandas = (eval(call, {"frame_pr": frame_pr, "run": run}) for run in frames)
    assert (type(eager), type(lazy), type(pandas)) == tuple(map(type, frames))
    assert eager.height > 0
    assert_frame_equal(lazy.collect(), eager)
    assert_frame_equal(pl.from_pandas(pandas), eager)


def test_classes_are_those_of_scikit_learn() -> None:
    output = output_of("classes_report.py")
    matrix = table(output, "truth", *map(str, range(10)))
    shown = table(output, "class", "images", "AP")
    # Every image of a digit was taken for one digit.
    assert [sum(map(int, row[1:])) for row in matrix] == [int(images) for _, images, _ in shown]
    assert output.endswith("scikit-learn has the same averages and the same matrix.\n")


def test_popular_films_are_better_than_films_at_random() -> None:
    output = output_of("recommender_lists.py")
    rows = table(output, "system", "groups", "MAP@10", "nDCG@10", "hit rate", "liked_nothing")
    assert [(row[0], row[1]) for row in rows] == [("popular", "300"), ("random", "300")]
    popular, random = ([float(one) for one in row[2:5]] for row in rows)
    assert all(better > worse for better, worse in zip(popular, random, strict=True))
