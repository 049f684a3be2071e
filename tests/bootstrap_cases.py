"""Random bootstrap intervals: the same bits on every kind of frame, in any order of rows, and for a group alone."""

import random
import warnings

import polars as pl
from kinds import KINDS
from names import NAMES

import frame_pr as fp
from frame_pr.inputs.policies import TIES
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.metric import Metric
from frame_pr.metrics.names import metric

SCORES = [range(3), range(7), [x / 7 for x in range(50)]]
GAINED = ["ndcg@3", "captured_gain@3"]
RULES = [name for name, rule in TIES.items() if not rule.by_row]


def drawn(draw: random.Random) -> tuple[pl.DataFrame, dict[str, object]]:
    """A frame of a few groups, and the options of a call."""
    height, groups = draw.choice([6, 30, 80]), draw.choice([1, 2, 5])
    options: dict[str, object] = {"seed": draw.randint(0, 99), "stratified": draw.random() < 0.3}
    options |= {"ties": draw.choice(RULES)} if draw.random() < 0.3 else {}
    options |= {"ascending": True} if draw.random() < 0.2 else {}
    share, scores = draw.choice([0.1, 0.4, 0.6]), draw.choice(SCORES)
    data = {
        "q": [draw.randrange(groups) for _ in range(height)],
        "t": [int(draw.random() < share) for _ in range(height)],
        "s": [float(draw.choice(scores)) for _ in range(height)],
    }
    more = draw.choice(["nothing", "nothing", "count", "weight", "float weight", "gain", "cluster"])
    if more != "nothing":
        pool = [0.1, 1 / 3, 2.5] if more == "float weight" else [1, 2, 3]
        data["m"] = [draw.choice(pool) for _ in range(height)]
        options[more.rpartition(" ")[2]] = "m"
        if "weight" in options:
            options.pop("ties", None)
    if "cluster" in options:
        del options["stratified"]
    if draw.random() < 0.2:
        data["s"] = [None if draw.random() < 0.3 else score for score in data["s"]]
        options["unscored"] = draw.choice(["unretrieved", "drop"])
    return pl.DataFrame(data, schema_overrides={"s": pl.Float64}), options


def some_names(draw: random.Random, options: dict[str, object]) -> list[str]:
    """Names of metrics that the options allow."""
    ties, names = str(options.get("ties", "threshold")), []
    weighted, gained = "weight" in options, "gain" in options

    def is_allowed(plan: Metric) -> bool:
        return ties in plan.aggregates and not (weighted and (isinstance(plan.cutoff, Rank) or plan.counts_ranks))

    pool = [name for name in NAMES if is_allowed(metric(name))]
    if gained:
        names = [name for name in GAINED if is_allowed(metric(name))]
        pool = names if TIES[options.get("ties", "threshold")].bounds else pool
    return list(dict.fromkeys([*names, *draw.choices(pool, k=draw.choice([1, 3, 5]))]))


def differences(seed: int) -> tuple[int, list[object]]:
    """How many intervals were compared, and what differs."""
    draw = random.Random(seed)
    data, options = drawn(draw)
    names, wrong = some_names(draw, options), []
    given = {"method": "bootstrap", "repeats": 100, **options}
    expected = fp.intervals(data, names, "t", "s", by="q", **given)
    shuffled = data.sample(fraction=1, shuffle=True, seed=seed % 100)

    def compare(where: object, result: pl.DataFrame, expected: pl.DataFrame) -> None:
        same_types = result.select(pl.col(name).cast(dtype) for name, dtype in expected.schema.items())
        if not same_types.equals(expected):
            wrong.append((seed, where, names, options, result, expected))

    kind = draw.choice(KINDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = kind.read(fp.intervals(kind(shuffled), names, "t", "s", by="q", **given))
    compare(kind.name, result, expected)
    alone = [name for name in names if "gain" not in options or name in GAINED]
    for name in draw.sample(alone, min(2, len(alone))):
        compare(name, fp.intervals(data, name, "t", "s", by="q", **given), expected.filter(metric=name))
    for (q,), group in data.group_by("q"):
        alone = fp.intervals(group, names, "t", "s", **given)
        compare(q, alone, expected.filter(q=q).drop("q"))
    return expected.height, wrong
