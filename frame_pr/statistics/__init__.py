"""Confidence intervals, significance tests, averaged curves and reports."""
