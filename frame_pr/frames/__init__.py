"""Read every kind of frame as a LazyFrame, and return results as that kind. All other folders may use this one."""
