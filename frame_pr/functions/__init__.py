"""The public functions from a frame of scored rows to a frame of metrics."""
