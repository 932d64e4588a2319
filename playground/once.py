"""A cache for per-process singletons: of several concurrent threads only one creates the object."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - a decorator
    """Cache a function without bound, as :func:`functools.cache` does, and call it under a lock.

    With ``functools.cache`` two concurrent first callers both call the function and get different results.
    """

    def __init__(self, make: Callable[..., T]) -> None:
        self._made = functools.cache(make)
        self._lock = threading.RLock()
        self.cache_clear = self._made.cache_clear
        self.cache_info = self._made.cache_info
        functools.update_wrapper(self, make)

    def __call__(self, *args: Hashable, **kwargs: Any) -> T:
        """Return the result of the first call with these arguments."""
        with self._lock:
            return self._made(*args, **kwargs)
