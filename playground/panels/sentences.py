"""Sentences whose nouns are links.

A sentence is a list of plain texts and references: ``{"pod": key}``, ``{"node": name}``,
``{"predicate": name}``, ``{"priority": name}``, ``{"tab": title}``, ``{"strong": text}``.
"""

from __future__ import annotations

from scheduler_core.record.cycle import Decision

SentencePart = str | dict[str, str]
Sentence = list[SentencePart]
LISTED = 4  # names listed in a sentence; the rest is counted


def counted(number: int, noun: str) -> str:
    """Return ``1 node`` or ``1,234 nodes``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def placements(decision: Decision) -> Sentence:
    """Return "a on n1, b on n2 and c on n3" for the pods that a decision places; many are counted."""
    placed = decision.placements
    rest = len(placed) - LISTED
    phrases: list[Sentence] = [[{"pod": pod}, " on ", {"node": node}] for pod, node in placed[:LISTED]]
    if rest > 0:
        phrases.append([f"{rest:,} more"])
    return joined(phrases)


def listed(kind: str, names: list[str]) -> Sentence:
    """Return "a, b and c" or "a, b, c, d and 7 more" with each name a reference."""
    shown = names[:LISTED]
    tail: list[SentencePart] = [f"{len(names) - LISTED:,} more"] if len(names) > LISTED else []
    items: list[SentencePart] = [*({kind: name} for name in shown), *tail]
    return joined([[item] for item in items])


def joined(phrases: list[Sentence]) -> Sentence:
    """Return phrases as "a, b and c"."""
    parts: Sentence = []
    for position, phrase in enumerate(phrases):
        if position:
            parts.append(" and " if position == len(phrases) - 1 else ", ")
        parts += phrase
    return parts
