"""All families of metrics."""

from __future__ import annotations

from frame_pr.metrics import (
    at_cutoffs,
    average_precision,
    best_thresholds,
    first_hits,
    gains,
    group_facts,
    judgments,
    roc,
)

FAMILIES = (
    *average_precision.FAMILIES,
    *at_cutoffs.FAMILIES,
    *best_thresholds.FAMILIES,
    *roc.FAMILIES,
    *first_hits.FAMILIES,
    *gains.FAMILIES,
    *judgments.FAMILIES,
    *group_facts.FAMILIES,
)
