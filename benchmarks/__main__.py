"""Measure everything, and write benchmarks/REPORT.md.

Run:  python -m benchmarks [--quick | --full] [--rows 10000000] [--rounds 3]
"""

from benchmarks.measure import pin


def main() -> None:
    """Import what uses threads only when their number is set."""
    pin()
    from benchmarks.run import main as run

    run()


if __name__ == "__main__":
    main()
