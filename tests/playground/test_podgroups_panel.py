"""The PodGroups part of a cycle: a gang's members, timers and outlook, and the phases of both editions."""

from __future__ import annotations

from typing import Any

import pytest

from playground.panels import steps
from playground.panels.outlook import outlook
from playground.panels.phases import final_of, phases_of, ways_of
from playground.playback.playback import Playback
from scheduler_core import load
from scheduler_core.run import simulate
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.schedulers.coscheduling.controller import FINAL, PHASE_TABLES
from scheduler_core.schedulers.coscheduling.podgroup_status import standing
from scheduler_core.schedulers.coscheduling.record import PodGroupRecord
from tests.playground.test_virtual_time import CHURN, TEXTS, played

CURRENT = """
apiVersion: kubescheduler.config.k8s.io/v1beta3
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
    multiPoint: {enabled: [{name: Coscheduling}]}
  pluginConfig:
  - {name: Coscheduling, args: {podGroupBackoffSeconds: 20}}
---
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: train}
spec: {minMember: 5}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 5
  template:
    metadata: {labels: {scheduling.x-k8s.io/pod-group: train}}
    spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
"""
GATED = CURRENT.replace("spec: {containers", "spec: {schedulingGates: [{name: later}], containers")


def part(playback: Playback, index: int) -> dict[str, Any]:
    """Return the podgroups part of a cycle."""
    found: dict[str, Any] = steps.parts(playback, index, ["podgroups"])["podgroups"]
    return found


def words(sentence: list[Any]) -> str:
    """Return a sentence without its links."""
    return "".join(text if isinstance(text, str) else next(iter(text.values())) for text in sentence)


def kinds(group: dict[str, Any]) -> dict[str, float | None]:
    """Return when each kind of thing comes next for a group."""
    return {kind: at for at, kind, _ in reversed(group["outlook"]["next"])}


def test_the_part_follows_a_gang_from_its_first_wait_to_its_phase_running() -> None:
    """Members wait with a deadline, the fourth lets all of them through, and the phase is lit."""
    playback = played(TEXTS["coscheduling-room"])
    first, fourth = part(playback, 1)["group"], part(playback, 4)["group"]
    waiting = [member for member in first["members"] if member["state"] == "waiting"]
    assert (first["phase"], first["assigned"], len(waiting)) == ("PreScheduling", 1, 1)
    assert waiting[0]["deadline"] == pytest.approx(10, abs=0.1)  # scheduleTimeoutSeconds
    assert waiting[0]["deadline"] - waiting[0]["since"] == 10
    assert (fourth["phase"], fourth["assigned"]) == ("Scheduled", 4)
    assert [member["state"] for member in fourth["members"]].count("bound") == 4
    assert fourth["permit"]["allowedCount"] == 3
    reported = "".join(str(sentence) for _, sentence in part(playback, 4)["consequences"])
    assert "Scheduled" in reported
    last = part(playback, len(playback))["group"]
    assert last["phase"] == "Running"
    assert [member["state"] for member in last["members"]].count("running") == 4


def test_the_part_shows_the_rejection_and_the_denial_of_a_gang_without_room() -> None:
    """PostFilter rejects the group, it is denied, and the next member is refused for that."""
    playback = played(TEXTS["coscheduling-no-room"])
    fourth, fifth = part(playback, 4), part(playback, 5)
    group = fourth["group"]
    assert group["postFilter"]["rejectedCount"] == 3
    assert group["deniedUntil"] == group["denials"][0]["until"] > fourth["time"]
    assert sum(member["rejected"] for member in group["members"]) == 3
    assert fifth["group"]["preFilter"]["why"] == "denied"
    assert any("rejected while waiting" in str(sentence) for _, sentence in fourth["consequences"])


def test_the_resource_check_shows_what_each_node_has_left() -> None:
    """The numbers lead from minResources to nothing, node by node."""
    check = part(played(CHURN), 1)["group"]["resourceCheck"]
    rows = [row for node in check["nodes"] for row in node["resources"]]
    cpus = [row for row in rows if row["resource"] == "cpu"]
    assert check["enough"] and check["need"]["cpu"] == cpus[0]["needBefore"] == 6000
    assert all(row["needAfter"] == row["needBefore"] - row["left"] for row in rows)
    assert all(row["left"] == row["allocatable"] - row["requested"] for row in rows)


def test_timers_are_counted_from_after_the_cycle() -> None:
    """The time that is left is that of the record itself, for the group in flight and for any other."""
    playback = played(CHURN)
    for index in range(1, len(playback) + 1):
        found = part(playback, index)
        if found["group"] is not None:
            assert found["time"] == found["group"]["time"]
        with playback.after(index) as simulation:
            assert found["time"] == simulation.framework.clock.now  # type: ignore[attr-defined]


