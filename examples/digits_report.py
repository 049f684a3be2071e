"""Two classifiers of handwritten digits, compared digit by digit: first in polars, then in pandas.

Each of scikit-learn's 1797 images shows one of ten digits. Half of them train a logistic regression
and a decision tree; on the other half, each model gives every image ten scores, one per digit. So
every digit is a group of its own: does its score rank the images that show this digit above the
others?

Usage: python examples/digits_report.py [directory], where the curves are drawn as digits.svg, by
default here.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only: needs no screen

import numpy as np
import pandas as pd
import polars as pl
from polars.testing import assert_frame_equal
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import frame_pr  # noqa: F401, the import makes `.pr` known to polars and pandas

SHORT = {
    "average_precision": "AP",
    "interpolated_average_precision": "interpolated AP",
    "precision@10": "P@10",
    "max_f1": "best F1",
    "threshold@max_f1": "at threshold",
}
METRICS = list(SHORT)
MODELS = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "decision tree": DecisionTreeClassifier(max_depth=6, random_state=0),
}
TOLERANCE = 1e-12


def held_out_scores() -> dict[str, np.ndarray]:
    """Columns `model`, `digit`, `is_digit`, `score`: one row per model, image and digit."""
    images, shown = load_digits(return_X_y=True)
    train, test, train_shown, test_shown = train_test_split(
        images / 16, shown, test_size=0.5, stratify=shown, random_state=0
    )
    scores = [model.fit(train, train_shown).predict_proba(test) for model in MODELS.values()]
    digits = np.arange(10)
    rows_per_model = test_shown.size * digits.size
    return {
        "model": np.repeat(np.array(list(MODELS), dtype=object), rows_per_model),
        "digit": np.tile(digits, test_shown.size * len(MODELS)),
        "is_digit": np.tile((test_shown[:, None] == digits).ravel(), len(MODELS)),
        "score": np.concatenate([score.ravel() for score in scores]),
    }


def largest_difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    difference = float(np.abs(ours - theirs).max())
    if difference > TOLERANCE:
        raise SystemExit(f"they differ by {difference}")
    return f"largest difference {difference:.1g}"


def main() -> None:
    columns = held_out_scores()
    pl.Config(
        tbl_rows=-1,
        tbl_width_chars=100,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_cell_numeric_alignment="RIGHT",
        float_precision=3,
    )
    title = "Handwritten digits: two models, ten digits"
    print(title, "=" * len(title), sep="\n")
    print(
        f"{len(columns['score']):,} held-out scores = 2 models x 10 digits x {len(columns['score']) // 20} images."
    )

    scores = pl.DataFrame(columns)
    per_digit = scores.pr.evaluate(METRICS, "is_digit", "score", by=["digit", "model"])
    mean = scores.pr.evaluate(
        "average_precision", "is_digit", "score", by=["digit", "model"], mean_over="digit"
    )
    distinct = (
        scores.filter(model="decision tree")
        .group_by("digit")
        .agg(pl.col("score").n_unique())["score"]
        .max()
    )

    print("\nIn polars")
    print("---------")
    print('>>> scores.pr.evaluate(METRICS, "is_digit", "score", by=["digit", "model"])')
    print(per_digit.rename(SHORT))
    print(
        f"The tree knows at most {distinct} scores per digit, so many images are tied. Where a tie reaches across"
    )
    print("rank 10, P@10 counts its expected share of hits.")
    print("\nMean average precision (MAP): the same, averaged over the digits")
    print(
        '>>> scores.pr.evaluate("average_precision", ..., by=["digit", "model"], mean_over="digit")'
    )
    print(mean)

    scores_pd = pd.DataFrame(columns)
    per_digit_pd = scores_pd.pr.evaluate(METRICS, "is_digit", "score", by=["digit", "model"])
    mean_pd = scores_pd.pr.evaluate(
        "average_precision", "is_digit", "score", by=["digit", "model"], mean_over="digit"
    )

    print("\nIn pandas, by the same calls")
    print("----------------------------")
    print(per_digit_pd.rename(columns=SHORT).to_string(index=False, float_format="{:.3f}".format))
    print()
    print(mean_pd.to_string(index=False, float_format="{:.3f}".format))

    print("\nDo they agree?")
    print("--------------")
    for ours, theirs in ((per_digit, per_digit_pd), (mean, mean_pd)):
        assert_frame_equal(ours, pl.from_pandas(theirs), abs_tol=TOLERANCE, rel_tol=0)
    values = per_digit.select(METRICS).to_numpy()
    print(
        f"polars and pandas agree on all {values.size} values and both means:",
        largest_difference(values, per_digit_pd[METRICS].to_numpy()),
    )
    peer = [
        average_precision_score(group["is_digit"], group["score"])
        for _, group in scores_pd.groupby(["digit", "model"], sort=True)
    ]
    print(
        f"scikit-learn, asked {len(peer)} times, agrees on average precision:",
        largest_difference(per_digit["average_precision"].to_numpy(), np.array(peer)),
    )

    picture = Path(*sys.argv[1:2], "digits.svg").resolve()
    scores.pr.plot("is_digit", "score", by=["digit", "model"], facet="digit")[0].figure.savefig(
        picture
    )
    print(f"\nThe curves, a panel for each digit: {picture}")


if __name__ == "__main__":
    main()
