"""The client address of the request, command or task being processed.

Stored rows are counted by their owner and by this address: a new cookie is free, an address is not.
"""

from __future__ import annotations

from contextvars import ContextVar

_address: ContextVar[str] = ContextVar("caller_address", default="")


def called_from(address: str) -> None:
    """Set the address for the rest of this request, command or task."""
    _address.set(address)


def address() -> str:
    """Return the address, ``""`` without a client: in a scheduled task or a management command."""
    return _address.get()
