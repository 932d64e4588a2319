"""podstep in the process of the tests, for the pages that Node opens."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """Serve the application in this event loop, from the test's database; yields its origin."""
    from playground.asgi import application

    # Without podstep's protocols, whose connections are the process', and without what its start begins:
    # no other test is to find either.
    server = uvicorn.Server(uvicorn.Config(application, lifespan="off", log_level="warning"))
    listening = socket.create_server(("127.0.0.1", 0))  # from here on: who comes early waits
    serves = asyncio.create_task(server.serve([listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serves
