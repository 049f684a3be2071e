"""Pages that are made from the code are what the code makes, and leave nothing out."""

import runpy
from pathlib import Path

import frame_pr

DOCS = Path(__file__).parents[1] / "docs"


def test_the_table_of_metrics_is_that_of_the_code():
    made = runpy.run_path(str(DOCS / "metrics.py"))["page"]()
    assert "`average_precision`" in made
    assert "`kappa`" in made
    assert (DOCS / "metrics.md").read_text(encoding="utf-8") == made, "run: python docs/metrics.py"


def test_every_public_name_is_in_the_reference():
    listed = [line.strip() for line in (DOCS / "reference.md").read_text(encoding="utf-8").splitlines()]
    assert sorted(name for name in listed if name in frame_pr.__all__) == sorted(frame_pr.__all__)
