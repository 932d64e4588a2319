"""The bodies of calls about private links."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from playground.api.payloads.payload import DateTime, Json, Payload
from scheduler_core.kubernetes.plain import Count


class Link(Payload):
    """Field by field in docs/protocol.md, at link.check."""

    id: str
    url: str
    title: str
    query: Annotated[str, Meta(description="Of the address: what is on screen")]
    created: DateTime
    expires: DateTime
    same: bool
    compared: Count
    differing: Count
    first: Json | None
    changed: list[str]
    pinned: Json
    current: Json
