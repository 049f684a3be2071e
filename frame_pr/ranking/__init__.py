"""Turn canonical rows into blocks of equal scores, by the only sort; for the layers from `metrics` up."""
