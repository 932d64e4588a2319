"""The threads that run the engine, so that the event loop never does.

They are few (limit ``ENGINE_THREADS``): the interpreter runs one at a time, and what more of
them would do at once is only to make each answer later. Visitors take turns in them.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from django.db import close_old_connections

from playground.limits import limit
from playground.once import once
from playground.pool.gate import FairThreads
from playground.pool.shares import Bounds

AHEAD = "ahead"  # no visitor's name is as short
WAITING_THREADS = 24  # that wait for the pool, and hardly compute
WAITING_EACH = 4  # of them for one visitor

T = TypeVar("T")

#: Work given to each pool that is not done yet, waiting or running. Counted in the event loop.
jobs: Counter[str] = Counter()


@once
def engine() -> ThreadPoolExecutor:
    """Return the process's engine threads."""
    return ThreadPoolExecutor(max_workers=limit("ENGINE_THREADS"), thread_name_prefix="engine")


@once
def parsing() -> ThreadPoolExecutor:
    """Return the process's threads that read bundles: seconds of work, in which nobody's step waits."""
    return ThreadPoolExecutor(max_workers=limit("PARSING_THREADS"), thread_name_prefix="parsing")


@once
def exports() -> ThreadPoolExecutor:
    """Return the process's thread for downloads, which take minutes and must keep nobody waiting."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")


@once
def storage() -> ThreadPoolExecutor:
    """Return the process's threads for short database work of WebSocket commands."""
    return ThreadPoolExecutor(max_workers=4, thread_name_prefix="storage")


@once
def waiting() -> ThreadPoolExecutor:
    """Return the process's threads in which a visitor waits for what the pool reads."""
    return ThreadPoolExecutor(max_workers=WAITING_THREADS, thread_name_prefix="waiting")


@once
def fair(executor: Callable[[], ThreadPoolExecutor]) -> FairThreads:
    """Return an executor's threads as visitors share them."""
    places = executor()._max_workers  # noqa: SLF001 - what the executor was made with
    # A connection has few jobs in threads at once, so that these queues are bounded by their number.
    each = WAITING_EACH if executor is waiting else max(1, places - 1)
    return FairThreads(executor, places, Bounds(each, 2_000, 20_000))


class Ahead:
    """Engine threads for playbacks that are computed ahead: all of them together have a visitor's share."""

    def submit(self, call: Callable[..., object], *args: Any) -> Future[object]:
        """Run ``call`` in an engine thread when it is their turn."""
        return fair(engine).submit(AHEAD, lambda: call(*args))


def _with_connections(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    close_old_connections()
    try:
        return call(*args, **kwargs)
    finally:
        close_old_connections()


async def _in(
    pool: str, submit: Callable[..., Future[T]], call: Callable[..., T], *args: Any, **kwargs: Any
) -> T:
    """Run ``call`` there in the caller's context: whom it is done for, and what its log lines name."""
    context = contextvars.copy_context()
    jobs[pool] += 1
    try:
        return await asyncio.wrap_future(
            submit(lambda: context.run(_with_connections, call, *args, **kwargs))
        )
    finally:
        jobs[pool] -= 1


async def in_engine(visitor: str, call: Callable[..., T], *args: Any) -> T:
    """Run ``call`` in an engine thread when it is the visitor's turn."""
    return await _in("engine", partial(fair(engine).submit, visitor), call, *args)


async def in_parsing(visitor: str, call: Callable[..., T], *args: Any) -> T:
    """Run ``call``, which reads a small bundle, in a parsing thread when it is the visitor's turn."""
    return await _in("parsing", partial(fair(parsing).submit, visitor), call, *args)


async def in_waiting(visitor: str, call: Callable[..., T], *args: Any) -> T:
    """Run ``call``, which waits for the pool to read a large bundle, in a thread for that."""
    return await _in("waiting", partial(fair(waiting).submit, visitor), call, *args)


async def in_exports(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run ``call``, a part of a download, in the exports' thread."""
    return await _in("exports", exports().submit, call, *args, **kwargs)


async def in_storage(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run ``call``, which uses the database and little time, in a storage thread."""
    return await _in("storage", storage().submit, call, *args, **kwargs)
