"""Frames of lists or of a column for each class in -> a frame of rows out; for callers, through the doors."""
