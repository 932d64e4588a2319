"""Errors returned to clients."""

from __future__ import annotations

from typing import Any

from playground.calls.faults import RequestFieldError
from playground.runtime.outage import Outage

CODES: dict[str, str] = {
    "frame.malformed": "The frame is not a JSON list [command, id, payload]",
    "frame.too-large": "The frame exceeds the limits of session.hello",
    "command.unknown": "Unknown command",
    "payload.invalid": "A field of the payload is missing or has the wrong type",
    "source.not-found": "The draft, scenario or run does not exist, or is not the visitor's",
    "source.gone": "Taken down by the operator; the message gives the reason",
    "source.too-large": "Too large to compute interactively; start a run",
    "draft.stale": "The draft has changed since the given revision; `revision` is the current one",
    "step.out-of-range": "There is no such cycle",
    "pod.not-found": "There is no such pod at this step",
    "node.not-found": "There is no such node at this step",
    "object.not-found": "There is no such object, or no such operation, at this step",
    "podgroup.not-found": "There is no such PodGroup at this step",
    "object.invalid": "The object has errors; they are in `errors`",
    "change.not-found": "The change was not offered for this pod, or cannot be applied to a copy",
    "branch.full": "The limit on branches is reached; delete one first",
    "why.too-large": "The explanation exceeds the time limit",
    "bundle.invalid": "The bundle has errors; they are in `errors`",
    "bundle.too-large": "The bundle exceeds the size limits",
    "storage.full": "The storage quota is exhausted; `largest` lists what to delete",
    "room.not-found": "There is no such room",
    "room.ended": "The room has ended",
    "room.full": "The room has reached its limit of viewers",
    "room.stale": "The room has gone elsewhere meanwhile",
    "room.question-open": "Hidden until the question is answered",
    "lesson.invalid": "The lesson cannot be changed that way; the message says why",
    "rate.limited": "Too many frames; wait `retryAfter` seconds",
    "budget.spent": "The budget of processor time is spent; come back after `retryAfter` seconds",
    "permission.denied": "The visitor may not do this with the source",
    "request.superseded": "Superseded by a newer request on the same connection",
    "server.busy": "Too many requests in progress on this connection",
    "server.unavailable": "The database does not respond or the disk is full; wait `retryAfter` seconds",
    "server.error": "An internal error, which was logged",
}


class CommandError(Exception):
    """The answer ``["error", id, {"code", "message", …}]``."""

    def __init__(self, code: str, message: str = "", **more: Any) -> None:
        assert code in CODES
        self.payload = {"code": code, "message": message or f"{CODES[code]}.", **more}
        super().__init__(self.payload["message"])


def invalid(error: RequestFieldError) -> CommandError:
    """Return the error for a field of the payload."""
    field = {"field": error.field} if error.field else {}
    return CommandError("payload.invalid", str(error), **field)


def unavailable(found: Outage) -> CommandError:
    """Return the error for an outage of storage; ``retryAfter`` is in seconds."""
    message = f"{found.title}. {found.message}"
    return CommandError("server.unavailable", message, part=found.part, retryAfter=found.retry_after)
