"""The recipes of docs/migration.md for object detection, against the tools or their values."""

import contextlib
import io
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from compare import near

# Padilla's table of 24 detections, the hits by rank; 15 objects.
HITS = {1, 3, 10, 12, 13, 14, 23}
CONFIDENCE = [
    95,
    95,
    91,
    88,
    84,
    80,
    78,
    74,
    71,
    70,
    67,
    62,
    54,
    48,
    45,
    45,
    44,
    44,
    43,
    38,
    35,
    23,
    18,
    14,
]
DETECTIONS = pl.DataFrame(
    {"confidence": CONFIDENCE, "hit": [i in HITS for i in range(1, 25)]}
).with_columns(objects=15)
INTERPOLATED = ["interpolated_average_precision", "interpolated_average_precision_11"]


@pytest.mark.parametrize("unfound", ["positives", "rows"])
def test_padilla(unfound):
    # 1/15 * 1 + 1/15 * 2/3 + 4/15 * 3/7 + 1/15 * 7/23, and (1 + 2/3 + 3 * 3/7) / 11: levels 0, .1,
    # and .2 to .4.
    if unfound == "rows":
        lost = pl.DataFrame(
            {"confidence": [None] * 8, "hit": True, "objects": 15}, schema=DETECTIONS.schema
        )
        frame, options = pl.concat([DETECTIONS, lost]), {"unscored": "unretrieved"}
    else:
        frame, options = DETECTIONS, {"total_positives": "objects"}
    in_order = frame.pr.evaluate(INTERPOLATED, "hit", "confidence", ties="order", **options).row(0)
    assert in_order == (
        near(Fraction(1, 15) * (1 + Fraction(2, 3) + 4 * Fraction(3, 7) + Fraction(7, 23))),
        near((1 + Fraction(2, 3) + 3 * Fraction(3, 7)) / 11),
    )
    # As printed there, his terms rounded: 24.56 and 26.84 percent.
    assert in_order == (pytest.approx(0.2456, abs=2e-4), pytest.approx(0.2684, abs=2e-4))
    # The first two are one threshold, of precision 1/2: the envelope begins with 2/3.
    by_threshold = frame.pr.evaluate(INTERPOLATED, "hit", "confidence", **options).row(0)
    assert by_threshold == (
        near(Fraction(1, 15) * (2 * Fraction(2, 3) + 4 * Fraction(3, 7) + Fraction(7, 23))),
        near((2 * Fraction(2, 3) + 3 * Fraction(3, 7)) / 11),
    )
    # The tied hit is first or second: (1 + 1/2) / 2 of it; the precisions of the others.
    others = sum(Fraction(i, rank) for i, rank in enumerate(sorted(HITS)[1:], 2))
    expected = frame.pr.average_precision("hit", "confidence", ties="expected", **options).item()
    assert expected == near((Fraction(3, 4) + others) / 15)


def voc(hits: np.ndarray, objects: int, levels: np.ndarray | None) -> float:
    """The development kits: `VOCevaldet` of 2007 with recall levels, of 2010 without."""
    tp = np.cumsum(hits)
    recall, precision = tp / objects, tp / np.arange(1, len(hits) + 1)
    if levels is not None:
        return sum(precision[recall >= level].max(initial=0) for level in levels) / len(levels)
    recall, precision = np.array([0, *recall, 1]), np.array([0, *precision, 0])
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    return float(((recall[1:] - recall[:-1]) * envelope[1:]).sum())


