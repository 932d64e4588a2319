"""How often one address may ask, in fixed windows of a minute counted in the cache; and how many
requests of a process may read bundles at once, by visitor in turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from playground.pool import offload
from playground.visitors.identity import asker, client_address
from playground.limits import limit
from playground.serving.metrics import READING
from playground.once import once
from playground.pool.gate import Gate
from playground.pool.shares import Bounds

WINDOW_SECONDS = 60
READING_SECONDS = 20.0  # so long a request waits for its turn to read a bundle
RETRY_SECONDS = 30  # what is said to who has too many runs


@once
def _readers() -> Gate:
    places = limit("ENGINE_THREADS")
    # One place is never taken by the first visitor's second request, where there are two.
    bounds = Bounds(max(1, places - 1), limit("POOL_QUEUED_PER_VISITOR"), limit("POOL_QUEUED"))
    return Gate(places, bounds)


@contextmanager
def reading() -> Iterator[Callable[[], None]]:
    """Read or write a bundle in a request's thread, at once with few others (limit ``ENGINE_THREADS``).

    Visitors take turns. What is large is read in the pool, while the place is another's. Raises BusyError
    after :data:`READING_SECONDS`, or at once for a visitor of whom too many requests wait. What computes for
    seconds calls the function that is yielded after each slice: it lets others come first.
    """
    visitor, readers = asker(), _readers()
    readers.enter(visitor, READING_SECONDS)
    try:
        with READING.track_inprogress(), offload.reading_for(visitor, readers):
            yield lambda: readers.give_way(visitor)
    finally:
        readers.leave(visitor)


def address_of(request: HttpRequest) -> str:
    """Return the address that limits count by."""
    return client_address(request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""))


def token_of(request: HttpRequest) -> str:
    """Return the bearer token that a request was sent with, "" without one."""
    header = request.headers.get("Authorization", "")
    return header[7:].strip() if header[:7].lower() == "bearer " else ""


def _now() -> float:
    return time.time()


def wait_seconds(limit_name: str, address: str) -> int:
    """Count one request; return 0 if it is within the limit, else the seconds to wait."""
    now = _now()
    window = int(now // WINDOW_SECONDS)
    key = f"throttle:{limit_name}:{window}:{address}"
    cache.add(key, 0, timeout=2 * WINDOW_SECONDS)
    try:
        count = cache.incr(key)
    except ValueError:  # the entry expired or was displaced in this moment
        return 0
    return 0 if count <= limit(limit_name) else int((window + 1) * WINDOW_SECONDS - now) + 1


View = Callable[..., HttpResponse]


def throttled(limit_name: str) -> Callable[[View], View]:
    """Answer a page's form with 429 and Retry-After once its address is over ``limit_name``."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            wait = wait_seconds(limit_name, address_of(request))
            if not wait:
                return view(request, *args, **kwargs)
            message = f"Too many requests from your address; try again in {wait} seconds."
            response = render(request, "error.html", {"status": 429, "message": message}, status=429)
            response.headers["Retry-After"] = str(wait)
            return response

        return wrapper

    return decorate
