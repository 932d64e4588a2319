"""PodDisruptionBudgets of v1.37.1: what their controller allows, and how an eviction is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.__main__ import main
from tests.core.controllers.test_v1_37_nodes import node, pod
from tests.core.controllers.test_v1_37_replicas import ADVANCE, expect, workload

Facts = dict[str, Any]
UNSCALED = (
    "does not allow evicting pods currently because it failed sync: "
    "jobs.batch does not implement the scale subresource"
)
DRAIN = {"do": "drain", "node": "a"}


def budget(**spec: Any) -> Facts:
    """Return a budget of the pods of ``web``."""
    spec = {"selector": {"matchLabels": {"app": "web"}}, **spec}
    meta = {"name": "web", "namespace": "default"}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}


def job() -> Facts:
    """Return a Job of two pods that do not end."""
    made = workload("Job", 2, parallelism=2, completions=2)
    del made["spec"]["selector"], made["spec"]["replicas"]
    made["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    return {**made, "apiVersion": "batch/v1"}


@pytest.mark.parametrize(
    ("made", "spec", "message"),
    [
        (
            job(),
            {"maxUnavailable": 1},
            UNSCALED,
        ),
        (job(), {"minAvailable": 2}, "needs 2 healthy pods and has 2 currently"),
        (
            workload("Deployment", 2),
            {"minAvailable": "100%"},
            "needs 2 healthy pods and has 2 currently",
        ),
    ],
)
def test_a_refusal_names_its_reason(made: Facts, spec: Facts, message: str) -> None:
    """The messages of checkAndDecrement, without the budget's name in front."""
    timeline = expect([node("a"), node("b"), made, budget(**spec)], ADVANCE, DRAIN)["timeline"]
    refused = [one["message"] for one in timeline if one["what"] == "refused"]
    assert refused
    assert set(refused) == {message}


def test_a_pod_that_leaves_its_budget_is_not_noticed() -> None:
    """Only the budget that selects a pod after a change is looked at again (updatePod)."""
    leave = {"do": "patchPods", "node": "a", "patch": {"metadata": {"labels": {"app": "loose"}}}}
    bare = pod("p", nodeName="a")
    bare["metadata"]["labels"] = {"app": "web"}
    found = expect([node("a"), bare, budget(minAvailable=0)], ADVANCE, leave, ADVANCE)["final"]["budgets"]
    assert found["default/web"]["expectedPods"] == 1


def test_what_the_server_still_processes_has_a_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The API server's message leaves open that the budget's controller failed; users are reported why."""
    version, kind = "example.com/v1", "Cruncher"
    why = "crunchers.example.com does not implement the scale subresource"
    running = pod("web-1", nodeName="a")
    reference = {"apiVersion": version, "kind": kind, "name": "web", "uid": "u", "controller": True}
    running["metadata"] |= {"labels": {"app": "web"}, "ownerReferences": [reference]}
    running["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": [node("a"), running, budget(maxUnavailable=1)]}))
    assert main(["simulate", str(path), "--evict", "default/web-1@60", "--events"]) == 0
    cause = f"cannot count its pods (CalculateExpectedPodCountFailed): {why}"
    assert (
        f"is still being processed by the server: the disruption controller {cause}"
        in capsys.readouterr().out
    )
