"""The pods that a run could not place, by the reason of their last try.

A reason is the message of the last cycle that failed, as ``kubectl describe`` shows it. Each chunk of
decisions keeps the messages of its failed cycles, so that a worker that takes a run over knows them too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from playground.playback.chunks import Message
from scheduler_core.objects.model import Pod

REASONS_SHOWN = 30  # of the most pods
PODS_SHOWN = 24  # of one reason, in the order of the table
MESSAGE_LENGTH = 2_000  # characters


class Unplaced:
    """The last failure of each pod, by its index in the table of pods."""

    def __init__(self) -> None:
        self._last: dict[int, Message] = {}
        self._texts: dict[str, str] = {}  # one object for all pods with the same message
        self._pending: list[Message] = []  # of cycles that no chunk holds yet

    def note(self, pod: int, cycle: int, message: str) -> None:
        """Remember why a cycle failed, also for the next chunk."""
        self.recall(pod, cycle, message)
        self._pending.append((cycle, message[:MESSAGE_LENGTH]))

    def recall(self, pod: int, cycle: int, message: str) -> None:
        """Remember why a cycle failed that a chunk holds already."""
        text = message[:MESSAGE_LENGTH]
        self._last[pod] = (cycle, self._texts.setdefault(text, text))

    def drain(self) -> list[Message]:
        """Return the messages of the cycles since the last call."""
        fresh, self._pending = self._pending, []
        return fresh

    def stored(self, failed: Collection[int], pods: Sequence[Pod]) -> list[dict[str, Any]]:
        """Return the pods that still wait by reason, as ``{"message", "count", "pods"}``, for the run's row.

        The reason of the most pods comes first; ``pods`` are ``[key, cycle]``, at most :data:`PODS_SHOWN`.
        """
        groups: dict[str, list[int]] = {}
        for pod in sorted(failed):
            if pod in self._last:
                groups.setdefault(self._last[pod][1], []).append(pod)
        largest = sorted(groups.items(), key=lambda group: -len(group[1]))[:REASONS_SHOWN]
        return [
            {
                "message": message,
                "count": len(members),
                "pods": [[pods[pod].meta.key, self._last[pod][0]] for pod in members[:PODS_SHOWN]],
            }
            for message, members in largest
        ]
