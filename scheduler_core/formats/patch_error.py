"""The common parts of the patch types: their error, and the bounds on their results."""

from __future__ import annotations

from typing import Any

MAX_VALUES = 100_000  # of one object, as copies of copies would grow without bound
MAX_DEPTH = 120


class PatchError(ValueError):
    """The patch cannot be applied. ``path`` is the place in the patch, as steps."""

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def measured(value: Any, most: int, depth: int) -> int:
    """Return the number of values in a value, including itself; 0 if it exceeds ``most`` or ``depth``."""
    count, level = 1, [value]
    while level:
        depth -= 1
        if depth < 0 or count > most:
            return 0
        following = []
        for part in level:
            inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
            count += len(inner)
            if count > most:
                return 0
            following += [item for item in inner if isinstance(item, (dict, list))]
        level = following
    return count
