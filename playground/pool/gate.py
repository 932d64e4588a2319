"""A limited number of slots for threads working in the web process, granted to visitors in turn."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from playground.pool.shares import FULL, Bounds, BusyError, Shares

T = TypeVar("T")


class Gate:
    """Admits a limited number of threads at once; waiting ones are admitted by visitor in turn."""

    def __init__(self, places: int, bounds: Bounds) -> None:
        self._free = places
        self._shares: Shares[threading.Event] = Shares(bounds)
        self._lock = threading.Lock()

    def enter(self, visitor: str, seconds: float | None = None, *, always: bool = False) -> None:
        """Wait for a slot. Raises BusyError after ``seconds``, or immediately if too many wait.

        ``always`` is for a thread that was admitted before, and waits indefinitely.
        """
        turn = threading.Event()
        with self._lock:
            self._shares.put(visitor, turn, always=always)
            self._let_in()
        if turn.wait(seconds):
            return
        with self._lock:
            if not self._shares.discard(visitor, turn):
                return  # it was admitted just now
        raise BusyError(FULL)

    def leave(self, visitor: str) -> None:
        """Release the slot."""
        with self._lock:
            self._free += 1
            self._shares.done(visitor)
            self._let_in()

    def give_way(self, visitor: str) -> None:
        """Admit waiting threads first, and wait for a slot again."""
        with self._lock:
            if not len(self._shares):
                return
        self.leave(visitor)
        self.enter(visitor, always=True)

    def _let_in(self) -> None:
        while self._free and (taken := self._shares.take()) is not None:
            self._free -= 1
            taken[1].set()


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
