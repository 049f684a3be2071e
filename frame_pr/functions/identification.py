"""Identify the definition behind a reported value: compute the common definitions on one frame, nearest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from struct import pack, unpack
from typing import Any, NamedTuple, Unpack

import polars as pl

from frame_pr.frames.arguments import public, real
from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame, backend_class
from frame_pr.frames.messages import shown
from frame_pr.functions.curves import curve
from frame_pr.functions.evaluation import evaluate_request
from frame_pr.inputs.policies import REFUSED, TIES, Column, Columns, Policies
from frame_pr.inputs.request import Request, request_of
from frame_pr.inputs.validate import selected
from frame_pr.metrics.means import Means
from frame_pr.metrics.rates import RATES

_RANKS = (5, 10, 20, 100, 1000)
_SHARES, _AT_SHARES = ("1%", "10%", "20%"), ("lift", "recall")
_AREAS = (
    "average_precision",
    *(f"interpolated_average_precision{points}" for points in ("", "_11", "_101", "_101/coco")),
)
_CUT = tuple(f"average_precision@{k}{divisor}" for k in _RANKS for divisor in ("", "/positives"))
_HITS = tuple(f"average_precision@{k}/hits" for k in _RANKS)
_NDCG = ("ndcg", *(f"ndcg@{k}" for k in _RANKS))
_OTHERS = (*(f"{rate}@{k}" for rate in ("precision", "recall", "success") for k in _RANKS), "reciprocal_rank")
_OTHERS += (*(f"reciprocal_rank@{k}" for k in _RANKS), "r_precision", "bpref", *_NDCG, "first_rank", "mean_rank")
_OTHERS += (*(f"recall@{k}/min" for k in _RANKS), *(f"{rate}@{share}" for rate in _AT_SHARES for share in _SHARES))
_BEST = ("max_f1", *(f"max_{name}" for name in RATES if RATES[name].best_by is not None), "equal_error_rate")
_WEIGHTED = ("roc_auc", "average_precision")
_GAINS = (*_NDCG, *(f"captured_gain@{cutoff}" for cutoff in (*_RANKS, *_SHARES)))
_LEVELS = ("average_precision", "reciprocal_rank", "r_precision", "precision@10", "bpref")
_TOOLS = {
    "average_precision": "scikit-learn's average_precision_score, trec_eval's map",
    "interpolated_average_precision": "VOC 2010",
    "interpolated_average_precision_11": "VOC 2007",
    "interpolated_average_precision_101": "COCO, with exact recall levels",
    "interpolated_average_precision_101/coco": "COCO, with the recall levels of pycocotools",
    "/positives": "trec_eval's map_cut",
    "/hits": "torchmetrics",
    "/min": "capped recall of BEIR",
}
_TIE_BREAK = "equal scores by tie_break=, as trec_eval has them"
_TRAPEZOIDS = {
    "from 1": "from a precision of 1 at a recall of 0: scikit-learn's auc(recall, precision)",
    "from the first": "from the first precision at a recall of 0: Spark's areaUnderPR",
}
_REFUSED = "no call, as the line between two points of the curve is no precision"
_WEIGHTINGS = {
    "weighted": "weighted by their positives",
    "by_rows": "weighted by their rows (GAUC)",
    "by_pairs": "weighted by their pairs",
}
_NEAR = 0.05  # Within this distance of the value, count the definitions that round to it.
_LAST = 1e-9
_LONG = 12
"""The length of a text for a number; a float32 has fewer digits."""


class _Reduction(NamedTuple):
    """A way to reduce the metrics of groups to one number."""

    words: str
    by: bool
    undefined: float | None
    statistic: str = "mean"
    names: Sequence[str] = ()
    """The only metrics that people average like this; none named: all."""


@public(REFUSED["identify"])
def identify(
    frame: Frame,
    value: float | str,
    truth: Column,
    score: Column,
    *,
    by: Columns | None = None,
    positive: object = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Identify which definition gives a reported value: compute the common ones, nearest value first.

    The definitions are: average precision with each rule for ties and each divisor; interpolated over all, 11 and 101
    points; the trapezoidal area under the curve; ROC AUC; metrics at the cutoffs 5, 10, 20, 100 and 1000; nDCG with
    linear and exponential gain. With `by`, they are the mean over the groups, the same with undefined values as 0, and
    the value of all rows as one group. A definition matches if its value rounds to the digits of the reported one.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    value : float or str
        The reported number with all printed digits. Pass text, such as "0.7310" or "73.10%", if it ends in zeros. Of a
        float32, six digits count.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression
        Higher scores rank first, unless `ascending`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`,
        `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"`, `ties="order"`, `total_positives=`,
        `total_rows=` and `prevalence=`.

    Returns
    -------
    Frame of the same kind
        `definition` (text), `value`, `difference` (Float64), `digits` (Int64; how many of the reported decimals agree),
        `chance` (Float64), `call` (text; the call that gives the value). After the matches, a row says that no other
        definition rounds to the number. It is the first row if nothing matches. `chance` is the same in all rows: the
        share of the numbers with as many digits near this value to which some definition rounds. Near 1, a match proves
        nothing.

    Raises
    ------
    ValueError, TypeError
        `value` is no number; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    evaluate, average_precision

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> matches = fp.identify(run, 0.7083, "relevant", "score", by="query")
    >>> matches.select("definition", "value", "digits").head(2)
    shape: (2, 3)
    ┌─────────────────────────────────┬──────────┬────────┐
    │ definition                      ┆ value    ┆ digits │
    │ ---                             ┆ ---      ┆ ---    │
    │ str                             ┆ f64      ┆ i64    │
    ╞═════════════════════════════════╪══════════╪════════╡
    │ average_precision (scikit-lear… ┆ 0.708333 ┆ 4      │
    │ average_precision@5, mean over… ┆ 0.708333 ┆ 4      │
    └─────────────────────────────────┴──────────┴────────┘
    """
    if backend := backend_class(frame):
        raise TypeError(
            f"a {backend.name} has no identify: call this function on {backend.tally_in_memory} with count='count'"
        )
    reported, digits = _printed(value)
    request = request_of(truth, score, by, positive, policies)
    selection = selected(frame, request, carry=False)
    if selection.several:
        raise ValueError("score is a list: identify takes one score at a time")
    rows: Any = selection.kind.read(request.columns())
    request = _in_text(request)
    if selection.kind.height is not None:
        rows = rows.collect()
    keys = list(selection.keys.values())
    reductions = [_Reduction("", by=False, undefined=None)]
    if keys:
        reductions = [
            _Reduction("mean over the groups", by=True, undefined=None),
            _Reduction("mean over the groups, those without a value as 0", by=True, undefined=0.0),
            _Reduction("of all rows as one group", by=False, undefined=None),
            *(
                _Reduction(f"mean over the groups {weights}", True, None, statistic, _WEIGHTED)
                for statistic, weights in _WEIGHTINGS.items()
            ),
        ]
    tables = [table for reduction in reductions for table in _tables_of(rows, request, keys, reduction)]
    matches = pl.concat(tables).filter(pl.col("value").is_not_null() & pl.col("value").is_not_nan())
    return selection.kind.give(_ranked(matches, reported, digits), [])


