"""The list of what a visitor has stored, with expiry dates and deletion: ``/stored/``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from playground.limits import limit
from playground.models import UNFINISHED, Draft, Room, Run, Scenario, Share
from playground.rooms import rows as rooms
from playground.serving.error_pages import error_page
from playground.storage import audit, comparisons, links, quotas, store, visitor_lessons

ROWS_SHOWN = 500  # of each kind, the largest


def links_of(visitor: str) -> Any:
    """Return the scenarios that a visitor has shared, without their contents."""
    mine = Share.objects.filter(owner=visitor, lesson=None, scenario=OuterRef("pk"))
    return Scenario.objects.filter(Exists(mine)).defer("content", "text")


@require_safe
@never_cache
@ensure_csrf_cookie
def stored(request: HttpRequest) -> HttpResponse:
    """Render ``stored.html``.

    Context: ``section`` "stored"; ``rows`` (the visitor's own, largest first: {kind, id, title, url, bytes,
    size, expires (None: never), deletable}); ``used`` and ``allowed`` (texts with a unit); ``days`` (kind ->
    days for which it is kept unopened).
    """
    visitor = request.visitor  # type: ignore[attr-defined]
    drafts = Draft.objects.filter(owner=visitor).order_by("-packed").defer("files")[:ROWS_SHOWN]
    shared = links_of(visitor).order_by("-packed")[:ROWS_SHOWN]
    fields = ("pk", "title", "packed", "expires", "state")
    runs = Run.objects.filter(owner=visitor).order_by("-packed").only(*fields)[:ROWS_SHOWN]
    private = links.links_of(visitor)[:ROWS_SHOWN]
    compared = comparisons.comparisons_of(visitor).order_by("-packed")[:ROWS_SHOWN]
    rows = [
        *(_row("private-link", link.pk, f"/l/{link.pk}/", link) for link in private),
        *(_row("comparison", one.short, f"/compare/{one.short}/", one) for one in compared),
        *(_row("draft", draft.pk, f"/p/{draft.pk}/", draft) for draft in drafts),
        *(_row("link", link.short, f"/s/{link.short}/", link) for link in shared),
        *(
            _row("lesson", one.pk, f"/learn/author/{one.pk}/", one)
            for one in visitor_lessons.lessons_of(visitor)
        ),
        *(_room(room) for room in rooms.owned(visitor)),
        *(_row("run", run.pk, f"/runs/{run.pk}/", run, run.state not in UNFINISHED) for run in runs),
    ]
    context = {
        "section": "stored",
        "rows": sorted(rows, key=lambda row: -row["bytes"]),
        "used": quotas.mib(quotas.used_by_owner(visitor)),
        "allowed": quotas.mib(limit(quotas.OWNER.limit)),
        "days": {kind: limit(f"{kind.upper()}_DAYS") for kind in ("draft", "lesson", "link", "room", "run")},
    }
    return render(request, "stored.html", context)


def _row(kind: str, name: str, url: str, row: store.Dated, deletable: bool = True) -> dict[str, Any]:
    return {
        "kind": kind,
        "id": name,
        "title": row.title,
        "url": url,
        "bytes": row.packed,
        "size": quotas.mib(row.packed + quotas.ROW_BYTES),
        "expires": row.expires,
        "deletable": deletable,
    }


def _room(row: Room) -> dict[str, Any]:
    return {
        "kind": "room",
        "id": row.pk,
        "title": row.title or row.scenario.title,
        "url": f"/r/{row.pk}/",
        "bytes": quotas.ROW_BYTES,
        "size": quotas.mib(quotas.ROW_BYTES),
        "expires": row.expires + timedelta(days=limit("ROOM_DAYS")),
        "deletable": True,
    }


@require_POST
def delete(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """Delete one of the visitor's rows and redirect to the list; 409 for a run that is not finished."""
    visitor = request.visitor  # type: ignore[attr-defined]
    if kind == "run" and Run.objects.filter(pk=name, owner=visitor, state__in=UNFINISHED).exists():
        return error_page(request, 409, "The run is not finished; cancel it first.")
    if kind not in DELETE or not DELETE[kind](name, visitor):
        raise Http404
    return HttpResponseRedirect("/stored/")


def _delete_draft(name: str, visitor: str) -> bool:
    row = store.find_draft(name, visitor)
    if row is not None:
        store.delete_draft(row)
    return row is not None


def _delete_link(name: str, visitor: str) -> bool:
    row = links_of(visitor).filter(short=name).first()
    return row is not None and store.unshare_all(row, visitor)


def _delete_lesson(name: str, visitor: str) -> bool:
    row = visitor_lessons.find(name, visitor)
    if row is not None:
        visitor_lessons.delete(row)
    return row is not None


def _delete_room(name: str, visitor: str) -> bool:
    row = Room.objects.filter(pk=name, owner=visitor).first()
    if row is not None:
        rooms.end(row)  # for who is in it
        row.delete()
        audit.record_visitor("delete room", name, visitor)
    return row is not None


def _delete_run(name: str, visitor: str) -> bool:
    ended = Run.objects.filter(pk=name, owner=visitor).exclude(state__in=UNFINISHED)
    row = ended.only("pk", "scenario").first()
    if row is None:
        return False
    scenario = row.scenario_id
    row.delete()
    audit.record_visitor("delete run", name, visitor)
    store.forget_unreferenced(Scenario.objects.only("pk").get(pk=scenario))
    return True


DELETE: dict[str, Callable[[str, str], bool]] = {
    "draft": _delete_draft,
    "lesson": _delete_lesson,
    "link": _delete_link,
    "room": _delete_room,
    "run": _delete_run,
    "private-link": links.revoke_link,
    "comparison": comparisons.unshare_all,
}
