"""The queue of nodes that wait for a NoExecute taint, with its rate (RateLimitedTimedQueue)."""

from __future__ import annotations

from scheduler_core.cluster.v1_37.loop import Loop

NEVER = 0.0
"""The rate of a queue that lets nothing through."""
_NEVER_SAYS = 1.0
"""The rate that upstream's limiter for such a queue reports (fakeNeverRateLimiter)."""
_TOKEN = 1.0 - 1e-4
"""What is left of a token that rounding has made smaller."""


class TaintQueue:
    """Nodes that come at times, let through at a rate with a burst of 1.

    They wait in a heap as Go's ``container/heap`` keeps it: of nodes that came at one time the first goes
    first, then the last. A node that was taken stays known, and is not added again until it is removed.
    """

    def __init__(self, loop: Loop, rate: float) -> None:
        self.loop = loop
        self.rate = rate
        self._waiting: list[tuple[float, str]] = []
        self._known: set[str] = set()
        self._tokens = 1.0
        self._at = loop.now

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, node: str, at: float, *, again: bool) -> None:
        """Add a node that came at a time, unless it waits or, if not ``again``, was taken."""
        if node not in self._known or (again and self._place(node) is None):
            self._known.add(node)
            self._waiting.append((at, node))
            _rise(self._waiting, len(self._waiting) - 1)

    def knows(self, node: str) -> bool:
        """Return whether a node waits, or was taken."""
        return node in self._known

    def remove(self, node: str) -> None:
        """Forget a node."""
        self._known.discard(node)
        place = self._place(node)
        if place is not None:
            _take(self._waiting, place)

    def _place(self, node: str) -> int | None:
        return next((place for place, (_, one) in enumerate(self._waiting) if one == node), None)

    def take(self) -> str | None:
        """Return the next node if the rate allows one; it leaves the queue."""
        if not self._waiting or not self._accept():
            return None
        return _take(self._waiting, 0)

    @property
    def ready_at(self) -> float | None:
        """When the rate allows the next node, ``None`` if none waits or the rate lets nothing through."""
        if not self._waiting or self.rate == NEVER:
            return None
        return self._at + max(0.0, _TOKEN - self._tokens) / self.rate

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
        if self.rate == NEVER or self._tokens < _TOKEN:
            return False
        self._tokens -= 1.0
        return True


def _take(heap: list[tuple[float, str]], place: int) -> str:
    """Take an entry out of a heap (heap.Remove); entries are compared by time alone."""
    heap[place], heap[-1] = heap[-1], heap[place]
    _, node = heap.pop()
    if place < len(heap) and not _sink(heap, place):
        _rise(heap, place)
    return node


def _rise(heap: list[tuple[float, str]], place: int) -> None:
    """Move an entry up while it is earlier than the one above (up)."""
    while place and heap[place][0] < heap[(place - 1) // 2][0]:
        above = (place - 1) // 2
        heap[place], heap[above] = heap[above], heap[place]
        place = above


def _sink(heap: list[tuple[float, str]], place: int) -> bool:
    """Move an entry down while one below is earlier; return whether it has moved (down)."""
    first = place
    while (below := 2 * place + 1) < len(heap):
        if below + 1 < len(heap) and heap[below + 1][0] < heap[below][0]:
            below += 1
        if heap[below][0] >= heap[place][0]:
            break
        heap[place], heap[below] = heap[below], heap[place]
        place = below
    return place > first
