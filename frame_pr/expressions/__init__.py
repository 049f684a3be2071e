"""Turn an expression of scores into an expression of a metric of a group, inside the caller's own query."""
