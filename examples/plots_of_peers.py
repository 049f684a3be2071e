"""Draws one test set by the defaults of scikit-learn, seaborn, plotnine and frame_pr, side by side.

Usage: python examples/plots_of_peers.py [picture]. Needs seaborn and plotnine, which no extra
brings.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only: needs no screen

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import seaborn as sns
from plotnine import aes, geom_step, ggplot
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import PrecisionRecallDisplay

import frame_pr as fp

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "plots_of_peers.png"
DOTS_PER_INCH = 70
SYSTEMS = ["radius", "texture", "smoothness"]


def rows() -> pl.DataFrame:
    """Three measurements of a tumour as scores of malignancy."""
    data = load_breast_cancer()
    columns = {name: data.data[:, i] for name, i in zip(SYSTEMS, (0, 1, 4), strict=True)}
    return pl.DataFrame({"malignant": data.target == 0, **columns})


def scikit_learn(run: pl.DataFrame) -> None:
    ax = plt.subplots()[1]
    for name in SYSTEMS:
        PrecisionRecallDisplay.from_predictions(
            run["malignant"], run[name], name=name, plot_chance_level=True, ax=ax
        )


def by_seaborn(run: pl.DataFrame) -> None:
    plt.figure()
    sns.lineplot(
        run.pr.curve("malignant", SYSTEMS).to_pandas(), x="recall", y="precision", hue="system"
    )


def by_plotnine(run: pl.DataFrame) -> plt.Figure:
    curve = run.pr.curve("malignant", SYSTEMS).to_pandas()
    return (ggplot(curve, aes("recall", "precision", color="system")) + geom_step()).draw()


def by_frame_pr(run: pl.DataFrame) -> None:
    fp.plot(run, "malignant", SYSTEMS)


def picture_of(draw: Callable[[pl.DataFrame], plt.Figure | None], run: pl.DataFrame) -> np.ndarray:
    figure, file = draw(run) or plt.gcf(), io.BytesIO()
    figure.savefig(file, dpi=DOTS_PER_INCH)
    plt.close("all")
    file.seek(0)
    return plt.imread(file)[..., :3]


def main() -> None:
    tools = {
        "scikit-learn": scikit_learn,
        "seaborn": by_seaborn,
        "plotnine": by_plotnine,
        "frame_pr": by_frame_pr,
    }
    run = rows()
    pictures = {name: picture_of(draw, run) for name, draw in tools.items()}
    figure, grid = plt.subplots(2, 2, figsize=(12, 9), layout="compressed")
    for ax, (name, picture) in zip(grid.flat, pictures.items(), strict=True):
        ax.imshow(picture)
        ax.set_title(name)
        ax.axis("off")
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})
    print(f"{path.name}: {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
