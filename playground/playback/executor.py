"""The threads that run the engine, so that the event loop never does.

Few of them run at once (limit ``ENGINE_THREADS``): the interpreter runs one at a time, and more of them would
only delay each answer. Visitors share these places in turns (:mod:`playground.pool.gate`). A thread that has
none is in the middle of a step, or waits for a lock or for another thread.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from django.db import close_old_connections, connections

from playground.limits import limit
from playground.once import once
from playground.pool.cpu_budget import BEYOND, spending
from playground.pool.gate import FairThreads, Gate
from playground.pool.shares import Bounds
from playground.visitors import identity

AHEAD = "ahead"  # suffix of a visitor's name: the share of what waits for these to grow
GROWS = "grows"  # suffix of a visitor's name: the share of the playbacks that are computed for them
ENGINE_WORKERS = 64  # that have a place, or wait for one
GROWING_THREADS = 64  # that compute a playback forward, in a place or between two turns
WAITING_THREADS = 24  # that wait for the pool and use hardly any CPU
EACH = {"engine": 4, "growing": 2, "waiting": 4}  # of these for one visitor

STORAGE = "storage"
STORAGE_THREADS = 4
KEPT_SECONDS = 60.0  # for which a storage thread's connection is used again

T = TypeVar("T")

#: Jobs submitted to each pool that are not finished, waiting or running. Counted in the event loop.
jobs: Counter[str] = Counter()


@once
def places() -> Gate:
    """Return the places of the threads that run the engine."""
    count = limit("ENGINE_THREADS")
    return Gate(count, Bounds(max(1, count - 1), 2_000, 20_000), spending.charge)


@once
def engine() -> ThreadPoolExecutor:
    """Return the process's engine threads."""
    return ThreadPoolExecutor(max_workers=ENGINE_WORKERS, thread_name_prefix="engine")


@once
def growing() -> ThreadPoolExecutor:
    """Return the process's threads that compute playbacks forward."""
    return ThreadPoolExecutor(max_workers=GROWING_THREADS, thread_name_prefix="growing")


@once
def parsing() -> ThreadPoolExecutor:
    """Return the process's threads that parse bundles: seconds of work that must not delay anyone's step."""
    return ThreadPoolExecutor(max_workers=limit("PARSING_THREADS"), thread_name_prefix="parsing")


@once
def exports() -> ThreadPoolExecutor:
    """Return the process's thread for downloads, which take minutes and must not block others."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")


@once
def storage() -> ThreadPoolExecutor:
    """Return the process's threads for short database work of WebSocket commands."""
    return ThreadPoolExecutor(max_workers=STORAGE_THREADS, thread_name_prefix="storage")


@once
def waiting() -> ThreadPoolExecutor:
    """Return the process's threads in which visitors wait for the pool to parse a bundle."""
    return ThreadPoolExecutor(max_workers=WAITING_THREADS, thread_name_prefix="waiting")


@once
def fair(executor: Callable[[], ThreadPoolExecutor]) -> FairThreads:
    """Return an executor's threads, scheduled fairly among visitors."""
    threads = executor()._max_workers  # noqa: SLF001 - the value that the executor was created with
    # A connection has few jobs in threads at once, which bounds these queues by the number of connections.
    each = EACH.get(executor.__name__) or max(1, threads - 1)
    return FairThreads(executor, threads, Bounds(each, 2_000, 20_000))


class Ahead:
    """Engine threads for playbacks that are computed ahead: a share of each visitor."""

    def submit(self, call: Callable[..., object], *args: Any) -> Future[object]:
        """Run ``call``, which waits for a playback to grow, in an engine thread when it is their turn."""
        return fair(engine).submit(f"{identity.asker()} {AHEAD}", lambda: call(*args))


def grow(call: Callable[[], T]) -> Future[T]:
    """Run ``call``, which computes a playback forward, in a thread of its own for who this context works for.

    Raises SpentError if their budget is spent, and BusyError.
    """
    context, asker = contextvars.copy_context(), identity.asker()
    share = f"{asker} {GROWS}"
    context.run(spending.check, share)

    def placed() -> T:
        with places().stay(share, always=True, long=True):
            return call()

    return fair(growing).submit(share, lambda: context.run(_with_connections, placed))


def _with_connections(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    close_old_connections()
    try:
        return call(*args, **kwargs)
    finally:
        close_old_connections()


def _keeping_connection(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run ``call``; leave its connection to the database open for this thread's next call.

    Opening one takes longer than most of these calls, and SQLite removes its log with the last one closed.
    One to a server that broke meanwhile is noticed before it is used (``CONN_HEALTH_CHECKS``).
    """
    close_old_connections()
    try:
        return call(*args, **kwargs)
    finally:
        for connection in connections.all(initialized_only=True):
            if connection.errors_occurred or connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()
            else:
                connection.close_at = time.monotonic() + KEPT_SECONDS


def _charged(visitor: str, call: Callable[..., T], *args: Any) -> T:
    """Run ``call``, and charge its CPU time to a visitor."""
    began = time.thread_time()
    try:
        return call(*args)
    finally:
        spending.charge(visitor, time.thread_time() - began)


async def _in(
    pool: str, submit: Callable[..., Future[T]], call: Callable[..., T], *args: Any, **kwargs: Any
) -> T:
    """Run ``call`` in a pool, in the caller's context: the visitor, and the fields of its log lines."""
    context = contextvars.copy_context()
    run = _keeping_connection if pool == STORAGE else _with_connections
    jobs[pool] += 1
    try:
        return await asyncio.wrap_future(submit(lambda: context.run(run, call, *args, **kwargs)))
    finally:
        jobs[pool] -= 1


async def in_engine(visitor: str, call: Callable[..., T], *args: Any) -> T:
    """Run ``call`` in an engine thread when it is the visitor's turn. Raises SpentError."""
    spending.check(visitor, BEYOND)

    def placed() -> T:
        with places().stay(visitor, always=True):
            return call(*args)

    return await _in("engine", partial(fair(engine).submit, visitor), placed)


async def in_parsing(visitor: str, call: Callable[..., T], *args: Any) -> T:
    """Run ``call``, which parses a small bundle, in a parsing thread when it is the visitor's turn.

    Raises SpentError.
    """
    spending.check(visitor)
    return await _in("parsing", partial(fair(parsing).submit, visitor), _charged, visitor, call, *args)


async def in_waiting(visitor: str, call: Callable[..., T], *args: Any) -> T:
    """Run ``call``, which waits for the pool to parse a large bundle, in a waiting thread."""
    return await _in("waiting", partial(fair(waiting).submit, visitor), _charged, visitor, call, *args)


async def in_exports(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run ``call``, a part of a download, in the exports' thread."""
    return await _in("exports", exports().submit, call, *args, **kwargs)


async def in_storage(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run ``call``, which uses the database briefly, in a storage thread."""
    return await _in(STORAGE, storage().submit, call, *args, **kwargs)