@pytest.mark.parametrize("edition", ["classic", "current"])
def test_the_phase_diagram_has_every_rule(edition: str) -> None:
    """Every rule of an edition's table leads somewhere in the diagram, and all phases can be reached."""
    table, ways = PHASE_TABLES[edition], ways_of(edition)
    rules = [rule for rules in (*table.entry.values(), table.others) for rule in rules]
    assert {(rule.phase, rule.text) for rule in rules} <= {(to, text) for _, to, text in ways}
    assert {"", *(to for _, to, _ in ways)} == set(phases_of(edition))
    assert not {start for start, _, _ in ways} & FINAL
    assert set(final_of(edition)) == FINAL


def test_a_phase_that_nobody_sets_is_not_final() -> None:
    """A manifest may say Unknown: the controller still looks at that group, and the part does not deny it."""
    text = TEXTS["coscheduling-room"].replace("minMember: 4}", "minMember: 4}\nstatus: {phase: Unknown}")
    found = part(played(text), 1)
    assert found["final"] == ["Finished", "Failed"]
    assert "final" not in words(found["group"]["outlook"]["now"])


# What it waits for


def test_the_outlook_of_a_group_that_waits() -> None:
    """It says who is missing, when the first wait ends and what that does, and what frees them all."""
    group = part(played(TEXTS["coscheduling-room"]), 3)["group"]
    assert words(group["outlook"]["now"]) == (
        "3 wait at Permit, holding room on a node each, for 1 more to have one: 3 of 4 hold a node."
    )
    assert kinds(group)["wait"] == pytest.approx(10, abs=0.1)
    assert [words(text) for at, _, text in group["outlook"]["next"] if at is None] == [
        "As soon as 1 more member has a node, all that wait are bound."
    ]


def test_the_outlook_of_a_denied_group_ends_with_its_retries() -> None:
    """The denial runs out, and every member that was put aside is tried again at the time that is shown."""
    playback = played(TEXTS["coscheduling-no-room"])
    group = part(playback, 6)["group"]
    assert words(group["outlook"]["now"]).startswith("Denied: PreFilter turns its pods away; none of 4")
    assert kinds(group)["denied"] == group["deniedUntil"] == pytest.approx(3, abs=0.1)
    flush = kinds(group)["flush"]
    assert steps.parts(playback, 7, ["queue"])["queue"]["time"] == pytest.approx(flush, abs=0.1)


def test_the_outlook_of_a_backed_off_group_of_the_current_edition() -> None:
    """A group of 5 on a node for 4 is backed off, and listed as a denied one is."""
    playback = played(CURRENT)
    index = next(i for i in range(1, len(playback) + 1) if part(playback, i)["group"]["backedOffUntil"])
    found = part(playback, index)
    group = found["group"]
    assert words(group["outlook"]["now"]).startswith("Backed off")
    until = group["backedOffUntil"]
    assert kinds(group)["backed-off"] == until == pytest.approx(20, abs=0.1)
    assert group["backOffs"] == [{"group": "default/train", "until": until}]
    assert found["groups"][0][7] == until
    assert group["denials"] == [] and group["deniedUntil"] is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("minMember: 5", "minMember: 6"), "Too few members: 5 of at least 6 exist"),
        (("minMember: 5", "minMember: 4"), "Complete: 4 of 4 hold a node. 1 more is an extra"),
        (("metadata: {name: train}\nspec: {min", "metadata: {name: other}\nspec: {min"), "There is no such"),
        (('disabled: [{name: "*"}]}\n    multiPoint: {enabled: [{name: Coscheduling}]}', "}"), "4 of 5"),
    ],
    ids=["too-few", "extras", "absent", "no-plugin"],
)
def test_how_a_group_stands_is_one_sentence(change: tuple[str, str], said: str) -> None:
    """What is reported first is the reason that decides, whatever else holds too."""
    text = CURRENT.replace(*change)
    if said == "4 of 5":
        text = text.replace("queueSort: {enabled: [{name: Coscheduling}], }", "{}").replace(
            "pluginConfig:\n  - {name: Coscheduling, args: {podGroupBackoffSeconds: 20}}",
            "percentageOfNodesToScore: 100",
        )
    playback = played(text)
    assert words(part(playback, len(playback))["group"]["outlook"]["now"]).startswith(said)


def test_gated_members_hold_up_a_group_and_nothing_but_an_event_helps() -> None:
    """With all of its pods gated a group has no timer at all."""
    simulation = simulate(load(GATED))
    assert isinstance(simulation, TimedSimulation)
    simulation.step()
    record = standing(simulation.framework, "default/train")
    assert record is not None
    reported = outlook(record, "current", scheduled=True)
    assert words(reported["now"]).startswith("Gated: 5 of its 5 members")
    assert [(at, kind) for at, kind, _ in reported["next"]] == [(None, "event")]


def test_a_final_phase_ends_the_outlook() -> None:
    """Of a finished group it is said that nobody looks at it, and nothing comes next."""
    record = PodGroupRecord("default/g", 1, "Finished", "Running", {}, 0, (), 0)
    reported = outlook(record, "classic", scheduled=True)
    assert words(reported["now"]) == "Finished is final: the controller no longer reconciles the group."
    assert reported["next"] == []
