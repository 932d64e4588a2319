"""What each plugin waits for: the events that it registered (EventsToRegister), and the change in words."""

from __future__ import annotations

from typing import Any

from scheduler_core.schedulers.v1_37.interface import ClusterEvent, ClusterEventWithHint
from scheduler_core.schedulers.v1_37.plugins.table import declared
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration

_Key = tuple[str, str, str]


def registered(configuration: CompiledConfiguration, plugin: str) -> tuple[ClusterEventWithHint, ...]:
    """Return the events that a plugin registered; one without any never rejects a pod."""
    rows = declared(plugin, configuration.dialect).registrations
    return tuple(row for row in rows if not row.gate or configuration.gate(row.gate))


class Registrations:
    """The registrations of all plugins of a release, by event."""

    def __init__(self, configuration: CompiledConfiguration) -> None:
        self._configuration = configuration
        self._rows = {name: registered(configuration, name) for name in configuration.dialect.rows}
        self._found: dict[_Key, ClusterEventWithHint | None] = {}
        self._plugins: dict[tuple[str, str], frozenset[str]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as an empty one."""
        return Registrations, (self._configuration,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Registrations:
        """Share what follows from the configuration alone."""
        del memo
        return self

    def find(self, plugin: str, event: ClusterEvent) -> ClusterEventWithHint | None:
        """Return the plugin's registration that the event matches (framework.MatchClusterEvents)."""
        key = plugin, event.resource, event.action
        if key not in self._found:
            self._found[key] = self._find(*key)
        return self._found[key]

    def _find(self, plugin: str, resource: str, action: str) -> ClusterEventWithHint | None:
        rows = self._rows.get(plugin, ())
        return next((row for row in rows if row.resource == resource and _acts(row.actions, action)), None)

    def plugins_for(self, event: ClusterEvent) -> frozenset[str]:
        """Return the plugins that registered an event."""
        key = event.resource, event.action
        if key not in self._plugins:
            self._plugins[key] = frozenset(name for name in self._rows if self._find(name, *key))
        return self._plugins[key]


def _acts(actions: frozenset[str], action: str) -> bool:
    """Return whether an action is among those registered; the general Update receives every specific one."""
    return action in actions or (action.startswith("Update") and "Update" in actions)


def events_of(configuration: CompiledConfiguration, plugin: str) -> tuple[str, ...]:
    """Return the names of the cluster events that a plugin registered, in order."""
    own = configuration.dialect.own_events
    named = (
        (own if row.resource == "TargetPod" else row.resource, row)
        for row in registered(configuration, plugin)
    )
    return tuple(resource + action for resource, row in named for action in sorted(row.actions))


def wakes(configuration: CompiledConfiguration, plugin: str, pod: CompiledPod) -> str:
    """Return what the pod waits for if the plugin rejected it, as a clause after "until"."""
    if not registered(configuration, plugin):
        return "time moves it: the plugin registered no event"
    until = declared(plugin, configuration.dialect).until
    return until if isinstance(until, str) else until(pod)
