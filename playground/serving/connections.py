"""The open connections of a web process: how many there may be, and which one makes room.

A connection that keeps the server waiting costs nothing to close, and one that only holds a place has kept
it waiting longest: a new connection is let in at its expense. So nobody who keeps connections open can keep
others out, from another address or from the same one (a lecture hall has one).
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter, OrderedDict, defaultdict
from enum import Enum
from typing import Protocol

import structlog

from playground.limits import limit
from playground.visitors.identity import client_address

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0  # between two looks at all connections
SPARE_FILES = 200  # descriptors for everything that is no connection: database, static files, threads' pipes


class Phase(Enum):
    """Whom a connection waits for."""

    REQUEST = "the client, to send a request"
    BODY = "the client, to send the rest of a request"
    READER = "the client, to read its answer"
    SERVER = "the application"


#: Who makes room first. What the application works on is never given up for a new connection.
MAKE_ROOM = (Phase.REQUEST, Phase.BODY, Phase.READER)


class Guarded(Protocol):
    """A connection as the registry sees it."""

    address: str

    def look(self, now: float) -> None:
        """End the connection if its client is late; ``now`` is the loop's time."""

    def make_room(self) -> None:
        """End the connection at once."""


class ConnectionQueues:
    """Connections by phase, each phase in the order in which they entered it."""

    def __init__(self) -> None:
        self._of: dict[Phase, OrderedDict[Guarded, None]] = {phase: OrderedDict() for phase in MAKE_ROOM}

    def put(self, connection: Guarded, phase: Phase) -> None:
        """Put a connection at the end of its phase's queue; SERVER has none."""
        for queue in self._of.values():
            queue.pop(connection, None)
        if phase in self._of:
            self._of[phase][connection] = None

    def first(self) -> Guarded | None:
        """Return the connection that makes room."""
        return next((one for queue in self._of.values() for one in queue), None)


class Connections:
    """All connections of a process, counted by address."""

    def __init__(self) -> None:
        self.all: dict[Guarded, Phase] = {}
        self.by_address: Counter[str] = Counter()
        self._queues = ConnectionQueues()
        self._queues_of: defaultdict[str, ConnectionQueues] = defaultdict(ConnectionQueues)
        self._looking = False

    def add(self, connection: Guarded, phase: Phase) -> bool:
        """Take a connection in, at the expense of another if need be; return False if there is no room."""
        address = connection.address
        most = _most()
        if self.by_address[address] >= _most_of_address(most) and not self._evict(self._queues_of[address]):
            return False
        if len(self.all) >= most and not self._evict(self._queues):
            return False
        self.all[connection] = Phase.SERVER
        self.by_address[address] += 1
        self.enter(connection, phase)
        if not self._looking:
            self._looking = True
            asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)
        return True

    def remove(self, connection: Guarded) -> None:
        """Forget a connection; nothing happens if it is not known."""
        if connection in self.all:
            self.enter(connection, Phase.SERVER)
            del self.all[connection]
            address = connection.address
            self.by_address[address] -= 1
            if not self.by_address[address]:
                del self.by_address[address]
                self._queues_of.pop(address, None)

    def enter(self, connection: Guarded, phase: Phase) -> None:
        """Note the phase of a connection; nothing happens if it has not changed."""
        if self.all.get(connection, phase) is not phase:
            self.all[connection] = phase
            self._queues.put(connection, phase)
            self._queues_of[connection.address].put(connection, phase)

    def _evict(self, queues: ConnectionQueues) -> bool:
        oldest = queues.first()
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.make_room()
        return True

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._looking = bool(self.all)
        if self._looking:
            loop.call_later(LOOK_SECONDS, self._look)
        for connection in list(self.all):
            try:
                connection.look(loop.time())
            except Exception:  # of one connection; the others are still looked at
                log.exception("a connection could not be looked at")
                connection.make_room()


#: Of this process.
connections = Connections()


def address_of(client: tuple[str, int] | None) -> str:
    """Return what a connection is counted by: its peer's address, of IPv6 the network; "" if unknown."""
    return client_address(client[0], "") if client else ""


def _most() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(limit("CONNECTIONS"), max(files - SPARE_FILES, files // 2, 1))


def _most_of_address(most: int) -> int:
    # Behind a reverse proxy all connections come from its address; to tell visitors apart is its task then.
    return most if limit("TRUSTED_PROXIES") else min(limit("CONNECTIONS_PER_ADDRESS"), max(most // 2, 1))


def raise_file_limit() -> None:
    """Allow this process, and those that it starts, as many open files as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limit("CONNECTIONS") + SPARE_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
