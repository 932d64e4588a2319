"""The sources that were found, so that a step needs no database query and an outage stops no playback.

The rule: for ``SOURCE_SECONDS`` after the database query, a source that was found counts as existing and as
visible to the visitor. A draft is remembered for its owner only; a scenario, a link, a run or a side, which
anyone with its address may see, for everyone. Withdrawals in this process invalidate at once
(:mod:`playground.storage.withdrawals`); those of another process take effect when the time is over. A source
that was not found is not remembered. A draft named without a revision means the newest one, which only the
database knows: it counts as found during an outage alone.

During an outage the sources that are open remain playable, however long ago they were found; few callers wait
for the database then, as its threads are few.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from playground.limits import limit
from playground.live.flights import Flights
from playground.playback import sources
from playground.playback.executor import in_storage
from playground.runtime import outage
from playground.storage import withdrawals

LONGEST_ID = 43 + len("-right")  # characters: those of a comparison's full digest, and its side

Name = tuple[Any, ...]
Lookup = Callable[[], Awaitable[sources.Source]]


class Sighting(Struct, frozen=True):
    """A source, when it ceases to count as found, and the count of withdrawals before the query."""

    source: sources.Source
    until: float  # time.monotonic()
    withdrawn: int


def _now() -> float:
    return time.monotonic()


def name_of(wire: Any, visitor: str) -> Name | None:
    """Return the key of a source, ``None`` if it must not be remembered."""
    if not isinstance(wire, dict) or not 1 <= len(wire) <= 4:
        return None
    if wire.get("living") is True:
        own = name_of({key: value for key, value in wire.items() if key != "living"}, visitor)
        return None if own is None else (*own, "living")
    if "scheduler" in wire:
        own = name_of({key: value for key, value in wire.items() if key != "scheduler"}, visitor)
        scheduler = wire["scheduler"]
        known = isinstance(scheduler, str) and len(scheduler) <= LONGEST_ID
        return (*own, "under", scheduler) if own is not None and known else None
    kind = next((kind for kind in ("scenario", "run", "link", "side", "draft") if kind in wire), "")
    name = wire.get(kind)
    if not isinstance(name, str) or len(name) > LONGEST_ID:
        return None
    if kind != "draft":
        return (kind, name) if len(wire) == 1 else None
    revision = wire.get("revision")
    if len(wire) > 1 + ("revision" in wire):
        return None
    if not visitor or not isinstance(revision, int | None) or isinstance(revision, bool):
        return None
    return (kind, name, revision, visitor)


def _is_newest(name: Name) -> bool:
    return name[0] == "draft" and name[2] is None


class Sightings:
    """The sources found recently, at most ``SOURCES_SEEN``. For use in one event loop."""

    def __init__(self) -> None:
        self._seen: OrderedDict[Name, Sighting] = OrderedDict()
        self._looking: Flights[sources.Source] = Flights()

    def __len__(self) -> int:
        return len(self._seen)

    def seen(self, wire: Any, visitor: str) -> sources.Source | None:
        """Return a source that was found recently, ``None`` if the database has to be queried."""
        found = self._found(name_of(wire, visitor))
        return found.source if found is not None and _now() < found.until else None

    def _found(self, name: Name | None) -> Sighting | None:
        found = self._seen.get(name) if name is not None else None
        return found if found is not None and found.withdrawn == withdrawals.count() else None

    async def find(self, wire: Any, visitor: str, look: Lookup | None = None) -> sources.Source:
        """Return the source from the database, or by ``look``, and remember it.

        During an outage it is the open source that was found before; a ``look`` of the caller's own needs the
        database. Raises NotFoundError, what ``look`` raises, and UnavailableError.
        """
        name = name_of(wire, visitor)
        known = self._found(name) if look is None else None
        open_one = known.source if known is not None and sources.is_open(known.source) else None
        if not sources.reads.due():
            if open_one is None:
                raise outage.UnavailableError
            return open_one
        try:
            with sources.reads.recorded():
                return await self._query(name, wire, visitor, look)
        except sources.NotFoundError:
            if name is not None:
                self._seen.pop(name, None)
            raise
        except Exception as error:
            if open_one is None or outage.cause_of(error) is None:
                raise
            return open_one

    async def _query(self, name: Name | None, wire: Any, visitor: str, look: Lookup | None) -> sources.Source:
        query = look or (lambda: in_storage(sources.find, wire, visitor))
        if name is None:
            return await query()
        # A caller after a withdrawal does not wait for a query from before it.
        withdrawn = withdrawals.count()

        async def remembering() -> sources.Source:
            return self._keep(name, _now(), await query(), withdrawn)

        if look is not None or _is_newest(name):
            return await remembering()
        while (source := await self._looking.join((name, withdrawn), remembering)) is None:
            pass
        return source

    def _keep(self, name: Name, asked: float, source: sources.Source, withdrawn: int) -> sources.Source:
        """Remember a source for ``SOURCE_SECONDS`` from when it was asked for."""
        until = 0.0 if _is_newest(name) else asked + limit("SOURCE_SECONDS")
        self._seen.pop(name, None)
        self._seen[name] = Sighting(source, until, withdrawn)
        while len(self._seen) > limit("SOURCES_SEEN"):
            self._seen.popitem(last=False)
        return source

    def clear(self) -> None:
        """Drop every source."""
        self._seen.clear()


sightings = Sightings()
