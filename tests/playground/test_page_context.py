"""The connection of a page in another page's frame: its scenario, reading, and its locked step alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from playground.calls.requests import Index, fields_of
from playground.live.commands import COMMANDS
from playground.live.page_context import STEP_FIELDS, frame_of
from playground.models import Draft
from playground.panels.cycle import INSPECT
from playground.storage import store
from tests.playground.conftest import OWNER, Socket, communicator
from tests.playground.test_two_sources import LEAST, MOST, bundle, shared

pytestmark = pytest.mark.django_db(transaction=True)


@asynccontextmanager
async def framed(query: str) -> AsyncIterator[Socket]:
    """A socket with a query; the visitor's cookie comes along, as in a frame of the same site."""
    raw = communicator(OWNER)
    raw.scope["query_string"] = query.encode()
    accepted, _ = await raw.connect()
    assert accepted
    try:
        yield Socket(raw)
    finally:
        await raw.disconnect()


@pytest.fixture
def name() -> str:
    return shared(bundle(LEAST))


async def refused(socket: Socket, command: str, payload: dict[str, Any]) -> str:
    """Return the message of a refusal."""
    error = await socket.error(command, payload)
    assert error["code"] == "permission.denied", (command, error)
    return str(error["message"])


def test_what_reads_is_declared() -> None:
    """What stores something is not for a frame; what is about a step names it by a field that is checked."""
    framed = [row for row in COMMANDS.values() if row.framed]
    assert not [row.name for row in framed if row.visitor or row.owner]
    known = {*STEP_FIELDS, "node", "priority", "from", "count", "pods", "request"}
    for row in framed:
        fields = fields_of(row.takes).items()
        indices = {name for name, field in fields if field.type == Index}
        assert indices <= known or row.framed == "run", row.name


@pytest.mark.parametrize(
    "query", [b"frame=", b"lock=1", b"frame=x&other=1", b"a", b"frame=" + b"x" * 300, b"step=3"]
)
async def test_a_query_of_another_form_is_no_connection(query: bytes) -> None:
    """Nobody connects by a typing error as somebody who may ask more."""
    raw = communicator(OWNER)
    raw.scope["query_string"] = query
    assert (await raw.connect())[0] is False


def test_frames_are_reported_from_pages() -> None:
    """Without a query it is a page; a step counts where it is locked."""
    assert frame_of(b"") is None
    free, locked = frame_of(b"frame=abc&step=4"), frame_of(b"frame=abc&lock=1&step=4")
    assert free is not None and locked is not None
    assert (free.locked, locked.locked, locked.step) == (False, True, "4")


async def test_a_frame_reads_its_scenario_alone(name: str) -> None:
    """Every step of it; no other source, and nothing is stored, whoever looks at it."""
    other = await sync_to_async(shared)(bundle(MOST))
    draft = await sync_to_async(lambda: store.create_draft(OWNER, [("", bundle(MOST))]))()
    source = {"scenario": name}
    async with framed(f"frame={name}") as socket:
        assert (await socket.success("scenario.open", {"source": source}))["cycles"] == 2
        for step in ("1", "2"):
            await socket.success("cycle.get", {"source": source, "step": step, "parts": ["predicates"]})
        await socket.success("timeline.get", {"source": source, "from": 1, "to": 2})
        for wrong in ({"scenario": other}, {"draft": draft.pk}, {"scenario": name, "scheduler": "v1.37"}):
            assert "its own scenario" in await refused(socket, "scenario.open", {"source": wrong})
        for command in sorted(name for name, row in COMMANDS.items() if not row.framed):
            assert "cannot change anything" in await refused(socket, command, {"source": source})
        assert "cannot change anything" in await refused(socket, "no.such-command", {})
    assert await sync_to_async(Draft.objects.count)() == 1


async def test_a_locked_frame_shows_one_step(name: str) -> None:
    """What is cached for others, and what looks for other steps, is refused as well."""
    source = {"scenario": name}
    ask = {"source": source, "parts": ["predicates"]}
    async with framed(f"frame={name}") as free, framed(f"frame={name}&lock=1&step=2") as socket:
        for step in ("1", "2"):
            await free.success("cycle.get", {**ask, "step": step})
        await refused(socket, "cycle.get", {**ask, "step": "2"})  # it has to open its step first
        await refused(socket, "scenario.open", {"source": source, "step": "1"})
        opened = await socket.success("scenario.open", {"source": source, "step": "2"})
        assert opened["index"] == 2
        assert (await socket.success("cycle.get", {**ask, "step": "2"}))["predicates"]["order"]
        window = {"source": source, "from": 2, "count": 1}
        assert len((await socket.success("cycles.window", window))["cycles"]) == 1
        for command, payload in (
            ("cycle.get", {**ask, "step": "1"}),
            ("cycle.get", {**ask, "step": "1.1"}),
            ("cycles.window", {**window, "count": 2}),
            ("cycles.window", {**window, "from": 1}),
            ("timeline.get", {"source": source, "from": 1, "to": 2}),
            ("cycle.find", {"source": source, "from": 0, "direction": 1}),
            ("step.locate", {"source": source, "step": "1"}),
            ("events.list", {"source": source, "to": 1, "count": 5}),
            ("scores.explain", {"source": source, "cycle": 1, "node": 0, "priority": 0}),
            ("why.ask", {"source": source, "pod": "default/web-0", "step": "1"}),
        ):
            assert "locked its step" in await refused(socket, command, payload)
        await socket.success("why.ask", {"source": source, "pod": "default/web-1", "step": "2"})


