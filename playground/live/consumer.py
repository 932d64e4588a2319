"""The one WebSocket consumer: transport only.

It reads frames, holds clients to the limits, runs commands side by side and writes their
answers in whatever order they are ready. What a command does is in :mod:`playground.live.modules`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer

from playground import identity, wire
from playground.limits import limit
from playground.live import modules  # noqa: F401 - importing them registers the commands
from playground.live.commands import COMMANDS, dispatch
from playground.live.errors import CommandError
from playground.live.watching import Watching

log = structlog.get_logger(__name__)

POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013
BURST_SECONDS = 10  # frames may come in bursts as long as this average is kept
REFUSALS = 200  # frames refused for their rate before the connection is closed
COMMANDS_AT_ONCE = 32
OUTGOING_BYTES = 64 * 2**20


class Outgoing:
    """Frames that wait for the client, bounded: a client that does not read is disconnected."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[str | None] = asyncio.Queue()
        self._bytes = 0
        self.overflown = False

    def put(self, text: str) -> bool:
        """Add a frame; return False once there are too many."""
        self._bytes += len(text)
        if self._frames.qsize() >= limit("OUTGOING_FRAMES") or self._bytes > OUTGOING_BYTES:
            self.overflown = True
        else:
            self._frames.put_nowait(text)
        return not self.overflown

    async def get(self) -> str | None:
        """Return the next frame, None at the end."""
        text = await self._frames.get()
        self._bytes -= len(text or "")
        return text

    def end(self) -> None:
        """Let :meth:`get` return None after the frames that wait."""
        self._frames.put_nowait(None)


class Connection(AsyncWebsocketConsumer):
    """One client."""

    open_by_address: ClassVar[Counter[str]] = Counter()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.visitor = ""
        self.address = ""
        self.watching = Watching(self)
        self._counted = False
        self._outgoing = Outgoing()
        self._sender: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._latest: dict[str, OrderedDict[int, None]] = {}
        self._tokens = 0.0
        self._refused = 0
        self._counted_at = 0.0

    # --- opening and closing ---------------------------------------------------------------

    async def connect(self) -> None:
        """Accept, unless the address has too many connections already."""
        headers = self.scope.get("headers", [])
        self.visitor = identity.visitor_of_headers(headers)
        forwarded = ",".join(value.decode("latin-1") for name, value in headers if name == b"x-forwarded-for")
        self.address = identity.client_address((self.scope.get("client") or ("", 0))[0], forwarded)
        if self.open_by_address[self.address] >= limit("SOCKETS_PER_ADDRESS"):
            await self.close(TRY_AGAIN_LATER)
            return
        self.open_by_address[self.address] += 1
        self._counted = True
        self._tokens = float(limit("FRAMES_PER_SECOND") * BURST_SECONDS)
        self._counted_at = time.monotonic()
        await self.accept()
        self._sender = asyncio.create_task(self._send_frames())

    async def disconnect(self, code: int) -> None:
        """Leave nothing behind: no watch, no command under way, no place in the counts."""
        self.watching.end()
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
        """Take one frame."""
        if not self._within_rate():
            await self._refuse_rate(text_data)
            return
        if text_data is None:
            self._refuse(None, CommandError("frame.malformed", "Frames are text."))
            return
        if len(text_data) > limit("FRAME_BYTES"):
            most = limit("FRAME_BYTES")
            self._refuse(None, CommandError("frame.too-large", f"A frame may have {most:,} bytes."))
            return
        try:
            name, request, payload = _parse(text_data)
        except ValueError as error:
            self._refuse(None, CommandError("frame.malformed", str(error)))
            return
        if len(self._running) >= COMMANDS_AT_ONCE:
            self._refuse(request, CommandError("server.busy"))
            return
        self._note_latest(name, request)
        task = asyncio.create_task(self._answer(name, request, payload))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _within_rate(self) -> bool:
        now = time.monotonic()
        rate = limit("FRAMES_PER_SECOND")
        self._tokens = min(self._tokens + (now - self._counted_at) * rate, float(rate * BURST_SECONDS))
        self._counted_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    async def _refuse_rate(self, text: str | None) -> None:
        self._refused += 1
        if self._refused > REFUSALS:
            await self.close(POLICY_VIOLATION)
            return
        wait = round((1 - self._tokens) / limit("FRAMES_PER_SECOND"), 3)
        request = None
        if text is not None and len(text) < 10_000:
            try:
                request = _parse(text)[1]
            except ValueError:
                request = None
        self._refuse(request, CommandError("rate.limited", retryAfter=wait))

    def _note_latest(self, name: str, request: int) -> None:
        row = COMMANDS.get(name)
        if row and row.latest:
            asked = self._latest.setdefault(name, OrderedDict())
            asked[request] = None
            while len(asked) > row.latest:
                asked.popitem(last=False)

    def unwanted(self, name: str, request: int) -> Callable[[], bool]:
        """Return a test, for any thread, whether newer requests have replaced this one."""
        asked = self._latest.get(name, OrderedDict())
        return lambda: request not in asked

    async def _answer(self, name: str, request: int, payload: Any) -> None:
        try:
            body = await dispatch(self, name, request, payload)
        except CommandError as error:
            self._refuse(request, error)
        except Exception:
            log.exception("a command failed", command=name)
            self._refuse(request, CommandError("server.error"))
        else:
            self._write("success", request, body)
        finally:
            self._latest.get(name, OrderedDict()).pop(request, None)

    # --- outgoing --------------------------------------------------------------------------

    def push(self, name: str, payload: Any) -> None:
        """Send a frame that answers nothing."""
        self._write(name, None, payload)

    def _refuse(self, request: int | None, error: CommandError) -> None:
        self._write("error", request, error.payload)

    def _write(self, name: str, request: int | None, payload: Any) -> None:
        if self._outgoing.overflown:
            return
        if not self._outgoing.put(wire.frame(name, request, payload)):
            log.warning("a slow client is disconnected", address=self.address)
            if self._sender:
                self._sender.cancel()
            closing = asyncio.create_task(self.close(POLICY_VIOLATION))
            self._running.add(closing)
            closing.add_done_callback(self._running.discard)

    async def _send_frames(self) -> None:
        while (text := await self._outgoing.get()) is not None:
            await self.send(text_data=text)


def _parse(text: str) -> tuple[str, int, Any]:
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("The frame is no JSON.") from error
    if not isinstance(frame, list) or len(frame) not in (2, 3):
        raise ValueError("A frame is a list [command, id, payload].")
    name, request = frame[0], frame[1]
    if not isinstance(name, str) or not isinstance(request, int) or isinstance(request, bool):
        raise ValueError("A frame begins with the command's name and an integer.")
    if not -(2**53) < request < 2**53:
        raise ValueError("The id must be below 2^53.")
    return name, request, frame[2] if len(frame) == 3 else {}
