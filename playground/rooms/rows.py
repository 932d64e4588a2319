"""Rooms in the database: the row is the truth, frames between processes only make it arrive sooner."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, Sum
from django.utils import timezone
from django.utils.crypto import salted_hmac

from playground.limits import limit
from playground.models import Room, RoomAudience, RoomPerson, RoomVote, Scenario, new_room_code, token_hash
from playground.rooms import questions
from playground.storage import audit, store

AUDIENCE_SECONDS = 20.0  # after which the count of a web process that died no longer counts
VOTES_EACH = 4  # of a question, times ROOM_VIEWERS: who comes without a cookie is somebody else each time
PEOPLE_SHOWN = 500
OWNED_SHOWN = 50
QUESTIONS_KEPT = 100  # of a room
VOTES_KEPT = 2 * QUESTIONS_KEPT  # questions whose answers are: a second vote has a number of its own
VISITS_KEPT = 200  # of stops of a lesson
ANSWERS_SHOWN = 50_000  # of a room
PEOPLE_KEPT = 2_000  # of a room, who followed it
RESULT_BYTES = 20_000  # of one of them
CODES_TRIED = 5
_OWNER_SALT = "playground.rooms.owner"


class TooManyRoomsError(RuntimeError):
    """The owner, the address or the server has as many rooms as it may; the text says which."""


class EndedError(LookupError):
    """The room is over, by its leader or by its age."""

    def __init__(self) -> None:
        super().__init__("The room has ended.")


class VoteError(ValueError):
    """There is nothing to vote about, or too many voted already."""


@dataclass(frozen=True, slots=True)
class OpenedRoom:
    """A new room, and the only copy of the token that leads it."""

    room: Room
    token: str


@dataclass(frozen=True, slots=True)
class Audience:
    """How many watch in all web processes, how many cannot follow, and ``(person, name)`` of the named."""

    watching: int
    lost: int
    people: tuple[tuple[str, str], ...]


def create(
    scenario: Scenario,
    owner: str,
    address: str,
    position: Mapping[str, Any],
    title: str = "",
    lesson: Mapping[str, Any] | None = None,
) -> OpenedRoom:
    """Store a room, that teaches ``lesson`` if there is one. Raises TooManyRoomsError."""
    running = Room.objects.filter(ended=None, expires__gt=timezone.now())
    for count, name, who in (
        (running.filter(owner=owner).count(), "ROOMS_PER_OWNER", "You have"),
        (running.filter(address=address).count(), "ROOMS_PER_ADDRESS", "Your address has"),
        (running.count(), "ROOMS", "The server has"),
    ):
        if count >= limit(name):
            raise TooManyRoomsError(f"{who} {count:,} open rooms; end one first.")
    token = secrets.token_urlsafe(24)
    room = Room.objects.create(
        code=_free_code(),
        scenario=scenario,
        owner=owner,
        address=address,
        title=store.clean_title(title),
        position=dict(position),
        lesson=lesson,
        visits=[_visit(lesson["stop"])] if lesson else [],
        token=token_hash(token),
    )
    return OpenedRoom(room, token)


def _visit(stop: str) -> list[str]:
    return [stop, timezone.now().isoformat()]


def _free_code() -> str:
    """Return a code that no room has. Raises TooManyRoomsError where chance does not find one."""
    _free_codes()
    for _ in range(CODES_TRIED):
        code = new_room_code()
        if not Room.objects.filter(code=code).exists():
            return code
    raise TooManyRoomsError("The server found no free code for the room; try again.")


def _free_codes() -> None:
    """Take the codes from rooms that are over, so that others may have them."""
    over = Q(ended__isnull=False) | Q(expires__lte=timezone.now())
    Room.objects.filter(over).exclude(code="").update(code="")


def coded(code: str) -> Room | None:
    """Return the running room of a code, however it is typed."""
    letters = "".join(code.split()).upper()
    running = Room.objects.filter(ended=None, expires__gt=timezone.now())
    return running.only("pk").filter(code=letters).first() if letters else None


def find(name: str) -> Room | None:
    """Return a room with its scenario's id, over or not. Raises GoneError."""
    if len(name) > 32 or not store.is_id(name):
        return None
    rows = Room.objects.select_related("scenario").defer("scenario__content", "scenario__text")
    row = rows.filter(pk=name).first()
    if row is not None:
        store.check_withdrawn(row.scenario)
    return row


