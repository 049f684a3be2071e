"""A score expression in -> an expression of a group's figure out, in the caller's own query; for the doors."""
