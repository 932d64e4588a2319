"""The queue of nodes that wait for a NoExecute taint, with its rate (RateLimitedTimedQueue)."""

from __future__ import annotations

from scheduler_core.cluster.v1_37.loop import Loop

NEVER = 0.0
"""The rate of a queue that lets nothing through."""
_NEVER_SAYS = 1.0
"""The rate that upstream's limiter for such a queue reports (fakeNeverRateLimiter)."""


class TaintQueue:
    """Nodes in order of arrival, let through at a rate with a burst of 1.

    A node that was taken stays known, and is not added again until it is removed.
    """

    def __init__(self, loop: Loop, rate: float) -> None:
        self.loop = loop
        self.rate = rate
        self._waiting: dict[str, None] = {}
        self._known: set[str] = set()
        self._tokens = 1.0
        self._at = loop.now

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, node: str) -> None:
        """Add a node unless it is known."""
        if node not in self._known:
            self._known.add(node)
            self._waiting[node] = None

    def knows(self, node: str) -> bool:
        """Return whether a node waits, or was taken."""
        return node in self._known

    def remove(self, node: str) -> None:
        """Forget a node."""
        self._known.discard(node)
        self._waiting.pop(node, None)

    def take(self) -> str | None:
        """Return the next node if the rate allows one; it leaves the queue."""
        if not self._waiting or not self._accept():
            return None
        node = next(iter(self._waiting))
        del self._waiting[node]
        return node

    def swap(self, rate: float) -> None:
        """Change the rate; a queue that waits for its rate goes on waiting.

        One that lets nothing through reports the rate 1, so changing to that rate changes nothing.
        """
        if rate == (self.rate or _NEVER_SAYS):
            return
        drained = not self._accept()
        self.rate = rate
        self._tokens, self._at = (0.0 if drained else 1.0), self.loop.now

    def _accept(self) -> bool:
        now = self.loop.now
        self._tokens = min(1.0, self._tokens + (now - self._at) * self.rate)
        self._at = now
        if self.rate == NEVER or self._tokens < 1.0 - 1e-4:
            return False
        self._tokens -= 1.0
        return True
