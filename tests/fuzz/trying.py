"""Calls tried one after the other; and the one that failed, made small and shown."""

import warnings

import frame_pr as fp
from frame_pr.ranking import blocks
from fuzz import answers
from fuzz.answers import Difference, differences, groups_of
from fuzz.calls import code
from fuzz.cases import a_call
from fuzz.shrink import shrunk
from fuzz.started import started


def prepared() -> None:
    """Warnings are errors, as in the tests; rows are counted before they are sorted in small frames, too."""
    blocks._LOOKED_AT = 4
    warnings.simplefilter("error")
    # Random calls are full of values that look like a mistake.
    warnings.simplefilter("ignore", fp.DataWarning)
    warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


def tried(seed: int, numbers: range, engines: list[str]) -> tuple[int, dict[int, list[Difference]]]:
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
