"""The measurements behind docs/benchmarks.md: `python -m benchmarks` writes that page."""
