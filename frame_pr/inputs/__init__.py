"""The caller's columns in -> checked, canonical rows out, and the way back; for the rooms from `ranking` up."""
