"""The reference page of the descheduler, rendered from the tables that the engine uses."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.reference import descheduler


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Render ``reference_descheduler.html``; every plugin has its name as anchor."""
    context = {
        "section": "reference",
        "page": "descheduler",
        "strategies": descheduler.strategies(),
        "classic": descheduler.classic(),
        "evictor": descheduler.evictor(),
        "protections": descheduler.protections(),
        "settings": descheduler.settings(),
    }
    return render(request, "reference_descheduler.html", context)
