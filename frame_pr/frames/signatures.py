"""Types of the public functions: a result has the kind of the frame, for methods of `.pr`, too.

Each overload names a kind, because a type checker that knows columns would give the result of
`Frame -> Frame` those of the argument. Frames are streams of Arrow, too: the first overload wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import polars as pl

if TYPE_CHECKING:
    import pandas as pd

Function = TypeVar("Function", bound=Callable[..., Any])
P = ParamSpec("P")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)
Frame = TypeVar("Frame", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame | Partitions")
"""The caller's kind of frame. Results have the same kind."""
AnyFrame: TypeAlias = "pl.DataFrame | pl.LazyFrame | pd.DataFrame | Stream"


class Stream(Protocol):
    """A stream of Arrow, such as a DuckDB relation. Results are polars frames."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the stream as a capsule of Arrow's C interface."""


class Partitions(Protocol):
    """A Spark or Dask DataFrame."""

    def persist(self, *args: Any, **kwargs: Any) -> Any:
        """Keep the rows in memory."""


class Accessor(Generic[Frame]):
    """An object with methods that are public functions. They get its frame."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame


class FrameFunction(Protocol[P]):
    """A function of a frame, with a result of the same kind, which is a method of `.pr`, too."""

    @overload
    def __call__(
        self, frame: pl.DataFrame, /, *args: P.args, **kwargs: P.kwargs
    ) -> pl.DataFrame: ...
    @overload
    def __call__(
        self, frame: pl.LazyFrame, /, *args: P.args, **kwargs: P.kwargs
    ) -> pl.LazyFrame: ...
    @overload
    def __call__(  # pyright: ignore[reportOverlappingOverload]
        self, frame: pd.DataFrame, /, *args: P.args, **kwargs: P.kwargs
    ) -> pd.DataFrame: ...
    @overload
    def __call__(self, frame: Frame, /, *args: P.args, **kwargs: P.kwargs) -> Frame: ...
    @overload
    def __call__(self, frame: Stream, /, *args: P.args, **kwargs: P.kwargs) -> pl.DataFrame: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> FrameFunction[P]: ...
    @overload
    def __get__(self, instance: Accessor[Frame], owner: Any) -> Callable[P, Frame]: ...


class FramesFunction(Protocol[P]):
    """The same for a function that accepts a dict of frames, too."""

    @overload
    def __call__(
        self, frame: pl.DataFrame | Mapping[Any, pl.DataFrame], /, *args: P.args, **kwargs: P.kwargs
    ) -> pl.DataFrame: ...
    @overload
    def __call__(
        self, frame: pl.LazyFrame | Mapping[Any, pl.LazyFrame], /, *args: P.args, **kwargs: P.kwargs
    ) -> pl.LazyFrame: ...
    @overload
    def __call__(  # pyright: ignore[reportOverlappingOverload]
        self, frame: pd.DataFrame | Mapping[Any, pd.DataFrame], /, *args: P.args, **kwargs: P.kwargs
    ) -> pd.DataFrame: ...
    @overload
    def __call__(self, frame: Frame, /, *args: P.args, **kwargs: P.kwargs) -> Frame: ...
    @overload
    def __call__(self, frame: Stream, /, *args: P.args, **kwargs: P.kwargs) -> pl.DataFrame: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> FramesFunction[P]: ...
    @overload
    def __get__(self, instance: Accessor[Frame], owner: Any) -> Callable[P, Frame]: ...


class ResultFunction(Protocol[P, Result_co]):
    """A function of a frame that returns something else, such as a plot."""

    def __call__(self, frame: AnyFrame, /, *args: P.args, **kwargs: P.kwargs) -> Result_co:
        """Call the function."""
        ...

    @overload
    def __get__(self, instance: None, owner: Any) -> ResultFunction[P, Result_co]: ...
    @overload
    def __get__(self, instance: Accessor[Any], owner: Any) -> Callable[P, Result_co]: ...
