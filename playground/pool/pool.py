"""The pool: jobs in, futures out; visitors take turns, and long jobs leave one process for short ones."""

from __future__ import annotations

import atexit
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import structlog

from playground.limits import limit
from playground.once import once
from playground.pool.process import JobError, JobProgress, LostError, OverrunError, Process
from playground.pool.shares import Bounds, Shares

log = structlog.get_logger(__name__)

T = TypeVar("T")

IDLE_SECONDS = 150.0  # after which an idle process ends; the bundles it has cached are lost then
CANCEL_SECONDS = 2.0  # after which a cancelled job is killed with its process
LONG = "computes"  # suffix of a visitor's name: the share of their long jobs
PLACES_KEPT = 1_000  # visitors whose last process is remembered


@dataclass(eq=False, slots=True)
class Job(Generic[T]):
    """One call of a module-level function, with arguments and a result that can be pickled.

    ``report`` is its last reported progress, None before the first report.
    """

    visitor: str
    function: Callable[..., T]
    args: tuple[Any, ...]
    long: bool = False
    future: Future[T] = field(default_factory=Future)
    report: JobProgress | None = None
    unwanted: bool = False


class Pool:
    """Several processes, each with a thread that hands it jobs. All methods are thread-safe."""

    def __init__(self, processes: int, bounds: Bounds) -> None:
        self._shares: Shares[Job[Any]] = Shares(bounds)
        self._changed = threading.Condition()
        self._most_long = max(1, processes - 1)
        self._long = 0  # number of running long jobs
        self._idle: set[int] = set()
        self._places: OrderedDict[str, int] = OrderedDict()  # visitor -> the process of their last job
        self._closed = False
        self.processes = [Process() for _ in range(processes)]
        self._threads = [
            threading.Thread(target=self._work, args=(number,), name=f"pool-{number}", daemon=True)
            for number in range(processes)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, visitor: str, function: Callable[..., T], *args: Any, long: bool = False) -> Job[T]:
        """Queue a job of a visitor; its future has the outcome. Raises BusyError.

        A ``long`` job computes for up to a minute: long jobs never occupy the last process, and have a
        separate share, so that reading a visitor's text does not wait for the visitor's own computation.
        """
        job = Job(f"{visitor} {LONG}" if long else visitor, function, args, long)
        with self._changed:
            self._shares.put(job.visitor, job)
            self._changed.notify_all()
        return job

    def cancel(self, job: Job[Any]) -> None:
        """Cancel a job: a waiting one is dropped, a running one is ended soon."""
        with self._changed:
            job.unwanted = True
            waited = self._shares.discard(job.visitor, job)
        if waited:
            job.future.cancel()

    def close(self) -> None:
        """End all processes and threads; waiting jobs are cancelled."""
        with self._changed:
            self._closed = True
            for job in self._shares.drain():
                job.future.cancel()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self, number: int) -> None:
        process = self.processes[number]
        try:
            while True:
                job = self._next(number)
                if job is None and self._closed:
                    return
                if job is None:
                    process.end()
                else:
                    self._run(number, process, job)
        finally:
            process.end()

    def _next(self, number: int) -> Job[Any] | None:
        """Wait for a job for a process; return None after an idle timeout or when the pool is closed."""
        with self._changed:
            self._idle.add(number)
            try:
                while not self._closed:
                    taken = self._shares.take(lambda visitor, job: self._may(number, visitor, job))
                    if taken is not None:
                        visitor, job = taken
                        self._long += job.long
                        self._places[visitor] = number
                        self._places.move_to_end(visitor)
                        if len(self._places) > PLACES_KEPT:
                            self._places.popitem(last=False)
                        return job
                    if not self._changed.wait(IDLE_SECONDS):
                        return None
                return None
            finally:
                self._idle.discard(number)

    def _may(self, number: int, visitor: str, job: Job[Any]) -> bool:
        if job.long and self._long >= self._most_long:
            return False
        # A text that was checked is usually opened next: the process that read it has it cached.
        place = self._places.get(visitor, number)
        return place == number or place not in self._idle

    def _run(self, number: int, process: Process, job: Job[Any]) -> None:
        def keep(report: JobProgress) -> None:
            job.report = report

        def patience() -> float | None:
            if self._closed:
                return 0.0
            return CANCEL_SECONDS if job.unwanted else None

        answer: Callable[[], None] | None = None
        try:
            if job.future.set_running_or_notify_cancel():
                result = process.run(job.function, job.args, keep, patience)
                answer = partial(job.future.set_result, result)
        except Exception as error:
            if isinstance(error, LostError | OverrunError | JobError):
                log.warning("a job of the pool failed", job=job.function.__name__, error=str(error))
            answer = partial(job.future.set_exception, error)
        with self._changed:
            self._shares.done(job.visitor)
            self._long -= job.long
            self._idle.add(number)  # before the visitor hears of it: the next job may come at once
            self._changed.notify_all()
        if answer is not None:
            answer()


@once
def pool() -> Pool:
    """Return the web process's pool; it is only used if the limit ``POOL_PROCESSES`` is not 0."""
    bounds = Bounds(limit("POOL_JOBS_PER_VISITOR"), limit("POOL_QUEUED_PER_VISITOR"), limit("POOL_QUEUED"))
    made = Pool(limit("POOL_PROCESSES"), bounds)
    atexit.register(made.close)
    return made
