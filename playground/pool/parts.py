"""Parts of a job's answer, which arrive while the rest is computed: in order, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

MOST_PARTS = 2_000
"""Of one job; what is beyond them comes with its answer alone."""

Hear = Callable[[Any], None]
"""Takes a part, a value that can be pickled."""


def _ignore(_part: Any) -> None:
    """Wait for the whole answer."""


_hear: ContextVar[Hear] = ContextVar("hear", default=_ignore)


def heard() -> Hear:
    """Return who takes the parts in this context."""
    return _hear.get()


@contextmanager
def heard_by(hear: Hear) -> Iterator[None]:
    """Give the parts of this context to ``hear``, at most :data:`MOST_PARTS` of them."""
    left = MOST_PARTS

    def bounded(part: Any) -> None:
        nonlocal left
        if left > 0:
            left -= 1
            hear(part)

    token = _hear.set(bounded)
    try:
        yield
    finally:
        _hear.reset(token)
