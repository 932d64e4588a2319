"""What the node controllers of v1.37.1 do with nodes' conditions, labels and deletions."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from scheduler_core.cluster.v1_37 import loop
from scheduler_core.cluster.v1_37.nodelifecycle import NodeLifecycle
from scheduler_core.cluster.v1_37.rates import TaintQueue
from scheduler_core.run.living.records import answer
from tests.core.controllers.lives import live, seconds

NODE = {"cpu": "4", "memory": "8Gi", "pods": "10"}


def node(name: str, **more: Any) -> dict[str, Any]:
    """Return a node; ``more`` are its labels and conditions."""
    status = {"allocatable": NODE, "capacity": NODE, "conditions": more.get("conditions", [])}
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2000-01-01T00:01:00Z"}
    status["conditions"] = [ready, *status["conditions"]]
    meta = {"name": name, "labels": more.get("labels", {})}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    """Return a pod without a controller."""
    container = {"name": "c", "image": "i"}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container], **spec}}


def timeline(objects: list[dict[str, Any]], *steps: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return time, kind and author of what happens in a life."""
    found = answer({"id": "x", "config": None, "objects": objects, "steps": list(steps)})["expect"][
        "timeline"
    ]
    return [(one["time"], one["what"], one.get("by") or one.get("reason")) for one in found]


def test_an_eviction_that_was_planned_outlives_its_node() -> None:
    """Taint eviction forgets a deleted node's taints, not what it planned for the pods there."""
    steps = (
        {"do": "advance", "seconds": 27},
        {"do": "fail", "node": "a"},
        {"do": "advance", "seconds": 333},
        {"do": "deleteNode", "node": "a"},
        {"do": "advance", "seconds": 100},
    )
    happened = timeline([node("a"), node("b"), pod("p", nodeName="a")], *steps)
    assert (374, "evicted", "taint") in happened


