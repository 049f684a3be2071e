"""Print pip constraints that hold frame_pr's own dependencies at the lowest version pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

HELD = {"polars", "pandas", "pyarrow", "matplotlib", "scipy", "pyspark", "dask"}


def main() -> None:
    project = tomllib.loads(
        (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    extras = project["optional-dependencies"]
    lowest = {}
    named = [
        requirement
        for extra in ("pandas", "plot", "stats", "spark", "dask")
        for requirement in extras[extra]
    ]
    for requirement in (*project["dependencies"], *named):
        if (found := re.match(r"([\w.-]+)(?:\[.*?\])?\s*>=\s*([\w.]+)", requirement)) and found[
            1
        ] in HELD:
            lowest[found[1]] = found[2]
    if missing := HELD - lowest.keys():
        raise SystemExit(f"pyproject.toml states no minimum (>=) for: {', '.join(sorted(missing))}")
    for name, version in lowest.items():
        print(f"{name}=={version}")


if __name__ == "__main__":
    main()
