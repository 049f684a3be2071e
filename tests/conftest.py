"""Fixtures of all tests."""

import hypothesis
import pytest
from engines import dask_cluster, engine, spark, spark_connect  # noqa: F401  fixtures
from kinds import KINDS, Kind

import frame_pr  # noqa: F401  registers .pr, which the tests use on plain frames

# The same examples in every run: a failure is a change of the code. `--hypothesis-profile=default` looks further.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=9, database=None)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def kind() -> Kind:
    """Polars: a value is tested on it alone. This fixture leaves; tests/test_frames.py tests the other kinds."""
    return KINDS[0]
