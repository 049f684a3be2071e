"""Wrong calls, generated from all public signatures, and what is wrong with how they end.

`python benchmarks/wrong_calls.py 10000 1` makes so many, from this seed, and prints those that end
in an error that is not ours, in none, or after more than a second.
"""

from __future__ import annotations

import inspect
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

import frame_pr as fp

OURS = str(Path(fp.__file__).parent)
RUN = pl.DataFrame(
    {
        "q": ["a", "a", "b", "b", "b"],
        "d": [1, 2, 1, 2, 3],
        "rel": [1, 0, 0, 1, 1],
        "s": [0.9, 0.8, 0.7, 0.6, 0.5],
        "lab": ["x", "y", "y", "x", "x"],
    }
)
# The same with columns of lists, and of predicted labels.
WIDE = RUN.with_columns(
    items=pl.Series([[1, 2], [3], [], [4], [5]]),
    shown=pl.Series([[1, 3], [3], [2], [], [6, 5]]),
    guess=RUN["lab"].reverse(),
)
RESHAPED = ("explode_lists", "unpivot_classes", "confusion_matrix")
FOLDER = tempfile.TemporaryDirectory()
OBJECT = object()
SCORES = RUN["s"]  # one object, which lists of wrong values have, and those of numbers have not
# No argument takes any of these.
NOTHING: list[Any] = [OBJECT, {"a": 1}, b"x", len, complex(1, 2), [[]], [OBJECT], {1.5: 2}]
NO_NAMES: list[Any] = [
    5,
    True,
    np.float64(2),
    np.ones(5),
    RUN,
    RUN.lazy(),
    RUN["s"],
    pd.NA,
    float("nan"),
    [5],
    int,
]
NO_EXPRESSIONS: list[Any] = [
    pl.col("nope") + 1,
    pl.col("s").filter(pl.col("rel") > 0),
    pl.col("lab").cast(pl.Int64),
    pl.col("s").max(),
    pl.when(pl.col("rel") > 0),
    "nope",
    "x" * 10_000,
]
NO_NUMBERS: list[Any] = [
    "x",
    "0.5",
    True,
    float("nan"),
    pd.NA,
    RUN,
    SCORES,
    pl.col("s"),
    [],
    ["x"],
    [None],
    int,
]
NO_WHOLE: list[Any] = [*NO_NUMBERS, -1, 1.5, np.float64(0.5), 10**400, -(10**30)]
NO_FLAGS: list[Any] = ["yes", 1, 0, 1.0, None, [], [True], np.ones(2), RUN, pl.col("s"), pd.NA]
NO_TEXTS: list[Any] = [5, True, np.int64(1), ["x"], RUN, pl.col("s"), float("nan"), pd.NA]
NO_WORDS: list[Any] = [
    "x",
    "",
    5,
    True,
    np.array(["order", "raise"]),
    ["raise"],
    RUN,
    pl.col("s"),
    pd.NA,
    float("nan"),
]
# By the annotation; an argument with another one gets NOTHING, and so a new one is in the test,
# too.
WRONG: dict[str, list[Any]] = {
    "Column": [*NO_NAMES, *NO_EXPRESSIONS, None, ["s", "rel"]],
    "Columns": [*NO_NAMES, *NO_EXPRESSIONS, None],
    "Columns | None": [*NO_NAMES, *NO_EXPRESSIONS],
    "Column | None": [*NO_NAMES, *NO_EXPRESSIONS, ["s", "d"]],
    "float | Column | Any": [
        True,
        float("nan"),
        0,
        1,
        -0.1,
        1.5,
        [],
        ["x"],
        [0.5, 0.5],
        "nope",
        RUN["s"],
        int,
        pd.NA,
    ],
    "Column | Any": [*NO_EXPRESSIONS, 5, True, np.ones(5), RUN["s"], [1, 2], "nope"],
    "str": [*NO_TEXTS, None],
    "str | None": NO_TEXTS,
    "str | Sequence[str]": [
        5,
        True,
        [5],
        [None],
        RUN,
        pl.col("s"),
        ["rel", "rel"],
        "nope",
        pd.NA,
        float("nan"),
    ],
    "str | Sequence[str] | None": [
        5,
        True,
        [5],
        RUN,
        pl.col("s"),
        ["rel", "rel"],
        "nope",
        pd.NA,
        float("nan"),
    ],
    "str | Sequence[str] | Mapping[str, str]": [
        5,
        True,
        [5],
        [None],
        RUN,
        pl.col("s"),
        ["rel", "rel"],
        "nope",
        pd.NA,
    ],
    "bool | str | Sequence[str] | None": [
        5,
        [5],
        [True],
        pl.col("q"),
        RUN,
        ["nope"],
        "nope",
        pd.NA,
        False,
    ],
    "int": [*NO_WHOLE, None],
    "int | None": NO_WHOLE,
    "Ranks": [*NO_WHOLE, None, [0], [1, 1.5]],
    "Ranks | None": [*NO_WHOLE, [0], [1, 1.5]],
    "int | Sequence[int]": [*NO_WHOLE, None, [0], [1, 1.5]],
    "int | str | Sequence[int | str] | None": [
        *NO_WHOLE,
        [0],
        [1, 1.5],
        "0%",
        "101%",
        "10",
        [1, "10%"],
        ["10%", "10.0%"],
    ],
    "float": [*NO_NUMBERS, None],
    "float | Sequence[float] | Column | Any": [
        True,
        float("nan"),
        [],
        ["x"],
        [None],
        [1, 1],
        "nope",
        RUN,
        int,
    ],
    "float | None": [one for one in NO_NUMBERS if not (isinstance(one, float) and one != one)],
    "float | Sequence[float] | None": [one for one in NO_NUMBERS if one is not SCORES],
    "int | Sequence[float] | None": [
        "x",
        True,
        0,
        -1,
        1.5,
        10**400,
        pd.NA,
        RUN,
        pl.col("s"),
        [],
        ["x"],
        int,
    ],
    "bool": NO_FLAGS,
    "bool | str | Sequence[str]": [5, [5], [True], pl.col("q"), RUN, ["nope"], "nope", pd.NA],
    "str | int": ["x", "1..5GB", 0, -1, 5, True, 1.5, 10**400, None, pl.col("s"), RUN],
    "str | Path | None": [5, True, ["x"], pl.col("s"), RUN, "\0"],
    "Path | Sequence[Path]": (
        paths := [5, True, None, ["x"], [], {"x"}, pl.col("s"), RUN, "\0", "", "none", "none*"]
    ),
    "Path | Sequence[Path] | Mapping[str, Path]": [
        *paths,
        {},
        {"a": "none"},
        {"a": 5},
        {"a": ["b"]},
    ],
    "Literal['min', 'positives', 'hits']": NO_WORDS,
    "Literal[11, 101] | None": [*NO_WORDS, 10, 11.5],
    "Literal['groups', 'rows'] | None": NO_WORDS,
    "Literal['t', 'permutation', 'delong']": [*NO_WORDS, "wilcoxon", "bootstrap"],
    "Literal['holm', 'bh'] | None": [*NO_WORDS, "bonferroni"],
    "Ties": NO_WORDS,
    "Literal['raise', 'unretrieved', 'drop']": NO_WORDS,
    "Literal['raise', 'miss', 'drop']": NO_WORDS,
    "Literal['raise', 'drop']": NO_WORDS,
    "str | Mapping[Any, str]": [
        5,
        True,
        None,
        [5],
        {},
        {"x": 5},
        {"x": "nope"},
        RUN,
        pl.col("lab"),
        "nope",
        pd.NA,
    ],
    "Sequence[str] | Mapping[Any, str] | None": [
        5,
        True,
        [5],
        {},
        {"x": 5},
        {"x": "nope", "y": "s"},
        RUN,
        ["nope"],
    ],
    "Sequence[Any] | None": [{"x": 1}, RUN, [], ["x"], ["x", "x"], [None], pl.col("lab"), 5],
    "Literal['raise', 'negative', 'drop', 'trec_eval']": NO_WORDS,
    "Literal['exact', 'snake']": NO_WORDS,
    "Literal['intervals', 'differences', 'slopes'] | None": NO_WORDS,
    "bool | Mapping[str, Direction] | None": [
        5,
        "x",
        ["roc_auc"],
        {"a": 5},
        {"x": "largest"},
        RUN,
        pl.col("s"),
        pd.NA,
    ],
    "float | str | Sequence[float | str] | None": [
        "x",
        True,
        [],
        ["x"],
        [None],
        RUN,
        pl.col("s"),
        int,
        pd.NA,
    ],
    "int | str | None": NO_WHOLE,
    "int | str": [*NO_WHOLE, None],
    "Mapping[Any, str] | None": [5, "x", True, ["red"], {"a": 5}, RUN, pd.NA, float("nan")],
    "Literal['recall', 'precision', 'lift']": NO_WORDS,
    "Mapping[Any, Any] | None": [
        5,
        "x",
        True,
        ["red"],
        {"a": "no colour"},
        {"a": 5},
        RUN,
        pd.NA,
        float("nan"),
    ],
    "int | str | Sequence[Any] | None": [
        0,
        -1,
        1.5,
        True,
        float("nan"),
        "nope",
        ["nope"],
        [None],
        pl.col("s"),
        RUN,
        pd.NA,
    ],
    "Frame": [5, "x", None, [1], RUN["s"], RUN.group_by("q"), pl.col("s"), pd.NA, float("nan")],
    "object": [OBJECT, RUN, {1}, [OBJECT], len],
}
WRONG["Method"] = WRONG["str"]
WRONG["Metrics"] = WRONG["str | Sequence[str] | Mapping[str, str]"]
for several in ("Statistic | str | Sequence[Statistic | str]",):
    WRONG[several] = WRONG["str | Sequence[str]"]
