"""Links from page to page lead somewhere, wherever the pages are read: on disk, on a forge, in the built docs."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def targets(page: Path) -> list[str]:
    """Relative links, code left out."""
    text = re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith(("http:", "https:"))]


def anchors(page: Path) -> set[str]:
    """Headings, as forges and MyST name them."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    headings = re.findall(r"(?m)^#+ (.*)$", text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links(page: Path) -> None:
    for link in targets(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if target.parent.name == "images":
            continue  # drawn by `make docs`, which stops at a plot that is missing
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_there_are_links() -> None:
    assert sum(len(targets(page)) for page in PAGES) > 20
    assert "the-way-of-a-call" in anchors(ROOT / "docs" / "design.md")


def test_former_anchors_lead_to_headings() -> None:
    renamed = json.loads((ROOT / "docs" / "renamed.json").read_text(encoding="utf-8"))
    assert renamed["how_sure"]["what-was-drawn"] == "choosing-the-sampling-unit"
    for page, former in renamed.items():
        present = anchors(ROOT / "docs" / f"{page}.md")
        assert set(former.values()) <= present, page
        assert not set(former) & present, page
