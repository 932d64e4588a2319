"""The bodies of calls about long runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import Expires, Json, Payload
from scheduler_core.kubernetes.plain import Count


class RunConfig(Payload, forbid_unknown_fields=True):
    """What a run has in place of the scenario's own."""

    policy: Annotated[Json | UnsetType, Meta(description="A v1 Policy")] = UNSET
    settings: Annotated[
        Json | UnsetType, Meta(description="The contents of a SimulationSettings document")
    ] = UNSET


class NewRun(Payload):
    """A run to start."""

    scenario: str
    config: RunConfig | UnsetType = UNSET


class RunCache(Payload):
    """What the equivalence cache did in a run."""

    hits: Count
    evaluations: Count
    invalidated: Count
    stale: Count
    hitRate: Annotated[float, Meta(ge=0, le=1)]  # noqa: N815 - as it is stored
    causes: Annotated[
        list[tuple[str, Count]],
        Meta(description="Stale hits found by the audit, by cause, most frequent first"),
    ]


class Run(Payload):
    """A long run."""

    id: str
    url: str
    run: str
    scenario: str | None
    title: str
    state: Literal["queued", "running", "cancelling", "done", "cancelled", "failed"]
    position: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Position in the queue, from 1; null for a run that is not queued"),
    ]
    done: Count
    total: int | None
    placed: Count
    pending: Count
    unschedulable: Count
    cache: Annotated[
        RunCache | None,
        Meta(description="Statistics of the equivalence cache for the whole run; null if it is off"),
    ]
    seconds: float
    peakMib: float  # noqa: N815 - as in the protocol
    error: str | None
    mine: bool
    created: str | None
    started: str | None
    finished: str | None
    expires: Expires
    cancel_token: str | UnsetType = UNSET


class Query(Payload):
    """A statement about the tables of a run; see docs/sweeps.md."""

    sql: str
    format: Annotated[
        Literal["json", "csv", "parquet"], Meta(description="csv and parquet are answered as a file")
    ] = "json"


class Rows(Payload):
    """Rows with the names of their columns; ``more`` is whether there are others than these."""

    columns: list[str]
    rows: list[list[Any]]
    more: bool
