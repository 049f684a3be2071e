"""Plots of curves, metrics, scores and confusion matrices, by matplotlib."""
