"""Check the arguments of public functions, and return the values to use.

`public` checks the keywords of a call, `check_whole` and the like check values. The names of
columns are checked in `columns.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache, partial, wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any, Concatenate, NamedTuple, TypeVar

import polars as pl

from frame_pr.frames.arrays import frame_advice, frame_of_arrays, is_table
from frame_pr.frames.messages import shown
from frame_pr.frames.signatures import (
    Accessor,
    Frame,
    FrameFunction,
    FramesFunction,
    Function,
    P,
    Result,
    ResultFunction,
)
from frame_pr.frames.words import arguments_meant, keyword_hint

Choice = TypeVar("Choice")

_LONGEST_NUMBER = 100  # characters
DEFAULTS: Mapping[str, Any] = {
    "ties": "threshold",
    "tie_break_descending": True,
    "tie_break_as_text": False,
    "ascending": False,
    "unscored": "raise",
    "unjudged": "raise",
}
"""Default values of options. Passing the default is the same as leaving the option out."""
_SHOWN_DEFAULTS = {
    "baseline": True,
    "correction": "holm",
    "details": False,
    "legend": True,
    "progress": True,
}
"""Defaults that signatures show, of arguments that a TypedDict lists with the options."""


class Refusal(NamedTuple):
    """An option that a function does not accept."""

    option: str
    reason: str
    """The reason and the alternative: the second half of the error message."""
    values: tuple[str, ...] = ()
    """The refused values. If empty, every value but the default is refused."""
    with_option: str | None = None
    """The argument together with which the option is refused. None: always."""

    @property
    def is_general(self) -> bool:
        """Return whether every value is refused in every call."""
        return not (self.values or self.with_option)


def refuse_options(
    caller: str,
    arguments: Mapping[str, Any],
    refusals: Iterable[Refusal],
) -> None:
    """Raise for the first option of the table that is set to a refused value."""
    for option, reason, values, with_option in refusals:
        value = arguments.get(option)
        is_listed = isinstance(value, str) and value in values
        if not _is_set(option, arguments) or (values and not is_listed):
            continue
        together = ""
        if with_option is not None:
            together = f" with {with_option}="
            if not _is_set(with_option, arguments):
                continue
        text = shown(value) if option in DEFAULTS else ""
        raise ValueError(f"{option}={text}: {caller} does not take it{together}; {reason}")


def _is_set(option: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether an option has a value other than its default."""
    value = arguments.get(option)
    return value is not None and not (
        isinstance(value, (str, bool)) and value == DEFAULTS.get(option)
    )


def public(
    refusals: Sequence[Refusal] = (), *, options: type | None = None
) -> Callable[[Callable[Concatenate[Frame, P], Frame]], FrameFunction[P]]:
    """Make a public function of a frame, which returns a frame of the same kind.

    Each call checks its arguments before it looks at anything. `refusals`: the options that the
    function refuses. `options`: the TypedDict of its further keywords.
    """
    return partial(_with_checks, refusals=refusals, options=options)


def public_of_frames(
    *, options: type
) -> Callable[[Callable[Concatenate[Frame, P], Frame]], FramesFunction[P]]:
    """Make a public function of a frame or of a dict of frames."""
    return partial(_with_checks, options=options)


def public_result(
    refusals: Sequence[Refusal] = (),
    *,
    options: type | None = None,
    others: bool = False,
) -> Callable[[Callable[Concatenate[Frame, P], Result]], ResultFunction[P, Result]]:
    """Make a public function of a frame that returns something else, such as a plot.

    `others`: whether it passes unknown keywords to another library.
    """
    return partial(_with_checks, refusals=refusals, options=options, others=others)


def public_function(function: Function) -> Function:
    """Make a public function without a frame."""
    with_checks: Function = _with_checks(function)
    return with_checks


def _with_checks(
    function: Any,
    refusals: Sequence[Refusal] = (),
    options: type | None = None,
    *,
    others: bool = False,
) -> Any:
    """Return the function, with a check of the arguments of each call."""
    own_signature = signature(function)
    parameters = own_signature.parameters.values()
    named = [each for each in parameters if each.kind is not Parameter.VAR_KEYWORD]
    optional = _option_parameters(options) if options else []
    caller = _Caller(function, [*named, *optional], refusals, others=others)

    @wraps(function)
    def call(*args: Any, **arguments: Any) -> Any:
        if args and isinstance(args[0], Accessor):  # Called as a method of `.pr`.
            args = (args[0]._frame, *args[1:])
        if args and caller.takes_frame:
            args = (frame_of_arrays(args[0]), *args[1:])
        caller.check(args, arguments)
        refuse_options(caller.name, arguments, refusals)
        return function(*args, **arguments)

    # Notebooks and `help` list the options as they list the other keywords.
    accepted = [option for option in optional if option.name not in caller.reasons]
    vars(call)["__signature__"] = own_signature.replace(parameters=[*named, *accepted])
    return call


