"""What the server sends unasked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from playground.protocol.answers import NothingWire, RoleGivenWire, WrittenComment
from playground.protocol.audit import AuditRowPushedWire
from playground.protocol.contracts import VerdictPushedWire
from playground.protocol.drafts import RevisionWire
from playground.protocol.page import ReportWire, SourceWire
from playground.protocol.rooms import PositionWire, RoomStateWire
from playground.protocol.runs import RunWire
from playground.protocol.timeline import MarksWire

_TimelineGrewFrom = TypedDict("_TimelineGrewFrom", {"from": int})


class TimelineGrewWire(_TimelineGrewFrom):
    source: SourceWire
    cycles: int
    complete: bool
    end: bool
    stopped: str | None
    marks: MarksWire


class DraftGoneWire(TypedDict):
    draft: str


class CycleSearchedWire(TypedDict):
    source: SourceWire
    request: int
    index: int


class WorthProgressWire(TypedDict):
    source: SourceWire
    done: int
    total: int
    strategy: str


class CommentChangedWire(TypedDict):
    scenario: str
    comment: WrittenComment


class WatchingWire(TypedDict):
    watching: int
    lost: int  # of these, who cannot follow


class TallyWire(TypedDict):
    """How many have answered a question that is open."""

    number: int
    votes: int


class ProgressWire(ReportWire):
    """How far the server is with a request."""

    request: int


class DraftChangedWire(RevisionWire):
    """The revisions of a draft that changed."""

    draft: str


PUSHED: Mapping[str, Any] = {
    "timeline.grew": TimelineGrewWire,
    "request.progress": ProgressWire,
    "run.changed": RunWire,
    "draft.changed": DraftChangedWire,
    "draft.gone": DraftGoneWire,
    "cycle.searched": CycleSearchedWire,
    "worth.progress": WorthProgressWire,
    "audit.row": AuditRowPushedWire,
    "contracts.verdict": VerdictPushedWire,
    "comment.changed": CommentChangedWire,
    "room.position": PositionWire,
    "room.state": RoomStateWire,
    "room.tally": TallyWire,
    "room.people": WatchingWire,
    "room.role": RoleGivenWire,
    "room.ended": NothingWire,
}
"""What the server sends unasked, by name."""
