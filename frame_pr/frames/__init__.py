"""Every kind of frame in -> a LazyFrame and its columns, and results back as that kind; any room may use it."""

import frame_pr.frames.arrow  # noqa: F401  registers its kind
