"""Print pip constraints: the versions that pip finds today for every extra together, on the lowest Python we accept."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # A version for the lowest Python is there for the later ones too; the reverse is not so.
    here = f">={sys.version_info.major}.{sys.version_info.minor}"
    if project["requires-python"] != here:
        raise SystemExit(
            f"run this with Python {project['requires-python'].removeprefix('>=')}, not {sys.version}"
        )
    everything = f"{ROOT}[{','.join(project['optional-dependencies'])}]"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--report",
        "-",
    ]
    report = json.loads(
        subprocess.run([*pip, everything], stdout=subprocess.PIPE, check=True).stdout
    )
    found = {item["metadata"]["name"]: item["metadata"]["version"] for item in report["install"]}
    print(
        "# Made by .ci/constraints.py, see CONTRIBUTING.md. `make test` passes with these together."
    )
    for name, version in sorted(found.items(), key=lambda item: item[0].lower()):
        if name != project["name"]:
            # What follows a plus, as in torch 2.13.0+cpu, is one build of that version, which other
            # indexes lack.
            print(f"{name}=={version.partition('+')[0]}")


if __name__ == "__main__":
    main()
