"""The equivalence cache over HTTP: in cycles, in the trace's schema, and in runs in another mode."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from django.test import Client

from playground.celery import app
from playground.models import Run
from playground.playback.playback import Playback
from playground.runs import compute
from playground.tasks import run_simulation
from scheduler_core import load
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from tests.playground.conftest import DATA

TEXT = (DATA / "cache.yaml").read_text()
Schema = jsonschema.Draft202012Validator
MODES = ("off", "designed", "v1.11", "sound", "batching")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def schema(client: Client) -> Schema:
    """What /api/trace.schema.json serves."""
    return Schema(client.get("/api/trace.schema.json").json())


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was handed to the broker."""
    ids: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda _name, args, **_: ids.extend(args))
    return ids


def created(client: Client, bundle: str) -> str:
    made = client.post("/api/scenarios", {"bundle": bundle}, content_type="application/json")
    assert made.status_code == 201
    name: str = made.json()["id"]
    return name


def started(client: Client, scenario: str, settings: dict[str, Any]) -> dict[str, Any]:
    payload = {"scenario": scenario, "config": {"settings": settings}}
    answer = client.post("/api/runs", payload, content_type="application/json")
    assert answer.status_code in (201, 202), answer.content
    run: dict[str, Any] = answer.json()
    return run


@pytest.mark.parametrize("mode", MODES)
def test_traces_of_every_mode_keep_the_schema(mode: str, schema: Schema) -> None:
    """Every line validates, and the schema leaves nothing of the cache undescribed."""
    scenario = load(TEXT.replace("cache: v1.11", f"cache: '{mode}'"))
    lines = [json.loads(trace_line(cycle)) for cycle in Simulation(scenario)]
    assert {line["cache"]["mode"] for line in lines} == {mode}
    for line in lines:
        schema.validate(line)
        assert not schema.is_valid({**line, "cache": {**line["cache"], "surprise": 1}})


def test_a_cycle_over_http_tells_of_the_cache(
    client: Client, schema: jsonschema.Draft202012Validator
) -> None:
    """With the settings of the scenario: v1.11 with the audit on finds the broken promise."""
    name = created(client, TEXT)
    cycle = client.get(f"/api/scenarios/{name}/cycles/2").json()
    schema.validate(cycle)
    reported = cycle["cache"]
    assert (reported["mode"], reported["audit"], reported["hits"], reported["stale"]) == (
        "v1.11",
        True,
        25,
        1,
    )
    assert [hit["rule"] for hit in reported["staleHits"]] == ["pod-add-affinity"]
    assert [item["rule"] for item in reported["invalidations"]] == ["pod-add-general-key"]


def test_a_run_in_another_mode(client: Client, sent: list[str]) -> None:
    """The configuration of POST /api/runs chooses the cache, and the run reports what it did."""
    name = created(client, TEXT)
    reports = {}
    for mode in ("v1.11", "sound", "off"):
        run = started(client, name, {"cache": mode, "audit": True, "staleWrites": "none"})
        assert client.get(f"/api/runs/{run['id']}").json()["cache"] is None
        assert run_simulation(run["id"]) == "done"
        answer = client.get(f"/api/runs/{run['id']}").json()
        reports[mode] = answer["cache"]
        cycle = client.get(f"/api/runs/{run['id']}/cycles/3").json()
        assert cycle["cache"]["mode"] == mode
    assert reports["off"] is None
    report = reports["v1.11"]
    marks = played(TEXT).trail.marks(1, 9)["cache"]
    assert {key: report[key] for key in marks} == {key: sum(values) for key, values in marks.items()}
    assert report["hitRate"] == round(report["hits"] / (report["hits"] + report["evaluations"]), 5)
    assert sum(count for _, count in report["causes"]) == report["stale"] > 0
    assert reports["sound"]["stale"] == 0 and reports["sound"]["causes"] == []


def played(text: str) -> Playback:
    playback = Playback(load(text))
    while playback.advance(1):
        pass
    return playback


@pytest.mark.parametrize("value", ["always", 3, ["sound"]])
def test_a_mode_that_there_is_not(client: Client, sent: list[str], value: Any) -> None:
    """The answer says which field is wrong; nothing is started."""
    payload = {"scenario": created(client, TEXT), "config": {"settings": {"cache": value}}}
    answer = client.post("/api/runs", payload, content_type="application/json")
    assert answer.status_code in (400, 422)
    assert "cache" in answer.content.decode()
    assert not sent and not Run.objects.exists()


def test_a_run_that_is_taken_over_reports_the_same(
    client: Client, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a dead worker counted is in its rows, and what its audit found is found again."""
    text = TEXT + RESTART
    whole = started(client, created(client, text), {"cache": "v1.11", "audit": True})
    run_simulation(whole["id"])
    expected = Run.objects.get(pk=whole["id"]).cache
    assert expected is not None and expected["stale"]
    monkeypatch.setattr(compute, "SLICE_CYCLES", 2)
    # Another scenario: the same run would be answered from the store.
    run = started(client, created(client, f"{text}# again\n"), {"cache": "v1.11", "audit": True})
    claim = compute.claim_run(run["id"])
    assert claim
    first = compute._Attempt(run["id"], claim)
    for _ in range(4):
        first._slice()
    Run.objects.filter(pk=run["id"]).update(state="queued", claim="")
    assert run_simulation(run["id"]) == "done"
    assert Run.objects.get(pk=run["id"]).cache == expected


RESTART = """  - id: attributes
    step: 4
    createOperation:
      object:
        apiVersion: podstep/v1
        kind: SimulationSettings
        cache: v1.11
        audit: true
        equivalenceClass: attributes
  - id: again
    step: 4
    createOperation:
      object:
        apiVersion: v1
        kind: Pod
        metadata: {name: again, namespace: default}
        spec:
          containers: [{name: c, image: "tool:1", resources: {requests: {cpu: 10m}}}]
"""
