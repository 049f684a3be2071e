"""The measurements behind benchmarks/REPORT.md: `python -m benchmarks` writes it."""
