"""What an owner holds, and moving it to another owner: all of it, or nothing.

No quota is asked for: what two names were allowed to store is one owner's now, and stays. An owner above a
quota stores nothing more until there is room.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F, Model
from django.utils import timezone
from msgspec import Struct

from playground.accounts import recalls
from playground.models import (
    Account,
    AuthoredLesson,
    Ban,
    Comment,
    ComparisonShare,
    Draft,
    EndedSession,
    Link,
    Room,
    RoomVote,
    Run,
    Share,
    Sweep,
)
from playground.rooms import people
from playground.storage import audit, withdrawals
from playground.visitors import identity


class OwnedKind(Struct, frozen=True):
    """One kind of rows with an owner: its name for one and for several, and the page that lists them."""

    one: str
    several: str
    model: type[Model]
    listed: str

    def words(self, count: int) -> str:
        """Return ``3 drafts``."""
        return f"{count:,} {self.one if count == 1 else self.several}"


#: Every model with an owner; tests/playground/test_accounts.py looks for one that is missing.
KINDS: tuple[OwnedKind, ...] = (
    OwnedKind("draft", "drafts", Draft, "/stored/"),
    OwnedKind("lesson", "lessons", AuthoredLesson, "/stored/"),
    OwnedKind("link", "links", Share, "/stored/"),
    OwnedKind("private link", "private links", Link, "/stored/"),
    OwnedKind("comparison", "comparisons", ComparisonShare, "/stored/"),
    OwnedKind("run", "runs", Run, "/runs/"),
    OwnedKind("sweep", "sweeps", Sweep, "/runs/"),
    OwnedKind("room", "rooms", Room, "/account/#rooms"),
    OwnedKind("comment", "comments", Comment, "/account/#comments"),
)


def _rows(kind: OwnedKind, owner: str) -> Any:
    return kind.model._default_manager.filter(owner=owner)  # noqa: SLF001 - Django's name for it


def held(owner: str) -> list[tuple[OwnedKind, int]]:
    """Return how many rows of each kind an owner has."""
    return [(kind, _rows(kind, owner).count() if owner else 0) for kind in KINDS]


def holdings(owner: str) -> str:
    """Return what an owner has, as ``3 drafts, 1 room``; ``""`` for nothing."""
    return ", ".join(kind.words(count) for kind, count in held(owner) if count)


def account_of(visitor: str) -> Account | None:
    """Return the account whose owner's cookie a visitor has, ``None`` for an anonymous visitor."""
    return Account.objects.filter(owner=visitor).first() if visitor else None


def move(old: str, new: str) -> None:
    """Give everything of ``old`` to ``new``. Has to be called in a transaction."""
    for kind in KINDS:
        # Whoever holds a room in memory reads it again.
        more = {"changed": F("changed") + 1} if kind.model is Room else {}
        _rows(kind, old).update(owner=new, **more)
    _move_in_rooms(old, new)
    withdrawals.note()  # what this process remembers to have found for the old name


def _move_in_rooms(old: str, new: str) -> None:
    """Keep who somebody is in open rooms: a handed lead, and votes, which would count twice."""
    running = Room.objects.filter(ended=None, expires__gt=timezone.now()).values_list("pk", "leader")
    for room, leader in running:  # PLAYGROUND_ROOMS at most
        before, after = people.person_of(room, old), people.person_of(room, new)
        if leader == before:
            Room.objects.filter(pk=room, leader=before).update(leader=after)
        votes = RoomVote.objects.filter(room=room)
        if not votes.filter(voter=before).exists():
            continue
        again = votes.filter(voter=after).values_list("question", flat=True)
        votes.filter(voter=before).exclude(question__in=list(again)).update(voter=after)


def claim(account: Account, visitor: str) -> str:
    """Give an account what an anonymous visitor holds; return that in words. For use in a transaction.

    The rows of another account stay with it: its cookie is exchanged, and nothing else.
    """
    if not visitor or visitor == account.owner:
        return ""
    recalls.note(visitor, claimed_by="" if account_of(visitor) else account.owner)
    if account_of(visitor) is not None or visitor.startswith(identity.AT_ADDRESS):
        return ""
    found = holdings(visitor)
    move(visitor, account.owner)  # who they are in rooms, if nothing else
    if found:
        audit.record_visitor("claim for account", account.username, visitor, found)
    return found


def claim_late(visitor: str, owner: str) -> None:
    """Claim what was stored under a name while, or just after, its rows moved."""
    if not holdings(visitor):
        return
    with transaction.atomic():
        account = Account.objects.select_for_update().filter(owner=owner).first()
        if account is not None and account_of(visitor) is None:
            move(visitor, owner)


def claim_rest(owner: str = "") -> None:
    """Claim what was stored under exchanged names since, such as by an import that took long: of all owners.

    Or of one. The rows that record it are kept for an hour.
    """
    for row in recalls.of_owner(owner):
        claim_late(row.visitor, row.owner)


def rotate(account: Account) -> None:
    """Give an account and all it holds another owner: cookies of the previous one are worth nothing."""
    new = identity.new_visitor()
    with transaction.atomic():
        previous = Account.objects.select_for_update().get(pk=account.pk).owner
        Account.objects.filter(pk=account.pk).update(owner=new)
        move(previous, new)
        Ban.objects.filter(subject=previous).update(subject=new)
        EndedSession.objects.filter(account=account).delete()  # their cookies name the previous owner
        recalls.hand_over(previous, new)
        recalls.note(previous)
    account.owner = new
