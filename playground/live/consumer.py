"""The one WebSocket consumer: transport only.

It reads frames, enforces the limits, runs commands concurrently and writes their answers in the order in
which they complete. The commands are in :mod:`playground.live.modules`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, TypeVar

import structlog
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import timezone

from playground import wire
from playground.accounts import recalls
from playground.limits import limit
from playground.live import hub, modules  # noqa: F401 - importing them registers the commands
from playground.live.closures import CLOSED, recaller
from playground.live.commands import COMMANDS, at_hand, dispatch
from playground.live.errors import CommandError, unavailable
from playground.live.flights import Flights
from playground.live.frames import parse, request_of, size
from playground.live.halls import Veil
from playground.live.notifications import Watching
from playground.live.page_context import Frame, frame_of, room_of
from playground.playback.executor import in_engine, in_parsing, in_storage, in_waiting
from playground.runtime import counters, log_context, outage
from playground.serving.bodies import AsgiScope, Receive, Send
from playground.serving.protocols import ENCODED
from playground.visitors import addresses, bans, caller, identity, sessions

log = structlog.get_logger(__name__)

T = TypeVar("T")

ABNORMAL_CLOSURE = 1006  # never sent: the connection is closed already
POLICY_VIOLATION = 1008
BURST_SECONDS = 10  # bursts are allowed as long as this average is kept
REFUSALS = 200  # frames rejected for their rate before closing; a large one counts as several
COMMANDS_AT_ONCE = 32
PARSING_JOBS = 2  # per connection
ENGINE_JOBS = 2  # per connection; further requests wait without blocking other connections
OUTGOING_BYTES = 64 * 2**20
ALL_OUTGOING_BYTES = 256 * 2**20  # for the whole process


@dataclass(slots=True)
class Queued:
    """A frame that waits to be sent; a later one of the same ``slot`` takes its place."""

    text: str
    slot: str = ""
    sent: bytes | None = None  # what goes over the wire, where that was encoded for many


class Outgoing:
    """Frames queued for the client, bounded: a client that does not read is disconnected."""

    all_bytes: ClassVar[int] = 0

    def __init__(self) -> None:
        self._frames: asyncio.Queue[Queued] = asyncio.Queue()
        self._slots: dict[str, Queued] = {}
        self._bytes = 0
        self.overflown = False

    def put(self, text: str, slot: str = "", sent: bytes | None = None) -> bool:
        """Add a frame, or replace the one of ``slot`` that waits; return False once there are too many."""
        if slot and not self.overflown and (before := self._slots.get(slot)) is not None:
            self._count(len(text) - len(before.text))
            before.text, before.sent = text, sent
            return True
        waits = bool(self._bytes)
        self._count(len(text))
        crowded = Outgoing.all_bytes > ALL_OUTGOING_BYTES and waits  # clients that keep up are spared
        if self._frames.qsize() >= limit("OUTGOING_FRAMES") or self._bytes > OUTGOING_BYTES or crowded:
            self.overflown = True
        else:
            queued = Queued(text, slot, sent)
            self._frames.put_nowait(queued)
            if slot:
                self._slots[slot] = queued
        return not self.overflown

    def _count(self, more: int) -> None:
        self._bytes += more
        Outgoing.all_bytes += more

    async def send_all(self, send: Callable[[Queued], Awaitable[None]]) -> None:
        """Send the frames as they are queued; each counts until the client has received it."""
        while True:
            queued = await self._frames.get()
            self._slots.pop(queued.slot, None)
            await send(queued)
            self._count(-len(queued.text))

    def drop(self) -> None:
        """Drop the queued frames and accept no more."""
        self.overflown = True
        self._count(-self._bytes)


class Connection(AsyncWebsocketConsumer):
    """One client."""

    open_by_address: ClassVar[Counter[str]] = counters.SOCKETS
    shared: ClassVar[Flights[Any]] = Flights()  # computations shared by connections

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.visitor = ""
        self.address = ""
        self.opened: datetime = timezone.now()
        self.frame: Frame | None = None
        self.admitted = asyncio.Event()
        self.watching = Watching(self)
        self._counted = False
        self._outgoing = Outgoing()
        self._sender: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._latest: dict[str, OrderedDict[int, None]] = {}
        self._engine = asyncio.Semaphore(ENGINE_JOBS)
        self._parsing = asyncio.Semaphore(PARSING_JOBS)
        self._under_way: set[int] = set()
        self._given_up: set[int] = set()  # of those in progress
        self.closed = False
        self._tokens = 0.0
        self._bytes = 0.0
        self._refused = 0
        self._counted_at = 0.0

    # --- opening and closing ---------------------------------------------------------------

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Serve the connection, one message after the other, until it is closed.

        Channels' own loop creates a task for every message, to wait for a channel layer at the same time, and
        passes it through the one thread that all connections share, to close that thread's database
        connections. There is no layer here, and the threads that use the database close their own connections
        (:mod:`playground.playback.executor`).
        """
        self.scope, self.base_send = scope, send
        handlers = {
            "websocket.connect": self.websocket_connect,
            "websocket.receive": self.websocket_receive,
            "websocket.disconnect": self.websocket_disconnect,
        }
        try:
            with suppress(StopConsumer):
                while True:
                    message = await receive()
                    await handlers[message["type"]](message)
                    # Frames that arrive together do not suspend this task: let answers and other connections
                    # run in between.
                    await asyncio.sleep(0)
        finally:
            if not self.closed:  # closing raises if the client has left, and no message reports that
                await self.disconnect(ABNORMAL_CLOSURE)

    async def connect(self) -> None:
        """Accept, unless the address has too many connections already."""
        try:
            query = self.scope.get("query_string", b"")
            self.frame = frame = frame_of(query)
            self.watching.veiled = frame is not None and frame.last is not None
            if not room_of(query):
                self.admitted.set()
        except ValueError:
            await self.close()
            return
        headers = self.scope.get("headers", [])
        if sessions.stale():
            await in_storage(sessions.read)
        self.visitor = identity.visitor_of_headers(headers)
        forwarded = ",".join(value.decode("latin-1") for name, value in headers if name == b"x-forwarded-for")
        self.address = addresses.client_address((self.scope.get("client") or ("", 0))[0], forwarded)
        if self.open_by_address[self.address] >= limit("SOCKETS_PER_ADDRESS"):
            await self.close()  # before accepting: HTTP 403
            return
        if await in_storage(bans.refused, self.address, self.visitor):
            await self.close()
            return
        self.open_by_address[self.address] += 1
        self._counted = True
        self._tokens, self._bytes = _bursts()
        self._counted_at = time.monotonic()
        await self.accept()
        self._sender = asyncio.create_task(self._send_frames())
        recaller.watch(self)

    async def disconnect(self, code: int) -> None:
        """Clean up: stop watching, cancel running commands, and release the place in the counts."""
        self.closed = True
        recaller.unwatch(self)
        self.watching.end()
        await hub.leave(self)
        self._outgoing.drop()
        for task in self._running:
            task.cancel()
        if self._sender:
            self._sender.cancel()
        if self._counted:
            self._counted = False
            self.open_by_address[self.address] -= 1
            if not self.open_by_address[self.address]:
                del self.open_by_address[self.address]

    # --- incoming --------------------------------------------------------------------------

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Handle one frame."""
        length = len(bytes_data or b"") if text_data is None else size(text_data)
        if not self._within_rate(length):
            await self._refuse_rate(text_data or "", length)
            return
        if text_data is None:
            self._refuse(None, CommandError("frame.malformed", "Frames are text."))
            return
        try:
            name, request, payload = parse(text_data, length)
        except ValueError as error:
            self._refuse(None, CommandError("frame.malformed", str(error)))
            return
        except CommandError as error:
            self._refuse(request_of(text_data), error)
            return
        if self.frame is not None:
            framed = COMMANDS[name].framed if name in COMMANDS else ""
            if refusal := self.frame.refusal(framed, payload):
                self._refuse(request, CommandError("permission.denied", refusal))
                return
        began = time.monotonic()
        open_to_all = self.admitted.is_set() and self.veil is None
        known = at_hand(self.visitor, name, payload) if open_to_all else None
        if known is not None:
            counters.COMMAND_SECONDS.labels(name).observe(time.monotonic() - began)
            self._note_latest(name, request)  # supersedes older requests all the same
            self._answered(name, request)
            self._write("success", request, known)
            return
        if len(self._running) >= COMMANDS_AT_ONCE:
            self._refuse(request, CommandError("server.busy"))
            return
        self._note_latest(name, request)
        self._under_way.add(request)
        task = asyncio.create_task(self._answer(name, request, payload))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _within_rate(self, length: int) -> bool:
        now = time.monotonic()
        passed, self._counted_at = now - self._counted_at, now
        most, most_bytes = _bursts()
        self._tokens = min(self._tokens + passed * limit("FRAMES_PER_SECOND"), most)
        self._bytes = min(self._bytes + passed * limit("FRAME_BYTES_PER_SECOND"), most_bytes)
        # A frame larger than any burst can never be within it; it is rejected for its size, not for the rate.
        length = min(length, limit("FRAME_BYTES"))
        if self._tokens < 1 or self._bytes < length:
            return False
        self._tokens -= 1
        self._bytes -= length
        return True

    async def _refuse_rate(self, text: str, length: int) -> None:
        self._refused += 1 + length // 2**20
        if self._refused > REFUSALS:
            await self.close(POLICY_VIOLATION)
            return
        missing = min(length, limit("FRAME_BYTES")) - self._bytes
        wait = max((1 - self._tokens) / limit("FRAMES_PER_SECOND"), missing / limit("FRAME_BYTES_PER_SECOND"))
        self._refuse(request_of(text), CommandError("rate.limited", retryAfter=round(wait + 0.001, 3)))

    def _note_latest(self, name: str, request: int) -> None:
        row = COMMANDS.get(name)
        if row and row.latest:
            asked = self._latest.setdefault(name, OrderedDict())
            asked[request] = None
            while len(asked) > row.latest:
                asked.popitem(last=False)

    def _answered(self, name: str, request: int) -> None:
        if (asked := self._latest.get(name)) is not None:
            asked.pop(request, None)

    def unwanted(self, name: str, request: int) -> Callable[[], bool]:
        """Return a thread-safe test for whether newer requests superseded this one or the client left."""
        row = COMMANDS.get(name)
        gone = self._given_up
        if row is None or not row.latest:
            return lambda: self.closed or request in gone
        asked = self._latest.get(name, OrderedDict())
        return lambda: self.closed or request in gone or request not in asked

    def give_up(self, name: str) -> None:
        """Discard the requests of a command that are in progress."""
        self._latest.get(name, OrderedDict()).clear()

    def cancel(self, request: int) -> None:
        """Cancel one request; a request that is already answered is ignored."""
        if request in self._under_way:
            self._given_up.add(request)

    @property
    def veil(self) -> Veil | None:
        """What is hidden from this connection: it is a viewer of an open question, or a frame with a veil."""
        if self.frame is not None and self.frame.last is not None:
            return Veil(self.frame.scenario, self.frame.last, self.frame.phase)
        return hub.veil_of(self)

    @property
    def asker(self) -> str:
        """The key for fair shares: the visitor, or the address of a client without the cookie."""
        return self.visitor or self.address

    async def in_parsing(self, call: Callable[..., T], *args: Any) -> T:
        """Run ``call``, which parses a bundle, in a parsing thread, within this connection's share."""
        async with self._parsing:
            return await in_parsing(self.asker, call, *args)

    async def in_waiting(self, call: Callable[..., T], *args: Any) -> T:
        """Run ``call`` in a thread that waits for the pool, within this connection's share."""
        async with self._parsing:
            return await in_waiting(self.asker, call, *args)

    async def in_engine(self, call: Callable[..., T], *args: Any) -> T:
        """Run ``call`` in an engine thread, within this connection's share."""
        async with self._engine:
            return await in_engine(self.asker, call, *args)

    async def in_engine_once(self, asked: Hashable, call: Callable[[], T | None]) -> T | None:
        """Run ``call`` as :meth:`in_engine` does, once for all connections with the same concurrent request.

        ``None`` if another connection ran it and left, or if there is no answer yet.
        """
        return await self.shared.join(asked, lambda: in_engine(self.asker, call), self._engine)

    async def _answer(self, name: str, request: int, payload: Any) -> None:
        # All of this applies to this task only: the address that is counted, and the fields of its log lines.
        caller.called_from(self.address)
        log_context.bind_command(name, request)
        known = name if name in COMMANDS else "unknown"
        began = time.monotonic()
        try:
            with identity.asked_by(self.asker):
                body = await dispatch(self, name, request, payload)
            self._write("success", request, body)
        except CommandError as error:
            counters.COMMAND_ERRORS.labels(known, error.payload["code"]).inc()
            if error.payload["code"] == "source.not-found" and await self._is_recalled():
                await self.close(CLOSED)  # unanswered: the page sends it again, as who it is by now
            else:
                self._refuse(request, error)
        except Exception as error:
            found = outage.cause_of(error)
            refusal = CommandError("server.error") if found is None else unavailable(found)
            if found is None:
                log.exception("a command failed", command=name)
            else:
                outage.requests.failed(error)
            counters.COMMAND_ERRORS.labels(known, refusal.payload["code"]).inc()
            self._refuse(request, refusal)
        else:
            outage.requests.succeeded()
        finally:
            counters.COMMAND_SECONDS.labels(known).observe(time.monotonic() - began)
            self._answered(name, request)
            self._under_way.discard(request)
            self._given_up.discard(request)

    async def _is_recalled(self) -> bool:
        with outage.SuppressOutage():
            return bool(self.visitor) and await in_storage(recalls.is_recalled, self.visitor, self.opened)
        return False

    # --- outgoing --------------------------------------------------------------------------

    def push(self, name: str, payload: Any, *, latest: bool = False) -> None:
        """Send a frame that is not an answer; ``latest``: in place of one of that name not yet sent."""
        self._write(name, None, payload, slot=name if latest else "")

    def _refuse(self, request: int | None, error: CommandError) -> None:
        self._write("error", request, error.payload)

    def _write(self, name: str, request: int | None, payload: Any, slot: str = "") -> None:
        if not self._outgoing.overflown:
            self.push_text(wire.frame(name, request, payload), slot)

    def push_text(self, text: str, slot: str = "", sent: bytes | None = None) -> None:
        """Send an encoded frame, in place of one of the same ``slot`` not yet sent."""
        if self._outgoing.overflown:
            return
        if not self._outgoing.put(text, slot, sent):
            log.warning("a slow client is disconnected", address=self.address)
            if self._sender:
                self._sender.cancel()
            closing = asyncio.create_task(self.close(POLICY_VIOLATION))
            self._running.add(closing)
            closing.add_done_callback(self._running.discard)

    async def _send_frames(self) -> None:
        # Nothing can be sent to a client that left or was closed (RuntimeError); `disconnect` follows and
        # cleans up.
        with suppress(OSError, RuntimeError):
            await self._outgoing.send_all(self._send)

    async def _send(self, queued: Queued) -> None:
        if queued.sent is None:
            await self.send(text_data=queued.text)
        else:
            await self.base_send({"type": "websocket.send", "text": queued.text, ENCODED: queued.sent})


def _bursts() -> tuple[float, float]:
    """Return how many frames and bytes may arrive at once."""
    large = max(limit("FRAME_BYTES_PER_SECOND") * BURST_SECONDS, 2 * limit("FRAME_BYTES"))
    return float(limit("FRAMES_PER_SECOND") * BURST_SECONDS), float(large)
