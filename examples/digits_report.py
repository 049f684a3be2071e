"""Two classifiers of handwritten digits, compared digit by digit.

Half of scikit-learn's 1797 images train a logistic regression and a decision tree. On the other
half, each classifier gives every image ten scores, one per digit. So every digit is a group of its
own: does its score rank the images that show this digit above the others?

Usage: python examples/digits_report.py [directory], where the curves are drawn as digits.png, by
default here.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only: needs no screen

import numpy as np
import polars as pl
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import frame_pr  # noqa: F401, the import makes `.pr` known to polars and pandas

CLASSIFIERS = {
    "logit": LogisticRegression(max_iter=1000),
    "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
}
SYSTEMS = list(CLASSIFIERS)


def held_out_scores() -> pl.DataFrame:
    """Columns `digit`, `is_digit`, and scores per classifier: a row per image and digit."""
    images, shown = load_digits(return_X_y=True)
    train, test, train_shown, test_shown = train_test_split(
        images / 16, shown, test_size=0.5, stratify=shown, random_state=0
    )
    digits = np.arange(10)
    columns = {
        "digit": np.tile(digits, test_shown.size),
        "is_digit": (test_shown[:, None] == digits).ravel(),
    }
    for name, classifier in CLASSIFIERS.items():
        columns[name] = classifier.fit(train, train_shown).predict_proba(test).ravel()
    return pl.DataFrame(columns)


def largest_difference(values: pl.DataFrame, scores: pl.DataFrame) -> float:
    """How far scikit-learn's average precision is from these values, group by group."""
    differences = []
    for digit, system, value in values.select("digit", "system", "average_precision").rows():
        group = scores.filter(digit=digit)
        theirs = average_precision_score(group["is_digit"], group[system])
        differences.append(abs(value - theirs))
    return max(differences)


def main() -> None:
    pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_rows=10)
    pl.Config(tbl_cell_numeric_alignment="RIGHT", float_precision=3, tbl_width_chars=80)
    scores = held_out_scores()
    print(f"Handwritten digits: {scores.height:,} rows = {scores.height // 10} images x 10 digits")

    print('\n>>> metrics = ["average_precision", "precision@10", "max_f1"]')
    print('>>> scores.pr.evaluate(metrics, "is_digit", ["logit", "tree"], by="digit")')
    metrics = ["average_precision", "precision@10", "max_f1"]
    per_digit = scores.pr.evaluate(metrics, "is_digit", SYSTEMS, by="digit")
    short = per_digit.rename({"average_precision": "AP", "precision@10": "P@10", "max_f1": "F1"})
    print(short.pivot("system", index="digit", values=["AP", "P@10", "F1"]))

    print("\nMean average precision (MAP): the mean over the digits")
    print('>>> metric = {"MAP": "average_precision"}')
    print('>>> scores.pr.evaluate(metric, "is_digit", ["logit", "tree"], mean_over="digit")')
    metric = {"MAP": "average_precision"}
    print(scores.pr.evaluate(metric, "is_digit", SYSTEMS, mean_over="digit"))

    difference = largest_difference(per_digit, scores)
    if difference > 1e-12:
        raise SystemExit(f"scikit-learn differs by {difference}")
    print(f"\nscikit-learn, asked 20 times, agrees on average precision to {difference:.0e}.")

    picture = Path(*sys.argv[1:2], "digits.png").resolve()
    panels = scores.pr.plot("is_digit", SYSTEMS, by="digit", facet="digit")
    panels[0].figure.savefig(picture, dpi=150)
    print(f"The precision-recall curves, a panel for each digit: {picture}")


if __name__ == "__main__":
    main()