def states(names: Sequence[str]) -> dict[str, Room]:
    """Return rooms by their id; those that are gone or taken down are missing."""
    rows = Room.objects.select_related("scenario").defer("scenario__content", "scenario__text")
    return {row.pk: row for row in rows.filter(pk__in=names, scenario__withdrawn="")}


def is_over(room: Room) -> bool:
    """Return whether a room was ended or has expired."""
    return room.ended is not None or room.expires <= timezone.now()


def holds_token(room: Room, token: str) -> bool:
    """Return whether ``token`` is one of the two that lead the room."""
    if not token or not token.isascii():  # JSON allows lone surrogates, which have no bytes
        return False
    by_owner = hmac.compare_digest(token.encode(), owner_token(room).encode())
    return hmac.compare_digest(token_hash(token), room.token) or by_owner


def owner_token(room: Room) -> str:
    """Return the token by which a room's owner leads it on another device of theirs.

    Of the first token only the hash is stored. This one ends with the owner's name: an account has another
    one after each change of its password.
    """
    return salted_hmac(_OWNER_SALT, f"{room.pk}:{room.owner}", algorithm="sha256").hexdigest()


def owned(owner: str) -> list[Room]:
    """Return an owner's rooms, the newest first."""
    rows = Room.objects.filter(owner=owner).select_related("scenario")
    return list(rows.defer("scenario__content", "scenario__text").order_by("-created")[:OWNED_SHOWN])


def end(room: Room) -> None:
    """End a room."""
    with transaction.atomic():
        running = Room.objects.filter(pk=room.pk, ended=None)
        if running.update(ended=timezone.now(), code="", changed=F("changed") + 1):
            audit.record_visitor("end room", room.pk, why="by the token that leads it")


def store_position(
    name: str, scene: int, seq: int, position: Mapping[str, Any]
) -> tuple[int, int, dict[str, Any]]:
    """Store a position of a scene unless the row has its number, a later one, or another scene.

    Returns the scene, the number and the position that the row has then. Raises EndedError.
    """
    running = Room.objects.filter(pk=name, ended=None, expires__gt=timezone.now())
    if running.filter(scene=scene, seq__lt=seq).update(seq=seq, position=dict(position)):
        return scene, seq, dict(position)
    found = running.values_list("scene", "seq", "position").first()
    if found is None:
        raise EndedError
    return found


def close_question(name: str) -> Room:
    """Store that there is no question any more. Raises EndedError."""
    return _change(name, question=None)


def travel(name: str, scenario: Scenario, position: Mapping[str, Any]) -> Room:
    """Store that the room shows another scenario, at a position, and asks nothing. Raises EndedError.

    A lesson that it teaches is left at its stop, to be gone back to.
    """
    with transaction.atomic():
        row = _locked(name)
        row.title = scenario.title
        _enter(row, scenario, position, row.lesson and {**row.lesson, **AWAY})
    return _read(name)


def go(name: str, scenario: Scenario, position: Mapping[str, Any], lesson: Mapping[str, Any]) -> Room:
    """Store that the room is at a stop of its lesson, and asks nothing. Raises EndedError."""
    with transaction.atomic():
        row = _locked(name)
        row.title = store.clean_title(lesson["title"])
        row.visits = [*row.visits, _visit(lesson["stop"])][-VISITS_KEPT:]
        _enter(row, scenario, position, lesson)
    return _read(name)


AWAY = {"away": True, "veil": None, "heading": "", "text": ""}
"""What of a lesson's stop changes while the room is at a scenario of another kind: nothing of it is shown."""


