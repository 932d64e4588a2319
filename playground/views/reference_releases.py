"""The reference page of what changed between releases, rendered from what their modules declare."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from scheduler_core.schedulers.v1_37.releases import DIALECTS
from scheduler_core.settings.release import DEFAULT_RELEASE


def releases() -> list[dict[str, Any]]:
    """Return a row per release that differs from another one, the newest first, with its differences."""
    return [
        {
            "name": dialect.name,
            "base": dialect.base,
            "unproven": dialect.unproven,
            "lacks": dialect.lacks,
            "differences": [
                {
                    "subject": one.subject,
                    "here": one.here,
                    "there": one.there,
                    "source": dialect.source_of(one),
                    "path": one.source,
                    "file": one.source.rpartition("/")[2],
                    "proof": one.proof,
                }
                for one in dialect.differences
            ],
        }
        for dialect in reversed(list(DIALECTS.values()))
        if dialect.differences
    ]


def gates() -> list[dict[str, Any]]:
    """Return a row per feature gate whose default differs, with what it is in each release, oldest first."""
    names = dict.fromkeys(name for dialect in DIALECTS.values() for name in sorted(dialect.gates))
    rows = [
        {"name": name, "defaults": [_WORDS[dialect.gates.get(name)] for dialect in DIALECTS.values()]}
        for name in sorted(names)
    ]
    return [row for row in rows if len(set(row["defaults"])) > 1]


_WORDS = {True: "on", False: "off", None: "–"}


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Render the page; context: ``releases``, ``gates``, ``names`` of all, and the ``default`` one."""
    context = {
        "section": "reference",
        "page": "releases",
        "releases": releases(),
        "gates": gates(),
        "names": list(DIALECTS),
        "default": DEFAULT_RELEASE,
    }
    return render(request, "reference_releases.html", context)
