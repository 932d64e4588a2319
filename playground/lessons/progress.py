"""How far a learner is: the form in which a browser keeps it and an account has it, and both of two.

:func:`merged` is a join: of each value it takes the one that both devices agree on in whatever order, and
however often, they are merged. Nothing that either had passed is lost.

- seen: the earliest time; tries: the most; right: if either is
- the stop to go on with: that of the latest visit
- the code: the latest one that was made; the card: that of the latest review
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from django.utils import timezone
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from playground.lessons import receipts
from playground.lessons.reviews import ReviewCard
from scheduler_core.kubernetes.conversion import converted

LESSONS, STOPS, CARDS = 500, 60, 1_000  # of one learner; of one lesson; of one learner
Key = Annotated[str, Meta(pattern=r"\A[\w-]{1,60}\Z")]
CardKey = Annotated[str, Meta(pattern=r"\A[\w-]{1,60}/[\w-]{1,60}\Z")]
Time = Annotated[datetime, Meta(tz=True)]
Signed = Annotated[str, Meta(max_length=receipts.LONGEST)]
NEVER = datetime.min.replace(tzinfo=UTC)
K = TypeVar("K")
V = TypeVar("V")


class StopLearned(Struct, frozen=True, omit_defaults=True):
    """What is known of one stop."""

    seen: Time | None = None
    tries: Annotated[int, Meta(ge=0, le=10**6)] = 0
    right: bool = False
    receipt: Signed = ""


class LessonLearned(Struct, frozen=True, omit_defaults=True):
    """What is known of one lesson: the stop of the latest visit, its completion code, and its stops."""

    at: Annotated[str, Meta(pattern=r"\A[\w-]{0,60}\Z")] = ""
    when: Time | None = None
    code: Signed = ""
    coded: Time | None = None
    stops: Annotated[dict[Key, StopLearned], Meta(max_length=STOPS)] = field(default_factory=dict)


class Learned(Struct, frozen=True):
    """All of a learner; ``cards`` by lesson and stop."""

    version: Literal[1] = 1
    lessons: Annotated[dict[Key, LessonLearned], Meta(max_length=LESSONS)] = field(default_factory=dict)
    cards: Annotated[dict[CardKey, ReviewCard], Meta(max_length=CARDS)] = field(default_factory=dict)


class ProgressSizeError(ValueError):
    """More than an account keeps."""

    def __init__(self) -> None:
        super().__init__("The account takes no more progress. It stays in this browser; export it as a file.")


# --- both


def merged(one: Learned, other: Learned) -> Learned:
    """Return what both have."""
    return Learned(
        lessons=_each(one.lessons, other.lessons, _lesson), cards=_each(one.cards, other.cards, _card)
    )


def _each(one: Mapping[K, V], other: Mapping[K, V], both: Callable[[V, V], V]) -> dict[K, V]:
    missing = {key: value for key, value in other.items() if key not in one}
    return {key: both(value, other[key]) if key in other else value for key, value in one.items()} | missing


def _lesson(one: LessonLearned, other: LessonLearned) -> LessonLearned:
    at, when = max((one.at, one.when), (other.at, other.when), key=lambda pair: (pair[1] or NEVER, pair[0]))
    code, coded = max(
        (one.code, one.coded), (other.code, other.coded), key=lambda pair: (pair[1] or NEVER, pair[0])
    )
    return LessonLearned(at, when, code, coded, _each(one.stops, other.stops, _stop))


def _stop(one: StopLearned, other: StopLearned) -> StopLearned:
    return StopLearned(
        seen=min(filter(None, (one.seen, other.seen)), default=None),
        tries=max(one.tries, other.tries),
        right=one.right or other.right,
        receipt=min(filter(None, (one.receipt, other.receipt)), default=""),  # each proves the same
    )


def _card(one: ReviewCard, other: ReviewCard) -> ReviewCard:
    return max(one, other, key=_latest)


def _latest(card: ReviewCard) -> tuple[datetime, datetime, bytes]:
    """Return what orders cards: by the latest review, then by whatever tells two of one moment apart."""
    return card.last_review or NEVER, card.due, msgspec.json.encode(card)


# --- from a browser


def read(given: Any) -> Learned:
    """Return what a browser sends, as far as it was issued here. Raises ValueError.

    A receipt or a code of another server proves nothing here; that the answer was right stays. Of a clock
    that is ahead, this moment counts.
    """
    try:
        found = converted(given, Learned)
        _check_zones(found)
    except msgspec.ValidationError as error:
        raise ValueError(f"This is not a progress file: {error}") from error
    now = timezone.now()
    return replace(
        found, lessons={slug: _issued(slug, lesson, now) for slug, lesson in found.lessons.items()}
    )


def _check_zones(found: Learned) -> None:
    for card in found.cards.values():
        if None in (card.due.tzinfo, (card.last_review or card.due).tzinfo):
            raise msgspec.ValidationError("the dates of a card have a time zone")


def _issued(slug: str, of: LessonLearned, now: datetime) -> LessonLearned:
    stops = {
        key: replace(
            one,
            seen=one.seen and min(one.seen, now),
            receipt=one.receipt if receipts.read(one.receipt) == (slug, key) else "",
        )
        for key, one in of.stops.items()
    }
    issued = receipts.lesson_of(of.code) == slug
    return LessonLearned(
        of.at,
        of.when and min(of.when, now),
        of.code if issued else "",
        min(of.coded, now) if issued and of.coded else None,
        stops,
    )


def packed(of: Learned, most: int) -> bytes:
    """Return progress as JSON of at most ``most`` bytes. Raises ProgressSizeError."""
    made = msgspec.json.encode(of)
    many = len(of.lessons) > LESSONS or len(of.cards) > CARDS
    if many or len(made) > most or any(len(one.stops) > STOPS for one in of.lessons.values()):
        raise ProgressSizeError
    return made


def unpacked(data: bytes) -> Learned:
    """Return what :func:`packed` made."""
    return converted(msgspec.json.decode(data), Learned)
