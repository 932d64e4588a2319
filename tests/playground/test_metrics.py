"""/metrics: who may read it, what it tells, and several processes as one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from channels.testing import HttpCommunicator
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from playground.runs import service
from playground.runtime.counters import REQUESTS
from playground.serving import metrics
from playground.views import metrics as page
from playground.visitors.throttle import token_of
from tests.playground.conftest import OWNER, connected

pytestmark = pytest.mark.django_db

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No snapshots but those of the test."""
    home = tmp_path / "metrics"
    home.mkdir()
    monkeypatch.setattr(metrics, "folder", lambda: home)
    return home


def scrape(**headers: str) -> Samples:
    answer = Client().get("/metrics", **headers)  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.content
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    found: Samples = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            labels = frozenset(pair for pair in sample.labels.items() if pair[0] != "process")
            key = (sample.name, labels)
            found[key] = found.get(key, 0.0) + sample.value
    return found


def value(found: Samples, name: str, **labels: str) -> float:
    return found[name, frozenset(labels.items())]


@pytest.mark.parametrize(
    ("settings_", "request_", "status"),
    [
        ({}, {}, 200),
        ({}, {"REMOTE_ADDR": "::1"}, 200),
        ({}, {"REMOTE_ADDR": "192.0.2.1"}, 403),
        ({}, {"REMOTE_ADDR": "192.0.2.1", "HTTP_X_FORWARDED_FOR": "127.0.0.1"}, 403),
        ({}, {"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, 403),  # a proxy on this machine
        ({}, {"HTTP_FORWARDED": "for=127.0.0.1"}, 403),
        ({}, {"HTTP_VIA": "1.1 proxy"}, 403),
        ({}, {"HTTP_X_REAL_IP": "127.0.0.1"}, 403),
        ({}, {"HTTP_X_FORWARDED_HOST": "podstep.example"}, 403),
        ({}, {"HTTP_X_FORWARDED": ""}, 403),
        ({}, {"HTTP_CF_CONNECTING_IP": "127.0.0.1"}, 403),
        ({}, {"HTTP_TRUE_CLIENT_IP": "127.0.0.1"}, 403),
        ({}, {"HTTP_USER_AGENT": "Prometheus", "HTTP_ACCEPT": "*/*"}, 200),
        ({}, {"REMOTE_ADDR": "nonsense"}, 403),
        ({}, {"HTTP_AUTHORIZATION": "Bearer ", "REMOTE_ADDR": "192.0.2.1"}, 403),  # no token is set
        ({"PROXIES": 1}, {}, 403),
        ({"PROXIES": 1, "TOKEN": "t0ken"}, {"HTTP_AUTHORIZATION": "Bearer t0ken"}, 200),
        ({"TOKEN": "t0ken"}, {"REMOTE_ADDR": "192.0.2.1", "HTTP_AUTHORIZATION": "Bearer t0ken"}, 200),
        ({"TOKEN": "t0ken"}, {"REMOTE_ADDR": "192.0.2.1", "HTTP_AUTHORIZATION": "Bearer t0keN"}, 403),
        ({"ALLOW": ["192.0.2.0/24"]}, {"REMOTE_ADDR": "192.0.2.1"}, 200),
        ({"ALLOW": ["192.0.2.0/24"]}, {}, 403),
    ],
)
def test_who_may_read(
    settings: Any,
    limits: Callable[..., None],
    settings_: dict[str, Any],
    request_: dict[str, Any],
    status: int,
) -> None:
    """The peer's own address or the token; what a header says of the address never counts."""
    limits(TRUSTED_PROXIES=settings_.get("PROXIES", 0))
    settings.METRICS_TOKEN = settings_.get("TOKEN", "")
    settings.METRICS_ALLOW = settings_.get("ALLOW", settings.METRICS_ALLOW)
    assert Client().get("/metrics", **request_).status_code == status


def test_runs_storage_and_parts(web: str) -> None:
    """What the database and the broker answer."""
    from playground.storage import bundles

    service.start(bundles.parse([("", web)]), OWNER, text=web)
    found = scrape()
    assert value(found, "podstep_runs", state="queued") == 1
    assert value(found, "podstep_runs", state="failed") == 0
    assert (
        0
        < value(found, "podstep_stored_bytes", kind="used")
        < value(found, "podstep_stored_bytes", kind="allowed")
    )
    assert value(found, "podstep_database_up") == value(found, "podstep_broker_up") == 1
    assert ("podstep_queue_messages", frozenset({("queue", "short")})) in found
    assert value(found, "process_resident_memory_bytes") > 2**20


def test_a_part_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is still reported."""

    def away() -> list[Any]:
        raise OSError("connection refused")

    monkeypatch.setattr(page, "_queues", away)
    found = scrape()
    assert value(found, "podstep_broker_up") == 0
    assert value(found, "podstep_database_up") == 1
    assert not any(name == "podstep_queue_messages" for name, _ in found)


@pytest.mark.django_db(transaction=True)
async def test_commands_sockets_and_playbacks(web: str) -> None:
    """A command's time is counted under its name, an unknown name under one for all."""
    from asgiref.sync import sync_to_async

    before = await sync_to_async(scrape)()
    async with connected() as socket:
        made = await socket.success("bundle.open", {"text": web})
        await socket.success("scenario.open", {"source": {"draft": made["draft"]}})
        await socket.error("no.such", {})
        await socket.error("step.goto.else", {})
        found = await sync_to_async(scrape)()
    assert value(found, "podstep_sockets") == 1
    assert value(found, "podstep_playbacks") == 1 and value(found, "podstep_playback_bytes") > 0
    count = "podstep_command_seconds_count"
    for name, times in (("bundle.open", 1), ("scenario.open", 1), ("unknown", 2)):
        key = (count, frozenset({("command", name)}))
        assert found[key] - before.get(key, 0) == times
    errors = (
        "podstep_command_errors_total",
        frozenset({("command", "unknown"), ("code", "command.unknown")}),
    )
    assert found[errors] - before.get(errors, 0) == 2
    assert value(await sync_to_async(scrape)(), "podstep_sockets") == 0


@pytest.mark.django_db(transaction=True)
async def test_requests_are_counted_by_class() -> None:
    """Answers of pages, of the API, and of what stands before them."""
    from playground.asgi import application

    def count(status: str) -> float:
        return REQUESTS.labels(status)._value.get()

    async def ask(path: str, length: str = "0") -> int:
        headers = [(b"host", b"localhost"), (b"content-length", length.encode())]
        answer = await HttpCommunicator(application, "GET", path, headers=headers).get_response(timeout=60)
        return int(answer["status"])

    before = {status: count(status) for status in ("2xx", "4xx")}
    assert await ask("/healthz") == 200
    assert await ask("/nothing-here/") == 404
    assert await ask("/", "99999999999") == 413
    assert {status: count(status) - before[status] for status in before} == {"2xx": 1, "4xx": 2}


def test_one_process_answers_for_all(own_folder: Path) -> None:
    """What another process has written lately is reported with its label; what is old is not, and goes."""
    metrics.write_snapshot()
    own = own_folder / f"{os.getpid()}.json"
    counts = json.loads(own.read_text())
    for family in counts:
        if family[0] == "podstep_sockets":
            family[3][0][2] = 7
    (own_folder / "4242.json").write_text(json.dumps(counts))
    (own_folder / "4343.json").write_text("{half")
    old = own_folder / "4444.json"
    old.write_text(json.dumps(counts))
    os.utime(old, (time.time() - 60, time.time() - 60))
    answer = Client().get("/metrics").content.decode()
    reported = [line for line in answer.splitlines() if line.startswith("podstep_sockets{")]
    assert sorted(reported) == sorted(
        [f'podstep_sockets{{process="{os.getpid()}"}} 0.0', 'podstep_sockets{process="4242"} 7.0']
    )
    assert answer.count("# TYPE podstep_sockets ") == 1
    assert not old.exists()


def test_a_token_is_taken_from_the_header_alone(rf: Any) -> None:
    """A token in the address would be in logs."""
    assert token_of(rf.get("/metrics?token=t0ken")) == ""
