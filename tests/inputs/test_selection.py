import polars as pl
import polars.selectors as cs
import pytest
from names import GOOD

# seen in the schema, so at once, on a LazyFrame too ----------------------------------------------------------------


def test_expressions_that_do_not_fit():
    for frame in (GOOD, GOOD.lazy()):
        with pytest.raises(ValueError, match=r"score: no column 'points' in the frame; columns: ") as error:
            frame.pr.average_precision("relevant", pl.col("points") * 2)
        assert "\n" not in str(error.value)  # no plan of polars
        with pytest.raises(ValueError, match="truth gives 5 columns: it must be one"):
            frame.pr.average_precision(pl.all(), "score")
        with pytest.raises(ValueError, match="by gives column 'query' twice"):
            frame.pr.average_precision("relevant", "score", by=[pl.col("query"), cs.string()])
        with pytest.raises(ValueError, match=r"by names no column|selects no column|gives no column"):
            frame.pr.average_precision("relevant", "score", by=cs.by_dtype(pl.Duration))
        with pytest.raises(ValueError, match=r"score names no column|selects no column|gives no column"):
            frame.pr.average_precision("relevant", cs.by_dtype(pl.Duration))
