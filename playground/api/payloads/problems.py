"""Why a request was refused, and what a full quota of storage answers."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import Payload
from playground.protocol.page import ProblemWire
from scheduler_core.kubernetes.plain import Count


class StoredItem(Payload):
    """An item that counts against a quota of storage."""

    kind: Literal["draft", "link", "comparison", "run"]
    id: str
    title: str
    bytes: Count


class StorageUse(Payload):
    """The state of a quota of storage."""

    used: Count
    allowed: Count
    needed: Count
    largest: list[StoredItem]


class Errors(Payload):
    """Why a request was refused."""

    errors: list[ProblemWire]
    storage: Annotated[
        StorageUse | UnsetType,
        Meta(description="If storage is full: compressed bytes, and the owner's largest items to delete"),
    ] = UNSET
