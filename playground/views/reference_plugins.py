"""The reference page of kube-scheduler v1.37's plugins, rendered from the tables that the engine uses."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from scheduler_core.schedulers.rule_history import history_of
from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.plugins.declaration import POINTS
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED
from scheduler_core.schedulers.v1_37.quirks import QUIRKS
from scheduler_core.schedulers.v1_37.registrations import events_of

DEFAULT = read_configuration(None)


def plugins() -> list[dict[str, Any]]:
    """Return a row per plugin: what it does in words, its extension points, weight, events and history."""
    return [
        {
            "name": row.key,
            "filters": row.filters,
            "prefers": row.prefers,
            "formula": row.formula,
            "otherwise": row.otherwise,
            "points": [point for point in POINTS if point in row.points.split()],
            "weight": row.default_weight,
            "events": events_of(DEFAULT, row.key),
            "history": history_of(row.key),
        }
        for row in DECLARED
        if row.text
    ]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Render the page; context: ``plugins`` (:func:`plugins`), and ``quirks`` of v1.37."""
    context = {"section": "reference", "page": "plugins", "plugins": plugins(), "quirks": QUIRKS}
    return render(request, "reference_plugins.html", context)
