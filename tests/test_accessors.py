import copy
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from names import CALLS, call
from polars.testing import assert_frame_equal

import frame_pr as fp
from frame_pr import accessors

FUNCTIONS = sorted({function for function, _ in CALLS})
METHODS = [name for names in accessors.METHODS.values() for name in names]
DRAWN_OR_COMPUTED = [
    name
    for name in fp.__all__
    if inspect.isfunction(getattr(fp, name))
    and next(iter(inspect.signature(getattr(fp, name)).parameters), None) in {"frame", "run"}
]
DATA = pl.DataFrame(
    {
        "model": ["m", "m", "n"] * 20,
        "q": [i % 7 for i in range(60)],
        "relevant": [i % 3 == 0 for i in range(60)],
        "predicted": [i % 4 == 0 for i in range(60)],
        "score": [i * 37 % 23 / 4 for i in range(60)],
    }
)


def test_public_names_are_there_once():
    assert len(fp.__all__) == len(set(fp.__all__))
    assert all(hasattr(fp, name) for name in fp.__all__)


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (DATA, "polars DataFrame"),
        (DATA.lazy(), "polars LazyFrame"),
        (DATA.to_pandas(), "pandas DataFrame"),
    ],
)
def test_what_a_notebook_shows_for_pr(frame, kind):
    text, page = repr(frame.pr), frame.pr._repr_html_()
    assert text.startswith(f".pr of a {kind}; help(")
    assert "\n  Intervals, tests  intervals, compare, average_curve\n" in text
    assert f"<code>.pr</code> of a {kind};" in page
    assert '<code title="Compute metrics by name, ' in page
    for shown in (text, page):
        assert len(shown.splitlines()) <= 12
    assert max(map(len, text.splitlines())) <= 80
    for name in METHODS:
        assert re.search(rf"[ ,]{name}(,|$)", text, re.MULTILINE), name
        assert page.count(f">{name}</code>") == 1


def test_every_function_of_a_frame_is_a_method():
    # `partitioned` gives the methods, and is none.
    assert set(METHODS) == {name for name in DRAWN_OR_COMPUTED if name != "partitioned"}
    for name in METHODS:
        assert getattr(fp.PR, name) is getattr(fp, name)


def test_help_begins_with_a_map():
    text = pydoc.render_doc(fp, renderer=pydoc.plaintext)
    first = text.partition("PACKAGE CONTENTS")[0]
    assert len(first.splitlines()) < 40
    for name in fp.__all__:
        if inspect.isfunction(getattr(fp, name)):
            assert re.search(rf"\b{name}\b", first), name


def test_plots_of_results_are_methods_of_the_result():
    intervals = DATA.pr.intervals("roc_auc", "relevant", "score", by="model")
    assert len(intervals.pr.plot_intervals().lines) == len(fp.plot_intervals(intervals).lines)
    matrix = DATA.to_pandas().pr.confusion("relevant", "score", threshold=2)
    assert [text.get_text() for text in matrix.pr.plot_confusion().texts] == [
        text.get_text() for text in fp.plot_confusion(matrix).texts
    ]
    curve = DATA.lazy().pr.curve("relevant", "score")
    assert len(curve.pr.plot().lines) == len(fp.plot(curve).lines)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_frame_comes_first_and_options_are_named(function):
    parameters = inspect.signature(getattr(fp, function)).parameters
    required = [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    leading = ["frame", "metrics"] if list(parameters)[1] == "metrics" else ["frame"]
    assert required[: len(leading) + 2] == [*leading, "truth", "score"]
    assert parameters["by"].kind is parameters["by"].KEYWORD_ONLY
    assert "Examples" in inspect.getdoc(getattr(fp, function))


def test_the_accessor_keeps_no_state():
    frame = DATA.to_pandas()
    before = frame.pr.evaluate("positives", "relevant", "score")["positives"].item()
    frame.loc[0, "relevant"] = not frame.loc[0, "relevant"]
    after = frame.pr.evaluate("positives", "relevant", "score")["positives"].item()
    assert after == before - 1


def test_an_attribute_that_is_not_there():
    for frame in (DATA, DATA.lazy(), DATA.to_pandas()):
        with pytest.raises(AttributeError, match="average_precison"):
            frame.pr.average_precison  # noqa: B018


# lazy in, lazy out
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [{"mean_over": "q"}, {"mean_over": ["q", "model"]}, {"score": ["score", "q2"]}],
    ids=str,
)
@pytest.mark.parametrize("function", ["evaluate", "report"])
def test_collect_schema_of_means_and_systems(function, given):
    metrics = (
        {"metrics": ["average_precision", "rows", "threshold@max_f1"]}
        if function == "evaluate"
        else {}
    )
    data = DATA.with_columns(q2=pl.col("q") * 2)
    result = call(data.lazy(), function, by=["model", "q"], **metrics, **given)
    for engine in ("in-memory", "streaming"):
        assert result.collect_schema() == result.collect(engine=engine).schema
    assert (
        result.collect_schema()
        == call(data, function, by=["model", "q"], **metrics, **given).schema
    )


