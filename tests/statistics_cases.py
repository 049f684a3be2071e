"""Random averaged curves and intervals against the exact oracle, which the fuzzer tries."""

import random

import polars as pl
from statistics_oracle import (
    VALUES,
    agree,
    average_curve,
    cluster_interval,
    fixed_groups_interval,
    mean_interval,
    row_interval,
    wilson_interval,
)

import frame_pr as fp

CONFIDENCES = [0.5, 0.68, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.999999]
PROPORTIONS = {
    "precision": (lambda t, p: t and p, lambda t, p: p),
    "recall": (lambda t, p: t and p, lambda t, p: t),
    "fpr": (lambda t, p: not t and p, lambda t, p: not t),
    "npv": (lambda t, p: not t and not p, lambda t, p: not p),
    "accuracy": (lambda t, p: t == p, lambda t, p: True),
}


def drawn(draw):
    """A frame of a few groups, the arguments that it is asked with, and the rows of each group by system."""
    systems = ["s0"] if draw.random() < 0.7 else ["s0", "s1"]
    scores = draw.choice([range(1, 4), range(1, 7), range(50)])
    names, data, missing = range(draw.randint(1, 7)), [], draw.choice([0, 0, 0.1, 0.5])
    for name in names:
        kind = draw.choice(["any", "any", "any", "no row", "negatives", "no positive", "perfect"])
        for _ in range(draw.choice([1, 2, 4, 8, 14])):
            truth = draw.random() < 0.4 and kind != "no positive"
            row = {"q": name, "half": name % 2, "t": truth, "user": draw.randrange(4), "n": draw.randint(1, 3)}
            for system in systems:
                score = draw.choice(scores) + (100 * truth if kind == "perfect" else 0)
                lost = kind == "no row" or (kind == "negatives" and truth) or draw.random() < missing
                row[system] = None if lost else score
            data.append(row)
    schema = {"q": pl.Int64, "half": pl.Int64, "t": pl.Boolean, "user": pl.Int64, "n": pl.Int64}
    frame = pl.DataFrame(data, schema=schema | dict.fromkeys(systems, pl.Int64))
    options = {"unscored": "unretrieved"}
    counts = draw.choice([None, None, "count", "weight"])
    options |= {} if counts is None else {counts: "n"}
    totals = draw.choice([None, None, "column", "frame"]) if counts != "weight" else None
    more = {name: draw.randint(0, 3) for name in (*names, *((97, 98) if totals == "frame" else ()))}
    present = {name: sum((r["n"] if counts else 1) * r["t"] for r in data if r["q"] == name) for name in more}
    if totals == "column":
        frame = frame.with_columns(P=pl.col("q").replace_strict({q: present[q] + more[q] for q in more}))
        options["total_positives"] = "P"
    elif totals == "frame":
        known = {"q": list(more), "half": [q % 2 for q in more], "P": [present[q] + more[q] for q in more]}
        options["total_positives"] = pl.DataFrame(known)
    groups = {
        system: {
            q: [(r["t"], r[system]) for r in data if r["q"] == q for _ in range(r["n"] if counts else 1)]
            + [(True, None)] * (more[q] if totals else 0)
            for q in more
        }
        for system in systems
    }
    return frame, systems, options, groups, data


