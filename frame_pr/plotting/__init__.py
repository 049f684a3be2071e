"""Plots of curves, metrics, scores and confusion matrices, by matplotlib."""

try:
    import numpy  # noqa: F401  matplotlib needs it, and the modules of this folder import it first
except ImportError as error:
    raise ImportError('plots need matplotlib: pip install "frame_pr[plot]"') from error
