"""A cache for what a process has one of: of threads that ask for it at the same time, one makes it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - a decorator
    """Cache a function without bound, as :func:`functools.cache` does, and call it under a lock.

    ``functools.cache`` lets two threads that ask first both call the function, and gives each what it made.
    """

    def __init__(self, make: Callable[..., T]) -> None:
        self._made = functools.cache(make)
        self._lock = threading.RLock()
        self.cache_clear = self._made.cache_clear
        self.cache_info = self._made.cache_info
        functools.update_wrapper(self, make)

    def __call__(self, *args: Hashable, **kwargs: Any) -> T:
        """Return what the function made of these arguments the first time."""
        with self._lock:
            return self._made(*args, **kwargs)
