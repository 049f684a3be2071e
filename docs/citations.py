"""Check that citations and the list of references agree: `python docs/citations.py`.

The list is at the end of docs/statistical-methods.md. A citation is `Names (year)` or
`(Names year)`, in a page or in a docstring.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs" / "statistical-methods.md"
HEADING = "## References\n"

NAME = r"(?:van )?[A-Z][\w-]*[a-z][\w-]*"
NAMES = rf"{NAME}(?:, {NAME})*(?: and {NAME}| et al\.)?"
CITATION = re.compile(rf"({NAMES}) \((\d{{4}})\)|\(({NAMES}) (\d{{4}})\)")


def listed_references() -> set[str]:
    """The authors and the year of each reference."""
    references = LIST.read_text(encoding="utf-8").partition(HEADING)[2]
    entries = re.findall(r"(?m)^- (.+?) \((\d{4})\)\. ", references)
    return {f"{names} {year}" for names, year in entries}


def citations() -> Iterator[tuple[Path, str]]:
    """Each citation with the file that it is in."""
    pages = sorted((ROOT / "docs").glob("*.md"))
    modules = sorted((ROOT / "frame_pr").rglob("*.py"))
    for path in (ROOT / "README.md", *pages, *modules):
        text = path.read_text(encoding="utf-8")
        if path == LIST:
            text = text.partition(HEADING)[0]
        for names, year, names_inside, year_inside in CITATION.findall(re.sub(r"\s+", " ", text)):
            yield path, f"{names or names_inside} {year or year_inside}"


def main() -> None:
    listed = listed_references()
    cited = list(citations())
    missing = [
        f"{path.relative_to(ROOT)}: {citation} is not in the list of references"
        for path, citation in cited
        if citation not in listed
    ]
    unused = [f"{reference} is cited nowhere" for reference in listed - {key for _, key in cited}]
    problems = sorted({*missing, *unused})
    print(*problems, sep="\n")
    print(f"{len(listed)} references, {len(cited)} citations, {len(problems)} problems")
    raise SystemExit(bool(problems))


if __name__ == "__main__":
    main()
