"""Compute metrics of Dask DataFrames: importing this module gives them `.pr`.

The functions below, of `frame_pr` and of this module, then accept a Dask DataFrame and return one.
With `by`, the result is lazy: Dask shuffles the rows by group and runs the same code on each
partition. Without `by`, the call runs at once. Counts have the type Int64, because they may be
missing. All other functions raise an error: call them on ``.compute()``, or on the result of
`frame_pr.tally`. It needs ``pip install "frame_pr[dask]"``.

.. code-block:: python

   import frame_pr.dask

   per_query = run.pr.evaluate(
       ["average_precision", "precision@10"], "relevant", "score", by="query"
   )
   per_query.compute().sort_values("query")
"""

from frame_pr.parts.dask_frame import DaskFrame
from frame_pr.registration import register_frames

register_frames(DaskFrame)
