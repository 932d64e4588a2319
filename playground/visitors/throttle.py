"""Rate limits per address, in fixed windows of a minute or a day counted in the cache."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from playground.limits import limit
from playground.visitors.addresses import client_address

MINUTE = 60
DAY = 86_400
RETRY_SECONDS = 30  # Retry-After for visitors with too many runs


def address_of(request: HttpRequest) -> str:
    """Return the client address by which limits are counted."""
    return client_address(request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""))


def token_of(request: HttpRequest) -> str:
    """Return the bearer token of a request, "" without one."""
    header = request.headers.get("Authorization", "")
    return header[7:].strip() if header[:7].lower() == "bearer " else ""


def _now() -> float:
    return time.time()


def wait_seconds(limit_name: str, address: str, window_seconds: int = MINUTE) -> int:
    """Count one request; return 0 if it is within the limit, otherwise the seconds to wait."""
    now = _now()
    window = int(now // window_seconds)
    key = f"throttle:{limit_name}:{window}:{address}"
    cache.add(key, 0, timeout=2 * window_seconds)
    try:
        count = cache.incr(key)
    except ValueError:  # the entry expired or was evicted concurrently
        return 0
    return 0 if count <= limit(limit_name) else int((window + 1) * window_seconds - now) + 1


DjangoView = Callable[..., HttpResponse]


def throttled(limit_name: str) -> Callable[[DjangoView], DjangoView]:
    """Answer a page's form with 429 and Retry-After once its address exceeds ``limit_name``."""

    def decorate(view: DjangoView) -> DjangoView:
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
