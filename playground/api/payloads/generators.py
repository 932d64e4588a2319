"""The bodies of calls about recipes of clusters."""

from __future__ import annotations

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


class Generated(Payload):
    """Field by field in docs/protocol.md, at cluster.generate."""

    bundle: str
    documents: Count
    summary: Json