def _in_text(request: Request) -> Request:
    """Return the request with names as text, under which a kind of frame reads them."""

    def text(item: Any) -> Any:
        return item if isinstance(item, pl.Expr) else str(item)

    columns: Any = {name: text(column) for name, column in request.single.items() if name in request.policies}
    policies = request.policies | columns
    scores, keys = [text(column) for column in request.scores], [text(column) for column in request.keys]
    return replace(request, truth=text(request.truth), scores=scores, keys=keys, policies=policies)


def _printed(value: Any) -> tuple[float, int]:
    """Return a number, and how many decimals it was printed with."""
    try:
        if isinstance(value, str):
            text = value.strip()
            number = Decimal(text.removesuffix("%")).scaleb(-2 if text.endswith("%") else 0)
        else:
            single = getattr(value, "dtype", None) == "float32" and getattr(value, "ndim", None) == 0
            exact = float(real("value", value))
            # A float32 has six significant digits; the further digits of its float64 text carry no information.
            number = Decimal(f"{exact:.6g}" if single or _was_single(exact) else repr(exact))
    except (InvalidOperation, OverflowError):
        number = Decimal("nan")
    if not number.is_finite():
        raise ValueError(f"value must be a number, or a text such as '0.7310', got {shown(value)}")
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return float(number), min(max(-exponent, 0), 15)


