"""Pages that are made from the code are what the code makes, and leave nothing out."""

import inspect
import json
import re
import runpy
from pathlib import Path

import pytest

import frame_pr
from benchmarks import performance, summary

DOCS = Path(__file__).parents[1] / "docs"
DOCSTRINGS = runpy.run_path(str(DOCS / "docstrings.py"))
FUNCTIONS = [one for one in DOCSTRINGS["public"]() if inspect.isfunction(one)]


def test_the_table_of_metrics_is_that_of_the_code():
    made = runpy.run_path(str(DOCS / "metrics.py"))["page"]()
    assert "`average_precision`" in made
    assert "`kappa`" in made
    assert (DOCS / "metrics.md").read_text(encoding="utf-8") == made, "run: python docs/metrics.py"


def test_the_names_that_editors_offer_are_those_of_the_code():
    script = runpy.run_path(str(DOCS / "completion.py"))
    assert '"precision@10",' in script["module"]()
    assert script["TARGET"].read_text(encoding="utf-8") == script["module"](), "run: python docs/completion.py"


@pytest.mark.parametrize("target", summary.SENTENCES, ids=lambda path: path.name)
def test_what_is_said_of_speed_is_what_was_measured(target):
    page, text = (path.read_text(encoding="utf-8") for path in (summary.PAGE, target))
    assert summary.rewritten(text, summary.SENTENCES[target], page) == text, "run: python -m benchmarks.summary"
    # Another measurement is another sentence.
    assert summary.rewritten(text, summary.SENTENCES[target], re.sub(r"\b0\.\d+ s", "0.9 s", page)) != text


def test_the_page_of_performance_says_what_was_measured():
    report = summary.PAGE.read_text(encoding="utf-8")
    text = performance.page(report)
    assert performance.TARGET.read_text(encoding="utf-8") == text, "run: python -m benchmarks.performance"
    assert len(text.split()) <= 750
    for suffix, scheme in performance.SCHEMES.items():
        chart = performance.CHART.with_stem(performance.CHART.stem + suffix).read_text(encoding="utf-8")
        assert chart == performance.chart(report, scheme), "run: python -m benchmarks.performance"
    # The table has ratios: if this package takes 0.5 s and scikit-learn 200 times as long, that is 100 s.
    changed = re.sub(r"\| frame_pr \| [\d.]+ s", "| frame_pr | 0.5 s", report)
    changed = re.sub(r"\| scikit-learn per group \| [\d.,]+", "| scikit-learn per group | 200", changed)
    assert performance.times(changed)["scikit-learn per group"]["100k x 100"] == 100


def test_the_page_of_options_is_that_of_the_tables():
    policies = DOCSTRINGS["POLICIES"]
    text = policies["page"]()
    assert (DOCS / "policies.md").read_text(encoding="utf-8") == text, "run: python docs/policies.py"
    # Weighted rows have no ranks; predicted classes have no order; the threshold of the best F has no bound by orders.
    assert "| `precision_at_k` | - | - | yes | yes | yes | yes |" in text
    assert "| `confusion`, with `prediction` | yes | - | - | - | - | - |" in text
    assert policies["sentence"]("f_beta").startswith('Refused: without a cutoff, `ties="expected"`')
    assert policies["sentence"]("average_precision") == ""
    listed = set(re.findall(r"^\| `([a-z_]+)`", text, re.MULTILINE))
    assert {one.__name__ for one in FUNCTIONS if "policies" in inspect.signature(one).parameters} <= listed | {
        "evaluate",
        "with_metrics",
        "compare",
        "plot_comparison",
    }


