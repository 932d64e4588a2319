"""The choice of a candidate: criteria in turn until one node is left (core.pickOneNodeForPreemption)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from scheduler_core.record.preemption import CriterionRound
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.quirks import quirk
from scheduler_core.schedulers.v1_11.preemption.dry_run import NodeVictims

PRIORITY_OFFSET = 2**31  # v1.11 adds MaxInt32 + 1 to each victim's priority before summing
FIRST_VICTIM = "first-victim-priority"


def _any_victim(candidate: NodeVictims) -> int:
    return int(bool(candidate.victims))


def _violations(candidate: NodeVictims) -> int:
    return candidate.violations


@quirk("first-victim-priority")
def _first_priority(candidate: NodeVictims) -> int:
    """Return the first victim's priority, which is not necessarily the highest."""
    return candidate.victims[0].priority


def _highest_priority(candidate: NodeVictims) -> int:
    return max(pod.priority for pod in candidate.victims)


def _priority_sum(candidate: NodeVictims) -> int:
    return sum(pod.priority + PRIORITY_OFFSET for pod in candidate.victims)


def _victim_count(candidate: NodeVictims) -> int:
    return len(candidate.victims)


def _latest_start(candidate: NodeVictims) -> int:
    """Return the earliest start among the victims of the highest priority, negated: the latest is lowest."""
    highest = _highest_priority(candidate)
    return -min(pod.started for pod in candidate.victims if pod.priority == highest)


class Criterion(Struct, frozen=True):
    """A row of the table: the candidates with the lowest ``value`` stay. ``text`` is its displayed name.

    ``quirk`` is the quirk that enables the row, ``instead_of`` the quirk that disables it;
    ``framework`` rows apply only with DefaultPreemption's rules of 1.22.
    """

    id: str
    text: str
    value: Callable[[NodeVictims], int]
    quirk: str | None = None
    instead_of: str | None = None
    note: str = ""
    framework: bool = False

    def in_force(self, profile: Profile) -> bool:
        """Return whether the row applies under a profile."""
        if self.framework and not profile.framework_preemption:
            return False
        return (self.quirk is None or self.quirk in profile.quirks) and self.instead_of not in profile.quirks


CRITERIA = (
    Criterion("no-victims", "a node without victims", _any_victim),
    Criterion("pdb-violations", "fewest PDB violations", _violations),
    Criterion(
        "first-priority",
        "lowest priority of the first victim",
        _first_priority,
        quirk=FIRST_VICTIM,
        note="v1.11 looks at the first victim only, and those that violate a budget stand in front.",
    ),
    Criterion(
        "highest-priority",
        "lowest priority of the highest victim",
        _highest_priority,
        instead_of=FIRST_VICTIM,
    ),
    Criterion(
        "priority-sum",
        "smallest sum of the victims' priorities",
        _priority_sum,
        note=f"{PRIORITY_OFFSET:,} is added to each priority before summing, "
        "so that one more victim always weighs more.",
    ),
    Criterion("victim-count", "fewest victims", _victim_count),
    Criterion(
        "start-time",
        "latest start of the most important victims",
        _latest_start,
        note="In virtual time alone, as since 1.12: of each node the earliest start among its victims of the "
        "highest priority counts. A pod that has not started counts as started now.",
        framework=True,
    ),
)
"""Applied in this order until one node is left; if several are left, the tie-break is :data:`NAME`."""

NAME = "name"
NAME_TEXT = "first by name"
NAME_NOTE = "v1.11 takes any of them, as its maps have no order."
TEXTS: dict[str, tuple[str, str]] = {row.id: (row.text, row.note) for row in CRITERIA} | {
    NAME: (NAME_TEXT, NAME_NOTE)
}
"""The displayed name and note of each criterion that a :class:`CriterionRound` can name."""


class Pick(Struct):
    """The chosen candidate, the sorted names of all that tie on every criterion, and the comparisons."""

    chosen: NodeVictims
    ties: list[str]
    comparisons: list[CriterionRound]


def pick_node(candidates: list[NodeVictims], profile: Profile, *, explain: bool = False) -> Pick:
    """Choose among one or more candidates; ``comparisons`` are kept only with ``explain``."""
    left = candidates
    comparisons: list[CriterionRound] = []
    for criterion in CRITERIA:
        if len(left) == 1 or (criterion is not CRITERIA[0] and not left[0].victims):
            break  # a candidate without victims wins at once
        if not criterion.in_force(profile):
            continue
        values = [criterion.value(candidate) for candidate in left]
        best = min(values)
        if explain:
            comparisons.append(_comparison(criterion.id, left, values))
        left = [candidate for candidate, value in zip(left, values) if value == best]
    names = sorted(candidate.node for candidate in left)
    if explain and len(left) > 1:
        places = {name: place for place, name in enumerate(names)}
        comparisons.append(_comparison(NAME, left, [places[candidate.node] for candidate in left]))
    chosen = next(candidate for candidate in left if candidate.node == names[0])
    return Pick(chosen, names if chosen.victims else names[:1], comparisons)


def _comparison(criterion: str, left: list[NodeVictims], values: list[int]) -> CriterionRound:
    column = np.array(values, np.int64)
    nodes = np.array([candidate.index for candidate in left], np.int64)
    return CriterionRound(criterion, nodes, column, column == column.min())
