"""Deprecate a function, an argument or the name of a metric: the old name still works, and warns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from frame_pr.frames.messages import warn

Function = TypeVar("Function", bound=Callable[..., Any])

MINOR_RELEASES = 2
"""The number of minor releases for which an old name works at least; docs/stability.md promises it."""


class Renamed(NamedTuple):
    """The name that replaces an old one."""

    new: str
    since: str
    """The first release that warns, such as "0.2"."""

    def warn(self, old: str, form: str = "{}") -> None:
        """Warn that a name is deprecated. `form` is how messages write such a name."""
        major, minor = self.since.split(".")[:2]
        # A FutureWarning, because Python hides a DeprecationWarning outside the main script.
        warn(
            f"{form.format(old)} is deprecated since frame_pr {self.since}; use {form.format(self.new)}. The old name "
            f"works until frame_pr {major}.{int(minor) + MINOR_RELEASES} at least",
            FutureWarning,
        )


def deprecated(renamed: Renamed) -> Callable[[Function], Function]:
    """Warn at each call of a public function that has a new name."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def call(*args: Any, **arguments: Any) -> Any:
            renamed.warn(function.__name__, "{}()")
            return function(*args, **arguments)

        return cast(Function, call)

    return decorate


def deprecated_arguments(**renamed: Renamed) -> Callable[[Function], Function]:
    """Accept old names of arguments and pass their values on under the new names. Apply it outside `public`."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def call(*args: Any, **arguments: Any) -> Any:
            for old, record in renamed.items():
                if old in arguments:
                    if record.new in arguments:
                        raise TypeError(f"{old}: also set as {record.new}=; remove {old}=, which is its old name")
                    record.warn(old, "{}=")
                    arguments[record.new] = arguments.pop(old)
            return function(*args, **arguments)

        return cast(Function, call)

    return decorate


def current_name(name: str, renamed: Mapping[str, Renamed]) -> str:
    """Return the new name of a metric, and warn, if the table has the name or the part before its cutoff."""
    head, at, cutoff = name.partition("@")
    for old, rest in ((name, ""), (head, at + cutoff)):
        if old in renamed:
            renamed[old].warn(old, f"the metric {{}}{rest}")
            return renamed[old].new + rest
    return name
