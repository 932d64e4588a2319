"""A part of an explanation with a heading of its own."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Section(Struct, frozen=True):
    """Facts on one subject, such as the preemption of a cycle, a sentence each."""

    title: str
    sentences: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the section as JSON."""
        return {"title": self.title, "sentences": list(self.sentences)}
