"""Validate the caller's columns and turn them into canonical rows.

For `ranking` and the layers above.
"""
