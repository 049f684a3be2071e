"""Plots: matplotlib figures and altair charts of curves, metrics, scores and confusion matrices."""
