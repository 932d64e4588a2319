"""The HTTP API: the calls of contract.md with their statuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.http import HttpResponse
from django.test import AsyncClient, Client

from playground.celery import app
from playground.limits import limit
from playground.models import Run, Scenario
from playground.pool import read_slots
from playground.storage.store import address_of
from playground.tasks import run_simulation
from playground.visitors import identity
from scheduler_core import load
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from tests.playground.conftest import DATA

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def api() -> Client:
    """A caller without cookies, with forgery checks as in production."""
    return Client(enforce_csrf_checks=True)


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs wait until the test computes them."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


def post(
    api: Client, address: str, body: Any, kind: str = "application/json", **headers: str
) -> HttpResponse:
    data = body if isinstance(body, str | bytes) else json.dumps(body)
    return api.post(address, data, content_type=kind, headers=headers or None)  # type: ignore[return-value]


def create(api: Client, text: str, **more: str) -> dict[str, Any]:
    answer = post(api, "/api/scenarios", {"bundle": text, **more})
    assert answer.status_code == 201, answer.content
    return json.loads(answer.content)


def trace(text: str, title: str = "") -> list[str]:
    return [trace_line(cycle) for cycle in Simulation(load(text, title=title))]


def test_creating_a_scenario(api: Client, web: str) -> None:
    """The answer has what the contract says; the id is the content's."""
    answer = post(api, "/api/scenarios", {"bundle": web, "title": "mine"})
    body = json.loads(answer.content)
    assert answer.status_code == 201
    assert body["id"] == address_of("mine", web)[:11]
    assert body["url"] == f"http://testserver/s/{body['id']}/"
    assert body["warnings"] == []
    assert len(body["delete_token"]) > 20
    assert answer.headers["Location"] == f"/api/scenarios/{body['id']}"
    assert not answer.cookies


@pytest.mark.parametrize("kind", ["text/plain", "application/yaml", "application/x-www-form-urlencoded"])
def test_the_body_may_be_the_bundle_itself(api: Client, web: str, kind: str) -> None:
    """`curl --data-binary @file` is enough."""
    answer = post(api, "/api/scenarios?title=t", web, kind)
    assert answer.status_code == 201
    assert json.loads(answer.content)["id"] == address_of("t", web)[:11]


def test_a_json_bundle_is_no_envelope(api: Client) -> None:
    """Manifests as JSON are a bundle too."""
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "1"}},
    }
    assert post(api, "/api/scenarios", node).status_code == 201


@pytest.mark.parametrize(
    ("name", "kind", "reported"),
    [
        ("recorder.jsonl", "application/x-ndjson", "a recording of sched-recorder, 23 events"),
        ("kwok.yaml", "application/yaml", "a recording of kwok, 5 events"),
        ("snapshot.json", "application/json", "a snapshot of kube-scheduler-simulator: 8 objects"),
    ],
)
def test_recordings_and_snapshots_are_bundles_too(api: Client, name: str, kind: str, reported: str) -> None:
    """They are known by their content, and the answer tells what was read and left out."""
    text = (Path(__file__).parents[1] / "core" / "formats" / "recordings" / name).read_text()
    for body, media in ((text, kind), ({"bundle": text}, "application/json")):
        answer = post(api, "/api/scenarios", body, media)
        assert answer.status_code == 201, answer.content
        made = json.loads(answer.content)
        assert any(warning["message"].startswith(reported) for warning in made["warnings"])
    given = api.get(f"/api/scenarios/{made['id']}/bundle").content.decode()
    assert load(given).id == load(text).id


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 422),
        ("kind: [", 422),
        ("apiVersion: v1\nkind: Node\nmetadata: {}\n", 422),
        ({"bundle": "kind: [", "title": "x"}, 422),
        ({"bundle": "kind: Node", "title": 3}, 400),
        (b"\xff\xfe", 422),
        ("&a [*a, *a]", 422),
        pytest.param("[" * 50_000, 422, id="very deep"),
    ],
)
def test_bundles_that_are_refused(api: Client, body: Any, status: int) -> None:
    """Every error has line, path and message."""
    answer = post(api, "/api/scenarios", body)
    assert answer.status_code == status
    for error in json.loads(answer.content)["errors"]:
        assert {"line", "path", "message"} <= set(error)


def test_a_bundle_that_is_too_large(api: Client, limits: Callable[..., None], web: str) -> None:
    """413, and nothing is stored."""
    limits(BUNDLE_BYTES=100)
    assert post(api, "/api/scenarios", {"bundle": web}).status_code == 413
    assert not Scenario.objects.exists()