FRAMES = (
    "Frame",
    "pl.DataFrame | pl.LazyFrame | pd.DataFrame",
    "pl.LazyFrame | pl.DataFrame | Stream",
)
# What is taken, though other arguments of the kind do not take it.
TAKEN: dict[str, Callable[[Any], bool]] = {
    **{path: lambda value: isinstance(value, bytes) for path in ("path", "directory")},
    **{column: lambda value: value is None for column in ("weight", "count", "gain", "tie_break")},
    "iso_f": lambda value: value == [] if isinstance(value, list) else False,
    "best": lambda value: value is False,
    "facet": lambda value: value is None,
    # Other labels are not drawn, or as texts.
    "labels": lambda value: isinstance(value, dict),
    # matplotlib reads these as numbers.
    "alpha": lambda value: value is True,
    "linewidth": lambda value: value is True or (isinstance(value, str) and value == "0.5"),
    "markersize": lambda value: (
        value is None or value is True or (isinstance(value, str) and value == "0.5")
    ),
    "average": lambda value: value is None,
    # A threshold may lie anywhere, a rank only in a list where the function takes one.
    "threshold": lambda value: isinstance(value, int) and not isinstance(value, bool),
}


class Door(NamedTuple):
    """A public function or method, with arguments that are right."""

    name: str
    function: Callable[..., Any]
    kinds: dict[str, str]
    """The annotations of its arguments."""
    good: dict[str, Any]