@cache
def _option_parameters(options: type) -> list[Parameter]:
    """Return the keys of a TypedDict as parameters, with their defaults."""
    return [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=DEFAULTS.get(name, _SHOWN_DEFAULTS.get(name)),
            annotation=getattr(annotation, "__forward_arg__", annotation),
        )
        for name, annotation in options.__annotations__.items()
    ]


class _Caller:
    """The parameters of a public function, and the errors for calls that do not fit them."""

    def __init__(
        self,
        function: Any,
        parameters: Sequence[Parameter],
        refusals: Iterable[Refusal],
        *,
        others: bool,
    ) -> None:
        self.name: str = function.__name__
        self.summary = (function.__doc__ or "").partition("\n")[0]
        self.others = others
        """Whether unknown keywords are for another library."""
        by_position = [each for each in parameters if each.kind is not Parameter.KEYWORD_ONLY]
        self.by_position = [each.name for each in by_position]
        self.required = [each.name for each in by_position if each.default is Parameter.empty]
        self.takes_frame = self.by_position[:1] == ["frame"]
        self.reasons = {entry.option: entry.reason for entry in refusals if entry.is_general}
        refused = [entry.option for entry in refusals]
        self.keywords = dict.fromkeys([*(each.name for each in parameters), *refused])

    @property
    def positions(self) -> str:
        """Return the names of the arguments by position, after the frame."""
        return ", ".join(name for name in self.by_position if name not in ("frame", "self"))

    @property
    def purpose(self) -> str:
        """Return which function gives the frame, if it is the only argument by position."""
        return "" if self.positions else f": {self.summary}"

    def check(self, args: Sequence[Any], arguments: Mapping[str, Any]) -> None:
        """Raise for arguments that do not fit the signature."""
        missing = [name for name in self.required[len(args) :] if name not in arguments]
        lacks_columns = bool(self.takes_frame and args and missing)
        if lacks_columns and not is_table(args[0]):
            raise TypeError(
                "the frame comes first, then the names of its columns; got "
                f"{shown(args[0])}: {frame_advice(args[0])}"
            )
        if len(args) > len(self.by_position):
            names = self.positions or "only its frame"
            raise TypeError(
                f"{self.name} takes {names} by position{self._surplus(args, arguments)}"
            )
        unknown = [word for word in arguments if word not in self.keywords]
        if unknown and not self.others:
            hint = self._hint(unknown[0])
            raise TypeError(f"unexpected keyword argument {shown(unknown[0])}; {hint}")
        if lacks_columns:
            raise TypeError(
                f"{self.name} takes {self.positions} by position; {missing[0]} is missing"
            )

    def _surplus(self, args: Sequence[Any], arguments: Iterable[str]) -> str:
        """Return what to write instead of too many arguments by position."""
        compares = "baseline" in self.keywords
        if self.takes_frame and any(map(is_table, args[1:])):
            several = ", or several as a dict by the name of their system" if compares else ""
            return f", and one frame{several}"
        if compares:
            scores = f"{shown(args[-2])}, {shown(args[-1])}"
            return f"; several scores are a list, as in score=[{scores}]"
        free = [name for name in self.keywords if name not in (*self.by_position, *arguments)]
        if self.purpose or not free:
            return self.purpose
        example = f"{free[0]}={shown(args[len(self.by_position)])}"
        return f"; name the other arguments, as in {example}"

    def _hint(self, word: str) -> str:
        """Return what to write instead of an unknown keyword."""
        for name in arguments_meant(word, self.keywords)[:1]:
            if name in self.reasons:
                return f"{self.name} does not take {name}=: {self.reasons[name]}"
        no_keywords = ("frame", "self", *self.reasons)
        possible = [name for name in self.keywords if name not in no_keywords]
        names = ", ".join(possible)
        return keyword_hint(word, possible) or f"{self.name} takes {names}{self.purpose}"


def scalar(value: Any) -> Any:
    """Convert an array without dimensions to a number.

    A short float becomes the shortest decimal that rounds to it.
    """
    dimensions = getattr(value, "ndim", None)  # An attribute of a Spark Column is another Column.
    if not isinstance(dimensions, int) or dimensions != 0 or not hasattr(value, "item"):
        return value
    number = value.item()
    if isinstance(number, float):
        with suppress(ValueError):  # Arrays of some libraries are written with a prefix.
            return float(str(value))
    return number


def check_flag(argument: str, value: Any) -> bool:
    """Validate a Boolean of Python or numpy."""
    answer = scalar(value)
    if not isinstance(answer, bool):
        raise TypeError(f"{argument} must be True or False, got {shown(value)}")
    return answer


