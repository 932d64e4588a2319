"""Commands: what a payload must hold, who may, and which function answers.

A command is an async function of a :class:`Call`, registered by :func:`command`. The decorator
checks the payload and finds the source, so that the function does its work only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playground import bundles, sources
from playground.live.errors import CommandError
from playground.models import Draft
from playground.playback.executor import in_storage
from playground.playback.playback import OutOfRangeError, Superseded
from playground.throttle import wait_seconds
from scheduler_core.scenario import BundleError

if TYPE_CHECKING:
    from playground.live.consumer import Connection

Check = Callable[[Any], bool]
Answer = Any

OPTIONAL = "?"

# What a field may be. Numbers are bounded here, so that no command meets an absurd one.
TYPES: dict[str, tuple[str, Check]] = {
    "text": ("a text", lambda value: isinstance(value, str)),
    "index": (
        "a whole number from 0",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9,
    ),
    "texts": (
        "a list of texts",
        lambda value: isinstance(value, list) and len(value) <= 20 and all(isinstance(v, str) for v in value),
    ),
    "object": ("an object", lambda value: isinstance(value, dict)),
}


@dataclass(slots=True)
class Call:
    """One frame on its way to an answer."""

    connection: Connection
    request: int
    payload: dict[str, Any]
    source: sources.Source | None = None

    @property
    def visitor(self) -> str:
        """Who asks; ``""`` for a client without the cookie."""
        return self.connection.visitor

    def found(self) -> sources.Source:
        """Return the source of a command that names one."""
        assert self.source is not None
        return self.source


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table of commands."""

    name: str
    answer: Callable[[Call], Awaitable[Answer]]
    fields: dict[str, str] = field(default_factory=dict)  # name -> type, "?" appended if optional
    source: str = ""  # the field that names what is played
    owner: bool = False  # only the draft's owner may, and only a draft will do
    visitor: bool = False  # something is stored for the visitor, so there must be one
    latest: int = 0  # of so many of them at once per connection, older ones are given up
    throttle: str = ""  # the limit that counts it per address and minute


COMMANDS: dict[str, Command] = {}


def command(
    name: str,
    *,
    source: str = "",
    owner: bool = False,
    visitor: bool = False,
    latest: int = 0,
    throttle: str = "",
    **fields: str,
) -> Callable[[Callable[[Call], Awaitable[Answer]]], Callable[[Call], Awaitable[Answer]]]:
    """Register an async function as the command ``name``; see :class:`Command`."""

    def register(function: Callable[[Call], Awaitable[Answer]]) -> Callable[[Call], Awaitable[Answer]]:
        COMMANDS[name] = Command(name, function, fields, source, owner, visitor, latest, throttle)
        return function

    return register


async def dispatch(connection: Connection, name: str, request: int, payload: Any) -> Answer:
    """Check a frame, find its source, and return the command's answer. Raises CommandError."""
    row = COMMANDS.get(name)
    if row is None:
        raise CommandError("command.unknown", f"There is no command {name[:60]!r}.")
    call = Call(connection, request, _checked(row, payload))
    if row.visitor and not call.visitor:
        raise CommandError(
            "permission.denied", "Open a page of this site first; your browser must allow its cookie."
        )
    if row.throttle and (wait := await in_storage(wait_seconds, row.throttle, connection.address)):
        raise CommandError(
            "rate.limited", f"Too many from your address; wait {wait} seconds.", retryAfter=wait
        )
    try:
        if row.source:
            call.source = await in_storage(_find, row, call.payload[row.source], call.visitor)
        return await row.answer(call)
    except BundleError as error:
        message = "The bundle cannot be read."
        raise CommandError("bundle.invalid", message, errors=bundles.problems_wire(error.problems)) from error
    except bundles.TooLargeError as error:
        raise CommandError("bundle.too-large", str(error)) from error
    except sources.NotFoundError as error:
        raise CommandError("source.not-found", str(error)) from error
    except sources.TooMuchWorkError as error:
        raise CommandError("source.too-large", str(error)) from error
    except OutOfRangeError as error:
        raise CommandError("step.out-of-range", str(error)) from error
    except Superseded as error:
        raise CommandError("request.superseded") from error


def _checked(row: Command, payload: Any) -> dict[str, Any]:
    if not isinstance(payload, dict):
        raise CommandError("payload.invalid", "The payload must be an object.")
    fields = dict(row.fields)
    if row.source:
        fields[row.source] = "text" if row.source in ("draft", "run") else "object"
    for name, kind in fields.items():
        if name not in payload or (payload[name] is None and kind.endswith(OPTIONAL)):
            if kind.endswith(OPTIONAL):
                continue
            raise CommandError("payload.invalid", f"{row.name} needs the field {name!r}.", field=name)
        meaning, check = TYPES[kind.removesuffix(OPTIONAL)]
        if not check(payload[name]):
            raise CommandError("payload.invalid", f"{name} must be {meaning}.", field=name)
    return payload


def _find(row: Command, wire: Any, visitor: str) -> sources.Source:
    if row.source in ("draft", "run"):
        wire = {row.source: wire}
    found = sources.find(wire, visitor)
    if row.owner and not isinstance(found.row, Draft):
        raise CommandError(
            "permission.denied", "Only a draft of your own can be changed or shared; fork it first."
        )
    return found
