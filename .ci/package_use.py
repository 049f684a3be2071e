"""Use the installed package as its users do, with the optional libraries that were asked for and no others."""

import importlib.util
import sys
from importlib.metadata import version

LIBRARIES = ("pandas", "pyarrow", "matplotlib", "pyspark", "dask")
EXTRAS = {
    "": [],
    "[pandas,plot]": ["pandas", "pyarrow", "matplotlib"],
    "[dask]": ["pandas", "pyarrow", "dask"],
}
wanted = EXTRAS[sys.argv[1]]
editable = sys.argv[2:] == ["--editable"]
present = [name for name in LIBRARIES if importlib.util.find_spec(name)]
assert present == wanted, f"meant to be installed: {wanted}; found: {present}"

import polars as pl  # noqa: E402  the libraries are counted first

import frame_pr as fp  # noqa: E402

assert ("site-packages" in fp.__file__) != editable, f"not the installed copy: {fp.__file__}"
assert fp.__version__ == version("frame_pr"), fp.__version__
run = pl.DataFrame(
    {"query": ["a", "a", "b", "b"], "relevant": [0, 1, 1, 0], "score": [0.9, 0.8, 0.7, 0.6]}
)
figures = [("a", 0.5), ("b", 1.0)]
assert run.pr.average_precision("relevant", "score", by="query").rows() == figures
assert run.lazy().pr.average_precision("relevant", "score", by="query").collect().rows() == figures


def message(call, error):
    try:
        call()
    except error as raised:
        return str(raised)
    raise AssertionError(f"no {error.__name__}")


if "pandas" in wanted:
    import pandas as pd

    frame = pd.DataFrame(run.to_dict(as_series=False))
    result = frame.pr.average_precision("relevant", "score", by="query")
    assert isinstance(result, pd.DataFrame)
    assert list(result.itertuples(index=False, name=None)) == figures
else:
    said = message(lambda: fp.average_precision(run.to_dict(), "relevant", "score"), TypeError)
    assert "expected a polars DataFrame, a polars LazyFrame" in said, said
if "matplotlib" in wanted:
    axes = run.pr.plot("relevant", "score", by="query")
    axes.figure.savefig("curves.png")
else:
    said = message(lambda: run.pr.plot("relevant", "score"), ImportError)
    assert 'pip install "frame_pr[plot]"' in said, said
for engine, library in (("frame_pr.spark", "pyspark"), ("frame_pr.dask", "dask")):
    if library in wanted:
        __import__(engine)
print(
    f"frame_pr {version('frame_pr')}, polars {version('polars')}, {', '.join(wanted) or 'nothing else'}: works"
)
