"""Commands: what they take, who may use them, and the function that answers.

A command is an async function of a :class:`Call`, registered by :func:`command`. The decorator validates the
payload and finds the source, so that the function contains only its own work.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct
from msgspec.structs import astuple

from playground.calls.faults import RequestFieldError
from playground.calls.requests import R, Request, read, subject_of
from playground.live.client import Client
from playground.live.errors import CommandError, invalid
from playground.live.halls import Veil
from playground.live.page_context import Framed
from playground.live.sightings import sightings
from playground.models import Draft
from playground.playback import sources
from playground.playback.deadlines import Superseded, TooMuchWorkError
from playground.playback.executor import in_storage
from playground.playback.library import library
from playground.playback.playback import SLICE_SECONDS, OutOfRangeError, Playback
from playground.playback.veil import veiled
from playground.pool import offload, parts
from playground.pool.pool import EXPECTED_SECONDS
from playground.pool.process import LostError
from playground.pool.shares import BusyError
from playground.storage import bundles, store
from playground.storage.quotas import StorageFullError
from playground.storage.store import draft_wire
from playground.visitors import bans
from playground.visitors.throttle import wait_seconds
from playground.wire import Encoded
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.progress import Watch
from scheduler_core.scenario.history import HistoryError, Moment

Answer = Any
Unwanted = Callable[[], bool]
LookupKey = Callable[[Playback, Any], Hashable]
T = TypeVar("T")

ADMITTED_SECONDS = 20.0  # that the page of a room has to join it
PROGRESS_SECONDS = 0.15  # between two progress frames of reading a bundle


@dataclass(slots=True)
class Call(Generic[R]):
    """One frame that is being answered."""

    connection: Client
    name: str
    request: int
    payload: R
    source: sources.Source | None = None
    veil: Veil | None = None  # what is hidden from who asks

    @property
    def visitor(self) -> str:
        """The visitor; ``""`` for a client without the cookie."""
        return self.connection.visitor

    def found(self) -> sources.Source:
        """Return the source of a command that has one."""
        assert self.source is not None
        return self.source

    async def in_engine(self, call: Callable[..., T], *args: Any, large: bool | None = None) -> T:
        """Run ``call`` in an engine thread, or in a parsing thread if the command carries a bundle.

        ``large`` work, by default that on a large text or source, is parsed in the pool, and the call runs in
        a thread that may wait. Raises Superseded if a newer request replaced this one, or the client
        cancelled it.
        """
        row, connection = COMMANDS[self.name], self.connection
        waits = self._is_large() if large is None else large and offload.enabled()
        given_up = self._given_up()
        watch = self.watch()

        def wanted() -> T:
            if given_up():
                raise Superseded
            with bundles.watched(watch):
                if not waits:
                    return call(*args)
                with offload.reading_for(connection.asker):
                    return call(*args)

        if waits:
            return await connection.in_waiting(wanted)
        return await (connection.in_parsing if row.large else connection.in_engine)(wanted)

    async def in_pool(
        self,
        call: Callable[..., T],
        *args: Any,
        large: bool | None = None,
        long: bool = False,
        expects: float = EXPECTED_SECONDS,
        hear: parts.Hear | None = None,
    ) -> T:
        """Run a module-level function, without the database, in the pool if its work is ``large``.

        By default the size of the text or source decides. ``long`` work computes for many seconds whatever
        its size, ``expects`` seconds: it leaves a process of the pool to others, and without a pool has a
        parsing thread, where it delays nobody's step; ``hear`` takes parts of its result in the event loop.
        Raises as :meth:`in_engine`, and BusyError.
        """
        if long:
            return await self._at_length(expects, hear, call, *args)
        if not (self._is_large() if large is None else large and offload.enabled()):
            return await self.in_engine(call, *args)
        return await offload.computed(self.connection.asker, call, *args, watch=self.watch())

    async def _at_length(
        self, expects: float, hear: parts.Hear | None, call: Callable[..., T], *args: Any
    ) -> T:
        watch, loop = self.watch(), asyncio.get_running_loop()
        if offload.enabled():
            asker = self.connection.asker
            return await offload.computed(
                asker, call, *args, watch=watch, long=True, expects=expects, hear=hear
            )

        def take(part: Any) -> None:
            if hear is not None:
                loop.call_soon_threadsafe(hear, part)

        def watched() -> T:
            with bundles.watched(watch), parts.heard_by(take):
                return call(*args)

        return await self.connection.in_parsing(watched)

    def _is_large(self) -> bool:
        if not offload.enabled():
            return False
        if self.source is not None and sources.is_large(self.source):
            return True
        texts = (value for value in astuple(self.payload) if isinstance(value, str))
        return COMMANDS[self.name].large and offload.is_large(*texts)

    def _given_up(self) -> Unwanted:
        """Return the test for whether to give up; a request that stores something outlives its client."""
        row = COMMANDS[self.name]
        unwanted = self.connection.unwanted(self.name, self.request)
        return lambda: unwanted() and (bool(row.latest) or not self.connection.closed)

    def watch(self) -> Watch:
        """Return a progress callback: it notifies the client, and raises Superseded once cancelled.

        Must be created in the event loop, and called from one other thread.
        """
        loop = asyncio.get_running_loop()
        given_up = self._given_up()
        pushed_at = time.monotonic()
        last = offload.QUEUED

        def push(stage: str, done: int, of: int) -> None:
            report = {"request": self.request, "stage": stage, "done": done, "of": of}
            self.connection.push("request.progress", report)

        def watch(stage: str, done: int, of: int) -> None:
            nonlocal pushed_at, last
            if given_up():
                raise Superseded
            if time.monotonic() - pushed_at > PROGRESS_SECONDS and (stage, done, of) != last:
                pushed_at, last = time.monotonic(), (stage, done, of)
                loop.call_soon_threadsafe(push, stage, done, of)

        return watch

    def moment(self, field: str = "step") -> Moment | None:
        """Return the moment that a field of the payload names, ``None`` if it is absent or empty.

        The field ``during`` puts that of ``step`` inside the next cycle. Raises CommandError.
        """
        step = getattr(self.payload, field, None)
        during = field == "step" and getattr(self.payload, "during", None) == "evaluation"
        try:
            return Moment.parse(step, during=during) if step else None
        except HistoryError as error:
            raise CommandError("payload.invalid", str(error), field=field) from error

    async def in_turns(self, turn: Callable[[Playback, Unwanted], T | None]) -> T:
        """Call ``turn`` with the source's playback in an engine thread until it returns an answer.

        A turn that has to compute forward first does so for a slice and returns ``None``; then others get
        their turn. Raises Superseded once the answer is no longer wanted.
        """
        unwanted = self.connection.unwanted(self.name, self.request)
        source, kept = self.found(), COMMANDS[self.name].kept
        playback: Playback | None = None

        watch = self.watch()

        def opened() -> Playback:
            if unwanted():
                raise Superseded
            with bundles.watched(watch):
                if not large:
                    return sources.open_playback(source)
                with offload.reading_for(self.connection.asker):
                    return sources.open_playback(source)

        def once() -> T | None:
            nonlocal playback
            if unwanted():
                raise Superseded
            if playback is None:
                playback = sources.open_playback(source)
            shown = playback
            if self.veil is not None:
                if len(playback) < self.veil.last and playback.advance(SLICE_SECONDS):
                    return None
                shown = veiled(playback, min(self.veil.last, len(playback)), self.veil.phase)
            return turn(shown, unwanted) if kept is None else self._kept(shown, kept, turn, unwanted)

        large = offload.enabled() and sources.is_large(source)
        if not sources.is_open(source):  # parsing takes seconds, and must not delay others' steps
            playback = await (self.connection.in_waiting if large else self.connection.in_parsing)(opened)
        opened_already = library.at_hand(source.key) if kept is not None and self.veil is None else None
        if opened_already is not None:  # what is known needs no turn, whoever else computes
            known = _kept_answer(COMMANDS[self.name], opened_already, self.payload)
            if known is not None:
                return cast("T", known)
        while True:
            answer = await (self.connection.in_engine(once) if kept is None else self._once_for_all(once))
            if answer is not None:
                return answer
            if unwanted():
                raise Superseded

    async def _once_for_all(self, once: Callable[[], T | None]) -> T | None:
        asked = (self.found().key, self.veil, self.name, repr(self.payload))
        return await self.connection.in_engine_once(asked, once)

    def _kept(
        self,
        playback: Playback,
        kept: LookupKey,
        turn: Callable[[Playback, Unwanted], T | None],
        unwanted: Unwanted,
    ) -> T | None:
        """Return the turn's answer, from the cache if it was answered meanwhile, and cache it."""
        # Read the version before the turn: what did not exist then may be cut short in the answer, and longer
        # now.
        version, asked = playback.version, kept(playback, self.payload)
        if asked is None:
            return turn(playback, unwanted)
        if (known := playback.answers.get(version, (self.name, asked))) is not None:
            return cast("T", known)
        answer = turn(playback, unwanted)
        if isinstance(answer, Encoded) and playback.version == version:
            playback.answers.keep(version, (self.name, asked), answer)
        return answer


