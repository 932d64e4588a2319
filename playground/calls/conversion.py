"""Conversion to structs by several threads."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import ValidationError, convert

T = TypeVar("T")

_lock = threading.Lock()
_known: set[type] = set()


def converted(value: Any, kind: type[T], *, strict: bool = True) -> T:
    """Return ``msgspec.convert(value, kind)``. Raises ValidationError.

    msgspec 0.22 keeps what it finds out of a struct before it is complete, and Python runs meanwhile, as it
    does to compile a pattern: another thread that converts to that struct then ends the process by SIGSEGV.
    So the first conversion to a struct is made by one thread alone.
    """
    if kind not in _known:
        with _lock, suppress(ValidationError):
            convert({}, kind)
        _known.add(kind)
    return convert(value, kind, strict=strict)