def _enter(
    row: Room, scenario: Scenario, position: Mapping[str, Any], lesson: Mapping[str, Any] | None
) -> None:
    """Store everything that makes another scene of a room, in one write."""
    row.scenario, row.position, row.lesson, row.question = scenario, dict(position), lesson, None
    row.scene, row.seq, row.changed = row.scene + 1, row.seq + 1, row.changed + 1
    changed = ("scenario", "position", "lesson", "question", "title", "visits", "scene", "seq", "changed")
    row.save(update_fields=changed)


def _locked(name: str) -> Room:
    row = Room.objects.select_for_update().filter(pk=name).first()
    if row is None or is_over(row):
        raise EndedError
    return row


def lead(name: str, leader: str, visitor: str) -> Room:
    """Store who leads: a person, or ``""`` for whoever has the token. Raises EndedError.

    ``visitor`` is who decided so, for the audit log.
    """
    with transaction.atomic():
        row = _change(name, leader=leader)
        what, why = (
            ("hand over room", f"to person {leader}") if leader else ("take room back", "by its token")
        )
        audit.record_visitor(what, name, visitor, why)
    return row


def _change(name: str, **fields: Any) -> Room:
    running = Room.objects.filter(pk=name, ended=None, expires__gt=timezone.now())
    if not running.update(changed=F("changed") + 1, **fields):
        raise EndedError
    return _read(name)


def ask(name: str, question: Mapping[str, Any]) -> Room:
    """Store a question in place of the one before. Raises EndedError."""
    with transaction.atomic():
        row = _locked(name)
        row.asked += 1
        row.changed += 1
        row.question = {**question, "number": row.asked}
        row.save(update_fields=["asked", "changed", "question"])
        RoomVote.objects.filter(room=row, question__lte=row.asked - VOTES_KEPT).delete()
    return _read(name)


REVEALED = ("changed", "history", "question", "scenario", "lesson", "position", "seq", "scene")


def reveal(
    name: str,
    number: int,
    scenario: Scenario | None = None,
    lesson: Mapping[str, Any] | None = None,
    position: Mapping[str, Any] | None = None,
) -> Room:
    """Count the votes of a question and store them with it. Raises EndedError, and VoteError without it.

    A question of a lesson changes what the room hides, and moves it to ``scenario`` and ``position``.
    """
    with transaction.atomic():
        row = _locked(name)
        if row.question is None or row.question["number"] != number:
            raise VoteError("The question was closed or replaced.")
        counted = questions.tally(row.question, votes_of(name, number))
        row.question = {**row.question, "revealed": True, "tally": counted}
        row.changed += 1
        row.history = [*row.history, _kept(row)][-QUESTIONS_KEPT:]
        if scenario is not None and lesson is not None and position is not None:
            row.scenario, row.lesson, row.position = scenario, dict(lesson), dict(position)
            row.seq, row.scene = row.seq + 1, row.scene + 1
        row.save(update_fields=REVEALED)
    return _read(name)


def _kept(room: Room) -> dict[str, Any]:
    """Return a revealed question as the room's page keeps it, of very long answers those with most votes."""
    question = room.question or {}
    shown = questions.wire(question, 0) or {}
    marking = {name: question[name] for name in ("accepted", "tolerance", "leads") if name in question}
    first = (question.get("before") or {}).get("number")
    entry = {**shown, **marking, "first": first, "scenario": room.scenario.short, "ballot": None}
    for part in (entry, entry.get("before") or {}):
        while part.get("tally") and len(json.dumps(entry)) > RESULT_BYTES:
            part["others"] = part.get("others", 0) + part["tally"].pop()[1]
    return entry


def ask_again(name: str, number: int) -> Room:
    """Keep the votes of a question as those before, and have everybody vote again.

    Raises EndedError, and VoteError where the question is revealed, another one, or asked a second time.
    """
    with transaction.atomic():
        row = _locked(name)
        question = row.question
        if question is None or question["number"] != number or question["revealed"]:
            raise VoteError("The question was revealed, closed or replaced.")
        if question.get("before"):
            raise VoteError("This is the second vote already.")
        before = {**questions.tally(question, votes_of(name, number)), "number": number}
        again = {**question, "before": before}
    return ask(name, again)


