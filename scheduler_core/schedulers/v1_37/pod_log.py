"""Which pods came to rows and left them, for what follows the cluster between attempts."""

from __future__ import annotations

from typing import Any

from scheduler_core.schedulers.v1_37.pods import CompiledPod

MAX_LOG = 50_000


class PodLog:
    """Which pods came to rows (1) or left them (-1), in order; what is kept between attempts follows it."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, CompiledPod, int]] = []
        self._dropped = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> PodLog:
        """Return an independent log of the same entries, which never change."""
        del memo
        other = PodLog()
        other._entries, other._dropped = list(self._entries), self._dropped
        return other

    @property
    def end(self) -> int:
        """The position behind the newest entry."""
        return self._dropped + len(self._entries)

    def append(self, entry: tuple[int, CompiledPod, int]) -> None:
        """Add an entry; old ones are dropped."""
        if len(self._entries) >= MAX_LOG:
            self._dropped += len(self._entries)
            self._entries.clear()
        self._entries.append(entry)

    def since(self, position: int) -> list[tuple[int, CompiledPod, int]] | None:
        """Return the entries from a position on; None if some of them were dropped."""
        return None if position < self._dropped else self._entries[position - self._dropped :]
