"""Plots of curves, intervals, comparisons, scores and confusion matrices, with matplotlib."""
