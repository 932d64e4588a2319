"""Names of requests: accepted or made, answered, bound for the log, and kept with runs."""

from __future__ import annotations

from typing import Any

import pytest
from channels.testing import HttpCommunicator
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars

from playground.runs import compute, delivery, service
from playground.runtime import log_context
from playground.storage import bundles, store
from tests.playground.conftest import OWNER, Socket, communicator

pytestmark = pytest.mark.django_db(transaction=True)


NODE = "{apiVersion: v1, kind: Node, metadata: {name: node-1}}"


async def answered(path: str, *given: bytes) -> tuple[int, list[bytes]]:
    """GET a path with these X-Request-ID headers; return the status and those of the answer."""
    from playground.asgi import application

    headers = [(b"host", b"localhost"), *((b"x-request-id", name) for name in given)]
    answer = await HttpCommunicator(application, "GET", path, headers=headers).get_response(timeout=60)
    return answer["status"], [value for name, value in answer["headers"] if name.lower() == b"x-request-id"]


async def test_a_sane_name_is_answered_as_it_came() -> None:
    """Up to 64 plain characters, on pages, the API and errors alike."""
    for path in ("/healthz", "/api/scenarios/none", "/nothing/"):
        assert (await answered(path, b"proxy-1.a_B"))[1] == [b"proxy-1.a_B"]


@pytest.mark.parametrize("given", [b"", b"x" * 65, b"a b", b"a\nb", b'"}', b"\xff", b"${jndi:x}"])
async def test_any_other_name_is_replaced(given: bytes) -> None:
    """Nobody writes into our log what they like."""
    _, [name] = await answered("/healthz", given)
    assert name != given and len(name) == 16
    assert (await answered("/healthz"))[1] != [name]


async def test_every_line_of_a_request_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views run in other threads, where it is bound as well."""
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(store, "find_scenario", lambda name: seen.append(get_contextvars()))
    await answered("/api/scenarios/AAAAAAAAAAA", b"mine")
    assert [bound.get("request_id") for bound in seen] == ["mine"]


async def test_every_line_of_a_command_has_connection_and_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the engine's and the database's threads; the connection's name is in the handshake's answer."""
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(store, "find_scenario", lambda name: seen.append(get_contextvars()))
    raw = communicator(OWNER, **{"x-request-id": "tab-1"})
    assert (await raw.connect())[0]
    try:
        socket = Socket(raw)
        for _ in range(2):
            await socket.error("scenario.open", {"source": {"scenario": "AAAAAAAAAAA"}})
    finally:
        await raw.disconnect()
    expected = {"connection_id": "tab-1", "command": "scenario.open"}
    assert [{**expected, "request": number} for number in (1, 2)] == seen


def test_a_run_has_the_name_of_what_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the row, and bound while a worker computes the run, whichever task it is that does."""
    clear_contextvars()
    bind_contextvars(connection_id="tab-1", command="run.start", request=4)
    monkeypatch.setattr(delivery, "enqueue", lambda *_: True)
    run, _ = service.start(bundles.parse([("", NODE)]), owner="owner")
    assert run.request_id == "tab-1.4"
    log_context.bind_task(task_id="t")
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(compute._Attempt, "run_to_end", lambda _: seen.append(get_contextvars()))
    compute.compute(run.pk)
    assert seen == [{"task_id": "t", "run": run.pk, "request_id": "tab-1.4"}]
    log_context.forget_task()
    assert get_contextvars() == {}
