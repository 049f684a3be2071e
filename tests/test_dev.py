"""The developer commands: make, the workflows and `.ci/run` call what dev.py has."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEV = runpy.run_path(str(ROOT / "dev.py"))
CALLERS = ["Makefile", ".ci/run", ".pre-commit-config.yaml", "CONTRIBUTING.md", "README.md", "docs/install.md"]


def dev(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, ROOT / "dev.py", *arguments], capture_output=True, encoding="utf-8")


def commands_in(text: str) -> list[str]:
    text = re.sub(r"\$\(COMMANDS\):\n.*", "", text)
    targets = re.findall(r"(?m)^COMMANDS := (.*)", text)
    return [*" ".join(targets).split(), *re.findall(r"dev\.py ([a-z]+)", text)]


@pytest.mark.parametrize("caller", [*CALLERS, *sorted(ROOT.glob(".github/workflows/*.yml"))], ids=str)
def test_a_caller_names_commands_that_there_are(caller):
    path = ROOT / caller
    called = commands_in(path.read_text(encoding="utf-8")) if path.exists() else []
    assert [name for name in called if name not in DEV["COMMANDS"]] == []


def test_make_has_a_target_for_each_command_that_takes_no_arguments():
    assert {"check", "test", "docs", "package"} <= {*commands_in((ROOT / "Makefile").read_text(encoding="utf-8"))}


def test_help_lists_every_command_with_its_sentence():
    text = dev("--help").stdout
    assert [name for name in DEV["COMMANDS"] if not re.search(rf"(?m)^  {name} +[A-Z].*\.$", text)] == []


@pytest.mark.parametrize(("arguments", "said"), [(["fast"], "which versions: floor, "), (["nope"], "invalid choice")])
def test_a_wrong_command_says_what_there_is(arguments, said):
    ended = dev(*arguments)
    assert ended.returncode != 0
    assert said in ended.stderr


def test_generated_files_are_written_by_scripts_that_are_there():
    assert [script for script in DEV["GENERATED"] if not (ROOT / script).exists()] == []


def test_the_notes_of_a_tag_are_its_section_of_the_changelog():
    notes = dev("notes", "v0.1.0")
    assert notes.returncode == 0, notes.stderr
    assert notes.stdout.strip()
    assert "## [" not in notes.stdout
    assert "the version is 0.1.0 in pyproject.toml, not 0.2.0" in dev("notes", "v0.2.0").stderr


def test_a_workflow_pins_actions_by_commit_and_keeps_no_permission_that_it_does_not_name():
    for path in ROOT.glob(".github/workflows/*.yml"):
        text = path.read_text(encoding="utf-8")
        assert "\npermissions: {}\n" in text, path
        loose = [line for line in re.findall(r"uses: (.*)", text) if not re.search(r"@[0-9a-f]{40} # v|^\$/", line)]
        assert loose == [], path
