"""What the kinds of patches share: their error, and the bounds on what they make."""

from __future__ import annotations

from typing import Any

MAX_VALUES = 100_000  # of one object: copies of copies grow without bound else
MAX_DEPTH = 120


class PatchError(ValueError):
    """The patch cannot be applied. ``path`` is the place in the patch, as steps."""

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def measured(value: Any, most: int, depth: int) -> int:
    """Return how many values there are in a value, itself included; 0 for more, or deeper, than allowed."""
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