@pytest.mark.parametrize("kind", ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"])
def test_conditions_taint_their_node(kind: str) -> None:
    """A node under pressure gets a NoSchedule taint."""
    happened = timeline(
        [node("a", conditions=[{"type": kind, "status": "True"}])], {"do": "advance", "seconds": 5}
    )
    name = {"NetworkUnavailable": "network-unavailable"}.get(kind) or f"{kind[:-8].lower()}-pressure"
    assert (0, "tainted", f"node.kubernetes.io/{name}:NoSchedule") in happened


def test_a_silent_kubelet_is_under_no_pressure() -> None:
    """Conditions that a kubelet posts become Unknown with Ready; their taints go."""
    steps = ({"do": "fail", "node": "a"}, {"do": "advance", "seconds": 120})
    pressed = node("a", conditions=[{"type": "MemoryPressure", "status": "True"}])
    happened = timeline([pressed, node("b")], *steps)
    assert any(
        what == "untainted" and key == "node.kubernetes.io/memory-pressure:NoSchedule"
        for _, what, key in happened
    )


def test_nodes_get_the_old_names_of_their_labels() -> None:
    """A node selector of before 1.14 finds nodes that have today's labels alone."""
    labelled = node("a", labels={"kubernetes.io/os": "linux"})
    asking = pod("p", nodeSelector={"beta.kubernetes.io/os": "linux"})
    happened = timeline([labelled, asking], {"do": "advance", "seconds": 5})
    assert "bound" in [what for _, what, _ in happened]


def _ready_unknown(objects: list[dict[str, Any]], *steps: dict[str, Any], **flags: float) -> dict[str, int]:
    """Return when nodes' Ready became Unknown; ``flags`` are the controller manager's."""
    record = {"id": "x", "config": None, "objects": objects, "steps": list(steps), "controllers": flags}
    found = answer(record)["expect"]["timeline"]
    unknown = [one for one in found if one["what"] == "node-ready" and one["reason"] == "Unknown"]
    return {one["node"]: one["time"] for one in unknown}


def test_a_grace_period_of_whole_passes_ends_with_the_last_of_them() -> None:
    """A lease that a pass saw late, after it had marked many pods of another node, expires no later.

    Upstream waits its period from the end of a pass, so that the pass at 124 s looks at the node a whole
    grace period after the pass at 74 s has.
    """
    pods = [pod(f"p{number:02}", nodeName="a") for number in range(10)]
    steps = (
        {"do": "advance", "seconds": 27},
        {"do": "fail", "node": "a"},
        {"do": "advance", "seconds": 46},
        {"do": "fail", "node": "c"},
        {"do": "advance", "seconds": 80},
    )
    assert _ready_unknown([node("a"), node("b"), node("c"), *pods], *steps) == {"a": 74, "c": 124}


@pytest.mark.parametrize(("rate", "tainted"), [(0.5, True), (1.0, False)])
def test_a_zone_that_stopped_evicting_stays_stopped_at_a_rate_of_one(rate: float, tainted: bool) -> None:
    """A limiter that lets nothing through reports the rate 1: a zone back to normal keeps it at that rate."""
    nodes = [
        node(name, labels={"topology.kubernetes.io/zone": name[0]}) for name in ("a1", "a2", "a3", "a4", "b1")
    ]
    steps = [
        {"do": "advance", "seconds": 27},
        {"do": "fail", "nodes": ["a1", "a2", "a3"]},
        {"do": "advance", "seconds": 60},
        {"do": "recover", "nodes": ["a2", "a3"]},
        {"do": "advance", "seconds": 120},
    ]
    record = {
        "id": "x",
        "config": None,
        "objects": nodes,
        "steps": steps,
        "controllers": {"nodeEvictionRate": rate},
    }
    found = answer(record)["expect"]["timeline"]
    key = "node.kubernetes.io/unreachable:NoExecute"
    assert any(one["what"] == "tainted" and one["reason"] == key for one in found) is tainted


@pytest.mark.parametrize(("posted", "found"), [(36, 94), (33, 84)])
def test_a_heartbeat_without_a_renewed_lease_counts_for_another_pass(posted: int, found: int) -> None:
    """A new heartbeat drops the lease that was seen; the next pass takes the old one for a renewal."""
    steps = (
        {"do": "advance", "seconds": posted},
        {"do": "fail", "node": "a", "mode": "notready"},
        {"do": "fail", "node": "a"},
        {"do": "advance", "seconds": 100},
    )
    assert (found, "node-ready", "Unknown") in timeline([node("a"), node("b")], *steps)


def test_a_taint_that_is_swapped_as_the_last_node_is_lost_stays() -> None:
    """When all nodes are lost, taints come off as they were when the pass began."""
    steps = (
        {"do": "advance", "seconds": 33},
        {"do": "fail", "node": "a", "mode": "notready"},
        {"do": "fail", "nodes": ["a", "b"]},
        {"do": "advance", "seconds": 300},
    )
    happened = timeline([node("a"), node("b")], *steps)
    swapped = next(time for time, _, why in happened if why == "node.kubernetes.io/unreachable:NoExecute")
    untainted = [why for time, what, why in happened if what == "untainted" and time == swapped]
    assert sorted(untainted) == [
        "node.kubernetes.io/not-ready:NoExecute",
        "node.kubernetes.io/not-ready:NoSchedule",
    ]


def test_nodes_lost_together_are_tainted_as_a_heap_gives_them() -> None:
    """Of three nodes of a zone the first is tainted at once, then the third, then the second."""
    nodes = [node(f"n{place}") for place in range(1, 9)]
    found = live(nodes, 30, {"do": "fail", "nodes": ["n1", "n2", "n3"]}, 120)
    reason = "node.kubernetes.io/unreachable:NoExecute"
    times = [seconds(found, "tainted", node=f"n{place}", reason=reason) for place in (1, 2, 3)]
    assert times == [[84], [104], [94]]


@pytest.mark.parametrize("idle", [1_000, 90_001, 200_003])
def test_passes_that_are_left_out_would_have_found_nothing(
    idle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node fails and recovers after idle times of any length as if every pass had been made."""
    steps = (
        {"do": "advance", "seconds": idle},
        {"do": "fail", "node": "a"},
        {"do": "advance", "seconds": 400},
        {"do": "recover", "node": "a"},
        {"do": "advance", "seconds": idle},
        {"do": "deleteNode", "node": "b"},
        {"do": "advance", "seconds": idle},
    )
    objects = [node("a"), node("b"), pod("p", nodeName="a"), pod("q", nodeName="b")]
    happened = timeline(objects, *steps)
    assert {"evicted", "tainted"} <= {what for _, what, _ in happened}
    monkeypatch.setattr(loop, "IDLE_SECONDS", inf)
    assert timeline(objects, *steps) == happened


def test_taints_come_as_if_a_pass_was_made_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zones that are lost at different times and recover are tainted by their rates at the same times."""
    nodes = [node(f"n{place}") for place in range(1, 10)]
    steps = (
        {"do": "fail", "nodes": ["n1", "n2", "n3"]},
        {"do": "advance", "seconds": 75},
        {"do": "fail", "nodes": ["n4", "n5"], "mode": "notready"},
        {"do": "advance", "seconds": 33},
        {"do": "recover", "node": "n2"},
        {"do": "fail", "nodes": ["n6", "n7", "n8", "n9"]},
        {"do": "advance", "seconds": 120},
        {"do": "recover", "node": "n7"},
        {"do": "advance", "seconds": 600},
    )
    happened = timeline(nodes, *steps)
    assert sum(what == "tainted" for _, what, _ in happened) > 8
    at_once = property(lambda queue: 0.0 if len(queue) else None)
    monkeypatch.setattr(TaintQueue, "ready_at", at_once)
    assert timeline(nodes, *steps) == happened


def test_a_month_without_events_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The passes over nodes and pods of idle days are not made."""
    passes: list[float] = []
    monitor = NodeLifecycle._pass

    def counted(self: NodeLifecycle) -> None:
        passes.append(self.now)
        monitor(self)

    monkeypatch.setattr(NodeLifecycle, "_pass", counted)
    timeline([node("a"), pod("p", nodeName="a")], {"do": "advance", "seconds": 30 * 86_400})
    assert len(passes) < 250
