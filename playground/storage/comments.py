"""Comments on shared scenarios: threads anchored to a step, and within it to a node, a pod or a rule."""

from __future__ import annotations

import hmac
import re
import secrets
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import structlog
from django.db import transaction
from django.db.models import Count, Max, QuerySet
from django.utils import timezone

from playground.calls.faults import RequestFieldError
from playground.calls.requests import Request, Text
from playground.limits import limit
from playground.models import Comment, Draft, Room, Scenario, Share, token_hash
from playground.storage import audit, quotas, store
from playground.visitors import caller, names

log = structlog.get_logger(__name__)

STEP = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?|end")
#: Fields of an anchor beside the step, and the characters that they may have.
ANCHORS = {"node": 253, "pod": 600, "rule": 100}
_KEPT = {"\n", "\t"}
_DROPPED = {"Cc", "Cf", "Co", "Cs", "Cn"}  # among them what reverses the direction of writing


class TooManyCommentsError(RuntimeError):
    """The scenario has as many comments as it may."""

    def __init__(self) -> None:
        most = limit("COMMENTS_PER_SCENARIO")
        super().__init__(f"This scenario has {most:,} comments, the most there may be.")


class CommentRequest(Request):
    """step may be left out with parent, which is the comment that is answered."""

    text: Text
    step: Text | None = None
    node: Text | None = None
    pod: Text | None = None
    rule: Text | None = None
    parent: Text | None = None
    name: Text | None = None


@dataclass(frozen=True, slots=True)
class CommentDraft:
    """What somebody wrote, checked: the anchor is of a thread's first comment only."""

    step: str
    text: str
    name: str = ""
    node: str = ""
    pod: str = ""
    rule: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """A stored comment, and the only copy of the token that changes it."""

    comment: Comment
    token: str


@dataclass(frozen=True, slots=True)
class Author:
    """Who asks for a change: a visitor, a token of the comment, or one of the scenario's shares."""

    visitor: str = ""
    token: str = ""


def clean_text(text: str) -> str:
    """Return a text without control and direction characters; line ends are kept."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = (char for char in text if char in _KEPT or unicodedata.category(char) not in _DROPPED)
    return "".join(kept).strip()


def checked(asked: CommentRequest) -> CommentDraft:
    """Return what a caller sent as a draft. Raises RequestFieldError."""
    texts = {name: getattr(asked, name) or "" for name in CommentRequest.__struct_fields__}
    if not STEP.fullmatch(texts["step"]) and not texts["parent"]:
        raise RequestFieldError("step", "A step is a cycle's number or major.minor, as in 17 or 2.3, or end.")
    for name, most in ANCHORS.items():
        texts[name] = " ".join(clean_text(texts[name]).split())
        if len(texts[name]) > most:
            raise RequestFieldError(name, f"{name} may have {most} characters.")
    texts["text"] = checked_text(texts["text"])
    texts["name"] = names.clean_name(texts["name"])
    return CommentDraft(**texts)


def checked_text(text: str) -> str:
    """Return a comment's text as it is stored. Raises RequestFieldError."""
    text = clean_text(text)
    if not text:
        raise RequestFieldError("text", "A comment needs a text.")
    if len(text) > limit("COMMENT_CHARACTERS"):
        raise RequestFieldError("text", f"A comment may have {limit('COMMENT_CHARACTERS'):,} characters.")
    return text


def write(
    scenario: Scenario,
    draft: CommentDraft,
    visitor: str,
    about: Mapping[str, Any] | None,
    room: str | None = None,
) -> Written:
    """Store a comment, of a ``room`` if it is written there; ``about`` is what its step decided.

    Raises RequestFieldError and TooManyCommentsError.
    """
    if Comment.objects.filter(scenario=scenario).count() >= limit("COMMENTS_PER_SCENARIO"):
        raise TooManyCommentsError
    thread = _thread(scenario, draft.parent, room) if draft.parent else None
    quotas.check("", "", quotas.ROW_BYTES + len(draft.text.encode()))
    token = secrets.token_urlsafe(24)
    anchor = {} if thread else {"step": draft.step, "node": draft.node, "pod": draft.pod, "rule": draft.rule}
    comment = Comment.objects.create(
        scenario=scenario,
        room_id=room,
        thread=thread,
        owner=visitor,
        address=caller.address(),
        token=token_hash(token),
        name=draft.name,
        text=draft.text,
        about=None if thread else dict(about or {}) or None,
        **anchor,
    )
    return Written(comment, token)


def _thread(scenario: Scenario, parent: str, room: str | None) -> Comment:
    """Return the first comment of the thread that a comment is in. Raises RequestFieldError."""
    row = find(scenario, parent, room)
    if row is None:
        raise RequestFieldError("parent", "There is no such comment to answer.")
    return row.thread or row


def of_branch(draft: Draft) -> Scenario | None:
    """Return the shared scenario that a draft comes of, as long as it is shared; ``None`` without one."""
    kind, _, short = draft.family.partition(":")
    try:
        return store.find_scenario(short) if kind == "scenario" else None
    except store.GoneError:
        return None


def find(scenario: Scenario, name: str, room: str | None = None) -> Comment | None:
    """Return a scenario's comment, or that of a room on it."""
    return _of(scenario, room).filter(pk=name[:32]).first()


