"""How PodGroups stand at a moment: all of them in short, and any one of them in full."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from scheduler_core.framework.scheduler import Framework
from scheduler_core.timed.gangs import (
    MEMBERS_SHOWN,
    PodGroupRecord,
    alive,
    controller_of,
    coscheduling_of,
    counters_of,
    members_of,
    states_of,
    until_of,
)

GROUPS_SHOWN = 100
HOLDING = frozenset({"waiting", "bound"})


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A PodGroup in short; ``assigned`` members hold a node, ``waiting`` ones of them at Permit."""

    key: str
    phase: str
    min_member: int
    members: int
    assigned: int
    waiting: int
    denied_until: float | None
    backed_off_until: float | None = None


@dataclass(frozen=True, slots=True)
class Groups:
    """The first PodGroups that there are, in order of creation, and the ``count`` of all.

    ``table`` is the edition whose rules the controller follows; ``coscheduling`` whether the plugin runs.
    """

    time: float
    table: str
    coscheduling: bool
    listed: tuple[GroupSummary, ...]
    count: int


def groups_of(framework: Framework) -> Groups:
    """Return all PodGroups in short."""
    return Groups(
        framework.clock.now,
        controller_of(framework).edition,
        coscheduling_of(framework.plugins) is not None,
        tuple(_summary(framework, key) for key in islice(framework.groups, GROUPS_SHOWN)),
        len(framework.groups),
    )


def _summary(framework: Framework, key: str) -> GroupSummary:
    group, plugin = framework.groups[key], coscheduling_of(framework.plugins)
    states = [member.state for member in members_of(framework, key)]
    return GroupSummary(
        key,
        group.status.phase,
        group.min_member,
        len(states),
        sum(state in HOLDING for state in states),
        states.count("waiting"),
        until_of(plugin.state.denied, key, framework.clock.now) if plugin is not None else None,
        until_of(plugin.state.backed_off, key, framework.clock.now) if plugin is not None else None,
    )


def standing(framework: Framework, key: str) -> PodGroupRecord | None:
    """Return a PodGroup as it stands, ``None`` if there is no such group and no pod names it."""
    group, members = framework.groups.get(key), members_of(framework, key)
    if group is None and not members:
        return None
    now, plugin = framework.clock.now, coscheduling_of(framework.plugins)
    known = plugin.state if plugin is not None else None
    return PodGroupRecord(
        key,
        group.min_member if group is not None else None,
        group.status.phase if group is not None else None,
        group.status.phase if group is not None else None,
        counters_of(group),
        sum(member.state in HOLDING for member in members),
        tuple(members[:MEMBERS_SHOWN]),
        len(members),
        until_of(known.denied, key, now) if known is not None else None,
        until_of(known.backed_off, key, now) if known is not None else None,
        until_of(known.permitted, key, now) if known is not None else None,
        alive(known.denied, now) if known is not None else (),
        alive(known.backed_off, now) if known is not None else (),
        states_of(members),
        now,
    )
