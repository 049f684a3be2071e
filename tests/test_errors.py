"""What an error says: a call and the sentence that it ends with, by the mistake that people make."""

import polars as pl
import pytest

import frame_pr as fp

RUN = pl.DataFrame({"q": [1, 1, 2], "rel": [1, 0, 1], "s": [0.9, 0.8, 0.7], "lab": ["x", "y", "x"]})
EVALUATE = {"metrics": "rows", "truth": "rel", "score": "s"}
AP = {"truth": "rel", "score": "s"}

# A keyword of another library or a misspelling, by the function that it is given to.
KEYWORDS = {
    ("intervals", "confidance"): "did you mean confidence=?",
    ("compare", "random_state"): "did you mean seed=?",
    ("compare", "n_resamples"): "did you mean resamples=?",
    ("evaluate", "group_by"): "did you mean by=?",
    ("evaluate", "meanover"): "did you mean mean_over=?",
    ("evaluate", "amount"): "did you mean gain=?",
    ("evaluate", "pos_label"): "did you mean positive=?",
    ("evaluate", "y_true"): "did you mean truth=?",
    ("report", "top_k"): "did you mean k=?",
    ("tally", "n_bins"): "did you mean bins=?",
    ("curve", "truth_col"): "did you mean truth=?",
    ("confusion", "y_pred"): "did you mean prediction=?",
    ("confusion_matrix", "labels"): "did you mean classes=?",
    ("partitioned", "memory_limit"): "did you mean memory_budget=?",
    ("average_precision", "sample_weights"): "did you mean weight=?",
    ("average_precision", "descending"): "ascending=True ranks lower scores first",
    ("average_precision", "top_k"): "average_precision_at_k and others take k=",
    ("roc_auc", "max_fpr"): "evaluate('roc_auc@fpr=0.1', ...) gives the partial area",
    ("roc_auc", "df"): "the frame comes first, without a name",
    ("curve", "mean_over"): "evaluate(..., mean_over=...) gives means over groups",
    ("curve", "zero_division"): "what has no value stays null here: fill_null(...) fills it",
    ("confusion_matrix", "normalize"): "of_truth for 'true' and of_prediction for 'pred'",
    ("report", "sample_weight"): "report does not take weight=: a report has metrics at ranks",
    ("tally", "tie_breaker"): "tally does not take tie_break=: rows of the tally",
    ("tally", "xyzzy"): "tally takes truth, score, by, bins",
}


@pytest.mark.parametrize(("function", "word"), KEYWORDS, ids=map("-".join, KEYWORDS))
def test_unknown_keywords(function, word):
    # Before anything else is looked at: no frame is needed, nor an argument.
    with pytest.raises(TypeError) as raised:
        getattr(fp, function)(**{word: 1})
    assert str(raised.value).startswith(f"unexpected keyword argument {word!r}; ")
    assert KEYWORDS[function, word] in str(raised.value)


def test_an_argument_that_is_given_is_no_suggestion():
    with pytest.raises(TypeError, match="unexpected keyword argument 'labels'; compare takes "):
        fp.compare(RUN, "average_precision", "rel", ["s", "q"], labels=["a", "b"])
