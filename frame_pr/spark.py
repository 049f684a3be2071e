"""Metrics on Spark: importing this module gives Spark DataFrames, Classic and Connect, a `.pr`.

From then on, the functions of `frame_pr`, which can be imported from here too, take a Spark DataFrame and give one,
lazy if there is a `by`: a shuffle by group, then the plain functions on each partition.
"""

from frame_pr.accessors import register_frames
from frame_pr.parts import *  # noqa: F403  so that they can be imported from here
from frame_pr.parts.spark_frame import SparkFrame

register_frames(SparkFrame)
