"""Check the arguments of public functions: one function for each kind of argument returns the value to use.

`public` checks the keywords of a call, `check_whole` and the like check values. The names of
columns are checked in `columns.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial, wraps
from inspect import Parameter, getfullargspec, signature, unwrap
from numbers import Integral, Real
from typing import Any, Concatenate, NamedTuple, TypeVar, cast

import polars as pl

from frame_pr.frames.messages import advice, meaning, shown
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


def refuse_options(caller: str, arguments: Mapping[str, Any], refusals: Iterable[Refusal]) -> None:
    """Raise for the first option of the table that is set to a refused value."""
    for option, reason, values, with_option in refusals:
        value = arguments.get(option)
        is_refused = not values or (isinstance(value, str) and value in values)
        if (
            is_refused
            and _is_set(option, arguments)
            and (with_option is None or _is_set(with_option, arguments))
        ):
            text = (
                f"{option}={shown(value) if option in DEFAULTS else ''}: {caller} does not take it"
            )
            raise ValueError(f"{text}{f' with {with_option}=' if with_option else ''}; {reason}")


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
    decorate: Callable[..., Any] = partial(_checked, refusals=refusals, options=options)
    return decorate


def public_of_frames(
    refusals: Sequence[Refusal] = (), *, options: type | None = None
) -> Callable[[Callable[Concatenate[Frame, P], Frame]], FramesFunction[P]]:
    """Make a public function of a frame or of a dict of frames."""
    decorate: Callable[..., Any] = partial(_checked, refusals=refusals, options=options)
    return decorate


def public_result(
    refusals: Sequence[Refusal] = (), *, options: type | None = None, others: bool = False
) -> Callable[[Callable[Concatenate[Frame, P], Result]], ResultFunction[P, Result]]:
    """Make a public function of a frame that returns something else, such as a plot.

    `others`: whether it passes unknown keywords to another library.
    """
    decorate: Callable[..., Any] = partial(
        _checked, refusals=refusals, options=options, others=others
    )
    return decorate


def public_function(function: Function) -> Function:
    """Make a public function without a frame."""
    return cast(Function, _checked(function))


def _checked(
    function: Callable[..., Any],
    refusals: Sequence[Refusal] = (),
    options: type | None = None,
    *,
    others: bool = False,
) -> Callable[..., Any]:
    """Return the function, with a check of the arguments of each call."""
    optional = _option_parameters(options)
    parameters = _parameters_of(function, [*optional, *(entry.option for entry in refusals)])

    @wraps(function)
    def call(*args: Any, **arguments: Any) -> Any:
        if args and isinstance(args[0], Accessor):  # Called as a method of `.pr`.
            args = (args[0]._frame, *args[1:])
        _check_arguments(function, parameters, args, arguments, refusals, others=others)
        refuse_options(function.__name__, arguments, refusals)
        return function(*args, **arguments)

    # Notebooks and `help` list the options as they list the other keywords.
    plain = signature(function)
    refused = {entry.option for entry in refusals if entry.is_general}
    accepted = [parameter for name, parameter in optional.items() if name not in refused]
    own = [
        parameter
        for parameter in plain.parameters.values()
        if parameter.kind is not Parameter.VAR_KEYWORD
    ]
    vars(call)["__signature__"] = plain.replace(parameters=[*own, *accepted])
    return call


def _option_parameters(options: type | None) -> dict[str, Parameter]:
    """Return the keys of a TypedDict as parameters, with their defaults."""
    annotations = options.__annotations__ if options is not None else {}
    return {
        name: Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=DEFAULTS.get(name),
            annotation=getattr(annotation, "__forward_arg__", annotation),
        )
        for name, annotation in annotations.items()
    }


class Parameters(NamedTuple):
    """The names of the parameters of a public function."""

    by_position: list[str]
    required: list[str]
    """Those by position that have no default."""
    all: dict[str, None]


def _parameters_of(function: Callable[..., Any], options: Sequence[str]) -> Parameters:
    spec = getfullargspec(unwrap(function))
    required = spec.args[: len(spec.args) - len(spec.defaults or ())]
    return Parameters(spec.args, required, dict.fromkeys([*spec.args, *spec.kwonlyargs, *options]))


def _check_arguments(
    function: Callable[..., Any],
    parameters: Parameters,
    args: Sequence[Any],
    arguments: Any,
    refusals: Iterable[Refusal],
    *,
    others: bool,
) -> None:
    """Raise for arguments that do not fit the signature, and name the argument that an unknown keyword may mean."""
    by_position, required, keywords = parameters
    if len(required) <= len(args) <= len(by_position) and arguments.keys() <= keywords.keys():
        return
    caller, names = (
        function.__name__,
        ", ".join(name for name in by_position if name not in ("frame", "self")),
    )
    is_complete = all(name in arguments for name in required[len(args) :])
    if (
        args
        and not is_complete
        and required[0] == "frame"
        and not hasattr(type(args[0]), "columns")
    ):
        raise TypeError(
            f"the frame comes first, then the names of its columns; got {shown(args[0])}: polars.DataFrame(...) makes "
            "a frame of a dict of arrays"
        )
    # A function of a result, such as a plot, takes only this frame; its docstring says which
    # function gives it.
    about = "" if names else f": {(function.__doc__ or '').partition(chr(10))[0]}"
    if surplus := args[len(by_position) :]:
        free = next((name for name in keywords if name not in (*by_position, *arguments)), "by")
        advised = (
            f"; name the other arguments, as in {free}={shown(surplus[0])}" if names else about
        )
        raise TypeError(f"{caller} takes {names or 'only its frame'} by position{advised}")
    word = next((word for word in arguments if word not in keywords), None)
    if word is None or others:
        return
    reasons = {entry.option: entry.reason for entry in refusals if entry.is_general}
    possible = [name for name in keywords if name not in ("frame", "self", *reasons)]
    refused = meaning(word, keywords) or ""
    hint = (
        f"{caller} does not take {refused}=: {reasons[refused]}"
        if refused in reasons
        else advice(word, possible)
    )
    hint = hint or f"{caller} takes {', '.join(possible)}{about}"
    raise TypeError(f"unexpected keyword argument {shown(word)}; {hint}")


def scalar(value: Any) -> Any:
    """Convert an array without dimensions to a number. A short float becomes the shortest decimal that rounds to it."""
    dimensions = getattr(value, "ndim", None)  # An attribute of a Spark Column is another Column.
    if not (isinstance(dimensions, int) and dimensions == 0 and hasattr(value, "item")):
        return value
    if isinstance(number := value.item(), float):
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


def check_whole(argument: str, value: Any, least: int, most: int | None = None) -> int:
    """Validate an integer of any library. True is refused."""
    number = scalar(value)
    if not is_whole(number) or number < least:
        is_whole_float = isinstance(number, float) and number.is_integer() and number >= least
        hint = f": write {int(number)}" if is_whole_float else unquoted(value)
        message = f"{argument} must be a whole number of at least {least}, got {shown(value)}{hint}"
        raise (ValueError if is_whole(number) else TypeError)(message)
    if most is not None and number > most:
        raise ValueError(f"{argument} must be at most {most}, got {shown(value)}")
    if number >= 2**62:
        raise ValueError(f"{argument} must be below 2**62, got {shown(value)}")
    return int(number)


def check_real(argument: str, value: Any) -> Any:
    """Validate a number of any library that is not NaN. True is refused."""
    number = scalar(value)
    is_number = isinstance(number, (Real, Decimal)) and not isinstance(number, bool)
    # A signalling NaN of Decimal cannot be compared.
    if not is_number or (number.is_nan() if isinstance(number, Decimal) else number != number):
        message = f"{argument} must be a number, got {shown(value)}{unquoted(value)}"
        raise (ValueError if is_number else TypeError)(message)
    return number


def check_float(argument: str, value: Any) -> float:
    """Validate a number, and return it as a float, which is infinite if the number is out of its range."""
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


def check_choice(argument: str, value: Any, allowed: Sequence[Choice]) -> Choice:
    """Validate a value against a few words or numbers. None is valid if it is one of them."""
    item = scalar(value)
    for choice in allowed:
        # Compare types too: True equals 1, and an expression or an array may equal anything.
        if item is choice or ((isinstance(item, str) or is_whole(item)) and item == choice):
            return choice
    *others, last = [repr(choice) for choice in allowed if choice is not None]
    words = f"{', '.join(others)} or {last}" if others else last
    none = ", or None" if None in allowed else ""
    same_type = isinstance(item, type(allowed[0]))
    raise (ValueError if same_type else TypeError)(
        f"{argument} must be {words}{none}, got {shown(value)}"
    )


def refuse_both(function: str, arguments: Mapping[str, Any], *, none: bool = False) -> None:
    """Require exactly one of the arguments that state a cutoff, or `none` of them."""
    named = [f"{name}={shown(value)}" for name, value in arguments.items() if value is not None]
    if len(named) > 1 or not (named or none):
        most = f"{function} takes {'at most one' if none else 'one'} of {', '.join(f'{name}=' for name in arguments)}"
        raise ValueError(f"{most}; got {' and '.join(named) or 'none'}")


def path_of(argument: str, value: Any) -> str:
    """Return a path as text."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{argument} must be text or a path, got {shown(value)}")
    name = os.fsdecode(value)
    if "\0" in name or not name:
        raise ValueError(f"{argument} is no path: {shown(name)}")
    return name


