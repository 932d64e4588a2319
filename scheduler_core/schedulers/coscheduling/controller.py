"""The PodGroup controller: derives phases from pods, one step per sync, by a table of rules per edition.

Both editions run on :func:`sync`; the reference page and the phase diagram show the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.kubernetes.model import Pod, PodGroup, PodGroupStatus

PHASES = (
    "", "Pending", "PreScheduling", "Scheduling", "Scheduled", "Running", "Finished", "Failed", "Unknown"
)  # fmt: skip
"""Every phase of the API. Unknown is never set."""
FINAL = frozenset({"Finished", "Failed"})
OLD = timedelta(hours=48)
OLD_WARNING = "schedule time longer than 48 hours"


class GroupCounts(Struct, frozen=True):
    """A rule's input: ``n`` members, ``r`` running, ``s`` succeeded, ``f`` failed; ``m`` is minMember.

    ``phase`` is the phase after the preceding rules, ``scheduled`` the count that PostBind stored.
    """

    phase: str
    n: int
    r: int
    s: int
    f: int
    m: int
    scheduled: int


class PhaseRule(Struct, frozen=True):
    """A row: if ``when`` holds, the phase becomes ``phase``; ``stop`` ends the sync there."""

    id: str
    text: str
    when: Callable[[GroupCounts], bool]
    phase: str
    stop: bool = False
    owners: bool = False  # occupiedBy becomes the first member's owners


class PhaseTable(Struct, frozen=True):
    """An edition's rules: ``entry`` by the phase in which a sync begins, ``others`` for all other phases.

    In the other phases the counters running, succeeded and failed are stored first, and several rules may
    apply in turn. ``old`` selects the groups that are skipped because of their age.
    """

    entry: Mapping[str, tuple[PhaseRule, ...]]
    others: tuple[PhaseRule, ...]
    old: Callable[[PodGroup, PodGroupStatus], bool]
    old_warning: str = ""

    def __deepcopy__(self, memo: dict[int, object]) -> PhaseTable:
        """Share the table, which nothing changes."""
        del memo
        return self


_START = PhaseRule("seen", "a PodGroup is new", lambda _: True, "Pending")
_FAILED = PhaseRule(
    "failed",
    "f > 0 and f + r + s ≥ minMember",
    lambda x: x.f > 0 and x.f + x.r + x.s >= x.m,
    "Failed",
)
_FINISHED = PhaseRule("finished", "s ≥ minMember", lambda x: x.s >= x.m, "Finished")


def _classic_old(group: PodGroup, status: PodGroupStatus) -> bool:
    return status.scheduled == group.min_member and status.running == 0 and _late(group, status)


def _current_old(group: PodGroup, status: PodGroupStatus) -> bool:
    return status.phase in ("Scheduling", "Pending") and status.running == 0 and _late(group, status)


CLASSIC_PHASES = PhaseTable(
    entry={
        "": (_START,),
        "Pending": (
            # classic sets the owners too, but on the base object of its patch: nothing is stored
            PhaseRule("complete", "n ≥ minMember", lambda x: x.n >= x.m, "PreScheduling"),
        ),
    },
    others=(
        PhaseRule("empty", "no member is left", lambda x: x.n == 0, "Pending", stop=True),
        PhaseRule(
            "all-bound",
            "phase Scheduling and scheduled ≥ minMember",
            lambda x: x.phase == "Scheduling" and x.scheduled >= x.m,
            "Scheduled",
        ),
        PhaseRule(
            "running",
            "phase Scheduled and r + s ≥ minMember",
            lambda x: x.phase == "Scheduled" and x.r + x.s >= x.m,
            "Running",
        ),
        _FAILED,
        _FINISHED,
    ),
    old=_classic_old,
)
CURRENT_PHASES = PhaseTable(
    entry={
        "": (_START,),
        "Pending": (PhaseRule("complete", "n ≥ minMember", lambda x: x.n >= x.m, "Scheduling", owners=True),),
    },
    others=(
        PhaseRule("too-few", "n < minMember", lambda x: x.n < x.m, "Pending", stop=True),
        PhaseRule("not-running", "r + s < minMember", lambda x: x.r + x.s < x.m, "Scheduling"),
        PhaseRule("running", "r + s ≥ minMember", lambda x: x.r + x.s >= x.m, "Running"),
        _FAILED,
        _FINISHED,
    ),
    old=_current_old,
    old_warning=OLD_WARNING,
)
PHASE_TABLES: Mapping[str, PhaseTable] = {"classic": CLASSIC_PHASES, "current": CURRENT_PHASES}


class SyncResult(Struct, frozen=True):
    """The status after a sync: with the ids of the rules that applied and the numbers they read.

    ``skipped`` is the reason why no rule was evaluated; ``warning`` is an event for users.
    """

    status: PodGroupStatus
    facts: GroupCounts | None = None
    rules: tuple[str, ...] = ()
    skipped: Literal["", "final", "old"] = ""
    warning: str = ""


def members_of(group: PodGroup, pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods that name the group, including finished ones; the controller lists *all* namespaces."""
    return [pod for pod in pods if pod.pod_group == group.meta.name]


def sync(table: PhaseTable, group: PodGroup, status: PodGroupStatus, pods: Sequence[Pod]) -> SyncResult:
    """Run one sync: ``pods`` are the members as :func:`members_of` returns them."""
    if status.phase in FINAL:
        return SyncResult(status, skipped="final")
    if table.old(group, status):
        return SyncResult(status, skipped="old", warning=table.old_warning)
    entry = table.entry.get(status.phase)
    facts = _facts(group, status, pods)
    if entry is None:
        status = replace(status, running=facts.r, succeeded=facts.s, failed=facts.f)
    applied: list[str] = []
    for rule in table.others if entry is None else entry:
        if not rule.when(facts):
            continue
        applied.append(rule.id)
        facts = replace(facts, phase=rule.phase)
        if rule.owners and pods:
            status = replace(status, occupied_by=_owners(pods[0]) or status.occupied_by)
        if rule.stop:
            break
    return SyncResult(replace(status, phase=facts.phase), facts, tuple(applied))


def until_stable(
    table: PhaseTable, group: PodGroup, status: PodGroupStatus, pods: Sequence[Pod]
) -> PodGroupStatus:
    """Sync until the status is stable: each change of the object queues the next sync."""
    for _ in range(2 * len(PHASES)):
        after = sync(table, group, status, pods).status
        if after == status:
            break
        status = after
    return status


def _facts(group: PodGroup, status: PodGroupStatus, pods: Sequence[Pod]) -> GroupCounts:
    phases = [pod.phase for pod in pods]
    return GroupCounts(
        status.phase,
        len(phases),
        phases.count("Running"),
        phases.count("Succeeded"),
        phases.count("Failed"),
        group.min_member,
        status.scheduled,
    )


def _owners(pod: Pod) -> str:
    return ",".join(sorted(f"{pod.meta.namespace}/{owner.name}" for owner in pod.meta.owner_references))


def _late(group: PodGroup, status: PodGroupStatus) -> bool:
    """Return whether scheduling began more than 48 hours after the group was created."""
    try:
        start = datetime.fromisoformat(status.schedule_start_time or "")
        return start - datetime.fromisoformat(group.meta.creation_timestamp or "") > OLD
    except (TypeError, ValueError):  # absent, invalid, or only one of them with a time zone
        return False
