"""A hook that every long loop of the engine calls, so that the caller can interrupt it.

The hook belongs to the context (a thread or a task), not to a simulation: constructing, copying, replaying
or explaining in that context is interrupted too, at any call depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Hook = Callable[[], None]


def _carry_on() -> None:
    """Do not interrupt."""


_hook: ContextVar[Hook] = ContextVar("hook", default=_carry_on)


def look() -> None:
    """Call the hook in force; its exceptions propagate, and the simulation is not usable afterwards."""
    _hook.get()()


@contextmanager
def also_interrupted_by(hook: Hook) -> Iterator[None]:
    """Install ``hook`` beside the one in force."""
    outer = _hook.get()

    def both() -> None:
        outer()
        hook()

    with interrupted_by(both):
        yield


@contextmanager
def interrupted_by(hook: Hook) -> Iterator[None]:
    """Install ``hook``, which every long loop inside calls many times a second; it interrupts by raising."""
    token = _hook.set(hook)
    try:
        yield
    finally:
        _hook.reset(token)
