"""The transport that this process calls extenders by: none, unless the operator approves of URLs.

It belongs to the process, as the approval does: no scenario and no visitor can change it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scheduler_core.schedulers.extenders.port import ExtenderTransport


class _Installed:
    transport: ExtenderTransport | None = None


def install(transport: ExtenderTransport | None) -> None:
    """Have all runs that start from now on call extenders by a transport, or none of them."""
    _Installed.transport = transport


def transport() -> ExtenderTransport | None:
    """Return the transport in force."""
    return _Installed.transport


@contextmanager
def using(transport: ExtenderTransport | None) -> Iterator[None]:
    """Install a transport for the runs that start within the block."""
    before = _Installed.transport
    _Installed.transport = transport
    try:
        yield
    finally:
        _Installed.transport = before
