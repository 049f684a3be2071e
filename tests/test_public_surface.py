"""The public surface is that of the checked-in snapshot: a change of it is deliberate."""

import public_surface
import pytest

import frame_pr


def test_the_public_surface_is_that_of_the_snapshot():
    snapshot = public_surface.TARGET.read_text(encoding="utf-8")
    assert public_surface.text() == snapshot, "if the change is deliberate, run: python tests/public_surface.py"


@pytest.mark.slow
def test_a_removed_name_and_a_renamed_argument_change_the_surface(monkeypatch):
    before = public_surface.text().splitlines()
    monkeypatch.setattr(frame_pr, "__all__", [name for name in frame_pr.__all__ if name != "tally"])
    monkeypatch.setattr(frame_pr, "ndcg", lambda frame, truth, score, cutoff=None: None)
    after = public_surface.text().splitlines()
    lost = [line.partition("(")[0].partition(":")[0] for line in before if line not in after]
    assert lost == ["ndcg", "tally", "ndcg", "tally"]  # the signatures, and the errors
