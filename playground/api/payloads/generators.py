"""The bodies of calls about recipes of clusters."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import Json, Payload
from scheduler_core.kubernetes.plain import Count


class Generator(Payload):
    """The fields of a recipe."""

    top: list[Json]
    pools: list[Json]
    workloads: list[Json]
    fit: list[Json]
    shapes: Json
    recipes: list[Json]


class Recipe(Payload):
    """Fields as listed by GET /api/generate; numbers may be JSON numbers or strings."""

    pools: list[Json] | UnsetType = UNSET
    workloads: list[Json] | UnsetType = UNSET
    fit: Annotated[
        Json | UnsetType, Meta(description="{workload, count}: the text that `podstep fit --save` writes")
    ] = UNSET


class Generated(Payload):
    """Field by field in docs/protocol.md, at cluster.generate."""

    bundle: str
    documents: Count
    summary: Json