def test_reading_a_scenario_and_its_bundle(api: Client, web: str) -> None:
    """What is given back is the same content."""
    made = create(api, web, title="t")
    body = json.loads(api.get(f"/api/scenarios/{made['id']}").content)
    assert (body["title"], body["nodes"], body["pods"]) == ("t", 3, 5)
    assert len(body["documents"]) == 4
    bundle = api.get(f"/api/scenarios/{made['id']}/bundle")
    assert bundle.headers["Content-Type"].startswith("application/yaml")
    assert create(api, bundle.content.decode(), title="t")["id"] == made["id"]


def test_cycles_are_lines_of_the_trace(api: Client, web: str) -> None:
    """Consecutive cycles and single ones, by number and by step."""
    made = create(api, web)
    lines = [json.loads(line) for line in trace(web)]
    body = json.loads(api.get(f"/api/scenarios/{made['id']}/cycles?from=2&count=3").content)
    assert body == {"from": 2, "cycles": lines[1:4], "total": 5, "complete": True}
    for step in ("4", "1.4"):
        assert json.loads(api.get(f"/api/scenarios/{made['id']}/cycles/{step}").content) == lines[3]


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/scenarios/AAAAAAAAAAA", 404),
        ("/api/scenarios/AAAAAAAAAAA/bundle", 404),
        ("/api/scenarios/AAAAAAAAAAA/cycles", 404),
        ("/api/runs/AAAAAAAAAAA", 404),
        ("/api/runs/AAAAAAAAAAA/trace.jsonl.zst", 404),
        ("{}/cycles/99", 404),
        ("{}/cycles/0", 404),
        ("{}/cycles/x", 400),
        ("{}/cycles?count=101", 400),
        ("{}/cycles?from=-1", 400),
        ("{}/cycles?from=1e3", 400),
        ("/api/nothing", 404),
    ],
)
def test_what_is_not_there(api: Client, web: str, address: str, status: int) -> None:
    """Each is a JSON error with its status."""
    made = create(api, web)
    answer = api.get(address.format(f"/api/scenarios/{made['id']}"))
    assert answer.status_code == status
    assert json.loads(answer.content)["errors"]


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_other_methods(api: Client, method: str) -> None:
    """The answer says which methods there are."""
    answer = getattr(api, method)("/api/scenarios")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_too_large_to_compute_while_waiting(api: Client, web: str, limits: Callable[..., None]) -> None:
    """A run is advised."""
    made = create(api, web)
    limits(INTERACTIVE_WORK=1)
    answer = api.get(f"/api/scenarios/{made['id']}/cycles")
    assert answer.status_code == 422
    assert "Start a run" in json.loads(answer.content)["errors"][0]["message"]


def test_deleting_needs_the_token(api: Client, web: str) -> None:
    """Who has none, or another's, may not; afterwards it is gone."""
    made = create(api, web)
    other = create(
        api, web + "---\n{apiVersion: v1, kind: Node, metadata: {name: x}, status: {allocatable: {cpu: 1}}}\n"
    )
    address = f"/api/scenarios/{made['id']}"
    assert api.delete(address).status_code == 401
    for token in ("guess", other["delete_token"]):
        assert api.delete(address, headers={"Authorization": f"Bearer {token}"}).status_code == 403
    assert api.delete(address, headers={"Authorization": f"Bearer {made['delete_token']}"}).status_code == 204
    assert api.get(address).status_code == 404
    assert api.get(f"/api/scenarios/{other['id']}").status_code == 200


def test_requests_are_counted(api: Client, web: str, limits: Callable[..., None]) -> None:
    """Over the limit: 429 with the time to wait; reading has a limit of its own."""
    limits(API_WRITES_PER_MINUTE=1, API_READS_PER_MINUTE=2)
    made = create(api, web)
    refused = post(api, "/api/scenarios", {"bundle": web})
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 61
    address = f"/api/scenarios/{made['id']}"
    assert [api.get(address).status_code for _ in range(3)] == [200, 200, 429]


