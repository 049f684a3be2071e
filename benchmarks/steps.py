"""What each step of the kernel buys: `python -m benchmarks.steps [--only join]`.

A copy of this checkout lacks one step. Calls take turns with and without it, and the ratio is the
CPU time with the step over the time without it.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.__main__ import ROOT, Options, base_searches, base_times


class Step(NamedTuple):
    """A step, and the text that replaces it in a copy of the code."""

    title: str
    file: str
    text: str
    without: str
    calls: str
    """A regular expression of the data and calls that are measured."""


STEPS = [
    Step(
        "wide scores get a narrower key (`SortKey.fitted`)",
        "ranking/sort.py",
        "key = key.fitted(rows.frame)",
        "pass",
        "untied: (average_precision|float weights|with_curve)",
    ),
    Step(
        "codes around zero are left out (`SortKey.gap`)",
        "ranking/sort_keys.py",
        'gap = of_nearest.collect(engine="streaming").item() - step',
        "pass",
        "(1 x 2M|20k x 100), normal: (average_precision|curve)",
    ),
    Step(
        "texts order tied rows only, after the sort (`_with_sorted_ties`)",
        "inputs/rows.py",
        "    if tie.dtype not in NARROW:\n        return tie",
        "    if tie.dtype not in NARROW:\n        tie = tie.rank('dense')",
        "search.*: MAP, tie_break",
    ),
    Step(
        "sums over ranks are computed in memory (`sums_ranks`)",
        "metrics/aggregation.py",
        "if sums_ranks and SMALL <= rows.height < _IN_MEMORY:",
        "if False:",
        "search.*: 42 measures$|lists: six",
    ),
    Step(
        "few blocks are collected in one piece (`_in_one_piece`)",
        "ranking/blocks.py",
        "if early and rows.height >= SMALL and not rows.weights.fractional:",
        "if False:",
        "search: (MAP|42 measures)$|lists: six"
        "|(20k x 100|400k x 5|1 x 2M), untied: (average_precision|18 metrics)",
    ),
    Step(
        "cutoffs of DCG share their discounts (`_discounts_among`)",
        "metrics/rank_metrics.py",
        "discount = 1 / (upto + 1).log(2)",
        "discount = 1 / ((upto if k is None else pl.min_horizontal(upto, k)) + 1).log(2)",
        "search: 42 measures$|lists: six",
    ),
    Step(
        "the first or last of rising counts needs no minimum (`FIRST_COUNT`)",
        "metrics/metric.py",
        """FIRST_COUNT = AggregateKind(pl.Expr.min, _first_value)
\"\"\"The smallest of counts that never fall down the ranking.\"\"\"
LAST_COUNT = AggregateKind(pl.Expr.max, _last_value)""",
        """FIRST_COUNT = SMALLEST
LAST_COUNT = LARGEST""",
        "(400k x 5|20k x 100), untied: 18 metrics|search: 42 measures$",
    ),
    Step(
        "runs of equal keys are numbered, in place of rows (`_runs_of_equal_keys`)",
        "inputs/groups.py",
        "run = _runs_of_equal_keys(rows)",
        "run = None",
        "search: MAP",
    ),
    Step(
        "metrics of gains and first blocks drop other rows early (`_may_be_step`)",
        "ranking/blocks.py",
        "early = steps and {*extra_sums} <= cumulative",
        'early = steps and "first" not in wanted and {*extra_sums} <= cumulative - {*GAINS}',
        "search: 42 measures$|lists: six",
    ),
    Step(
        "the total of unweighted rows is an index (`_total_of_rows`)",
        "ranking/blocks.py",
        "return _ROW_NUMBER",
        "return pl.repeat(1, pl.len(), dtype=pl.Int64).cum_sum()",
        "1 x 2M, untied: average_precision",
    ),
    Step(
        "plans in memory skip optimizations that find nothing (`_OPTIMIZATIONS`)",
        "frames/kinds.py",
        ", optimizations=_OPTIMIZATIONS",
        "",
        "10 rows",
    ),
    Step(
        "expressions of a layout of keys are built once (`_cached`)",
        "ranking/sort_keys.py",
        "_cached = lru_cache(maxsize=256)",
        "_cached = lambda function: function",
        "10 rows",
    ),
    Step(
        "repeated rows are found by sorted hashes (`_refuse_repeats`)",
        "tables/judgments.py",
        'rows = rows[candidates["row"].sort()]',
        "pass",
        "search: join_judgments|lists: six",
    ),
    Step(
        "sorted hashes are joined (`_pairs`)",
        "tables/judgments.py",
        '(pl.col("both") // _ROWS).cast(pl.UInt32).set_sorted()',
        '(pl.col("both") // _ROWS).cast(pl.UInt32)',
        "search: join_judgments|lists: six",
    ),
]


def without(step: Step, folder: Path) -> Path:
    """Return a copy of this checkout without a step."""
    shutil.copytree(ROOT / "frame_pr", folder / "frame_pr")
    file = folder / "frame_pr" / step.file
    code = file.read_text(encoding="utf-8")
    if code.count(step.text) != 1:
        raise SystemExit(f"{step.file}: {step.text!r} stands there {code.count(step.text)} times")
    file.write_text(code.replace(step.text, step.without), encoding="utf-8")
    return folder


def main() -> None:
    """Print a line for each step, data and call."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="a regular expression of titles")
    words = parser.parse_args()
    print("| step | data | call | with / without |\n| --- | --- | --- | --- |", flush=True)
    for step in STEPS:
        if not re.search(words.only, step.title):
            continue
        with TemporaryDirectory() as folder:
            base = without(step, Path(folder))
            options = Options(base, words.rows, words.rounds, step.calls)
            for table in (base_times, base_searches):
                (_, *calls), *lines = table(options)
                for data, *cells in lines:
                    for call, cell in zip(calls, cells, strict=True):
                        if cell != "-":
                            print(f"| {step.title} | {data} | {call} | {cell} |", flush=True)


if __name__ == "__main__":
    main()
