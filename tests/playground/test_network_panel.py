"""The Flow part of a round of Firmament: classes, arcs with flow and cost, and the paths of pods."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.panels import steps
from playground.panels.network import ARCS, network
from scheduler_core import load
from scheduler_core.authoring.examples import find
from scheduler_core.kubernetes.problems import BundleError
from tests.core.firmament.test_scheduler import NODE, POD, TIME, cycles_of
from tests.playground.test_virtual_time import played


def test_the_gang_of_the_example_is_mapped_and_taken_back() -> None:
    """Its arcs carry flow, its pods go nowhere, and the web pods are placed."""
    example = find("firmament-gang")
    assert example is not None
    playback = played(example.read())
    part: dict[str, Any] = json.loads(json.dumps(steps.parts(playback, 1, ["network"])["network"]))
    (phase,) = part["phases"]
    train, web = phase["classes"]
    assert (phase["kind"], phase["dropped"], phase["unscheduled"]) == ("batch", ["train"], 2)
    assert [(to, flow, capacity) for to, _, flow, capacity, *_ in train["arcs"]] == [
        (f"machine-{n}", 1, 1) for n in (1, 2, 3)
    ]
    assert (train["tasks"], train["unscheduled"], web["unscheduled"]) == (5, 2, 0)
    assert sum(flow for _, _, flow, *_ in web["arcs"]) == 4
    paths = {pod: rest for pod, *rest in part["paths"]}
    assert len(paths) == part["pathCount"] == 9
    gone = [rest for pod, rest in paths.items() if pod.startswith("default/train")]
    assert all(why == "its gang has fewer places than its minimum" for *_, why in gone)


def test_costs_are_those_of_the_arcs_and_the_next_best_is_free() -> None:
    """What all pods pay is the cost of the flow problem."""
    (cycle,) = cycles_of(TIME, NODE.format("n1", 4), NODE.format("n2", 4), POD.format("a", 1))
    part = network(cycle)
    (phase,), ((_, number, of, node, index, cost, following, next_cost, why),) = part["phases"], part["paths"]
    assert (number, of, index, why) == (0, phase["classes"][0]["name"], 0, "")
    assert cost == phase["cost"] == sum(paid for *_, paid in phase["classes"][0]["arcs"])
    assert following != node and next_cost >= cost


def test_many_machines_are_one_by_capacity() -> None:
    """So that a large round stays small."""
    nodes = [NODE.format(f"n{n}", 4 if n % 2 else 2) for n in range(120)]
    (cycle,) = cycles_of(TIME, *nodes, *(POD.format(f"p{n}", 1) for n in range(3)))
    ((only,),) = ([phase["classes"] for phase in network(cycle)["phases"]],)
    assert sorted((to, machines) for to, machines, *_ in only[0]["arcs"]) == [
        ("2 CPU, 8 GiB", 60),
        ("4 CPU, 8 GiB", 60),
    ]
    assert len(only[0]["arcs"]) <= ARCS


def test_preemption_is_a_warning_by_name_and_no_flag_of_others() -> None:
    """With the line that asks for it."""
    text = "kind: SimulationSettings\ntime: virtual\nschedulers:\n- {name: %s, preemption: true}\n"
    node = "---\n" + NODE.format("n1", 4)
    (warning,) = load(text % "poseidon" + node).warnings
    assert warning.line == 4 and "preemption: true has no effect" in warning.message
    with pytest.raises(BundleError, match="is a flag of Firmament"):
        load(text % "kube-batch" + node)