class SocketCommand(Struct, frozen=True):
    """A row of the command table."""

    name: str
    answer: Callable[[Call[Any]], Awaitable[Answer]]
    answers: Any  # the type of its answer
    takes: type[Request] = Request
    owner: bool = False  # only the draft's owner may use it, and only on a draft
    visitor: bool = False  # it stores something for the visitor, so one is required
    latest: int = 0  # maximum in progress per connection; older ones are superseded
    large: bool = False  # carries a bundle, so its frame may be larger
    throttle: str = ""  # the limit per address and minute
    each: str = ""  # the same per visitor; who sends no cookie is counted by the address alone
    # What its answer depends on besides the playback's version; None: it is not cached, as computing further
    # may change it. Only for a command that changes nothing and has the same answer for everyone who may see
    # the source.
    kept: LookupKey | None = None
    decisions: bool = False  # its answer describes some, of sources that no field ``source`` names
    framed: Framed = ""  # it only reads, so that a page in a frame may use it
    # Who predicts in a room may use it: it tells only of cycles before the one in question, or of the
    # scenario's own text. Of comments none is listed then, and one's own can be written and changed.
    unveiled: bool = False

    @property
    def source(self) -> str:
        """The field that names the source, "" if there is none."""
        return subject_of(self.takes)

    @property
    def is_veiled(self) -> bool:
        """Whether its answer may tell what a viewer of an open question is to predict."""
        return bool(self.source) or self.decisions


