"""Compute metrics of rows in a database: importing this module gives Ibis tables `.pr`.

The functions below, of `frame_pr` and of this module, then accept an Ibis table. The database counts rows with equal
values or sends the columns that the call uses, and frame_pr computes the metrics here. The result is a polars
DataFrame. `tally` runs nothing and returns an Ibis table. All other functions raise an error: call them on
``run.pr.tally(...).to_polars()`` with ``count="count"``. It needs ``pip install "frame-pr[ibis]"``.

.. code-block:: python

   import frame_pr.ibis

   run.pr.evaluate(["average_precision", "precision@10"], "relevant", "score", by="query")
"""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import ibis
import polars as pl

from frame_pr import parts
from frame_pr.accessors import register_frames
from frame_pr.parts.ibis_table import IbisFrame

Options = ParamSpec("Options")
Result = TypeVar("Result")


def _on_tables(
    function: Callable[Concatenate[Any, Options], Any], result: type[Result]
) -> Callable[Concatenate[ibis.Table, Options], Result]:
    """Tell type checkers what a function returns for an Ibis table."""
    return function


average_precision = _on_tables(parts.average_precision, pl.DataFrame)
average_precision_at_k = _on_tables(parts.average_precision_at_k, pl.DataFrame)
evaluate = _on_tables(parts.evaluate, pl.DataFrame)
f_beta = _on_tables(parts.f_beta, pl.DataFrame)
interpolated_average_precision = _on_tables(parts.interpolated_average_precision, pl.DataFrame)
k_at_recall = _on_tables(parts.k_at_recall, pl.DataFrame)
ndcg = _on_tables(parts.ndcg, pl.DataFrame)
precision_at_k = _on_tables(parts.precision_at_k, pl.DataFrame)
precision_at_recall = _on_tables(parts.precision_at_recall, pl.DataFrame)
r_precision = _on_tables(parts.r_precision, pl.DataFrame)
recall_at_k = _on_tables(parts.recall_at_k, pl.DataFrame)
reciprocal_rank = _on_tables(parts.reciprocal_rank, pl.DataFrame)
report = _on_tables(parts.report, pl.DataFrame)
roc_auc = _on_tables(parts.roc_auc, pl.DataFrame)
success_at_k = _on_tables(parts.success_at_k, pl.DataFrame)
tally = _on_tables(parts.tally, ibis.Table)

# All names of frame_pr.parts but with_metrics, which a test compares. The list is not computed from the other, because
# mypy then defines no name in `import *`, and pyright warns.
__all__ = [
    "average_precision",
    "average_precision_at_k",
    "evaluate",
    "f_beta",
    "interpolated_average_precision",
    "k_at_recall",
    "ndcg",
    "precision_at_k",
    "precision_at_recall",
    "r_precision",
    "recall_at_k",
    "reciprocal_rank",
    "report",
    "roc_auc",
    "success_at_k",
    "tally",
]

register_frames(IbisFrame)
