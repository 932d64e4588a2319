"""Offloading of large bundles and computations to the pool's processes, for each visitor in turn.

Small ones stay in the threads of the web process: handing them to another process would take longer. If a
scenario is needed in the web process, as for opening a playback, it is read in the pool and rebuilt here
(:mod:`playground.pool.transfer`).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from msgspec import Struct

from playground.limits import limit
from playground.once import once
from playground.pool import parts, transfer
from playground.pool.gate import Gate, outside
from playground.pool.pool import EXPECTED_SECONDS, Job, pool
from playground.pool.process import OverrunError
from playground.pool.shares import Bounds
from playground.runtime import garbage
from playground.storage import bundles
from scheduler_core.formats.bundle import File
from scheduler_core.progress import Watch
from scheduler_core.scenario.scenario import Scenario

T = TypeVar("T")

TEXT_BYTES = 64 * 1024  # beyond this reading takes longer than a step may wait
WORK = 100_000  # nodes × pods, beyond which computing every cycle takes longer
MADE_OBJECTS = 300  # pods that a controller creates from a few lines
POLL_SECONDS = 0.1  # between two checks whether a result is still wanted
QUEUED = ("reading", 0, 1)  # the progress of a job before its first report

_MADE = re.compile(r"""\b(?:replicas|parallelism|completions|count)["']?\s{0,9}:\s{0,9}["']?(\d{1,9})""")
_REBUILT_AT_ONCE = 1  # scenarios; two at once would only compete for the GIL
_UNBOUNDED = Bounds(running=1, queued=1_000, queued_by_all=10_000)  # the pool limits what arrives here


def enabled() -> bool:
    """Return whether there is a pool."""
    return limit("POOL_PROCESSES") > 0


def is_large(*texts: str) -> bool:
    """Return whether reading texts takes long, due to their length or the pods that controllers create."""
    if sum(map(len, texts)) > TEXT_BYTES:
        return True
    return sum(int(found[1]) for text in texts for found in _MADE.finditer(text)) > MADE_OBJECTS


def compute(
    visitor: str,
    function: Callable[..., T],
    *args: Any,
    watch: Watch | None = None,
    long: bool = False,
    expects: float = EXPECTED_SECONDS,
) -> T:
    """Run a module-level function in the pool and wait for its result; blocks the calling thread.

    ``watch`` (None: that of :func:`playground.storage.bundles.watched`) receives the progress, and cancels
    the job by raising. Raises BusyError, TooLargeError if the job takes more time or memory than the limits
    allow, LostError, and whatever the function raises.
    """
    hear = watch or bundles.watching()
    job = pool().submit(visitor, function, *args, long=long, expects=expects)
    try:
        while True:
            try:
                return job.future.result(POLL_SECONDS)
            except TimeoutError:
                if job.future.done():
                    raise
            hear(*(job.report or QUEUED))
    except OverrunError as error:
        raise bundles.TooLargeError(str(error)) from error
    finally:
        _leave(job)


async def computed(
    visitor: str,
    function: Callable[..., T],
    *args: Any,
    watch: Watch,
    long: bool = False,
    expects: float = EXPECTED_SECONDS,
    hear: parts.Hear | None = None,
) -> T:
    """Run a function as :func:`compute` does, without blocking; ``watch`` is called in the event loop.

    So is ``hear``, with each part of the result as it comes (:mod:`playground.pool.parts`).
    """
    job = pool().submit(visitor, function, *args, long=long, expects=expects)
    waiting = asyncio.wrap_future(job.future)
    try:
        while True:
            done, _ = await asyncio.wait({waiting}, timeout=POLL_SECONDS)
            while hear is not None and job.parts:
                hear(job.parts.popleft())
            if done:
                return waiting.result()
            watch(*(job.report or QUEUED))
    except OverrunError as error:
        raise bundles.TooLargeError(str(error)) from error
    finally:
        waiting.cancel()
        _leave(job)


def _leave(job: Job[Any]) -> None:
    if not job.future.done():
        pool().cancel(job)


# --- scenarios that are needed in the web process ------------------------------------------------


@once
def _rebuilding() -> Gate:
    return Gate(_REBUILT_AT_ONCE, _UNBOUNDED)


class Elsewhere(Struct, frozen=True):
    """Reads large bundles for a visitor in the pool; the thread leaves its place meanwhile."""

    visitor: str

    def read(self, files: Sequence[File], times: bundles.Times, presumed: str = "") -> Scenario | None:
        """Return the result of :func:`playground.storage.bundles.parse`, None if the files are small."""
        if not is_large(*(text for file in files for text in bundles.texts_of(file))):
            return None
        return self._rebuilt(_parsed, list(files), times, presumed)

    def documents(self, text: str) -> Scenario | None:
        """Return a scenario of a text's documents, None if the text is small."""
        return self._rebuilt(_documents, text) if is_large(text) else None

    def restore(self, content: bytes) -> Scenario | None:
        """Return the result of :func:`playground.storage.bundles.restore`, None if the content is small."""
        large = bundles.unpacked_bytes(content) > TEXT_BYTES or is_large(bundles.unpack(content).decode())
        return self._rebuilt(_restored, content) if large else None

    def _rebuilt(self, function: Callable[..., bytes], *args: Any) -> Scenario:
        with outside():
            data = compute(self.visitor, function, *args)
            with _rebuilding().stay(self.visitor, always=True):
                scenario = transfer.unpacked(data)
            garbage.exempt()
            return scenario


@contextmanager
def reading_for(visitor: str) -> Iterator[None]:
    """Read large bundles of this context in the pool, as jobs of a visitor."""
    if not enabled():
        yield
        return
    with bundles.read_by(Elsewhere(visitor)):
        yield


@garbage.paused()
def _parsed(files: Sequence[File], times: bundles.Times, presumed: str) -> bytes:
    return transfer.packed(bundles.parse(files, times=times, presumed=presumed))


@garbage.paused()
def _documents(text: str) -> bytes:
    return transfer.packed(Scenario("", bundles.read_documents(text), ()))


@garbage.paused()
def _restored(content: bytes) -> bytes:
    return transfer.packed(bundles.restore(content))
