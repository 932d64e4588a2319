"""Why a request was refused, and what a full quota of storage answers."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import Payload
from playground.protocol.page import ProblemWire, StoredItemWire
from scheduler_core.kubernetes.plain import Count


class StorageUse(Payload):
    """The state of a quota of storage."""

    used: Count
    allowed: Count
    needed: Count
    largest: list[StoredItemWire]


class Errors(Payload):
    """Why a request was refused."""

    errors: list[ProblemWire]
    storage: Annotated[
        StorageUse | UnsetType,
        Meta(description="If storage is full: compressed bytes, and the owner's largest items to delete"),
    ] = UNSET