def said_in(room: Room) -> list[Comment]:
    """Return what was said in a room, on whichever scenario, oldest first."""
    return list(room.comments.filter(removed=False).select_related("scenario", "thread").order_by("created"))


def has_any(scenario: Scenario) -> bool:
    """Return whether a scenario has comments beside those of rooms."""
    return _of(scenario, None).exists()


def _of(scenario: Scenario, room: str | None) -> QuerySet[Comment]:
    return Comment.objects.filter(scenario=scenario, room=room).select_related("thread")


# --- who may change what -------------------------------------------------------------------------


def wrote(comment: Comment, author: Author) -> bool:
    """Return whether the author wrote the comment."""
    if author.visitor and author.visitor == comment.owner:
        return True
    return bool(author.token) and hmac.compare_digest(token_hash(author.token), comment.token)


def moderates(comment: Comment, author: Author) -> bool:
    """Return whether the author shared the scenario, by cookie or delete token, or opened the room."""
    if comment.room is not None and author.visitor and comment.room.owner == author.visitor:
        return True
    shares = Share.objects.filter(scenario=comment.scenario_id)
    if author.visitor and shares.filter(owner=author.visitor).exists():
        return True
    return bool(author.token) and shares.filter(token=token_hash(author.token)).exists()


def may_edit(comment: Comment, author: Author) -> bool:
    """Return whether the author may change the text: only who wrote it, and not once it was removed."""
    return wrote(comment, author) and not comment.removed


def may_remove(comment: Comment, author: Author) -> bool:
    """Return whether the author may remove the comment: who wrote it, or who shared the scenario."""
    return wrote(comment, author) or moderates(comment, author)


def may_resolve(comment: Comment, author: Author) -> bool:
    """Return whether the author may resolve the thread: who began it, or who shared the scenario."""
    return wrote(comment.thread or comment, author) or moderates(comment, author)


def edit(comment: Comment, text: str) -> None:
    """Replace the text. Raises RequestFieldError."""
    _change(comment, text=checked_text(text), edited=timezone.now())


def remove(comment: Comment, author: Author) -> None:
    """Remove text, name and author; the answers and what the comment was about stay."""
    by = "who wrote it" if wrote(comment, author) else "who shared the scenario"
    with transaction.atomic():
        _change(comment, text="", name="", owner="", address="", token="", removed=True)
        audit.record_visitor("remove comment", comment.pk, author.visitor, f"by {by}")
    log.info("a comment was removed", comment=comment.pk, by=by)


def resolve(comment: Comment, *, resolved: bool) -> None:
    """Resolve the comment's thread, or open it again."""
    _change(comment.thread or comment, resolved=resolved)


def _change(comment: Comment, **fields: Any) -> None:
    with transaction.atomic():
        Comment.objects.filter(pk=comment.pk).update(updated=timezone.now(), **fields)
    comment.refresh_from_db()


# --- what others see -----------------------------------------------------------------------------


def wire(comment: Comment, short: str, visitor: str = "") -> dict[str, Any]:
    """Return a comment as everybody sees it; ``mine`` is whether ``visitor`` wrote it."""
    first = comment.thread or comment
    anchor = {name: value for name in ("step", *ANCHORS) if (value := getattr(first, name))}
    query = {name: value for name, value in anchor.items() if name != "rule"}
    place = f"/r/{comment.room_id}/" if comment.room_id else f"/s/{short}/?{urlencode(query)}"
    found: dict[str, Any] = {
        "id": comment.pk,
        "url": f"{place}#comment-{comment.pk}",
        "parent": first.pk if comment.thread_id else None,
        "text": comment.text,
        "name": comment.name,
        "mine": bool(visitor) and visitor == comment.owner,
        "removed": comment.removed,
        "created": comment.created.isoformat(),
        "edited": comment.edited.isoformat() if comment.edited else None,
    }
    if comment.thread_id is None:
        found |= {name: anchor.get(name) for name in ("step", *ANCHORS)}
        found |= {"about": comment.about, "resolved": comment.resolved}
    return found


def threads(scenario: Scenario, visitor: str = "", room: str | None = None) -> list[dict[str, Any]]:
    """Return a scenario's threads, or those of a room on it, oldest first, each with its ``replies``.

    A thread of which all was removed is left out.
    """
    found: dict[str, dict[str, Any]] = {}
    rows = list(_of(scenario, room).order_by("created", "pk"))
    for row in sorted(rows, key=lambda row: row.thread_id is not None):  # those that begin a thread first
        shown = wire(row, scenario.short, visitor)
        if row.thread_id is None:
            found[row.pk] = {**shown, "replies": []}
        elif row.thread_id in found and not row.removed:
            found[row.thread_id]["replies"].append(shown)
    return [thread for thread in found.values() if not thread["removed"] or thread["replies"]]


Version = tuple[datetime | None, int]


def versions(scenarios: Iterable[int]) -> dict[int, Version]:
    """Return when a scenario's comments last changed, and how many there are, for each that has any."""
    rows = Comment.objects.filter(scenario__in=list(scenarios)).values_list("scenario")
    return {key: (last, count) for key, last, count in rows.annotate(Max("updated"), Count("pk"))}


def changed_since(scenario: int, since: datetime | None) -> list[Comment]:
    """Return the comments that changed at or after ``since``, oldest change first."""
    rows = Comment.objects.filter(scenario=scenario).select_related("thread").order_by("updated")
    return list(rows.filter(updated__gte=since) if since else rows)