COMMANDS: dict[str, SocketCommand] = {}


def command(
    name: str,
    takes: type[R],
    /,
    *,
    answers: Any,
    owner: bool = False,
    visitor: bool = False,
    latest: int = 0,
    large: bool = False,
    throttle: str = "",
    each: str = "",
    kept: LookupKey | None = None,
    decisions: bool = False,
    framed: Framed = "",
    unveiled: bool = False,
) -> Callable[[Callable[[Call[R]], Awaitable[Answer]]], Callable[[Call[R]], Awaitable[Answer]]]:
    """Register an async function as the command ``name``; see :class:`SocketCommand`."""

    def register(function: Callable[[Call[R]], Awaitable[Answer]]) -> Callable[[Call[R]], Awaitable[Answer]]:
        limits = (latest, large, throttle, each)
        COMMANDS[name] = SocketCommand(
            name, function, answers, takes, owner, visitor, *limits, kept, decisions, framed, unveiled
        )
        return function

    return register


def at_hand(visitor: str, name: str, payload: Any) -> Encoded | None:
    """Return a frame's answer from the cache, ``None`` if it has to be computed or rejected.

    It is the answer that computing would give. Takes microseconds, and uses no database, engine or thread.
    """
    row = COMMANDS.get(name)
    if row is None or row.kept is None or not isinstance(payload, dict):
        return None
    source = sightings.seen(payload.get(row.source), visitor)
    playback = library.at_hand(source.key) if source is not None else None
    if playback is None:
        return None
    try:
        return _kept_answer(row, playback, read(row.takes, payload))
    except RequestFieldError:
        return None


def _kept_answer(row: SocketCommand, playback: Playback, payload: Request) -> Encoded | None:
    """Return a playback's answer from its cache, ``None`` if it has to be computed."""
    asked = None if row.kept is None else row.kept(playback, payload)
    return None if asked is None else playback.answers.get(playback.version, (row.name, asked))


