"""The reference page of predicates and priorities, rendered from the tables that the engine uses."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.reference import catalogue
from scheduler_core.schedulers.v1_11.policy.order import BUNDLES, ORDERS, UNREGISTERED, static_order
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PREDICATES
from scheduler_core.schedulers.v1_11.preemption.criteria import CRITERIA, NAME_NOTE, NAME_TEXT
from scheduler_core.schedulers.v1_11.preemption.preempt import UNRESOLVABLE_REASONS
from scheduler_core.schedulers.v1_11.quirks import QUIRKS
from scheduler_core.settings.settings import PREDICATE_ORDERS

ROW = 30  # height in pixels of a row of the two orders side by side; same value in the style sheet


def _line(left: int, right: int) -> str:
    """Return the SVG path of a line from a row of the left order to one of the right, 100 wide."""
    start, end = (ROW * place - ROW // 2 for place in (left, right))
    return f"M0 {start}C50 {start} 50 {end} 100 {end}"


def side_by_side() -> dict[str, Any]:
    """Return both orders as numbered rows, and the lines between rows of the same predicate."""
    v1_11, proposal = (ORDERS[mode] for mode in PREDICATE_ORDERS)
    places = {row.name: place for place, row in enumerate(v1_11, 1)}
    listed = {key for row in proposal for key in row.keys}
    return {
        "height": ROW * max(len(v1_11), len(proposal)),
        "left": [
            {
                "place": place,
                "name": row.name,
                "key": row.name,
                "listed": row.name in listed,
                "registered": row.name not in UNREGISTERED,
                "bundle": row.name in BUNDLES,
            }
            for place, row in enumerate(v1_11, 1)
        ],
        "right": [
            {
                "place": place,
                "name": row.name,
                "key": row.keys[0],
                "count": len(row.keys),
                "registered": not set(row.keys) & UNREGISTERED,
            }
            for place, row in enumerate(proposal, 1)
        ],
        "lines": [
            {"path": _line(places[key], place), "moved": places[key] != place, "key": key}
            for place, row in enumerate(proposal, 1)
            for key in row.keys
        ],
    }


def unlisted() -> list[dict[str, str]]:
    """Return the keys that run under the proposal without being listed in it, each with its predecessor."""
    order = static_order("proposal")
    listed = {key for row in ORDERS["proposal"] for key in row.keys}
    return [
        {"key": key, "after": order[place - 1]}
        for place, key in enumerate(order)
        if key not in listed and key not in UNREGISTERED
    ]


def criteria() -> list[dict[str, Any]]:
    """Return the criteria of preemption; one that replaces another if a quirk is fixed has the same place."""
    rows: list[dict[str, Any]] = []
    for row in CRITERIA:
        place = len(rows) + 1 - sum(bool(before["fixed"]) for before in rows)
        instead = row.instead_of is not None
        rows.append(
            {
                "place": place - instead,
                "text": row.text,
                "note": row.note,
                "quirk": row.quirk or row.instead_of,
                "fixed": instead,
            }
        )
    last = {
        "place": rows[-1]["place"] + 1,
        "text": NAME_TEXT,
        "note": NAME_NOTE,
        "quirk": None,
        "fixed": False,
    }
    return [*rows, last]


@require_safe
def predicates(request: HttpRequest) -> HttpResponse:
    """Render ``reference.html``.

    Context: ``section`` "reference"; ``predicates`` and ``priorities`` (rows of ``catalogue``);
    ``orders`` (:func:`side_by_side`); ``unlisted`` ({key, after}); ``bundles`` ([(key, members)]);
    ``default_count``; ``arguments`` ([(kind, as written, formula)]); ``providers`` ({name, priorities});
    ``criteria`` of preemption ({place, text, note, quirk, fixed}); ``unmendable`` (the reasons that no
    eviction can resolve); ``quirks`` (rows of the engine's table).
    """
    context = {
        "section": "reference",
        "predicates": catalogue.predicates(),
        "orders": side_by_side(),
        "unlisted": unlisted(),
        "bundles": list(BUNDLES.items()),
        "default_count": len(DEFAULT_PREDICATES),
        "priorities": catalogue.priorities(),
        "arguments": catalogue.priority_arguments(),
        "providers": catalogue.providers(),
        "criteria": criteria(),
        "unmendable": sorted(UNRESOLVABLE_REASONS),
        "quirks": QUIRKS,
    }
    return render(request, "reference.html", context)
