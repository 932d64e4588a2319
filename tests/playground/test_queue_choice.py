"""Which runs count as short: by the work that is expected, whoever creates the pods."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.queues import LONG, SHORT
from playground.runs.queue_choice import expected_work, queue_for
from playground.storage import bundles
from scheduler_core.scenario.scenario import Scenario
from tests.e2e.bundles import deployment, node

VIRTUAL = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}


def read(*documents: dict[str, Any]) -> Scenario:
    return bundles.parse([("", json.dumps(list(documents)))], "")


def history(*operations: dict[str, Any]) -> dict[str, Any]:
    """Return a Scenario of operations, each at a step of its own."""
    listed = [{"id": f"op{at}", "step": {"major": at + 2}, **one} for at, one in enumerate(operations)]
    return {
        "apiVersion": "simulation.sigs.k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "history"},
        "spec": {"operations": listed},
    }


def create(document: dict[str, Any]) -> dict[str, Any]:
    return {"createOperation": {"object": document}}


def patch(kind: str, name: str, body: dict[str, Any]) -> dict[str, Any]:
    target = {"typeMeta": {"kind": kind}, "objectMeta": {"name": name, "namespace": "default"}}
    return {"patchOperation": {**target, "patch": json.dumps(body)}}


def job(completions: int) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "c:1"}]}}
    spec = {"parallelism": 2, "completions": completions, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "batch"}, "spec": spec}


TWO_NODES = (node("n0"), node("n1"))
SCALED = {"spec": {"replicas": 9_000}}
CASES: tuple[tuple[str, tuple[dict[str, Any], ...], str], ...] = (
    ("a few pods", (*TWO_NODES, deployment("web", 5)), SHORT),
    ("a few pods in virtual time", (*TWO_NODES, deployment("web", 5), VIRTUAL), SHORT),
    ("many pods on two nodes", (*TWO_NODES, deployment("web", 9_000)), LONG),
    ("many nodes", (*(node(f"n{at}") for at in range(1_500)), deployment("web", 200)), LONG),
    ("pods by an operation", (*TWO_NODES, history(create(deployment("web", 9_000)))), LONG),
    ("and in virtual time", (*TWO_NODES, VIRTUAL, history(create(deployment("web", 9_000)))), LONG),
    (
        "a Deployment that is scaled",
        (*TWO_NODES, VIRTUAL, deployment("web", 1), history(patch("Deployment", "web", SCALED))),
        LONG,
    ),
    ("a Job of many completions", (*TWO_NODES, VIRTUAL, job(9_000)), LONG),
    ("a small Job", (*TWO_NODES, VIRTUAL, job(9)), SHORT),
)


@pytest.mark.parametrize(
    ("documents", "queue"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_queue_follows_the_expected_work(documents: tuple[dict[str, Any], ...], queue: str) -> None:
    """Pods count whether they are listed, created by operations or by controllers."""
    assert queue_for(read(*documents)) == queue


def test_reading_counts(limits: Any) -> None:
    """A cluster that takes long to read is no short run, however few pods are to be scheduled."""
    bound = deployment("web", 1)
    cluster = read(*(node(f"n{at}") for at in range(60)), bound)
    assert expected_work(cluster) == 100 * 1 + 10 * 61
    limits(SHORT_WORK=expected_work(cluster) - 1)
    assert queue_for(cluster) == LONG
    limits(SHORT_WORK=expected_work(cluster))
    assert queue_for(cluster) == SHORT
