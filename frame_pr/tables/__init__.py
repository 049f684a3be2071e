"""Turn lists, class columns, run files and judgments into a frame of rows, for callers."""
