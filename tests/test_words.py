"""The pages use the words of the field: each word below has a better one, which readers search for."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import frame_pr

DOCS = Path(__file__).parents[1] / "docs"
# Pages for those who change the package, and the ones that are generated with measurements.
PROJECT = {"benchmarks", "changelog", "contributing", "coverage", "design", "development", "project", "stability"}
PAGES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if page.relative_to(DOCS).parts[0] not in ("_build", "api", "decisions") and page.stem not in PROJECT
)
# What not to write, and what to write.
WORDS = {
    r"(?<!matplotlib )figures?": "metric, value or plot",
    r"how sure|doubts?|holds? the value": "confidence interval, uncertainty or coverage",
    r"taken": "retrieved, selected or predicted positive",
    # Time may be taken: "takes 20 ms", "takes 3.7 times as long".
    r"takes(?! (?:about )?\[?\d)": "accepts, retrieves or selects",
    r"cuts?|cut-offs?": "cutoff or threshold",
    r"(?<!ground )truths?": "label, ground truth or relevance",
    r"polic(?:y|ies)": "option",
    r"pictures?": "plot or chart",
    r"(?<!search )(?<!streaming )engines?": "backend",
    r"trades?": "field or use case",
    r"chance": "random baseline",
    r"alike": "duplicate, or with equal values",
    r"beside": "next to, compared with or in addition to",
    r"small is best": "lower scores rank first",
}
# Relevance is judged in search; elsewhere rows have labels.
JUDGED = {r"(?<!relevance )judgments?|judged": "label"}
SEARCH = {"for/search", "coming_from", "numbers", "comparison", "words"}


def prose(text: str) -> str:
    """The text of a page without code, comments, addresses, and the headings of the glossary, which are synonyms."""
    text = re.sub(r"(?ms)^```.*?^```$|<!--.*?-->", "", text)
    return re.sub(r"(?m)`[^`]*`|\]\([^)]*\)|<[^>]*>|^### .*$", "", text)


def words_to_avoid(text: str, *, search: bool) -> list[str]:
    words = WORDS if search else WORDS | JUDGED
    written = prose(text)
    return [
        f"{match[0]!r}: write {better}"
        for word, better in words.items()
        for match in re.finditer(rf"(?i)\b(?:{word})\b", written)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_pages_use_the_words_of_the_field(page):
    name = page.relative_to(DOCS).with_suffix("").as_posix()
    assert words_to_avoid(page.read_text(encoding="utf-8"), search=name in SEARCH) == []


# Arguments of the public functions have these names.
NAMES = ("figures?", "truths?", "polic", "cuts?", "engines?", "chance")


@pytest.mark.parametrize("name", [name for name in frame_pr.__all__ if name != "TREC_EVAL"])
def test_docstrings_use_the_words_of_the_field(name):
    described = getattr(frame_pr, name)
    methods = [getattr(described, method) for method in vars(described) if not method.startswith("_")]
    texts = map(inspect.getdoc, [described, *methods] if inspect.isclass(described) else [described])
    avoided = [found for text in texts for found in words_to_avoid(text or "", search=True)]
    assert [found for found in avoided if not re.match(rf"'(?:{'|'.join(NAMES)})", found, re.IGNORECASE)] == []


def test_words_are_noticed_in_prose_only():
    assert len(PAGES) >= 40
    assert len(words_to_avoid("A figure, beside the judged rows that a trade has taken.", search=False)) == 5
    assert words_to_avoid("The metric `figure` [takes 20 ms](judged.md).\n\n```\nbeside\n```\n", search=False) == []


def test_titles_name_the_subject():
    titles = {page.stem: re.search("(?m)^# (.*)", page.read_text(encoding="utf-8"))[1] for page in PAGES}
    assert titles["how_sure"] == "Confidence intervals"
    assert [title for title in titles.values() if "?" in title] == []


GLOSSARY = {name.lower() for heading in re.findall("(?m)^### (.*)", (DOCS / "words.md").read_text(encoding="utf-8"))
            for name in heading.split(", ")}  # fmt: skip
# What a page is, rather than what it is about.
KINDS = {
    *["installation", "quickstart", "tutorial", "cheat sheet", "gallery", "glossary", "api reference", "changelog"],
    *["troubleshooting", "user guide", "how-to guides", "use case", "get started", "project", "development", "design"],
    *["choosing a metric", "list of metrics", "metric definitions", "options", "functions", "typing", "stability"],
    *[
        "feature comparison",
        "compare",
        "migration guide",
        "performance",
        "citation",
        "large data",
        "aggregates",
        "databases",
    ],
    *["reported value", "page not found", "frame_pr"],
}


def test_titles_have_terms_that_readers_search_for():
    titles = {}
    for page in DOCS.rglob("*.md"):
        if page.relative_to(DOCS).parts[0] not in ("_build", "api", "decisions"):
            title = re.search("(?m)^# (.*)", page.read_text(encoding="utf-8"))
            titles[page.stem] = title[1].lower() if title else "changelog"  # which includes another file
    unknown = [t for t in titles.values() if not any(re.search(rf"\b{re.escape(n)}s?\b", t) for n in GLOSSARY | KINDS)]
    assert len(titles) > 40
    assert unknown == []
    assert "confidence interval" in titles["how_sure"]


def test_the_readme_is_short():
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 1000
    assert len(text.splitlines()) <= 160


def linked(page: Path) -> set[Path]:
    """The pages that a page leads to, in its text and in the navigation."""
    text = page.read_text(encoding="utf-8")
    listed = "\n".join(re.findall(r"(?ms)^```\{toctree\}\n(.*?)^```", text))
    names = re.findall(r"\]\(([^)#:]+)\.md[^)]*\)", text) + re.findall(r"(?m)^(?:.*<)?([\w/]+)>?$", listed)
    return {(page.parent / f"{name}.md").resolve() for name in names} & {one.resolve() for one in DOCS.rglob("*.md")}


def test_what_newcomers_look_for_is_two_clicks_from_the_front_page():
    first = linked(DOCS / "index.md")
    within = first.union(*map(linked, first))
    wanted = [
        "install",
        "tutorial",
        "metrics",
        "reference",
        "comparison",
        "how_sure",
        "engines",
        "citation",
        "changelog",
    ]
    assert [name for name in wanted if (DOCS / f"{name}.md").resolve() not in within] == []
    # All pages of readers are: the section of the navigation bar, then the page.
    assert {page.stem for page in PAGES if page.resolve() not in within} <= {"404", "index"}


def messages(module: Path) -> list[str]:
    """The texts of a module that are sentences, and no docstrings: those of errors, most of all."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in described]
    return [text.value for text in texts if isinstance(text.value, str) and " " in text.value.strip()]


def test_error_messages_speak_of_metrics():
    modules = sorted((DOCS.parent / "frame_pr").rglob("*.py"))
    found = [text for module in modules for text in messages(module)]
    assert len(found) > 300
    # A figure is matplotlib's; `figures=` and `figure=` are arguments.
    assert [text for text in found if re.search(r"\bfigures\b(?!=)|\btaken together\b|\bcut-off\b", text)] == []
