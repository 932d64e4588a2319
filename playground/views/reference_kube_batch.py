"""The reference page of kube-batch, rendered from the tables that the engine uses."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.reference import kube_batch_texts as texts
from scheduler_core.schedulers.kube_batch.actions import ACTIONS
from scheduler_core.schedulers.kube_batch.configuration import (
    ARGUMENTS,
    DEFAULT_CONFIGURATION,
    parse_configuration,
)
from scheduler_core.schedulers.kube_batch.plugin import Registration
from scheduler_core.schedulers.kube_batch.plugins import PLUGINS
from scheduler_core.schedulers.kube_batch.plugins.nodeorder import WEIGHTS
from scheduler_core.schedulers.kube_batch.resources import (
    CPU_EPSILON,
    MEMORY_EPSILON,
    SCALAR_EPSILON,
    SCALAR_UNIT,
)
from scheduler_core.schedulers.kube_batch.scheduler import PERIOD
from scheduler_core.schedulers.kube_batch.session import Session
from scheduler_core.schedulers.kube_batch.snapshot import ServerOption, WatchedObjects, take_snapshot


@cache
def registrations() -> dict[str, Registration]:
    """Return what each plugin registers with a session, here one without objects."""
    configuration = parse_configuration(None)
    session = Session(take_snapshot(WatchedObjects.of([]), ServerOption()), configuration.tiers)
    return {name: opens(session, {}) for name, opens in PLUGINS.items()}


def plugins() -> list[dict[str, Any]]:
    """Return the plugins with what they register and their arguments: ``{name, text, points, arguments}``."""
    usual = {option.name for tier in parse_configuration(None).tiers for option in tier.plugins}
    return [
        {
            "name": name,
            "text": texts.PLUGINS[name],
            "points": [
                text for part, text in texts.POINTS.items() if getattr(registration, part) is not None
            ],
            "arguments": [(one, texts.ARGUMENTS[one], _default(one)) for one in ARGUMENTS.get(name, ())],
            "usual": name in usual,
        }
        for name, registration in registrations().items()
    ]


def _default(argument: str) -> str:
    name, _, what = argument.partition(".")
    return str(WEIGHTS[name]) if what == "weight" else "false"


def actions() -> list[dict[str, Any]]:
    """Return the actions: ``{name, texts, usual}``."""
    usual = parse_configuration(None).actions
    return [{"name": name, "texts": texts.ACTIONS[name], "usual": name in usual} for name in ACTIONS]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Render ``reference_kube_batch.html``; every action and every plugin has its name as anchor."""
    context = {
        "section": "reference",
        "page": "kube-batch",
        "actions": actions(),
        "plugins": plugins(),
        "aggregates": texts.AGGREGATES,
        "statuses": texts.STATUSES,
        "default": DEFAULT_CONFIGURATION,
        "period": f"{PERIOD:g}",
        "tolerance": [
            ("cpu", f"{CPU_EPSILON:g}m"),
            ("memory", f"{MEMORY_EPSILON / 2**20:g}Mi"),
            ("others", f"{SCALAR_EPSILON / SCALAR_UNIT:g}"),
        ],
    }
    return render(request, "reference_kube_batch.html", context)
