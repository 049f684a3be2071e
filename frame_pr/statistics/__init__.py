"""Unit values, and sums over blocks -> intervals, comparisons, averaged curves. For plots and for the user."""

NEEDS = 'intervals, tests and average curves need scipy: pip install "frame_pr[stats]"'
