"""Average precision as compiled loops on two threads: a floor, without what a library has to do.

Groups come numbered 0, 1, 2, ..., nothing is checked, and there is one metric. The rows of a group are brought
together by counting, the groups are split over the threads, and each group is sorted. Equal scores are taken together.
"""

import numpy as np
from numba import njit, prange

THREADS = 2


@njit("Tuple((float64[::1], int64[::1]))(int64[::1], bool_[::1], float64[::1], int64)", parallel=True)
def _placed(group, truth, score, groups):
    """Scores by group, those of the positives first, and where each such half of a group begins."""
    rows = len(group)
    halves = 2 * groups
    place = np.zeros((THREADS, halves), np.int64)
    for thread in prange(THREADS):
        for i in range(rows * thread // THREADS, rows * (thread + 1) // THREADS):
            place[thread, 2 * group[i] + (not truth[i])] += 1
    begins = np.empty(halves + 1, np.int64)
    total = 0
    for half in range(halves):
        begins[half] = total
        for thread in range(THREADS):
            count = place[thread, half]
            place[thread, half] = total
            total += count
    begins[halves] = total
    scores = np.empty(rows, np.float64)
    for thread in prange(THREADS):
        for i in range(rows * thread // THREADS, rows * (thread + 1) // THREADS):
            half = 2 * group[i] + (not truth[i])
            scores[place[thread, half]] = score[i]
            place[thread, half] += 1
    return scores, begins


@njit("float64(float64[::1], int64)")
def _sorted_together(scores, positives):
    """All rows of a group in one sort, then one walk down the ranking."""
    order = np.argsort(-scores)
    area, tp, tp_before = 0.0, 0, 0
    for i in range(len(order)):
        tp += order[i] < positives
        if i + 1 == len(order) or scores[order[i + 1]] != scores[order[i]]:
            area += (tp - tp_before) * tp / (i + 1)
            tp_before = tp
    return area / positives if positives else np.nan


@njit("float64(float64[::1], int64)")
def _sorted_apart(scores, positives):
    """Positives and negatives each sorted as plain numbers, then merged: less to move, but for this metric only."""
    hits, misses = scores[:positives], scores[positives:]
    hits.sort()
    misses.sort()
    area, i, j = 0.0, len(hits) - 1, len(misses) - 1
    while i >= 0:
        threshold, tp_before = hits[i], len(hits) - 1 - i
        while i >= 0 and hits[i] == threshold:
            i -= 1
        while j >= 0 and misses[j] >= threshold:
            j -= 1
        tp, fp = len(hits) - 1 - i, len(misses) - 1 - j
        area += (tp - tp_before) * tp / (tp + fp)
    return area / positives if positives else np.nan


@njit("float64[::1](int64[::1], bool_[::1], float64[::1], int64, bool_)", parallel=True)
def average_precision(group, truth, score, groups, apart):
    """One value per group, in the order of their numbers; NaN without positives."""
    scores, begins = _placed(group, truth, score, groups)
    values = np.empty(groups, np.float64)
    for g in prange(groups):
        rows = scores[begins[2 * g] : begins[2 * g + 2]]
        positives = begins[2 * g + 1] - begins[2 * g]
        values[g] = _sorted_apart(rows, positives) if apart else _sorted_together(rows, positives)
    return values
