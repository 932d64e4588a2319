"""``session.…``: what a client needs to know about this server."""

from __future__ import annotations

from django.conf import settings

from playground.calls.requests import Index, Request
from playground.limits import limit
from playground.live.commands import Answer, Call, command
from playground.protocol.answers import HelloWire, NothingWire

LIMITS = (
    *("FRAME_BYTES", "SMALL_FRAME_BYTES", "FRAME_BYTES_PER_SECOND", "FRAMES_PER_SECOND"),
    *("BUNDLE_BYTES", "DRAFT_BYTES", "WINDOW_CYCLES", "MARKS", "EVENTS"),
)


@command("session.hello", Request, answers=HelloWire, framed="step")
async def hello(call: Call[Request]) -> Answer:
    """Return the version and the limits that a client should respect."""
    return {"version": settings.VERSION, "limits": {name: limit(name) for name in LIMITS}}


class RequestCancel(Request):
    request: Index


@command("request.cancel", RequestCancel, answers=NothingWire, framed="step")
async def cancel(call: Call[RequestCancel]) -> Answer:
    """Cancel a request that is in progress, and stop its work; it is answered ``request.superseded``."""
    call.connection.cancel(call.payload.request)
    return {}
