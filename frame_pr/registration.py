"""Register `.pr` on frames of polars and pandas, and of backends."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any

import polars as pl

from frame_pr.accessors import PR
from frame_pr.expressions.namespace import ExprPR
from frame_pr.frames.dispatch import Backend, register_backend


def register_frames(backend: type[Backend[Any]]) -> None:
    """Register the frames of a backend with the functions, and `.pr` on them."""
    register_backend(backend)
    backend.frame_type.pr = property(PR)


def register() -> None:
    """Register `.pr` on polars frames, and on pandas frames as soon as pandas is imported."""
    for frame, decorator, namespace in (
        (pl.DataFrame, pl.api.register_dataframe_namespace, PR),
        (pl.LazyFrame, pl.api.register_lazyframe_namespace, PR),
        (pl.Expr, pl.api.register_expr_namespace, ExprPR),
    ):
        _remove_accessor(frame)
        decorator("pr")(namespace)
    # The hook of an earlier import of frame_pr goes. Before the look at pandas: a thread may begin
    # to import it now.
    hooks = [finder for finder in sys.meta_path if type(finder).__name__ != PandasHook.__name__]
    sys.meta_path[:] = [PandasHook(), *hooks]
    register_pandas()


class PandasHook(MetaPathFinder):
    """Register `.pr` on pandas frames while pandas imports its last submodules.

    The hook finds no module itself.

    Sorted imports put frame_pr before pandas, and pandas has no entry points for accessors.
    Importing pandas here would take ten times as long as the rest, for users of polars too.
    """

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Register, and leave the search to the other finders."""
        if name.startswith("pandas."):
            register_pandas()


def register_pandas() -> None:
    """Register `.pr` on pandas frames if pandas is imported so far."""
    pandas: Any = sys.modules.get("pandas")
    extensions: Any = getattr(getattr(pandas, "api", None), "extensions", None)
    is_ready = hasattr(extensions, "register_dataframe_accessor") and hasattr(pandas, "DataFrame")
    if is_ready and getattr(pandas.DataFrame, "pr", None) is not PR:
        _remove_accessor(pandas.DataFrame)
        extensions.register_dataframe_accessor("pr")(PR)


def _remove_accessor(frame: Any) -> None:
    """Remove the `.pr` of an earlier import: polars and pandas warn if one is replaced."""
    if getattr(getattr(frame, "pr", None), "__module__", "").startswith("frame_pr."):
        del frame.pr
