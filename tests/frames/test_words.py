"""Words of other libraries lead to arguments and functions that exist."""

import inspect
import re

import pytest

import frame_pr as fp
from frame_pr.frames.words import ARGUMENTS, CALLS, METRICS, SENTENCES, keyword_hint

FUNCTIONS = {
    name: getattr(fp, name) for name in fp.__all__ if inspect.isfunction(getattr(fp, name))
}
PARAMETERS = {
    name: [*inspect.signature(function).parameters] for name, function in FUNCTIONS.items()
}


def test_arguments_exist():
    assert {*ARGUMENTS} <= {name for names in PARAMETERS.values() for name in names}


@pytest.mark.parametrize("text", [*CALLS, *SENTENCES])
def test_calls_and_their_arguments_exist(text):
    for name, arguments in re.findall(r"(?<![.\w])([a-z_]+)\(([^()]*)\)", text):
        if name not in ("col", "set", "savefig", "fill_null", "metrics"):
            assert {*re.findall(r"(?:^|, )(\w+)=", arguments)} <= {*PARAMETERS[name]}


@pytest.mark.parametrize("table", [ARGUMENTS, CALLS, METRICS, SENTENCES])
def test_words_are_in_lower_case_and_once_in_an_answer(table):
    for words in table.values():
        listed = words.split()
        assert listed == [word.lower() for word in dict.fromkeys(listed)]


@pytest.mark.parametrize(
    ("word", "names", "hint"),
    [
        ("cutoff", ["k", "threshold"], "did you mean k= or threshold=?"),
        ("cutoff", ["threshold"], "did you mean threshold=?"),
        ("y_pred", ["truth", "score"], "did you mean score=?"),
        ("tresholds", ["truth", "threshold"], "did you mean threshold=?"),
        ("n_boot", ["repeats"], "did you mean repeats=?"),
        ("label_column", ["truth"], "did you mean truth=?"),
        ("ci", ["truth"], "intervals(...) does that"),
        ("metrics", ["truth"], "evaluate and with_metrics take the names of metrics"),
        ("nothing_like_it", ["truth"], ""),
    ],
)
def test_hints_for_keywords(word, names, hint):
    assert keyword_hint(word, names) == hint
