"""When a prediction comes back: FSRS schedules, the learner's browser keeps the card."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from fsrs import Card, Rating, Scheduler, State
from msgspec import Meta, Struct

from scheduler_core.kubernetes.conversion import converted

SEEDS = 24  # variants of a stop; each is a scenario that is stored once
_scheduler = Scheduler(enable_fuzzing=False, learning_steps=(), relearning_steps=())  # the unit is a day

Days = Annotated[float, Meta(ge=0, le=36_500)]
Difficulty = Annotated[float, Meta(ge=0, le=10)]


class ReviewCard(Struct, frozen=True):
    """A prediction's card: what FSRS has learned of how well it is remembered."""

    state: Literal[1, 2, 3]
    step: Annotated[int, Meta(ge=0, le=9)] | None
    stability: Days | None
    difficulty: Difficulty | None
    due: datetime
    last_review: datetime | None = None


def reviewed(card: ReviewCard | None, rating: int) -> ReviewCard:
    """Return a card after an answer: 1 again, 2 hard, 3 good. Raises ValueError for an impossible card."""
    known = Card(card_id=1)
    if card is not None:
        if None in (card.due.tzinfo, (card.last_review or card.due).tzinfo):
            raise ValueError("The dates of a card have a time zone.")
        known = Card(
            card_id=1,
            state=State(card.state),
            step=card.step,
            stability=card.stability,
            difficulty=card.difficulty,
            due=card.due.astimezone(UTC),
            last_review=card.last_review and card.last_review.astimezone(UTC),
        )
    after, _ = _scheduler.review_card(known, Rating(rating))
    return converted(after.to_dict(), ReviewCard)
