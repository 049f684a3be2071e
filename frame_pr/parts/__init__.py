"""A frame too large for one place in -> the functions on each of its parts, put together; for the doors."""
