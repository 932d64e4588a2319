"""What a web process does when it starts and when it ends."""

from __future__ import annotations

from playground.limits import limit
from playground.serving import deployment
from playground.serving.bodies import AsgiScope, Receive, Send
from playground.serving.watchdog import Watchdog


async def lifespan(_scope: AsgiScope, receive: Receive, send: Send) -> None:
    """Announce the server, and watch its loop from the start to the end: an ASGI application."""
    watchdog = Watchdog(limit("LOOP_STALL_SECONDS"))
    await receive()
    watchdog.start()
    deployment.start(deployment.WEB)
    await send({"type": "lifespan.startup.complete"})
    await receive()
    watchdog.stop()
    await send({"type": "lifespan.shutdown.complete"})
