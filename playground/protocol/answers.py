"""What commands answer, beyond what has a module of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from playground.protocol.comments import ThreadWire
from playground.protocol.declarations import Named, Raw, row
from playground.protocol.drafts import BranchComparisonWire, OverTimeOutcomeWire
from playground.protocol.generators import ClusterSummaryWire, FormWire, OperationWire, RewrittenWire
from playground.protocol.groups import GroupRecordWire
from playground.protocol.links import PrivateLinkWire
from playground.protocol.page import FieldProblemWire, ProblemWire
from playground.protocol.rooms import Role
from playground.protocol.session import SessionStepsWire
from playground.protocol.sources import DumpRowWire, PendingCauseWire, RecordedAnswerWire
from playground.protocol.tables import ClusterEvent
from playground.protocol.timeline import MarksWire
from playground.protocol.worth import CostWire


class HelloWire(TypedDict):
    version: str
    limits: Mapping[str, int]


class RecordedAnswersWire(TypedDict):
    answers: Sequence[RecordedAnswerWire]
    more: int


class TriageWire(TypedDict):
    waiting: int
    pending: int
    causes: Sequence[PendingCauseWire]
    dump: Sequence[DumpRowWire]
    command: str


class ContentsWire(TypedDict):
    names: int
    images: int
    env: int
    commands: int
    annotations: int
    data: int
    secrets: int


class LocatedWire(TypedDict):
    index: int


_TimelineWindowFrom = TypedDict("_TimelineWindowFrom", {"from": int})


class TimelineWindowWire(_TimelineWindowFrom):
    marks: MarksWire


_EventListEvent = Annotated[Sequence[Any], row(index=int, rest=ClusterEvent)]


class EventListWire(TypedDict):
    events: Sequence[_EventListEvent]
    more: bool


class CostTableWire(TypedDict):
    rows: Sequence[CostWire]


class MadeDraftWire(TypedDict):
    draft: str
    url: str


class CheckedBundleWire(TypedDict):
    errors: Sequence[ProblemWire]
    warnings: Sequence[ProblemWire]
    summary: Mapping[str, int]


class ConfiguredWire(TypedDict):
    text: str
    rewritten: bool


class ObjectTextWire(TypedDict):
    object: str


_ObjectListKind = Annotated[Sequence[Any], row(kind=str, count=int, names=Sequence[str])]


class ObjectListWire(TypedDict):
    index: int
    step: str
    kinds: Sequence[_ObjectListKind]


class OperationListWire(TypedDict):
    count: int
    operations: Sequence[OperationWire]


class OperationEffectWire(TypedDict):
    id: str
    effect: bool
    text: str


class OperationTextWire(TypedDict):
    id: str
    yaml: str


class AmendedTextWire(TypedDict):
    text: str
    rewritten: bool
    words: str


class FormListWire(TypedDict):
    forms: Sequence[FormWire]


class MadeClusterWire(TypedDict):
    draft: str
    url: str
    summary: ClusterSummaryWire


class VerbSentenceWire(TypedDict):
    sentence: str
    operations: int
    errors: Sequence[FieldProblemWire]


class ChangedPolicyWire(TypedDict):
    text: str


class LeftOutWire(TypedDict):
    env: int
    commands: int
    secrets: int


class OpenedBundleWire(TypedDict):
    draft: str
    url: str
    left: LeftOutWire
    warnings: Sequence[ProblemWire]
    summary: Mapping[str, int]


class SavedDraftWire(TypedDict):
    revision: int
    left: NotRequired[LeftOutWire]
    text: NotRequired[str]


class TitledDraftWire(TypedDict):
    draft: str
    url: str
    title: str


class SharedScenarioWire(TypedDict):
    scenario: str
    url: str
    deleteToken: str


class StartedRunWire(TypedDict):
    run: str
    url: str


class CommentListWire(TypedDict):
    scenario: str
    threads: Sequence[ThreadWire]


class ResolvedThreadWire(TypedDict):
    resolved: bool


class LinkListWire(TypedDict):
    links: Sequence[PrivateLinkWire]


class RenamedLinkWire(TypedDict):
    title: str


class RoomMovedWire(TypedDict):
    seq: int


class VoteCastWire(TypedDict):
    number: int


class RoomTravelledWire(TypedDict):
    scenario: str


_PeopleInRoomPeople = Annotated[Sequence[Any], row(person=str, name=str)]


class PeopleInRoomWire(TypedDict):
    watching: int
    people: Sequence[_PeopleInRoomPeople]


class RoleGivenWire(TypedDict):
    role: Role


class NothingWire(TypedDict):
    """An answer that only says that it is done."""


class IndexedStepsWire(SessionStepsWire):
    """Steps of the session of a cycle."""

    index: int


class IndexedGroupWire(GroupRecordWire):
    """A PodGroup as it stands after a cycle."""

    index: int


class OperatedWire(RewrittenWire):
    """The text of a draft with another operation."""

    id: str


class ComparedOutcomeWire(BranchComparisonWire):
    """A branch and its parent, with the workloads over time."""

    overTime: OverTimeOutcomeWire | None
    lacks: Sequence[ProblemWire]


WrittenComment = Annotated[Any, Raw("Comment & Partial<Thread>"), Named("WrittenComment")]