def kinds_of(function: Callable[..., Any]) -> dict[str, str]:
    parameters = inspect.signature(function).parameters.values()
    found = {
        one.name: str(one.annotation).replace('"', "'")
        for one in parameters
        if one.kind.value in (0, 1, 3)
    }
    for one in parameters:
        if options := re.fullmatch(r"Unpack\[(\w+)\]", str(one.annotation)):
            annotations = inspect.unwrap(function).__globals__[options[1]].__annotations__
            found |= {name: _named(annotation) for name, annotation in annotations.items()}
    found.pop("self", None)
    return found


def _named(annotation: Any) -> str:
    return getattr(annotation, "__forward_arg__", str(annotation)).replace('"', "'")


# What draws the frame that another function gave.
GIVEN: dict[str, Any] = {
    "plot_confusion": lambda rows: fp.confusion(rows, "rel", "s", threshold=0.5),
    "plot_comparison": lambda rows: fp.compare(
        rows, "average_precision", "rel", ["s", "d"], mean_over="q"
    ),
    "plot_gains": lambda rows: fp.gains_table(rows, "rel", "s", bins=2),
}


def doors() -> Iterator[Door]:
    """All of them but those of engines, which are these functions."""
    right = {
        "truth": "rel",
        "score": "s",
        "metrics": "average_precision",
        "k": 2,
        "recall": 0.5,
        "on": ["q", "d"],
    }
    right |= {"names": "rows", "figure": "precision", "value": 0.5}
    more: dict[str, dict[str, Any]] = {
        "confusion": {"score": "s", "threshold": 0.5},
        "plot": {"truth": "rel", "score": "s"},
        "figure": {"threshold": 0.5},
        "format_table": {},
        "plot_intervals": {},
        **{name: {} for name in GIVEN},
        "partitioned": {},
        "intervals": {"truth": "rel", "score": "s"},
        "compare": {"truth": "rel", "score": ["s", "d"], "by": "q"},
        "average_curve": {"by": "q"},
        "unpivot_classes": {"truth": "lab", "scores": {"x": "s", "y": "d"}},
        "confusion_matrix": {"truth": "lab", "prediction": "guess"},
        "explode_lists": {"truth": "items", "ranked": "shown", "by": ["q", "d"]},
    }
    for name in fp.__all__:
        function = getattr(fp, name)
        if not inspect.isfunction(function) or not inspect.signature(function).parameters:
            continue
        kinds = kinds_of(function)
        required = [
            one.name
            for one in inspect.signature(function).parameters.values()
            if one.default is one.empty
        ]
        good = {one: right[one] for one in required if one in right} | more.get(name, {})
        if name.startswith("read_"):
            good["path"] = _file(name)
        yield Door(name, function, kinds, good)
    for name, method in inspect.getmembers(fp.ExprPR, inspect.isfunction):
        if name.startswith("_"):
            continue
        kinds = {one: kind for one, kind in kinds_of(method).items() if one != "others"}
        required = [
            one.name
            for one in inspect.signature(method).parameters.values()
            if one.default is one.empty
        ]
        yield Door(
            f"expression {name}",
            method,
            kinds,
            {one: right[one] for one in required if one in right} | more.get(name, {}),
        )


