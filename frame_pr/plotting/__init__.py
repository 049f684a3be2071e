"""Plots of curves, metrics, scores and confusion matrices, by matplotlib."""

NEEDS = 'plots need matplotlib: pip install "frame_pr[plot]"'
