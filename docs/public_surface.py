"""Write docs/public_surface.txt, the public names as they are: `python docs/public_surface.py`.

The page on stability promises them. A test compares the file with the package, so that a change of
them is deliberate.
"""

import inspect
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import polars as pl

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from names import CALL_IDS, CALLS, GOOD, call

import frame_pr as fp
from frame_pr.inputs.options import TIES
from frame_pr.metrics.means import Statistic
from frame_pr.metrics.names import HEADS, is_metric

TARGET = Path(__file__).with_suffix(".txt")
ROOT = Path(__file__).parents[1]
CUTOFFS = ("", "@10", "@threshold=0.5", "@recall=0.8")
LISTS = pl.DataFrame({"user": [1], "liked": [["a"]], "shown": [["a", "b"]]})
CLASSES = pl.DataFrame({"label": ["x", "y"], "x": [0.9, 0.2], "y": [0.1, 0.8], "guess": ["x", "x"]})
RUN, JUDGMENTS = (
    pl.DataFrame({"q": ["a"], "d": ["x"], "s": [0.5]}),
    pl.DataFrame({"q": ["a"], "d": ["x"], "rel": [1]}),
)
SYSTEMS = {"truth": "relevant", "score": ["score", "other"]}
TWO = GOOD.with_columns(other=-pl.col("score"))
# The calls that take other rows than those of tests/names.py.
OTHER_CALLS: dict[str, Callable[[], Any]] = {
    "evaluate(score=[...])": lambda: fp.evaluate(TWO, "average_precision", **SYSTEMS),
    "evaluate(mean_over=...)": lambda: call(
        GOOD, "evaluate", metrics="roc_auc", by="query", mean_over="query"
    ),
    "report(confidence=0.9)": lambda: call(
        GOOD, "report", by="query", mean_over="query", confidence=0.9
    ),
    "intervals(mean_over=...)": lambda: call(
        GOOD, "intervals", metrics="ndcg", by="query", mean_over="query"
    ),
    "compare(mean_over=...)": lambda: fp.compare(
        TWO, "average_precision", **SYSTEMS, mean_over="query"
    ),
    "average_curve": lambda: call(GOOD, "average_curve", mean_over="query", points=11),
    "confusion_matrix": lambda: fp.confusion_matrix(CLASSES, "label", "guess"),
    "unpivot_classes": lambda: fp.unpivot_classes(CLASSES, "label", ["x", "y"]),
    "explode_lists": lambda: fp.explode_lists(LISTS, "liked", "shown", by="user"),
    "join_judgments": lambda: fp.join_judgments(RUN, JUDGMENTS, on=["q", "d"]),
    "read_trec_run": lambda: read("q1 Q0 d1 1 2 a\n", fp.read_trec_run),
    "read_trec_qrels": lambda: read("q1 0 d1 1\n", fp.read_trec_qrels),
}


def read(text: str, reader: Callable[[Path], pl.DataFrame]) -> pl.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_text(text, encoding="utf-8")
        return reader(path)


def lines() -> Iterator[str]:
    yield "# The public surface: python docs/public_surface.py writes this file."
    yield from headed("Names", (f"{name}{described(getattr(fp, name))}" for name in fp.__all__))
    yield from headed("Methods of frames, each the function of that name", sorted(methods(fp.PR)))
    expressions = methods(fp.ExprPR).items()
    yield from headed(
        "Methods of expressions", (f"{name}{described(method)}" for name, method in expressions)
    )
    yield from headed("Options", sorted(fp.Options.__optional_keys__))
    yield from headed("Tie rules", TIES)
    yield from headed("More options of functions", more_options())
    yield from headed("Statistics", get_args(Statistic))
    yield from headed("Metrics, each with one of its cutoffs", metrics())
    yield from headed("Columns of results", results())
    yield from headed("Errors, as the docstrings name them", raised())


def headed(title: str, entries: Any) -> list[str]:
    return ["", f"## {title}", "", *entries]


def described(public: Any) -> str:
    """The parameters and defaults of a function, without annotations; the bases of a class."""
    if isinstance(public, dict):
        return f" = {public}"
    if inspect.isclass(public):
        return f": class of {', '.join(base.__name__ for base in public.__mro__[1:])}"
    signature = inspect.signature(public)
    parameters = [entry.replace(annotation=entry.empty) for entry in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def more_options() -> Iterator[str]:
    for name in filter(lambda name: inspect.isfunction(getattr(fp, name)), fp.__all__):
        function = getattr(fp, name)
        own = inspect.signature(inspect.unwrap(function)).parameters.keys()
        keys = inspect.signature(function).parameters.keys() - own
        if more := sorted(keys - fp.Options.__optional_keys__):
            yield f"{name}: {', '.join(more)}"


def methods(namespace: type) -> dict[str, Any]:
    return {name: method for name, method in vars(namespace).items() if not name.startswith("_")}


def metrics() -> Iterator[str]:
    names = [next(filter(is_metric, (head + cutoff for cutoff in CUTOFFS))) for head in HEADS]
    schema = call(GOOD.lazy(), "evaluate", metrics=list(dict.fromkeys(names))).collect_schema()
    yield from (f"{name}: {dtype}" for name, dtype in schema.items())


def results() -> Iterator[str]:
    with warnings.catch_warnings():
        # Few rows, and two queries, do not show how others vary.
        warnings.simplefilter("ignore", fp.DataWarning)
        found = {
            name: columns(call(GOOD, function, by="query", **arguments))
            for name, (function, arguments) in zip(CALL_IDS, CALLS, strict=True)
        }
        found |= {name: columns(result()) for name, result in OTHER_CALLS.items()}
    for name, schema in found.items():
        yield f"{name}: {schema}"


def columns(frame: pl.DataFrame) -> str:
    return ", ".join(f"{name} {dtype}" for name, dtype in frame.schema.items())


def raised() -> Iterator[str]:
    for name in fp.__all__:
        section = re.search(
            r"^Raises\n-+\n((?:.+\n?)+)", inspect.getdoc(getattr(fp, name)) or "", re.MULTILINE
        )
        if section:
            types = re.findall(r"(?m)^(?! )(.+)", section[1])
            yield f"{name}: {', '.join(types)}"


def text() -> str:
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8", newline="\n")
