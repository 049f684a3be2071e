"""Names and blocks in -> figures out, a family of metrics a file; for the rooms from `functions` up."""
