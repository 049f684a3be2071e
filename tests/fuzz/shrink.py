"""A failing call, made smaller as long as it fails."""

from collections.abc import Iterator
from dataclasses import replace

from fuzz.answers import Difference, differences
from fuzz.calls import Call
from fuzz.cases import fits


def alike(one: Difference, other: Difference) -> bool:
    return one.kind == other.kind and (one.error is None or str(one.error)[:30] == str(other.error)[:30])


def shrunk(call: Call, found: Difference) -> tuple[Call, Difference]:
    """The smallest call that fails in the same way, as far as leaving out one thing after the other leads there."""
    smaller = True
    while smaller:
        smaller = False
        for candidate in candidates(call):
            try:
                if not fits(candidate):
                    continue
                still = next((one for one in differences(candidate) if alike(one, found)), None)
            except Exception:  # no call, any more
                continue
            if still is not None:
                call, found, smaller = candidate, still, True
                break
    return call, found


def candidates(call: Call) -> Iterator[Call]:
    if call.engine != "polars":
        yield replace(call, engine="polars")
    if len(call.names) > 1:
        for name in call.names:
            yield replace(call, names=[name])
        for i in range(len(call.names)):
            yield replace(call, names=call.names[:i] + call.names[i + 1 :])
    height = call.frame.height
    for size in sorted({max(1, height // 2), max(1, height // 4), 1}, reverse=True):
        for start in range(0, height, size):
            kept = [i for i in range(height) if not start <= i < start + size]
            if kept:  # a frame without rows is a case of its own
                yield replace(call, frame=call.frame[kept])
    for name in call.options:
        yield replace(call, options={key: value for key, value in call.options.items() if key != name})
    for key in call.keys:
        yield replace(call, options=call.options | {"by": [one for one in call.keys if one != key]})
    if not isinstance(call.score, str):
        for system in call.systems:
            yield replace(call, score=system)
            yield replace(call, score=[one for one in call.systems if one != system])
    used = {"y", *call.keys, *call.systems, *(value for value in call.options.values() if isinstance(value, str))}
    if unused := [name for name in call.frame.columns if name not in used]:
        yield replace(call, frame=call.frame.drop(unused))