def _file(reader: str) -> str:
    path = Path(FOLDER.name, reader)
    path.write_text(
        "q1 Q0 d1 1 2 a\n" if reader == "read_trec_run" else "q1 0 d1 1\n", encoding="utf-8"
    )
    return str(path)


def wrong_values(argument: str, kind: str) -> list[Any]:
    """Values that the argument does not take."""
    kind = "Frame" if kind in FRAMES else kind
    values = [*WRONG.get(kind, []), *([] if kind == "object" else NOTHING)]
    taken = TAKEN.get(argument)
    return [value for value in values if taken is None or not taken(value)]


def made(kind: str, data: pl.DataFrame = RUN) -> Any:
    """The frame of a call, of a kind."""
    return data if kind == "polars" else data.lazy() if kind == "lazy" else data.to_pandas()


def call(door: Door, wrong: dict[str, Any], kind: str) -> Any:
    """Call it with these wrong arguments, to the end."""
    given = door.good | wrong
    cuts = [
        name
        for name in ("threshold", "k", "recall", "prediction")
        if name in wrong and door.kinds.get(name, "").endswith("None")
    ]
    if cuts and door.name in ("confusion", "expression figure") and "threshold" not in wrong:
        given.pop("threshold", None)
    if "prediction" in wrong and door.name == "confusion":
        given.pop("score", None)
    if "mean_over" in wrong or "facet" in wrong or "average" in wrong:
        given.setdefault("by", "q")
    if "tie_break_descending" in wrong and door.name not in ("tally", "with_curve"):
        given.setdefault("tie_break", "lab")
    if door.name.startswith("expression"):
        return RUN.select(door.function(fp.ExprPR(pl.col("s")), **given))
    frame = next((name for name, own in door.kinds.items() if own in FRAMES), None)
    if frame is not None:
        data = WIDE if door.name in RESHAPED else RUN
        value = given.pop(frame, None) if frame in wrong else made(kind, data)
        if door.name == "plot_intervals":
            value = (
                value
                if frame in wrong
                else fp.intervals(made(kind), "average_precision", "rel", "s", by="q")
            )
        if door.name in GIVEN and frame not in wrong:
            value = GIVEN[door.name](made(kind))
        if door.name == "partitioned":
            parts = door.function(value if frame in wrong else RUN, **{"progress": False} | given)
            return parts.average_precision("rel", "s", by="q")
        if "judgments" in door.kinds:
            given.setdefault(
                "judgments",
                RUN.select("q", "d", relevance="rel")
                if kind == "polars"
                else made(kind)[["q", "d"]]
                if kind == "pandas"
                else RUN.select("q", "d").lazy(),
            )
        result = door.function(value, **given)
    else:
        result = door.function(**given)
    return result.collect() if isinstance(result, pl.LazyFrame) else result


