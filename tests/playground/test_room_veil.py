"""While a room's question is open, the server tells viewers nothing of the cycle that it is about."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from playground.live import commands
from playground.models import Room
from playground.panels import steps
from playground.panels.cycle import PARTS
from playground.playback.ballots import ballot
from playground.playback.playback import OutOfRangeError, Playback
from playground.playback.veil import veiled
from scheduler_core.authoring.examples import find
from tests.playground.conftest import OWNER, STRANGER, Socket, connected
from tests.playground.rooms import inside, open_room, shows

pytestmark = pytest.mark.django_db(transaction=True)

BEYOND: list[tuple[str, dict[str, Any]]] = [
    ("cycle.get", {"step": "3", "parts": ["inspect"]}),
    ("cycle.get", {"step": "end", "parts": ["inspect"]}),
    ("scores.explain", {"cycle": 3, "node": 0, "priority": 0}),
]
TELLING: list[tuple[str, dict[str, Any]]] = [
    ("why.ask", {"pod": "default/web-1", "step": "1"}),
    ("cycle.find", {"from": 0, "direction": "forward", "conditions": ["pod default/web-1"]}),
    ("operations.outcome", {"id": "x"}),
    ("availability.get", {}),
    ("scenario.recorded", {}),
    ("scenario.fork", {}),
    ("run.start", {}),
]

#: Commands that tell decisions of what other fields than ``source`` name; None: the room's scenario.
BESIDE: dict[str, dict[str, Any]] = {
    "compare.get": {"left": None, "right": None, "rightScheduler": "v1.11"},
    "link.check": {"link": "a-link"},
}


@pytest.fixture
def opened(web: str) -> dict[str, Any]:
    """A room on the scenario of ``web``, as the API answers."""
    return open_room(web)


async def everything(socket: Socket, source: dict[str, Any]) -> dict[str, Any]:
    """Return what a page learns of a source by itself."""
    found = {"open": await socket.success("scenario.open", {"source": source})}
    found["marks"] = await socket.success("timeline.get", {"source": source, "from": 1, "to": 99})
    found["window"] = await socket.success("cycles.window", {"source": source, "from": 1, "count": 50})
    return found


@pytest.mark.parametrize(
    "question",
    [{"kind": "node"}, {"kind": "fits"}, {"kind": "victims"}, {"kind": "choice", "choices": ["a", "b"]}],
    ids=lambda question: question["kind"],
)
async def test_nothing_of_the_cycle_is_reported(opened: dict[str, Any], question: dict[str, Any]) -> None:
    """Of a question of each kind, about the third cycle, to who is there, joins late, or connects again."""
    source = {"scenario": opened["scenario"]}
    async with inside(opened, lead=True) as leader, inside(opened, visitor=OWNER) as early:
        before = await everything(early, source)
        await leader.success("room.move", {"step": "2"})
        asked = await leader.success("room.ask", question)
        assert asked["hides"] == 3
        await shows(early, 1)
        for viewer in (early, None):
            async with connected(STRANGER) as late:
                socket = viewer or late
                if viewer is None:
                    joined = await late.success("room.join", {"room": opened["id"]})
                    assert joined["question"] == asked
                found = await everything(socket, source)
                assert (found["open"]["cycles"], found["open"]["complete"]) == (2, True)
                assert len(found["marks"]["marks"]["pod"]) == 2
                assert [cycle["index"] for cycle in found["window"]["cycles"]] == [1, 2]
                for name, payload in BEYOND:
                    refused = await socket.error(name, {"source": source, **payload})
                    assert refused["code"] == "step.out-of-range", name
                events = await socket.success("events.list", {"source": source, "to": 3, "count": 9})
                assert {index for index, *_ in events["events"]} <= {1, 2}
                for name, payload in TELLING:
                    refused = await socket.error(name, {"source": source, **payload})
                    assert refused["code"] == "room.question-open", name
                for name, payload in BESIDE.items():
                    about = {field: source if value is None else value for field, value in payload.items()}
                    assert (await socket.error(name, about))["code"] == "room.question-open", name
                other = {"source": {**source, "scheduler": "default-scheduler"}}
                assert (await socket.error("scenario.open", other))["code"] == "room.question-open"
        assert (await everything(leader, source))["window"] == before["window"]
        await leader.success("room.reveal", {})
        await early.push("room.state")
        assert await everything(early, source) == before


async def test_the_page_waits_until_it_has_joined(
    opened: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it asked before is answered as to who is in the room; without a room it is refused at last."""
    source = {"scenario": opened["scenario"]}
    async with (
        inside(opened, lead=True) as leader,
        connected(STRANGER, f"?room={opened['id']}") as page,
        connected(STRANGER, f"?room={opened['id']}") as never,
    ):
        await leader.success("room.ask", {"kind": "node"})
        request = await page.send("scenario.open", {"source": source})
        await asyncio.sleep(0.1)
        await page.success("room.join", {"room": opened["id"]})
        assert (await page.answer(request))[2]["cycles"] == 0
        monkeypatch.setattr(commands, "ADMITTED_SECONDS", 0.05)
        assert (await never.error("scenario.open", {"source": source}))["code"] == "permission.denied"


