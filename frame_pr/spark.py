"""Compute metrics of Spark DataFrames: importing this module gives them `.pr`.

The functions below, of `frame_pr` and of this module, then accept a Spark DataFrame, Classic or
Connect, and return one. With `by`, the result is lazy: Spark shuffles the rows by group and runs
the same code on each partition. Without `by`, the call runs at once. All other functions raise an
error: call them on ``.toPandas()``, or on the result of `frame_pr.tally`. It needs ``pip install
"frame_pr[spark]"``, on the workers too.

.. code-block:: python

   import frame_pr.spark

   per_query = run.pr.evaluate(
       ["average_precision", "precision@10"], "relevant", "score", by="query"
   )
   per_query.orderBy("query").show()
"""

from frame_pr.parts.spark_frame import SparkFrame
from frame_pr.registration import register_frames

register_frames(SparkFrame)
