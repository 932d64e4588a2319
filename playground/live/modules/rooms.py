"""``room.…``: following a leader through a scenario, and predicting what happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import field

from playground.calls.requests import Index, Leaf, Request, Text, Texts
from playground.courseware import LessonError
from playground.lessons import classes
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.halls import Hall, Member
from playground.live.hub import hub, member_of
from playground.live.sightings import sightings
from playground.panels import positions
from playground.panels.cycle import light
from playground.pictures.scene import plain
from playground.playback.ballots import ballot
from playground.playback.executor import in_storage
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.protocol.answers import (
    NothingWire,
    PeopleInRoomWire,
    RoleGivenWire,
    RoomMovedWire,
    RoomTravelledWire,
    VoteCastWire,
)
from playground.protocol.rooms import JoinedWire, QuestionWire
from playground.rooms import questions, rows, statements

TOKEN = 200
PLACE = 24  # characters of the step of who looks around alone
LOST = 120  # characters of why a page cannot follow
REASONS = 8  # sentences of a cycle's story that come with the answer
NOBODY_PREDICTS = ("room.ended", "room.not-found")  # there: the page may show everything


def _member(call: Call[Any]) -> Member:
    member = member_of(call.connection)
    if member is None:
        raise CommandError("permission.denied", "This connection is not in a room; join one first.")
    return member


def _leading(call: Call[Any]) -> Member:
    """Return the member if it leads. Raises CommandError."""
    member = _member(call)
    if not member.leads:
        raise CommandError("permission.denied", "Only the leader can do that.")
    return member


@contextmanager
def _refusals(field: str = "") -> Iterator[None]:
    try:
        yield
    except rows.EndedError as error:
        raise CommandError("room.ended") from error
    except rows.VoteError as error:
        raise CommandError("permission.denied", str(error)) from error
    except positions.InvalidPositionError as error:
        raise CommandError("payload.invalid", str(error), field=error.field) from error
    except (questions.InvalidVoteError, LessonError) as error:
        raise CommandError("payload.invalid", str(error), field=field) from error


class RoomJoin(Request):
    room: Text
    lead_token: Text | None = field(name="lead_token", default=None)
    name: Text | None = None
    projector: Leaf | None = None


@command(
    "room.join", RoomJoin, answers=JoinedWire, throttle="ROOM_JOINS_PER_MINUTE", each="ROOM_JOINS_PER_VISITOR"
)
async def join(call: Call[RoomJoin]) -> Answer:
    """Enter a room: as its leader with the token, as its ``projector``, otherwise as a viewer."""
    token, name = call.payload.lead_token or "", call.payload.name or ""
    projects = call.payload.projector is True
    try:
        member = await hub().join(
            call.connection, call.payload.room, token[:TOKEN], name[:TOKEN], projects=projects
        )
    except CommandError as error:
        if error.payload["code"] in NOBODY_PREDICTS:
            call.connection.admitted.set()
        raise
    call.connection.admitted.set()
    hall = member.hall
    return {
        "role": member.role,
        "person": member.person,
        "name": member.name,
        "owner": member.holds_token,
        "code": hall.row.code,
        "watching": hall.here + hall.others,
        **hall.state,
    }


@command("room.leave", Request, answers=NothingWire)
async def leave(call: Call[Request]) -> Answer:
    """Leave the room."""
    _member(call)
    await hub().leave(call.connection)
    return {}


class RoomMove(Request):
    step: Text
    at: Index | None = None
    cell: Leaf | None = None
    spot: Leaf | None = None
    scene: Index | None = None
    tab: Text | None = None
    view: Text | None = None
    phase: Text | None = None
    node: Text | None = None
    pod: Text | None = None
    colour: Text | None = None
    group: Text | None = None
    shade: Text | None = None


@command("room.move", RoomMove, answers=RoomMovedWire)
async def move(call: Call[RoomMove]) -> Answer:
    """Have everybody follow to a position; one of a ``scene`` that the room has left is refused."""
    moves = _leading(call).hall.moves
    if call.payload.scene not in (None, moves.scene):
        raise CommandError("room.stale")
    with _refusals():
        return {"seq": moves.move(positions.position_of(call.payload.wire))}


class RoomAsk(Request):
    kind: Text
    text: Text | None = None
    choices: Texts | None = None
    right: Index | None = None
    step: Text | None = None


@command("room.ask", RoomAsk, answers=QuestionWire, latest=1, throttle="ROOM_QUESTIONS_PER_MINUTE")
async def ask(call: Call[RoomAsk]) -> Answer:
    """Have everybody predict what a cycle decides; the answer stays hidden until it is revealed.

    So does everything of the cycle and of those after it, whatever is asked.
    """
    hall = _leading(call).hall
    payload = call.payload
    if payload.kind == "lesson":
        return await _ask_stop(call, hall)
    with _refusals("kind"):
        question = questions.drafted(payload.kind, payload.text or "", payload.choices, payload.right)
    call.source = await sightings.find({"scenario": hall.row.scenario.short}, "")
    question = await call.in_turns(
        lambda playback, _unwanted: _asked(playback, question, payload.step, hall.position)
    )
    _leading(call)  # it may have been handed over meanwhile
    with _refusals():
        row = await in_storage(rows.ask, hall.row.pk, question)
    await hub().changed(row)
    return questions.wire(row.question, 0)


async def _ask_stop(call: Call[Any], hall: Hall) -> Answer:
    """Ask the question of the lesson's stop that the room is at."""
    at = hall.row.lesson
    with _refusals("kind"):
        here = at is not None and not at.get("away")
        asked = await in_storage(classes.question, at["slug"], at["stop"]) if at and here else None
    if asked is None:
        raise CommandError("payload.invalid", "The stop of this room asks nothing.", field="kind")
    _leading(call)  # it may have been handed over meanwhile
    with _refusals():
        row = await in_storage(rows.ask, hall.row.pk, asked)
    await hub().changed(row)
    return questions.wire(row.question, 0)


