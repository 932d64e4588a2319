"""The bodies of calls about comparisons."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import DateTime, Expires, Json, Payload
from scheduler_core.kubernetes.plain import Count


class ComparedPlacement(Payload):
    """Where a pod ends on each side."""

    pod: str
    left: str
    right: str


class Sides(Payload):
    """The same of both sides."""

    left: Json
    right: Json


class Comparison(Payload, kw_only=True):
    """Field by field in docs/protocol.md, at compare.get."""

    left: Json
    right: Json
    same: bool
    first: Json | None
    difference: Json | UnsetType | None = UNSET
    configuration: list[str] | UnsetType = UNSET
    living: list[str] | UnsetType = UNSET
    differing: Count
    placements: list[ComparedPlacement]
    metrics: Sides
    upgrade: Json | UnsetType | None = UNSET
    alignment: list[list[Count]] | UnsetType | None = UNSET
    differences: list[list[Any]] | UnsetType = UNSET
    moreDifferences: bool | UnsetType = UNSET  # noqa: N815 - as in the protocol
    workloads: list[Json] | UnsetType = UNSET
    workloadCount: Count | UnsetType = UNSET  # noqa: N815


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


class StoredComparison(Comparison, kw_only=True):
    """A comparison as it was when it was made. A side has ``release`` and the ``url`` of its page, too."""

    id: str
    url: str
    title: str
    created: DateTime
    expires: Expires
