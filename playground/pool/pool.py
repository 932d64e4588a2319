"""The pool: jobs in, futures out; visitors take turns, and long jobs leave one process for short ones."""

from __future__ import annotations

import atexit
import math
import threading
import time
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import structlog

from playground.limits import limit
from playground.once import once
from playground.pool.cpu_budget import spending
from playground.pool.process import JobError, JobProgress, LostError, OverrunError, Process
from playground.pool.shares import Bounds, BusyError, Shares

log = structlog.get_logger(__name__)

T = TypeVar("T")

IDLE_SECONDS = 150.0  # after which an idle process ends; the bundles it has cached are lost then
CANCEL_SECONDS = 2.0  # after which a cancelled job is killed with its process
LONG = "computes"  # suffix of a visitor's name: the share of their long jobs
EXPECTED_SECONDS = 20.0  # of a long job that does not say
PLACES_KEPT = 1_000  # visitors whose last process is remembered


@dataclass(eq=False, slots=True)
class Job(Generic[T]):
    """One call of a module-level function, with arguments and a result that can be pickled.

    ``report`` is its last reported progress, None before the first report; ``parts`` are those of its result
    that nobody has taken yet. It ``expects`` to compute for so
    many seconds, if it is long; ``context`` is that of who submitted it, at whose cost it runs.
    """

    visitor: str
    function: Callable[..., T]
    args: tuple[Any, ...]
    long: bool = False
    expects: float = 0.0
    began: float | None = None  # time.monotonic()
    context: Context = field(default_factory=copy_context)
    future: Future[T] = field(default_factory=Future)
    report: JobProgress | None = None
    parts: deque[Any] = field(default_factory=deque)
    unwanted: bool = False


class Pool:
    """Several processes, each with a thread that hands it jobs. All methods are thread-safe."""

    def __init__(self, processes: int, bounds: Bounds) -> None:
        self._shares: Shares[Job[Any]] = Shares(bounds)
        self._changed = threading.Condition()
        self._most_long = max(1, processes - 1)
        self._long: list[Job[Any]] = []  # the long jobs, waiting or running, in the order of submission
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

    def submit(
        self,
        visitor: str,
        function: Callable[..., T],
        *args: Any,
        long: bool = False,
        expects: float = EXPECTED_SECONDS,
    ) -> Job[T]:
        """Queue a job of a visitor; its future has the outcome. Raises BusyError, and SpentError.

        A ``long`` job computes for up to a minute: long jobs never occupy the last process, and have a
        separate share, so that reading a visitor's text does not wait for the visitor's own computation. One
        that would wait for longer than ``POOL_WAIT_SECONDS``, as far as the jobs before it tell what they
        expect, is refused.
        """
        spending.check(visitor)
        job = Job(f"{visitor} {LONG}" if long else visitor, function, args, long, expects if long else 0.0)
        with self._changed:
            if long:
                self._check_wait(job.visitor)
            self._shares.put(job.visitor, job)
            if long:
                self._long.append(job)
            self._changed.notify_all()
        return job

    def cancel(self, job: Job[Any]) -> None:
        """Cancel a job: a waiting one is dropped, a running one is ended soon."""
        with self._changed:
            job.unwanted = True
            waited = self._shares.discard(job.visitor, job)
            if waited:
                self._end_long(job)
        if waited:
            job.future.cancel()

    def _check_wait(self, share: str) -> None:
        """Raise BusyError, with the place in the queue, if a further long job of a share waits too long.

        Shares take turns: of another one as many jobs come before it as this one has, and one more.
        """
        now, turns = time.monotonic(), 1 + sum(job.visitor == share for job in self._long)
        before: dict[str, list[float]] = defaultdict(list)
        for job in self._long:
            if len(before[job.visitor]) < turns:
                took = 0.0 if job.began is None else now - job.began
                before[job.visitor].append(max(1.0, job.expects - took))
        place = sum(map(len, before.values()))
        wait = sum(map(sum, before.values())) / self._most_long
        if place < self._most_long or wait <= limit("POOL_WAIT_SECONDS"):
            return
        later = math.ceil(wait - limit("POOL_WAIT_SECONDS")) + 1
        raise BusyError(
            f"The server is busy: this would be number {place + 1} in the queue of long computations, and "
            f"begin in about {wait:,.0f} seconds; come back in {later:,} seconds.",
            later,
        )

    def _end_long(self, job: Job[Any]) -> None:
        if job.long:
            self._long.remove(job)

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
                        job.began = time.monotonic()
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
        if job.long and sum(one.began is not None for one in self._long) >= self._most_long:
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
            process.seconds = 0.0
            if job.future.set_running_or_notify_cancel():
                result = process.run(job.function, job.args, keep, patience, job.parts.append)
                answer = partial(job.future.set_result, result)
        except Exception as error:
            if isinstance(error, LostError | OverrunError | JobError):
                log.warning("a job of the pool failed", job=job.function.__name__, error=str(error))
            answer = partial(job.future.set_exception, error)
        job.context.run(spending.charge, job.visitor, process.seconds)
        with self._changed:
            self._shares.done(job.visitor)
            self._end_long(job)
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
