"""Fixtures of the tests of plots."""

import pytest

from frame_pr.plotting import appearance


@pytest.fixture(autouse=True)
def no_systems_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins with the first colour, whatever systems earlier tests drew."""
    monkeypatch.setattr(appearance, "_NUMBERS", {})
