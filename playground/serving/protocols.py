"""Uvicorn's HTTP and WebSocket protocols, with timeouts for each part of a client's exchange.

Uvicorn waits indefinitely for the rest of a request, for the first byte of a connection, and for a client
that does not read its response. These classes are passed to it by ``--http`` and ``--ws``.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from playground.limits import limit
from playground.serving.bodies import most_bytes
from playground.serving.connections import Phase, address_of, connections

POLICY_VIOLATION = 1008  # RFC 6455
ENCODED = "podstep.encoded"  # key of an ASGI message: the bytes of its frame, see encoded()


def encoded(text: str) -> bytes:
    """Return a text message as it goes over the wire to every client: the server's frames are not masked."""
    return Frame(Opcode.TEXT, text.encode()).serialize(mask=False)


class Reading:
    """Checks that a client sends fast enough: a minimum number of bytes per second after a grace period."""

    def __init__(self) -> None:
        self.began = 0.0
        self.bytes = 0

    def begin(self, now: float) -> None:
        """Start counting."""
        self.began, self.bytes = now, 0

    def late(self, now: float) -> bool:
        """Return whether fewer bytes have arrived than required."""
        return self.bytes < (now - self.began - limit("STALL_SECONDS")) * limit("TRANSFER_RATE")


class Writing:
    """Checks that a client reads what is sent, by the bytes buffered for it in this process."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._bytes = 0

    def progressed(self) -> None:
        """Note that the client has read the buffered bytes."""
        self._since = None

    def stalled(self, waiting: int, now: float) -> bool:
        """Return whether too few of the ``waiting`` bytes were read for too long."""
        if not waiting:
            self._since = None
        elif self._since is None:
            self._since, self._bytes = now, waiting
        elif now - self._since >= limit("STALL_SECONDS"):
            if self._bytes - waiting < limit("STALL_SECONDS") * limit("TRANSFER_RATE"):
                return True
            self._since, self._bytes = now, waiting
        return False


class Http(HttpToolsProtocol):
    """One HTTP/1.1 connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.address = ""
        self._head_since = 0.0
        self._head_bytes = 0
        self._in_body = False
        self._reading = Reading()
        self._writing = Writing()

    # --- the phase of the connection -------------------------------------------------------

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and (not self.cycle.response_complete or bool(self.pipeline))

    @property
    def _phase(self) -> Phase:
        if self.flow.write_paused:
            return Phase.READER
        if self._in_body:
            return Phase.BODY
        return Phase.SERVER if self._answering else Phase.REQUEST

    def _note(self) -> None:
        connections.enter(self, self._phase)

    # --- called by uvicorn and the parser ----------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit the connection, or answer 503."""
        super().connection_made(transport)
        self.address = address_of(self.client)
        self._head_since = self.loop.time()
        if not connections.add(self, Phase.REQUEST):
            self._refuse(503, "Service Unavailable")

    def connection_lost(self, exc: Exception | None) -> None:
        """Free its place."""
        connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the received bytes by the part of the request that they belong to."""
        if self.transport.is_closing():
            return
        self._head_bytes += len(data)
        self._reading.bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing() or self.parser is None:
            return
        # A chunked body is longer on the wire; trailers and chunk extensions are counted nowhere else.
        if self._in_body and self._reading.bytes > 2 * most_bytes():
            self._refuse(413, "Content Too Large")
        elif not self._in_body and not self._answering and self._head_bytes > limit("HEAD_BYTES"):
            self._refuse(431, "Request Header Fields Too Large")
        self._note()

    def on_message_begin(self) -> None:
        """Start the timeout of a request's head."""
        super().on_message_begin()
        self._head_since = self.loop.time()

    def on_headers_complete(self) -> None:
        """Start the timeout of the request's body."""
        super().on_headers_complete()
        self._in_body = True
        self._reading.begin(self.loop.time())

    def on_message_complete(self) -> None:
        """Stop the client's timeouts while the application answers."""
        super().on_message_complete()
        self._in_body = False
        self._head_bytes = 0

    def on_response_complete(self) -> None:
        """Start the timeout of the next request's head."""
        super().on_response_complete()
        self._head_since = self.loop.time()
        self._note()

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection's place over to the WebSocket."""
        connections.remove(self)
        super().handle_websocket_upgrade()

    def pause_writing(self) -> None:
        """Note that the response waits for the client."""
        super().pause_writing()
        self._note()

    def resume_writing(self) -> None:
        """Note that the client reads."""
        super().resume_writing()
        self._writing.progressed()
        self._note()

    # --- called by the registry ----------------------------------------------------------------

    def look(self, now: float) -> None:
        """End the connection if its client sends or reads too slowly."""
        if self._writing.stalled(self.transport.get_write_buffer_size(), now):
            self.transport.abort()
        elif self.transport.is_closing():
            return
        elif self._in_body:
            if self.flow.read_paused:  # it is the application that does not read
                self._reading.begin(now)
            elif self._reading.late(now):
                self._refuse(408, "Request Timeout")
        elif not self._answering and now - self._head_since > limit("HEAD_SECONDS"):
            if self._head_bytes:
                self._refuse(408, "Request Timeout")
            else:
                self.transport.close()

    def make_room(self) -> None:
        """Close without a response."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _refuse(self, status: int, reason: str) -> None:
        """Send an error response, unless a response has begun, and close."""
        if not self._answering or not self.cycle.response_started:
            head = f"HTTP/1.1 {status} {reason}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            self.transport.write(head.encode())
        self.transport.close()


class WebSocket(WebSocketsSansIOProtocol):
    """A WebSocket connection; pings detect clients that have disconnected (``--ws-ping-interval``)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.address = ""
        self._reading = Reading()
        self._writing = Writing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the place of the HTTP connection that was upgraded."""
        super().connection_made(transport)
        self.address = address_of(get_remote_addr(self.transport))
        connections.add(self, Phase.SERVER)

    def connection_lost(self, exc: Exception | None) -> None:
        """Free its place."""
        connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a message from its first to its last."""
        if not self._within_message:
            self._reading.begin(self.loop.time())
        self._reading.bytes += len(data)
        super().data_received(data)

    def send_receive_event_to_app(self) -> None:
        """Restart the count: what follows belongs to the next message."""
        super().send_receive_event_to_app()
        self._reading.begin(self.loop.time())

    async def send(self, message: Any) -> None:
        """Send a message of the application; one that was encoded for many connections goes out as it is."""
        data = message.get(ENCODED)
        if data is None or self.conn.extensions:
            await super().send(message)
            return
        await self.writable.wait()
        if self.conn.state is State.OPEN and not self.close_sent and not self.disconnected:
            self.transport.write(data)
        else:
            await super().send(message)  # which raises

    def pause_writing(self) -> None:
        """Note that frames wait for the client."""
        super().pause_writing()
        connections.enter(self, Phase.READER)

    def resume_writing(self) -> None:
        """Note that the client reads."""
        super().resume_writing()
        self._writing.progressed()
        connections.enter(self, Phase.SERVER)

    def look(self, now: float) -> None:
        """End the connection if its client reads too slowly, or does not finish a message."""
        if self._writing.stalled(self.transport.get_write_buffer_size(), now):
            self.transport.abort()
        elif self.transport.is_closing() or not self._within_message:
            return
        elif self.read_paused:  # it is the application that does not read
            self._reading.begin(now)
        elif self._reading.late(now):
            self.conn.fail(POLICY_VIOLATION, "message too slow")
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.close()

    def make_room(self) -> None:
        """Close without a closing frame: the client does not read anyway."""
        self.transport.abort()

    @property
    def _within_message(self) -> bool:
        return bool(self.frames or self.conn.reader.buffer)
