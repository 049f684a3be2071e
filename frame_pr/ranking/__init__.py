"""Canonical rows in -> blocks of equal scores out, by the one sort; for the rooms from `metrics` up."""
