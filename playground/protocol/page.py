"""The types of what is sent: page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from scheduler_core.kubernetes.plain import Count
from scheduler_core.settings.terms import Terms

StoredKind = Literal["draft", "lesson", "link", "comparison", "run"]
"""What counts against a quota of storage."""


class SourceWire(TypedDict):
    """What is played.

    A draft, with a `revision` as its text was then, a stored scenario, a run, or what a link shows; under a
    `scheduler` where it is not the one that it asks for itself; `living` with controllers that have nothing
    to do.
    """

    draft: NotRequired[str]
    revision: NotRequired[int]
    scheduler: NotRequired[str]
    living: NotRequired[bool]
    scenario: NotRequired[str]
    run: NotRequired[str]
    link: NotRequired[str]
    # A side of a stored comparison: its id, and -left or -right.
    side: NotRequired[str]


class ReleaseWire(TypedDict):
    """A release of kube-scheduler, in the page's element `releases`.

    `timed` if several schedulers share its clock, `hasControllers` if nodes can fail and pods come back.
    """

    name: str
    about: str
    timed: bool
    hasControllers: bool
    hasHints: bool
    terms: Terms


class VerbArgumentWire(TypedDict):
    label: str
    example: str
    default: str


class VerbWire(TypedDict):
    """An operator's verb, in the page's element `verbs`.

    What it is called, what it is for, and what is given beside the target. `timed` needs controllers;
    `about`: it is for one object, for all nodes of a label, or for either; `question` is how its what-if is
    asked, if it has one; a node in the state `idle` is left as it is.
    """

    verb: str
    title: str
    help: str
    kinds: Sequence[str]
    timed: bool
    about: Literal["any", "one", "domain"]
    icon: str
    question: str
    idle: Literal["", "cordoned", "schedulable", "answering"]
    needs: Literal["", "descheduler"]
    value: VerbArgumentWire | None


class ProblemWire(TypedDict):
    """An error or a warning about a text."""

    message: str
    path: NotRequired[Annotated[str, Meta(examples=["spec.containers[0].resources.requests.cpu"])]]
    line: NotRequired[Annotated[int | None, Meta(description="1-based")]]
    document: NotRequired[int | None]
    file: NotRequired[str]
    unhonored: NotRequired[
        Annotated[str, Meta(description="The field that other clusters honor", examples=["spec.overhead"])]
    ]
    incomplete: NotRequired[
        Annotated[bool, Meta(description="Whether it says what the dump of a cluster lacks")]
    ]
    details: NotRequired[
        Annotated[Sequence[str], Meta(description="What the message sums up, a sentence an object")]
    ]


class FieldProblemWire(TypedDict):
    """An error or a doubt about a field of a form; `field` is "" where it is about none."""

    field: str
    message: str


class ReportWire(TypedDict):
    """How far the server is with a text, or the page with sending it."""

    stage: str
    done: int
    of: int


class StoredItemWire(TypedDict):
    """An item that counts against a quota of storage."""

    kind: StoredKind
    id: str
    title: str
    bytes: Count


class RefusalWire(TypedDict):
    """What an `error` frame carries, by its code beside the message."""

    code: str
    message: str
    errors: NotRequired[Sequence[ProblemWire]]
    warnings: NotRequired[Sequence[ProblemWire]]
    field: NotRequired[str]
    part: NotRequired[str]
    retryAfter: NotRequired[float]
    used: NotRequired[int]
    allowed: NotRequired[int]
    needed: NotRequired[int]
    largest: NotRequired[Sequence[StoredItemWire]]
    revision: NotRequired[int]
    text: NotRequired[int]
    titled: NotRequired[int]
    title: NotRequired[str]
