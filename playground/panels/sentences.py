"""Sentences whose nouns are links.

A sentence is a list of plain texts and references: ``{"pod": key}``, ``{"node": name}``,
``{"predicate": name}``, ``{"priority": name}``, ``{"tab": title}``, ``{"strong": text}``.
"""

from __future__ import annotations

SentencePart = str | dict[str, str]
Sentence = list[SentencePart]
LISTED = 4  # names listed in a sentence; the rest is counted


def counted(number: int, noun: str) -> str:
    """Return ``1 node`` or ``1,234 nodes``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(kind: str, names: list[str]) -> Sentence:
    """Return "a, b and c" or "a, b, c, d and 7 more" with each name a reference."""
    shown = names[:LISTED]
    tail: list[SentencePart] = [f"{len(names) - LISTED:,} more"] if len(names) > LISTED else []
    items: list[SentencePart] = [*({kind: name} for name in shown), *tail]
    parts: list[SentencePart] = []
    for position, item in enumerate(items):
        if position:
            parts.append(" and " if position == len(items) - 1 else ", ")
        parts.append(item)
    return parts
