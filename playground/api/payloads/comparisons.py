"""The bodies of calls about comparisons."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import Expires, Payload


class NewComparison(Payload):
    """What to compare, as in the query of ``GET /api/compare``."""

    left: Annotated[str, Meta(description="A scenario, run, link or draft: its id, or kind:id")]
    right: str
    leftScheduler: str | UnsetType = UNSET  # noqa: N815 - as in the query
    rightScheduler: str | UnsetType = UNSET  # noqa: N815


class ComparisonCreated(Payload):
    """A stored comparison, and the only copy of its delete token."""

    id: str
    url: str
    delete_token: str
    expires: Expires