@pytest.mark.parametrize("name", ["search.ipynb", "classifier.ipynb"])
def test_a_notebook_is_its_page_and_runs(name, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    notebooks = runpy.run_path(str(DOCS / "notebooks.py"))
    text = (notebooks["EXAMPLES"] / name).read_text(encoding="utf-8")
    assert text == notebooks["notebook"](notebooks["NOTEBOOKS"][name]), "run: python docs/notebooks.py"
    cells = json.loads(text)["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert names["ax"].get_legend() is not None


def test_the_drawing_of_the_layers_is_that_of_the_code():
    made = runpy.run_path(str(DOCS / "layers.py"))["picture"]()
    assert ">ranking</text>" in made
    assert ">accessors.py</text>" in made
    assert (DOCS / "images" / "layers.svg").read_text(encoding="utf-8") == made, "run: python docs/layers.py"


def test_the_pages_of_the_trades_are_one_click_from_the_first():
    pages = sorted(f"for/{page.name}" for page in DOCS.glob("for/*.md"))
    assert len(pages) == 6
    for page in ("index.md", "who.md"):
        linked = re.findall(r"\]\((for/[a-z]+\.md)\)", (DOCS / page).read_text(encoding="utf-8"))
        assert sorted(linked) == pages


def test_the_way_of_a_call_leads_through_files_that_are_there():
    section = (DOCS / "design.md").read_text(encoding="utf-8").split("\n## ")[2]
    named = re.findall(r"`([a-z_/]+\.py|[a-z_]+/)`", section)
    assert "ranking/blocks.py" in named
    assert "parts/" in named
    package = Path(frame_pr.__file__).parent
    assert [name for name in named if not (package / name).exists()] == []


@pytest.mark.slow
def test_the_page_of_frames_is_what_the_functions_take():
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("pyarrow")
    made = runpy.run_path(str(DOCS / "frame_support.py"))["page"]()
    assert (DOCS / "frame_support.md").read_text(encoding="utf-8") == made, "run: python docs/frame_support.py"
    # Backends evaluate, and have no curve; an arrow stream is read once, and plot_curve wants a frame.
    assert "| `evaluate` | yes | yes | yes | yes | polars | yes |" in made
    assert "| `curve` | yes | yes | yes | yes | polars | - |" in made
    assert "| `plot_curve` | plot | plot | plot | plot | - | - |" in made


def test_every_public_name_is_in_the_reference():
    listed = [line.strip() for line in (DOCS / "reference.md").read_text(encoding="utf-8").splitlines()]
    assert sorted(name for name in listed if name in frame_pr.__all__) == sorted(frame_pr.__all__)


@pytest.mark.slow
@pytest.mark.xdist_group("policies")
def test_shared_parameters_are_described_as_the_script_says():
    assert list(DOCSTRINGS["changed"]()) == [], "run: python docs/docstrings.py"


@pytest.mark.parametrize("function", FUNCTIONS, ids=[function.__qualname__ for function in FUNCTIONS])
def test_every_public_function_says_what_it_takes_gives_and_raises(function):
    sections = re.findall(r"^(.+)\n-+$", inspect.getdoc(function), re.MULTILINE)
    needed = ["Parameters", "Returns", "Raises", "Examples"]
    assert [section for section in sections if section in needed] == needed


WITH_CODE = [page for page in DOCS.rglob("*.md") if page.relative_to(DOCS).parts[0] not in ("_build", "api")]


@pytest.mark.parametrize("page", [DOCS.parent / "README.md", *WITH_CODE], ids=lambda page: page.stem)
def test_code_fits_a_narrow_column(page):
    blocks = re.findall(r"(?ms)^```(?:python|pycon)\n(.*?)^```", page.read_text(encoding="utf-8"))
    # Of an example with prompts, what it prints may be wider.
    code = [
        line for block in blocks for line in block.splitlines() if ">>>" not in block or line[:4] in (">>> ", "... ")
    ]
    assert [line for line in code if len(line) > 88] == []


def sections(function) -> dict[str, str]:
    """The sections of a docstring by their titles; what comes before the first has none."""
    first, *others = re.split(r"(?m)^(\w[\w ]+)\n-+\n", inspect.getdoc(function))
    return {"": first} | dict(zip(others[::2], others[1::2], strict=True))


VERBS = {"Add", "Average", "Compare", "Compute", "Count", "Draw", "Identify", "Join", "Pre-aggregate", "Read"}
VERBS |= {"Simulate", "Split", "Summarise", "Test", "Turn", "Write"}
IN_FRAMES = [function for function in FUNCTIONS if function.__qualname__ in frame_pr.__all__]
# With `by`, these draw, or give what a frame of metrics gives.
DRAWN = [function.__name__ for function in IN_FRAMES if function.__name__.startswith("plot")]


@pytest.mark.parametrize("function", FUNCTIONS, ids=[function.__qualname__ for function in FUNCTIONS])
def test_docstrings_begin_with_a_verb(function):
    assert inspect.getdoc(function).split()[0] in VERBS


@pytest.mark.parametrize("function", IN_FRAMES, ids=[function.__qualname__ for function in IN_FRAMES])
def test_docstrings_name_related_functions_sources_and_groups(function):
    name, parts = function.__name__, sections(function)
    related = DOCSTRINGS["RELATED"].get(name, "")
    assert related, f"add {name} to RELATED of docs/docstrings.py, and run it"
    assert set(related.split(", ")) <= set(frame_pr.__all__)
    assert " ".join(parts["See Also"].split()) == related
    for source in DOCSTRINGS["references"]().get(name, []):
        address = re.search(r"\]\((https://doi\.org/[^)]+)\)", source)
        assert (address[1] if address else source.split(". ")[1]) in " ".join(parts["References"].split())
    if "by" in inspect.signature(function).parameters and name not in DRAWN:
        assert "by=" in parts["Examples"]
        assert "┌" in parts["Examples"], "one example prints a frame"


def test_references_of_docstrings_are_those_of_the_page():
    listed = DOCSTRINGS["references"]()
    assert len(listed["compare"]) >= 7
    assert "https://doi.org/10.1145/582415.582418" in sections(frame_pr.ndcg)["References"]
    assert ".. math::" in sections(frame_pr.average_precision)[""]
