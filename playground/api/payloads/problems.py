"""Problems with a request, and what a full quota of storage answers."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import Payload
from scheduler_core.kubernetes.plain import Count


class Problem(Payload):
    """An error or a warning."""

    line: Annotated[int | None, Meta(description="1-based")]
    path: Annotated[str, Meta(examples=["spec.containers[0].resources.requests.cpu"])]
    message: str
    document: int | UnsetType | None = UNSET
    file: str | UnsetType = UNSET
    unhonored: Annotated[
        str | UnsetType,
        Meta(
            description="For a warning that the result may differ: the field that other clusters honor",
            examples=["spec.overhead"],
        ),
    ] = UNSET
    incomplete: Annotated[
        bool | UnsetType, Meta(description="Whether a warning says what the dump of a cluster lacks")
    ] = UNSET
    details: Annotated[
        list[str] | UnsetType, Meta(description="What the message sums up, a sentence an object")
    ] = UNSET


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

    errors: list[Problem]
    storage: Annotated[
        StorageUse | UnsetType,
        Meta(description="If storage is full: compressed bytes, and the owner's largest items to delete"),
    ] = UNSET