def _asked(
    playback: Playback, question: dict[str, Any], step: str | None, position: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the question with its answer; ``None`` while its cycle is not computed yet.

    It is about the cycle of ``step``; without one about the next of the position's, or about that itself
    where the position is a moment or a phase inside it.
    """
    index = _index(playback, step, position)
    if index is None and playback.advance(SLICE_SECONDS):
        return None
    index = _index(playback, step, position)
    if questions.KINDS[question["kind"]].truth is None:  # what it is about nobody knows
        return {**question, "hides": index} if index else question
    if index is None:
        raise CommandError("step.out-of-range", "There is no such cycle.")
    if not index:
        raise CommandError("step.out-of-range", "There is no decision before the first cycle.")
    cycle = playback.cycle(index)
    why = [plain(sentence) for sentence in light(cycle, playback.place(cycle))["story"]][:REASONS]
    asked = questions.about(question, cycle, index, why)
    return {**asked, "ballot": ballot(question["kind"], playback, cycle)}


def _index(playback: Playback, step: str | None, position: Mapping[str, Any]) -> int | None:
    """Return the index of the cycle that a question is about, ``None`` if it is not computed."""
    inside = "at" in position or "phase" in position
    try:
        index = playback.locate(step or position.get("step") or "0")
    except ValueError as error:
        raise CommandError("payload.invalid", str(error), field="step") from error
    if index is None:
        return None
    index += 0 if step or (inside and index) else 1
    return index if index <= len(playback) else None


@command("room.reveal", Request, answers=QuestionWire)
async def reveal(call: Call[Request]) -> Answer:
    """Show everybody the votes and the answer."""
    hall = _leading(call).hall
    question = hall.row.question
    if question is None:
        raise CommandError("permission.denied", "There is no question to reveal.")
    after = None
    if question["kind"] == "lesson" and (at := hall.row.lesson) is not None:
        revealed = [*dict.fromkeys([*at["revealed"], question["stop"]])]
        with _refusals():
            after = await in_storage(classes.stop, at["slug"], at["stop"], revealed)
    more: tuple[Any, ...] = ()
    if after is not None:
        source = await sightings.find({"scenario": after.scenario}, "")
        more = (source.row, after.lesson, after.position)
    with _refusals():
        row = await in_storage(rows.reveal, hall.row.pk, question["number"], *more)
    await hub().changed(row)
    await in_storage(statements.revealed, row, question["number"])
    return questions.wire(row.question, hall.votes)


@command("room.again", Request, answers=QuestionWire, throttle="ROOM_QUESTIONS_PER_MINUTE")
async def again(call: Call[Request]) -> Answer:
    """Have everybody vote a second time; the answer comes with both results."""
    hall = _leading(call).hall
    question = hall.row.question
    if question is None:
        raise CommandError("permission.denied", "There is no question to vote on again.")
    with _refusals():
        row = await in_storage(rows.ask_again, hall.row.pk, question["number"])
    await hub().changed(row)
    return questions.wire(row.question, 0)


@command("room.close", Request, answers=NothingWire)
async def close(call: Call[Request]) -> Answer:
    """Take the question away."""
    hall = _leading(call).hall
    with _refusals():
        await hub().changed(await in_storage(rows.close_question, hall.row.pk))
    return {}


class CastVote(Request):
    answer: Leaf | None = None


@command(
    "room.vote",
    CastVote,
    answers=VoteCastWire,
    throttle="ROOM_VOTES_PER_MINUTE",
    each="ROOM_VOTES_PER_VISITOR",
)
async def vote(call: Call[CastVote]) -> Answer:
    """Answer the question, or change one's answer."""
    member = _member(call)
    hall = member.hall
    if not hall.votable:  # it may have been asked over another process a moment ago
        await hub().refresh(hall)
    question = hall.row.question
    if question is None or question["revealed"]:
        raise CommandError("permission.denied", "There is no question to answer.")
    given = call.payload.answer
    if question["kind"] == "lesson" and question["form"] in classes.SOLVED:
        given = isinstance(given, str) and classes.solved(question["lesson"], question["stop"], given)
    with _refusals("answer"):
        answer = questions.canonical(question, given)
        await in_storage(rows.vote, hall.row.pk, question["number"], member.person, answer)
    hub().voted(hall)
    return {"number": question["number"]}


class RoomTravel(Request):
    scenario: Text
    step: Text | None = None


@command("room.travel", RoomTravel, answers=RoomTravelledWire, throttle="ROOM_QUESTIONS_PER_MINUTE")
async def travel(call: Call[RoomTravel]) -> Answer:
    """Have everybody go to another shared scenario, in the same room: its address and code stay."""
    hall = _leading(call).hall
    source = await sightings.find({"scenario": call.payload.scenario}, "")
    with _refusals():
        position = positions.position_of({"step": call.payload.step or "0"})
        row = await in_storage(rows.travel, hall.row.pk, source.row, position)
    await hub().changed(row)
    return {"scenario": row.scenario.short}


class RoomStop(Request):
    stop: Text


@command("room.stop", RoomStop, answers=RoomTravelledWire, throttle="ROOM_QUESTIONS_PER_MINUTE")
async def stop(call: Call[RoomStop]) -> Answer:
    """Have everybody go to another stop of the lesson that the room teaches."""
    hall = _leading(call).hall
    at = hall.row.lesson
    with _refusals("stop"):
        found = await in_storage(classes.stop, at["slug"], call.payload.stop, at["revealed"]) if at else None
    if found is None or not call.payload.stop:
        raise CommandError("payload.invalid", "The room's lesson has no such stop.", field="stop")
    source = await sightings.find({"scenario": found.scenario}, "")
    _leading(call)  # it may have been handed over meanwhile
    with _refusals():
        row = await in_storage(rows.go, hall.row.pk, source.row, found.position, found.lesson)
    await hub().changed(row)
    return {"scenario": row.scenario.short}


class RoomPlace(Request):
    step: Text
    lost: Text | None = None


@command("room.place", RoomPlace, answers=NothingWire, each="ROOM_VOTES_PER_VISITOR")
async def place(call: Call[RoomPlace]) -> Answer:
    """Report to the leader at which step one looks around alone, "" for who follows, or why one cannot."""
    member = _member(call)
    step = call.payload.step
    if step and not positions.STEP.fullmatch(step):
        raise CommandError("payload.invalid", "A step is a cycle's number or end.", field="step")
    hub().placed(member, step[:PLACE], (call.payload.lost or "")[:LOST])
    return {}


@command("room.people", Request, answers=PeopleInRoomWire)
async def people(call: Call[Request]) -> Answer:
    """Return to the leader who gave a name, and how many watch."""
    member = _leading(call)
    found = await in_storage(rows.audience, member.hall.row.pk)
    here = dict(member.hall.named())
    return {
        "watching": member.hall.here + member.hall.others,
        "people": [list(one) for one in ({**dict(found.people), **here}).items()][: rows.PEOPLE_SHOWN],
    }


class RoomHand(Request):
    to: Text


@command("room.hand", RoomHand, answers=RoleGivenWire, throttle="ROOM_QUESTIONS_PER_MINUTE")
async def hand(call: Call[RoomHand]) -> Answer:
    """Hand the lead to another person in the room."""
    member = _leading(call)
    hall, to = member.hall, call.payload.to
    here = {one.person for one in hall.members.values()}
    if to not in here and to not in dict((await in_storage(rows.audience, hall.row.pk)).people):
        raise CommandError("payload.invalid", "This person is not in the room.", field="to")
    return await _led(call, member, to)


@command("room.take", Request, answers=RoleGivenWire, throttle="ROOM_QUESTIONS_PER_MINUTE")
async def take(call: Call[Request]) -> Answer:
    """Take the lead back; only who joined with the token may."""
    member = _member(call)
    if not member.holds_token:
        raise CommandError("permission.denied", "Only a holder of the lead token can do that.")
    return await _led(call, member, "")


async def _led(call: Call[Any], member: Member, to: str) -> Answer:
    with _refusals():
        row = await in_storage(rows.lead, member.hall.row.pk, to, call.visitor)
    await hub().changed(row)
    return {"role": member.role}
