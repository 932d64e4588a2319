"""Rooms over several web processes: positions are pushed first and stored later, and all come to the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import channel_layers
from django.utils import timezone

from playground.live import moves, notifications
from playground.live.hub import Hub
from playground.models import Room, RoomAudience
from playground.rooms import questions, rows
from tests.playground import outages
from tests.playground.rooms import Page, inside, listening, open_room
from tests.services.processes import free_port
from tests.services.servers import Server
from tests.services.stack import SHELL

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def opened(web: str) -> dict[str, Any]:
    """A room on the scenario of ``web``, as the API answers."""
    return open_room(web)


@pytest.fixture(params=["in-memory", "redis", "none"])
def layer(request: pytest.FixtureRequest, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The channel layer of one process, that of several, and one that does not answer."""
    kind = str(request.param)
    if kind != "in-memory":
        port = free_port()
        address = f"redis://127.0.0.1:{port}/0"
        if kind == "redis":
            server: Server = request.getfixturevalue("redis")
            address = f"redis://:{SHELL['REDIS_PASSWORD']}@127.0.0.1:{server.port}/3"
        settings.CHANNEL_LAYERS = {
            "default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [address]}}
        }
    if kind != "none":
        # Nothing is found by polling: what arrives came over the layer.
        monkeypatch.setattr(notifications, "POLL_SECONDS", 600)
    channel_layers.backends = {}
    yield kind
    channel_layers.backends = {}


async def test_two_processes(opened: dict[str, Any], layer: str) -> None:
    """Who is connected to another web process follows too; without a layer by the row, a moment later."""
    first, second = Hub(), Hub()
    leader, viewer = Page(), Page()
    member = await first.join(leader, opened["id"], opened["lead_token"], "")
    await second.join(viewer, opened["id"], "", "Ann")
    if layer != "none":
        await listening(first, second)
    assert member.leads
    for step in range(1, 6):
        member.hall.moves.move({"step": str(step)})
    while (await viewer.next("room.position"))["seq"] < 5:
        pass
    while (await leader.next("room.people"))["watching"] < 1:
        pass
    row = await sync_to_async(rows.ask)(opened["id"], questions.drafted("choice", "", ["a", "b"]))
    await first.changed(row)
    assert (await viewer.next("room.state"))["question"]["choices"] == ["a", "b"]
    await sync_to_async(rows.end)(row)
    await first.changed(await Room.objects.select_related("scenario").aget())
    for page in (leader, viewer):
        assert await page.next("room.ended") == {}
    assert not first.wanted() and not second.wanted()


