"""Random sequences of a room's leader and followers over the socket: every page shows what the server has."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from playground.courseware import lesson
from playground.lessons import classes
from playground.models import Room
from scheduler_core.authoring.examples import find
from tests.playground.conftest import PATIENCE, Socket, connected
from tests.playground.rooms import post

pytestmark = pytest.mark.django_db(transaction=True)

LESSON = "pack-or-spread"  # over three scenarios
EXAMPLES, STEPS = 8, 12
FOLLOWERS = ("ada", "bob", "projector")
T = TypeVar("T")


class FollowingPage:
    """What a page makes of the frames of a room, as ``static/js/workbench/rooms/room.ts`` does."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.state: dict[str, Any] = {}

    async def join(self, **more: Any) -> Any:
        self.socket.pushed.clear()  # of the connection before
        joined = await self.socket.success("room.join", more)
        self.take("room.state", {name: joined[name] for name in STATE})
        return joined

    def take(self, name: str, payload: Any) -> None:
        known = self.state
        if name == "room.state" and payload["version"] >= known.get("version", 0):
            position = known.get("position", payload["position"])
            self.state = {**payload, "position": max(payload["position"], position, key=_order)}
        elif name == "room.position" and known and payload["scene"] == known["position"]["scene"]:
            known["position"] = max(payload, known["position"], key=_order)

    async def catch_up(self, version: int, scene: int, seq: int) -> None:
        """Take what is pushed until the page has come as far as the row."""
        while True:
            for name, _, payload in self.socket.pushed:
                self.take(name, payload)
            self.socket.pushed.clear()
            position = self.state["position"]
            if self.state["version"] >= version and (position["scene"], position["seq"]) >= (scene, seq):
                return
            frame = json.loads(await self.socket.communicator.receive_from(timeout=PATIENCE))
            self.socket.pushed.append(frame)


STATE = ("version", "scenario", "title", "position", "veil", "question", "lesson")


def _order(position: Any) -> tuple[int, int]:
    return position["scene"], position["seq"]


