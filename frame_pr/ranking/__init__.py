"""Turn canonical rows into blocks of equal scores, by the only sort.

For the layers from `metrics` up.
"""
