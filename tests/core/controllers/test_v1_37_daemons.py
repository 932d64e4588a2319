"""DaemonSets of v1.37.1 whose nodes go away."""

from __future__ import annotations

from tests.core.controllers.test_v1_37_nodes import node
from tests.core.controllers.test_v1_37_replicas import ADVANCE, expect, workload


def test_a_surging_update_waits_for_the_pods_of_a_deleted_node() -> None:
    """RollingUpdate with surge fails while an old pod's node is gone: podgc removes the pod, later."""
    made = workload("DaemonSet", 0, updateStrategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})
    del made["spec"]["replicas"]
    steps = (
        {"do": "advance", "seconds": 101},
        {"do": "deleteNode", "node": "a"},
        {"do": "image", "kind": "DaemonSet", "name": "web", "image": "i:2"},
        ADVANCE,
    )
    timeline = expect([node("a"), node("b"), made], *steps)["timeline"]
    went = [(one["node"], one.get("by")) for one in timeline if one["what"] == "deleting"]
    assert went == [("a", "podgc"), ("b", "daemonset")]
