"""What is tried: of each subject, calls one after the other; and the one that failed, made small and shown."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import bootstrap_cases
import comparison_cases
import statistics_cases

import frame_pr as fp
from frame_pr.inputs import equal_rows
from frame_pr.ranking import sorting
from fuzz import answers, thresholds
from fuzz.answers import differences, groups_of
from fuzz.calls import code
from fuzz.cases import a_call
from fuzz.shrink import shrunk
from fuzz.started import started


def prepared() -> None:
    """Warnings are errors, as in the tests. Equal rows are looked for in small frames, too."""
    equal_rows._SAMPLES, sorting._WIDTHS_FROM = (4,), 8
    warnings.simplefilter("error")
    # Random calls are full of values that look like a mistake.
    warnings.simplefilter("ignore", fp.DataWarning)
    warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


class Subject(NamedTuple):
    """A kind of random calls, each made from a seed and a number alone."""

    tried: Callable[[int, range, list[str]], tuple[int, dict[int, list[Any]]]]
    """How many cases there are in the calls of these numbers, and what is wrong."""
    shown: Callable[[int, int, list[str]], str]
    """The call of a number and what is wrong with it."""
    at_once: int = 100
    """Calls of a task of a process. These have less than 10^3 cases, and take less than 20 s."""


def tried(seed: int, numbers: range, engines: list[str]) -> tuple[int, dict[int, list[Any]]]:
    """How many cases there are in these calls, and what is wrong."""
    cases, wrong = 0, {}
    with started(engines) as answers.RUNNING:
        for number in numbers:
            call = a_call(seed, number, engines)
            cases += len(groups_of(call))
            if found := list(differences(call)):
                wrong[number] = found
    return cases, wrong


def shown(seed: int, number: int, engines: list[str]) -> str:
    """The call of a number, made as small as it fails, to be copied."""
    call, of = a_call(seed, number, engines), f"call {number} of seed {seed} on {' '.join(engines)}"
    with started(engines) as answers.RUNNING:
        found = next(differences(call), None)
        if found is None:
            return f"{code(call)}\n\nNothing is wrong: {of}"
        call, found = shrunk(call, found)
    return f"{code(call)}\n\n{found}\n\n{of}"


def subject(differences_of: Callable[[int], tuple[int, list[Any]]], at_once: int = 100) -> Subject:
    """The subject of a function of a seed alone, which compares many cases and tells what differs."""

    def tried(seed: int, numbers: range, engines: list[str]) -> tuple[int, dict[int, list[Any]]]:
        cases, wrong = 0, {}
        for number in numbers:
            try:
                done, found = differences_of(seed * 10**7 + number)
            except Exception as error:
                done, found = 0, [f"{type(error).__name__}: {str(error)[:300]}"]
            cases += done
            if found:
                wrong[number] = found
        return cases, wrong

    def shown(seed: int, number: int, engines: list[str]) -> str:
        _, wrong = tried(seed, range(number, number + 1), engines)
        text = "\n".join(map(str, wrong.get(number, ["Nothing is wrong"])[:3]))
        return f"{text}\n\n{differences_of.__module__}.{differences_of.__name__}({seed * 10**7 + number})"

    return Subject(tried, shown, at_once)


SUBJECTS: Mapping[str, Subject] = {
    "metrics": Subject(tried, shown),
    "thresholds": subject(thresholds.differences),
    "statistics": subject(statistics_cases.differences),
    "comparisons": subject(comparison_cases.differences, 20),
    "bootstrap": subject(bootstrap_cases.differences, 10),
}


def tried_of(name: str, seed: int, numbers: range, engines: list[str]) -> tuple[int, dict[int, list[Any]]]:
    """Of a subject; by its name, which another process can be told."""
    return SUBJECTS[name].tried(seed, numbers, engines)
