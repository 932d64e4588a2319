"""What bounds the pods of a controller in a living cluster, however many it is reported to have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core import load_documents, simulate
from scheduler_core.cluster.v1_37.statefulset import _StatefulSetSync
from scheduler_core.kubernetes.problems import BundleError
from tests.core.controllers.driver import node, workload

SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37", "time": "virtual"}
MOST = 2**31 - 1


def scaled(kind: str, replicas: int, **spec: Any) -> list[dict[str, Any]]:
    """Return a cluster in which a controller of two pods is patched after 50 seconds."""
    patch = {
        "typeMeta": {"kind": kind, "apiVersion": "apps/v1"},
        "objectMeta": {"name": "web"},
        "patch": json.dumps({"spec": {"replicas": replicas}}),
        "patchType": "merge",
    }
    entries = [{"id": "scale", "time": 50, "patchOperation": patch}]
    scenario = {"apiVersion": "podstep/v1", "kind": "Scenario", "spec": {"operations": entries}}
    return [SETTINGS, node("n1"), workload(kind, replicas=2, **spec), scenario]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_a_patch_asks_for_no_more_pods_than_a_bundle_may(kind: str) -> None:
    """Two billion are refused where the operation is, before anything is played."""
    with pytest.raises(BundleError) as raised:
        load_documents(scaled(kind, MOST))
    [problem] = raised.value.problems
    assert problem.message == "a controller creates at most 20,000 pods, not 2,147,483,647"


def test_a_sync_looks_at_the_next_missing_pod_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set in order creates one pod after the other, and makes no manifest of those that wait for it."""
    made: list[int] = []
    new_pod = _StatefulSetSync._new_pod

    def counted(self: _StatefulSetSync, ordinal: int) -> Any:
        made.append(ordinal)
        return new_pod(self, ordinal)

    monkeypatch.setattr(_StatefulSetSync, "_new_pod", counted)
    run = simulate(load_documents(scaled("StatefulSet", 20_000)), trace=False)
    for _ in range(40):
        assert run.step() is not None
    assert 40 <= len(run.cluster.pods) <= 42
    assert max(made) <= 42
    assert len(made) < 500
