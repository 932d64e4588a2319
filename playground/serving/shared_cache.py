"""The cache that web processes share, and each of them by itself while Redis is unavailable.

What it holds is bounded counts and the progress of imports: a count that begins anew lets a visitor do more
for a minute, where an error would let nobody do anything.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

from playground.runtime import outage

PAUSE_SECONDS = 5.0  # after an error, in which Redis is not asked
ENTRIES = 20_000

_outages = outage.OutageLog("cache")


class SharedCache(RedisCache):
    """Django's, whose reads and writes are answered by a cache of the process where Redis does not answer."""

    _again: ClassVar[float] = 0.0  # every thread has an instance of its own

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._own = LocMemCache("while-redis-is-unavailable", {"OPTIONS": {"MAX_ENTRIES": ENTRIES}})

    def _ask(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= SharedCache._again:
            try:
                answer = getattr(super(), method)(*args, **kwargs)
            except (RedisError, OSError) as error:
                _outages.failed(error)
                SharedCache._again = time.monotonic() + PAUSE_SECONDS
            else:
                _outages.succeeded()
                return answer
        return getattr(self._own, method)(*args, **kwargs)

    def add(self, *args: Any, **kwargs: Any) -> bool:
        """Store a value under a key that has none."""
        return bool(self._ask("add", *args, **kwargs))

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Return a value."""
        return self._ask("get", *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> None:
        """Store a value."""
        self._ask("set", *args, **kwargs)

    def incr(self, *args: Any, **kwargs: Any) -> int:
        """Add to a number. Raises ValueError where there is none."""
        return int(self._ask("incr", *args, **kwargs))
