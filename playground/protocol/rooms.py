"""The types of what is sent: rooms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from playground.protocol.declaring import Named, row


class PositionWire(TypedDict):
    """Where the leader of a room is."""

    seq: int
    step: str
    at: NotRequired[float]
    phase: NotRequired[str]
    tab: NotRequired[str]
    view: NotRequired[str]
    node: NotRequired[str]
    pod: NotRequired[str]
    cell: NotRequired[str | Sequence[str]]
    spot: NotRequired[str | Sequence[str]]


QuestionKind = Annotated[Literal["node", "fits", "victims", "choice"], Named("QuestionKind")]
Answer = Annotated[str | bool | Sequence[str] | int, Named("Answer")]
_QuestionBallot = Annotated[Sequence[Any], row(name=str, node=NotRequired[str])]
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
    index: NotRequired[int]
    step: NotRequired[str]
    pod: NotRequired[str]
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


Role = Annotated[Literal["lead", "watch"], Named("Role")]


class JoinedWire(TypedDict):
    """What joining a room answers."""

    role: Role
    person: str
    name: str
    owner: bool
    scenario: str
    title: str
    code: str  # six letters, to join by
    position: PositionWire
    watching: int
    question: QuestionWire | None
