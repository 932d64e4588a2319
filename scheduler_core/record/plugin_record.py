"""A plugin's part of a cycle's record: its own objects before and after the cycle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from msgspec import Struct


class TimelineMark(Struct, frozen=True):
    """A mark on the timeline at a cycle: a transition of the object ``about``, of a ``kind``, to a ``state``.

    ``state`` is "" for kinds that lead to no state.
    """

    kind: str
    about: str
    state: str


class AttemptRecord(Struct, frozen=True, rename="camel"):
    """A scheduler's own record of an attempt: the field ``session`` or ``view`` of the cycle's trace line.

    ``field`` is what the trace line calls it, if it is that of a scheduler of its own process.
    """

    field: ClassVar[str] = "session"


class PluginRecord(Protocol):
    """A plugin's part of a cycle's record. Immutable."""

    @property
    def marks(self) -> tuple[TimelineMark, ...]:
        """The transitions since the previous cycle and in this one, in order."""
        ...

    def up_to(self, phases: Sequence[str]) -> PluginRecord:
        """Return the part that is known once ``phases`` of the attempt have run; empty: before it began."""
        ...

    def fields(self) -> dict[str, Any]:
        """Return the fields that it adds to the cycle's trace line."""
        ...
