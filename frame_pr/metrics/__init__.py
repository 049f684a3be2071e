"""Compute metrics from names and blocks: one family of metrics per file, for the layers above."""
