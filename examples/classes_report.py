"""A classifier of ten digits: average precision by class, their means, and the confusions.

A few of scikit-learn's 1797 images train a logistic regression; on half of them it gives each image
a score for each digit, and the digit it predicts. `unpivot_classes` makes rows of that, and
everything else is one call. All averages are compared with scikit-learn's.
"""

import numpy as np
import polars as pl
from sklearn import metrics
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import frame_pr  # noqa: F401, the import makes `.pr` known to polars and pandas

TOLERANCE = 1e-12


def predicted() -> pl.DataFrame:
    """Columns `shown`, `predicted`, and `p0` to `p9`: a row for each image of the test set."""
    images, shown = load_digits(return_X_y=True)
    train, test, train_shown, test_shown = train_test_split(
        images / 16, shown, test_size=0.5, stratify=shown, random_state=0
    )
    few = slice(120)  # so that there are mistakes to look at
    model = LogisticRegression(max_iter=1000).fit(train[few], train_shown[few])
    columns = {f"p{digit}": scores for digit, scores in enumerate(model.predict_proba(test).T)}
    return pl.DataFrame({"shown": test_shown, "predicted": model.predict(test)} | columns)


def same(ours: float, theirs: float) -> float:
    if abs(ours - theirs) > TOLERANCE:
        raise SystemExit(f"{ours} here and {theirs} in scikit-learn")
    return ours


def main() -> None:
    frame = predicted()
    rows = frame.pr.unpivot_classes(
        "shown", {digit: f"p{digit}" for digit in range(10)}, prediction="predicted"
    )
    per_digit = rows.pr.evaluate(
        {"images": "positives", "AP": "average_precision"}, "truth", "score", by="class"
    )
    means = rows.pr.evaluate(
        {"AP": "average_precision"},
        "truth",
        "score",
        by="class",
        mean_over="class",
        statistics=["mean", "weighted", "median"],
    ).row(0, named=True)
    micro = rows.pr.average_precision("truth", "score").item()
    rates = rows.pr.confusion(
        "truth", prediction="prediction", by="class", mean_over="class", rates="f1"
    )
    f1 = rates["mean_f1"].item()

    shown = frame["shown"].to_numpy()[:, None] == np.arange(10)
    scores = frame.select(f"p{digit}" for digit in range(10)).to_numpy()
    peer = {
        average: metrics.average_precision_score(shown, scores, average=average)
        for average in ["macro", "weighted"]
    }

    their_micro = metrics.average_precision_score(shown, scores, average="micro")
    their_f1 = metrics.f1_score(frame["shown"], frame["predicted"], average="macro")

    print("Each digit against the rest")
    print(per_digit)
    print(f"macro    {same(means['AP'], peer['macro']):.4f}")
    print(f"weighted {same(means['weighted_AP'], peer['weighted']):.4f}")
    print(f"median   {means['median_AP']:.4f}")
    print(f"micro    {same(micro, their_micro):.4f}")
    print(f"macro F1 {same(f1, their_f1):.4f}")

    matrix = frame.pr.confusion_matrix("shown", "predicted")
    peer_matrix = metrics.confusion_matrix(frame["shown"], frame["predicted"])
    if matrix["rows"].to_list() != peer_matrix.ravel().tolist():
        raise SystemExit("scikit-learn has another confusion matrix")
    print("\nConfusion matrix")
    print(matrix.pivot("prediction", index="truth", values="rows"))
    mistakes = matrix.filter(pl.col("truth") != pl.col("prediction")).sort(
        "rows", descending=True, maintain_order=True
    )
    print("\nThe most frequent mistakes")
    print(mistakes.head(3).select("truth", "prediction", "rows", "of_truth"))
    print("\nscikit-learn has the same averages and the same matrix.")


if __name__ == "__main__":
    pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=100,
        tbl_hide_dataframe_shape=True,
        float_precision=3,
    )
    main()
