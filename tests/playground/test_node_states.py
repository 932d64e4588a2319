"""How nodes stand after every cycle, by operations and by controllers, as the workbench is reported it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.panels import steps
from playground.playback.playback import Playback
from playground.playback.tables import Tables, node_state
from playground.playback.trail import Trail
from scheduler_core import load
from scheduler_core.run import simulate
from tests.parts import REPOSITORY

FAILS = (REPOSITORY / "scheduler_core" / "authoring" / "examples" / "node-fails.yaml").read_text()

CHANGED = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: podstep/v1
kind: Scenario
metadata: {name: nodes}
spec:
  operations:
  - step: {major: 1, minor: 2}
    patchOperation:
      typeMeta: {apiVersion: v1, kind: Node}
      objectMeta: {name: n1}
      patch:
        spec: {unschedulable: true}
        status: {allocatable: {cpu: "8"}, conditions: [{type: DiskPressure, status: "True"}]}
  - step: {major: 2, minor: 1}
    deleteOperation: {typeMeta: {apiVersion: v1, kind: Node}, objectMeta: {name: n2}}
  - step: {major: 3, minor: 1}
    createOperation:
      object:
        apiVersion: v1
        kind: Node
        metadata: {name: n2}
        status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
"""

VIRTUAL = """
apiVersion: podstep/v1
kind: SimulationSettings
time: virtual
"""


def played(text: str) -> Playback:
    """Return a playback that has been computed to its end."""
    playback = Playback(load(text, title="t"))
    while playback.advance(1):
        pass
    return playback


def stood(trail: Trail, index: int) -> dict[str, Any]:
    """Return the nodes that are there before a cycle, as a client of the protocol derives them."""
    wire = trail.tables.node_wire()
    given = [node_state(node) for node in trail.tables.nodes]
    changed = dict(map(tuple, trail.nodes.before(index)))
    return {
        name: {**given[node], **changed.get(node, {})}
        for node, name in enumerate(wire["names"])
        if changed.get(node, {}) is not None
    }


@pytest.mark.parametrize(
    "text", [FAILS, CHANGED, f"{CHANGED}---\n{VIRTUAL}"], ids=["fails", "changed", "timed"]
)
def test_nodes_stand_as_the_simulation_has_them(text: str) -> None:
    """After every cycle, computed or read from stored rows, nodes are what they are in the simulation."""
    playback = played(text)
    rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, Tables(playback.scenario))
    again.extend(json.loads(json.dumps(rows)))
    simulation = simulate(playback.scenario, trace=False)
    seen = set()
    for index in range(1, len(playback) + 1):
        simulation.step()
        nodes = {name: node_state(node) for name, node in simulation.cluster.nodes.items()}
        assert stood(playback.trail, index + 1) == nodes, index
        assert stood(again, index + 1) == nodes, index
        seen.add(json.dumps(nodes, sort_keys=True))
    assert len(seen) > 1, "nothing changed"


def test_windows_lead_from_one_state_of_the_nodes_to_the_next() -> None:
    """A client that applies a window's changes of nodes has what the next window begins with."""
    playback = played(CHANGED)
    states: dict[int, Any] = {}
    for index in range(1, len(playback) + 1):
        window = json.loads(steps.window(playback, index, 1))
        assert {node: state for node, state in states.items() if state != {}} == dict(window["nodes"])
        states.update(window["cycles"][0]["nodes"])
    assert [state for state in states.values() if state] == [
        {
            "cpu": 8000,
            "conditions": ["DiskPressure=True"],
            "unschedulable": True,
            "taints": [
                "node.kubernetes.io/disk-pressure:NoSchedule",
                "node.kubernetes.io/unschedulable:NoSchedule",
            ],
        },
        {"cpu": 2000},
    ]


def test_a_failed_node_is_reported_from_its_moment_on() -> None:
    """The moment that finds a node silent names it, so that the stage can show it from then on."""
    playback = played(FAILS)
    index = next(i for i in range(1, len(playback) + 1) if playback.trail.nodes.of(i))
    moments = steps.parts(playback, index, ["moments"])["moments"]
    named = [(moment["what"], moment["time"]) for moment in moments if moment.get("nodes") == [1]]
    assert named[:2] == [("NodeNotReady", 114.2), ("TaintsChanged", 114.2)]
    assert playback.trail.nodes.of(index)[0][1]["conditions"][0] == "Ready=Unknown"


def test_the_end_tells_of_nodes_that_changed_after_the_last_cycle() -> None:
    """A node that comes back when no pod is left to try is ready again at the end."""
    playback = played(FAILS.replace("replicas: 5", "replicas: 3"))
    last = len(playback)
    silent = next(state for node, state in playback.trail.nodes.before(last + 1) if node == 1)
    assert silent["conditions"][0] == "Ready=Unknown"
    assert steps.parts(playback, last + 1, [])["nodes"] == [[1, {}]]


def test_rows_of_an_older_run_say_that_nothing_is_known() -> None:
    """A run stored before rows mentioned nodes opens, and its windows say that they do not know."""
    playback = played(FAILS)
    rows = [playback.trail.row(index)[:-1] for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, Tables(playback.scenario))
    again.extend(json.loads(json.dumps(rows)))
    assert not again.nodes.known
    playback.trail.nodes.known = False
    assert json.loads(steps.window(playback, 1, 1))["nodes"] is None
