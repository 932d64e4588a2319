"""Closes the WebSockets of browsers whose cookie was exchanged; their pages connect again with the new one.

Until then a page is who it was: what it stores is claimed a moment later, and a command that fails because
its draft is another owner's by now is not answered, so that the page sends it again on its next connection.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Protocol

from django.utils import timezone

from playground.accounts import ownership, recalls
from playground.limits import limit
from playground.live.notifications import Polling
from playground.models import Recall
from playground.playback.executor import in_storage
from playground.runtime import outage

CLOSED = 4001  # the close code: the page connects again, as after any other


class Recalled(Protocol):
    """A connection, as it is closed."""

    visitor: str
    opened: datetime

    async def close(self, code: int | bool | None = None) -> None:
        """Close the WebSocket."""


class Recaller(Polling):
    """Polls the recalls while a page of this process is open."""

    what = "recalls"
    seconds = 2.0

    def __init__(self) -> None:
        super().__init__()
        self._open: defaultdict[str, set[Recalled]] = defaultdict(set)
        self._claimed: set[int] = set()

    def watch(self, connection: Recalled) -> None:
        """Close a connection once its visitor is recalled."""
        if connection.visitor and limit("ACCOUNTS"):
            self._open[connection.visitor].add(connection)
            self.wake()

    def unwatch(self, connection: Recalled) -> None:
        """Undo :meth:`watch`."""
        found = self._open.get(connection.visitor)
        if found is not None:
            found.discard(connection)
            if not found:
                del self._open[connection.visitor]

    def wanted(self) -> bool:
        """Return whether a page is open."""
        return bool(self._open)

    async def look(self) -> None:
        """Close who was recalled, and claim what they stored meanwhile. An outage passes without a word."""
        with outage.SuppressOutage():
            rows = await in_storage(recalls.recent)
            for row in rows:
                for connection in list(self._open.get(row.visitor, ())):
                    if recalls.concerns(row, connection.opened):
                        self.unwatch(connection)
                        await connection.close(CLOSED)
                await self._claim(row)
            self._claimed &= {row.pk for row in rows}

    async def _claim(self, row: Recall) -> None:
        if row.owner and row.pk not in self._claimed and timezone.now() > row.created + recalls.GRACE:
            await in_storage(ownership.claim_late, row.visitor, row.owner)
            self._claimed.add(row.pk)


recaller = Recaller()
