"""Evaluate a frame in parts: on disk, on Spark and on Dask."""
