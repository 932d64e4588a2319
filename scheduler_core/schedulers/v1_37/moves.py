"""The record of what events did to waiting pods."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from msgspec import Struct


class Move(Struct):
    """One event and one waiting pod or group: who was asked, and where it went."""

    event: str
    key: str
    hints: dict[str, str]
    to: str | None
    group: bool = False

    def document(self) -> dict[str, Any]:
        """Return the record's form."""
        return {
            "event": self.event,
            "pod": self.key,
            "hints": dict(sorted(self.hints.items())),
            "to": self.to,
        }


def combined(answers: dict[str, str], more: dict[str, str]) -> dict[str, str]:
    """Join answers of several pods or events; Queue of any outweighs QueueSkip."""
    out = dict(answers)
    for plugin, answer in more.items():
        if out.get(plugin, "QueueSkip") == "QueueSkip":
            out[plugin] = answer
    return out


class Moves:
    """Moves in order of the events, until they are drained into a record."""

    def __init__(self) -> None:
        self._moves: list[Move] = []

    def add(self, move: Move) -> None:
        """Add a move, unless it has no answers and went nowhere."""
        if move.hints or move.to is not None:
            self._moves.append(move)

    def drain(self) -> list[dict[str, Any]]:
        """Return the moves so far in the record's order and start over.

        Successive events of one name are sorted together by pod, since upstream visits waiting pods in random
        order; those of one group are merged.
        """
        if not self._moves:
            return []
        moves, self._moves = self._moves, []
        out: list[Move] = []
        for _, same in groupby(moves, key=lambda move: move.event):
            out.extend(_merged(sorted(same, key=lambda move: move.key)))
        return [move.document() for move in out]


def _merged(moves: Iterable[Move]) -> list[Move]:
    out: list[Move] = []
    for move in moves:
        last = out[-1] if out else None
        if last is not None and move.group and last.group and last.key == move.key:
            last.hints = combined(last.hints, move.hints)
            last.to = move.to if move.to is not None else last.to
        else:
            out.append(move)
    return out
