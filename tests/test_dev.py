"""The front door: commands of dev.py, and its sentences on a machine that lacks something."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMANDS = runpy.run_path(str(ROOT / "dev.py"))["COMMANDS"]


def run(*arguments, prepared="", **variables):
    """Run dev.py after some statements, and return its status and what it prints."""
    code = f"import runpy, sys\n{prepared}\nsys.argv = {['dev.py', *arguments]}\n"
    code += f"runpy.run_path({str(ROOT / 'dev.py')!r}, run_name='__main__')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **variables)
    return ran.returncode, ran.stdout + ran.stderr


def test_alone_it_lists_its_commands_in_the_order_of_need():
    status, text = run()
    assert status == 0
    assert re.findall(r"^  (\w+) ", text, re.MULTILINE) == list(COMMANDS)
    assert list(COMMANDS)[:3] == ["demo", "test", "check"]
    assert max(map(len, text.splitlines())) <= 100


def test_an_unknown_command_lists_them_too():
    status, text = run("tests")
    assert status == 2
    assert "  test " in text


def test_the_commands_of_the_pages_exist():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob(".github/**/*.*ml")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"dev\.py (\w+)", text))
    assert {"demo", "test", "check"} <= named <= COMMANDS.keys()


@pytest.mark.parametrize(
    ("prepared", "sentence"),
    [
        ("sys.version_info = (3, 10, 1)", "is too old; run it with Python 3.11 or later"),
        ("sys.modules['ensurepip'] = None", "this Python has no venv; on Debian and Ubuntu: apt"),
    ],
)
def test_a_machine_that_lacks_something(prepared, sentence, tmp_path):
    prepared = f"import os; os.environ['VENV'] = {str(tmp_path / 'env')!r}\n{prepared}"
    status, text = run("demo", prepared=prepared)
    assert status == 1
    assert text.splitlines()[-1].startswith("dev.py: ")
    assert sentence in text


def test_a_folder_with_a_blank_in_its_name(tmp_path):
    venv = tmp_path / "my env"
    programs = venv / ("Scripts" if os.name == "nt" else "bin")
    programs.mkdir(parents=True)
    for name in ("python", "uv"):
        (programs / name).touch()
        (programs / f"{name}.exe").touch()
    prepared = f"""
import os, subprocess, types
def record(command, **_):
    print([str(word) for word in command])
    return types.SimpleNamespace(returncode=0, stdout="")
subprocess.run = record
os.environ["VENV"] = {str(venv)!r}
"""
    status, text = run("lowest", prepared=prepared)
    assert status == 0
    versions = str(venv / "lowest.txt")
    assert f"'--output-file', {versions!r}" in text
    assert f"'--constraint', {versions!r}" in text


def test_uv_gets_the_indexes_and_certificates_of_pip(tmp_path, monkeypatch):
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nindex-url = https://index.example\ncert = /company.crt\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.setenv("VENV", sys.prefix)
    monkeypatch.delenv("PIP_CERT", raising=False)
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    settings = runpy.run_path(str(ROOT / "dev.py"))["pip_settings"]()
    assert settings["UV_DEFAULT_INDEX"] == "https://index.example"
    assert settings["SSL_CERT_FILE"] == "/company.crt"


@pytest.mark.slow
def test_a_machine_without_a_network(tmp_path):
    prepared = (
        f"import os; os.environ |= {{'VENV': {str(tmp_path / 'env')!r}, 'PIP_NO_INDEX': '1', "
        "'PIP_FIND_LINKS': ''}"
    )
    status, text = run("demo", prepared=prepared)
    assert status == 1
    assert "dev.py: uv cannot be installed; is there a network? pip says: ERROR: " in text
