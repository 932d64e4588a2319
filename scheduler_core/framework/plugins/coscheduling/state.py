"""What the plugin remembers between its calls, with the virtual time of every entry.

Nothing here has a clock: a caller passes ``now`` in seconds. An entry that has run out is treated as absent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

CACHE_DEFAULT = 3.0  # seconds: an expiration of 0 means this default of the plugin's caches


@dataclass(slots=True)
class Expiring:
    """Keys with the time they run out, as the plugin's caches keep them (go-cache).

    An expiration of 0 stands for ``default`` seconds, a negative one for ever.
    """

    default: float = CACHE_DEFAULT
    entries: dict[str, float] = field(default_factory=dict)

    def add(self, key: str, seconds: float, now: float) -> bool:
        """Add a key; one that is alive is left as it is. Tell whether it was added."""
        if self.until(key, now) is not None:
            return False
        seconds = seconds or self.default
        self.entries[key] = now + seconds if seconds > 0 else math.inf
        return True

    def until(self, key: str, now: float) -> float | None:
        """Return when a key runs out, ``None`` if it is not there (any more)."""
        until = self.entries.get(key)
        return until if until is not None and now <= until else None

    def delete(self, key: str) -> bool:
        """Take a key out; tell whether it was there."""
        return self.entries.pop(key, None) is not None

    def alive(self, now: float) -> Iterator[tuple[str, float]]:
        """Yield each key that is alive with the seconds it has left."""
        for key, until in self.entries.items():
            if now <= until:
                yield key, until - now


@dataclass(frozen=True, slots=True)
class WaitingMember:
    """A member that waits at Permit: its group, its node, when it began and when its own time is up."""

    group: str
    node: str
    since: float
    deadline: float


@dataclass(slots=True)
class GangState:
    """The plugin's memory. Keys of groups and pods are ``namespace/name``.

    ``assigned`` is kept in the current edition only, by pod *name*; classic counts in the snapshot.
    ``epoch`` is virtual time 0 in seconds since 1970, to compare with creation timestamps.
    """

    denied: Expiring = field(default_factory=Expiring)  # classic: PreFilter refuses their pods
    permitted: Expiring = field(default_factory=Expiring)  # resource check passed, not to be repeated
    backed_off: Expiring = field(default_factory=lambda: Expiring(10.0))  # current
    assigned: dict[str, set[str]] = field(default_factory=dict)
    failed_at: dict[str, float] = field(default_factory=dict)  # current: the moment of the last failure
    waiting: dict[str, WaitingMember] = field(default_factory=dict)  # by pod key
    epoch: float = 0.0

    def waiting_of(self, group: str) -> list[str]:
        """Return the keys of a group's waiting members, in the order they began to wait."""
        return [key for key, waiting in self.waiting.items() if waiting.group == group]

    def assign(self, group: str, name: str) -> int:
        """Add a pod to its group's assigned set; returns how many there are."""
        names = self.assigned.setdefault(group, set())
        names.add(name)
        return len(names)

    def unassign(self, group: str, name: str) -> None:
        """Take a pod out of its group's assigned set: unreserved, deleted or completed."""
        names = self.assigned.get(group, set())
        names.discard(name)
        if not names:
            self.assigned.pop(group, None)
