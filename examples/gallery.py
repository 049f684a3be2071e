"""Draws the pictures of the docs: runs their `pycon` lines, and saves the figure that those below a picture made.

Usage: python examples/gallery.py [--narrow] [--grey] [directory]
"""

import argparse
import doctest
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only: needs no screen

import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1] / "docs"
PICTURE_OR_CODE = re.compile(r"!\[[^]]*\]\((?P<picture>[^)]+)\)|```pycon\n(?P<code>.*?)```", re.DOTALL)
DOTS_PER_INCH = 130
FIGSIZE, ONE_COLUMN = "figsize=(4, 4)", "figsize=(3.4, 3.4)"


def draw(page: Path, directory: Path, narrow: bool, grey: bool) -> None:
    names: dict[str, object] = {}
    picture = None
    for part in PICTURE_OR_CODE.finditer(page.read_text(encoding="utf-8")):
        if part["picture"]:
            picture = part["picture"]
            continue
        for example in doctest.DocTestParser().get_examples(part["code"]):
            exec(example.source.replace(FIGSIZE, ONE_COLUMN) if narrow else example.source, names)
        if picture:
            save(plt.gcf(), directory / picture, grey)
            picture = None
        plt.close("all")


def save(figure: plt.Figure, path: Path, grey: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DOTS_PER_INCH)
    if grey:
        red_green_blue = plt.imread(path)[..., :3]
        plt.imsave(path, red_green_blue @ [0.299, 0.587, 0.114], cmap="gray", vmin=0, vmax=1)
    print(f"{path}: {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", nargs="?", type=Path, default=DOCS)
    parser.add_argument("--narrow", action="store_true", help="figures as wide as the column of a journal")
    parser.add_argument("--grey", action="store_true", help="as a black-and-white printer shows them")
    options = parser.parse_args()
    for page in sorted(DOCS.rglob("*.md")):
        draw(page, options.directory / page.parent.relative_to(DOCS), options.narrow, options.grey)
