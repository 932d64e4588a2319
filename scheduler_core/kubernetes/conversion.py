"""Conversion to structs, also by several threads at once."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import ValidationError, convert

T = TypeVar("T")

_lock = threading.Lock()
_known: set[Any] = set()


def converted(value: object, kind: type[T], *, strict: bool = True) -> T:
    """Return a value as a struct, or a container of some, of which it has the fields or the attributes.

    msgspec 0.22 keeps what it finds out of a struct before it is complete, and Python runs meanwhile, as it
    does to compile a pattern: another thread that converts to that struct then ends the process by SIGSEGV.
    So the first conversion to a type is made by one thread alone.

    Raises:
        ValidationError: The value is not what the type declares.
    """
    if kind not in _known:
        with _lock, suppress(ValidationError):
            convert({}, kind)
        _known.add(kind)
    return convert(value, kind, strict=strict, from_attributes=True)
