"""The open connections of a web process: how many are allowed, and which one is evicted for a new one.

A connection that waits for its client costs nothing to close, and an idle one has waited longest: it is
evicted to admit a new connection. So a client that keeps connections open cannot lock others out, neither
from another address nor from the same one (a lecture hall may share one address).
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter, OrderedDict, defaultdict
from enum import Enum
from typing import Protocol

import structlog

from playground.limits import limit
from playground.visitors.addresses import client_address

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0  # between two checks of all connections
SPARE_FILES = 200  # descriptors for everything but connections: database, static files, threads' pipes


class Phase(Enum):
    """What a connection is waiting for."""

    REQUEST = "the client, to send a request"
    BODY = "the client, to send the rest of a request"
    READER = "the client, to read its answer"
    SERVER = "the application"


#: The order of eviction. A request that the application is working on is never dropped for a new connection.
MAKE_ROOM = (Phase.REQUEST, Phase.BODY, Phase.READER)


class Guarded(Protocol):
    """A connection as the registry sees it."""

    address: str

    def look(self, now: float) -> None:
        """Close the connection if its client is too slow; ``now`` is the loop's time."""

    def make_room(self) -> None:
        """Close the connection at once."""


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
        """Return the connection to evict next; None if there is none."""
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
        """Register a connection, evicting another if need be; return False if there is no room."""
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
        """Unregister a connection; a no-op if it is not registered."""
        if connection in self.all:
            self.enter(connection, Phase.SERVER)
            del self.all[connection]
            address = connection.address
            self.by_address[address] -= 1
            if not self.by_address[address]:
                del self.by_address[address]
                self._queues_of.pop(address, None)

    def enter(self, connection: Guarded, phase: Phase) -> None:
        """Record the phase of a connection; a no-op if it has not changed."""
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
            except Exception:  # of one connection; the others are still checked
                log.exception("a connection could not be looked at")
                connection.make_room()


#: The connections of this process.
connections = Connections()


def address_of(client: tuple[str, int] | None) -> str:
    """Return the key a connection is counted by: the peer's address, for IPv6 its network; "" if unknown."""
    return client_address(client[0], "") if client else ""


def _most() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(limit("CONNECTIONS"), max(files - SPARE_FILES, files // 2, 1))


def _most_of_address(most: int) -> int:
    # Behind a reverse proxy all connections come from its address; limiting each visitor is its task then.
    return most if limit("TRUSTED_PROXIES") else min(limit("CONNECTIONS_PER_ADDRESS"), max(most // 2, 1))


def raise_file_limit() -> None:
    """Raise the open-file limit of this process and its children to what the connections need, if allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limit("CONNECTIONS") + SPARE_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