async def test_a_process_that_died_is_not_counted(
    opened: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row is of before, and expires with the others."""
    before = timezone.now() - timedelta(seconds=60)
    await RoomAudience.objects.acreate(room_id=opened["id"], process="dead", watching=300, seen=before)
    async with inside(opened, lead=True) as leader:
        assert await leader.push("room.people") == {"watching": 0, "lost": 0}


# --- storing -------------------------------------------------------------------------------------


async def stored(seq: int) -> dict[str, Any]:
    """Wait until the row has this number; return its position."""
    while (row := await Room.objects.aget()).seq < seq:  # noqa: ASYNC110 - there is no event of it
        await asyncio.sleep(0.02)
    assert row.seq == seq
    return dict(row.position)


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the positions that were written."""
    written: list[int] = []
    store = rows.store_position

    def noted(name: str, scene: int, seq: int, position: dict[str, Any]) -> Any:
        written.append(seq)
        return store(name, scene, seq, position)

    monkeypatch.setattr(rows, "store_position", noted)
    return written


async def test_moves_are_pushed_before_they_are_stored(opened: dict[str, Any], writes: list[int]) -> None:
    """While the database does not answer, everybody follows; the newest position is stored afterwards."""
    async with inside(opened, lead=True) as leader, inside(opened) as viewer:
        with outages.failing(outages.LOCKED, lambda sql: sql.startswith("UPDATE")):
            for step in range(1, 4):
                assert await leader.success("room.move", {"step": str(step)}) == {"seq": step}
                assert (await viewer.push("room.position"))["seq"] == step
            while not writes:  # noqa: ASYNC110 - there is no event of it
                await asyncio.sleep(0.01)
        assert (await stored(3))["step"] == "3"


async def test_many_moves_are_few_writes(
    opened: dict[str, Any], writes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is written at once, those of the next interval as one, and the last when everybody left."""
    monkeypatch.setattr(moves, "STORE_SECONDS", 3600)
    async with inside(opened, lead=True) as leader:
        await leader.success("room.move", {"step": "1"})
        assert (await stored(1))["step"] == "1"
        for step in range(2, 21):
            await leader.success("room.move", {"step": str(step)})
        assert writes == [1]
        async with inside(opened) as late:
            await leader.success("room.move", {"step": "21"})
            while (await late.push("room.position"))["seq"] < 21:
                pass  # the move before it may reach a late joiner as a push as well
    assert await stored(21) == {"step": "21"}
    assert writes == [1, 21]


async def test_a_position_is_written_within_the_interval(
    opened: dict[str, Any], writes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while the leader moves on all the time: a process that is killed loses no more than that."""
    monkeypatch.setattr(moves, "STORE_SECONDS", 0.1)
    async with inside(opened, lead=True) as leader:
        await leader.success("room.move", {"step": "1"})
        await stored(1)
        step = 1
        while len(writes) < 4:
            step += 1
            await leader.success("room.move", {"step": str(step)})
            await asyncio.sleep(0.01)
    assert len(writes) < step


# --- two processes -------------------------------------------------------------------------------


@asynccontextmanager
async def entered(
    room: dict[str, Any], *processes: Hub, lead: bool = True
) -> AsyncIterator[list[tuple[Page, moves.RoomPosition]]]:
    """Be in a room over each of these processes, as its leader."""
    token = room["lead_token"] if lead else ""
    pages = [Page() for _ in processes]
    members = [await process.join(page, room["id"], token, "") for process, page in zip(processes, pages)]
    yield [(page, member.hall.moves) for page, member in zip(pages, members)]
    for process, page in zip(processes, pages):
        await process.leave(page)


async def position_at(page: Page, seq: int) -> dict[str, Any]:
    """Wait for the position with this number. Numbers never go back."""
    before = 0
    while before < seq:
        found = await page.next("room.position")
        assert before < found["seq"] <= seq
        before, _ = found.pop("seq"), found.pop("scene")
    return dict(found)


async def test_two_leaders_come_to_one_position(opened: dict[str, Any], layer: str) -> None:
    """Both took the same number; the one that was stored last is everybody's, under a number of its own."""
    first, second = Hub(), Hub()
    async with entered(opened, first, second) as [(one, ones), (two, twos)]:
        if layer != "none":
            await listening(first, second)
        assert (ones.move({"step": "1"}), twos.move({"step": "2"})) == (1, 1)
        found = await position_at(one, 2)
        assert found == await position_at(two, 2) == await stored(2)
        assert found == ones.position == twos.position


@pytest.mark.parametrize("layer", ["in-memory", "redis"], indirect=True)
async def test_who_joins_over_another_process_gets_the_newest(
    opened: dict[str, Any], layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not in the row yet: the process that has it is asked."""
    monkeypatch.setattr(moves, "STORE_SECONDS", 3600)
    first, second = Hub(), Hub()
    async with entered(opened, first) as [(_, leading)]:
        await listening(first)
        leading.move({"step": "1"})
        await stored(1)
        for step in range(2, 9):
            leading.move({"step": str(step)})
        async with entered(opened, second, lead=False) as [(page, following)]:
            assert await position_at(page, 8) == {"step": "8"}
            assert (following.seq, (await Room.objects.aget()).seq) == (8, 1)


@pytest.mark.parametrize("layer", ["redis"], indirect=True)
async def test_what_a_killed_process_did_not_store(
    opened: dict[str, Any], layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one that heard of it stores it, and numbers go on from there."""
    monkeypatch.setattr(moves, "STORE_SECONDS", 3600)
    monkeypatch.setattr(notifications, "POLL_SECONDS", 0.1)
    killed, alive, again = Hub(), Hub(), Hub()
    async with entered(opened, killed, alive) as [(_, leading), (page, following)]:
        await listening(killed, alive)
        leading.move({"step": "1"})
        await stored(1)
        for step in range(2, 6):
            leading.move({"step": str(step)})
        assert await position_at(page, 5) == {"step": "5"}
        leading.close()
        assert await stored(5) == {"step": "5"}
        async with entered(opened, again) as [(_, restarted)]:
            assert restarted.move({"step": "6"}) == 6
            assert await position_at(page, 6) == {"step": "6"}
        assert following.seq == 6


async def test_a_vote_over_another_process(opened: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that this process has not heard of yet is looked for before a vote is refused."""
    monkeypatch.setattr(notifications, "POLL_SECONDS", 600)
    async with inside(opened) as viewer:
        await sync_to_async(rows.ask)(opened["id"], questions.drafted("choice", "", ["a", "b"]))
        assert await viewer.success("room.vote", {"answer": "a"}) == {"number": 1}