async def test_a_frame_that_connects_again_opens_its_step(name: str) -> None:
    """The page opens its source without a step then: it is that of the frame."""
    source = {"scenario": name}
    async with framed(f"frame={name}&lock=1&step=1.2") as socket:
        assert (await socket.success("scenario.open", {"source": source}))["index"] == 2
        await socket.success("cycle.get", {"source": source, "step": "2", "parts": ["predicates"]})
    async with framed(f"frame={name}&lock=1&step=") as socket:
        assert (await socket.success("scenario.open", {"source": source}))["index"] == 0
        await refused(socket, "cycle.get", {"source": source, "step": "1", "parts": ["predicates"]})
        await refused(socket, "cycles.window", {"source": source, "from": 1, "count": 1})


@pytest.mark.parametrize("query", ["veil=x", "veil=-1", "veil=1&lock=1&step=1", "veil=1234567890"])
async def test_a_veil_is_a_cycle(name: str, query: str) -> None:
    """Nor does a typing error lift the veil; a locked step needs none."""
    raw = communicator(OWNER)
    raw.scope["query_string"] = f"frame={name}&{query}".encode()
    assert (await raw.connect())[0] is False


async def test_a_veiled_frame_ends_before_the_question(name: str) -> None:
    """No frame of it holds a later cycle, a pod's node or a comment, and nothing searches for them."""
    source = {"source": {"scenario": name}}
    async with framed(f"frame={name}") as free, framed(f"frame={name}&veil=1") as socket:
        free_open = await free.success("scenario.open", source)
        opened = await socket.success("scenario.open", {**source, "step": "2"})
        assert (free_open["cycles"], opened["cycles"], opened["complete"], opened["index"]) == (2, 1, True, 1)
        ask = {**source, "parts": ["inspect"]}
        await socket.success("cycle.get", {**ask, "step": "1"})
        assert (await socket.error("cycle.get", {**ask, "step": "2"}))["code"] == "step.out-of-range"
        for command, payload in (
            ("why.ask", {"pod": "default/web-1", "step": "1"}),
            ("cycle.find", {"from": 0, "direction": "forward", "conditions": ["pod default/web-1"]}),
            ("operations.outcome", {"id": "x"}),
        ):
            assert (await socket.error(command, {**source, **payload}))["code"] == "room.question-open"
        await free.success("cycle.get", {**ask, "step": "2"})
        assert (await socket.error("cycle.get", {**ask, "step": "2"}))["code"] == "step.out-of-range"


def test_the_page_of_a_veiled_frame(client: Client) -> None:
    """It has no introduction, which may tell how it goes on; an address of another form has all tabs."""
    name = shared("# In the end all is pending.\n" + bundle(LEAST))
    open_page = client.get(f"/e/{name}/").content.decode()
    page = client.get(f"/e/{name}/?views=story,events&veil=1").content.decode()
    assert "all is pending" in open_page and "all is pending" not in page
    assert 'data-views="story,events"' in page and 'data-veil="1"' in page
    wrong = client.get(f"/e/{name}/?views=Story%22&veil=x").content.decode()
    assert "data-views" not in wrong and "data-veil" not in wrong


@pytest.mark.parametrize(
    ("upto", "known"), [("", set()), ("queue", {"queue"}), ("predicates", {"queue", "predicates"})]
)
async def test_a_veil_at_a_phase(name: str, upto: str, known: set[str]) -> None:
    """The cycle is shown as far as the phase: no frame tells what follows, whatever is asked of it."""
    source = {"source": {"scenario": name}}
    parts = [*INSPECT, "nodes", "moments", "cuts"]
    async with framed(f"frame={name}") as free, framed(f"frame={name}&veil=2&upto={upto}") as socket:
        whole = await free.success("cycles.window", {**source, "from": 1, "count": 50})
        assert whole["cycles"][1]["node"] is not None
        heard = [await socket.success("scenario.open", {**source, "step": "2"})]
        assert (heard[0]["cycles"], heard[0]["complete"], heard[0]["index"]) == (2, True, 2)
        window = await socket.success("cycles.window", {**source, "from": 1, "count": 50})
        last = window["cycles"][1]
        assert (last["node"], last["result"], last["changes"], last["message"]) == (
            None,
            "undecided",
            [],
            None,
        )
        assert set(last["phases"]) == known
        marks = await socket.success("timeline.get", {**source, "from": 1, "to": 9})
        assert len(marks["marks"]["result"]) == 1
        found = await socket.success("cycle.get", {**source, "step": "2", "parts": parts})
        heard += [window, marks, found, await socket.success("events.list", {**source, "to": 2, "count": 50})]
        assert bool(found["predicates"].get("order")) is ("predicates" in known)
        assert "placed on" not in json.dumps(
            heard[3]
        ) and "Successfully assigned default/web-1" not in json.dumps(heard)
        for command, payload in (
            ("preemption.candidates", {"cycle": 2, "from": 0, "count": 5}),
            ("object.get", {"target": "Pod/default/web-1", "step": "2"}),
            ("objects.list", {"step": "2"}),
        ):
            heard.append(await socket.ask(command, {**source, **payload}))
        assert "server.error" not in json.dumps(heard)