async def test_an_answer_under_way_is_not_sent(opened: dict[str, Any]) -> None:
    """Who asked before the question is answered after it: as who may not know any more."""
    source = {"scenario": opened["scenario"]}
    async with inside(opened, lead=True) as leader, inside(opened) as viewer:
        asked = [await viewer.send("cycles.window", {"source": source, "from": 1, "count": 50})]
        await leader.success("room.ask", {"kind": "node"})
        await shows(viewer, 1)
        asked.append(await viewer.send("cycles.window", {"source": source, "from": 1, "count": 50}))
        after = (await viewer.answer(asked[1]))[2]
        assert after["cycles"] == []


async def test_the_page_of_a_room_introduces_nothing(web: str) -> None:
    """What the first comment of a scenario tells may be the answer."""
    room = await sync_to_async(open_room)("# web-1 goes to n2\n" + web)
    page = f"/r/{room['id']}/"
    get = sync_to_async(Client().get)
    assert "web-1 goes to n2" in (await get(page)).content.decode()
    async with inside(room, lead=True) as leader:
        await leader.success("room.ask", {"kind": "node"})
        assert "web-1 goes to n2" not in (await get(page)).content.decode()
        state = (await get(f"/api/rooms/{room['id']}")).content.decode()
        assert "truth" not in state and "answer" not in state


async def test_a_question_of_an_earlier_version_hides_its_cycle(opened: dict[str, Any]) -> None:
    """It was stored without what it hides, and without a ballot."""
    question = {"number": 1, "kind": "node", "text": "", "choices": None, "index": 2, "truth": '"n2"'}
    await Room.objects.aupdate(question={**question, "revealed": False}, asked=1, changed=1)
    async with inside(opened) as viewer:
        found = await everything(viewer, {"scenario": opened["scenario"]})
        assert found["open"]["cycles"] == 1


async def test_an_answer_of_ones_own_can_be_marked(opened: dict[str, Any]) -> None:
    """It is reported with the tally, and not before."""
    async with inside(opened, lead=True) as leader, inside(opened) as viewer:
        choices = {"kind": "choice", "choices": ["a", "b"]}
        assert (await leader.error("room.ask", {**choices, "right": 2}))["code"] == "payload.invalid"
        await leader.success("room.ask", {**choices, "right": 1})
        assert "truth" not in json.dumps(await viewer.push("room.state"))
        await viewer.success("room.vote", {"answer": "b"})
        revealed = await leader.success("room.reveal", {})
        assert (revealed["answer"], revealed["right"]) == (1, 1)


@pytest.mark.parametrize("slug", ["node-fails", "coscheduling-no-room", "a-day", "making-room"])
def test_a_veiled_playback_is_the_beginning_of_the_whole(slug: str) -> None:
    """Also where controllers make pods, groups are held back, and operations come: nothing later is in it."""
    example = find(slug)
    assert example is not None
    playback = Playback(example.load())
    while playback.advance(1.0):
        pass
    last = len(playback) // 2
    begun = veiled(playback, last)
    assert (len(begun), begun.complete, begun.ended, begun.advance(1.0)) == (last, True, False, False)
    assert len(begun.trail.marks(1, last)["pod"]) == last
    assert begun.tables.pods == playback.tables.pods[: playback.trail.met(last)]
    if last:
        whole, known = (json.loads(steps.window(one, 1, last)) for one in (playback, begun))
        assert known["cycles"] == whole["cycles"]
        pods = len(begun.tables.pods)
        assert known["placement"] == whole["placement"][:pods]
        assert all(pod < pods for cycle in known["cycles"] for pod, _ in cycle["changes"])
        assert steps.parts(begun, last, list(PARTS)) == steps.parts(playback, last, list(PARTS))
    for beyond in (last + 1, len(playback), len(playback) + 1):
        with pytest.raises(OutOfRangeError):
            steps.parts(begun, beyond, ["queue"])
    cycle = playback.cycle(last + 1)
    rows = ballot("victims", playback, cycle)
    assert rows is not None
    assert {*cycle.decision.victims} <= {pod for pod, _ in rows}
    assert veiled(playback, last) is begun


def test_what_tells_of_other_sources_is_refused() -> None:
    """Each command that describes decisions of sources that no field names is tried above."""
    assert {name for name, row in commands.COMMANDS.items() if row.decisions} == BESIDE.keys()
