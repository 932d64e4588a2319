"""The Kueue part of a step: quota tree, queues, cycles with candidates, topologies, marks."""

from __future__ import annotations

import json
from typing import Any

from playground.panels import steps
from playground.playback.playback import Playback
from scheduler_core.authoring.examples import examples
from tests.core.descheduler.test_controllers import CLUSTER
from tests.playground.test_virtual_time import played


def example(slug: str) -> Playback:
    """Return an example, played to its end."""
    return played(next(one for one in examples() if one.slug == slug).read())


def part(made: Playback, index: int) -> dict[str, Any]:
    """Return the part of a step, as it leaves the server."""
    found: dict[str, Any] = json.loads(json.dumps(steps.parts(made, index, ["kueue"])["kueue"]))
    return found


def test_a_step_has_who_borrows_and_who_is_preempted() -> None:
    """The tree with what is used, borrowed and lent; heads with flavors, targets and candidates in order."""
    made = example("kueue-reclaim")
    lab, a, b = part(made, 7)["tree"]
    assert (lab["name"], lab["queue"], a["depth"], a["strategy"]) == ("lab", False, 1, "BestEffortFIFO")
    assert b["quotas"] == [["shared", "cpu", ["4", "7", "3", "0", "1"], ["", ""], [57.1, 42.9, 0.0]]]
    assert a["quotas"][0][2] == ["4", "0", "0", "3", "1"]
    found = part(made, 8)
    heads = {one["workload"]: one for cycle in found["cycles"] for one in cycle["heads"] if one["targets"]}
    (head,) = heads.values()
    assert head["workload"].startswith("default/job-a-reclaims") and head["outcome"] == "preempts"
    assert [reason for _, reason in head["targets"]] == ["InCohortReclamation"]
    assert [row[3] for row in head["considered"]] == [
        "preempted: InCohortReclamation",
        "not reached: enough is free without it",
    ]
    assert head["flavors"][0][:3] == ["main", "shared", True]


def test_queues_are_in_order_with_their_messages() -> None:
    """What waits for an event is apart from what is tried next."""
    made = example("kueue-fragments")
    found = part(made, len(made) + 1)
    (queue,) = found["queues"]
    assert (queue["name"], queue["activeCount"], queue["inadmissibleCount"]) == ("team", 0, 1)
    ((workload, priority, _, asks, message),) = queue["inadmissible"]
    assert workload.startswith("default/job-wide") and (priority, asks) == (0, "cpu 6")
    assert 'topology "racks" allows to fit only 5 out of 6 pod(s)' in message


def test_topologies_show_where_placed_pods_are() -> None:
    """Sums of the racks, and the nodes below them."""
    made = example("kueue-fragments")
    (topology,) = part(made, len(made) + 1)["topologies"]
    assert topology["levels"] == ["rack", "kubernetes.io/hostname"]
    assert [(row[0], row[1], row[4]) for row in topology["domains"]] == [
        (0, "r1", 6),
        (1, "r1-a", 3),
        (1, "r1-b", 3),
        (0, "r2", 3),
        (1, "r2-a", 3),
        (1, "r2-b", 0),
    ]


def test_what_kueue_did_is_on_the_timeline() -> None:
    """Apart from the marks of PodGroups."""
    made = example("kueue-reclaim")
    marks = made.trail.marks(1, len(made))
    assert marks["groups"] == []
    assert {preempts for _, preempts, _ in marks["kueue"]} == {True, False}


def test_without_kueue_the_part_says_what_is_missing() -> None:
    """So that the tab is not offered."""
    assert "needs a ClusterQueue" in part(played(CLUSTER), 1)["why"]
