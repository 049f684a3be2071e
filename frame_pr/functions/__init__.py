"""The public functions that turn a frame of scored rows into a frame of metrics; for the layers above."""
