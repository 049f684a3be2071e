"""Lists, class columns, run files and judgments in -> a frame of rows out; for callers, through the doors."""
