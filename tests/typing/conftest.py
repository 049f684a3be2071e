"""Files that only type checkers read."""

collect_ignore = ["mistakes.py", "user.py"]
