"""How often `compare` over rows reports a difference between two scores that are equally good.

Run:  python -m benchmarks.row_tests [--samples 2000] [--seed 1]

Prints the table of docs/significance-tests.md.
Negatives have normal scores, positives the same and a shift; the scores of a
row have a correlation of 0.5. Samples with fewer than two positives are left out.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

import frame_pr as fp

ROWS = (50, 200, 1000)
PREVALENCES = (0.02, 0.1, 0.5)
SHIFTS = (1.0, 2.5)
AT_ONCE = 500_000  # rows


def share_below(p_values: list[pl.Series]) -> str:
    """The share of p-values below 0.05, in percent."""
    return f"{100 * (pl.concat(p_values).drop_nulls() < 0.05).mean():.1f}"


def main() -> None:
    """Print a line for each population."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print('| rows | prevalence | shift | average precision | ROC AUC | ROC AUC, `test="delong"` |\n|' + " --- |" * 6)
    for rows in ROWS:
        for prevalence in PREVALENCES:
            for shift in SHIFTS:
                p_values: dict[str, list[pl.Series]] = {"average_precision": [], "roc_auc": [], "delong": []}
                at_once = min(options.samples, AT_ONCE // rows)
                for _ in range(-(-options.samples // at_once)):
                    n = rows * at_once
                    truth = rng.random(n) < prevalence
                    shared = rng.normal(size=n)
                    scores = {name: (shared + rng.normal(size=n)) / 2**0.5 + shift * truth for name in ("a", "b")}
                    run = pl.DataFrame({"sample": np.arange(n) // rows, "truth": truth, **scores})
                    call = {"truth": "truth", "score": ["a", "b"], "by": "sample", "sampled": "rows"}
                    t = fp.compare(run, ["average_precision", "roc_auc"], **call)
                    for name in ("average_precision", "roc_auc"):
                        p_values[name].append(t.filter(metric=name)["p_value"])
                    p_values["delong"].append(fp.compare(run, "roc_auc", test="delong", **call)["p_value"])
                shares = " | ".join(share_below(series) for series in p_values.values())
                print(f"| {rows} | {prevalence:g} | {shift:g} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
