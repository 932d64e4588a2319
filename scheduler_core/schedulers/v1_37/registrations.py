"""What each plugin waits for: the events that it registered (EventsToRegister), and the change in words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from scheduler_core.schedulers.v1_37.interface import ClusterEvent, ClusterEventWithHint
from scheduler_core.schedulers.v1_37.plugins.table import ROWS, declared
from scheduler_core.schedulers.v1_37.pods import CompiledPod

REGISTRATIONS: Mapping[str, tuple[ClusterEventWithHint, ...]] = {
    row.key: row.registrations for row in ROWS.values() if row.registrations
}
"""By plugin. One that is missing never rejects a pod."""


def registration_for(plugin: str, event: ClusterEvent) -> ClusterEventWithHint | None:
    """Return the plugin's registration that the event matches (framework.MatchClusterEvents)."""
    return _registration(plugin, event.resource, event.action)


@cache
def _registration(plugin: str, resource: str, action: str) -> ClusterEventWithHint | None:
    for row in REGISTRATIONS.get(plugin, ()):
        if row.resource == resource and _acts(row.actions, action):
            return row
    return None


@cache
def plugins_for(resource: str, action: str) -> frozenset[str]:
    """Return the plugins that registered an event."""
    return frozenset(plugin for plugin in REGISTRATIONS if _registration(plugin, resource, action))


def _acts(registered: frozenset[str], action: str) -> bool:
    """Return whether an action is among those registered; the general Update receives every specific one."""
    return action in registered or (action.startswith("Update") and "Update" in registered)


@cache
def events_of(plugin: str) -> tuple[str, ...]:
    """Return the names of the cluster events that a plugin registered, in order."""
    rows = REGISTRATIONS.get(plugin, ())
    return tuple(row.resource + action for row in rows for action in sorted(row.actions))


def wakes(plugin: str, pod: CompiledPod) -> str:
    """Return what the pod waits for if the plugin rejected it, as a clause after "until"."""
    if plugin not in REGISTRATIONS:
        return "time moves it: the plugin registered no event"
    until = declared(plugin).until
    return until if isinstance(until, str) else until(pod)