def detected(seed: int, classes: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Detections of several classes, many of equal confidence, and the objects of each class."""
    rng = np.random.default_rng(seed)
    parts, objects = [], []
    for name in range(classes):
        size = int(rng.integers(1, 90))
        hit = rng.random(size) < rng.choice([0.2, 0.8])
        parts.append(
            pl.DataFrame({"class": name, "confidence": rng.integers(1, 40, size) / 40, "hit": hit})
        )
        objects.append((name, int(hit.sum() + rng.integers(1, 20))))
    return pl.concat(parts), pl.DataFrame(objects, schema=["class", "objects"], orient="row")


def test_voc():
    frame, objects = detected(seed=4, classes=200)
    names = {
        "interpolated_average_precision": None,
        "interpolated_average_precision_11": np.arange(11) / 10,
    }
    found = frame.pr.evaluate(
        list(names), "hit", "confidence", by="class", ties="order", total_positives=objects
    )
    assert found.height == 200
    for (name, count), values in zip(objects.rows(), found.rows(), strict=True):
        part = frame.filter(pl.col("class") == name)
        hits = part["hit"].to_numpy()[np.argsort(-part["confidence"].to_numpy(), kind="stable")]
        assert values == (name, *(near(voc(hits, count, levels)) for levels in names.values()))


def test_recall_levels_of_voc_in_floats():
    # Three hits first, of ten objects: the levels 0, .1, .2 and .3. np.arange(0, 1.1, .1)[3] is
    # above 3/10.
    frame = pl.DataFrame({"hit": [1, 1, 1], "confidence": [3, 2, 1], "objects": 10})
    found = frame.pr.interpolated_average_precision(
        "hit", "confidence", points=11, total_positives="objects"
    ).item()
    assert found == near(Fraction(4, 11))
    assert voc(np.ones(3), 10, np.arange(0, 1.1, 0.1)) == near(Fraction(3, 11))


def coco(hits: np.ndarray, objects: int) -> float:
    """COCOeval of one class, on images of one object or none, with one detection each."""
    api = pytest.importorskip("pycocotools.coco")
    evaluation = pytest.importorskip("pycocotools.cocoeval")
    images = [{"id": i} for i in range(1, max(len(hits), objects) + len(hits) + 1)]
    on = np.zeros(len(hits), dtype=int)
    on[hits] = np.arange(1, hits.sum() + 1)
    on[~hits] = np.arange(len(images) - (~hits).sum(), len(images)) + 1
    box = {"category_id": 1, "bbox": [0, 0, 10, 10], "area": 100}
    truth = api.COCO()
    truth.dataset = {
        "images": images,
        "categories": [{"id": 1}],
        "annotations": [
            {"id": i, "image_id": i, "iscrowd": 0, **box} for i in range(1, objects + 1)
        ],
    }
    found = api.COCO()
    found.dataset = {
        **truth.dataset,
        "annotations": [
            # Scores fall with the rank: no ties.
            {"id": i + 1, "image_id": int(image), "score": 1 - i / 1000, "iscrowd": 0, **box}
            for i, image in enumerate(on)
        ],
    }
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        found.createIndex()
        run = evaluation.COCOeval(truth, found, "bbox")
        run.evaluate()
        run.accumulate()
    return float(run.eval["precision"][0, :, 0, 0, -1].mean())


def coco_loses(objects: int, hits: int) -> set[int]:
    """The levels, in hundredths, that so many hits reach, but not in the floats of COCO."""
    levels = np.linspace(0, 1, 101)
    return {
        i
        for n in range(1, hits + 1)
        for i in range(101)
        if 100 * n == i * objects and n / objects < levels[i]
    }


def test_coco():
    frame, objects = detected(seed=6, classes=30)
    frame = frame.with_columns(
        score=-pl.int_range(pl.len()).over("class")
    )  # no ties, and the order of the rows
    found = frame.pr.interpolated_average_precision(
        "hit", "score", points=101, by="class", total_positives=objects
    )
    compared = 0
    for name, value in found.rows():
        hits = frame.filter(pl.col("class") == name)["hit"].to_numpy()
        count = objects.filter(pl.col("class") == name)["objects"].item()
        if not coco_loses(count, hits.sum()):
            # It adds 2e-16 to every denominator.
            assert math.isclose(value, coco(hits, count), rel_tol=0, abs_tol=1e-12), name
            compared += 1
    assert compared > 20
