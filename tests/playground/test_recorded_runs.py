"""Runs of recordings, traces and snapshots: imported from the start page, beside where pods were recorded."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from playground.celery import app
from playground.models import Run
from playground.tasks import run_simulation
from tests.parts import REPOSITORY

pytestmark = pytest.mark.django_db

RECORDER = REPOSITORY / "tests" / "core" / "formats" / "recordings" / "recorder.jsonl"


def ready(name: str, cpu: str) -> dict[str, Any]:
    """Return a node of a snapshot."""
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"allocatable": {"cpu": cpu, "pods": "9"}, "conditions": conditions}
    return {"metadata": {"name": name}, "status": status}


def bound(name: str, node: str) -> dict[str, Any]:
    """Return a pod of a snapshot on a node."""
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    return {"metadata": {"name": name}, "spec": {"nodeName": node, "containers": containers}}


NODES = [ready("small", "1"), ready("large", "8")]
SNAPSHOT = {"nodes": NODES, "pods": [bound("a", "large"), bound("b", "small")]}
OBJECTS = [
    {"apiVersion": "v1", "kind": "Node", **ready("n1", "8")},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}},
]
TRACE = {"version": 2, "events": [{"ts": 7, "applied_objs": OBJECTS, "deleted_objs": []}]}
CASES: dict[str, tuple[bytes, str, list[int] | None]] = {
    "recorder.jsonl": (RECORDER.read_bytes(), "", [3, 0, 0]),
    "snapshot.json": (json.dumps(SNAPSHOT).encode(), "1", [1, 1, 0]),
    "trace.sktrace": (msgspec.msgpack.encode(TRACE), "", None),
}


@pytest.mark.parametrize("name", CASES)
def test_a_recording_is_run_beside_its_real_placement(
    monkeypatch: pytest.MonkeyPatch, owner: Client, name: str
) -> None:
    """The run's figures count the pods on the recorded node, on another one and on none, and list each."""
    data, again, counts = CASES[name]
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    answer = owner.post("/import/", {"files": SimpleUploadedFile(name, data), "run": "1", "again": again})
    assert answer.status_code == 302, answer.content[:500]
    run = Run.objects.get(pk=answer["Location"].split("/")[2])
    assert run_simulation(run.pk) == "done"
    found = owner.get(f"/runs/{run.pk}/figures.json").json()["recorded"]
    if counts is None:
        assert found is None
        return
    assert [*found["counts"].values()] == counts
    assert len(found["pods"]) == sum(counts)
    assert all(cycle for _, _, simulated, cycle in found["pods"] if simulated)
