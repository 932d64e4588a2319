"""What is said of the objects that a dump lacks: by name, and summed up by what it weakens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

ASSUMED = "{} not in the dump: assumed from their pods"
BOUND = "{} not in the dump: assumed bound, and in reach of any node unless a PersistentVolume says otherwise"
ENDED = "{} not in the dump: their finished pods stay as they are"
FORGOTTEN = (
    "ControllerRevisions of {} not in the dump: older templates are not known, and rolling back to them is "
    "refused"
)
LOST = "{} not in the dump, and cannot be known: their pods are lost once they end"
IDLE = "{} not in the dump: what they own stays, and they make nothing"
STOPPED = "{} not in the dump: their Jobs go on, and they begin none"
"""What is said of several objects together, which are counted by kind."""


class Note(NamedTuple):
    """What is assumed of one object, or of the dump. ``group`` has the notes of a kind that are like it."""

    text: str
    kind: str = ""
    group: str = ""
    lacks: bool = True
    """Whether the dump lacks an object."""


class NoteSummary(NamedTuple):
    """A note, or what is said of several with ``details``, one of each."""

    text: str
    details: tuple[str, ...] = ()
    lacks: bool = True


def summed_up(notes: Iterable[Note]) -> Iterator[NoteSummary]:
    """Yield each note that is like no other, and one for all that are alike, in order of their first."""
    groups: dict[str, list[Note]] = {}
    for note in notes:
        groups.setdefault(note.group or note.text, []).append(note)
    for group, alike in groups.items():
        if len(alike) == 1:
            yield NoteSummary(alike[0].text, (), alike[0].lacks)
        else:
            kinds = Counter(note.kind for note in alike)
            counts = [f"{count:,} {_plural(kind, count)}" for kind, count in kinds.items()]
            text = group.format(f"{_listed(counts)} are")
            yield NoteSummary(text, tuple(note.text for note in alike))


def _plural(kind: str, count: int) -> str:
    return kind if count == 1 else kind + ("es" if kind.endswith("s") else "s")


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
