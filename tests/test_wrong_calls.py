"""Every public argument with values that it does not take, and wrong calls at random: all end in our words."""

import importlib
import inspect

import polars as pl
import pytest
from wrong_calls import FRAMES, RUN, WRONG, Door, doors, fault, generated, made, wrong_values

import frame_pr as fp
from frame_pr.accessors import PR
from frame_pr.parts import disk

pytest.importorskip("matplotlib").use("agg")
ALWAYS = ("evaluate", "confusion")


FIRST: dict[tuple[str, str], str] = {}
for one in doors():
    for name, annotation in one.kinds.items():
        FIRST.setdefault((name, annotation), one.name)


def seldom(door: Door, argument: str) -> bool:
    """An argument of a name and a type is checked by the same code wherever it is one: tried in the first function."""
    return door.name not in (*ALWAYS, FIRST[argument, door.kinds[argument]])


CASES = [
    pytest.param(
        door, argument, id=f"{door.name}-{argument}", marks=[pytest.mark.slow] if seldom(door, argument) else []
    )
    for door in doors()
    for argument in door.kinds
]


@pytest.mark.parametrize(("door", "argument"), CASES)
def test_every_argument(door, argument):
    kind = door.kinds[argument]
    assert kind in WRONG or kind in FRAMES, f"tests/wrong_calls.py has no wrong values for {kind}"
    values = wrong_values(argument, kind)
    # All values with the first function, and some with the others, to see that they check the argument at all.
    values = values[len(door.name) % 6 :: 6] if seldom(door, argument) else values
    faults = [fault(door, {argument: value}) for value in values]
    assert [one for one in faults if one] == []


@pytest.mark.slow
def test_right_arguments_are_right():
    # Or the test above would find what it looks for in calls that are wrong by another argument.
    for door in doors():
        assert fault(door, {}).partition(": ")[2].startswith("no error")


def test_what_is_told():
    def silent(frame, k):
        return frame

    def raw(frame, k):
        return {}[k]

    for function, told in ((silent, "no error, but a DataFrame"), (raw, "KeyError: ")):
        door = Door(function.__name__, function, {"frame": "Frame", "k": "int"}, {})
        assert told in fault(door, {"k": "x"})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lazy", "pandas"])
def test_other_frames(kind):
    door = next(door for door in doors() if door.name == "evaluate")
    faults = [
        fault(door, {argument: value}, kind)
        for argument, own in door.kinds.items()
        if own not in FRAMES
        for value in wrong_values(argument, own)
    ]
    assert [one for one in faults if one] == []


@pytest.mark.parametrize("seed", range(3))
def test_at_random(seed):
    assert list(generated(100, seed)) == []


def test_methods_are_these_functions():
    for name, method in vars(PR).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            assert inspect.unwrap(method) is inspect.unwrap(getattr(fp, name))


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_engines_have_these_functions(engine):
    pytest.importorskip({"spark": "pyspark"}.get(engine, engine))
    module = importlib.import_module(f"frame_pr.{engine}")
    own = {name: one for name, one in vars(module).items() if name in fp.__all__ and inspect.isfunction(one)}
    assert len(own) > 10
    for name, function in own.items():
        assert inspect.unwrap(function) is inspect.unwrap(getattr(fp, name))


@pytest.mark.slow
def test_frames_in_parts(monkeypatch):
    # Nothing is left in the folders of failed calls, but for this they are looked at for 0.3 s each.
    monkeypatch.setattr(disk, "_QUIET_PAUSES", 1)
    parts = fp.partitioned(RUN, partitions=2, progress=False)
    door = next(door for door in doors() if door.name == "evaluate")
    in_parts = door._replace(function=lambda frame, *args, **given: parts.evaluate(*args, **given))
    faults = [
        fault(in_parts, {argument: value})
        for argument, own in door.kinds.items()
        if own not in FRAMES
        for value in wrong_values(argument, own)
    ]
    assert [one for one in faults if one] == []
    assert isinstance(made("polars"), pl.DataFrame)
