"""A frame and arguments in -> a frame of figures out: the public functions; for the rooms above and the doors."""