def _was_single(number: float) -> bool:
    """Return whether a float64 with many digits is an exact float32, as `.item()` of torch returns it."""
    return len(repr(number)) > _LONG and abs(number) < 1e38 and unpack("f", pack("f", number))[0] == number


def _tables_of(rows: Any, request: Request, keys: Sequence[str], reduction: _Reduction) -> Iterator[pl.LazyFrame]:
    """Yield tables of `definition`, `call` and `value`."""
    grouped = request if reduction.by else replace(request, keys=[])
    for variant, codes, words, metrics in _requests(grouped):
        names = [name for name in metrics if not reduction.names or name in reduction.names]
        if not names:
            continue
        means = Means(list(keys), [reduction.statistic], "mean_") if reduction.by else None
        values = evaluate_request(rows, variant, {name: name for name in names}, means, reduction.undefined).lazy()
        columns = {
            str(i): by_name(f"{reduction.statistic}_{name}" if reduction.by else name) for i, name in enumerate(names)
        }
        definitions = [", ".join(filter(None, (_with_tool(name), words, reduction.words))) for name in names]
        calls = [_call(variant, name, reduction, codes) for name in names]
        yield _table(values.select(**columns), definitions, calls)
    if not reduction.names:
        yield _trapezoids(rows, grouped, keys if reduction.by else [], reduction)


def _requests(request: Request) -> Iterator[tuple[Request, dict[str, str], str, list[str]]]:
    """Yield variants of the request, each with codes for `_call`, a description and the names of metrics."""
    options = request.policies
    without_gain: Any = {
        name: option for name, option in options.items() if name not in ("gain", "tie_break", "tie_break_descending")
    }

    def under(**more: Any) -> Request:
        return replace(request, policies=without_gain | more)

    everything = [*_AREAS, "roc_auc", *_BEST, *_CUT, *_HITS, *_OTHERS]
    yield under(), {}, "", everything
    if without_gain.get("unscored") == "unretrieved":
        yield under(unscored="drop"), {}, "of what was retrieved alone", everything
    in_order = [*_AREAS, *_CUT, *_HITS, *_OTHERS]
    names = {"all orders": ["average_precision", *_CUT], "truth": [*_AREAS], "rows": in_order}
    for ties, rule in TIES.items():
        has_no_places = rule.by_row and any(options.get(name) is not None for name in ("tie_break", "count"))
        if not rule.together and not has_no_places:
            yield under(ties=ties), {}, rule.definition, names[rule.orders]
    if options.get("tie_break") is not None:
        named = {name: option for name, option in options.items() if name.startswith("tie_break")}
        yield under(**named), {}, _TIE_BREAK, in_order
    if (gain := options.get("gain")) is not None:
        column, text = (by_name(gain), f"pl.col({gain!r})") if isinstance(gain, str) else (gain, str(gain))
        yield under(gain=gain), {}, "with the gain", list(_GAINS)
        exponential = under(gain=2 ** column.cast(pl.Float64) - 1)
        yield exponential, {"gain": f"2 ** {text}.cast(pl.Float64) - 1"}, "with 2 ** gain - 1", list(_NDCG)
        for level in range(1, 5):
            graded = replace(under(), truth=column >= level, positive=None)
            yield graded, {"truth": f"{text} >= {level}"}, f"positive from a gain of {level} on", list(_LEVELS)


def _with_tool(name: str) -> str:
    """Return the name of a metric with the tool that computes it."""
    tool = _TOOLS.get(name) or next((word for end, word in _TOOLS.items() if name.endswith(end)), "")
    return f"{name} ({tool})" if tool else name


