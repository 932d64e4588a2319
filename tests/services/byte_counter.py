"""A door to a server on this machine that counts the bytes that go through it."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Self

CHUNK = 65_536


class Counting:
    """Forwards a port of its own to ``port``; ``received`` counts what the server sent, as on the wire."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.received = 0
        self.base_url = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._open = threading.Event()

    def __enter__(self) -> Self:
        """Open the door."""
        self._thread.start()
        assert self._open.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, and whatever still goes through it."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._forward, "127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._open.set()
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(
            self._pass(reader, to_server, counted=False),
            self._pass(from_server, writer, counted=True),
            return_exceptions=True,
        )

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, counted: bool
    ) -> None:
        try:
            while data := await reader.read(CHUNK):
                if counted:
                    self.received += len(data)
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()
