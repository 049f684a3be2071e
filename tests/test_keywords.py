"""Keywords that a function does not have: the error names the argument of that function which is meant."""

import inspect
from typing import Any

import polars as pl
import pytest

import frame_pr as fp
from frame_pr.frames.arguments import SYNONYMS, Refusal, arguments_of, meaning, public

pytest.importorskip("matplotlib").use("agg")
FUNCTIONS = [
    function
    for function in map(vars(fp).get, fp.__all__)
    if inspect.isfunction(function) and inspect.signature(function).parameters
]
RUN = pl.DataFrame({"q": [1, 1, 2], "rel": [1, 0, 1], "s": [0.9, 0.8, 0.7], "lab": ["x", "y", "x"]})
# By function: words that are no arguments, and what they mean.
MEANT: dict[str, dict[str, str]] = {
    "intervals": {"clusters": "cluster", "confidance": "confidence", "meanover": "mean_over", "y_true": "truth"},
    "compare": {
        "base_line": "baseline",
        "seeds": "seed",
        "random_state": "seed",
        "n_resamples": "resamples",
        "tests": "test",
        "y_score": "score",
        "Baseline": "baseline",
    },
    "evaluate": {
        "statistic": "statistics",
        "meanover": "mean_over",
        "group_by": "by",
        "metric": "metrics",
        "amount": "gain",
    },
    "report": {"thresholds": "threshold", "confidance": "confidence", "top_k": "k", "pos_label": "positive"},
    "tally": {"bin": "bins", "n_bins": "bins", "sample_weight": "weight", "key": "by"},
    "average_curve": {"point": "points", "groups": "by", "zero_score": ""},
    "curve": {"figure": "figures", "metrics": "figures", "y_score": "score", "truth_col": "truth"},
    "f_beta": {"betas": "beta", "thresholds": "threshold", "score_column": "score"},
    "with_metrics": {"prefixes": "prefix", "zero_division": "undefined"},
    "plot_scores": {"thresholds": "threshold", "n_bins": "bins", "nbins": "bins"},
    "plot_comparison": {"confidance": "confidence", "base_line": "baseline", "test": ""},
    "plot_intervals": {"metrics": "metric", "axes": "ax"},
    "plot_confusion": {"axes": "ax"},
    "confusion": {"thresholds": "threshold", "y_pred": "prediction", "predictions": "prediction", "preds": "score"},
    "precision_at_k": {"top_k": "k", "cutoff": "k", "y_true": "truth"},
    "confusion_matrix": {"sample_weight": "weight", "labels": "classes", "group_by": "by", "y_pred": "prediction"},
    "unpivot_classes": {"labels": "classes", "y_true": "truth"},
    "explode_lists": {"group_by": "by", "y_true": "truth"},
    "join_judgments": {"judgements": "judgments"},
    "partitioned": {"n_partitions": "partitions", "memory_limit": "memory_budget"},
    "average_precision": {"discount": "", "sample_weights": "weight", "scores": "score"},
    "roc_auc": {"wieght": "weight", "ascendng": "ascending", "amount": "gain"},
    "plot": {"y_true": "truth", "y_score": "score"},
}
CASES = [(name, word, meant) for name, words in MEANT.items() for word, meant in words.items()]


@pytest.mark.parametrize(("name", "word", "meant"), CASES)
def test_what_a_word_means(name, word, meant):
    function = getattr(fp, name)
    hint = rf"did you mean {meant}=\?$" if meant else rf"{name} takes "
    # Before anything else is looked at: no frame is needed, nor an argument.
    with pytest.raises(TypeError, match=rf"^unexpected keyword argument '{word}'; {hint}"):
        function(**{word: 1})
    if hasattr(fp.PR, name):
        with pytest.raises(TypeError, match=rf"^unexpected keyword argument '{word}'; {hint}"):
            getattr(RUN.pr, name)(**{word: 1})


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_list_of_arguments_is_that_of_the_function(function):
    names, takes_others = arguments_of(inspect.unwrap(function))
    if takes_others or function in (fp.plot, fp.plot_curve):
        return  # what matplotlib does not know is refused by the plot
    with pytest.raises(TypeError) as error:
        function(xyzzy=1)
    text, _, listed = str(error.value).partition(f"{function.__name__} takes ")
    assert text == "unexpected keyword argument 'xyzzy'; "
    parameters = inspect.signature(function).parameters
    own = [name for name in parameters if name not in ("frame", "policies", "options")]
    assert listed.split(", ")[: len(own)] == own
    assert set(listed.split(", ")) <= {*names}
    takes_ties = (
        "policies" in parameters or function in (fp.plot_scores, fp.plot_comparison)
    ) and function.__name__ not in ("identify", "tally", "with_curve")
    assert ("ties" in listed.split(", ")) == takes_ties


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_argument_is_found_without_its_last_letter_or_with_one_more(function):
    names, takes_others = arguments_of(inspect.unwrap(function))
    long = [name for name in names if len(name) > 4]
    for name in [] if takes_others else long:
        for word in (name[:-1], name + "s", name.replace("_", "")):
            if word not in names:
                assert meaning(word, names) in (name, *(other for other in names if word in SYNONYMS.get(other, ())))


