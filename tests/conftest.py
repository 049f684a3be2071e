"""Fixtures of all tests."""

import hypothesis
from engines import dask_cluster, engine, spark, spark_connect  # noqa: F401  fixtures

import frame_pr  # noqa: F401  registers .pr, which the tests use on plain frames

# The same examples in every run: a failure is a change of the code. `--hypothesis-profile=default`
# looks further.
hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=9, database=None
)
hypothesis.settings.load_profile("repeatable")
