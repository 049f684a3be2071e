"""What follows from the addresses in pyproject.toml: install lines, citation, links of the package."""

import copy
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[1]
ADDRESS = runpy.run_path(str(ROOT / "docs" / "address.py"))
PUBLIC = {"repository": "https://example.org/us/frame_pr", "documentation": "https://us.example.org", "published": True}
TEXT = "[a](docs/a.md#b) ![p](p.svg)\n<!-- hidden -->\n[c](https://c.org) [d](#d)"


def test_files_say_what_follows_from_the_addresses():
    for path, text in ADDRESS["pages"]().items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/address.py"


def test_one_line_makes_the_index_the_first_way_to_install():
    project = copy.deepcopy(ADDRESS["PYPROJECT"])
    names = {path.name: text for path, text in ADDRESS["pages"](project).items()}
    project["tool"]["frame_pr"]["published"] = True
    published = {path.name: text for path, text in ADDRESS["pages"](project).items()}
    assert "$ pip install frame-pr " in published["README.md"]
    assert '$ pip install "frame-pr[plot]"' in published["index.md"]
    first, second = (published["install.md"].index(f"## From {place}") for place in ("the package index", "a clone"))
    assert first < second
    # What does not work yet is not said.
    if not ADDRESS["PYPROJECT"]["tool"]["frame_pr"]["published"]:
        assert "frame-pr" not in names["install.md"]


def test_the_citation_has_the_addresses_that_there_are():
    project = ADDRESS["PYPROJECT"]["project"]
    without = ADDRESS["citation"](project, {"repository": "", "documentation": ""})
    assert "url" not in without
    assert "repository-code" not in without
    assert "url     = {https://us.example.org}\n" in ADDRESS["bibtex"](project, PUBLIC)
    lines = ADDRESS["citation"](project, PUBLIC).splitlines()
    assert [line for line in lines if line not in without.splitlines()] == [
        "repository-code: https://example.org/us/frame_pr",
        "url: https://us.example.org",
    ]


def test_the_links_of_the_package_lead_to_the_repository_or_are_text(monkeypatch):
    # The builder has hatchling, in an environment of its own.
    builder = SimpleNamespace(MetadataHookInterface=object)
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", builder)
    build = runpy.run_path(str(ROOT / "hatch_build.py"))
    assert build["readme"](TEXT, "") == "a [c](https://c.org) [d](#d)"
    assert (
        build["readme"](TEXT, "https://e.org/x")
        == "[a](https://e.org/x/blob/main/docs/a.md#b) [c](https://c.org) [d](#d)"
    )
    assert build["project_urls"](repository="", documentation="", published=False) == {}
    assert build["project_urls"](**PUBLIC) == {
        "Documentation": "https://us.example.org",
        "Source": "https://example.org/us/frame_pr",
        "Issues": "https://example.org/us/frame_pr/issues",
        "Changelog": "https://example.org/us/frame_pr/blob/main/CHANGELOG.md",
    }


def test_the_settings_of_the_site_follow_from_the_addresses(tmp_path):
    (tmp_path / "docs").mkdir()
    for name in ("conf.py", "renamed.json", "reference.md"):
        (tmp_path / "docs" / name).write_bytes((ROOT / "docs" / name).read_bytes())
    for repository, base, edit in [("", "", None), ("https://example.org/us/it", "https://site.org/", True)]:
        (tmp_path / "pyproject.toml").write_text(
            f'[tool.frame_pr]\nrepository = "{repository}"\ndocumentation = "{"https://site.org" if base else ""}"\n'
        )
        settings = runpy.run_path(str(tmp_path / "docs" / "conf.py"))
        assert settings.get("html_baseurl") == base
        assert settings["html_theme_options"].get("use_edit_page_button") is edit
        if repository:
            assert settings["html_context"]["github_user"] == "us"
