"""Metrics on Dask: importing this module gives Dask DataFrames a `.pr`.

From then on, the functions of `frame_pr`, which can be imported from here too, take a Dask DataFrame and give one, not
computed yet where there is a `by`: a shuffle by group, then the plain functions on each partition. Counts are Int64,
which can be missing.
"""

from frame_pr.accessors import register_frames
from frame_pr.parts import *  # noqa: F403  so that they can be imported from here
from frame_pr.parts.dask_frame import DaskFrame

register_frames(DaskFrame)
