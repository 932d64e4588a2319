"""How many cases an audit plays, and for how many seconds, shared by its subjects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import thread_time
from typing import TypeVar

from msgspec import Struct

from scheduler_core.interrupts import look
from scheduler_core.progress import Watch, unwatched

Item = TypeVar("Item")
SECONDS, CASES = 60.0, 400


class AuditBounds(Struct, frozen=True):
    """The most CPU seconds of an audit, and the most cases of one subject."""

    seconds: float = SECONDS
    cases: int = CASES


DEFAULT_BOUNDS = AuditBounds()


class Allowance:
    """What the subject at work may still use.

    A subject gets its share of the seconds that are left, by its weight among those to come; what it does not
    use is left to them.
    """

    def __init__(
        self, bounds: AuditBounds, watch: Watch = unwatched, clock: Callable[[], float] = thread_time
    ) -> None:
        self.bounds, self.watch, self.clock = bounds, watch, clock
        self._ends = clock() + bounds.seconds
        self._until = self._ends
        self._cases = 0
        self.subject = ""

    def begin(self, subject: str, share: float) -> None:
        """Give a subject a share, of 1, of what is left."""
        now = self.clock()
        self.subject, self._cases = subject, self.bounds.cases
        self._until = now + max(0.0, self._ends - now) * share
        self.watch(subject, 0, 0)

    @property
    def seconds(self) -> float:
        """What is left of the share."""
        return max(0.0, self._until - self.clock())

    def spend(self) -> bool:
        """Take a case; return False if there is none left, or no time."""
        look()
        if self._cases <= 0 or self.seconds <= 0:
            return False
        self._cases -= 1
        return True

    def cases(self, items: Sequence[Item], left: list[Item]) -> Iterator[Item]:
        """Yield the items as far as the allowance goes; the others are put into ``left``."""
        for done, item in enumerate(items):
            if not self.spend():
                left.extend(items[done:])
                return
            self.watch(self.subject, done, len(items))
            yield item
