"""The public surface is that of the checked-in snapshot: a change of it is deliberate."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "docs" / "public_surface.py"


def test_the_public_surface_is_that_of_the_snapshot():
    snapshot = SCRIPT.with_suffix(".txt").read_text(encoding="utf-8")
    text = runpy.run_path(str(SCRIPT))["text"]()
    assert text == snapshot, "if the change is deliberate, run: python docs/public_surface.py"
