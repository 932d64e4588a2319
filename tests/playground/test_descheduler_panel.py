"""The Descheduler part of a step: passes, candidates with their verdicts, thresholds, and ping-pong."""

from __future__ import annotations

import json
from typing import Any

from playground.panels import steps
from playground.playback.playback import Playback
from playground.reference.descheduler_form import rows
from scheduler_core.authoring.verbs import VERBS
from scheduler_core.cluster.descheduler.protections import DEFAULT_EVICTOR
from scheduler_core.cluster.descheduler.table import PLUGINS
from tests.core.descheduler.test_controllers import BUDGET, CLUSTER, LOW, PACKING, POLICY
from tests.playground.test_virtual_time import played

SETTINGS = "apiVersion: podstep/v1\nkind: SimulationSettings\ndescheduler: {interval: 60s, passes: %d}\n"


def playback(*more: str, passes: int = 4, cpu: str = "150m") -> Playback:
    """Return six pods on one node, beside which an empty one comes, with a descheduler."""
    return played("\n---\n".join((SETTINGS % passes, POLICY % LOW, CLUSTER.replace("150m", cpu), *more)))


def part(played: Playback, index: int) -> dict[str, Any]:
    """Return the part of a step, as it leaves the server."""
    return json.loads(json.dumps(steps.parts(played, index, ["descheduler"])["descheduler"]))


def test_a_pass_is_shown_with_thresholds_and_verdicts() -> None:
    """From the first cycle after it on; before it there is none."""
    made = playback()
    assert part(made, 1)["last"] is None and part(made, 1)["passes"] == []
    found = part(made, 7)
    (done,) = found["passes"]
    assert (done["number"], done["time"], done["evicted"], done["refused"]) == (1, 60.0, 3, 0)
    assert done["spread"]["cpu"] == 90.0
    (strategy,) = found["last"]["strategies"]
    assert (strategy["name"], strategy["point"]) == ("LowNodeUtilization", "balance")
    assert strategy["utilization"]["low"] == {"cpu": 30.0} and strategy["utilization"]["high"] == {
        "cpu": 50.0
    }
    assert [(row[0], row[1], row[2]["cpu"]) for row in strategy["utilization"]["nodes"]] == [
        ("n1", "overutilized", 90.0),
        ("n2", "underutilized", 0.0),
    ]
    assert strategy["outcomes"] == {"evicted": 3, "kept": 3} and strategy["candidateCount"] == 6
    assert [row[2] for row in strategy["candidates"]] == ["evicted"] * 3 + ["kept"] * 3
    assert all(row[3] for row in strategy["candidates"])


def test_the_end_has_the_spread_that_is_left() -> None:
    """So that the last pass has an afterwards."""
    made = playback()
    end = part(made, len(made) + 1)
    assert end["spread"]["cpu"] == 0.0
    assert end["last"]["strategies"][0]["stopped"] == "no node is underutilized"


def test_refusals_of_a_budget_are_verdicts() -> None:
    """With the message of the eviction API."""
    (strategy,) = part(playback(BUDGET, passes=1), 7)["last"]["strategies"]
    assert strategy["outcomes"] == {"evicted": 1, "refused": 5}
    assert "does not allow evicting pods currently" in strategy["candidates"][1][3]


def test_ping_pong_is_named() -> None:
    """By workload and node, with how often."""
    made = playback(PACKING, cpu="100m, memory: 10Mi")
    ((workload, node, times),) = part(made, len(made))["returns"]
    assert workload.startswith("ReplicaSet default/web-") and (node, times) == ("n1", 3)


def test_without_a_descheduler_the_part_says_what_is_missing() -> None:
    """And the source says so from the beginning, so that neither tab nor verb is offered."""
    made = played(CLUSTER)
    assert "needs a DeschedulerPolicy" in part(made, 1)["why"]
    assert VERBS["deschedule"].needs == "descheduler" and VERBS["deschedule"].icon


def test_passes_are_marks_of_the_timeline() -> None:
    """Apart from those of PodGroups, and from the first cycle after each on."""
    made = playback()
    marks = made.trail.marks(1, len(made))
    assert marks["groups"] == []
    ((index, number, evicts, text),) = marks["passes"]
    assert (index, number, evicts) == (7, 1, True)
    assert text == "evicts 3 (LowNodeUtilization 3): node n1 has 90% of its cpu requested"
    assert made.trail.marks(1, 6)["passes"] == []


def test_every_argument_has_a_typed_field() -> None:
    """None is written as JSON; what is deprecated or not simulated is left to the YAML."""
    made = {row["name"]: {one["path"]: one for one in row["arguments"]} for row in rows()}
    assert list(made) == [DEFAULT_EVICTOR, *PLUGINS]
    types = {one["type"] for fields in made.values() for one in fields.values()}
    assert types == {"flag", "integer", "names", "numbers", "percentages", "rows", "selector", "text"}
    low = made["LowNodeUtilization"]
    assert low["thresholds"]["type"] == "percentages" and "evictionLimits.node" in low
    assert not any(path.startswith("metricsUtilization") for path in low)
    assert made["PodLifeTime"]["conditions"]["fields"][0] == ["type", "text"]
    spread = made["RemovePodsViolatingTopologySpreadConstraint"]
    assert spread["constraints"]["default"] == ["DoNotSchedule"]
