"""Read every kind of frame as a LazyFrame, and return results as that kind. Others may use it."""
