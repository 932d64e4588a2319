"""The threads that run the engine, so that the event loop never does.

They are few (limit ``ENGINE_THREADS``): the interpreter runs one at a time, and what more of
them would do at once is only to make each answer later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from django.db import close_old_connections

from playground.limits import limit

T = TypeVar("T")


@cache
def engine() -> ThreadPoolExecutor:
    """Return the process's engine threads."""
    return ThreadPoolExecutor(max_workers=limit("ENGINE_THREADS"), thread_name_prefix="engine")


@cache
def parsing() -> ThreadPoolExecutor:
    """Return the process's threads that read bundles: seconds of work, in which nobody's step waits."""
    return ThreadPoolExecutor(max_workers=limit("PARSING_THREADS"), thread_name_prefix="parsing")


@cache
def exports() -> ThreadPoolExecutor:
    """Return the process's thread for downloads, which take minutes and must keep nobody waiting."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")


@cache
def storage() -> ThreadPoolExecutor:
    """Return the process's threads for short database work of WebSocket commands."""
    return ThreadPoolExecutor(max_workers=4, thread_name_prefix="storage")


def _with_connections(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    close_old_connections()
    try:
        return call(*args, **kwargs)
    finally:
        close_old_connections()


async def in_engine(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run ``call`` in an engine thread."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(engine(), lambda: _with_connections(call, *args, **kwargs))


async def in_parsing(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run ``call``, which reads a bundle, in a parsing thread."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(parsing(), lambda: _with_connections(call, *args, **kwargs))


async def in_exports(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run ``call``, a part of a download, in the exports' thread."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(exports(), lambda: _with_connections(call, *args, **kwargs))


async def in_storage(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run ``call``, which uses the database and little time, in a storage thread."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(storage(), lambda: _with_connections(call, *args, **kwargs))
