"""What may be stored can be opened: one limit for reading, storing, playing and running."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from playground.celery import app
from playground.models import Run, Scenario
from playground.runs.compute import compute
from playground.storage import bundles
from scheduler_core.formats.limits import Limits
from scheduler_core.scenario.load_state import DEFAULTS

pytestmark = pytest.mark.django_db(transaction=True)

MOST = 12


def bundle(pods: int, *, time: str = "") -> str:
    """Return a node and a Deployment of so many pods."""
    documents: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n"},
            "status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {
                "replicas": pods,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "c", "image": "i"}]},
                },
            },
        },
    ]
    if time:
        documents.append({"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": time})
    return "\n".join(map(json.dumps, documents))


@pytest.fixture
def limited(limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve pods, more than the engine's own bound, as 150,000 are more than its 100,000."""
    monkeypatch.setitem(DEFAULTS, "limits", Limits(pods=MOST - 1))
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    limits(PODS=MOST)


def post(client: Client, text: str) -> Any:
    return client.post("/api/scenarios", text, content_type="application/yaml")


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("time", ["", "virtual"])
def test_as_many_pods_as_allowed_are_stored_opened_and_run(client: Client, time: str) -> None:
    """A scenario at the limit has a link, cycles, and a run that ends."""
    stored = post(client, bundle(MOST, time=time))
    assert stored.status_code == 201, stored.json()
    name = stored.json()["id"]
    cycles = client.get(f"/api/scenarios/{name}/cycles?count=50")
    assert cycles.status_code == 200, cycles.json()
    assert cycles.json()["total"] == MOST
    started = client.post("/api/runs", json.dumps({"scenario": name}), content_type="application/json")
    assert started.status_code == 201, started.json()
    assert compute(started.json()["id"]) == "done"
    assert Run.objects.get().placed == MOST
    seen = client.get(f"/api/runs/{started.json()['id']}/cycles/{MOST}")
    assert seen.status_code == 200


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("pods", [MOST + 1, 10**9])
@pytest.mark.parametrize("time", ["", "virtual"])
def test_one_pod_more_is_refused_before_anything_is_stored(client: Client, pods: int, time: str) -> None:
    """The error names the bound and its place."""
    refused = post(client, bundle(pods, time=time))
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert f"more than {MOST} pods" in error["message"] or "a controller creates at most" in error["message"]
    assert error["path"] == "spec.replicas"
    assert not Scenario.objects.exists()


def test_what_outgrew_a_lowered_limit_says_so(client: Client, limits: Callable[..., None]) -> None:
    """Every call about it answers in words, and its text can still be had."""
    text = bundle(MOST)
    name = post(client, text).json()["id"]
    limits(PODS=MOST - 1)
    body = json.dumps({"scenario": name})
    address = f"/api/scenarios/{name}"
    answers = {
        "cycles": client.get(f"{address}/cycles"),
        "cycle": client.get(f"{address}/cycles/1"),
        "why": client.get(f"{address}/cycles/1/why?pod=default/web"),
        "find": client.get(f"{address}/find?condition=unschedulable"),
        "costs": client.get(f"{address}/costs"),
        "divergence": client.get(f"{address}/divergence?cache=sound"),
        "run": client.post("/api/runs", body, content_type="application/json"),
    }
    for call, answer in answers.items():
        assert answer.status_code == 422, (call, answer.content)
        reported = answer.json()["errors"][0]["message"]
        assert reported.startswith("This was stored under different limits"), call
        assert f"more than {MOST - 1} pods" in reported
    assert client.get(f"/api/scenarios/{name}/bundle").content.decode() == text
    assert client.get(f"/api/scenarios/{name}").status_code == 200
    assert client.get(f"/s/{name}/").status_code == 200


def test_a_queued_run_fails_with_the_limit_that_was_lowered(
    client: Client, limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker names what is to be done; it does not fail as if by a defect."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    name = post(client, bundle(MOST)).json()["id"]
    body = json.dumps({"scenario": name})
    run = client.post("/api/runs", body, content_type="application/json").json()["id"]
    limits(PODS=MOST - 1)
    assert compute(run) == "failed"
    assert Run.objects.get().error.startswith("This was stored under different limits")


def test_aliases_are_held_to_the_bytes_that_they_stand_for(
    client: Client, limits: Callable[..., None]
) -> None:
    """Half a megabyte of aliases to one long text would be terabytes once they are written out."""
    limits(BUNDLE_BYTES=100_000)
    named = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  a: &a {'x' * 10_000}\n"
    within = named + "".join(f"  b{n}: *a\n" for n in range(9))
    beyond = named + "".join(f"  b{n}: *a\n" for n in range(11))
    node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: one}\n"
    assert post(client, within + node).status_code == 201
    refused = post(client, beyond + node)
    assert refused.status_code == 422
    assert "aliases stand for more than" in refused.json()["errors"][0]["message"]
    inside = "apiVersion: v1\nkind: List\nitems:\n" + "\n".join(
        ("- " if number == 0 else "  ") + line for number, line in enumerate(beyond.splitlines())
    )
    assert post(client, inside + "\n" + node).status_code == 422


def test_a_large_alias_is_read_again(client: Client) -> None:
    """What is stored of an alias is what it stands for."""
    text = "apiVersion: v1\nkind: Node\nmetadata: {name: one, labels: &l {a: b}, annotations: *l}\n"
    scenario = bundles.parse([("", text)])
    assert bundles.restore(bundles.pack(bundles.content_of(scenario))).documents == scenario.documents


@pytest.mark.django_db
def test_more_manifests_than_allowed_are_refused_by_name(client: Client, limits: Callable[..., None]) -> None:
    """Items of lists count individually; nothing is stored."""
    limits(MANIFESTS=1)
    listed = json.dumps({"kind": "List", "items": [json.loads(one) for one in bundle(1).split("\n")]})
    for text in (bundle(1), listed):
        refused = post(client, text)
        assert refused.status_code == 422
        assert re.search("more than 1 (documents|manifests)", refused.content.decode())
