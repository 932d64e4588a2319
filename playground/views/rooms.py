"""The page of a room: the workbench that follows the leader, and once it is over what was asked."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.limits import limit
from playground.models import Comment, Room
from playground.panels import positions
from playground.playback import sources
from playground.rooms import people, questions, results, rows
from playground.serving.lan import origin_for_others
from playground.serving.languages import current, translated, words_of_scripts
from playground.storage import comments
from playground.views.workbench import workbench
from playground.visitors.throttle import throttled


@require_safe
@ensure_csrf_cookie
def room(request: HttpRequest, name: str, *, projector: bool = False) -> HttpResponse:
    """Render the workbench of a room's scenario with ``room`` for everyone who has the link.

    Who leads has the token behind the ``#`` of the address, which the server is never sent. The ``projector``
    follows, and shows nothing that its browser remembers.
    """
    row = rows.find(name)
    if row is None:
        raise Http404
    if rows.is_over(row):
        return _ended(request, row)
    short = row.scenario.short
    source = sources.Source({"scenario": short}, row.scenario)
    # What introduces a scenario may tell how it goes on; of a lesson the stop's text introduces it.
    taught = row.lesson is not None and not row.lesson.get("away")
    asked = taught or questions.veil_of(row.question) is not None
    response = workbench(
        request,
        source,
        room=row.pk,
        projector=projector,
        invite=origin_for_others(request),
        title=row.title or source.title,
        about="" if asked else source.introduction(),
        step=str(row.position.get("step", "")),
        bundle_url=f"/api/scenarios/{short}/bundle",
        lesson=row.lesson,
    )
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@require_safe
@throttled("ROOM_CODES_PER_MINUTE")
def join(request: HttpRequest, code: str = "") -> HttpResponse:
    """Lead to the running room of a code, of the address or of the form's field ``code``.

    Without one that is found, render ``join.html``: ``code`` as it was typed, "" for none.
    """
    typed = (code or request.GET.get("code", ""))[:40]
    found = rows.coded(typed)
    if found is None:
        return render(request, "join.html", {"code": typed}, status=404 if typed else 200)
    return HttpResponseRedirect(f"/r/{found.pk}/")


def _ended(request: HttpRequest, row: Room) -> HttpResponse:
    """Render ``room.html``: what is left of a room.

    Context: ``title``; ``onward`` (the address of its last step); ``removed`` (when the page goes);
    ``questions`` (those that were revealed: {text, about, url, votes, answer, why, rows}, where a row is
    {label, count, before, right}, and ``before`` is None of a single vote; ``lesson``, the address of the
    stop, and ``mine``, what this visitor answered: [(vote, words, right)…]);
    ``said`` (the room's comments: {name, text, step, url}).
    """
    onward = {name: row.position[name] for name in positions.PLACE if row.position.get(name)}
    mine = [] if not request.visitor else _mine(row, request.visitor)  # type: ignore[attr-defined]
    context = {
        "title": row.title or row.scenario.title,
        "lesson": row.lesson,
        "room": row.pk,
        "leads": bool(row.owner) and row.owner == request.visitor,  # type: ignore[attr-defined]
        "onward": f"/s/{row.scenario.short}/?{urlencode(onward)}",
        "removed": row.expires + timedelta(days=limit("ROOM_DAYS")),
        "questions": [_result(entry, mine) for entry in row.history],
        "said": [_said(comment) for comment in comments.said_in(row)],
    }
    response = render(request, "room.html", context)
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@require_safe
@translated
@ensure_csrf_cookie
def overview(request: HttpRequest, name: str) -> HttpResponse:
    """Render ``room_class.html``, the page of who teaches in a room; the browser asks for what it shows.

    Whoever has the lead token, or opened the room, sees it; others see that they may not. Context:
    ``room`` (its id); ``title``; ``lesson`` (of the row, or None); ``words`` (what its script says).
    """
    row = rows.find(name)
    if row is None:
        raise Http404
    title = row.title or row.scenario.title
    words = words_of_scripts(current())
    context = {"room": row.pk, "title": title, "lesson": row.lesson, "words": words}
    response = render(request, "room_class.html", context)
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _said(comment: Comment) -> dict[str, str]:
    step = (comment.thread or comment).step
    url = f"/s/{comment.scenario.short}/?{urlencode({'step': step})}"
    return {"name": comment.name or "Somebody", "text": comment.text, "step": step, "url": url}


def _mine(row: Room, visitor: str) -> list[results.GivenAnswer]:
    person = people.person_of(row.pk, visitor)
    return [one for one in results.results_of(row, person).answers if one.person == person]


def _result(entry: dict[str, Any], mine: list[results.GivenAnswer]) -> dict[str, Any]:
    before = {json.dumps(answer): count for answer, count in (entry.get("before") or {}).get("tally", ())}
    now = {json.dumps(answer): count for answer, count in entry["tally"]}
    right = None if entry["answer"] is None else json.dumps(entry["answer"])
    answers = list(dict.fromkeys((*now, *before, *([right] if right is not None else []))))
    return {
        "text": entry["text"] or questions.TITLES[entry["kind"]],
        "about": f"Cycle {entry['index']}: {entry['pod']}" if entry.get("pod") else "",
        "lesson": f"/learn/{entry['lesson']}/{entry['stop']}/" if entry.get("lesson") else "",
        "mine": [
            ("second" if one.second else "first", one.label, one.right)
            for number in (entry.get("first"), entry["number"])
            for one in mine
            if one.number == number
        ],
        "url": f"/s/{entry['scenario']}/?step={entry['index']}" if entry.get("index") else "",
        "votes": entry["votes"],
        "answer": "" if right is None else questions.worded(entry, entry["answer"]),
        "why": entry["why"],
        "rows": [
            {
                "label": questions.worded(entry, json.loads(one)),
                "count": now.get(one, 0),
                "before": before.get(one, 0) if before else None,
                "right": one == right,
            }
            for one in answers
        ],
    }
