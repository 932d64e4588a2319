"""The bodies of calls about what the equivalence cache is worth."""

from __future__ import annotations

from playground.api.payloads.payload import Json, Payload
from scheduler_core.kubernetes.plain import Count


class Costs(Payload):
    """Field by field in docs/protocol.md, at worth.cost."""

    rows: list[Json]


class Divergence(Payload):
    """Field by field in docs/protocol.md, at worth.other."""

    here: Json
    there: Json
    differing: Count
    first: Json | None
