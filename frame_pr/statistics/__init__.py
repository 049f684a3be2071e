"""Unit values, and sums over blocks -> intervals, comparisons, averaged curves. For plots and for the user."""

NEEDS_SCIPY = 'intervals, tests and average curves need scipy: pip install "frame_pr[stats]"'
try:
    import numpy  # noqa: F401  scipy needs it, and the modules of this folder import it first
except ImportError as error:
    raise ImportError(NEEDS_SCIPY) from error