def test_a_run(api: Client) -> None:
    """Start, look, read a cycle; only the cancel token cancels."""
    text = (DATA / "preempt.yaml").read_text()
    made = create(api, text)
    answer = post(api, "/api/runs", {"scenario": made["id"], "config": {}})
    run = json.loads(answer.content)
    assert answer.status_code == 201
    assert run["state"] == "queued"
    address = f"/api/runs/{run['id']}"
    assert "cancel_token" not in json.loads(api.get(address).content)
    assert api.get(f"{address}/trace.jsonl.zst").status_code == 409
    assert post(api, f"{address}/cancel", {}).status_code == 403
    assert (
        post(api, f"{address}/cancel", {}, Authorization=f"Bearer {made['delete_token']}").status_code == 403
    )
    run_simulation(run["id"])
    body = json.loads(api.get(address).content)
    assert (body["state"], body["done"], body["mine"]) == ("done", 5, False)
    assert json.loads(api.get(f"{address}/cycles/3.1").content) == json.loads(trace(text)[4])
    assert api.get(f"{address}/cycles/6").status_code == 404


def test_cancelling_a_run(api: Client, web: str) -> None:
    """With the token that starting it gave."""
    run = json.loads(post(api, "/api/runs", {"scenario": create(api, web)["id"]}).content)
    answer = post(api, f"/api/runs/{run['id']}/cancel", {}, Authorization=f"Bearer {run['cancel_token']}")
    assert json.loads(answer.content)["state"] == "cancelled"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400),
        ([], 400),
        ({}, 400),
        ({"scenario": 3}, 400),
        ({"scenario": "AAAAAAAAAAA"}, 404),
        ({"scenario": "ID", "config": {"x": 1}}, 400),
        ({"scenario": "ID", "speed": 1}, 400),
        ({"scenario": "ID", "config": {"policy": {"predicates": [{"name": "No"}]}}}, 422),
    ],
)
def test_runs_that_are_refused(api: Client, web: str, body: Any, status: int) -> None:
    """Nothing is queued."""
    made = create(api, web)
    if isinstance(body, dict) and body.get("scenario") == "ID":
        body["scenario"] = made["id"]
    assert post(api, "/api/runs", body).status_code == status
    assert not Run.objects.exists()


def test_runs_of_an_address_are_bounded(api: Client, web: str, limits: Callable[..., None]) -> None:
    """429 with Retry-After."""
    limits(RUNS_PER_OWNER=1)
    made = create(api, web)
    assert post(api, "/api/runs", {"scenario": made["id"]}).status_code == 201
    refused = post(api, "/api/runs", {"scenario": made["id"]})
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "30")


async def test_the_trace_of_a_run(web: str, limits: Callable[..., None]) -> None:
    """A cycle a line, exactly as the command line writes it; bounded."""
    from asgiref.sync import sync_to_async

    client = AsyncClient()
    made = (await client.post("/api/scenarios", {"bundle": web}, content_type="application/json")).json()
    run = (await client.post("/api/runs", {"scenario": made["id"]}, content_type="application/json")).json()
    await sync_to_async(run_simulation)(run["id"])
    answer = await client.get(f"/api/runs/{run['id']}/trace.jsonl.zst")
    assert "attachment" in answer.headers["Content-Disposition"]
    data = b"".join([part async for part in answer.streaming_content])  # type: ignore[attr-defined]
    text = zstandard.ZstdDecompressor().decompressobj().decompress(data).decode()
    assert text.splitlines() == trace(web)
    limits(TRACE_CELLS=14)
    assert (await client.get(f"/api/runs/{run['id']}/trace.jsonl.zst")).status_code == 413
    limits(TRACE_CELLS=15, TRACE_DOWNLOADS=0)
    refused = await client.get(f"/api/runs/{run['id']}/trace.jsonl.zst")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")


def test_titles_and_ids_with_what_no_database_keeps(api: Client, web: str) -> None:
    """NUL and halves of surrogate pairs fall out of titles; in an id they are an id of nothing."""
    for title in ("a\0b", "a\ud800b"):
        made = create(api, web, title=title)
        assert json.loads(api.get(f"/api/scenarios/{made['id']}").content)["title"] == "ab"
    assert post(api, "/api/scenarios?title=a%00b", web, "text/plain").status_code == 201
    for address in ("/api/scenarios/aaaaaaaaaaa%00", "/api/runs/a%00", "/api/runs/a%00/trace.jsonl.zst"):
        answer = api.get(address)
        assert answer.status_code == 404
        assert json.loads(answer.content)["errors"]
    for name in ("aaaaaaaaaaa\0", "aaaaaaaaaaa\ud800", "aaaaaaaaaaa\u00e4"):
        assert post(api, "/api/runs", {"scenario": name}).status_code == 404


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_policy_is_read_as_a_bundle_is(api: Client, web: str, name: str) -> None:
    """What is no text in a bundle is none in a run's configuration."""
    body = {"scenario": create(api, web)["id"], "config": {"policy": {"predicates": [{"name": name}]}}}
    assert post(api, "/api/runs", body).status_code == 422
    assert not Run.objects.exists()


