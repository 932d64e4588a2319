"""Reference pages, rendered from the tables that the engine runs on."""

from __future__ import annotations

import inspect
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.views import rule_texts
from scheduler_core.policy.order import PROPOSAL, UNREGISTERED, V1_11_ORDER
from scheduler_core.policy.providers import DEFAULT_PREDICATES, DEFAULT_PRIORITIES, MANDATORY_PREDICATES
from scheduler_core.predicates import PREDICATES
from scheduler_core.priorities import PRIORITIES
from scheduler_core.priorities.base import Mapped
from scheduler_core.quirks import QUIRKS


def _purpose(rule: object) -> str:
    """Return the first sentence that the rule's own code says about itself, where the page has none."""
    text = inspect.cleandoc(type(rule).__doc__ or "")
    return " ".join(text.split("\n\n", 1)[0].split())


def _predicates() -> list[dict[str, Any]]:
    proposal = {key: row.name for row in PROPOSAL for key in row.keys}
    return [
        {
            "place": place,
            "key": key,
            "text": rule_texts.PREDICATES.get(key)
            or (_purpose(PREDICATES[key]) if key in PREDICATES else ""),
            "default": key in DEFAULT_PREDICATES,
            "mandatory": key in MANDATORY_PREDICATES,
            "registered": key not in UNREGISTERED,
            "proposal": proposal.get(key, ""),
            "quirks": [quirk for quirk in QUIRKS if quirk.where == key],
        }
        for place, key in enumerate(V1_11_ORDER, 1)
    ]


def _priorities() -> list[dict[str, Any]]:
    weights = dict(DEFAULT_PRIORITIES)
    return [
        {
            "name": name,
            "text": rule_texts.PRIORITIES.get(name)
            or _purpose(rule.steps if isinstance(rule, Mapped) else rule),
            "weight": weights.get(name),
            "mapped": isinstance(rule, Mapped),
            "quirks": [quirk for quirk in QUIRKS if quirk.where == name],
        }
        for name, rule in PRIORITIES.items()
    ]


@require_safe
def predicates(request: HttpRequest) -> HttpResponse:
    """Render ``reference.html``.

    Context: ``section`` "reference"; ``predicates`` (in v1.11's static order: {place, key, text,
    default, mandatory, registered, proposal (its name there), quirks}); ``proposal_order`` (names);
    ``priorities`` ({name, text, weight or None, mapped, quirks}); ``quirks`` (all: {id, where, does,
    should, issue}).
    """
    context = {
        "section": "reference",
        "predicates": _predicates(),
        "proposal_order": [row.name for row in PROPOSAL],
        "priorities": _priorities(),
        "quirks": QUIRKS,
    }
    return render(request, "reference.html", context)
