"""The types of what is sent: rooms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from playground.protocol.declarations import Named, row


class PositionWire(TypedDict):
    """Where the leader of a room is, in the room's scene."""

    scene: int
    seq: int
    step: str
    at: NotRequired[float]
    phase: NotRequired[str]
    tab: NotRequired[str]
    view: NotRequired[str]
    node: NotRequired[str]
    pod: NotRequired[str]
    colour: NotRequired[str]
    group: NotRequired[str]
    shade: NotRequired[str]
    cell: NotRequired[str | Sequence[str]]
    spot: NotRequired[str | Sequence[str]]


QuestionKind = Annotated[Literal["node", "fits", "victims", "choice", "lesson"], Named("QuestionKind")]
Answer = Annotated[str | bool | Sequence[str] | int | float, Named("Answer")]
_QuestionBallot = Annotated[Sequence[Any], row(name=str, node=NotRequired[str])]
_QuestionOption = Annotated[Sequence[Any], row(key=str, label=str, group=str)]
_QuestionTally = Annotated[Sequence[Any], row(answer=Answer, votes=int)]


class FirstRoundWire(TypedDict):
    votes: int
    tally: Sequence[_QuestionTally]
    others: int


class QuestionWire(TypedDict):
    """What a room is asked to predict; with its tally and answer once it is revealed."""

    number: int
    kind: QuestionKind
    text: str
    choices: Sequence[str] | None
    index: NotRequired[int | None]
    step: NotRequired[str | None]
    pod: NotRequired[str | None]
    hides: NotRequired[int | None]  # the first cycle that is hidden until it is revealed
    ballot: NotRequired[Sequence[_QuestionBallot] | None]  # nodes, or pods with their nodes; null: too many
    revealed: bool
    votes: int
    tally: NotRequired[Sequence[_QuestionTally]]
    others: NotRequired[int]
    round: NotRequired[Literal[1, 2]]  # of voting
    before: NotRequired[FirstRoundWire]  # the first round, once revealed
    why: NotRequired[Sequence[str]]  # the cycle's story, once revealed
    answer: NotRequired[Answer | None]
    right: NotRequired[int | None]
    accepted: NotRequired[Sequence[Answer]]  # the votes that are right, of a lesson's question once revealed
    lesson: NotRequired[str]  # the slug, of a lesson's question
    stop: NotRequired[str]
    form: NotRequired[str]  # of its answer
    options: NotRequired[Sequence[_QuestionOption]]  # what can be answered; none where it is typed
    unit: NotRequired[str]


Role = Annotated[Literal["lead", "watch"], Named("Role")]


_LessonStop = Annotated[Sequence[Any], row(key=str, title=str, asks=bool)]
_Veil = Annotated[Sequence[Any], row(last=int, phase=str | None)]


class RoomLessonWire(TypedDict):
    """The stop of the lesson that a room teaches."""

    slug: str
    title: str
    minutes: int
    stop: str
    stops: Sequence[_LessonStop]
    heading: str
    text: str  # HTML
    revealed: Sequence[str]  # stops whose question was
    veil: _Veil | None  # how far viewers see from the stop's side
    away: bool  # the room is at another scenario: nothing of the stop is shown


class RoomStateWire(TypedDict):
    """Everything that a page shows of a room: one version of it, which moves as a whole."""

    version: int
    scenario: str
    title: str
    position: PositionWire
    veil: _Veil | None  # how far viewers see
    question: QuestionWire | None
    lesson: RoomLessonWire | None


class JoinedWire(RoomStateWire):
    """What joining a room answers."""

    role: Role
    person: str
    name: str
    owner: bool
    code: str  # six letters, to join by
    watching: int