async def dispatch(connection: Client, name: str, request: int, payload: Any) -> Answer:
    """Validate a frame, find its source, and return the command's answer. Raises CommandError."""
    row = COMMANDS.get(name)
    if row is None:
        raise CommandError("command.unknown", f"Unknown command {name[:60]!r}.")
    if bans.stale():
        await in_storage(bans.read)
    if bans.known(connection.address, connection.visitor):
        raise CommandError("permission.denied", bans.MESSAGE)
    call = Call(connection, name, request, _read(row, payload))
    if row.visitor and not call.visitor:
        raise CommandError("permission.denied", "Open a page of this site first, and allow its cookie.")
    if row.throttle or row.each:
        await in_storage(_count, row, call)
    try:
        if row.is_veiled:
            await _veil(call)
        if row.source:
            call.source = await _source(row, call)
        answer = await row.answer(call)
        if row.is_veiled and (veil := connection.veil) is not None and veil != call.veil:
            raise Superseded  # a question was asked meanwhile, whose answer may be in this one
        return answer
    except BundleError as error:
        message = "The bundle cannot be read."
        raise CommandError("bundle.invalid", message, errors=bundles.problems_wire(error.problems)) from error
    except bundles.TooLargeError as error:
        raise CommandError("bundle.too-large", str(error)) from error
    except RequestFieldError as error:
        raise invalid(error) from error
    except StorageFullError as error:
        raise CommandError("storage.full", str(error), **error.wire) from error
    except store.GoneError as error:
        raise CommandError("source.gone", str(error)) from error
    except (sources.NotFoundError, Draft.DoesNotExist) as error:
        raise CommandError("source.not-found", str(error)) from error
    except store.StaleError as error:
        raise CommandError("draft.stale", str(error), **draft_wire(error.row)) from error
    except TooMuchWorkError as error:
        raise CommandError("source.too-large", str(error)) from error
    except OutOfRangeError as error:
        raise CommandError("step.out-of-range", str(error)) from error
    except Superseded as error:
        raise CommandError("request.superseded") from error
    except BusyError as error:
        raise CommandError(error.code, str(error), retryAfter=error.retry_after) from error
    except LostError as error:
        raise CommandError("server.error", str(error)) from error


def _read(row: SocketCommand, payload: Any) -> Request:
    try:
        return read(row.takes, payload)
    except RequestFieldError as error:
        raise invalid(error) from error


async def _veil(call: Call[Any]) -> None:
    """Note what is hidden from who asks. Raises CommandError for what is hidden as a whole.

    The page of a room waits until it has joined: before, nobody knows what it may see.
    """
    try:
        async with asyncio.timeout(ADMITTED_SECONDS):
            await call.connection.admitted.wait()
    except TimeoutError:
        raise CommandError("permission.denied", "The page of a room joins the room first.") from None
    call.veil = veil = call.connection.veil
    if veil is None:
        return
    unveiled, own = COMMANDS[call.name].unveiled, {"scenario": veil.scenario}
    if not unveiled or getattr(call.payload, "source", None) != own:
        raise CommandError("room.question-open")


def _count(row: SocketCommand, call: Call[Any]) -> None:
    """Count a command that has a limit per minute. Raises CommandError beyond it."""
    counted = [(row.throttle, call.connection.address, "your address")]
    if call.visitor:
        counted.append((row.each, call.visitor, "this browser"))
    for name, who, where in counted:
        if name and (wait := wait_seconds(name, who)):
            message = f"Too many requests from {where}; try again in {wait} seconds."
            raise CommandError("rate.limited", message, retryAfter=wait)


async def _source(row: SocketCommand, call: Call[Any]) -> sources.Source:
    wire, visitor = getattr(call.payload, row.source), call.visitor
    if row.source in ("draft", "run"):
        wire = {row.source: wire}
    if row.owner:
        return await sightings.find(wire, visitor, lambda: in_storage(_own, wire, visitor))
    seen = sightings.seen(wire, visitor) if row.kept is not None else None
    # Opening reads the row again, so for a source that is not open the database must confirm that it exists.
    if seen is not None and sources.is_open(seen):
        return seen
    return await sightings.find(wire, visitor)


def _own(wire: Any, visitor: str) -> sources.Source:
    found = sources.find(wire, visitor)
    if not isinstance(found.row, Draft):
        raise CommandError(
            "permission.denied", "You can change or share only your own drafts; fork it first."
        )
    return found
