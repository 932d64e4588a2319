"""The reference page of kube-scheduler v1.37's plugins, rendered from the tables that the engine uses."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from scheduler_core.config.rule_history import history_of
from scheduler_core.v1_37.hints.sentences import events_of
from scheduler_core.v1_37.plugins.about import rows


def plugins() -> list[dict[str, Any]]:
    """Return a row per plugin: what it does in words, its extension points, weight, events and history."""
    return [
        {
            "name": plugin,
            "filters": about.filters,
            "prefers": about.prefers,
            "formula": about.formula,
            "otherwise": about.otherwise,
            "points": points,
            "weight": weight,
            "events": events_of(plugin),
            "history": history_of(plugin),
        }
        for plugin, about, points, weight in rows()
    ]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Render the page; context: ``plugins`` (:func:`plugins`)."""
    context = {"section": "reference", "page": "plugins", "plugins": plugins()}
    return render(request, "reference_plugins.html", context)