def _call(request: Request, name: str, reduction: _Reduction, codes: dict[str, str]) -> str:
    """Write the call of `evaluate`. `codes`: the code of each argument that is an expression."""
    options: dict[str, Any] = {"positive": request.positive, **request.policies}
    if reduction.by:
        by = request.keys[0] if len(request.keys) == 1 else list(request.keys)
        options |= {"by": by, "mean_over": by, "undefined": reduction.undefined}
        options |= {} if reduction.statistic == "mean" else {"statistics": reduction.statistic}
    texts = {
        word: str(option) if isinstance(option, pl.Expr) else repr(option)
        for word, option in options.items()
        if option is not None
    }
    texts = {"truth": repr(request.truth)} | texts | codes
    truth, more = texts.pop("truth"), "".join(f", {word}={text}" for word, text in texts.items())
    return f"evaluate(frame, {name!r}, {truth}, {request.scores[0]!r}{more})"


def _trapezoids(rows: Any, request: Request, keys: Sequence[str], reduction: _Reduction) -> pl.LazyFrame:
    """Compute the trapezoidal area under the points of the curve."""
    options: Any = {
        name: entry for name, entry in request.policies.items() if not name.startswith(("gain", "tie_break"))
    }
    truth, score, by = request.truth, request.scores[0], list(request.keys) or None
    table: Any = curve(rows.lazy(), truth, score, by=by, positive=request.positive, **options)
    group: list[Any] = [by_name(key) for key in keys] or [pl.lit(0)]
    before, step, precision = pl.col("precision").shift(1).over(group), pl.col("recall_step"), pl.col("precision")
    starts = {"from 1": pl.lit(1.0), "from the first": precision}
    areas = {name: step * (precision + before.fill_null(start)) / 2 for name, start in starts.items()}
    table = table.with_columns(**areas)
    # A group without positives has no recall.
    table = table.group_by(group).agg(pl.when(step.null_count() == 0).then(pl.col(name).sum()) for name in areas)
    values = table.select(by_name(name).fill_null(pl.lit(reduction.undefined, pl.Float64)).mean() for name in areas)
    definitions = [
        ", ".join(filter(None, (f"trapezoids under the precision-recall points, {_TRAPEZOIDS[name]}", reduction.words)))
        for name in areas
    ]
    return _table(values, definitions, [_REFUSED] * len(areas))


def _table(values: pl.LazyFrame, definitions: list[str], calls: list[str]) -> pl.LazyFrame:
    """Return the values, which are one row, as a column."""
    texts = {"definition": pl.lit(pl.Series(definitions)), "call": pl.lit(pl.Series(calls))}
    floats = values.select(pl.all().cast(pl.Float64))
    return floats.unpivot(variable_name="place").select(**texts, value="value")


def _ranked(matches: pl.LazyFrame, reported: float, digits: int) -> pl.LazyFrame:
    """Sort by distance, and mark the matches. Compare a share with a number above 1 as with a percentage."""
    text = f"{reported:.{digits}f}"
    percent = pl.lit(1 < reported <= 100) & pl.col("value").is_between(0, 1)
    end_text = f" or, as a percentage, to {reported / 100:.{digits + 2}f}" if 1 < reported <= 100 else ""
    matches = matches.with_columns(percent=percent).with_columns(
        difference=pl.col("value") - pl.when("percent").then(reported / 100).otherwise(reported),
        places=digits + 2 * pl.col("percent").cast(pl.Int64),
    )
    difference, places = pl.col("difference"), pl.col("places")
    agree = (-(2 * difference.abs()).log(10) + _LAST).floor().clip(0, places).cast(pl.Int64)
    rounded = pl.when("percent").then(pl.col("value").round(digits + 2)).otherwise(pl.col("value").round(digits))
    near = rounded.filter(difference.abs() <= _NEAR).n_unique().over("percent")
    matches = matches.with_columns(digits=agree, chance=near / (2 * _NEAR * 10.0**places + 1))
    # In units of what rounding may change.
    matches = matches.with_columns(pl.col("chance").clip(upper_bound=1.0), distance=difference.abs() * 2 * 10.0**places)
    words = f"none, from here on: no other value rounds to {text}{end_text}"
    end = pl.LazyFrame({"definition": [words], "call": [""], "distance": [1 + _LAST]})
    table = pl.concat([matches, end], how="diagonal").sort("distance", maintain_order=True)
    return table.select("definition", "value", "difference", "digits", pl.col("chance").max(), "call")
