"""The plugin's state between its calls, with the virtual time of every entry.

Nothing here has a clock: the caller passes ``now`` in seconds. An expired entry is treated as absent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import Struct, field

CACHE_DEFAULT = 3.0  # seconds: an expiration of 0 means this default of the plugin's caches


class Expiring(Struct):
    """Keys with their expiry times, like the plugin's caches (go-cache).

    An expiration of 0 means ``default`` seconds, a negative one never expires.
    """

    default: float = CACHE_DEFAULT
    entries: dict[str, float] = field(default_factory=dict)

    def add(self, key: str, seconds: float, now: float) -> bool:
        """Add a key, unless it has a live entry; return whether it was added."""
        if self.until(key, now) is not None:
            return False
        seconds = seconds or self.default
        self.entries[key] = now + seconds if seconds > 0 else math.inf
        return True

    def until(self, key: str, now: float) -> float | None:
        """Return when a key expires, ``None`` if it is absent or expired."""
        until = self.entries.get(key)
        return until if until is not None and now <= until else None

    def delete(self, key: str) -> bool:
        """Remove a key; return whether it was present."""
        return self.entries.pop(key, None) is not None

    def alive(self, now: float) -> Iterator[tuple[str, float]]:
        """Yield each live key with its remaining seconds."""
        for key, until in self.entries.items():
            if now <= until:
                yield key, until - now


class WaitingMember(Struct, frozen=True):
    """A member that waits at Permit: its group, its node, and when it began to wait and times out."""

    group: str
    node: str
    since: float
    deadline: float


class GangState(Struct):
    """The plugin's state. Keys of groups and pods are ``namespace/name``.

    ``assigned`` is used in the current edition only, by pod *name*; classic counts in the snapshot.
    ``epoch`` is virtual time 0 in seconds since 1970, to compare with creation timestamps.
    """

    denied: Expiring = field(default_factory=Expiring)  # classic: PreFilter rejects their pods
    permitted: Expiring = field(default_factory=Expiring)  # resource check passed, not repeated
    backed_off: Expiring = field(default_factory=lambda: Expiring(10.0))  # current
    assigned: dict[str, set[str]] = field(default_factory=dict)
    failed_at: dict[str, float] = field(default_factory=dict)  # current: the time of the last failure
    waiting: dict[str, WaitingMember] = field(default_factory=dict)  # by pod key
    epoch: float = 0.0

    def waiting_of(self, group: str) -> list[str]:
        """Return the keys of a group's waiting members, in the order they began to wait."""
        return [key for key, waiting in self.waiting.items() if waiting.group == group]

    def assign(self, group: str, name: str) -> int:
        """Add a pod to its group's assigned set; return the size of the set."""
        names = self.assigned.setdefault(group, set())
        names.add(name)
        return len(names)

    def unassign(self, group: str, name: str) -> None:
        """Remove a pod that was unreserved, deleted or completed from its group's assigned set."""
        names = self.assigned.get(group, set())
        names.discard(name)
        if not names:
            self.assigned.pop(group, None)
