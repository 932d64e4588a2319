"""Questions about a source whose answers take seconds: computed in the pool, kept for whoever asks next."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from msgspec import Struct

from playground.comparisons import answer_cache
from playground.once import once
from playground.playback import sources
from playground.playback.answers import RecentAnswers
from playground.pool import offload
from playground.pool.gate import Gate
from playground.pool.read_slots import reading
from playground.pool.shares import Bounds
from playground.visitors import identity
from playground.wire import Encoded

SECONDS = 15.0
ANSWERS_KEPT = 128
ANSWER_BYTES = 32 * 2**20
SHARED_SECONDS = 3_600  # that an answer is in the shared cache
SHARED_BYTES = 256 * 2**10  # of an answer in the shared cache, compressed
REQUESTS_AT_ONCE = 8  # of the API that wait for an answer, one of each visitor

answers = RecentAnswers(ANSWERS_KEPT, ANSWER_BYTES)


class SourceQuestion(Struct, frozen=True):
    """What is asked of a source: subclasses add the fields that are asked."""

    source: sources.Source

    @property
    def key(self) -> Hashable:
        """The key under which the answer is kept; it changes when a draft is saved."""
        return (type(self).__name__, self.source.key, *self._asked)

    @property
    def expects(self) -> float:
        """The seconds that an answer takes."""
        return SECONDS

    @property
    def _asked(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name != "source")

    def given(self) -> tuple[Any, ...]:
        """Return the arguments of what computes it, read from the database. Raises StaleError."""
        return (self.source.stored(), *self._asked)

    def kept(self) -> Encoded | None:
        """Return the answer if it is kept here or in the shared cache."""
        found = answers.get(self.key)
        if found is None and (found := answer_cache.remembered(self.key)) is not None:
            answers.put(self.key, found)
        return found

    def keep(self, body: Encoded) -> None:
        """Keep the answer, for whichever process is asked next."""
        answers.put(self.key, body)
        answer_cache.remember(self.key, body, SHARED_SECONDS, SHARED_BYTES)


def answered(asked: SourceQuestion, compute: Callable[..., Encoded]) -> Encoded:
    """Return the answer as JSON, to a request of the API, which waits for it.

    Raises BusyError, and the errors of reading and computing.
    """
    body = asked.kept()
    if body is None:
        body = waited_for(compute, *asked.given(), expects=asked.expects)
        asked.keep(body)
    return body


def waited_for(compute: Callable[..., Encoded], *given: Any, expects: float = SECONDS) -> Encoded:
    """Compute an answer for a request of the API, one of each visitor at a time.

    Raises BusyError, and the errors of reading and computing.
    """
    with _requests().stay(identity.asker(), 0):
        if offload.enabled():
            return offload.compute(identity.asker(), compute, *given, long=True, expects=expects)
        with reading():
            return compute(*given)


@once
def _requests() -> Gate:
    return Gate(REQUESTS_AT_ONCE, Bounds(running=1, queued=1, queued_by_all=REQUESTS_AT_ONCE))