def test_a_result_goes_on_in_a_lazy_query():
    result = (
        DATA.lazy()
        .filter(pl.col("q") < 5)
        .pr.evaluate(["average_precision", "rows"], "relevant", "score", by=["model", "q"])
        .filter(pl.col("average_precision") > 0.3)
        .group_by("model")
        .agg(pl.col("rows").sum())
        .sort("model")
    )
    eager = DATA.filter(pl.col("q") < 5).pr.evaluate(
        ["average_precision", "rows"], "relevant", "score", by=["model", "q"]
    )
    expected = (
        eager.filter(pl.col("average_precision") > 0.3)
        .group_by("model")
        .agg(pl.col("rows").sum())
        .sort("model")
    )
    assert_frame_equal(result.collect(), expected)


# import
# ------------------------------------------------------------------------------------------------


def run(code: str, *options: str) -> None:
    root = Path(fp.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, *options, "-c", code], cwd=root, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr


def test_importing_the_package_imports_no_optional_library_no_engine_and_nothing_that_draws():
    optional = {
        "pandas",
        "pyarrow",
        "numpy",
        "matplotlib",
        "altair",
        "sklearn",
        "pyspark",
        "dask",
        "distributed",
    }
    optional |= {"duckdb", "great_tables", "IPython"}
    optional |= {f"frame_pr.plotting.{name}" for name in ("draw", "curve_plots", "score_plots")}
    run(f"import sys, frame_pr; assert not {optional} & set(sys.modules)", "-W", "error")
    frame = "polars.DataFrame({'t': [1, 0], 's': [2, 1]})"
    call = f"frame_pr.evaluate({frame}, 'average_precision', 't', 's')"
    run(f"import sys, polars, frame_pr; {call}; assert 'pandas' not in sys.modules", "-W", "error")


OPTIONAL = ["pandas", "pyarrow", "matplotlib"]


@pytest.mark.parametrize("absent", [OPTIONAL])
def test_the_package_works_where_a_library_is_absent(absent):
    # None in sys.modules makes an import fail as if the library were not installed. Warnings are no
    # errors here: pandas 2.2 warns of itself where pyarrow is absent.
    run(
        f"""
import sys
for name in {absent!r}:
    sys.modules[name] = None
import polars as pl
import frame_pr
frame = pl.DataFrame({{"q": ["a", "a"], "relevant": [1, 0], "score": [0.5, 0.25]}})
assert frame.pr.average_precision("relevant", "score", by="q").rows() == [("a", 1.0)]
assert frame.lazy().pr.report("relevant", "score").collect().height > 1
"""
    )


