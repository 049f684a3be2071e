"""Curves in -> pictures out; for the doors."""
