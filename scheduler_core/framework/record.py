"""What happened, as the workbench can show it: attempts, and everything between them, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scheduler_core.cluster.reasons import Codes
from scheduler_core.framework.scoring import FrameworkScores
from scheduler_core.framework.status import Status
from scheduler_core.scheduling.filtering import Filtered
from scheduler_core.scheduling.preemption.record import Preemption

AttemptResult = Literal["", "scheduled", "waiting", "unschedulable", "error"]


@dataclass(slots=True)
class Attempt:
    """One scheduling cycle. ``statuses`` are what plugins said, as (extension point, plugin, status).

    Those of the binding cycle join them when it runs, if the pod did not wait at Permit.

    ``failed`` is ``(N,) int16``, why the pod fits no node, as codes of the cluster's reasons; ``placed``
    tells which queue took the pod back. ``victims`` go for it and ``cleared`` lose their nomination.
    ``filtered``, ``scored`` and ``preemption`` are what Filter, Score and DefaultPreemption found; they have
    their matrices if the framework keeps details.
    """

    number: int
    time: float
    pod: str
    result: AttemptResult = ""
    node: str = ""
    message: str = ""
    statuses: list[tuple[str, str, Status]] = field(default_factory=list)
    failed: Codes | None = None
    unresolvable: bool = False
    refused_by: tuple[str, ...] = ()
    nominated: str = ""
    placed: str = ""
    victims: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()
    filtered: Filtered | None = None
    scored: FrameworkScores | None = None
    preemption: Preemption | None = None


@dataclass(frozen=True, slots=True)
class BindingCycle:
    """What plugins said after Permit, as (extension point, plugin, status): PreBind, Bind, PostBind.

    The detail of the event that ends it: Scheduled, or FailedScheduling.
    """

    node: str
    statuses: tuple[tuple[str, str, Status], ...]
