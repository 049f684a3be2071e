"""The installed versions of the libraries around this package."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = (
    "polars",
    "pandas",
    "pyarrow",
    "numpy",
    "scipy",
    "matplotlib",
    "pyspark",
    "dask",
    "duckdb",
)
"""The libraries on which a result or an error may depend."""


def installed_version(library: str) -> str:
    """Return the version of an installed library; "not installed" if there is no metadata of it."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def show_versions() -> None:
    """Print the versions that a bug report needs.

    The libraries are not imported: their versions are read from the metadata of the installation.

    Returns
    -------
    None
        The versions of frame_pr, Python, the operating system and the optional libraries are
        printed, a line for each, and where frame_pr was imported from.

    Examples
    --------
    >>> import frame_pr as fp
    >>> fp.show_versions()  # doctest: +ELLIPSIS
    frame_pr    ...
    Python      ...
    """
    versions = {
        "frame_pr": f"{installed_version('frame_pr')} ({Path(__file__).parents[1]})",
        "Python": platform.python_version(),
        "system": platform.platform(),
        **{library: installed_version(library) for library in LIBRARIES},
    }
    width = max(map(len, versions))
    for name, text in versions.items():
        print(f"{name:<{width}}  {text}")