def differences(seed):
    """How many groups were compared, and what differs."""
    draw = random.Random(seed)
    frame, systems, options, groups, data = drawn(draw)
    confidence, wrong = draw.choice(CONFIDENCES), []
    score, kind = systems if len(systems) > 1 else systems[0], draw.choice(["polars", "lazy", "pandas"])
    given = frame if kind == "polars" else frame.lazy() if kind == "lazy" else frame.to_pandas()
    if kind == "pandas" and "total_positives" in options and not isinstance(options["total_positives"], str):
        options["total_positives"] = options["total_positives"].to_pandas()

    def read(result):
        return pl.from_pandas(result) if kind == "pandas" else result.lazy().collect()

    def compare(where, row, expected):
        value, sides, error = expected
        low, high = (None, None) if sides is None else sides
        numbers = [None if x is None or x != x else x for x in (row["value"], row["low"], row["high"])]
        if not all(map(agree, numbers, (value, low, high))) or not agree(row["standard_error"], error):
            wrong.append((seed, where, row, tuple(map(str, (value, low, high, error)))))
        order = [0, numbers[1], numbers[0], numbers[2], 1]
        if None not in order and order != sorted(order):
            wrong.append((seed, where, "the bounds do not hold the value", row))

    # Averaged curves, and means over groups.
    points, interpolated = draw.choice([2, 3, 6, 11, 101]), draw.random() < 0.4
    halves = [None] if draw.random() < 0.6 or isinstance(options.get("total_positives"), str) else [0, 1]
    keys = {"by": "q"} if halves == [None] else {"by": ["half", "q"]}
    shown = dict(options)
    if halves == [None] and "total_positives" in options and not isinstance(options["total_positives"], str):
        total = options["total_positives"]
        shown["total_positives"] = total.drop("half") if kind != "pandas" else total.drop(columns="half")
    curves = read(
        fp.average_curve(
            given,
            "t",
            score,
            points=points,
            interpolated=interpolated,
            confidence=confidence,
            mean_over="q",
            **keys,
            **shown,
        )
    )
    names = ["average_precision", "roc_auc"]
    means = read(fp.intervals(given, names, "t", score, mean_over="q", confidence=confidence, **keys, **shown))
    curve_means = read(fp.evaluate(given, "average_precision", "t", score, mean_over="q", **keys, **shown))
    for system in systems:
        for half in halves:
            rows = [r for q, r in groups[system].items() if half is None or q % 2 == half]
            rows = [r for r in rows if r]
            mine = [
                table.filter(
                    pl.lit(half is None) | (pl.col("half") == half if half is not None else pl.lit(True)),
                    pl.col("system") == system if len(systems) > 1 else pl.lit(True),
                )
                for table in (curves, means, curve_means)
            ]
            expected = list(average_curve(rows, points, confidence, interpolated=interpolated))
            if len(expected) != mine[0].height:
                wrong.append((seed, "levels", len(expected), mine[0].height))
            for row, (mean, band, lower, upper, n) in zip(mine[0].iter_rows(named=True), expected, strict=False):
                low, high = band or (None, None)
                number = {k: None if v is None or v != v else v for k, v in row.items() if k != "system"}
                pairs = [(number["precision"], mean), (number["low"], low), (number["high"], high)]
                pairs += [(number["lower_quartile"], lower), (number["upper_quartile"], upper), (row["groups"], n)]
                if not all(agree(a, b) for a, b in pairs):
                    wrong.append((seed, "curve", row, [str(b) for _, b in pairs]))
                order = [0, number["low"], number["precision"], number["high"], 1]
                if band and (None in order or order != sorted(order)):
                    wrong.append((seed, "the band does not hold the mean", row))
            if not interpolated and expected:
                mean = mine[2]["mean_average_precision"].item()
                if not agree(mine[0]["precision"].mean(), mean):
                    wrong.append((seed, "area", mine[0]["precision"].mean(), mean))
            for name in names if rows else ():
                row = mine[1].filter(metric=name).row(0, named=True)
                compare(("means", system, half, name), row, mean_interval([VALUES[name](r) for r in rows], confidence))
    # Rows as the sample.
    if "weight" in options:
        return len(systems) * len(groups["s0"]), wrong
    known = "total_positives" in options
    names = names[:1] if known else names
    each = read(fp.intervals(given, names, "t", score, by="q", confidence=confidence, **shown_for_q(options, kind)))
    fixed = read(
        fp.intervals(
            given,
            names,
            "t",
            score,
            by="q",
            mean_over="q",
            sampled="rows",
            confidence=confidence,
            **shown_for_q(options, kind),
        )
    )
    present = {r["q"] for r in data}
    for system in systems:
        of_system = [t.filter(pl.col("system") == system if len(systems) > 1 else pl.lit(True)) for t in (each, fixed)]
        for name in names:
            for q in present:
                row = of_system[0].filter(q=q, metric=name).row(0, named=True)
                compare(("rows", system, q, name), row, row_interval(name, groups[system][q], confidence))
            row = of_system[1].filter(metric=name).row(0, named=True)
            rows = [groups[system][q] for q in present]
            compare(("fixed", system, name), row, fixed_groups_interval(name, rows, confidence))
    if known or "count" in options:
        return len(systems) * len(groups["s0"]), wrong
    users = read(fp.intervals(given, names, "t", score, by="q", cluster="user", confidence=confidence, **options))
    threshold = draw.choice([0, 1, 2, 5, 120])
    metrics = [f"{figure}@threshold={threshold}" for figure in PROPORTIONS]
    shares = read(fp.intervals(given, metrics, "t", score, by="q", confidence=confidence, **options))
    for system in systems:
        of_system = [
            t.filter(pl.col("system") == system if len(systems) > 1 else pl.lit(True)) for t in (users, shares)
        ]
        for q in present:
            rows, clusters = groups[system][q], [r["user"] for r in data if r["q"] == q]
            for name in names:
                row = of_system[0].filter(q=q, metric=name).row(0, named=True)
                compare(("clusters", system, q, name), row, cluster_interval(name, rows, clusters, confidence))
            for figure, (part, whole) in PROPORTIONS.items():
                row = of_system[1].filter(q=q, metric=f"{figure}@threshold={threshold}").row(0, named=True)
                cells = [(t, s is not None and s >= threshold) for t, s in rows]
                among = [cell for cell in cells if whole(*cell)]
                hits = sum(part(*cell) for cell in among)
                value = hits / len(among) if among else None
                sides = wilson_interval(hits, len(among), confidence) if len(rows) > 1 else None
                error = (value * (1 - value) / len(among)) ** 0.5 if among else None
                compare(("proportion", system, q, figure), row, (value, sides, error))
    return len(systems) * len(groups["s0"]), wrong


def shown_for_q(options, kind):
    """The options without the key `half` in a frame of totals."""
    total = options.get("total_positives")
    if total is None or isinstance(total, str):
        return options
    return options | {"total_positives": total.drop(columns="half") if kind == "pandas" else total.drop("half")}
