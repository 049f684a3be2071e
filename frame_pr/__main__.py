"""Print the versions and where frame_pr was imported from: `python -m frame_pr`."""

from frame_pr.frames.environment import show_versions

show_versions()
