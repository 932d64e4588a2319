"""The URL of each example, and the list of examples."""

from __future__ import annotations

from functools import cache

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from playground.limits import limit
from playground.models import Scenario
from playground.serving.json_bodies import answers_json
from playground.storage import bundles, store
from scheduler_core.authoring import examples
from scheduler_core.scenario import scenario as core


@cache
def listed() -> list[dict[str, str]]:
    """Return the examples that the workbench can open interactively."""
    return [
        {"slug": example.slug, "title": example.title}
        for example in examples.examples()
        if bundles.interactive_work(_loaded(example.slug)[0]) <= limit("INTERACTIVE_WORK")
    ]


@cache
def _loaded(slug: str) -> tuple[core.Scenario, str]:
    example = examples.find(slug)
    if example is None:
        raise Http404("Example not found.")
    return example.load(), example.read()


def shared(slug: str) -> Scenario:
    """Return the scenario that an example is, stored on first use. Raises Http404."""
    return store.shared_by_nobody(*_loaded(slug))


@answers_json
@require_safe
def listing(_request: HttpRequest) -> HttpResponse:
    """Answer ``{"examples": [{"slug", "title"}…]}`` with those that the workbench can open interactively."""
    return JsonResponse({"examples": listed()}, headers={"Cache-Control": "no-cache"})


@require_safe
def example(request: HttpRequest, slug: str) -> HttpResponse:
    """Redirect to the shared scenario of an example, with the same query; it is stored on first use."""
    query = request.META.get("QUERY_STRING", "")
    return redirect(f"/s/{shared(slug).short}/" + (f"?{query}" if query else ""))