@pytest.mark.parametrize("config", [[], 0, "", False])
def test_a_configuration_is_an_object(api: Client, web: str, config: Any) -> None:
    """Nothing else is taken for an empty one."""
    answer = post(api, "/api/runs", {"scenario": create(api, web)["id"], "config": config})
    assert answer.status_code == 400
    assert json.loads(answer.content)["errors"][0]["path"] == "config"


def test_a_deleted_scenario_is_in_no_cache(api: Client, web: str) -> None:
    """A cache has to ask each time: 304 while the scenario is shared, 404 once it is deleted."""
    made = create(api, web)
    for address in (f"/api/scenarios/{made['id']}", f"/api/scenarios/{made['id']}/bundle"):
        first = api.get(address)
        assert first.headers["Cache-Control"] == "no-cache"
        again = api.get(address, headers={"If-None-Match": f'"other", W/{first.headers["ETag"]}'})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
        assert api.get(address, headers={"If-None-Match": '"other"'}).status_code == 200
    token = {"Authorization": f"Bearer {made['delete_token']}"}
    assert api.delete(f"/api/scenarios/{made['id']}", headers=token).status_code == 204
    for address in (f"/api/scenarios/{made['id']}", f"/api/scenarios/{made['id']}/bundle"):
        assert api.get(address, headers={"If-None-Match": first.headers["ETag"]}).status_code == 404


def test_bundles_are_read_by_few_requests_at_once(
    api: Client, owner: Client, web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While as many as may are being read, another is reported to come back, by the API and by the page."""
    made = create(api, web)
    monkeypatch.setattr(read_slots, "READING_SECONDS", 0.01)
    with ExitStack() as readers:
        for number in range(limit("ENGINE_THREADS")):
            with identity.asked_by(f"visitor {number}"):
                readers.enter_context(read_slots.reading())
        for answer in (
            post(api, "/api/scenarios", {"bundle": web}),
            post(api, "/api/runs", {"scenario": made["id"]}),
            api.get(f"/api/scenarios/{made['id']}/bundle"),
            api.get(f"/api/scenarios/{made['id']}/cycles"),
            owner.post("/import/", {"text": web}),
        ):
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert api.get(f"/api/scenarios/{made['id']}").status_code == 200
    assert post(api, "/api/scenarios", {"bundle": web}).status_code == 201


def test_runs_of_a_network_are_bounded_whoever_asks(
    api: Client, owner: Client, web: str, limits: Callable[..., None]
) -> None:
    """A new cookie gives no new runs, and neither does another address of the same network."""
    limits(RUNS_PER_ADDRESS=1)
    made = create(api, web)
    body = json.dumps({"scenario": made["id"]})
    sent: dict[str, Any] = {"content_type": "application/json"}
    assert api.post("/api/runs", body, REMOTE_ADDR="2001:db8::1", **sent).status_code == 201
    assert api.post("/api/runs", body, REMOTE_ADDR="2001:db8::ffff:2", **sent).status_code == 429
    refused = owner.post("/import/", {"text": web, "run": "1"}, REMOTE_ADDR="2001:db8::3")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "30")
    assert api.post("/api/runs", body, REMOTE_ADDR="2001:db8:0:1::1", **sent).status_code == 201
    limits(RUNS_PER_ADDRESS=9, RUNS_QUEUED=2)
    refused = api.post("/api/runs", body, REMOTE_ADDR="192.0.2.1", **sent)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "30")


async def test_downloads_that_begin_together_are_counted(web: str, limits: Callable[..., None]) -> None:
    """One counts as soon as it is answered, though nothing of it was sent, and until it is closed."""
    from asgiref.sync import sync_to_async

    client = AsyncClient()
    made = (await client.post("/api/scenarios", {"bundle": web}, content_type="application/json")).json()
    run = (await client.post("/api/runs", {"scenario": made["id"]}, content_type="application/json")).json()
    await sync_to_async(run_simulation)(run["id"])
    limits(TRACE_DOWNLOADS=1)
    address = f"/api/runs/{run['id']}/trace.jsonl.zst"
    first = await client.get(address)
    assert (first.status_code, (await client.get(address)).status_code) == (200, 429)
    assert [part async for part in first.streaming_content]  # type: ignore[attr-defined]
    third = await client.get(address)
    assert third.status_code == 200
    await sync_to_async(third.close)()
    assert (await client.get(address)).status_code == 200
