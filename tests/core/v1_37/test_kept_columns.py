"""What is kept between attempts is what would be evaluated anew, however pods came and went."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import pytest

from scheduler_core.schedulers.v1_37 import pod_log, row_memo
from scheduler_core.schedulers.v1_37.nodes import Ints, NodeTable, Rows
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.selectors import map_selector
from scheduler_core.schedulers.v1_37.state import ClusterState

NODES = 60
SELECTOR = map_selector({"app": "a"})


def _pod(number: int, dice: random.Random) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "name": f"p{number}",
        "namespace": dice.choice(("default", "other")),
        "labels": {"app": dice.choice("ab")},
    }
    if dice.random() < 0.2:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    requests = {"cpu": dice.choice(("100m", "1")), "memory": "1Gi"}
    containers = [{"name": "c", "resources": {"requests": requests}}]
    return {
        "kind": "Pod",
        "metadata": meta,
        "spec": {"containers": containers, "nodeName": f"n{dice.randrange(NODES)}"},
    }


def _node(name: str, cpu: int) -> dict[str, Any]:
    allocatable = {"cpu": str(cpu), "memory": "32Gi", "pods": "5"}
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


def _changes(seed: int) -> Iterator[ClusterState]:
    """Yield a cluster after each of many changes."""
    dice = random.Random(seed)
    cluster = ClusterState()
    for number in range(NODES):
        cluster.create(_node(f"n{number}", 4))
    cluster.nodes.refresh()
    for number in range(150):
        placed = [pod for pod in cluster.pods.values() if pod.node]
        chance = dice.random()
        if chance < 0.5 or not placed:
            cluster.create(_pod(number, dice))
        elif chance < 0.7:
            gone = dice.choice(placed)
            cluster.delete("Pod", gone.namespace, gone.name)
        elif chance < 0.8:
            cluster.replace(_node(f"n{dice.randrange(NODES)}", dice.choice((2, 8))))
        elif chance < 0.9:
            row = dice.randrange(NODES)
            with cluster.what_if(row) as nodes:
                nodes.add_pod(row, CompiledPod(_pod(1000, dice)))
                _left(nodes, nodes.order)
        else:
            cluster.create(_node(f"new{number}", 4))
        cluster.nodes.refresh()
        yield cluster


def _evaluated(nodes: NodeTable, rows: Rows) -> Ints:
    return nodes.column(nodes.allocatable, "cpu")[rows] - nodes.column(nodes.requested, "cpu")[rows]


def _left(nodes: NodeTable, rows: Rows) -> Ints:
    return nodes.by_numbers("left", None, rows, lambda some: _evaluated(nodes, some))


@pytest.mark.parametrize("seed", range(4))
def test_a_kept_column_is_that_of_a_fresh_evaluation(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After writes of pods and nodes, what-ifs, copies, and a log that drops its oldest entries."""
    monkeypatch.setattr(row_memo, "MAX_LOG", 25)
    monkeypatch.setattr(pod_log, "MAX_LOG", 20)
    for number, cluster in enumerate(_changes(seed)):
        nodes = cluster.nodes
        some = nodes.order[: NODES // 2 + 10 * (number % 3)]
        assert _left(nodes, some).tolist() == _evaluated(nodes, some).tolist()
        counted = cluster.selected.count("default", SELECTOR, nodes.capacity)
        expected = np.zeros(nodes.capacity, np.int64)
        for pod in cluster.pods.values():
            if pod.node and pod.namespace == "default" and pod.labels["app"] == "a" and not pod.terminating:
                expected[nodes.rows[pod.node]] += 1
        assert counted.tolist() == expected.tolist()
        if number == 75:
            copied = deepcopy(cluster)
            assert _left(copied.nodes, some).tolist() == _evaluated(nodes, some).tolist()
            again = copied.selected.count("default", SELECTOR, nodes.capacity)
            assert again.tolist() == expected.tolist()


def test_classes_have_their_own_entries_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the log's order, from any position on, also behind entries that were dropped."""
    monkeypatch.setattr(pod_log, "MAX_LOG", 20)
    for number, cluster in enumerate(_changes(0)):
        log = cluster.log
        position = max(log.start, log.end - number % 15)
        some = sorted(log.classes(position))[::2]
        entries = log.since(position)
        assert entries is not None
        of_pod = {id(log.examples[one]): one for one in some}
        expected = [(of_pod[id(pod)], row, sign) for row, pod, sign in entries if id(pod) in of_pod]
        assert list(log.of_classes(some, position)) == expected


def test_values_of_another_owner_are_not_taken() -> None:
    """Two profiles with equal keys do not share a column."""
    cluster = ClusterState()
    for number in range(NODES):
        cluster.create(_node(f"n{number}", 4))
    cluster.nodes.refresh()
    rows = cluster.nodes.order
    for value, owner in ((1, object()), (2, object())):
        made = partial(_constant, value)
        assert set(cluster.nodes.by_numbers("key", owner, rows, made).tolist()) == {value}


def _constant(value: int, rows: Rows) -> Ints:
    return np.full(len(rows), value, np.int64)
