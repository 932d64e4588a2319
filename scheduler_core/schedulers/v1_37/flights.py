"""The pods in flight: the events while one is tried, or waits at Permit, count when it comes back."""

from __future__ import annotations

from msgspec import Struct

from scheduler_core.schedulers.v1_37.interface import ClusterEvent


class Flight(Struct):
    """A pod that waits at Permit: the events since it was popped, and whether a plugin has made it active."""

    events: list[ClusterEvent]
    start: int
    """Where in the shared list those begin that came after its attempt."""

    activated: bool = False


class InFlightPods:
    """The entity that is tried, if there is one, and the pods that wait at Permit (inFlightPods)."""

    def __init__(self) -> None:
        self.tried: str | None = None
        self._events: list[ClusterEvent] = []
        self._held: dict[str, Flight] = {}
        self._since: list[ClusterEvent] = []  # events while pods wait

    def __bool__(self) -> bool:
        return self.tried is not None or bool(self._held)

    def begin(self, key: str) -> None:
        """Begin the flight of an entity that was popped."""
        self.tried = key
        self._events.clear()

    def end(self) -> None:
        """End the flight of the entity that is tried."""
        self.tried = None
        self._events.clear()

    def add(self, event: ClusterEvent) -> None:
        """Note an event."""
        if self.tried is not None:
            self._events.append(event)
        if self._held:
            self._since.append(event)

    def hold(self, key: str) -> None:
        """Keep the pod that is tried in flight."""
        self._held[key] = Flight(list(self._events), len(self._since))
        self.end()

    def holds(self, key: str) -> bool:
        """Return whether a pod waits at Permit."""
        return key in self._held

    def activate(self, key: str) -> None:
        """Note that a plugin makes a pod active that waits at Permit."""
        held = self._held.get(key)
        if held is not None:
            held.activated = True

    def land(self, key: str) -> Flight:
        """End a pod's flight and return it."""
        held = self._held.pop(key, None)
        if held is None:
            out = Flight(list(self._events), 0)
            self.end()
            return out
        held.events += self._since[held.start :]
        if not self._held:
            self._since.clear()
        return held
