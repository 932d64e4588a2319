"""The cache shared by web processes, with a fallback local to each process while Redis is unavailable.

It holds bounded counts and the progress of imports: a count that is reset lets a visitor do more for a
minute, whereas an error would let nobody do anything. What is read from Redis is data and never code.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

import msgspec
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

from playground.runtime import outage

PAUSE_SECONDS = 5.0  # after an error, during which Redis is not queried
ENTRIES = 20_000

_outages = outage.OutageLog("cache")


class MessagePack:
    """Values as MessagePack: Django's own serializer would unpickle whatever somebody wrote to Redis."""

    def dumps(self, value: Any) -> int | bytes:
        """Return what Redis stores; a whole number as such, so that it can be incremented."""
        return value if type(value) is int else msgspec.msgpack.encode(value)

    def loads(self, data: bytes) -> Any:
        """Return a value, ``None`` for what :meth:`dumps` did not make."""
        try:
            return int(data)
        except ValueError:
            pass
        try:
            return msgspec.msgpack.decode(data)
        except (msgspec.DecodeError, RecursionError):
            return None


class SharedCache(RedisCache):
    """Django's Redis cache, which falls back to a cache of the process while Redis does not answer."""

    _again: ClassVar[float] = 0.0  # a class attribute: each thread has its own instance

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(
            server, {**params, "OPTIONS": {**params.get("OPTIONS", {}), "serializer": MessagePack}}
        )
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
        """Store a value if the key is absent; return whether it was stored."""
        return bool(self._ask("add", *args, **kwargs))

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Return a value."""
        return self._ask("get", *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> None:
        """Store a value."""
        self._ask("set", *args, **kwargs)

    def incr(self, *args: Any, **kwargs: Any) -> int:
        """Increment a number. Raises ValueError if the key is missing."""
        return int(self._ask("incr", *args, **kwargs))
