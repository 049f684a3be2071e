"""Check the built wheel and sdist: the package and nothing else, its metadata, a README that renders."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

from readme_renderer import markdown

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME = f"frame_pr-{PROJECT['version']}"


def main(dist: Path) -> None:
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
        metadata = archive.read(f"{NAME}.dist-info/METADATA").decode()
    with tarfile.open(sdist) as archive:
        in_sdist = {
            member.name.removeprefix(f"{NAME}/")
            for member in archive.getmembers()
            if member.isfile()
        }
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    tracked = set(listed.stdout.splitlines())

    package = {file for file in tracked if file.startswith("frame_pr/")}
    added = {
        f"{NAME}.dist-info/{file}" for file in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")
    }
    same("wheel", in_wheel, package | added)
    same("sdist", in_sdist, tracked | {"PKG-INFO"})
    assert "frame_pr/py.typed" in in_wheel

    fields = Parser().parsestr(metadata)
    wanted = {
        "Name": "frame_pr",
        "Version": PROJECT["version"],
        "License-Expression": "MIT",
        "Requires-Python": ">=3.11",
    }
    wanted |= {"Summary": PROJECT["description"], "Description-Content-Type": "text/markdown"}
    for field, value in wanted.items():
        assert fields[field] == value, f"metadata: {field} is {fields[field]!r}, not {value!r}"
    always = [needed for needed in fields.get_all("Requires-Dist") if "extra ==" not in needed]
    assert always == PROJECT["dependencies"], f"metadata: a plain install needs {always}"

    page = markdown.render(fields.get_payload())
    assert page is not None, "README does not render"
    assert "<table>" in page, "README renders without its tables"
    targets = re.findall(r"(?:href|src)=\"([^\"]*)\"", page)
    print(
        f"wheel {len(in_wheel)} files, sdist {len(in_sdist)} files, README renders with {len(targets)} links"
    )


def same(what: str, found: set[str], wanted: set[str]) -> None:
    assert found == wanted, (
        f"{what}: has {sorted(found - wanted)} too many, lacks {sorted(wanted - found)}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
