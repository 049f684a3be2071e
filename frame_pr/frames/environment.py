"""The libraries around this package: their installed versions, and what to do when one of them is imported."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

LIBRARIES = (
    "polars",
    "pandas",
    "pyarrow",
    "numpy",
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
        The versions of frame_pr, Python, the operating system and the optional libraries are printed, a line for each.

    Examples
    --------
    >>> import frame_pr as fp
    >>> fp.show_versions()  # doctest: +ELLIPSIS
    frame_pr    ...
    Python      ...
    """
    versions = {
        "frame_pr": installed_version("frame_pr"),
        "Python": platform.python_version(),
        "system": platform.platform(),
        **{library: installed_version(library) for library in LIBRARIES},
    }
    width = max(map(len, versions))
    for name, text in versions.items():
        print(f"{name:<{width}}  {text}")


# import hook ----------------------------------------------------------------------------------------------------------


def when_imported(library: str, register: Callable[[ModuleType], None]) -> None:
    """Call a function with a library each time its import ends, and now if it is imported already.

    The library itself is not imported. `register` may be called more than once with the same module. It raises
    AttributeError if the module lacks what it needs.
    """
    hook = _ImportHook(library, register)
    # This module may have been reloaded, and its hooks with it: the new hook replaces the old one.
    for finder in sys.meta_path[:]:
        if repr(finder) == repr(hook):
            sys.meta_path.remove(finder)
    # Before the look at sys.modules: another thread may begin to import the library in between.
    sys.meta_path.insert(0, hook)
    if sys.modules.get(library) is not None:
        # If another thread is importing the library, this waits for its end.
        with suppress(Exception):
            import_module(library)
        hook.call()


class _ImportHook(MetaPathFinder):
    """A finder that leaves the search to the other finders, and only follows the import of one library."""

    def __init__(self, library: str, register: Callable[[ModuleType], None]) -> None:
        self.library = library
        self.register = register
        self.pending = True
        """Whether to call the function at the next submodule: the library is not ready, or another finder found it."""

    def __repr__(self) -> str:
        return f"<frame_pr: what follows the import of {self.library}>"

    def call(self) -> None:
        """Call the function, now or while the library imports its next submodule, if it is not ready yet."""
        try:
            self.register(sys.modules[self.library])
            self.pending = False
        except (AttributeError, KeyError):
            self.pending = True

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the library by the other finders; nothing for all other modules."""
        if self.pending and name.startswith(f"{self.library}."):
            self.call()
        if name != self.library:
            return None
        for finder in sys.meta_path[:]:
            find = None if finder is self else getattr(finder, "find_spec", None)
            if find is not None and (spec := find(name, path, target)) is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _FollowedLoader(spec.loader, self)
                    self.pending = False
                return spec  # type: ignore[no-any-return]
        return None


class _FollowedLoader(Loader):
    """The loader of a library, which calls the hook at the end. The module gets the original loader."""

    def __init__(self, loader: Loader, hook: _ImportHook) -> None:
        self.loader = loader
        self.hook = hook

    def __getattr__(self, name: str) -> object:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as the original loader does."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module as the original loader does, then call the hook."""
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.hook.call()
