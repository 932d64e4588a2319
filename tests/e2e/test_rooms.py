"""Rooms on both ways to run podstep: one web process, and several with Redis between them."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

import pytest

from playground.limits import limit
from tests.e2e.bundles import small
from tests.faults.database import rows
from tests.services.client import CommandError, Socket
from tests.services.stack import Stack

pytestmark = [pytest.mark.services, pytest.mark.timeout(420)]

VIEWERS = 12  # of two web processes each has some
ENOUGH = 20  # moves, of which not each is stored by itself


def open_room(stack: Stack) -> dict[str, Any]:
    shared = stack.post("/api/scenarios", {"bundle": small("lesson"), "title": "a lesson"}).json
    answer = stack.post("/api/rooms", {"scenario": shared["id"]})
    assert answer.status == 201, answer.body
    return dict(answer.json)


def join(sockets: ExitStack, stack: Stack, room: dict[str, Any], *, lead: bool = False) -> Socket:
    socket = sockets.enter_context(stack.socket())
    token = {"lead_token": room["lead_token"]} if lead else {}
    answer = socket.call("room.join", {"room": room["id"], **token})
    assert answer["role"] == ("lead" if lead else "watch")
    return socket


def follow(socket: Socket, seq: int) -> dict[str, Any]:
    """Return the position with this number; those before it may be left out."""
    while (position := socket.push("room.position"))["seq"] < seq:
        pass
    assert (position.pop("seq"), position.pop("scene")) == (seq, 0)
    return dict(position)


def test_a_room_of_all_web_processes(stack: Stack) -> None:
    """Everybody follows, votes and hears the end, whichever process they are connected to."""
    room = open_room(stack)
    with ExitStack() as sockets:
        viewers = [join(sockets, stack, room) for _ in range(VIEWERS)]
        leader = join(sockets, stack, room, lead=True)
        for step in range(1, 6):
            assert leader.call("room.move", {"step": str(step % 3), "tab": "story"}) == {"seq": step}
        for viewer in viewers:
            assert follow(viewer, 5) == {"step": "2", "tab": "story"}
        while leader.push("room.people")["watching"] < VIEWERS:
            pass
        assert stack.get(f"/api/rooms/{room['id']}").json["watching"] == VIEWERS
        leader.call("room.ask", {"kind": "choice", "choices": ["yes", "no"]})
        for number, viewer in enumerate(viewers):
            assert viewer.push("room.state")["question"]["choices"] == ["yes", "no"]
            viewer.call("room.vote", {"answer": number % 2})
        assert leader.call("room.reveal")["tally"] == [[0, VIEWERS // 2], [1, VIEWERS // 2]]
        for viewer in viewers:
            assert viewer.push("room.state")["question"]["votes"] == VIEWERS
        stack.post(f"/api/rooms/{room['id']}/end", {"lead_token": room["lead_token"]})
        for socket in (leader, *viewers):
            assert socket.push("room.ended") == {}


def test_a_room_outlives_the_web_server(stack: Stack) -> None:
    """Whoever joins again lands where the leader was, with the question that was open, and the lead."""
    room = open_room(stack)
    with ExitStack() as sockets:
        leader, viewer = join(sockets, stack, room, lead=True), join(sockets, stack, room)
        leader.call("room.move", {"step": "1", "node": "n1"})
        leader.call("room.ask", {"kind": "fits", "step": "1"})
        viewer.call("room.vote", {"answer": "yes"})
        stack.kill("web")
    stack.start("web")
    stack.wait_until_answering()
    with ExitStack() as sockets:
        socket = sockets.enter_context(stack.socket())
        answer = socket.call("room.join", {"room": room["id"]})
        assert answer["position"] == {"scene": 0, "seq": 1, "step": "1", "node": "n1"}
        assert answer["question"]["kind"] == "fits" and answer["question"]["votes"] == 1
        with pytest.raises(CommandError, match="permission"):
            socket.call("room.move", {"step": "2"})
        leader = join(sockets, stack, room, lead=True)
        assert leader.call("room.reveal")["right"] in {0, 1}
        assert leader.call("room.move", {"step": "2"}) == {"seq": 2}
        assert follow(socket, 2)["step"] == "2"


def test_a_kill_during_moves(stack: Stack) -> None:
    """Positions are stored while the leader moves; the room is at the last one, and goes on from there."""
    room = open_room(stack)
    sent: list[int] = []
    stored = 0
    with ExitStack() as sockets:
        leader = join(sockets, stack, room, lead=True)
        while stored < ENOUGH:
            sent.append(leader.call("room.move", {"step": str(len(sent) % 3)})["seq"])
            time.sleep(1 / limit("FRAMES_PER_SECOND"))
            if not len(sent) % ENOUGH:
                [(stored,)] = rows(stack, "SELECT seq FROM playground_room WHERE id = {}", room["id"])
        stack.kill("web")
    assert sent == list(range(1, len(sent) + 1))
    stack.start("web")
    stack.wait_until_answering()
    with ExitStack() as sockets:
        socket = sockets.enter_context(stack.socket())
        position = socket.call("room.join", {"room": room["id"]})["position"]
        assert position["step"] == str((position["seq"] - 1) % 3)
        assert stored <= position["seq"] <= len(sent)
        leader = join(sockets, stack, room, lead=True)
        assert leader.call("room.move", {"step": "2"}) == {"seq": position["seq"] + 1}
        assert follow(socket, position["seq"] + 1)["step"] == "2"