def test_synonyms_are_no_arguments_of_their_own_meaning():
    for argument, words in SYNONYMS.items():
        assert len({*words}) == len(words)
        assert argument not in words


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: fp.roc_auc(RUN, "rel", "s", max_fpr=0.1),
            r"evaluate\('roc_auc@fpr=0.1', \.\.\.\) gives the partial area",
        ),
        (lambda: fp.curve(RUN, "rel", "s", undefined=0), r"what has no value stays null here: fill_null"),
        (
            lambda: fp.k_at_recall(RUN, "rel", "s", 0.5, zero_division=0),
            r"what has no value stays null here: fill_null",
        ),
        (lambda: fp.curve(RUN, "rel", "s", mean_over="q"), r"evaluate\(\.\.\., mean_over=\.\.\.\) gives means"),
        (
            lambda: fp.confusion_matrix(RUN, "lab", "lab", normalize="true"),
            "of_truth for 'true' and of_prediction for 'pred'",
        ),
        (
            lambda: fp.report(RUN, "rel", "s", sample_weight="s"),
            "report does not take weight=: a report has metrics at",
        ),
        (lambda: fp.tally(RUN, "rel", "s", tie_breaker="s"), "tally does not take tie_break=: rows of the tally"),
        (lambda: fp.average_precision(RUN, "rel", "s", descending=True), "ascending=True ranks lower scores first"),
        (
            lambda: fp.average_precision(RUN, "rel", "s", top_k=5),
            r"'top_k'; average_precision_at_k and others take k=, and evaluate takes names .*'average_precision@10'$",
        ),
        (
            lambda: fp.roc_auc(df=RUN, truth="rel", score="s"),
            "'df'; the frame comes first, without a name, or as frame=",
        ),
        (lambda: fp.average_precision(RUN, "rel", "s", colour=1), "the plots spell it color="),
    ],
)
def test_words_that_are_answered_with_a_sentence(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()


def test_a_word_of_matplotlib_goes_to_the_lines():
    from matplotlib.figure import Figure

    lines = fp.plot(RUN, "rel", "s", linewidth=3, ax=Figure().subplots()).lines
    assert 3 in [line.get_linewidth() for line in lines]


@pytest.mark.parametrize(
    "call",
    [
        lambda: RUN.pr.average_precision("rel", "nope"),
        lambda: RUN.pr.evaluate("average_precision", "rel", "s", ties="x"),
        lambda: fp.average_precision(RUN.with_columns(s=None), "rel", "s"),
        lambda: fp.average_precision(RUN.with_columns(s=pl.Series([0.1, None, 0.2])), "rel", "s"),
        lambda: fp.plot(RUN, "rel", "s", points=3),
        lambda: RUN.to_pandas().pr.curve("rel", "s", by="nope"),
        lambda: pl.col("s").pr.metric("rel", "nope"),
    ],
)
def test_a_refusal_shows_the_public_function_and_keeps_the_rest(call, monkeypatch):
    monkeypatch.delenv("FRAME_PR_TRACEBACK", raising=False)
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    # The lambda of this test, and the public function or the method of `.pr`.
    assert len(error.traceback[1:]) == 2
    inside: Any = error.value.full_traceback
    assert inside.tb_next is not None


def test_an_error_of_another_library_keeps_its_traceback():
    @public()
    def divided() -> float:
        return float("x")

    @public([Refusal("k", "there is none")])
    def fails(k: int | None = None) -> list[int]:
        return sorted([1, k or "x"])  # type: ignore[type-var]

    for function in (divided, fails):
        with pytest.raises((TypeError, ValueError)) as error:
            function()
        assert not hasattr(error.value, "full_traceback")
        assert error.traceback[-1].name == function.__name__
    with pytest.raises(ValueError, match="k=: fails does not take it; there is none"):
        fails(k=1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fp.precision_at_k(RUN, "rel", "s", k=range(1, 3001)), "k: 3000 values are more than 1000;"),
        (lambda: fp.recall_at_k(RUN, "rel", "s", k=range(1, 10**12)), "k: 999999999999 values are more than 1000;"),
        (
            lambda: fp.confusion(RUN, "rel", "s", threshold=[i / 300 for i in range(300)]),
            "values are more than 200; curve",
        ),
        (lambda: fp.report(RUN, "rel", "s", threshold=[0.5] * 2000), "threshold: 2000 values are more than 1000;"),
    ],
)
def test_more_cutoffs_than_a_call_takes(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.slow
def test_as_many_cutoffs_as_people_use():
    assert fp.confusion(RUN, "rel", "s", threshold=[i / 100 for i in range(101)]).height == 101
    assert fp.precision_at_k(RUN, "rel", "s", k=range(1, 101)).width == 100


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: fp.precision_at_k(RUN, "rel", "s", k="5"), TypeError, "got '5': write the number without quotes, 5$"),
        (lambda: fp.precision_at_k(RUN, "rel", "s", k=5.0), TypeError, r"got 5\.0: write 5$"),
        (
            lambda: fp.precision_at_k(RUN, "rel", "s", k=None),
            TypeError,
            "k must be a whole number of at least 1, got None",
        ),
        (lambda: fp.average_precision(RUN, "rel", "s", ties=None), TypeError, "ties must be 'threshold', .*, got None"),
        (lambda: fp.average_precision(RUN, "rel", "s", ties="x"), ValueError, "ties must be 'threshold', .*, got 'x'"),
        (lambda: fp.average_precision(RUN, "rel", "s", undefined="0"), TypeError, "write the number without quotes, 0"),
        (
            lambda: fp.confusion(RUN, "rel", "s", threshold="0.5"),
            ValueError,
            "'0.5' in the frame; write the number without",
        ),
        (lambda: fp.evaluate(RUN, "recall@precision=90", "rel", "s"), ValueError, "got 90: write 0.9 for 90 percent"),
        (
            lambda: fp.evaluate(RUN, "recall@precision=0", "rel", "s"),
            ValueError,
            "got 0: all rows are at threshold=-inf",
        ),
        (lambda: fp.evaluate(RUN, "recall@fpr=5", "rel", "s"), ValueError, "got 5: write 0.05 for 5 percent"),
        (lambda: fp.k_at_recall(RUN, "rel", "s", 80), ValueError, "got 80: write 0.8 for 80 percent"),
        (
            lambda: fp.average_precision(RUN, "rel", {"a": "s"}),
            TypeError,
            "got a dict: give the names of the columns as a list",
        ),
        (
            lambda: fp.average_precision(RUN, "rel", "s", by={"a": "q"}),
            TypeError,
            "give the names of the columns as a list",
        ),
        (lambda: fp.ndcg(RUN, "rel", "s", gain={"a": "s"}), TypeError, "got a dict: give the name of the column alone"),
        (
            lambda: fp.average_precision(RUN.with_columns(rel=pl.concat_list("rel")), "rel", "s"),
            TypeError,
            r"is List\(Int64\), and a label column has one label per row: explode_lists",
        ),
        (
            lambda: fp.evaluate(RUN, "rows", "rel", "s", mean_over="q"),
            ValueError,
            "mean_over names 'q', and by= names no column: name it in by=, too",
        ),
        (
            lambda: RUN.pr.read_trec_run,
            AttributeError,
            r".pr has no 'read_trec_run': it is a function, frame_pr.read_trec_run",
        ),
        (lambda: RUN.pr.evalute, AttributeError, r"^\.pr has no 'evalute'; did you mean 'evaluate'\?$"),
        (lambda: RUN.pr.max_f1, AttributeError, r"^\.pr has no 'max_f1'; evaluate\('max_f1', \.\.\.\) computes it$"),
        (
            lambda: RUN.pr.mrr,
            AttributeError,
            r"^\.pr has no 'mrr'; as a metric of evaluate, the nearest names are reciprocal_rank",
        ),
        (lambda: RUN.pr.bootstrap, AttributeError, r"^\.pr has no 'bootstrap'; it has evaluate, with_metrics, "),
        (
            lambda: fp.partitioned(RUN, progress=False).map,
            AttributeError,
            r"\.pr of a partitioned frame has no .map., it has evaluate, report, tally and the functions of single",
        ),
    ],
)
def test_what_an_error_says_is_so(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