def _read(name: str) -> Room:
    found = states([name]).get(name)
    if found is None:
        raise EndedError
    return found


def vote(name: str, question: int, voter: str, answer: str) -> None:
    """Store a person's answer to a question, in place of an earlier one. Raises VoteError."""
    votes = RoomVote.objects.filter(room_id=name, question=question)
    if votes.filter(voter=voter).update(answer=answer, at=timezone.now()):
        return
    if votes.count() >= VOTES_EACH * limit("ROOM_VIEWERS"):
        raise VoteError("The limit of votes is reached; no more are counted.")
    RoomVote.objects.bulk_create(
        [RoomVote(room_id=name, question=question, voter=voter, answer=answer)],
        update_conflicts=True,
        unique_fields=["room", "question", "voter"],
        update_fields=["answer", "at"],
    )


def votes_of(name: str, question: int) -> list[str]:
    """Return the answers to a question."""
    return list(RoomVote.objects.filter(room_id=name, question=question).values_list("answer", flat=True))


def votes_in(name: str, person: str = "") -> list[RoomVote]:
    """Return the answers of a room that are kept, or a person's, in the order of the questions."""
    found = RoomVote.objects.filter(room_id=name, **({"voter": person} if person else {}))
    return list(found.order_by("question", "at")[:ANSWERS_SHOWN])


def count_votes(name: str, question: int) -> int:
    """Return how many have answered a question."""
    return RoomVote.objects.filter(room_id=name, question=question).count()


# --- who watches ---------------------------------------------------------------------------------


def write_audience(
    name: str, process: str, watching: int, people: Sequence[tuple[str, str]], lost: int = 0
) -> Audience | None:
    """Store how many watch in this process, and of these cannot follow.

    Returns the audience in all, None if the room is gone.
    """
    if not Room.objects.filter(pk=name).exists():
        return None
    row = {
        "watching": watching,
        "lost": lost,
        "people": [list(one) for one in people[:PEOPLE_SHOWN]],
        "seen": timezone.now(),
    }
    if watching or people:
        RoomAudience.objects.update_or_create(room_id=name, process=process, defaults=row)
    else:
        RoomAudience.objects.filter(room_id=name, process=process).delete()
    return audience(name)


def write_people(name: str, seen: Sequence[tuple[str, str, str, str]]) -> None:
    """Store who follows: ``(person, name, step, lost)``.

    The step is of who went elsewhere, ``lost`` why their page cannot follow.
    """
    if not seen or RoomPerson.objects.filter(room_id=name).count() >= PEOPLE_KEPT:
        return
    now = timezone.now()
    RoomPerson.objects.bulk_create(
        [
            RoomPerson(room_id=name, person=person, name=called, place=place, lost=lost, seen=now)
            for person, called, place, lost in seen[:PEOPLE_KEPT]
        ],
        update_conflicts=True,
        unique_fields=["room", "person"],
        update_fields=["name", "place", "lost", "seen"],
    )


def people_of(name: str) -> list[RoomPerson]:
    """Return who followed a room, those with names first."""
    return list(RoomPerson.objects.filter(room_id=name).order_by("-name", "person")[:PEOPLE_KEPT])


def audience(name: str) -> Audience:
    """Return who watches, in all web processes that are alive."""
    since = timezone.now() - timedelta(seconds=AUDIENCE_SECONDS)
    rows = RoomAudience.objects.filter(room_id=name, seen__gte=since)
    found = list(rows.values_list("watching", "lost", "people"))
    people = {person: called for *_, some in found for person, called in some}
    watching, lost = (sum(one[column] for one in found) for column in (0, 1))
    return Audience(watching, lost, tuple(people.items())[:PEOPLE_SHOWN])


def watching(name: str) -> int:
    """Return how many watch, in all web processes that are alive."""
    since = timezone.now() - timedelta(seconds=AUDIENCE_SECONDS)
    rows = RoomAudience.objects.filter(room_id=name, seen__gte=since)
    return int(rows.aggregate(all=Sum("watching", default=0))["all"])
