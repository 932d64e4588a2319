"""The bodies of requests and responses, from which the components of the OpenAPI document are generated.

A class is a component by its name and its docstring. A field with the default UNSET may be left out. Fields
whose objects the protocol describes (docs/protocol.md) are objects here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from scheduler_core.kubernetes.plain import Count
from scheduler_core.record.availability import Availability

T = TypeVar("T")
Json = dict[str, Any]
DateTime = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Binary = Annotated[str, Meta(extra_json_schema={"format": "binary"})]
Expires = Annotated[
    DateTime | None,
    Meta(description="Kept until then; opening it postpones the date. null: it never expires"),
]
Totals = dict[str, Count]


class Payload(Struct):
    """A body."""


def sent(value: T | UnsetType | None) -> T | None:
    """Return the value of a field that may be left out, None if it was."""
    return None if value is UNSET else value


class Form(Payload):
    """Files, or a text."""

    file: Annotated[list[Binary], Meta(description="Files, archives")] | UnsetType = UNSET
    bundle: str | UnsetType = UNSET
    title: str | UnsetType = UNSET


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
    warnings: list[Problem]
    summary: Totals


class LeftOut(Payload):
    """How many of each a draft does not store."""

    env: Count
    commands: Count
    secrets: Count


class Draft(Payload):
    """An owner's bundle, which may have errors."""

    id: str
    url: str
    title: str
    revision: Count
    bytes: Count
    based_on: Annotated[str | None, Meta(description="scenario:<id> or run:<id>")]
    parent: Annotated[str | None, Meta(description="The source of the branch: as based_on, or draft:<id>")]
    step: Annotated[str | None, Meta(description="The step of the parent at which it branches off")]
    created: DateTime
    updated: DateTime
    expires: Expires
    bundle: Annotated[
        str | UnsetType, Meta(description="The text; present if a single draft is requested")
    ] = UNSET
    token: Annotated[str | UnsetType, Meta(description="Present when a draft is created")] = UNSET
    errors: Annotated[list[Problem] | UnsetType, Meta(description="Present when a text was saved")] = UNSET
    warnings: list[Problem] | UnsetType = UNSET
    summary: Totals | UnsetType = UNSET
    left_out: Annotated[
        LeftOut | UnsetType, Meta(description="What of a saved text was not stored; `keep=yes` stores it")
    ] = UNSET


class NewDraft(Draft, kw_only=True):
    """The owner's token, valid for all of the owner's drafts."""

    token: str
    warnings: list[Problem]
    summary: Totals


class Drafts(Payload):
    """An owner's drafts."""

    drafts: list[Draft]


class DraftChange(Payload):
    """What to replace."""

    bundle: str | UnsetType = UNSET
    title: str | UnsetType = UNSET


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
    warnings: list[Problem]


class Found(Payload):
    """Field by field in docs/protocol.md, at cycle.find."""

    index: int | None
    why: list[tuple[Count, str]]
    seen: Count
    over: bool


class Costs(Payload):
    """Field by field in docs/protocol.md, at worth.cost."""

    rows: list[Json]


class Divergence(Payload):
    """Field by field in docs/protocol.md, at worth.other."""

    here: Json
    there: Json
    differing: Count
    first: Json | None


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


class Rows(Payload):
    """Rows with the names of their columns; ``more`` is whether there are others than these."""

    columns: list[str]
    rows: list[list[Any]]
    more: bool


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


class Distance(Payload, rename="camel"):
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


class Link(Payload):
    """Field by field in docs/protocol.md, at link.check."""

    id: str
    url: str
    title: str
    query: Annotated[str, Meta(description="Of the address: what is on screen")]
    created: DateTime
    expires: DateTime
    same: bool
    compared: Count
    differing: Count
    first: Json | None
    changed: list[str]
    pinned: Json
    current: Json


class CommentRequest(Payload):
    """step may be left out with parent, which is the comment that is answered."""

    text: str
    step: str | UnsetType | None = UNSET
    node: str | UnsetType | None = UNSET
    pod: str | UnsetType | None = UNSET
    rule: str | UnsetType | None = UNSET
    parent: str | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET


class CommentChange(Payload):
    """What to change of a comment."""

    text: str | UnsetType = UNSET
    resolved: bool | UnsetType = UNSET


class Comment(Payload):
    """A comment; one that begins a thread has its place, and whether it is resolved."""

    id: str
    url: str
    parent: str | None
    text: Annotated[str, Meta(description="Text, never HTML")]
    name: str
    removed: bool
    created: DateTime
    edited: str | None
    step: str | UnsetType = UNSET
    node: str | UnsetType | None = UNSET
    pod: str | UnsetType | None = UNSET
    rule: str | UnsetType | None = UNSET
    about: Annotated[
        Json | UnsetType | None, Meta(description="What the step decided when this was written")
    ] = UNSET
    resolved: bool | UnsetType = UNSET


class NewComment(Comment, kw_only=True):
    """A comment, and the token that changes it."""

    edit_token: str


class Thread(Comment, kw_only=True):
    """A comment with the replies to it."""

    replies: list[Comment]


class Threads(Payload):
    """The threads of a scenario."""

    threads: list[Thread]


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


class RoomRequest(Payload):
    """A room to open, on a scenario or on a lesson."""

    scenario: str | UnsetType = UNSET
    lesson: Annotated[str | UnsetType, Meta(description="Its slug, instead of a scenario")] = UNSET
    step: str | UnsetType = UNSET
    at: Annotated[Count | UnsetType, Meta(description="A moment of the step, from 1")] = UNSET
    phase: str | UnsetType = UNSET
    tab: str | UnsetType = UNSET
    view: str | UnsetType = UNSET
    node: str | UnsetType = UNSET
    pod: str | UnsetType = UNSET
    colour: str | UnsetType = UNSET
    group: str | UnsetType = UNSET
    shade: str | UnsetType = UNSET
    title: str | UnsetType = UNSET


class RoomEnd(Payload):
    """The token that leads the room."""

    lead_token: Annotated[
        str | UnsetType, Meta(description="It may be sent as `Authorization: Bearer <token>` instead")
    ] = UNSET


class Room(Payload):
    """A room, in which viewers follow a leader."""

    id: str
    scenario: str
    title: str
    step: str
    tab: str | None
    seq: Annotated[Count, Meta(description="Counts the leader's moves")]
    watching: Count
    ended: bool
    expires: Annotated[DateTime, Meta(description="When it ends by itself")]


class NewRoom(Room):
    """A room, and the addresses and the token that lead it and watch it."""

    watch_url: str
    lead_url: Annotated[str, Meta(description="The token is behind the #, which no server is sent")]
    lead_token: str


COMPONENTS: tuple[type[Struct], ...] = (
    *(Form, Errors, NewScenario, Created, NewDraft, Drafts, DraftChange, Scenario, Cycles, Why, Found, Costs),
    *(
        Divergence,
        Generator,
        Recipe,
        Generated,
        NewRun,
        Run,
        Query,
        Rows,
        NewSweep,
        CreatedSweep,
        Sweep,
        Distance,
        Link,
        CommentRequest,
        CommentChange,
        NewComment,
    ),
    *(Threads, Comparison, NewComparison, ComparisonCreated, StoredComparison),
    *(RoomRequest, RoomEnd, NewRoom, Room, Availability),
)
"""Those that a route names; the others are parts of them."""
