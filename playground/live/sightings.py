"""The sources that were found recently, so that a step needs no database query.

The rule: for ``SOURCE_SECONDS`` after the database query, a source that was found counts as existing and as
visible to the visitor. A draft is remembered for its owner only; a scenario, a link or a run, which anyone
with its address may see, for everyone. Withdrawals in this process invalidate at once
(:mod:`playground.storage.withdrawals`); those of another process take effect when the time is over. A source
that was not found is not remembered, nor is a draft named without a revision: that means the newest one,
which only the database knows.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from playground.limits import limit
from playground.live.flights import Flights
from playground.playback import sources
from playground.playback.executor import in_storage
from playground.storage import withdrawals

LONGEST_ID = 43  # characters, those of a scenario's full digest

Name = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A source, its expiry, and the count of withdrawals before the query."""

    source: sources.Source
    until: float  # time.monotonic()
    withdrawn: int


def _now() -> float:
    return time.monotonic()


def name_of(wire: Any, visitor: str) -> Name | None:
    """Return the key of a source, ``None`` if it must not be remembered."""
    if not isinstance(wire, dict) or not 1 <= len(wire) <= 2:
        return None
    kind = next((kind for kind in ("scenario", "run", "link", "draft") if kind in wire), "")
    name = wire.get(kind)
    if not isinstance(name, str) or len(name) > LONGEST_ID:
        return None
    if kind != "draft":
        return (kind, name) if len(wire) == 1 else None
    revision = wire.get("revision")
    if not visitor or not isinstance(revision, int) or isinstance(revision, bool):
        return None
    return (kind, name, revision, visitor)


class Sightings:
    """The sources found recently, at most ``SOURCES_SEEN``. For use in one event loop."""

    def __init__(self) -> None:
        self._seen: OrderedDict[Name, Sighting] = OrderedDict()
        self._looking: Flights[sources.Source] = Flights()

    def __len__(self) -> int:
        return len(self._seen)

    def seen(self, wire: Any, visitor: str) -> sources.Source | None:
        """Return a source that was found recently, ``None`` if the database has to be queried."""
        name = name_of(wire, visitor)
        found = self._seen.get(name) if name is not None else None
        if found is None or found.withdrawn != withdrawals.count() or _now() >= found.until:
            return None
        return found.source

    async def find(self, wire: Any, visitor: str) -> sources.Source:
        """Return the source from the database, and remember it. Raises NotFoundError."""
        name = name_of(wire, visitor)
        if name is None:
            return await in_storage(sources.find, wire, visitor)
        # A caller after a withdrawal does not wait for a query from before it.
        withdrawn = withdrawals.count()
        asked, look = (name, withdrawn), lambda: self._look(name, wire, visitor, withdrawn)
        while (source := await self._looking.join(asked, look)) is None:
            pass
        return source

    async def _look(self, name: Name, wire: Any, visitor: str, withdrawn: int) -> sources.Source:
        asked = _now()
        source = await in_storage(sources.find, wire, visitor)
        self._seen.pop(name, None)
        self._seen[name] = Sighting(source, asked + limit("SOURCE_SECONDS"), withdrawn)
        while len(self._seen) > limit("SOURCES_SEEN"):
            self._seen.popitem(last=False)
        return source

    def clear(self) -> None:
        """Drop every source."""
        self._seen.clear()


sightings = Sightings()