# Each script runs in a process of its own, with warnings as errors. CHECK uses `.pr` of a pandas
# frame.
CHECK = """
import pandas as pd
frame = pd.DataFrame({"relevant": [1, 0], "score": [2, 1]})
assert frame.pr.average_precision("relevant", "score")["average_precision"].tolist() == [1.0]
assert "pr" in dir(frame)
"""
ORDERS = {
    "frame_pr first": f"import frame_pr\n{CHECK}",
    "pandas first": f"import pandas\nimport frame_pr\n{CHECK}",
    "frame_pr is reloaded": f"""
import importlib, frame_pr
importlib.reload(frame_pr)
{CHECK}
importlib.reload(frame_pr)
{CHECK}
""",
    "many threads import pandas": f"""
import threading, frame_pr
faults = []
def check():
    try:
        exec({CHECK!r}, {{}})
    except BaseException as error:
        faults.append(error)
threads = [threading.Thread(target=check) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not faults, faults
""",
    # On Python 3.13, extensions of pandas cannot be imported again if the import fails before
    # pandas.io.api.
    "an import of pandas fails first": f"""
import sys, frame_pr
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas.io.api":
            raise ImportError("broken")
broken = Broken()
sys.meta_path.insert(0, broken)
try:
    import pandas
except ImportError:
    sys.meta_path.remove(broken)
{CHECK}
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_pandas_frames_have_the_accessor_in_every_order_of_imports(order):
    run(ORDERS[order], "-W", "error")


# calls and copies
# ------------------------------------------------------------------------------------------------

PAIR = pl.DataFrame({"truth": [1, 0], "score": [0.2, 0.1]})


def test_public_functions_are_pickled_and_keep_their_signatures():
    for name in fp.__all__:
        function = getattr(fp, name)
        if inspect.isfunction(function):
            assert pickle.loads(pickle.dumps(function)) is function


def test_signatures_list_every_option_with_its_default():
    def options(function):
        return {
            name: parameter.default
            for name, parameter in inspect.signature(function).parameters.items()
        }

    assert options(fp.compare)["ties"] == options(DATA.pr.compare)["ties"] == "threshold"
    assert options(DATA.pr.evaluate)["unscored"] == "raise"
    assert options(DATA.pr.evaluate).keys() > fp.Options.__optional_keys__
    assert all(one is not inspect.Parameter.empty for one in list(options(fp.ndcg).values())[3:])
    # What a function refuses in every call is not listed.
    assert not {"weight", "gain", "prevalence"} & options(fp.precision_at_k).keys()
    assert "gain" in options(fp.ndcg)
    assert not {"ties", "tie_break", "total_rows"} & options(fp.tally).keys()


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda accessor: pickle.loads(pickle.dumps(accessor))]
)
@pytest.mark.parametrize(
    "frame", [PAIR, PAIR.lazy(), PAIR.to_pandas()], ids=["polars", "lazy", "pandas"]
)
def test_accessors_and_their_methods_are_copied_and_pickled(again, frame):
    for accessor in (frame.pr, fp.PR(frame)):
        for method in (again(accessor).average_precision, again(accessor.average_precision)):
            result = method("truth", "score")
            assert (result.collect() if isinstance(result, pl.LazyFrame) else result).shape == (
                1,
                1,
            )


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda accessor: pickle.loads(pickle.dumps(accessor))]
)
def test_frames_in_parts_are_copied_and_pickled(again):
    parts = again(fp.partitioned(PAIR, partitions=2, progress=False))
    assert parts.average_precision("truth", "score").item() == 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: PAIR.pr.evaluate("nope", "truth", "score"),
        lambda: PAIR.pr.evaluate("rows", "truth", "score", pos_label=1),
        lambda: PAIR.pr.evaluate("rows", "nope", "score"),
        lambda: PAIR.pr.nope,
    ],
)
def test_errors_are_plain_and_pickled(call):
    with pytest.raises((ValueError, TypeError, AttributeError)) as raised:
        call()
    assert vars(raised.value) == {}
    error = pickle.loads(pickle.dumps(raised.value))
    assert type(error) is type(raised.value)
    assert str(error) == str(raised.value)


@pytest.mark.slow
def test_a_second_import_replaces_the_accessors_without_a_warning():
    code = (
        "import sys, pandas, polars as pl, frame_pr\n"
        "for name in [name for name in sys.modules if name.partition('.')[0] == 'frame_pr']:\n"
        "    del sys.modules[name]\n"
        "import frame_pr\n"
        "assert pl.DataFrame.pr is frame_pr.PR and pandas.DataFrame.pr is frame_pr.PR\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
