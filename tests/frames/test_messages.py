"""What warnings and errors say."""

import polars as pl
import pytest

import frame_pr as fp

RUN = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6]})


@pytest.mark.parametrize(
    "call",
    [
        lambda: fp.confusion(RUN, "truth", "score", threshold=50),
        lambda: RUN.pr.confusion("truth", "score", threshold=50),
        pytest.param(
            lambda: RUN.lazy().pr.confusion("truth", "score", threshold=50).collect(),
            marks=pytest.mark.skipif(
                pl.__version__.startswith("1.44"),
                reason="polars 1.44 runs a plan on a thread without the caller's line",
            ),
        ),
    ],
    ids=["function", "method", "lazy"],
)
def test_a_warning_names_the_line_of_the_caller(call):
    with pytest.warns(fp.DataWarning, match="threshold: 50 is far from all scores") as caught:
        call()
    assert [warning.filename for warning in caught] == [__file__]
