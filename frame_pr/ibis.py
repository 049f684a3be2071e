"""Metrics of rows in a database: importing this module gives Ibis tables a `.pr`.

From then on, the functions of `frame_pr`, which can be imported from here too, take a table of Ibis. The database
counts rows with equal values, or sends the columns that are used, and the metrics are computed here: the result is a
polars DataFrame. `tally` is lazy and gives a table of Ibis.
"""

from frame_pr.accessors import register_frames
from frame_pr.parts import *  # noqa: F403  so that they can be imported from here
from frame_pr.parts import __all__ as __all__
from frame_pr.parts.ibis_table import IbisFrame

register_frames(IbisFrame)
