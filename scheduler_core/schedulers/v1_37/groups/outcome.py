"""What a group's cycle arrives at: the group's status, and what became of each member."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.status import ERROR, SUCCESS, UNSCHEDULABLE, Status

UNSCHEDULABLE_GROUP = "pod group is unschedulable"


class GroupStatus(Struct):
    """A group's status; with ``fit_error`` a fixed text precedes the reasons (errPodGroupUnschedulable)."""

    code: str
    reasons: list[str] = field(default_factory=list)
    fit_error: bool = False

    @property
    def message(self) -> str:
        """The texts joined by a comma (Status.Message)."""
        return ", ".join([UNSCHEDULABLE_GROUP, *self.reasons] if self.fit_error else self.reasons)

    @property
    def as_error(self) -> str:
        """The text of the status as an error: the fixed one alone, if it has it (Status.AsError)."""
        return UNSCHEDULABLE_GROUP if self.fit_error else self.message

    @property
    def success(self) -> bool:
        """Whether the placed members may bind."""
        return self.code == SUCCESS

    @property
    def error(self) -> bool:
        """Whether the cycle ended by error."""
        return self.code == ERROR


def unschedulable(*reasons: str, fit_error: bool = False) -> GroupStatus:
    """Return a status Unschedulable."""
    return GroupStatus(UNSCHEDULABLE, list(reasons), fit_error)


class GroupResult(Struct):
    """One evaluation of a group, in one placement or on all nodes."""

    status: GroupStatus
    attempts: list[PodAttempt] = field(default_factory=list)
    """Of the members that were tried, in order; without those after a break."""

    @property
    def placed(self) -> list[PodAttempt]:
        """The attempts that found a node."""
        return [attempt for attempt in self.attempts if attempt.node is not None and attempt.error is None]


class GroupRecord(Struct):
    """What the record shows of a group's cycle."""

    attempts: list[PodAttempt] = field(default_factory=list)
    feasible: list[dict[str, Any]] = field(default_factory=list)
    placements: list[dict[str, Any]] = field(default_factory=list)
    placement_scores: list[dict[str, Any]] = field(default_factory=list)
    post_filter: Status | None = None

    def document(self, conditions: dict[str, str]) -> dict[str, Any]:
        """Return the record's form of the group."""
        return {
            "feasible": self.feasible,
            "placements": self.placements,
            "placementScores": self.placement_scores,
            "postFilter": None if self.post_filter is None else self.post_filter.document(),
            "conditions": conditions,
        }
