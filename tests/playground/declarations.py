"""Whether what the server sends is what playground/protocol declares: no field more, none less."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, Union

from playground.live.commands import COMMANDS
from playground.protocol.declarations import Places, Raw
from playground.protocol.notifications import PUSHED

KINDS: Mapping[Any, Any] = {str: str, bool: bool, float: (int, float), type(None): type(None)}


def assert_declared_answer(command: str, answer: Any) -> None:
    """The answer of a command is of the type that its row names."""
    _assert_fits(command, answer, COMMANDS[command].answers)


def assert_declared_push(name: str, payload: Any) -> None:
    """What is pushed is of the type that its row names."""
    _assert_fits(name, payload, PUSHED[name])


def _assert_fits(name: str, value: Any, kind: Any) -> None:
    found = [problem for _, problem in zip(range(5), misfits(value, kind, name))]
    assert not found, found


def misfits(value: Any, kind: Any, at: str) -> Iterator[str]:
    """Yield where a value of JSON is not of a type, and how."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        said = kind.__metadata__
        places = next((one for one in said if isinstance(one, Places)), None)
        if places is not None:
            yield from _row(value, places, at)
        elif not any(isinstance(one, Raw) for one in said):
            yield from misfits(value, kind.__origin__, at)
    elif typing.is_typeddict(kind):
        yield from _fields(value, kind, at)
    elif origin is Literal:
        if value not in arguments:
            yield f"{at}: {value!r:.60} is none of {arguments}"
    elif origin in (Union, types.UnionType):
        ways = [list(misfits(value, one, at)) for one in arguments]
        if all(ways):
            yield from min(ways, key=len)
    elif origin is Sequence:
        if not isinstance(value, list):
            yield f"{at}: {value!r:.60} is no list"
            return
        for place, item in enumerate(value):
            yield from misfits(item, arguments[0], f"{at}[{place}]")
    elif origin is Mapping:
        if not isinstance(value, dict):
            yield f"{at}: {value!r:.60} is no object"
            return
        for key, item in value.items():
            yield from misfits(item, arguments[1], f"{at}.{key}")
    elif kind is int:
        if not isinstance(value, int) or isinstance(value, bool):
            yield f"{at}: {value!r:.60} is no whole number"
    elif kind in KINDS and not isinstance(value, KINDS[kind]):
        yield f"{at}: {value!r:.60} is no {kind.__name__}"


def _fields(value: Any, kind: Any, at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at}: {value!r:.60} is no object"
        return
    fields = typing.get_type_hints(kind, include_extras=True)
    for name, declared in fields.items():
        optional = typing.get_origin(declared) is NotRequired
        if name in value:
            yield from misfits(
                value[name], typing.get_args(declared)[0] if optional else declared, f"{at}.{name}"
            )
        elif not optional:
            yield f"{at}.{name} is missing"
    yield from (f"{at}.{name} is not declared" for name in value if name not in fields)


def _row(value: Any, places: Places, at: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{at}: {value!r:.60} is no list"
        return
    kinds = [kind for _, kind in places.places]
    least = sum(typing.get_origin(kind) is not NotRequired for kind in kinds)
    if len(value) < least or (places.rest is None and len(value) > len(kinds)):
        yield f"{at}: {len(value)} places, not {len(kinds)}"
    for (name, kind), item in zip(places.places, value):
        yield from misfits(
            item, typing.get_args(kind)[0] if typing.get_origin(kind) is NotRequired else kind, f"{at}.{name}"
        )
    if places.rest is not None:
        yield from misfits(value[len(kinds) :], places.rest, f"{at}...")
