"""Progress reporting and cancellation while a large bundle is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

Watch = Callable[[str, int, int], None]
"""A callback, called every few milliseconds with a stage, the amount done, and the total amount.

The stages, in order: ``"reading"``, counted in characters, then ``"checking"`` and ``"assembling"``, counted
in manifests. An exception raised by the callback cancels reading and propagates to its caller.
"""

EVERY = 256  # items between two calls


def unwatched(_stage: str, _done: int, _of: int) -> None:
    """Ignore the progress."""


def counted(items: Iterable[Item], stage: str, of: int, watch: Watch) -> Iterator[Item]:
    """Yield the items of a stage, and periodically call ``watch`` with the number yielded."""
    for done, item in enumerate(items):
        if not done % EVERY:
            watch(stage, done, of)
        yield item
