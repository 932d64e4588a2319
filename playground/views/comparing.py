"""The page of a comparison: ``/compare/?left=…&right=…``, with the query of the API."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from playground.comparisons import asking, comparing
from playground.playback.stopping import TooMuchWorkError
from playground.pool.process import LostError
from playground.pool.shares import BusyError
from playground.storage import bundles
from playground.views.workbench import _visitor
from playground.visitors.throttle import throttled
from scheduler_core.objects.problems import BundleError

FIGURES = (
    ("placed", "placed"),
    ("pending", "pending"),
    ("cycles", "cycles"),
    ("cycles without a node", "failedCycles"),
    ("evaluations of predicates", "evaluations"),
    ("preemptions", "preemptions"),
    ("victims", "victims"),
    ("nodes used", "nodesUsed"),
    ("deviation of the nodes' cpu", "cpuDeviation"),
)
#: What keeps two sources from being compared, with the status of its page; the first that fits counts.
STATUSES: dict[type[Exception], int] = {
    asking.AskedError: 400,
    comparing.UnfinishedError: 409,
    BundleError: 422,
    bundles.OutgrownError: 422,
    TooMuchWorkError: 422,
    bundles.TooLargeError: 413,
    LostError: 503,
    BusyError: 503,
}
REFUSALS = tuple(STATUSES)
PATHS = {"scenario": "s", "run": "runs", "link": "l", "draft": "p"}


@require_safe
@never_cache
@throttled("API_READS_PER_MINUTE")
def page(request: HttpRequest) -> HttpResponse:
    """Render ``compare.html``; the visitor's own drafts are compared as well.

    Context: ``section`` "compare"; ``asked`` {left, right}; ``error`` (text or ""); ``sides`` [{title, url,
    scheduler}]; ``first`` (Parting of docs/protocol.md, or None); ``placements``, ``differing`` and ``more``;
    ``figures`` [(name, left, right)]; ``configuration`` (texts).
    """
    asked = {name: request.GET.get(name, "")[:60] for name in ("left", "right")}
    context: dict[str, Any] = {"section": "compare", "asked": asked, "error": ""}
    status = 200
    if any(asked.values()):
        try:
            context |= _shown(json.loads(asking.answered(request.GET.dict(), _visitor(request))))
        except REFUSALS as error:
            context["error"], status = str(error), _status(error)
    response = render(request, "compare.html", context, status=status)
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _status(error: Exception) -> int:
    if isinstance(error, asking.AskedError) and not error.path:
        return 404
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def _shown(found: dict[str, Any]) -> dict[str, Any]:
    metrics = found["metrics"]
    figures = [
        (name, metrics["left"].get(key), metrics["right"].get(key))
        for name, key in FIGURES
        if key in metrics["left"] or key in metrics["right"]
    ]
    for words, key in (("requested", "utilisation"), ("requested, mean of cycles", "meanUtilisation")):
        left, right = (metrics[side].get(key, {}) for side in ("left", "right"))
        figures += [
            (f"{name} {words}", f"{left.get(name, 0):.1%}", f"{right.get(name, 0):.1%}")
            for name in dict.fromkeys([*left, *right])
        ]
    return {
        "sides": [_side(found[name]) for name in ("left", "right")],
        "first": found["first"],
        "placements": found["placements"],
        "differing": found["differing"],
        "more": found["differing"] - len(found["placements"]),
        "figures": figures,
        "configuration": found["configuration"],
    }


def _side(side: dict[str, Any]) -> dict[str, Any]:
    kind, name = next((kind, name) for kind, name in side["source"].items() if kind in PATHS)
    return {"title": side["title"], "url": f"/{PATHS[kind]}/{name}/", "scheduler": side["scheduler"]}
