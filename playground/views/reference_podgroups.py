"""The reference page of PodGroups, rendered from the tables that the engine uses."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.panels.happenings import EVENTS
from playground.panels.phases import POST_BIND, final_of, phases_of
from playground.reference import podgroup_texts
from scheduler_core.schedulers.coscheduling.controller import OLD_WARNING, PHASE_TABLES
from scheduler_core.schedulers.coscheduling.editions import CLASSIC, CURRENT, EDITIONS
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS
from scheduler_core.schedulers.v1_22.events import PLUGIN_EVENTS, WILDCARDS
from scheduler_core.schedulers.v1_22.releases import RELEASES


def editions() -> list[dict[str, Any]]:
    """Return both editions: their differences, and their phases with the rules in the controller's order."""
    return [
        {
            **podgroup_texts.differences(edition),
            "versions": versions(edition.id),
            "phases": [phase or "(new)" for phase in phases_of(edition.id)],
            "final": final_of(edition.id),
            "rules": rules(edition.id),
            "warning": OLD_WARNING if PHASE_TABLES[edition.id].old_warning else "",
        }
        for edition in (CLASSIC, CURRENT)
    ]


def rules(edition: str) -> list[dict[str, Any]]:
    """Return the controller's rules, then PostBind's, in their order: ``{id, phase, text, to, notes}``."""
    table = PHASE_TABLES[edition]
    rows = [(phase or "(new)", rule) for phase, found in table.entry.items() for rule in found]
    rows += [("any other", rule) for rule in table.others]
    made = [
        {
            "id": f"{edition}-{rule.id}",
            "phase": phase,
            "text": rule.text,
            "to": rule.phase,
            "notes": [
                *(["the sync stops here"] if rule.stop else []),
                *([OWNERS] if rule.owners else []),
            ],
        }
        for phase, rule in rows
    ]
    if EDITIONS[edition].post_bind:
        made += [
            {"id": f"{edition}-post-bind-{to.lower()}", "phase": start, "text": text, "to": to, "notes": []}
            for start, to, text in POST_BIND
        ]
    return made


OWNERS = "occupiedBy becomes the first member’s owners"


@cache
def events() -> tuple[dict[str, Any], ...]:
    """Return the events that requeue unschedulable pods, each with the plugins that registered for it."""
    known = {**PLUGIN_EVENTS, Coscheduling.name: Coscheduling.events}
    names = [name for name in EVENTS if any(name in helped for helped in known.values()) or name in WILDCARDS]
    return tuple(
        {
            "name": name,
            "text": EVENTS[name],
            "plugins": [plugin for plugin, helped in known.items() if name in helped],
            "all": name in WILDCARDS,
        }
        for name in names
    )


def flushes() -> list[tuple[str, str, str]]:
    """Return the flush interval of the unschedulable queue of each release, as rows of the timers table."""
    return [
        (
            f"unschedulable, Kubernetes {release.name}",
            f"{release.unschedulable_stay:g}s",
            podgroup_texts.FLUSH,
        )
        for release in RELEASES.values()
    ]


def versions(edition: str) -> list[str]:
    """Return the versions of KubeSchedulerConfiguration that run an edition."""
    return [version.name for version in VERSIONS.values() if version.edition.id == edition]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Render ``reference_podgroups.html``; every rule and every event has its id as anchor."""
    context = {
        "section": "reference",
        "page": "podgroups",
        "editions": editions(),
        "fields": podgroup_texts.PODGROUP,
        "points": podgroup_texts.POINTS,
        "timers": [*podgroup_texts.TIMERS, *flushes()],
        "events": events(),
    }
    return render(request, "reference_podgroups.html", context)
