"""A limited number of places for threads that compute in the web process, granted to visitors in turn.

Who holds a place gives way to others several times a second, in the middle of a step if need be, and never
waits for a lock meanwhile. Of two places or more, one is kept for work that has taken a moment so far: a step
of somebody waits for a slice of another's computing, however long that takes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from playground.pool.shares import FULL, Bounds, BusyError, Shares
from scheduler_core.interrupts import interrupted_by

T = TypeVar("T")

LONG_SECONDS = 0.1  # of CPU time, after which work is long: it never has the last place
TURN_SECONDS = 0.08  # of CPU time, after which long work gives way to whoever waits

Charge = Callable[[str, float, bool], None]
"""Called with a share, the CPU seconds that it took, and whether its work is long; may raise to end it."""


def at_no_charge(_share: str, _seconds: float, _long: bool) -> None:
    """Charge nobody."""


class Stay:
    """What one thread does from entering a gate to leaving it; ``share`` is a visitor, or a part of one."""

    def __init__(self, gate: Gate, share: str, *, long: bool) -> None:
        self.share = share
        self.long = long
        self.admitted = threading.Event()
        self._gate = gate
        self._charged = self._due = 0.0

    def begin(self) -> None:
        """Start counting the CPU time of this thread."""
        self._charged = time.thread_time()
        self._due = self._charged + (TURN_SECONDS if self.long else LONG_SECONDS)

    def look(self) -> None:
        """Give way if this is due; called many times a second. Raises what ``charge`` does."""
        now = time.thread_time()
        if now < self._due:
            return
        self.charge(now, long=True)
        self._gate.give_way(self)
        self._due = time.thread_time() + TURN_SECONDS

    def charge(self, now: float, *, long: bool) -> None:
        """Charge the CPU time since the last call."""
        seconds, self._charged = now - self._charged, now
        self._gate.charge(self.share, seconds, long and not self.long)


_stay: ContextVar[Stay | None] = ContextVar("stay", default=None)


def look() -> None:
    """Let the thread that calls give way, if it has a place and that is due."""
    stay = _stay.get()
    if stay is not None:
        stay.look()


@contextmanager
def outside() -> Iterator[None]:
    """Leave the place of the thread that calls, if it has one, while it waits for something."""
    stay = _stay.get()
    if stay is None or not stay.admitted.is_set():
        yield
        return
    gate = stay._gate  # noqa: SLF001 - of this module
    gate.leave(stay)
    try:
        yield
    finally:
        gate.enter(stay, always=True)


class GivingLock:
    """A lock that a thread waits for outside its gate, so that none with a place ever waits for another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            with outside():
                self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Gate:
    """Admits a limited number of threads at once; waiting ones are admitted by share in turn."""

    def __init__(self, places: int, bounds: Bounds, charge: Charge = at_no_charge) -> None:
        self.charge = charge
        self._free = places
        self._most_long = max(1, places - 1)
        self._long = 0
        self._shares: Shares[Stay] = Shares(bounds)
        self._lock = threading.Lock()

    @contextmanager
    def stay(
        self, share: str, seconds: float | None = None, *, always: bool = False, long: bool = False
    ) -> Iterator[Stay]:
        """Hold a place, which what the engine computes inside gives to others when that is due.

        Raises BusyError after ``seconds``, or immediately if too many wait, unless ``always`` is set.
        ``long`` is work that is known to go on.
        """
        stay = Stay(self, share, long=long)
        self.enter(stay, seconds, always=always)
        stay.begin()
        token = _stay.set(stay)
        try:
            with interrupted_by(stay.look):
                yield stay
        finally:
            _stay.reset(token)
            self.leave(stay)
            stay.charge(time.thread_time(), long=False)

    def enter(self, stay: Stay, seconds: float | None = None, *, always: bool = False) -> None:
        """Wait for a place. Raises BusyError after ``seconds``, or immediately if too many wait."""
        with self._lock:
            self._shares.put(stay.share, stay, always=always)
            self._let_in()
        if stay.admitted.wait(seconds):
            return
        with self._lock:
            if not self._shares.discard(stay.share, stay):
                return  # it was admitted just now
        raise BusyError(FULL)

    def leave(self, stay: Stay) -> None:
        """Release the place."""
        with self._lock:
            self._release(stay)
            self._let_in()

    def give_way(self, stay: Stay) -> None:
        """Note that the work of a stay is long, and admit who waits before it goes on."""
        with self._lock:
            if not stay.long:
                stay.long = True
                self._long += 1
            if not len(self._shares) and self._long <= self._most_long:
                return
            self._release(stay)
            self._shares.put(stay.share, stay, always=True)
            self._let_in()
        stay.admitted.wait()

    def _release(self, stay: Stay) -> None:
        stay.admitted.clear()
        self._free += 1
        self._long -= stay.long
        self._shares.done(stay.share)

    def _let_in(self) -> None:
        while self._free and (taken := self._shares.take(self._may)) is not None:
            stay = taken[1]
            self._free -= 1
            self._long += stay.long
            stay.admitted.set()

    def _may(self, _share: str, stay: Stay) -> bool:
        return not stay.long or self._long < self._most_long


class FairThreads:
    """An executor's threads, assigned to visitors in turn."""

    def __init__(self, executor: Callable[[], Executor], places: int, bounds: Bounds) -> None:
        self._executor = executor
        self._free = places
        self._shares: Shares[tuple[Future[Any], Callable[[], Any]]] = Shares(bounds)
        self._lock = threading.Lock()

    def submit(self, visitor: str, call: Callable[[], T]) -> Future[T]:
        """Run ``call`` when it is the visitor's turn. Raises BusyError if too many wait."""
        future: Future[T] = Future()
        with self._lock:
            self._shares.put(visitor, (future, call))
            self._begin()
        return future

    def _begin(self) -> None:
        while self._free and (taken := self._shares.take()) is not None:
            visitor, (future, call) = taken
            self._free -= 1
            self._executor().submit(self._run, visitor, future, call)

    def _run(self, visitor: str, future: Future[Any], call: Callable[[], Any]) -> None:
        try:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:
                    future.set_exception(error)
        finally:
            with self._lock:
                self._free += 1
                self._shares.done(visitor)
                self._begin()
