"""Errors returned to clients."""

from __future__ import annotations

from typing import Any

from playground.runtime.outage import Outage

CODES: dict[str, str] = {
    "frame.malformed": "The frame is no JSON list [command, id, payload]",
    "frame.too-large": "The frame is longer than session.hello's limits allow",
    "command.unknown": "There is no such command",
    "payload.invalid": "A field of the payload is missing or of another type",
    "source.not-found": "There is no such draft, scenario or run, or it is not the visitor's",
    "source.gone": "The operator has taken it down; the message says why",
    "source.too-large": "Too much to compute while somebody waits; start a run",
    "draft.stale": "The draft has changed since the revision that was sent; `revision` is the newest",
    "step.out-of-range": "There is no such cycle",
    "pod.not-found": "There is no such pod at this step",
    "node.not-found": "There is no such node at this step",
    "object.not-found": "There is no such object, or no such operation, at this step",
    "podgroup.not-found": "There is no such PodGroup at this step",
    "object.invalid": "The object has errors; they are in `errors`",
    "change.not-found": "No such change was offered for this pod, or no copy can have it",
    "branch.full": "There are as many branches as there may be; delete one first",
    "why.too-large": "Explaining takes longer than the limits allow",
    "bundle.invalid": "The bundle has errors; they are in `errors`",
    "bundle.too-large": "The bundle is larger than the limits allow",
    "storage.full": "There is no room for more; `largest` names what to delete",
    "room.not-found": "There is no such room",
    "room.ended": "The room is over",
    "room.full": "As many watch the room as may",
    "rate.limited": "Too many frames; wait `retryAfter` seconds",
    "permission.denied": "The source is there, but this is not the visitor's to do",
    "request.superseded": "The same connection asked for something newer before this was begun",
    "server.busy": "Too many requests of this connection are under way",
    "server.unavailable": "The database does not answer or the disk is full; wait `retryAfter` seconds",
    "server.error": "A defect of ours; it was logged",
}


class CommandError(Exception):
    """The answer ``["error", id, {"code", "message", …}]``."""

    def __init__(self, code: str, message: str = "", **more: Any) -> None:
        assert code in CODES
        self.payload = {"code": code, "message": message or f"{CODES[code]}.", **more}
        super().__init__(self.payload["message"])


def unavailable(found: Outage) -> CommandError:
    """Return the error for an outage of storage; ``retryAfter`` is in seconds."""
    message = f"{found.title}. {found.message}"
    return CommandError("server.unavailable", message, part=found.part, retryAfter=found.retry_after)