def fault(door: Door, wrong: dict[str, Any], kind: str = "polars") -> str | None:
    """What is wrong with how a wrong call ends."""
    start = time.process_time()  # of this process alone, whatever else the machine does
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call(door, wrong, kind)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        found = _fault_of(error, wrong, expression=door.name.startswith("expression"))
    else:
        found = f"no error, but a {type(result).__name__}"
    took = time.process_time() - start
    found = found or (f"took {took:.1f} s" if took > 1 else None)
    values = {name: repr(value)[:60] for name, value in wrong.items()}
    return found and f"{door.name} of {kind}, {values}: {found}"


def _fault_of(error: BaseException, wrong: dict[str, Any], *, expression: bool) -> str | None:
    # Below an empty line, polars prints the expression.
    text = str(error).partition("\n\nThis error occurred")[0]
    shown = f"{type(error).__name__}: {text[:200]!r}"
    if expression and isinstance(error, pl.exceptions.PolarsError):
        # What the caller's own expression cannot compute, and what it names, polars finds before
        # us.
        return None if "truth" in wrong else shown
    if not isinstance(error, (TypeError, ValueError, OSError)) or isinstance(error, UnicodeError):
        return shown
    if len(text) > 400:
        return f"{len(text)} characters, {shown}"
    where = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    in_polars = "\n\nThis error occurred" in str(error)  # where our function was called by polars
    if not (where[-1].startswith(OURS) or in_polars):
        return f"raised in {where[-1]}, {shown}"
    named = any(re.search(rf"\b{name.removesuffix('s')}s?\b", text) for name in wrong)
    if not named and not isinstance(error, OSError):
        return f"names none of the arguments, {shown}"
    return None


def generated(number: int, seed: int) -> Iterator[str]:
    """The faults of so many random wrong calls."""
    chance, public = random.Random(seed), list(doors())
    for _ in range(number):
        door = chance.choice(public)
        names = chance.sample(
            sorted(door.kinds), k=min(len(door.kinds), chance.choice([1, 1, 1, 2, 3]))
        )
        wrong = {name: chance.choice(wrong_values(name, door.kinds[name])) for name in names}
        found = fault(door, wrong, chance.choice(["polars", "polars", "lazy", "pandas"]))
        if found:
            yield found


if __name__ == "__main__":
    import matplotlib as mpl

    mpl.use("agg")
    faults = list(generated(int(sys.argv[1]), int(sys.argv[2])))
    print(*faults, f"{len(faults)} of {sys.argv[1]}", sep="\n")