def several(argument: str, values: Any, wanted: str) -> list[Any]:
    """Return one value or several as a list. A text counts as one value."""
    values = scalar(values)
    if isinstance(values, (bytes, bytearray, memoryview, Mapping, pl.Expr)) or hasattr(
        type(values), "columns"
    ):
        raise TypeError(f"{argument} takes {wanted}; got {shown(values)}")
    if not isinstance(values, Iterable) or isinstance(values, str):
        return [values]
    listed = list(values)
    if not listed:
        raise ValueError(f"{argument} is an empty list: give at least one value")
    return listed


def refuse_set(argument: str, values: Any) -> None:
    """Refuse a set: the order of the values matters, and a set has another order in each process."""
    if isinstance(values, (set, frozenset)):
        raise TypeError(
            f"{argument}: a set has no order, and the result depends on it; give a list"
        )


def names_of(argument: str, values: Any, wanted: str) -> list[str]:
    """Return one text or several, each once."""
    listed = several(argument, values, wanted)
    # Look for other values first: a comparison with an array or an expression has no truth value.
    if others := [value for value in listed if not isinstance(value, str)]:
        raise TypeError(f"{argument} takes {wanted}; got {shown(others[0])}")
    if repeated := [value for value in listed if listed.count(value) > 1]:
        raise ValueError(f"{argument} has {shown(repeated[0])} twice")
    return listed
