"""From which address the work at hand was asked for.

What stores something counts it by its owner and by this address: a new cookie is free, an address is not.
"""

from __future__ import annotations

from contextvars import ContextVar

_address: ContextVar[str] = ContextVar("caller_address", default="")


def called_from(address: str) -> None:
    """Note the address for the rest of this request, command or task."""
    _address.set(address)


def address() -> str:
    """Return the address, ``""`` where nobody asked: a scheduled task, a management command."""
    return _address.get()
