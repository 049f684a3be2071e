"""Pages that are made from the code are what the code makes."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_table_of_metrics_is_that_of_the_code():
    made = runpy.run_path(str(DOCS / "metrics.py"))["page"]()
    assert "`average_precision`" in made
    assert "`kappa`" in made
    assert (DOCS / "metrics.md").read_text(encoding="utf-8") == made, "run: python docs/metrics.py"
