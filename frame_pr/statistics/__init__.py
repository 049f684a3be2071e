"""Unit values, and sums over blocks -> intervals, comparisons, averaged curves. For plots and for the user."""