def check_text(argument: str, value: Any) -> str:
    """Validate a text."""
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be text, got {shown(value)}")
    return value


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer of any library. True is not an integer here."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_whole(
    argument: str,
    value: Any,
    least: int,
    most: int | None = None,
) -> int:
    """Validate an integer of any library. True is refused."""
    number = scalar(value)
    if not is_whole(number):
        hint = unquoted(value)
        if isinstance(number, float) and number.is_integer() and number >= least:
            hint = f": write {int(number)}"
        expected = f"a whole number of at least {least}"
        raise TypeError(f"{argument} must be {expected}, got {shown(value)}{hint}")
    limits = {
        f"a whole number of at least {least}": number >= least,
        f"at most {most}": most is None or number <= most,
        "below 2**62": number < 2**62,
    }
    for expected, holds in limits.items():
        if not holds:
            raise ValueError(f"{argument} must be {expected}, got {shown(value)}")
    return int(number)


def check_real(argument: str, value: Any) -> Any:
    """Validate a number of any library that is not NaN. True is refused."""
    number = scalar(value)
    error: type[Exception] = TypeError
    if isinstance(number, (Real, Decimal)) and not isinstance(number, bool):
        error = ValueError
        # A signalling NaN of Decimal cannot be compared.
        is_nan = number.is_nan() if isinstance(number, Decimal) else number != number
        if not is_nan:
            return number
    raise error(f"{argument} must be a number, got {shown(value)}{unquoted(value)}")


def check_float(argument: str, value: Any) -> float:
    """Validate a number, and return it as a float, infinite if it is out of the range of floats."""
    number = check_real(argument, value)
    with suppress(OverflowError):
        return float(number)
    return float("inf") if number > 0 else float("-inf")


def unquoted(value: Any) -> str:
    """Return the advice for a number in quotes."""
    if isinstance(value, str) and len(value) < _LONGEST_NUMBER:
        with suppress(ValueError):
            float(value)
            return f": write the number without quotes, {value.strip()}"
    return ""


def filling(value: Any) -> float | None:
    """Validate `undefined`, the value that replaces nulls: a number, which may be NaN, or None."""
    number = scalar(value)
    is_nan = isinstance(number, float) and number != number
    return number if number is None or is_nan else check_float("undefined", value)


def check_choice(
    argument: str,
    value: Any,
    allowed: Sequence[Choice],
) -> Choice:
    """Validate a value against a few words or numbers. None is valid if it is one of them."""
    item = scalar(value)
    for choice in allowed:
        # Compare types too: True equals 1, and an expression or an array may equal anything.
        is_value = isinstance(item, str) or is_whole(item)
        if item is choice or (is_value and item == choice):
            return choice
    words = [repr(choice) for choice in allowed if choice is not None]
    text = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    if None in allowed:
        text += ", or None"
    error = ValueError if isinstance(item, type(allowed[0])) else TypeError
    raise error(f"{argument} must be {text}, got {shown(value)}")


def refuse_both(
    function: str,
    arguments: Mapping[str, Any],
    *,
    none: bool = False,
) -> None:
    """Require exactly one of the arguments that state a cutoff, or `none` of them."""
    passed = {name: value for name, value in arguments.items() if value is not None}
    if len(passed) == 1 or (none and not passed):
        return
    names = ", ".join(f"{name}=" for name in arguments)
    number = "at most one" if none else "one"
    values = " and ".join(f"{name}={shown(value)}" for name, value in passed.items())
    raise ValueError(f"{function} takes {number} of {names}; got {values or 'none'}")


def path_of(argument: str, value: Any) -> str:
    """Return a path as text."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{argument} must be text or a path, got {shown(value)}")
    name = os.fsdecode(value)
    if "\0" in name or not name:
        raise ValueError(f"{argument} is no path: {shown(name)}")
    return name


def several(
    argument: str,
    values: Any,
    expected: str,
) -> list[Any]:
    """Return one value or several as a list. A text counts as one value."""
    values = scalar(values)
    no_list = (bytes, bytearray, memoryview, Mapping, pl.Expr)
    if isinstance(values, no_list) or is_table(values):
        raise TypeError(f"{argument} takes {expected}; got {shown(values)}")
    if not isinstance(values, Iterable) or isinstance(values, str):
        return [values]
    listed = list(values)
    if not listed:
        raise ValueError(f"{argument} is an empty list: give at least one value")
    return listed


def refuse_set(argument: str, values: Any) -> None:
    """Refuse a set: the order of values matters, and a set has another one in each process."""
    if isinstance(values, (set, frozenset)):
        raise TypeError(
            f"{argument}: a set has no order, and the result depends on it; give a list"
        )


def names_of(
    argument: str,
    values: Any,
    expected: str,
) -> list[str]:
    """Return one text or several, each once."""
    return different_values(argument, values, expected, lambda value: isinstance(value, str))


def different_values(
    argument: str, values: Any, expected: str, is_valid: Callable[[Any], bool]
) -> list[Any]:
    """Return one value or several, each once."""
    listed = several(argument, values, expected)
    # Look for other values first: a comparison with an array or an expression has no truth value.
    others = [value for value in listed if not is_valid(value)]
    if others:
        raise TypeError(f"{argument} takes {expected}; got {shown(others[0])}")
    repeated = [value for value in listed if listed.count(value) > 1]
    if repeated:
        raise ValueError(f"{argument} has {shown(repeated[0])} twice")
    return listed
