"""PodDisruptionBudgets of v1.37.1: what their controller allows, and how an eviction is refused."""

from __future__ import annotations

from typing import Any

import pytest

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
