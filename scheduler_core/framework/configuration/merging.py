"""What a profile enables at each extension point: the defaults, what it says itself, and multiPoint.

The rules are those of kube-scheduler's mergePluginSet and frameworkImpl.expandMultiPointPlugins.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.framework.configuration.plugins import MULTI_POINT, PLUGINS, POINTS
from scheduler_core.framework.configuration.reading import NamedPlugin, Set, WrittenProfile
from scheduler_core.framework.configuration.versions import Version
from scheduler_core.objects.reading import At, path_text

EVERYTHING = "*"
Listed = dict[str, list[NamedPlugin]]


def enabled(profile: WrittenProfile, version: Version) -> Listed:
    """Return the plugins of each extension point, in the order in which they are called.

    A plugin that stands at a point twice, or does not work there, is reported and left out.
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
    """Report what cannot work at a point; a plugin that does not exist is reported elsewhere."""
    for plugin in own.enabled:
        row = PLUGINS.get(plugin.name)
        if row is None or point == MULTI_POINT:
            continue
        if point not in row.points:
            plugin.at.child("name").error(
                f"{plugin.name} has nothing to do at {point}: it works at {', '.join(row.points)}"
            )


def _merged(default: list[NamedPlugin], own: Set, version: Version) -> list[NamedPlugin]:
    """Merge what a profile says of a point into the defaults (mergePluginSet)."""
    off = {plugin.name for plugin in own.disabled}
    kept = [] if EVERYTHING in off else [plugin for plugin in default if plugin.name not in off]
    if not version.replaces:
        return _once([*kept, *own.enabled], version, {plugin.name for plugin in kept})
    again = {plugin.name: plugin for plugin in own.enabled}
    names = {plugin.name for plugin in kept}
    replaced = [again.get(plugin.name, plugin) for plugin in kept]
    # of a plugin named twice the last one replaces the default; the others are one too many
    rest = [plugin for plugin in own.enabled if plugin.name not in names or plugin is not again[plugin.name]]
    return _once([*replaced, *rest], version, set())


def _once(plugins: Iterable[NamedPlugin], version: Version, default: set[str]) -> list[NamedPlugin]:
    """Report every plugin that is enabled a second time."""
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
                f"{plugin.name} is enabled twice: the first is {_path(first[plugin.name].at)}"
            )
    return list(first.values())


def _path(at: At) -> str:
    return path_text(at.steps)


def _expanded(
    point: str, own: list[NamedPlugin], everywhere: list[NamedPlugin], written: Set | None
) -> list[NamedPlugin]:
    """Add multiPoint's plugins to a point (expandMultiPointPlugins).

    First come plugins of the point that multiPoint names too, then multiPoint's, then the point's own.
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
