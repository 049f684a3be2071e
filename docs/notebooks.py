"""Write the notebooks of examples/, each from the page that says the same: `python docs/notebooks.py`."""

import doctest
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
NOTEBOOKS = {"search.ipynb": "for/search.md", "classifier.ipynb": "for/fraud.md"}
# The heading of the section at which a notebook ends, where the page goes on.
ENDS = {"for/search.md": "\n## Evaluate a search run\n"}
INSTALL = '# %pip install "frame-pr[plot]"'
PYTHON = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(page: str) -> str:
    """The text of a page as cells of text, and its examples as cells that end where one shows its result."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(ENDS.get(page, "\0"))[0]
    text = re.sub(r"\nThis page .as a notebook.*\n", "", text)
    text = text.replace("](../", "](../docs/").replace("](#", f"](../docs/{page}#")
    cells = [_code(INSTALL, "")]
    for part in re.split(r"(?ms)^(```(?:python|pycon)\n.*?^```\n)", text):
        if part.startswith("```"):
            cells += [_code(source, shown) for source, shown in _steps(part)]
        elif part.strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": _lines(part)})
    cells = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)]
    whole = {"cells": cells, "metadata": {"kernelspec": PYTHON}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _steps(block: str) -> Iterator[tuple[str, str]]:
    source = ""
    for example in doctest.DocTestParser().get_examples(block):
        source += example.source
        if example.want:
            yield source, example.want
            source = ""
    if source:
        yield source, ""


def _code(source: str, shown: str) -> dict[str, Any]:
    data = {"data": {"text/plain": _lines(shown)}, "execution_count": None, "metadata": {}}
    outputs = [{**data, "output_type": "execute_result"}] if shown else []
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": outputs, "source": _lines(source)}


def _lines(text: str) -> list[str]:
    return text.strip("\n").splitlines(keepends=True)


if __name__ == "__main__":
    for name, page in NOTEBOOKS.items():
        (EXAMPLES / name).write_text(notebook(page), encoding="utf-8")
