"""A room's position in one web process: pushed at once, stored a moment later.

A move is numbered and pushed without waiting for the database; the newest position is stored afterwards, at
most once in :data:`STORE_SECONDS`. The row decides between processes: it only takes a greater number. A
process that finds its number taken, because two lead at once, pushes its position again under the next one,
so that all converge on the position that was stored last. What a process pushed and did not live to store is
stored by any other that heard of it.

A position belongs to a scene: once the room went elsewhere, neither a push nor the row takes one of before.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from playground.models import Room
from playground.playback.executor import in_storage
from playground.rooms import rows
from playground.runtime import outage

MOVE_SECONDS = 0.05  # between two moves that are pushed; those in between are coalesced
STORE_SECONDS = 0.25  # between two writes of a room's position
REPAIR_SECONDS = 1.0  # after which a pushed position that is not stored was lost with its process
OUTAGE_SECONDS = 2.0  # between two attempts while the database does not answer

Position = dict[str, Any]
Push = Callable[[int, int, Position, bool], None]


class RoomPosition:
    """The newest position of a room, with its scene and its number.

    ``push`` is called with these, and whether the move was made in this process, so that the others have to
    hear of it; ``ended`` when storing finds that the room is over.
    """

    def __init__(self, row: Room, push: Push, ended: Callable[[], None]) -> None:
        self.scene, self.seq = row.scene, row.seq
        self.position: Position = row.position
        self._room = row.pk
        self._push, self._ended = push, ended
        self._pushed = self._written = float("-inf")  # time.monotonic() of the last push, and write
        self._timer: asyncio.TimerHandle | None = None
        self._unstored = False  # whether this process has to store the position
        self._storing: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._outages = outage.OutageLog("storing positions of rooms")

    def move(self, position: Position) -> int:
        """Push a position and have it stored; return its number.

        Of positions that arrive faster than :data:`MOVE_SECONDS` the newest is pushed; each has a number.
        """
        self.seq, self.position = self.seq + 1, position
        self._announce()
        self._store_soon()
        return self.seq

    def receive(self, scene: int, seq: int, position: Position) -> None:
        """Push a position of another process, unless it is of another scene, or older than what is known."""
        if scene == self.scene and seq > self.seq:
            self._take(seq, position)
            self._pushed = time.monotonic()
            self._push(scene, seq, position, False)

    def enter(self, scene: int, seq: int, position: Position) -> None:
        """Take the position at which another scene begins; whoever pushes that scene pushes it, too."""
        self.scene = scene
        self._take(seq, position)

    def _take(self, seq: int, position: Position) -> None:
        self._cancel_push()
        self._unstored = False  # whoever numbered it stores it
        self.seq, self.position = seq, position

    def compare(self, scene: int, stored: int) -> None:
        """Store the position if the row still has an older one, long after it was pushed."""
        lost = scene == self.scene and stored < self.seq
        if lost and time.monotonic() > self._pushed + REPAIR_SECONDS:
            self._store_soon()

    def close(self) -> None:
        """Push and store nothing any more."""
        self._cancel_push()
        self._unstored = False

    @property
    def stored(self) -> bool:
        """Whether this process has nothing left to store."""
        return not self._unstored

    async def flush(self) -> None:
        """Store now what is not stored yet; return once it is, or the attempt failed."""
        if self._timer is not None:
            self._timer.cancel()
            self._push_now()
        self._hurry.set()
        if self._storing is not None and self._unstored:
            await asyncio.wait([self._storing], timeout=OUTAGE_SECONDS)
        self._hurry.clear()

    # --- pushing ----------------------------------------------------------------------------

    def _announce(self) -> None:
        if self._timer is not None:
            return
        wait = self._pushed + MOVE_SECONDS - time.monotonic()
        if wait > 0:
            self._timer = asyncio.get_running_loop().call_later(wait, self._push_now)
        else:
            self._push_now()

    def _push_now(self) -> None:
        self._timer = None
        self._pushed = time.monotonic()
        self._push(self.scene, self.seq, self.position, True)

    def _cancel_push(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- storing ----------------------------------------------------------------------------

    def _store_soon(self) -> None:
        self._unstored = True
        if self._storing is None or self._storing.done():
            self._storing = asyncio.create_task(self._store())

    async def _store(self) -> None:
        while await self._due():
            offered = self.scene, self.seq, self.position
            self._written = time.monotonic()
            try:
                found = await in_storage(rows.store_position, self._room, *offered)
            except rows.EndedError:
                self._unstored = False
                self._ended()
            except Exception as error:
                self._outages.failed(error)
                await asyncio.sleep(OUTAGE_SECONDS)
            else:
                self._outages.succeeded()
                self._compare_stored(offered, found)

    async def _due(self) -> bool:
        """Wait until the next write is due; return whether there is anything left to write."""
        seconds = self._written + STORE_SECONDS - time.monotonic()
        if self._unstored and seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._hurry.wait()
        return self._unstored

    def _compare_stored(self, offered: tuple[int, int, Position], found: tuple[int, int, Position]) -> None:
        """Note what the row has after a scene, number and position were ``offered`` to it."""
        scene, seq, _ = found
        if found == offered:
            self._unstored = self._unstored and (self.scene, self.seq) > (scene, seq)  # moved on meanwhile
        elif scene > self.scene:
            self._unstored = False  # the room went elsewhere: there is no such place any more
        elif self._unstored and self.seq <= seq:
            # Another process took the number for a position of its own.
            self.seq = seq + 1
            self._announce()
