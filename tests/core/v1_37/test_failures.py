"""Why nodes were refused: statuses by name, merged over two passes, and one verdict for equal codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.failures import Failures
from scheduler_core.schedulers.v1_37.node_list import NodeList
from scheduler_core.schedulers.v1_37.run import SchedulerRun
from scheduler_core.schedulers.v1_37.status import UNRESOLVABLE, UNSCHEDULABLE, Status

NAMES = np.array(["a", "b", "c", "d"], np.object_)
FULL = Status(UNSCHEDULABLE, ("full",), "Fit")
TAINTED = Status(UNRESOLVABLE, ("tainted",), "Taints")


def _failures(rows: list[int], kinds: list[int], *statuses: Status) -> Failures:
    return Failures(NodeList(NAMES, np.array(rows, np.intp)), np.array(kinds, np.intp), statuses)


def test_each_node_has_its_status_in_the_order_of_the_walk() -> None:
    """Reads by name, by code, by status, and counts only what occurs."""
    found = _failures([3, 0, 2], [1, 0, 1], FULL, TAINTED, Status(UNSCHEDULABLE, ("unused",)))
    assert dict(found) == {"d": TAINTED, "a": FULL, "c": TAINTED}
    assert list(found) == ["d", "a", "c"]
    assert found.get("b") is None
    assert found.counts() == [(FULL, 1), (TAINTED, 2)]
    assert found.with_code(UNRESOLVABLE).tolist() == ["d", "c"]
    assert [(status, nodes.tolist()) for status, nodes in found.groups()] == [
        (TAINTED, ["d", "c"]),
        (FULL, ["a"]),
    ]


def test_a_later_pass_replaces_the_status_of_a_node() -> None:
    """The node that was tried first has the status of the whole walk."""
    first, later = _failures([2], [0], FULL), _failures([0, 2], [0, 0], TAINTED)
    assert dict(first.then(later)) == {"a": TAINTED, "c": TAINTED}
    assert first.then(_failures([], [])).counts() == [(FULL, 1)]


def _node(name: str, lacking: int, resources: int) -> dict[str, Any]:
    own = {f"example.com/r{number}": "1" for number in range(resources) if number != lacking}
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10", **own}
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


def test_every_lack_of_many_resources_is_reported_by_name() -> None:
    """More resources than digits of one code: each node still names the one that it lacks."""
    resources = 80
    run = SchedulerRun(read_configuration(None, None))
    requests = {f"example.com/r{number}": "1" for number in range(resources)}
    pod = {
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]},
    }
    run.start([*(_node(f"n{number}", number, resources) for number in range(resources)), pod])
    (attempt,) = run.cycles[0]["attempts"]
    assert len(attempt["failed"]) == resources
    for number in range(resources):
        assert attempt["failed"][f"n{number}"]["reasons"] == [f"Insufficient example.com/r{number}"]
