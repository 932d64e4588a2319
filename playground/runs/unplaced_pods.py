"""The pods that a run could not place, by the reason of their last attempt.

A reason is the message of the simulated scheduler in the last failed cycle; messages that differ only in
their numbers are one reason. Each chunk of decisions stores the messages of its failed cycles, so that a
worker that takes a run over has them too.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from functools import cache
from typing import Any

from playground.playback.chunks import Message
from scheduler_core.kubernetes.fit_errors import merged_message, parse_fit_error
from scheduler_core.kubernetes.model import Pod

REASONS_SHOWN = 30  # those with the most pods
PODS_SHOWN = 24  # per reason, in the order of the pods table
MESSAGE_LENGTH = 2_000  # characters


class Unplaced:
    """The last failure of each pod, by its index in the table of pods."""

    def __init__(self) -> None:
        self._last: dict[int, Message] = {}
        self._texts: dict[str, str] = {}  # one object for all pods with the same message
        self._pending: list[Message] = []  # of cycles not yet stored in a chunk

    def note(self, pod: int, cycle: int, message: str) -> None:
        """Record the message of a failed cycle, also for the next chunk."""
        self.recall(pod, cycle, message)
        self._pending.append((cycle, message[:MESSAGE_LENGTH]))

    def recall(self, pod: int, cycle: int, message: str) -> None:
        """Record the message of a failed cycle that is already stored in a chunk."""
        text = message[:MESSAGE_LENGTH]
        self._last[pod] = (cycle, self._texts.setdefault(text, text))

    def drain(self) -> list[Message]:
        """Drain the messages of the cycles since the last call."""
        fresh, self._pending = self._pending, []
        return fresh

    def stored(self, failed: Collection[int], pods: Sequence[Pod]) -> list[dict[str, Any]]:
        """Return the pods that still wait by reason, as ``{"message", "count", "pods"}``, for the run's row.

        The reason with the most pods comes first; ``pods`` are ``[key, cycle]``, at most :data:`PODS_SHOWN`.
        """
        shape = cache(_shape)
        groups: dict[Hashable, list[int]] = {}
        for pod in sorted(failed):
            if pod in self._last:
                groups.setdefault(shape(self._last[pod][1]), []).append(pod)
        largest = sorted(groups.items(), key=lambda group: -len(group[1]))[:REASONS_SHOWN]
        return [
            {
                "message": merged_message(self._last[pod][1] for pod in members),
                "count": len(members),
                "pods": [[pods[pod].meta.key, self._last[pod][0]] for pod in members[:PODS_SHOWN]],
            }
            for _, members in largest
        ]


def _shape(message: str) -> Hashable:
    """Return a key that messages share which differ only in their numbers."""
    error = parse_fit_error(message)
    return message if error.nodes is None else error.shape()
