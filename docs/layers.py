"""Draw docs/images/layers.svg, the layers of the package as their contract orders them: `python docs/layers.py`."""

import ast
import tomllib
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "images" / "layers.svg"
RULE = "A folder or file imports from the layers below its own, never from those above or from its own."

WIDTH, SIDE, GAP, PADDING, BETWEEN = 720, 46, 8, 12, 3
INK, FINE, LINE, FOLDER, FILE = "#1f2328", "#57606a", "#8c959f", "#f1f5fa", "#fbf3e4"
BARE = "#6e7781"  # on no box: the page behind it is light or dark
MONO, SANS = "Menlo, Consolas, monospace", "Helvetica, Arial, sans-serif"
# The mean width of a letter in ems, in the widest of the fonts that a reader may have: no text leaves its box.
EMS = {MONO: 0.61, SANS: 0.55}


class Font(NamedTuple):
    """How a text looks."""

    family: str
    size: int
    fill: str
    weight: str = "normal"

    @property
    def lead(self) -> float:
        """From one line to the next."""
        return self.size * 1.4

    def lines(self, text: str, width: float) -> list[str]:
        """The text in as few lines as that width allows, of about the same length."""
        letters = int(width / (EMS[self.family] * self.size))
        count = len(wrap(text, letters))
        while len(wrap(text, letters - 1)) == count:
            letters -= 1
        return wrap(text, letters)

    def draw(self, text: str, x: float, y: float, more: str = "") -> str:
        """One line of text."""
        look = f'font-family="{self.family}" font-size="{self.size}" font-weight="{self.weight}" fill="{self.fill}"'
        return f'<text x="{x:g}" y="{y:g}" {look}{more}>{escape(text)}</text>'


NAME, SENTENCE, FILES = Font(MONO, 16, INK, "bold"), Font(SANS, 14, INK), Font(MONO, 12, FINE)
ARROW = Font(SANS, 14, BARE)
Texts = list[tuple[Font, list[str]]]


def picture() -> str:
    """The whole drawing."""
    layers = _layers()
    boxes, y = [], float(GAP)
    for layer in layers:
        width = (WIDTH - SIDE - GAP * len(layer)) / len(layer)
        written = [_texts(module, width - 2 * PADDING) for module in layer]
        height = max(map(_height, written)) + 2 * PADDING
        for i, (module, texts) in enumerate(zip(layer, written, strict=True)):
            boxes += _box(module, texts, SIDE + i * (width + GAP), y, width, height)
        y += height + GAP
    order = "; ".join(", ".join(module.stem for module in layer) for layer in layers)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:g}" width="{WIDTH}" height="{y:g}"'
            ' role="img" aria-labelledby="title desc">',
            '<title id="title">The layers of frame_pr</title>',
            f'<desc id="desc">From the top down: {order}. {RULE}</desc>',
            *boxes,
            *_arrow(GAP, y - GAP),
            "</svg>\n",
        ]
    )


def _layers() -> list[list[Path]]:
    """The folders and files of each layer, from the top down."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (contract,) = (contract for contract in contracts if contract["type"] == "layers")
    (package,) = contract["containers"]
    return [[_path(ROOT / package / name.strip()) for name in layer.split("|")] for layer in contract["layers"]]


def _path(module: Path) -> Path:
    return module if module.is_dir() else module.with_suffix(".py")


def _texts(module: Path, width: float) -> Texts:
    """What is written into the box of a folder or file."""
    texts = {NAME: module.name, SENTENCE: _sentence(module)}
    if module.is_dir():
        texts[FILES] = ", ".join(sorted(file.stem for file in module.glob("*.py") if file.stem != "__init__"))
    return [(font, font.lines(text, width)) for font, text in texts.items()]


def _sentence(module: Path) -> str:
    """What comes in and what goes out; who may use it is seen in the drawing."""
    source = module / "__init__.py" if module.is_dir() else module
    docstring = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    sentence = docstring.splitlines()[0].partition(";")[0]
    return sentence.rstrip(".").replace("`", "").replace(" ->", "\N{NO-BREAK SPACE}→")


def _height(texts: Texts) -> float:
    return sum(len(lines) * font.lead for font, lines in texts) + (len(texts) - 1) * BETWEEN


def _box(module: Path, texts: Texts, x: float, y: float, width: float, height: float) -> list[str]:
    fill = FOLDER if module.is_dir() else FILE
    size = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    drawn = [f'<rect {size} rx="4" fill="{fill}" stroke="{LINE}"/>']
    y += PADDING
    for font, lines in texts:
        for line in lines:
            drawn.append(font.draw(line, x + PADDING, y + font.size))
            y += font.lead
        y += BETWEEN
    return drawn


def _arrow(top: float, bottom: float) -> list[str]:
    x, middle = 30, (top + bottom) / 2
    return [
        f'<path d="M{x} {top:g}V{bottom:g}m-6 -10l6 10l6 -10" fill="none" stroke="{BARE}" stroke-width="2"/>',
        ARROW.draw("imports point down", 18, middle, f' text-anchor="middle" transform="rotate(-90 18 {middle:g})"'),
    ]


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
