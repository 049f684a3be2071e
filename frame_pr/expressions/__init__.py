"""Turn an expression of scores into an expression of a metric, inside the caller's own query."""
