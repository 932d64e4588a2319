"""``kueue.why`` and ``kueue.submit``: a Workload at a step, and one that is not there yet."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.authoring.examples import examples
from tests.playground.conftest import connected

pytestmark = pytest.mark.django_db(transaction=True)


def workload(cpu: int, queue: str = "a") -> str:
    """Return a manifest of a Workload of one pod."""
    spec = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]}
    pod_sets = [{"name": "main", "count": 1, "template": {"spec": spec}}]
    meta = {"name": "new", "namespace": "default"}
    made = {"queueName": queue, "priority": 5, "podSets": pod_sets}
    head = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": meta}
    return json.dumps({**head, "spec": made})


async def answers(*questions: tuple[str, dict[str, Any]]) -> list[list[Any]]:
    """Return the answers to questions about an example whose team b borrows, errors among them."""
    text = next(one for one in examples() if one.slug == "kueue-reclaim").read()
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": text, "title": "mine"})
        source = {"draft": opened["draft"]}
        return [await socket.ask(name, {"source": source, **payload}) for name, payload in questions]


async def test_a_job_is_asked_about_at_a_step() -> None:
    """Its Workload's state of that moment, by the Job's name or its own."""
    late = {"step": "9", "about": "Job default/b-borrows"}
    early, then, unknown = await answers(
        ("kueue.why", {**late, "step": "7"}), ("kueue.why", late), ("kueue.why", {**late, "about": "nobody"})
    )
    assert early[0] == "success" and early[2]["state"] == "admitted"
    assert then[2]["state"] in ("pending", "evicted")
    assert unknown[2]["code"] == "object.not-found" and "nobody" in unknown[2]["message"]


async def test_a_submission_names_whom_it_preempts() -> None:
    """In order, with Kueue's reason; nothing of the run is changed, and what cannot be read is an error."""
    small, large, bad, none = await answers(
        ("kueue.submit", {"step": "7", "manifest": workload(4)}),
        ("kueue.submit", {"step": "7", "manifest": workload(99)}),
        ("kueue.submit", {"step": "7", "manifest": "{"}),
        ("kueue.submit", {"step": "7", "manifest": workload(1, "nowhere").replace("Workload", "Pod")}),
    )
    assert [reason for _, reason in small[2]["preempted"]] == ["InCohortReclamation"]
    assert small[2]["submitted"] and "would be admitted" in small[2]["sentences"][0]
    assert large[2]["preempted"] == [] and large[2]["sections"]
    assert bad[2]["code"] == none[2]["code"] == "object.invalid"