class TaughtRoom(RuleBasedStateMachine):
    """A room that teaches a lesson, beside a model of what everybody is to see."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @initialize()
    def enter(self) -> None:
        example = find("making-room")
        assert example is not None
        shared = post("/api/scenarios", {"bundle": example.read(), "title": "Making room"}).json()
        self.other = (shared["id"], "Making room")
        self.room = post("/api/rooms", {"lesson": LESSON}).json()
        of = lesson(LESSON)
        assert of is not None
        self.stops = [stop.key for stop in of.stops]
        self.revealed: list[str] = []
        self.question: dict[str, Any] | None = None
        self.tokens = {"teacher": self.room["lead_token"], "ada": ""}
        self.leader = "teacher"
        self.go_to(self.stops[0])
        self.pages = {name: self.run(self.page(name)) for name in ("teacher", *FOLLOWERS)}
        self.scene = 0
        self.whole: dict[str, int] = {}

    async def page(self, name: str) -> FollowingPage:
        visitor = f"{name}-of-the-class-1234"
        page = FollowingPage(await self.stack.enter_async_context(connected(visitor)))
        self.persons = getattr(self, "persons", {})
        self.persons[name] = (await page.join(**self.joining(name)))["person"]
        return page

    def joining(self, name: str) -> dict[str, Any]:
        more = {"lead_token": self.room["lead_token"]} if name == "teacher" else {"name": name}
        projector = {"projector": True} if name == "projector" else {}
        return {"room": self.room["id"], **more, **projector}

    def go_to(self, key: str) -> None:
        """What a stop is to show, by the lesson alone."""
        found = classes.stop(LESSON, key, self.revealed)
        assert found is not None
        self.stop, self.away, self.question, self.moved = key, False, None, 0
        self.place, self.title = found.position, found.lesson["title"]
        self.scenario, self.kept = found.scenario, found.lesson["veil"]

    def lead(self, name: str, payload: Any = None) -> Any:
        return self.run(self.pages[self.leader].socket.success(name, payload or {}))

    def refused(self, who: str, name: str, payload: Any = None) -> str:
        return str(self.run(self.pages[who].socket.error(name, payload or {}))["code"])

    @property
    def open(self) -> bool:
        return self.question is not None and not self.question["revealed"]

    # --- what the leader does -------------------------------------------------------------------

    @rule(step=st.integers(0, 4), tab=st.sampled_from(["story", "queue"]), colour=st.sampled_from("ab"))
    def move(self, step: int, tab: str, colour: str) -> None:
        place = {"step": str(step), "tab": tab, "colour": colour}
        self.moved = self.lead("room.move", {**place, "scene": self.scene})["seq"]
        self.place = place

    @rule()
    @precondition(lambda self: self.scene > 0)
    def move_in_the_scene_before(self) -> None:
        stale = {"step": "9", "scene": self.scene - 1}
        assert self.refused(self.leader, "room.move", stale) == "room.stale"

    @rule(number=st.integers(0, 9))
    def stop_at(self, number: int) -> None:
        key = self.stops[number % len(self.stops)]
        self.lead("room.stop", {"stop": key})
        self.go_to(key)
        self.scene += 1

    @rule()
    def travel(self) -> None:
        self.lead("room.travel", {"scenario": self.other[0], "step": "1"})
        self.scenario, self.title = self.other
        self.away, self.kept, self.question, self.place = True, None, None, {"step": "1"}
        self.moved = 0
        self.scene += 1

    @rule()
    def ask_the_stop(self) -> None:
        asks = not self.away and classes.question(LESSON, self.stop) is not None
        if asks:
            self.question = self.lead("room.ask", {"kind": "lesson"})
        else:
            assert self.refused(self.leader, "room.ask", {"kind": "lesson"}) == "payload.invalid"

    @rule()
    @precondition(lambda self: self.place["step"] != "end")
    def ask_a_choice(self) -> None:
        self.question = self.lead("room.ask", {"kind": "choice", "choices": ["a", "b"]})

    @rule()
    @precondition(lambda self: self.open and self.question["round"] == 1)
    def again(self) -> None:
        self.question = self.lead("room.again")

    @rule()
    @precondition(lambda self: self.open)
    def reveal(self) -> None:
        assert self.question is not None
        reported = self.lead("room.reveal")
        if self.question["kind"] == "lesson":
            self.revealed = [*dict.fromkeys([*self.revealed, self.stop])]
            self.go_to(self.stop)
            self.scene += 1
        self.question = reported

    @rule()
    def dismiss(self) -> None:
        self.lead("room.close")
        self.question = None

    @rule()
    @precondition(lambda self: self.leader == "teacher")
    def hand_over(self) -> None:
        self.lead("room.hand", {"to": self.persons["ada"]})
        self.leader = "ada"

    @rule()
    def take_back(self) -> None:
        self.run(self.pages["teacher"].socket.success("room.take", {}))
        self.leader = "teacher"

    # --- what followers do ----------------------------------------------------------------------

    @rule(who=st.sampled_from(FOLLOWERS))
    def join_again(self, who: str) -> None:
        self.run(self.pages[who].join(**self.joining(who)))

    @rule(who=st.sampled_from(FOLLOWERS), lost=st.sampled_from(["", "cycle 3 has not arrived"]))
    def report(self, who: str, lost: str) -> None:
        self.run(self.pages[who].socket.success("room.place", {"step": "2", "lost": lost}))

    @rule(who=st.sampled_from(["bob", "projector"]))
    def try_to_lead(self, who: str) -> None:
        assert self.refused(who, "room.move", {"step": "1"}) == "permission.denied"

    @rule()
    @precondition(lambda self: self.open and self.question["kind"] == "choice")
    def vote(self) -> None:
        self.run(self.pages["bob"].socket.success("room.vote", {"answer": "b"}))

    # --- what everybody sees --------------------------------------------------------------------

    @invariant()
    def everybody_shows_what_the_server_has(self) -> None:
        row = Room.objects.get(pk=self.room["id"])
        for page in self.pages.values():  # a move is pushed soon, and stored later
            self.run(page.catch_up(row.changed, row.scene, max(row.seq, self.moved)))
        for name, page in self.pages.items():
            assert self.seen(page.state) == self.expected(), name
        assert row.changed == self.pages["bob"].state["version"]

    def expected(self) -> dict[str, Any]:
        hides = self.question["hides"] - 1 if self.open and self.question and self.question["hides"] else None
        veil = self.kept
        if hides is not None and (veil is None or hides < veil[0]):
            veil = [hides, None]
        asked = self.question and {name: self.question[name] for name in ("number", "round", "revealed")}
        return {
            "scenario": self.scenario,
            "title": self.title,
            "scene": self.scene,
            "place": self.place,
            "veil": veil and list(veil),
            "question": asked,
            "stop": (self.stop, self.away),
        }

    def seen(self, state: dict[str, Any]) -> dict[str, Any]:
        question, lesson = state["question"], state["lesson"]
        place = {name: value for name, value in state["position"].items() if name not in ("scene", "seq")}
        assert bool(lesson["text"]) is not lesson["away"]
        return {
            "scenario": state["scenario"],
            "title": state["title"],
            "scene": state["position"]["scene"],
            "place": place,
            "veil": state["veil"],
            "question": question and {name: question[name] for name in ("number", "round", "revealed")},
            "stop": (lesson["stop"], lesson["away"]),
        }

    @invariant()
    def viewers_are_answered_as_far_as_the_veil(self) -> None:
        source = {"source": {"scenario": self.scenario}}
        if self.scenario not in self.whole:
            found = self.run(self.pages[self.leader].socket.success("scenario.open", source))
            assert found["complete"]
            self.whole[self.scenario] = found["cycles"]
        veil, whole = self.expected()["veil"], self.whole[self.scenario]
        for name in ("bob", "projector"):
            found = self.run(self.pages[name].socket.success("scenario.open", source))
            assert found["cycles"] == (min(veil[0], whole) if veil else whole), name

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.runner.close()


def test_every_page_shows_the_rooms_state(limits: Any) -> None:
    """After each action of leaders and followers, in random sequences, whoever joins when."""
    many = dict.fromkeys(
        ("ROOMS", "ROOMS_PER_MINUTE", "ROOMS_PER_OWNER", "ROOMS_PER_ADDRESS", "ROOM_JOINS_PER_MINUTE"), 10_000
    )
    each = dict.fromkeys(
        ("ROOM_JOINS_PER_VISITOR", "ROOM_VOTES_PER_VISITOR", "ROOM_QUESTIONS_PER_MINUTE"), 10_000
    )
    limits(**many, **each, API_WRITES_PER_MINUTE=10_000, IMPORTS_PER_MINUTE=10_000)
    asked = os.environ.get("PODSTEP_PROPERTY_RUNS")
    run_state_machine_as_test(
        TaughtRoom,
        settings=settings(
            max_examples=int(asked or EXAMPLES),
            derandomize=not asked,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
