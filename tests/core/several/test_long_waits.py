"""Time that passes until a late operation is computed in short pieces, whatever goes on meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from scheduler_core import load
from scheduler_core.interrupts import interrupted_by
from scheduler_core.run import simulate


def node(name: str, **annotations: str) -> dict[str, Any]:
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    metadata = {"name": name, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "w"}, "annotations": {"podstep/run-seconds": "1"}},
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "w"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "w"}}, "template": TEMPLATE},
}
GONE = {"typeMeta": {"apiVersion": "v1", "kind": "Node"}, "objectMeta": {"name": "n0"}}
LATE: dict[str, Any] = {
    "apiVersion": "podstep/v1",
    "kind": "Scenario",
    "spec": {"operations": [{"id": "late", "time": 1e9, "deleteOperation": GONE}]},
}


class StoppedError(Exception):
    """The caller does not wait any longer."""


def patience(times: int) -> Callable[[], None]:
    """Return what stops a simulation that asks more often."""
    asked = count(1)

    def waited() -> None:
        if next(asked) > times:
            raise StoppedError

    return waited


def played(text: str) -> None:
    """Step to the end."""
    simulation = simulate(load(text))
    while simulation.step() is not None:
        pass


def test_a_late_operation_can_be_given_up() -> None:
    """The caller is asked whether it waits, again and again within thirty years of restarts."""
    text = "\n---\n".join(map(json.dumps, [node("n0"), DEPLOYMENT, LATE]))
    with interrupted_by(patience(100)), pytest.raises(StoppedError):
        played(text)


def test_a_lost_node_costs_nothing_until_a_late_operation() -> None:
    """Thirty years in which nobody may taint it are passed over."""
    with interrupted_by(patience(100)):
        played("\n---\n".join(map(json.dumps, [node("n0"), node("n1", **{"podstep/fails-at": "30"}), LATE])))
