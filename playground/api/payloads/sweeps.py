"""The bodies of calls about sweeps."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import Json, Payload
from scheduler_core.kubernetes.plain import Count


class NewSweep(Payload):
    """A scenario and the grid to run it under; see docs/sweeps.md."""

    scenario: str
    grid: Annotated[
        dict[str, Any], Meta(description="Lists of values by axis, or objects by name; see docs/sweeps.md")
    ]
    sample: Annotated[
        Json | UnsetType, Meta(description="{cells, seed}: how many cells run, drawn by a seed")
    ] = UNSET
    halving: Annotated[
        Json | UnsetType, Meta(description="{arrivals or seconds, keep, by}: rungs, and which cells go on")
    ] = UNSET
    prices: Annotated[
        Json | UnsetType, Meta(description="Prices of a node by the hour, by label and value")
    ] = UNSET


class CreatedSweep(Payload):
    """A sweep that is queued."""

    id: str
    url: str
    cells: Count
    cancel_token: str


class SweepCell(Payload):
    """A cell: a value for each axis, its run, and the figures that it ended with."""

    number: Annotated[int, Meta(ge=1)]
    rung: Annotated[int, Meta(ge=1)]
    values: dict[str, Any]
    run: Annotated[str | None, Meta(description="null once the run has expired")]
    state: Literal["queued", "running", "cancelling", "done", "cancelled", "failed"]
    metrics: Annotated[Json | None, Meta(description="See docs/sweeps.md; null until the run is done")]
    error: str | None
    optimum: Annotated[Json | None, Meta(description="See docs/sweeps.md; null until it is asked for")]


class CellDistance(Payload, rename="camel"):
    """How far a cell's placement is from the best of its pods on its nodes; see docs/sweeps.md."""

    verdict: Annotated[
        Literal["improved", "optimal", "equal", "other", ""], Meta(description='"" without one, see `why`')
    ]
    means: str
    placed: Count
    nodes: Count
    best_placed: Count | None
    best_nodes: Count | None
    seconds: float
    left_out: Annotated[list[str], Meta(description="Rules that the search does not know")]
    why: str


class SweepAxis(Payload):
    """An axis with its values, in the order in which they are applied."""

    name: str
    values: list[Any]


class Sweep(Payload):
    """A sweep; ``front`` has the numbers of the cells that no other is better than."""

    id: str
    url: str
    title: str
    scenario: str | None
    state: Literal["running", "done", "cancelled"]
    done: Annotated[Count, Meta(description="Cells that have ended")]
    total: Count
    whole: Annotated[Count, Meta(description="Cells of the whole grid, of which a sample may run")]
    rungs: Annotated[list[Any], Meta(description="Of halving: arrivals or seconds, and how many of them")]
    by: Annotated[list[str], Meta(description="The figures that rank the cells of a rung")]
    axes: list[SweepAxis]
    front: list[int]
    cells: list[SweepCell]
    created: str | None
    finished: str | None
    mine: bool
