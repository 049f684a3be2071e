"""Validate the caller's columns and turn them into canonical rows; for `ranking` and the layers above."""
