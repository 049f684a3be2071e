"""The caller's columns -> validated, canonical rows, and the frame that a call returns; for `ranking` and above."""
