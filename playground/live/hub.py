"""The rooms of a web process: who is in them, and what is pushed to them.

A leader's move is pushed to everybody in this process, sent over the channel layer to the other web
processes, each of which has one channel for all of its rooms, and stored (:mod:`playground.live.moves`).
Whatever else changes is stored first. The layer may lose a message, and may be away: each process also polls
the rows of its rooms, so that whatever was lost arrives a moment later.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from channels.layers import get_channel_layer

from playground.limits import limit
from playground.live.errors import CommandError
from playground.live.halls import Hall, Member, Veil
from playground.live.moves import Position, RoomPosition
from playground.live.notifications import Polling, Watcher
from playground.models import Room
from playground.playback.executor import in_storage
from playground.rooms import people, rows
from playground.runtime import outage
from playground.visitors import names
from playground.wire import encode

COUNT_SECONDS = 0.25  # between two counts of who watches, or of the votes
AUDIENCE_SECONDS = 5.0  # between two writes of an unchanged count
LAYER_SECONDS = 2.0  # for a message to the layer, and between two attempts to listen to it

Message = dict[str, Any]


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

    async def join(
        self, connection: Watcher, room: str, token: str, name: str, *, projects: bool = False
    ) -> Member:
        """Enter a room, leaving any other; the projector's page ``projects`` it. Raises CommandError."""
        await self.leave(connection)
        while (hall := self._halls.get(room)) is None:  # it closes if others leave while it opens
            await self._open(room)
        member = Member(
            connection,
            hall,
            people.person_of(room, connection.visitor),
            names.clean_name(name),
            rows.holds_token(hall.row, token),
            projects,
        )
        if token and not member.holds_token:
            self._close_if_empty(hall)
            raise CommandError("permission.denied", "The lead token is invalid.")
        if not member.leads and hall.here + hall.others >= limit("ROOM_VIEWERS"):
            self._close_if_empty(hall)
            raise CommandError("room.full")
        hall.members[connection] = member
        _members[connection] = member
        self._veil(hall)
        self._count(hall)
        return member

    async def _open(self, room: str) -> None:
        row = await in_storage(rows.find, room)
        if row is None:
            raise CommandError("room.not-found")
        if rows.is_over(row):
            raise CommandError("room.ended")
        votes = await in_storage(rows.count_votes, row.pk, row.asked) if row.question else 0
        if room not in self._halls:
            hall = self._halls[room] = self._hall(row, votes)
            self._listen()
            self.wake()
            if await self._group(room, "group_add"):
                await self._ask_newest(hall)

    def _hall(self, row: Room, votes: int) -> Hall:
        def push(scene: int, seq: int, position: Position, own: bool) -> None:
            hall.push("room.position", {"scene": scene, "seq": seq, **position}, latest=True)
            if own:
                moved = {"scene": scene, "seq": seq, "position": encode(position)}
                self._spawn(self._publish("room.moved", row.pk, **moved))

        hall = Hall(row, RoomPosition(row, push, lambda: self._end(hall)), votes=votes)
        return hall

    async def leave(self, connection: Watcher) -> None:
        """Leave the room that the connection is in, if any."""
        member = _members.pop(connection, None)
        if member is None:
            return
        connection.watching.veiled = False
        hall = member.hall
        hall.members.pop(connection, None)
        if not hall.members:
            await hall.moves.flush()  # somebody who joins meanwhile gets the position from here
        if not self._close_if_empty(hall):
            self._count(hall)
            return
        with outage.SuppressOutage():
            await in_storage(rows.write_audience, hall.row.pk, self.process, 0, [])
        await self._publish("room.audience", hall.row.pk)

    def _close_if_empty(self, hall: Hall) -> bool:
        if hall.members or not hall.moves.stored:
            return False
        room = hall.row.pk
        if self._halls.get(room) is hall:
            del self._halls[room]
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

    # --- what commands of this process changed ----------------------------------------------

    async def changed(self, row: Room) -> None:
        """Push what a command of this process changed in a row, and have other processes look."""
        hall = self._halls.get(row.pk)
        if hall is not None:
            self._update(hall, row)
        self._spawn(self._publish("room.changed", row.pk))

    async def refresh(self, hall: Hall) -> None:
        """Push what is new in a row, without waiting for the next poll."""
        await self._look([hall.row.pk])

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
            await self._publish("room.voted", hall.row.pk, number=question["number"], votes=votes)

    # --- pushing ----------------------------------------------------------------------------

    def _counted(self, hall: Hall, number: int, votes: int) -> None:
        question = hall.row.question
        if question is None or question["number"] != number or question["revealed"] or votes == hall.votes:
            return
        hall.votes = votes
        hall.push("room.tally", {"number": number, "votes": votes}, latest=True)

    def _update(self, hall: Hall, row: Room | None) -> None:
        """Push what is new in a row; rows read earlier than what is known are ignored."""
        if row is None or rows.is_over(row):
            self._end(hall)
            return
        hall.moves.receive(row.scene, row.seq, row.position)
        hall.moves.compare(row.scene, row.seq)
        if row.changed <= hall.row.changed:
            return
        roles = {connection: member.role for connection, member in hall.members.items()}
        before, hall.row = hall.row, row
        if row.scene > hall.moves.scene:
            hall.moves.enter(row.scene, row.seq, row.position)
        self._veil(hall)
        self._recount(hall, before.question, row.question)
        hall.push("room.state", hall.state, latest=True)
        for connection, member in hall.members.items():
            if member.role != roles[connection]:
                connection.push("room.role", {"role": member.role})
        self._count(hall)

    def _veil(self, hall: Hall) -> None:
        """Tell the subscriptions of who predicts nothing that a source grows by."""
        for connection, member in hall.members.items():
            connection.watching.veiled = hall.veil is not None and not member.leads

    def _recount(
        self, hall: Hall, before: Mapping[str, Any] | None, question: Mapping[str, Any] | None
    ) -> None:
        """Begin to count the votes of another question, or end it with all of them."""
        if question and question["revealed"]:
            hall.votes = question["tally"]["votes"]
        elif not before or not question or question["number"] != before["number"]:
            hall.votes = 0

    def _end(self, hall: Hall) -> None:
        hall.moves.close()
        hall.push("room.ended", {})
        for connection in hall.members:
            connection.watching.veiled = False
            _members.pop(connection, None)
        hall.members.clear()
        self._close_if_empty(hall)

    # --- who watches ------------------------------------------------------------------------

    def _count(self, hall: Hall, *, announce: bool = True) -> None:
        """Count soon who watches; ``announce``: have the other processes count, too."""
        if hall.counting is None or hall.counting.done():
            hall.counting = self._spawn(self._audience(hall, announce=announce))

    def placed(self, member: Member, step: str, lost: str) -> None:
        """Note the step of who goes their own way, "" for who follows, and why a page cannot follow."""
        if (member.place, member.lost) != (step, lost):
            member.place, member.lost = step, lost
            self._count(member.hall)

    async def _audience(self, hall: Hall, *, announce: bool = True) -> None:
        await asyncio.sleep(COUNT_SECONDS)
        hall.counting = None  # who comes or goes from now on is counted by another task
        here, lost, room = hall.here, hall.lost, hall.row.pk
        with outage.SuppressOutage():
            found = await in_storage(rows.write_audience, room, self.process, here, hall.named(), lost)
            if found is None:
                return
            await in_storage(rows.write_people, room, hall.followers())
            if self._halls.get(room) is not hall:  # everybody left meanwhile
                await in_storage(rows.write_audience, room, self.process, 0, [])
                return
            hall.counted = time.monotonic()
            hall.others = max(0, found.watching - here)
            watching = {"watching": found.watching, "lost": found.lost}
            if watching != hall.pushed:
                hall.pushed = watching
                hall.push("room.people", watching, latest=True)
            if announce:
                await self._publish("room.audience", room)

    # --- the rows, and the other processes --------------------------------------------------

    async def look(self) -> None:
        """Push what is new in the rows, and write the counts that would else expire."""
        await self._look(list(self._halls))
        for hall in list(self._halls.values()):
            if not self._close_if_empty(hall) and time.monotonic() > hall.counted + AUDIENCE_SECONDS:
                self._count(hall, announce=False)

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
        while self._halls:  # reading from Redis may turn a cancellation into a timeout
            try:
                layer = get_channel_layer()
                self._channel = self._channel or await layer.new_channel()
                for room, hall in list(self._halls.items()):
                    await layer.group_add(_group(room), self._channel)
                    await self._ask_newest(hall)
                while True:
                    message = await layer.receive(self._channel)
                    self._layer.succeeded()
                    await self._receive(message)
            except Exception as error:
                self._layer.failed(error)
                await asyncio.sleep(LAYER_SECONDS)

    async def _receive(self, message: Message) -> None:
        hall = self._halls.get(message["room"])
        if hall is None or message["process"] == self.process:
            return
        if message["type"] == "room.moved":
            if message["scene"] > hall.moves.scene:  # which comes with the row
                with outage.SuppressOutage():
                    await self._look([message["room"]])
            hall.moves.receive(message["scene"], message["seq"], json.loads(message["position"]))
        elif message["type"] == "room.opened":
            newest = hall.moves
            if (message["scene"], message["seq"]) < (newest.scene, newest.seq):
                moved = {"scene": newest.scene, "seq": newest.seq, "position": encode(newest.position)}
                await self._publish("room.moved", hall.row.pk, **moved)
        elif message["type"] == "room.voted":
            self._counted(hall, message["number"], message["votes"])
        elif message["type"] == "room.audience":
            self._count(hall, announce=False)
        else:
            with outage.SuppressOutage():
                await self._look([message["room"]])

    async def _ask_newest(self, hall: Hall) -> None:
        """Ask the other processes for a position that is newer than the row's."""
        await self._publish("room.opened", hall.row.pk, scene=hall.moves.scene, seq=hall.moves.seq)

    async def _group(self, room: str, method: str) -> bool:
        """Add the process's channel to a room's group, or remove it; the polled row serves without."""
        if not self._channel:
            return False  # the listener adds all rooms when it begins
        try:
            async with asyncio.timeout(LAYER_SECONDS):
                await getattr(get_channel_layer(), method)(_group(room), self._channel)
        except Exception as error:
            self._layer.failed(error)
            return False
        return True

    async def _publish(self, kind: str, room: str, **fields: Any) -> None:
        """Send the other processes that have somebody in a room a message about it: one to each."""
        message = {"type": kind, "room": room, "process": self.process, **fields}
        try:
            async with asyncio.timeout(LAYER_SECONDS):
                await get_channel_layer().group_send(_group(room), message)
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


def veil_of(connection: Watcher) -> Veil | None:
    """Return what is hidden from a connection, ``None`` if it leads, is in no room, or nothing is asked."""
    member = _members.get(connection)
    return None if member is None or member.leads else member.hall.veil


async def leave(connection: Watcher) -> None:
    """Leave the room that a connection is in, if any."""
    if connection in _members:
        await hub().leave(connection)
