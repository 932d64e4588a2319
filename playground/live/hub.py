"""The rooms of a web process: who is in them, and what is pushed to them.

A leader's move is stored, pushed to everybody in this process, and sent over the channel layer to the other
web processes, each of which has one channel for all of its rooms. The layer may lose a message, and may be
away: each process also polls the rows of its rooms, so that whatever was lost arrives a moment later.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import structlog
from channels.layers import get_channel_layer

from playground.limits import limit
from playground.live.errors import CommandError
from playground.live.watching import Polling, Watcher
from playground.models import Room
from playground.playback.executor import in_storage
from playground.rooms import people, questions, rows
from playground.runtime import outage
from playground.visitors import names
from playground.wire import Encoded, encode

log = structlog.get_logger(__name__)

MOVE_SECONDS = 0.05  # between two moves that are pushed; those in between are coalesced
COUNT_SECONDS = 0.25  # between two counts of who watches, or of the votes
AUDIENCE_SECONDS = 5.0  # between two writes of an unchanged count
LAYER_SECONDS = 2.0  # for a message to the layer, and between two attempts to listen to it

Message = dict[str, Any]


@dataclass(eq=False, slots=True)
class Member:
    """A connection in a room."""

    connection: Watcher
    hall: Hall
    person: str
    name: str
    holds_token: bool

    @property
    def leads(self) -> bool:
        """Whether this person leads: they were handed the lead or, unless somebody was, have the token."""
        leader = self.hall.row.leader
        return self.person == leader if leader else self.holds_token

    @property
    def role(self) -> str:
        """The role as the protocol has it."""
        return "lead" if self.leads else "watch"


@dataclass(eq=False, slots=True)
class Batch:
    """Moves that are stored and pushed as one: the newest position, and how many they are."""

    position: dict[str, Any]
    moves: int = 0
    task: asyncio.Task[int] | None = None


@dataclass(eq=False, slots=True)
class Hall:
    """A room as this process knows it."""

    row: Room
    members: dict[Watcher, Member] = field(default_factory=dict)
    votes: int = 0
    others: int = 0  # who watch over other processes
    told: int = -1  # how many watch, as pushed last
    batch: Batch | None = None
    moved: float = float("-inf")  # time.monotonic() of the last push of a position
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    counting: asyncio.Task[None] | None = None
    tallying: asyncio.Task[None] | None = None
    counted: float = float("-inf")

    @property
    def here(self) -> int:
        """How many watch over this process."""
        return sum(not member.leads for member in self.members.values())

    @property
    def position(self) -> dict[str, Any]:
        """The position as the protocol has it."""
        return {"seq": self.row.seq, **self.row.position}

    @property
    def question(self) -> dict[str, Any] | None:
        """The question as the protocol has it."""
        return questions.wire(self.row.question, self.votes)

    def named(self) -> list[tuple[str, str]]:
        """Return the people who gave a name."""
        return [(member.person, member.name) for member in self.members.values() if member.name]


class Hub(Polling):
    """The rooms of one event loop that somebody is in."""

    what = "rooms"

    def __init__(self) -> None:
        super().__init__()
        self.process = secrets.token_hex(8)
        self._halls: dict[str, Hall] = {}
        self._channel = ""
        self._listening: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._layer = outage.OutageLog("channel layer")

    # --- coming and going -------------------------------------------------------------------

    async def join(self, connection: Watcher, room: str, token: str, name: str) -> Member:
        """Enter a room, leaving any other. Raises CommandError."""
        await self.leave(connection)
        hall = self._halls.get(room) or await self._open(room)
        member = Member(
            connection,
            hall,
            people.person_of(room, connection.visitor),
            names.clean_name(name),
            rows.holds_token(hall.row, token),
        )
        if token and not member.holds_token:
            self._close_if_empty(hall)
            raise CommandError("permission.denied", "That is not the token that leads this room.")
        if not member.leads and hall.here + hall.others >= limit("ROOM_VIEWERS"):
            self._close_if_empty(hall)
            raise CommandError("room.full")
        hall.members[connection] = member
        _members[connection] = member
        self._count(hall)
        return member

    async def _open(self, room: str) -> Hall:
        row = await in_storage(rows.find, room)
        if row is None:
            raise CommandError("room.not-found")
        if rows.is_over(row):
            raise CommandError("room.ended")
        votes = await in_storage(rows.count_votes, row.pk, row.asked) if row.question else 0
        hall = self._halls.get(room)
        if hall is None:
            hall = self._halls[room] = Hall(row, votes=votes)
            self._listen()
            self.wake()
            await self._group(room, "group_add")
        return hall

    async def leave(self, connection: Watcher) -> None:
        """Leave the room that the connection is in, if any."""
        member = _members.pop(connection, None)
        if member is None:
            return
        hall = member.hall
        hall.members.pop(connection, None)
        if not self._close_if_empty(hall):
            self._count(hall)
            return
        with outage.SuppressOutage():
            await in_storage(rows.write_audience, hall.row.pk, self.process, 0, [])
        await self._tell({"type": "room.audience", "room": hall.row.pk})

    def _close_if_empty(self, hall: Hall) -> bool:
        if hall.members:
            return False
        room = hall.row.pk
        if self._halls.pop(room, None) is not None:
            for task in (hall.counting, hall.tallying):
                if task is not None:
                    task.cancel()
            self._spawn(self._group(room, "group_discard"))
        if not self._halls and self._listening is not None:
            self._listening.cancel()
            self._listening = None
        return True

    def wanted(self) -> bool:
        """Return whether somebody is in a room."""
        return bool(self._halls)

    # --- the leader's commands --------------------------------------------------------------

    async def move(self, hall: Hall, position: dict[str, Any]) -> int:
        """Store and push a position; return its ``seq``. Raises EndedError.

        Of positions that arrive faster than :data:`MOVE_SECONDS` the newest is stored and pushed; ``seq``
        counts all of them.
        """
        batch = hall.batch
        if batch is None:
            batch = hall.batch = Batch(position)
            batch.task = self._spawn(self._move(hall, batch))
        batch.position = position
        batch.moves += 1
        ordinal = batch.moves
        assert batch.task is not None
        return ordinal + await asyncio.shield(batch.task)

    async def _move(self, hall: Hall, batch: Batch) -> int:
        """Return ``seq`` before the batch."""
        try:
            async with hall.writing:
                await asyncio.sleep(hall.moved + MOVE_SECONDS - time.monotonic())
                hall.batch = None
                seq = await in_storage(rows.move, hall.row.pk, batch.position, batch.moves)
                hall.moved = time.monotonic()
        finally:
            if hall.batch is batch:
                hall.batch = None
        text = encode(batch.position)
        self._moved(hall, seq, text)
        self._spawn(self._tell({"type": "room.moved", "room": hall.row.pk, "seq": seq, "position": text}))
        return seq - batch.moves

    async def changed(self, row: Room) -> None:
        """Push what a command of this process changed in a row, and have other processes look."""
        hall = self._halls.get(row.pk)
        if hall is not None:
            self._update(hall, row)
        self._spawn(self._tell({"type": "room.changed", "room": row.pk}))

    def voted(self, hall: Hall) -> None:
        """Count the votes soon, and push how many there are."""
        if hall.tallying is None or hall.tallying.done():
            hall.tallying = self._spawn(self._tally(hall))

    async def _tally(self, hall: Hall) -> None:
        await asyncio.sleep(COUNT_SECONDS)
        hall.tallying = None  # a vote from now on is counted by another task
        question = hall.row.question
        if question is None or question["revealed"]:
            return
        with outage.SuppressOutage():
            votes = await in_storage(rows.count_votes, hall.row.pk, question["number"])
            self._counted(hall, question["number"], votes)
            message = {"type": "room.voted", "room": hall.row.pk, "number": question["number"]}
            await self._tell({**message, "votes": votes})

    # --- pushing ----------------------------------------------------------------------------

    def _moved(self, hall: Hall, seq: int, text: str) -> None:
        if seq <= hall.row.seq:
            return
        hall.row.seq, hall.row.position = seq, json.loads(text)
        frame = Encoded(encode(hall.position))
        for connection in list(hall.members):
            connection.push("room.position", frame, latest=True)

    def _counted(self, hall: Hall, number: int, votes: int) -> None:
        question = hall.row.question
        if question is None or question["number"] != number or question["revealed"] or votes == hall.votes:
            return
        hall.votes = votes
        frame = Encoded(encode({"number": number, "votes": votes, "revealed": False}))
        for connection in list(hall.members):
            connection.push("room.tally", frame, latest=True)

    def _update(self, hall: Hall, row: Room | None) -> None:
        """Push what is new in a row; rows read earlier than what is known are ignored."""
        if row is None or rows.is_over(row):
            self._end(hall)
            return
        self._moved(hall, row.seq, encode(row.position))
        if row.changed <= hall.row.changed:
            return
        roles = {connection: member.role for connection, member in hall.members.items()}
        before = hall.row.question
        hall.row.changed, hall.row.leader, hall.row.asked = row.changed, row.leader, row.asked
        hall.row.question = row.question
        for connection, member in hall.members.items():
            if member.role != roles[connection]:
                connection.push("room.role", {"role": member.role})
        self._asked(hall, before, row.question)
        self._count(hall)

    def _asked(
        self, hall: Hall, before: Mapping[str, Any] | None, question: Mapping[str, Any] | None
    ) -> None:
        number = question["number"] if question else None
        if number != (before["number"] if before else None):
            hall.votes = 0
            frame = Encoded(encode(hall.question))
            for connection in list(hall.members):
                connection.push("room.question", frame)
        if question and question["revealed"] and not (before and before["revealed"]):
            hall.votes = question["tally"]["votes"]
            frame = Encoded(encode({"number": number, "revealed": True, **question["tally"]}))
            for connection in list(hall.members):
                connection.push("room.tally", frame)

    def _end(self, hall: Hall) -> None:
        for connection in list(hall.members):
            _members.pop(connection, None)
            connection.push("room.ended", {})
        hall.members.clear()
        self._close_if_empty(hall)

    # --- who watches ------------------------------------------------------------------------

    def _count(self, hall: Hall, *, told: bool = False) -> None:
        """Count soon who watches; ``told``: another process said that its own count is another."""
        if hall.counting is None or hall.counting.done():
            hall.counting = self._spawn(self._audience(hall, told=told))

    async def _audience(self, hall: Hall, *, told: bool = False) -> None:
        await asyncio.sleep(COUNT_SECONDS)
        hall.counting = None  # who comes or goes from now on is counted by another task
        here, room = hall.here, hall.row.pk
        with outage.SuppressOutage():
            found = await in_storage(rows.write_audience, room, self.process, here, hall.named())
            if found is None:
                return
            if self._halls.get(room) is not hall:  # everybody left meanwhile
                await in_storage(rows.write_audience, room, self.process, 0, [])
                return
            hall.counted = time.monotonic()
            hall.others = max(0, found.watching - here)
            if found.watching != hall.told:
                hall.told = found.watching
                frame = Encoded(encode({"watching": found.watching}))
                for connection in list(hall.members):
                    connection.push("room.people", frame, latest=True)
            if not told:
                await self._tell({"type": "room.audience", "room": hall.row.pk})

    # --- the rows, and the other processes --------------------------------------------------

    async def look(self) -> None:
        """Push what is new in the rows, and write the counts that would else expire."""
        await self._look(list(self._halls))
        for hall in list(self._halls.values()):
            if time.monotonic() > hall.counted + AUDIENCE_SECONDS:
                self._count(hall, told=True)

    async def _look(self, names: Iterable[str]) -> None:
        asked = {name: self._halls[name] for name in names if name in self._halls}
        found = await in_storage(rows.states, list(asked))
        for name, hall in asked.items():
            if self._halls.get(name) is hall:
                self._update(hall, found.get(name))

    def _listen(self) -> None:
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._hear_all())

    async def _hear_all(self) -> None:
        while True:
            try:
                layer = get_channel_layer()
                self._channel = self._channel or await layer.new_channel()
                for room in list(self._halls):
                    await layer.group_add(_group(room), self._channel)
                while True:
                    message = await layer.receive(self._channel)
                    self._layer.succeeded()
                    await self._heard(message)
            except Exception as error:
                self._layer.failed(error)
                await asyncio.sleep(LAYER_SECONDS)

    async def _heard(self, message: Message) -> None:
        hall = self._halls.get(message["room"])
        if hall is None:
            return
        if message["type"] == "room.moved":
            self._moved(hall, message["seq"], message["position"])
        elif message["type"] == "room.voted":
            self._counted(hall, message["number"], message["votes"])
        elif message["type"] == "room.audience":
            self._count(hall, told=True)
        else:
            with outage.SuppressOutage():
                await self._look([message["room"]])

    async def _group(self, room: str, method: str) -> None:
        """Add the process's channel to a room's group, or remove it; the polled row serves without."""
        if not self._channel:
            return  # the listener adds all rooms when it begins
        try:
            async with asyncio.timeout(LAYER_SECONDS):
                await getattr(get_channel_layer(), method)(_group(room), self._channel)
        except Exception as error:
            self._layer.failed(error)

    async def _tell(self, message: Message) -> None:
        try:
            async with asyncio.timeout(LAYER_SECONDS):
                await get_channel_layer().group_send(_group(message["room"]), message)
        except Exception as error:
            self._layer.failed(error)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        with suppress(asyncio.CancelledError):
            task.exception()  # whoever waits for the task gets it; nobody else needs to


def _group(room: str) -> str:
    return f"room.{room}"


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()
_members: WeakKeyDictionary[Watcher, Member] = WeakKeyDictionary()


def hub() -> Hub:
    """Return the hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]


def member_of(connection: Watcher) -> Member | None:
    """Return the connection's place in a room, ``None`` if it is in none."""
    return _members.get(connection)


async def leave(connection: Watcher) -> None:
    """Leave the room that a connection is in, if any."""
    if connection in _members:
        await hub().leave(connection)
