"""`metrics`: the names of all metrics as a frame."""

from __future__ import annotations

import polars as pl

from frame_pr.frames.arguments import DEFAULTS
from frame_pr.frames.columns import root_names
from frame_pr.inputs.options import TIES
from frame_pr.inputs.weights import GAINS
from frame_pr.metrics.cutoffs import LIMITED, Rank
from frame_pr.metrics.names import FAMILIES, GRADED_BLOCKS, HEADS, is_metric, metric
from frame_pr.metrics.rates import is_rate, rate_of

_CUTOFFS = {
    "none": "",
    "K": "@10",
    "K%": "@10%",
    **{f"{rate}=": f"@{rate}=0.5" for rate in ("threshold", *LIMITED)},
}
"""How the cutoff of a name is written, with an example."""


def metrics() -> pl.DataFrame:
    """List the names of all metrics, with their meaning, cutoffs and options.

    Numbers in a name stand for any number: `f1`, `cost10` and `rbp0.8` are f-beta, a cost and a
    persistence.

    Returns
    -------
    polars DataFrame
        A row for each name: `name`, `meaning`, `cutoff` (what may follow the `@` of the name) and
        `options`.

    Examples
    --------
    >>> import frame_pr as fp
    >>> fp.metrics().filter(name="ndcg").row(0, named=True)["cutoff"]
    'none, K, K%'
    """
    rows = [_row(head) for head in HEADS]
    return pl.DataFrame(rows, schema=["name", "meaning", "cutoff", "options"], orient="row")


def _row(head: str) -> tuple[str, str, str | None, str]:
    names = {words: head + cutoff for words, cutoff in _CUTOFFS.items() if is_metric(head + cutoff)}
    cutoff_words = None if list(names) == ["none"] else ", ".join(names)
    examples = list(names.values())
    return head, _meaning(head, examples[0]), cutoff_words, ", ".join(_options(examples))


def _meaning(head: str, name: str) -> str:
    if is_rate(head):
        docstring = rate_of(head).formula.__doc__ or ""
        summary, _, _ = docstring.partition("\n")
        return summary.replace("`", "").rstrip(".")

    meanings = (family.value for family in FAMILIES if family.match(name))
    return next(meanings).replace("`", "")


def _options(names: list[str]) -> list[str]:
    """Return the options that not every metric takes."""
    records = [metric(name) for name in names]
    options = []
    if not all(isinstance(record.cutoff, Rank) or record.counts_ranks for record in records):
        options += ["weight", "prevalence"]
    rules = {rule for record in records for rule in record.aggregates}
    rules.discard(DEFAULTS["ties"])
    options += [f"ties={rule}" for rule in TIES if rule in rules]

    graded = [metric(name, GRADED_BLOCKS).aggregates["threshold"] for name in names]
    columns = root_names(
        *((aggregate.over for aggregate in of_metric.values()) for of_metric in graded)
    )
    if not set(GAINS).isdisjoint(columns):
        options.append("gain")
    return options
