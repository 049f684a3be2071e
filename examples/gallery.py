"""Draw the plots of the docs: run the `>>>` lines below a plot, and save their figure.

Usage: python examples/gallery.py [--narrow] [--grey] [directory]
"""

import argparse
import doctest
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only: needs no screen

import matplotlib.pyplot as plt
from matplotlib.colors import to_hex

DOCS = Path(__file__).parents[1] / "docs"
PICTURE_OR_CODE = re.compile(
    r"^!\[(?P<alt>[^]]*)\]\((?P<picture>[^)]+)\)|```pycon\n(?P<code>.*?)```",
    re.DOTALL | re.MULTILINE,
)
DOTS_PER_INCH = 130
FIGSIZE, ONE_COLUMN = "figsize=(4, 4)", "figsize=(3.4, 3.4)"
# Letters as outlines, so that they are the same everywhere; names within the file that do not
# change from run to run.
STYLE = {"svg.fonttype": "path", "svg.hashsalt": "frame_pr"}
# On the ground of the site at night.
LIGHT_ON_DARK: dict[str, object] = dict.fromkeys(
    ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), "#ced6dd"
)
# Each colour has a contrast of at least 3 with this ground.
COLORS_ON_DARK = ("#4A9BD4", "#E8B04A", "#2FAE82", "#E2682F", "#D9A3C5", "#9BDCFA", "white")
LIGHT_ON_DARK |= {"axes.prop_cycle": plt.cycler(color=COLORS_ON_DARK)}
DARK = STYLE | LIGHT_ON_DARK | {"axes.facecolor": "#14181e", "figure.facecolor": "#14181e"}


def draw(page: Path, directory: Path, narrow: bool, grey: bool) -> None:
    """Of an SVG, a light and a dark one: `curve.svg` and `curve-dark.svg`."""
    text = page.read_text(encoding="utf-8")
    for style in (STYLE, DARK) if ".svg)" in text else (STYLE,):
        with plt.rc_context(style):
            draw_once(text, directory, narrow, grey, dark=style is DARK)


def draw_once(text: str, directory: Path, narrow: bool, grey: bool, dark: bool) -> None:
    names: dict[str, object] = {}
    picture = None
    for part in PICTURE_OR_CODE.finditer(text):
        if part["picture"]:
            picture = part
            continue
        for example in doctest.DocTestParser().get_examples(part["code"]):
            exec(example.source.replace(FIGSIZE, ONE_COLUMN) if narrow else example.source, names)
        if picture:
            path = directory / picture["picture"]
            if path.suffix == ".svg" and not grey:
                save_vector(
                    plt.gcf(), path.with_stem(f"{path.stem}-dark") if dark else path, picture["alt"]
                )
            elif not dark:
                save(plt.gcf(), path.with_suffix(".png"), grey)
            picture = None
        plt.close("all")


def save_vector(figure: plt.Figure, path: Path, title: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A style of its own has a ground of its own.
    transparent = to_hex(figure.get_facecolor()) == to_hex(plt.rcParams["figure.facecolor"])
    figure.savefig(
        path, metadata={"Date": None, "Title": " ".join(title.split())}, transparent=transparent
    )
    print(f"{path}: {path.stat().st_size // 1024} KB")


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
    parser.add_argument(
        "--narrow", action="store_true", help="figures as wide as the column of a journal"
    )
    parser.add_argument(
        "--grey", action="store_true", help="as a black-and-white printer shows them"
    )
    options = parser.parse_args()
    for page in sorted(DOCS.rglob("*.md")):
        draw(page, options.directory / page.parent.relative_to(DOCS), options.narrow, options.grey)
