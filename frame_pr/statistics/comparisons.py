"""Compare systems or groups by significance tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple, TypeAlias, Unpack

import polars as pl

from frame_pr.frames.arguments import check_choice, check_flag, check_float, public_of_frames
from frame_pr.frames.columns import by_name, listed, refuse_clash, refuse_several
from frame_pr.frames.dispatch import find_kind, kind_of, read_stream
from frame_pr.frames.kinds import Frame, on_frame
from frame_pr.frames.messages import examples, shown, warn
from frame_pr.inputs.options import Column, Columns, EvaluationOptions
from frame_pr.statistics.bootstrap import Draws, draws_of
from frame_pr.statistics.bootstrap_intervals import compare_drawn_units, compare_draws
from frame_pr.statistics.bounds import (
    UNIT_HINT,
    array_of,
    columns_of,
    scipy_special,
    warn_without_bounds,
)
from frame_pr.statistics.intervals import validate_confidence
from frame_pr.statistics.paired_tests import (
    compare_by_delong,
    compare_rows,
    compare_units,
    flip_units,
)
from frame_pr.statistics.pairs import (
    DETAILS,
    NUMBERS,
    RESULTS,
    Call,
    Comparison,
    Hypothesis,
    Pairs,
    adjusted,
    baseline_place,
    pairs_of,
)
from frame_pr.statistics.sampled_rows import (
    Method,
    Sample,
    SampledRows,
    samples,
)
from frame_pr.statistics.units import Evaluation, UnitValues, give_sorted
from frame_pr.statistics.unpaired_tests import compare_values, warn_of_groups

Test: TypeAlias = Literal["t", "permutation", "delong"]
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
_ALTERNATIVES: Mapping[Alternative, int] = {"two-sided": 0, "greater": 1, "less": -1}
"""The sign of the differences that a small p-value speaks for."""
_MANY_GROUPS = 30
_FEW_ROWS = 30
"""If `by` makes so many groups, and most have fewer rows, the groups are probably the sample."""
_TWO_SCORES = (
    "score: compare takes two scores or more; give the columns of the systems as a list, or name "
    "the column that tells the systems apart, between=..."
)
_NO_SYSTEMS = (
    "between: a frame of metrics has a column that tells the systems apart; name it, between=..."
)
_NOT_PAIRED = (
    "paired=True: nothing tells which rows belong together; give the systems as several columns of "
    "score=, or name what they share, such as queries, in mean_over= or cluster="
)


class CompareOptions(EvaluationOptions, total=False):
    """More arguments of `compare`."""

    cluster: Column | None
    sampled: Literal["groups", "rows"] | None
    correction: Literal["holm", "bh"] | None
    resamples: int | None
    repeats: int | None
    seed: int | None
    details: bool
    progress: bool


@public_of_frames(options=CompareOptions)
def compare(
    frame: Frame,
    metrics: str | Sequence[str] | Mapping[str, str],
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    between: Column | None = None,
    baseline: object = None,
    paired: bool | None = None,
    method: Method | None = None,
    test: Test = "t",
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    confidence: float = 0.95,
    **options: Unpack[CompareOptions],
) -> Frame:
    """Compare systems, or groups, by significance tests, one row per metric and pair.

    Systems are several scores of the same rows, `score=["bm25", "dense"]`, the groups of a column,
    `between="model"`, or a dict of frames. The sample is the rows; with `mean_over` the groups that
    are averaged, such as queries; with `cluster` what was drawn together, such as users. Formulas:
    the page of the docs on statistical methods.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame, or a dict of them
        Scored rows, or a dict of them by system; or, without `truth` and `score`, a frame of
        metrics, one row per system and unit.
    metrics : str or list of str, or dict of new name and metric
        Names of metrics; of a frame of metrics, its columns.
    truth, score, positive, undefined : optional
        As in `evaluate`. Several scores are the systems.
    by : str, polars expression or selector, or several; optional
        Columns whose values form groups, each with its own tests.
    mean_over : str or list of str, or True; optional
        Columns whose groups are averaged. They are the sample, unless `sampled="rows"`. True: all
        columns of `by`.
    between : str or polars expression, optional
        The column whose groups are compared. Of a frame of metrics, the default is `"system"`.
    baseline : optional
        The system, or the group of `between`, to compare all others with; with `between` also
        "previous". Default: all pairs.
    paired : bool, optional
        Default: True if two systems share more than half of the groups or clusters.
    test : "t", "permutation" or "delong"
        Student's t-test, the default; random sign flips; or the normal test of DeLong, DeLong and
        Clarke-Pearson (1988), for ROC AUC of independent rows.
    alternative : "two-sided", "greater" or "less"
        What a small p speaks for. Default "two-sided".
    margin : float
        With "greater", whether the difference is above `-margin`; with "less", below `margin`.
        Default 0.
    correction : "holm", "bh" or None
        How `p_adjusted` accounts for all tests of the call. Default "holm".
    resamples : int, optional
        Number of sign flips, at most 1,000,000. Default 10,000.
    cluster, confidence, method, sampled, repeats, seed, progress : optional
        As in `intervals`. `seed` is also that of the sign flips.
    details : bool
        Whether to add columns, see below. Default False.
    **options
        Ties, weights and missing values: see `frame_pr.Options`.

    Returns
    -------
    Frame of the same kind
        The keys of `by`, then `metric, baseline, system, difference` (system minus baseline),
        `low, high, p_value`. Where the call may have several tests, `p_adjusted` replaces
        `p_value`, and columns that the call already tells are left out: `baseline`, if two systems
        are compared or `baseline=` names one (with `by` also for "previous"), and `system`, if two
        systems are compared for each key of `by`. With `details`, all columns, both p-values, then
        `method` (in words), `value_baseline, value_system, standard_error, effect_size, n_baseline,
        n_system, undefined, wins, equal, losses, level`. Counts are Int64, numbers Float64.

    Raises
    ------
    ValueError, TypeError
        There is one system only, or none named as `baseline`; the test does not fit the sample;
        or as in `evaluate`.
    ImportError
        scipy is not installed.

    Warns
    -----
    DataWarning
        A difference has no bounds, units are left out, groups of `by` look like the sample, a mean
        near 0 or 1 may lack rare values, or prevalences differ.

    See Also
    --------
    intervals, evaluate, plot_comparison

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> labels = {"query": [1, 1, 2, 2, 3, 3], "truth": [1, 0, 1, 0, 1, 0]}
    >>> run = pl.DataFrame(labels | {"old": [2, 1, 1, 2, 1, 2], "new": [2, 1, 2, 1, 1, 2]})
    >>> call = {"truth": "truth", "score": ["old", "new"], "mean_over": "query"}
    >>> fp.compare(run, {"MAP": "average_precision"}, **call)
    shape: (1, 7)
    ┌────────┬──────────┬────────┬────────────┬───────────┬──────────┬─────────┐
    │ metric ┆ baseline ┆ system ┆ difference ┆ low       ┆ high     ┆ p_value │
    │ ---    ┆ ---      ┆ ---    ┆ ---        ┆ ---       ┆ ---      ┆ ---     │
    │ str    ┆ str      ┆ str    ┆ f64        ┆ f64       ┆ f64      ┆ f64     │
    ╞════════╪══════════╪════════╪════════════╪═══════════╪══════════╪═════════╡
    │ MAP    ┆ old      ┆ new    ┆ 0.166667   ┆ -0.550442 ┆ 0.883775 ┆ 0.42265 │
    └────────┴──────────┴────────┴────────────┴───────────┴──────────┴─────────┘
    >>> compared = fp.compare(run, "average_precision", **call, details=True)
    >>> compared.select("method", "wins", "equal", "losses").row(0)
    ('paired t over 3 groups of query', 1, 2, 0)
    """
    scipy_special()
    check_choice("test", test, tuple(_TESTS))
    correction = options.get("correction", "holm")
    call = Call(
        what=Evaluation(
            metrics,
            truth,
            score,
            by,
            mean_over,
            cluster=options.get("cluster"),
            sampled=options.get("sampled"),
            options=options,
            between=between,
        ),
        baseline=baseline,
        paired=paired if paired is None else check_flag("paired", paired),
        method=method,
        test=test,
        hypothesis=_validated_hypothesis(confidence, alternative, margin),
        correction=check_choice("correction", correction, ("holm", "bh", None)),
        details=check_flag("details", options.get("details", False)),
        draws=_validated_draws(options, method, test),
    )
    rows: Any = frame
    if isinstance(rows, (list, tuple)):
        raise TypeError(
            "frame: several frames are a dict of names and frames, such as {'old': a, 'new': b}; "
            f"got a {type(rows).__name__}"
        )
    if isinstance(rows, Mapping):
        call = _call_of_frames(call, rows)
        rows = _stacked_frames(rows)
    result: Frame = on_frame(rows, lambda frame: _compared(frame, call))
    return result


class _Test(NamedTuple):
    """A significance test of pairs."""

    text: str
    of_units: Callable[[Comparison], pl.DataFrame] | None = None
    """The test of the same units, such as queries; None: there is none."""
    of_rows: Callable[[Comparison], pl.DataFrame] | None = None
    """The test of the same rows, or clusters of rows."""
    unpaired: Callable[[Comparison], pl.DataFrame] | None = None
    """The test of different units or rows."""
    of_roc_auc: bool = False
    """Whether it is for ROC AUC of independent rows only."""


_BOOTSTRAP = _Test("draws again", compare_drawn_units, compare_draws, compare_draws)
_TESTS: Mapping[str, _Test] = {
    "t": _Test("tests any difference", compare_units, compare_rows, compare_values),
    "permutation": _Test(
        "flips the signs of differences of paired groups, such as queries", flip_units
    ),
    "delong": _Test(
        "compares roc_auc of several scores of independent rows",
        of_rows=compare_by_delong,
        of_roc_auc=True,
    ),
}


def _validated_hypothesis(confidence: Any, alternative: Any, margin: Any) -> Hypothesis:
    """Validate what is tested."""
    sign = _ALTERNATIVES[check_choice("alternative", alternative, tuple(_ALTERNATIVES))]
    distance = check_float("margin", margin)
    if not -float("inf") < distance < float("inf"):
        raise ValueError(f"margin must be finite; got {shown(margin)}")
    if distance and not sign:
        raise ValueError(
            "margin= is about one side: give alternative='greater' or alternative='less', or "
            "compare both bounds with the margin"
        )
    return Hypothesis(validate_confidence(confidence), sign, distance)


def _validated_draws(options: CompareOptions, method: Method | None, test: str) -> Draws:
    """Validate how signs are flipped, or rows are drawn again."""
    check_choice("method", method, ("closed", "bootstrap", None))
    closed = "method='closed'" if method == "closed" else ""
    if test != "t":
        closed = f"test={test!r}"
        if method == "bootstrap":
            raise ValueError(f"method='bootstrap' has a test of its own: leave out {closed}")
    if test == "permutation":
        return draws_of(options, repeats=closed, seed="", resamples="")
    return draws_of(options, repeats=closed, seed=closed, resamples=f"test={test!r}")


def _compared(frame: Any, call: Call) -> Any:
    """Compare in the way that the arguments and the sample choose."""
    frame = read_stream(frame)  # A stream can be read once.
    what = _with_systems(frame, call.what)
    call = call._replace(what=what)
    # Without clusters each row of several scores is its own cluster, so that its two values meet.
    each_row = what.between is None and what.cluster is None
    tables: list[pl.DataFrame] = []
    for sample, is_drawn in samples(frame, what, call.method, each_row=each_row):
        if what.between is None and not sample.output.systems:
            raise ValueError(_TWO_SCORES)
        _refuse_infinite(sample)
        comparison = Comparison(sample, _pairs(sample, call), call)
        is_paired = _is_paired(comparison)
        test = _test_of(comparison, is_drawn=is_drawn, is_paired=is_paired)
        part = _described(test(comparison), sample, is_paired=is_paired)
        if not (tables or what.averages):
            _warn_of_many_groups(part, comparison.pairs)
        tables.append(part.with_columns(m=sample.place))
    table = pl.concat(tables, how="diagonal_relaxed")
    _warn_without_bounds(table, "" if what.averages else UNIT_HINT)
    return _result(table, comparison)


def _described(table: pl.DataFrame, sample: Sample, *, is_paired: bool) -> pl.DataFrame:
    """Return the table with the columns of `DETAILS` that tell both values, n and the method."""
    numbers = pl.col("units")
    if not is_paired:
        numbers = pl.format("{} and {}", "base units", "units")
    return table.with_columns(
        value_baseline="base value",
        value_system="value",
        n_baseline="base units",
        n_system="units",
        method=pl.format("{} over {} {}", "name", numbers, pl.lit(sample.noun)),
    )


def _test_of(
    comparison: Comparison, *, is_drawn: bool, is_paired: bool
) -> Callable[[Comparison], pl.DataFrame]:
    """Return the test that fits the sample; raise if the one that the caller names does not."""
    call = comparison.call
    sample = comparison.sample
    test = _BOOTSTRAP if is_drawn and call.test == "t" else _TESTS[call.test]
    function = test.unpaired
    if is_paired:
        function = test.of_units if isinstance(sample, UnitValues) else test.of_rows
    is_roc_auc = {*call.what.named.values()} == {"roc_auc"} and not is_drawn
    is_of_rows = not (sample.clustered or call.what.averages)
    if function is None or (test.of_roc_auc and not (is_roc_auc and is_of_rows)):
        raise ValueError(f"test={call.test!r} {test.text}: use test='t'")
    if not is_paired and isinstance(sample, SampledRows) and not call.what.averages:
        warn_of_groups(comparison)
    return function


# pairs
# ------------------------------------------------------------------------------------------------


def _is_paired(comparison: Comparison) -> bool:
    """Return whether the same units, or clusters of rows, are compared; warn if only some are."""
    call = comparison.call
    if call.what.between is None:
        if call.paired is False:
            raise ValueError(
                "paired=False: several scores of one frame are of the same rows; leave it out"
            )
        return True
    shared = _shared(comparison)
    if shared is None and call.paired:
        raise ValueError(_NOT_PAIRED)
    if shared is None or call.paired is False:
        return False
    is_most = pl.col("shared") * 2 > pl.min_horizontal("of_a", "of_b")
    is_paired = call.paired or shared.filter(~is_most).is_empty()
    if isinstance(comparison.sample, UnitValues):
        _warn_of_shared(shared, comparison, is_paired=is_paired)
    return is_paired


def _shared(comparison: Comparison) -> pl.DataFrame | None:
    """Return how many units or clusters both systems of a pair have, `shared`, and each has.

    These are `of_a` and `of_b`. None if nothing tells units apart.
    """
    sample = comparison.sample
    pairs = comparison.pairs
    columns = sample.unit_columns
    table = sample.table
    if isinstance(sample, SampledRows) and sample.clustered:
        columns = ["cluster"]
        table = sample.clusters()
    if not columns:
        return None
    *keys, _ = pairs.on
    number = pl.struct(*keys, *columns).rank("dense")
    members = pairs.with_places(table).with_columns(unit=number)
    units = members.group_by("place").agg(pl.col("unit").unique())
    both = pairs.table.select("a", "b").unique()
    for side in "ab":
        both = both.join(units.rename({"unit": f"of_{side}"}), left_on=side, right_on="place")
    return both.select(
        "a",
        "b",
        pl.col("of_a", "of_b").list.len(),
        shared=pl.col("of_a").list.set_intersection("of_b").list.len(),
    )


def _warn_of_shared(shared: pl.DataFrame, comparison: Comparison, *, is_paired: bool) -> None:
    """Warn of units that a paired test leaves out, or that an unpaired one takes as independent."""
    count = pl.col("shared")
    is_partly = count < pl.max_horizontal("of_a", "of_b") if is_paired else count > 0
    partly = shared.filter(is_partly).sort("shared", "a", "b")
    if partly.is_empty():
        return
    a, b, of_a, of_b, both = partly.row(0)
    names = comparison.pairs.names
    noun = comparison.sample.noun
    pair = f"{shown(names[a])} and {shown(names[b])} share"
    if not both:
        raise ValueError(
            f"paired=True: {pair} none of their {noun}; paired=False compares different ones"
        )
    text = (
        "and this test takes them as independent; paired=True compares only those that they share"
    )
    if is_paired:
        left_out = of_a + of_b - 2 * both
        text = f"and the paired test leaves out {left_out}; paired=False compares all"
    warn(f"compare: {pair} {both} of their {of_a} and {of_b} {noun}, {text}")


def _with_systems(frame: Any, what: Evaluation) -> Evaluation:
    """Return the evaluation with the column that tells the systems apart; validate that column."""
    if what.between is None:
        if what.truth is not None:
            return what
        if "system" not in kind_of(frame).columns:
            raise ValueError(_NO_SYSTEMS)
        return what._replace(between="system")
    refuse_several("between", what.between)
    if not isinstance(what.between, pl.Expr):
        kind_of(frame).refuse_missing([what.between], "between")
    return what


def _refuse_infinite(sample: Sample) -> None:
    """Refuse values of units that have no difference."""
    if not isinstance(sample, UnitValues):
        return
    infinite = sample.table.filter(pl.col("value").is_infinite())
    if infinite.height:
        name, value = infinite.select(sample.what.label, "value").row(0)
        raise ValueError(
            f"metrics: {name} is {value} in a group, and a difference needs finite values"
        )


def _warn_of_many_groups(table: pl.DataFrame, pairs: Pairs) -> None:
    """Warn if `by` makes many small groups, which probably are the sample."""
    groups = table.select(pairs.on).filter(m=0).n_unique()
    n: Any = table["n_system"].median()
    if groups >= _MANY_GROUPS and n < _FEW_ROWS:
        warn(
            f"by: {groups} groups, most of them with fewer than {_FEW_ROWS} rows, have a test "
            "each; if the groups are the sample, as queries are, name them in mean_over= instead"
        )


def _pairs(sample: Sample, call: Call) -> Pairs:
    """Return the pairs of systems, or of groups with equal keys."""
    what = call.what
    group = sample.keys[what.group]
    present = sample.table[group].unique().sort()
    has_names = what.between is None or bool(call.frames)
    names = present
    if has_names:
        names = pl.Series(group, call.frames or sample.output.systems, dtype=present.dtype)
    title = f"groups of column {shown(what.group)}"
    if has_names or what.group == "system":
        title = "systems"
    baseline = None
    if call.baseline is not None and len(names):
        baseline = baseline_place(names, call.baseline, title, ordered=not has_names)

    on = [column for column in sample.key_columns if column != group]
    pairs = Pairs(names, on, sample.table)
    pairs = pairs._replace(table=pairs_of(pairs.with_places(sample.table), on, baseline))
    _validate_pairs(pairs, sample.table, present, title)
    return pairs


def _validate_pairs(pairs: Pairs, table: pl.DataFrame, present: pl.Series, title: str) -> None:
    """Raise if there is nothing to compare; warn if some keys have no pair."""
    on = pairs.on
    if len(table) and pairs.table.is_empty():
        within = " within the keys of by" if len(on) > 1 else ""
        raise ValueError(
            f"compare takes two {title} or more{within}, and there is {examples(present)} only"
        )
    keys = table.select(on).unique().filter(m=0)
    alone = keys.join(pairs.table, on=on, how="anti", nulls_equal=True).height
    if alone:
        warn(
            f"between: {alone} of {keys.height} keys of by have no two groups to compare, and no "
            "row in the result"
        )


# the result
# ------------------------------------------------------------------------------------------------


def _warn_without_bounds(table: pl.DataFrame, hint: str) -> None:
    """Warn if differences have no bounds, and say why."""
    df = [name for name in ("base df", "df") if name in table.columns]
    numbers = table.select(
        low="low",
        value="difference",
        units=pl.min_horizontal("n_baseline", "n_system"),
        # The oldest polars does not skip NaN here.
        df=pl.min_horizontal(pl.col(df).fill_nan(None)),
    )
    warn_without_bounds(
        numbers,
        other="the differences have no spread",
        hint=hint,
    )


def _result(table: pl.DataFrame, comparison: Comparison) -> Any:
    """Return what `compare` returns."""
    call = comparison.call
    what = call.what
    output = comparison.sample.output
    of_scores = what.between is None
    keys = {key: column for key, column in comparison.sample.keys.items() if key != what.group}
    if not of_scores and output.systems:
        # The key of several scores is `score`, because `system` is the compared group.
        refuse_clash(keys, ["score"])
        keys["score"] = keys.pop("system")
    names = comparison.pairs.names
    is_one_pair = len(names) == 2 and (of_scores or bool(call.frames))
    is_one_test = is_one_pair and not keys and len(what.named) == 1
    columns = [*RESULTS, "p_value"]
    if call.correction is not None and not is_one_test:
        p = adjusted(array_of(table, "p_value"), call.correction)
        table = table.with_columns(columns_of(p_adjusted=p))
        columns.append("p_adjusted")
    if call.details:
        columns += DETAILS
    elif not is_one_test:
        columns = _columns_shown(columns, call, is_one_pair=is_one_pair, has_keys=bool(keys))
    schema = pl.DataFrame(schema={**NUMBERS, **DETAILS})
    table = pl.concat([schema, table], how="diagonal_relaxed").with_columns(
        metric=what.label,
        baseline=pl.lit(names).gather("a"),
        system=pl.lit(names).gather("b"),
        level=call.hypothesis.confidence,
    )
    # The compared groups are values of the caller's column, as other keys are.
    sources: dict[str, str] = {}
    if not (of_scores or isinstance(what.between, pl.Expr)):
        sources = dict.fromkeys(("baseline", "system"), what.group)
    return give_sorted(table, keys, output, ["m", "a", "b"], columns, **sources)


def _columns_shown(
    columns: Sequence[str], call: Call, *, is_one_pair: bool, has_keys: bool
) -> list[str]:
    """Return the columns without those that the call fixes, so that 80 characters hold them."""
    # With keys there is no place for the group before, either.
    is_previous = isinstance(call.baseline, str) and call.baseline == "previous"
    is_fixed = call.baseline is not None and (has_keys or not is_previous)
    is_hidden = {
        "baseline": is_one_pair or is_fixed,
        "system": is_one_pair and has_keys,
        "p_value": "p_adjusted" in columns,
    }
    return [name for name in columns if not is_hidden.get(name)]


# frames of a dict
# ------------------------------------------------------------------------------------------------


def _call_of_frames(call: Call, frames: Mapping[Any, Any]) -> Call:
    """Return the call that compares the frames of a dict, whose names are in a column `system`."""
    if call.what.between is not None:
        raise ValueError(
            "between= compares groups of one frame, and a dict of frames is compared by its names"
        )
    score = call.what.score
    if score is not None and len(listed("score", score)) > 1:
        raise ValueError("score: a dict of frames is compared by its names; give one score")
    return call._replace(what=call.what._replace(between="system"), frames=tuple(frames))


def _stacked_frames(frames: Mapping[Any, Any]) -> Any:
    """Return the rows of several frames as one frame, with their names in a column `system`."""
    # A LazyFrame is not collected for the names of its columns.
    columns = {name: (find_kind(frame) or kind_of(frame)).columns for name, frame in frames.items()}
    for name, names in columns.items():
        if "system" in names:
            raise ValueError(
                f"frame {shown(name)} has a column 'system' already: rename it before the call"
            )
    kinds = {type(frame) for frame in frames.values()}
    if len(kinds) == 1 < len(frames) and {type(name) for name in frames} == {str}:
        # A column that only some frames have is a missing column, and not a column with nulls.
        first, *others = columns.values()
        shared = [name for name in first if all(name in names for names in others)]
        if kinds <= {pl.DataFrame, pl.LazyFrame}:
            parts = [
                frame.select(map(by_name, shared), system=pl.lit(name))
                for name, frame in frames.items()
            ]
            with suppress(pl.exceptions.SchemaError):
                rows = pl.concat(parts, how="vertical_relaxed")
                rows.lazy().collect_schema()
                return rows
        elif hasattr(kinds.pop(), "assign"):
            import pandas as pd

            return pd.concat(
                [frame[shared].assign(system=name) for name, frame in frames.items()],
                ignore_index=True,
            )
    raise TypeError(
        "frame: a dict has names and two polars or pandas frames or more, of one kind with equal "
        "dtypes"
    )
