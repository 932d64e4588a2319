"""The plugins of a profile at each extension point: the defaults, its own entries, and multiPoint.

The rules are those of kube-scheduler's mergePluginSet and frameworkImpl.expandMultiPointPlugins.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.kubernetes.readers import path_text
from scheduler_core.schedulers.v1_22.configuration.plugins import MULTI_POINT, PLUGINS, POINTS
from scheduler_core.schedulers.v1_22.configuration.reader import NamedPlugin, Set, WrittenProfile
from scheduler_core.schedulers.v1_22.configuration.versions import Version

EVERYTHING = "*"
Listed = dict[str, list[NamedPlugin]]


def enabled(profile: WrittenProfile, version: Version) -> Listed:
    """Return the plugins of each extension point, in the order in which they are called.

    A plugin enabled twice at an extension point is reported and left out; one not supported there is
    reported.
    """
    written = profile.sets or {}
    listed = {}
    for point in (*POINTS, MULTI_POINT):
        default = [NamedPlugin(profile.at, name, weight) for name, weight in version.defaults.get(point, ())]
        own = written.get(point, Set(profile.at))
        _check(own, point)
        listed[point] = _merged(default, own, version)
    return {
        point: _expanded(point, listed[point], listed[MULTI_POINT], written.get(point)) for point in POINTS
    }


def _check(own: Set, point: str) -> None:
    """Report plugins that do not support an extension point; unknown plugins are reported elsewhere."""
    for plugin in own.enabled:
        row = PLUGINS.get(plugin.name)
        if row is None or point == MULTI_POINT:
            continue
        if point not in row.points:
            plugin.at.child("name").error(
                f"{plugin.name} has nothing to do at {point}: it works at {', '.join(row.points)}"
            )


def _merged(default: list[NamedPlugin], own: Set, version: Version) -> list[NamedPlugin]:
    """Merge a profile's plugin set of an extension point into the defaults (mergePluginSet)."""
    off = {plugin.name for plugin in own.disabled}
    kept = [] if EVERYTHING in off else [plugin for plugin in default if plugin.name not in off]
    if not version.replaces:
        return _once([*kept, *own.enabled], version, {plugin.name for plugin in kept})
    again = {plugin.name: plugin for plugin in own.enabled}
    names = {plugin.name for plugin in kept}
    replaced = [again.get(plugin.name, plugin) for plugin in kept]
    # of duplicate entries the last one replaces the default; the others are reported
    rest = [plugin for plugin in own.enabled if plugin.name not in names or plugin is not again[plugin.name]]
    return _once([*replaced, *rest], version, set())


def _once(plugins: Iterable[NamedPlugin], version: Version, default: set[str]) -> list[NamedPlugin]:
    """Return the plugins without duplicates, and report every plugin that is enabled a second time."""
    first: dict[str, NamedPlugin] = {}
    for plugin in plugins:
        if plugin.name not in first:
            first[plugin.name] = plugin
        elif plugin.name in default:
            plugin.at.child("name").error(
                f"{plugin.name} is enabled by default, and {version.name} would run it twice: name it under "
                "disabled as well"
            )
        else:
            plugin.at.child("name").error(
                f"{plugin.name} is enabled twice: the first is {path_text(first[plugin.name].at.steps)}"
            )
    return list(first.values())


def _expanded(
    point: str, own: list[NamedPlugin], everywhere: list[NamedPlugin], written: Set | None
) -> list[NamedPlugin]:
    """Add multiPoint's plugins to an extension point (expandMultiPointPlugins).

    The order is: the point's plugins that multiPoint names too, multiPoint's others, the point's others.
    """
    off = {plugin.name for plugin in written.disabled} if written is not None else set()
    if EVERYTHING in off:
        return own
    here = {plugin.name for plugin in own}
    spread = [
        plugin for plugin in everywhere if plugin.name in PLUGINS and point in PLUGINS[plugin.name].points
    ]
    overriding = {plugin.name for plugin in spread} & here
    added = [plugin for plugin in spread if plugin.name not in here and plugin.name not in off]
    return [
        *(plugin for plugin in own if plugin.name in overriding),
        *added,
        *(plugin for plugin in own if plugin.name not in overriding),
    ]
