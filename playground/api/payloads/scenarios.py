"""The bodies of calls about scenarios."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from playground.api.payloads.payload import DateTime, Expires, Json, Payload, Totals
from playground.protocol.page import ProblemWire
from scheduler_core.kubernetes.plain import Count

Binary = Annotated[str, Meta(extra_json_schema={"format": "binary"})]


class Form(Payload):
    """Files, or a text."""

    file: Annotated[list[Binary], Meta(description="Files, archives")] | UnsetType = UNSET
    bundle: str | UnsetType = UNSET
    title: str | UnsetType = UNSET


class NewScenario(Payload):
    """A bundle as JSON."""

    bundle: str
    title: str | UnsetType = UNSET


class Created(Payload):
    """A stored scenario."""

    id: str
    url: str
    delete_token: str
    expires: Expires
    warnings: list[ProblemWire]
    summary: Totals


class Scenario(Payload):
    """An immutable scenario."""

    id: str
    digest: str
    url: str
    title: str
    nodes: Count
    pods: Count
    operations: Count
    bytes: Count
    created: DateTime
    expires: Expires
    documents: list[Json]


class Cycles(Payload):
    """Consecutive cycles."""

    first: Count = field(name="from")
    cycles: list[Annotated[Any, Meta(extra_json_schema={"$ref": "#/components/schemas/Cycle"})]]
    total: Count
    complete: bool


class Why(Payload):
    """Field by field in docs/protocol.md, at why.ask."""

    pod: str
    state: str
    node: str | None
    asked: str | None
    index: Count
    step: str
    summary: str
    nodes: list[Json]
    groups: list[Json]
    changes: list[Json]
    sections: list[Json]
    warnings: list[ProblemWire]


class Found(Payload):
    """Field by field in docs/protocol.md, at cycle.find."""

    index: int | None
    why: list[tuple[Count, str]]
    seen: Count
    over: bool
