"""How whoever reads a large bundle hears how far it is, and stops it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

Watch = Callable[[str, int, int], None]
"""Called every few milliseconds with a stage, how much of it is done, and of how much.

The stages follow each other: ``"reading"`` in characters, then ``"checking"`` and ``"assembling"`` in
manifests. Whatever the function raises ends the reading and reaches who called for it: so it is cancelled.
"""

EVERY = 256  # items between two calls


def unwatched(_stage: str, _done: int, _of: int) -> None:
    """Let a reading go on; nobody looks at it."""


def counted(items: Iterable[Item], stage: str, of: int, watch: Watch) -> Iterator[Item]:
    """Yield the items of a stage, and tell ``watch`` now and then how many have gone by."""
    for done, item in enumerate(items):
        if not done % EVERY:
            watch(stage, done, of)
        yield item
