"""Rooms over HTTP: opening one, its state, and its end. Everything else is on the WebSocket."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from msgspec import to_builtins

from playground.api.answers import ApiError, answer
from playground.api.bodies import body_of
from playground.api.lookups import room_of, scenario_of
from playground.api.payloads import rooms as payloads
from playground.api.payloads.payload import sent
from playground.api.payloads.problems import Errors
from playground.api.route import ERRORS, UNREAD, route
from playground.calls.faults import RequestFieldError
from playground.courseware import LessonError
from playground.lessons import classes
from playground.models import Room
from playground.panels import positions
from playground.rooms import rows
from playground.serving.lan import origin_for_others
from playground.visitors import identity
from playground.visitors.throttle import RETRY_SECONDS, address_of, token_of, wait_seconds

_UNREADABLE = {400: UNREAD[400]}


@route(
    "POST",
    "/api/rooms",
    "Open a room, in which viewers follow a leader through a scenario",
    {
        201: ("Open; keep the lead token, whose holder leads and ends the room", payloads.NewRoom),
        **_UNREADABLE,
        **ERRORS,
    },
    body=(("application/json", payloads.RoomRequest),),
)
def create_room(request: HttpRequest) -> HttpResponse:
    """Open a room on a shared scenario, at a place of it, or on the first stop of a lesson."""
    body = body_of(request, payloads.RoomRequest)
    slug, short = sent(body.lesson), sent(body.scenario)
    if slug is None and short is None:
        message = "scenario must be a scenario's id, or lesson a lesson's slug."
        raise RequestFieldError("scenario", message)
    try:
        place = positions.position_of({"step": "0", **to_builtins(body)})
    except positions.InvalidPositionError as error:
        raise RequestFieldError(error.field, str(error)) from error
    at = _first_stop(slug) if slug is not None else None
    scenario = scenario_of(at.scenario if at is not None else short or "")
    position, lesson = (at.position, at.lesson) if at is not None else (place, None)
    title = sent(body.title) or (lesson["title"] if lesson else "")
    address = address_of(request)
    if wait := wait_seconds("ROOMS_PER_MINUTE", address):
        message = f"Too many rooms from your address; try again in {wait} seconds."
        raise ApiError(429, message, {"Retry-After": str(wait)})
    try:
        # A page sends its visitor's cookie along: the room is theirs, on every device of their account.
        visitor: str = request.visitor  # type: ignore[attr-defined]
        owner = visitor or identity.owner_at(address)
        created = rows.create(scenario, owner, address, position, title, lesson)
    except rows.TooManyRoomsError as error:
        raise ApiError(429, str(error), {"Retry-After": str(RETRY_SECONDS)}) from error
    origin = origin_for_others(request) or request.build_absolute_uri("/")[:-1]
    watch = f"{origin}/r/{created.room.pk}/"
    room = payloads.NewRoom(
        **_fields(created.room),
        watch_url=watch,
        # Behind the #, so that the token is in no log, and in no Referer.
        lead_url=f"{watch}#lead={created.token}",
        lead_token=created.token,
    )
    return answer(room, 201, Location=f"/api/rooms/{created.room.pk}")


@route(
    "GET",
    "/api/rooms/{name}",
    "Get where a room is, and the number of viewers",
    {200: ("The room", payloads.Room), **ERRORS},
)
def get_room(request: HttpRequest, name: str) -> HttpResponse:
    """Answer where a room is."""
    return answer(payloads.Room(**_fields(room_of(name))), Cache_Control="no-store")


@route(
    "POST",
    "/api/rooms/{name}/end",
    "End a room",
    {
        200: ("The room, which has ended", payloads.Room),
        403: ("Not the room's lead token", Errors),
        **_UNREADABLE,
        **ERRORS,
    },
    body=(("application/json", payloads.RoomEnd),),
)
def end_room(request: HttpRequest, name: str) -> HttpResponse:
    """End a room; its viewers learn of it within a second."""
    room = room_of(name)
    named = sent(body_of(request, payloads.RoomEnd).lead_token) if request.body else None
    token = named or token_of(request)
    if not rows.holds_token(room, token):
        raise ApiError(403, "Send the room's lead token as lead_token.")
    rows.end(room)
    return answer(payloads.Room(**_fields(room_of(name))))


def _first_stop(slug: str) -> classes.ClassStop:
    try:
        found = classes.stop(slug)
    except LessonError as error:
        raise ApiError(409, str(error)) from error
    if found is None:
        raise ApiError(404, "There is no such lesson.")
    return found


def _fields(room: Room) -> dict[str, Any]:
    over = rows.is_over(room)
    return {
        "id": room.pk,
        "scenario": room.scenario.short,
        "title": room.title,
        "step": room.position.get("step", "0"),
        "tab": room.position.get("tab"),
        "seq": room.seq,
        "watching": 0 if over else rows.watching(room.pk),
        "ended": over,
        "expires": room.expires.isoformat(),
    }
