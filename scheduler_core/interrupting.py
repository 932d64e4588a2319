"""A hook that every long loop of the engine calls, so that whoever waits for it can end it.

The hook belongs to the context (a thread, or a task), not to a simulation: what is constructed, copied,
replayed or explained inside is interrupted too, however deep the call is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Hook = Callable[[], None]


def _carry_on() -> None:
    """Interrupt nothing."""


_hook: ContextVar[Hook] = ContextVar("hook", default=_carry_on)


def look() -> None:
    """Call the hook in force. Raises what it raises; the simulation at hand is then of no more use."""
    _hook.get()()


@contextmanager
def interrupted_by(hook: Hook) -> Iterator[None]:
    """Have ``hook`` called many times a second by every loop inside; it ends one by raising."""
    token = _hook.set(hook)
    try:
        yield
    finally:
        _hook.reset(token)
