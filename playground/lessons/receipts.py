"""Signed receipts of right answers, and the completion code that those of a lesson are exchanged for.

Nothing is stored: who has passed a stop keeps its receipt, and a code says by itself what it certifies. A
code holds no more than it shows. It certifies that somebody gave the right answers, not who that was.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from django.core import signing
from django.utils import timezone
from msgspec import Struct

from playground.courseware import Lesson, LessonError
from playground.lessons.lookup import lesson_at
from playground.storage.store import clean_title

RECEIPT = "podstep.lessons.receipt"
CODE = "podstep.lessons.code"
LONGEST = 600  # characters of a receipt or a code
NAME = 60  # characters


class IncompleteError(ValueError):
    """Receipts are missing; ``stops`` are those that are not passed."""

    def __init__(self, stops: Sequence[str]) -> None:
        self.stops = tuple(stops)
        super().__init__(f"Not passed yet: {', '.join(stops)}.")


class CertifiedCompletion(Struct, frozen=True):
    """What a code certifies."""

    lesson: Lesson
    name: str
    on: datetime


def receipt(slug: str, key: str) -> str:
    """Return the receipt for the right answer at a stop."""
    return signing.dumps([slug, key], salt=RECEIPT)


def asked(of: Lesson) -> list[str]:
    """Return the keys of a lesson's stops that ask something."""
    return [stop.key for stop in of.stops if stop.task is not None and stop.task.kind != "look"]


def completed(of: Lesson, receipts: Sequence[str], name: str = "") -> str:
    """Return the completion code of a lesson. Raises IncompleteError."""
    passed = {key for slug, key in map(read, receipts) if slug == of.slug}
    missing = [key for key in asked(of) if key not in passed]
    if missing:
        raise IncompleteError(missing)
    return signing.dumps([of.slug, clean_title(name)[:NAME], int(timezone.now().timestamp())], salt=CODE)


def lesson_of(code: str) -> str:
    """Return the lesson that a code is about, "" for a code that was not issued here."""
    return _signed(code)[0]


def _signed(code: str) -> tuple[str, str, int]:
    try:
        slug, name, seconds = signing.loads(code[:LONGEST], salt=CODE)
    except (signing.BadSignature, ValueError):
        return "", "", 0
    return slug, name, seconds


def certified(code: str) -> CertifiedCompletion | None:
    """Return what a code certifies, None for a code that was not issued here, or of a lesson that is gone."""
    slug, name, seconds = _signed(code)
    if not slug:
        return None
    try:
        found = lesson_at(slug)
    except LessonError:  # a preview that is being written
        found = None
    return None if found is None else CertifiedCompletion(found, name, datetime.fromtimestamp(seconds, UTC))


def read(text: str) -> tuple[str, str]:
    """Return the lesson and the stop of a receipt, twice "" for one that was not issued here."""
    try:
        slug, key = signing.loads(text[:LONGEST], salt=RECEIPT)
    except (signing.BadSignature, ValueError):
        return "", ""
    return slug, key
