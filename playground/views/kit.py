"""The browser's components in their states, for who builds a page: ``/dev/kit/``, under DEBUG alone."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Show every component; 404 on a site that is not being developed."""
    if not settings.DEBUG:
        raise Http404
    return render(request, "kit.html")
