"""The records of a run for the workbench: attempts and binding cycles, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from scheduler_core.kubernetes.model import PodGroupStatus
from scheduler_core.record.plugin_record import AttemptRecord
from scheduler_core.record.preemption import Preemption
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.v1_22.status import Status

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_11.filters import Filtered
    from scheduler_core.schedulers.v1_11.scores import Ranking

AttemptResult = Literal["", "scheduled", "waiting", "unschedulable", "error"]


@dataclass(slots=True)
class Attempt:
    """One scheduling cycle. ``statuses`` are the plugins' results, as (extension point, plugin, status).

    The statuses of the binding cycle are appended when it runs, if the pod did not wait at Permit.

    ``failed`` is ``(N,) int16``: why the pod fits no node, as codes of the cluster's reasons; ``placed`` is
    the queue to which the pod returned. ``victims`` are evicted for it, ``cleared`` lose their nomination.
    ``filtered``, ``scored`` and ``preemption`` are the results of Filter, Score and DefaultPreemption; they
    have their matrices if the framework keeps details. ``further`` are the other pods that the attempt
    places, each with its node.

    A custom scheduler may also write PodGroup statuses, ``groups`` by ``namespace/name``, and evict the
    ``victims`` for any of its pods. If it is ``settled``, its next attempt would have the same result until
    an object changes, so that it is not made before. ``in_vain`` are other pods that it tried in vain, each
    with the message. ``session`` is its own record of the attempt.
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
    scored: Ranking | None = None
    preemption: Preemption | None = None
    further: tuple[tuple[str, str], ...] = ()
    groups: tuple[tuple[str, PodGroupStatus], ...] = ()
    in_vain: tuple[tuple[str, str], ...] = ()
    settled: bool = False
    session: AttemptRecord | None = None

    @property
    def ranked(self) -> bool:
        """Whether several nodes were feasible, so that they were scored."""
        return self.scored is not None


class BindingCycle(Struct, frozen=True):
    """The plugins' statuses after Permit, as (extension point, plugin, status): PreBind, Bind, PostBind.

    It is the detail of the event that ends the binding cycle: Scheduled or FailedScheduling.
    """

    node: str
    statuses: tuple[tuple[str, str, Status], ...]
