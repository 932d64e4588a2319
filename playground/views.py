"""Error pages (the rest follows)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that did not come from our page: the visitor is told to reload it."""
    return render(request, "error.html", {"status": 403}, status=403)
