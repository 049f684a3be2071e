"""Write what follows from `[tool.frame_pr]` of pyproject.toml: `python docs/address.py`.

These are the lines that install the package, in three pages, and those that cite it, in CITATION.cff and in a page.
The links of the site and of the package follow as well, in docs/conf.py and in hatch_build.py.
"""

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- addresses -->\n", "<!-- end of addresses -->\n"
TITLE = "frame_pr: ranking and classification metrics per group for polars and pandas"
YEAR = 2026
"""Of the version, for the citation."""
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pages(pyproject: dict[str, Any] = PYPROJECT) -> dict[Path, str]:
    """The text of each file that has lines of ours, by its path."""
    project, addresses = pyproject["project"], pyproject["tool"]["frame_pr"]
    blocks = {
        ROOT / "README.md": readme(project, addresses),
        ROOT / "docs" / "index.md": console(f'pip install "{target(addresses)}[plot]"', clone(addresses)),
        ROOT / "docs" / "install.md": install(project, addresses),
        ROOT / "docs" / "citation.md": bibtex(project, addresses),
    }
    texts = {}
    for path, block in blocks.items():
        before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
        texts[path] = f"{before}{BEGIN}{block}{END}{rest.partition(END)[2]}"
    return texts | {ROOT / "CITATION.cff": citation(project, addresses)}


def target(addresses: dict[str, Any]) -> str:
    """What pip installs: the name, or the folder of a clone while no index has the package."""
    return "frame-pr" if addresses["published"] else "."


def clone(addresses: dict[str, Any]) -> str:
    """Where the folder is that a line installs from."""
    return "" if addresses["published"] else "  # in a clone of the repository"


def console(line: str, comment: str = "") -> str:
    """A block with one command."""
    return f"```console\n$ {line}{comment}\n```\n"


def minimum(project: dict[str, Any], name: str) -> str:
    """The oldest version of a library that the package accepts."""
    requirements = chain(project["dependencies"], *project["optional-dependencies"].values())
    (version,) = {match[1] for text in requirements if (match := re.match(rf"{name}(?:\[.*\])?>=([\d.]+)", text))}
    return f"{version} or later"


def python(project: dict[str, Any]) -> str:
    """The oldest Python that the package accepts."""
    return f"{project['requires-python'].removeprefix('>=')} or later"


def readme(project: dict[str, Any], addresses: dict[str, Any]) -> str:
    """The lines of the README."""
    name = target(addresses)
    lines = {
        f"pip install {name}": f"polars {minimum(project, 'polars')}, Python {python(project)}",
        f'pip install "{name}[pandas]"': f"adds pandas {minimum(project, 'pandas')}, and pyarrow",
        f'pip install "{name}[plot]"': "adds matplotlib",
    }
    width = max(map(len, lines))
    written = "\n".join(f"$ {line:<{width}}  # {comment}" for line, comment in lines.items())
    place = "" if addresses["published"] else "In a clone of the repository:\n\n"
    return f"{place}```console\n{written}\n```\n"


def install(project: dict[str, Any], addresses: dict[str, Any]) -> str:
    """The part of the page on installation that tells how."""
    index = f"""## From the package index

{tools("frame-pr", 'uv add "frame-pr[plot]"', 'pixi add --pypi "frame-pr[plot]"')}
"""
    get = addresses["repository"] and console(f"git clone {addresses['repository']}") + "\n"
    source = f"""## From a clone of the repository

{get}In the folder of the clone:

{tools(".", "uv add ../frame_pr --extra plot", 'pixi add --pypi "frame_pr[plot] @ file:///path/to/frame_pr"')}
Run `uv add` and `pixi add` in the folder of your project, with the path of the clone.

## From a wheel

`python dev.py package` in a clone builds a wheel, `dist/frame_pr-{project["version"]}-py3-none-any.whl`. It installs on
every operating system, without the clone:

{console(f'pip install "frame_pr-{project["version"]}-py3-none-any.whl[pandas,plot]"')}
"""
    sections = [index, source] if addresses["published"] else [source]
    return "\n" + "".join(sections) + extras(project)


def tools(name: str, uv: str, pixi: str) -> str:
    """The line for each tool."""
    return f"""| tool | line |
| --- | --- |
| pip | `pip install "{name}[plot]"` |
| uv, in an environment | `uv pip install "{name}[plot]"` |
| uv, in a project | `{uv}` |
| conda | `pip install "{name}[plot]"` in the environment, after `conda install pip`; conda has no package of frame_pr |
| pixi | `{pixi}` |
| a notebook | `%pip install "{name}[plot]"` in a cell |
"""


def extras(project: dict[str, Any]) -> str:
    """What each extra brings."""
    brings = {
        "none": f"polars {minimum(project, 'polars')}, and nothing else; Python must be {python(project)}",
        "`pandas`": f"pandas {minimum(project, 'pandas')}, pyarrow {minimum(project, 'pyarrow')}",
        "`plot`": f"matplotlib {minimum(project, 'matplotlib')}",
        "`altair`": f"altair {minimum(project, 'altair')}, and what `plot` installs",
        "`spark`": f"pyspark {minimum(project, 'pyspark')}, pandas and pyarrow; [which pandas](engines.md#spark)",
        "`dask`": f"Dask {minimum(project, 'dask')}, and what `pandas` installs",
    }
    rows = "".join(f"| {name} | {libraries} |\n" for name, libraries in brings.items())
    return f"""## Extras

An extra, such as `[plot]`, installs optional dependencies. Separate several extras with commas: `[pandas,plot]`.

| extra | installs |
| --- | --- |
{rows}
"""


def citation(project: dict[str, Any], addresses: dict[str, Any]) -> str:
    """CITATION.cff."""
    keywords = "".join(f"  - {word}\n" for word in project["keywords"])
    repository = f"repository-code: {addresses['repository']}\n" if addresses["repository"] else ""
    site = f"url: {addresses['documentation']}\n" if addresses["documentation"] else ""
    return f"""# Written by docs/address.py.
cff-version: 1.2.0
message: If you use frame_pr in a publication, please cite it.
title: "{TITLE}"
type: software
authors:
  - name: {project["authors"][0]["name"]}
version: {project["version"]}
license: {project["license"]}
{repository}{site}keywords:
{keywords}"""


def bibtex(project: dict[str, Any], addresses: dict[str, Any]) -> str:
    """The same for BibTeX."""
    fields = {
        "author": f"{{{project['authors'][0]['name']}}}",
        "title": TITLE,
        "year": YEAR,
        "version": project["version"],
        "license": project["license"],
        "url": addresses["documentation"] or addresses["repository"],
    }
    lines = ",\n".join(f"  {name:<8}= {{{value}}}" for name, value in fields.items() if value)
    return f"```text\n@software{{frame_pr,\n{lines}\n}}\n```\n"


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8", newline="\n")
