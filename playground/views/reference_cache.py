"""The reference page of the equivalence cache, rendered from the table that the engine uses."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.reference import cache_texts
from scheduler_core.schedulers.quirks import Upstream
from scheduler_core.schedulers.v1_11.equivalence.batches import MAX_AGE
from scheduler_core.schedulers.v1_11.equivalence.cache import MAX_BYTES, MAX_CLASSES
from scheduler_core.schedulers.v1_11.equivalence.classes import fields_of
from scheduler_core.schedulers.v1_11.equivalence.row import MODES, InvalidationRow
from scheduler_core.schedulers.v1_11.equivalence.rules import TABLE
from scheduler_core.settings.settings import CACHE_MODES

SECTION = re.compile(r"^3\.\d")  # a section of the proposal, whose chapter 3 is the table in prose
ISSUE = re.compile(r"(#\d+)")


def lacking(row: InvalidationRow) -> bool:
    """Return whether the proposal has no counterpart of this row."""
    return "designed" not in row.scopes and not SECTION.match(row.source)


def _sources(text: str) -> list[tuple[str, Upstream | None]]:
    """Split a row's source into parts, each with the upstream issue that it names, if any."""
    known = {f"#{upstream.number}": upstream for upstream in cache_texts.UPSTREAM}
    expanded = SECTION.sub(lambda section: f"proposal {section[0]}", text)
    return [(part, known.get(part)) for part in ISSUE.split(expanded) if part]


def _row(row: InvalidationRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "resource": row.resource,
        "operations": row.operations,
        "condition": row.condition.text,
        "predicates": row.predicates,
        "narrowed": row.narrow is not None,
        "scopes": [(mode, row.scopes[mode].value if mode in row.scopes else "") for mode in MODES],
        "modes": " ".join(row.modes),
        "lacking": lacking(row),
        "variant": "designed" not in row.scopes and not lacking(row),
        "sources": _sources(row.source),
        "why": row.why,
    }


@cache
def resources() -> tuple[dict[str, Any], ...]:
    """Return the table by resource, in the engine's order: ``{name, rows}``."""
    names = dict.fromkeys(row.resource for row in TABLE)
    return tuple(
        {"name": name, "rows": [_row(row) for row in TABLE if row.resource == name]} for name in names
    )


def definitions() -> list[dict[str, Any]]:
    """Return both definitions of a class, each with its fields in the order of reported differences."""
    return [
        {
            "name": name,
            "text": text,
            "origin": origin,
            "fields": [(f, cache_texts.FIELDS[f]) for f in fields_of(name)],
        }
        for name, (text, origin) in cache_texts.DEFINITIONS.items()
    ]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Render ``reference_cache.html``; every row of the table has its id as anchor."""
    remedies = {upstream.number: upstream for upstream in cache_texts.UPSTREAM}
    context = {
        "section": "reference",
        "page": "cache",
        "resources": resources(),
        "rows": len(TABLE),
        "lacking": sum(lacking(row) for row in TABLE),
        "modes": [
            (
                mode,
                cache_texts.MODES[mode],
                sum(mode in row.scopes for row in TABLE) if mode in MODES else None,
            )
            for mode in CACHE_MODES
        ],
        "definitions": definitions(),
        "levels": cache_texts.LEVELS,
        "lookup": cache_texts.LOOKUP,
        "bypasses": cache_texts.BYPASSES,
        "bounds": {"classes": f"{MAX_CLASSES:,}", "size": f"{MAX_BYTES // 2**20}Mi"},
        "remedies": [(*row, remedies[number]) for *row, number in cache_texts.REMEDIES],
        "batching": cache_texts.BATCHING,
        "age": MAX_AGE,
        "upstream": cache_texts.UPSTREAM,
        "kep": cache_texts.KEP,
    }
    return render(request, "reference_cache.html", context)
