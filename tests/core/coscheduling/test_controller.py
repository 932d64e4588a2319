from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.kubernetes.model import Pod, PodGroupStatus
from scheduler_core.schedulers.coscheduling.controller import (
    PHASE_TABLES,
    PHASES,
    members_of,
    sync,
    until_stable,
)
from scheduler_core.schedulers.coscheduling.post_bind import post_bind
from tests.core.coscheduling.parts import CREATED, group, pod

CLASSIC, CURRENT = PHASE_TABLES["classic"], PHASE_TABLES["current"]


def pods(*phases: str) -> list[Pod]:
    """Make a member in each phase."""
    return [pod(f"p{number}", phase=phase) for number, phase in enumerate(phases)]


def test_each_sync_is_one_step_at_the_beginning() -> None:
    """A new group is Pending first, however many members it has."""
    members = pods("Running", "Running")
    one = sync(CLASSIC, group(2), PodGroupStatus(), members)
    two = sync(CLASSIC, group(2), one.status, members)
    assert [one.status.phase, two.status.phase] == ["Pending", "PreScheduling"]


def test_a_whole_life_in_the_current_edition() -> None:
    """Pending, Scheduling, Running, back to Scheduling when members vanish, Finished."""
    reported = PodGroupStatus(phase="Pending")
    lives = [(), ("Pending",) * 2, ("Running",) * 2, ("Running", "Pending"), ("Running",), ("Succeeded",) * 2]
    phases = []
    for life in lives:
        reported = sync(CURRENT, group(2), reported, pods(*life)).status
        phases.append(reported.phase)
    reported = until_stable(CURRENT, group(2), reported, pods("Succeeded", "Succeeded"))
    assert phases == ["Pending", "Scheduling", "Running", "Scheduling", "Pending", "Scheduling"]
    assert reported.phase == "Finished"


def test_several_rules_apply_in_one_sync() -> None:
    """Classic goes from Scheduling through Scheduled and Running to Finished at once, and tells the rules."""
    start = PodGroupStatus(phase="Scheduling", scheduled=2)
    found = sync(CLASSIC, group(2), start, pods("Succeeded", "Succeeded"))
    assert found.rules == ("all-bound", "running", "finished")
    assert (found.status.phase, found.status.succeeded) == ("Finished", 2)
    assert (found.facts.n, found.facts.s) == (2, 2)


def test_a_failed_member_that_succeeds_enough_ends_finished() -> None:
    """Finished overrules Failed in the same sync."""
    found = sync(CURRENT, group(2), PodGroupStatus(phase="Running"), pods("Failed", "Succeeded", "Succeeded"))
    assert found.rules[-2:] == ("failed", "finished")
    assert found.status.phase == "Finished"


@pytest.mark.parametrize("table", [CLASSIC, CURRENT])
@pytest.mark.parametrize("phase", ["Finished", "Failed"])
def test_final_phases_are_not_looked_at(table: object, phase: str) -> None:
    """Nothing changes a group that is over, not even its pods' return."""
    found = sync(table, group(1), PodGroupStatus(phase=phase), pods("Running"))  # type: ignore[arg-type]
    assert (found.status.phase, found.skipped, found.status.running) == (phase, "final", 0)


def test_a_group_older_than_two_days_is_left_alone() -> None:
    """Scheduling that began more than 48 hours after creation: a warning in current, silence in classic."""
    late: dict[str, Any] = {"schedule_start_time": "2021-01-03T00:00:01Z"}
    current = sync(CURRENT, group(2), PodGroupStatus("Pending", **late), pods("Pending", "Pending"))
    assert (current.skipped, current.warning) == ("old", "schedule time longer than 48 hours")
    classic = sync(CLASSIC, group(2), PodGroupStatus("Scheduling", scheduled=2, **late), pods("Running"))
    assert (classic.skipped, classic.warning) == ("old", "")
    in_time = PodGroupStatus("Pending", schedule_start_time="2021-01-03T00:00:00Z")
    assert sync(CURRENT, group(2), in_time, pods("Pending", "Pending")).status.phase == "Scheduling"


def test_occupied_by_lists_the_first_members_owners() -> None:
    """Current always writes the owners, sorted; of classic nothing comes but what stood there before."""
    members = [pod("a", owners=("z", "b")), pod("b")]
    assert sync(CURRENT, group(2), PodGroupStatus("Pending"), members).status.occupied_by == "ns/b,ns/z"
    assert sync(CLASSIC, group(2), PodGroupStatus("Pending"), members).status.occupied_by == ""
    held = PodGroupStatus("Pending", occupied_by="ns/x")
    assert sync(CLASSIC, group(2), held, members).status.occupied_by == "ns/x"


def test_pods_of_all_namespaces_are_counted() -> None:
    """The controller lists by label alone: a stranger of the same name completes the group."""
    members = members_of(group(2), [pod("a"), pod("b", namespace="other"), pod("c", "other-group")])
    assert len(members) == 2


def test_every_rule_leads_to_a_phase_of_the_api() -> None:
    """The tables name no phase that the API does not have, and never Unknown."""
    rules = [rule for t in PHASE_TABLES.values() for row in (*t.entry.values(), t.others) for rule in row]
    assert {rule.phase for rule in rules} <= set(PHASES) - {"", "Unknown"}


def test_scheduled_lags_behind_in_the_api() -> None:
    """With minMember 3 users read 1 after the second bind: only a change of phase is stored."""
    seen = stored = PodGroupStatus(phase="PreScheduling")
    reported = []
    for _ in range(3):
        done = post_bind(group(3, status={"phase": seen.phase, "scheduled": seen.scheduled}), stored, CREATED)
        seen, stored = done.seen, done.stored
        reported.append((stored.phase, stored.scheduled, seen.scheduled, done.patched))
    assert reported == [("Scheduling", 1, 1, True), ("Scheduling", 1, 2, False), ("Scheduled", 3, 3, True)]


def test_the_first_bind_notes_when_scheduling_began() -> None:
    """ScheduleStartTime is set once, with the first phase Scheduling."""
    done = post_bind(group(2, status={"phase": "PreScheduling"}), PodGroupStatus("PreScheduling"), CREATED)
    assert done.stored.schedule_start_time == CREATED
    kept = post_bind(
        group(2, status={"phase": "PreScheduling", "schedule_start_time": "x"}), PodGroupStatus(), CREATED
    )
    assert kept.stored.schedule_start_time == "x"
