"""Checks for combinations of plugins that cannot work, each reported with the reason and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scheduler_core.kubernetes.names import did_you_mean, nearest
from scheduler_core.kubernetes.readers import At, show
from scheduler_core.schedulers.v1_22.configuration.plugin_merge import EVERYTHING, Listed
from scheduler_core.schedulers.v1_22.configuration.plugins import (
    COSCHEDULING,
    MULTI_POINT,
    PLUGINS,
    POINTS,
    SCORES_ALONE,
)
from scheduler_core.schedulers.v1_22.configuration.reader import NamedPlugin, WrittenProfile
from scheduler_core.schedulers.v1_22.configuration.versions import Version, has_plugin

COSCHEDULING_NEEDS = {
    "queueSort": "so that members of a group are scheduled one after another",
    "permit": "where a group's pods wait for each other",
    "reserve": "so that rejecting one member rejects the others",
}
"""The extension points without which Coscheduling does not work, with the reasons."""


def check_names(profile: WrittenProfile, version: Version) -> None:
    """Report plugins that do not exist, or not in this version, and scoring plugins with weight 0."""
    for point, of in (profile.sets or {}).items():
        for plugin in of.enabled:
            if _exists(plugin.name, plugin.at.child("name"), version):
                _check_weight(plugin, point)
        for plugin in of.disabled:
            if plugin.name != EVERYTHING and plugin.name not in PLUGINS:
                hint = did_you_mean(plugin.name, PLUGINS) or ": nothing is disabled by it"
                plugin.at.child("name").warn(f"there is no plugin {show(plugin.name)}{hint}")


def _exists(name: str, at: At, version: Version) -> bool:
    if name == EVERYTHING:
        at.error("'*' means all plugins under disabled only: list the plugins to run under enabled")
    elif name not in PLUGINS:
        known = [row for row in PLUGINS if has_plugin(version, row)]
        hint = did_you_mean(name, known) or f": known are {', '.join(sorted(known))}"
        at.error(f"unknown plugin {show(name)}{hint}")
    elif not has_plugin(version, name):
        row = PLUGINS[name]
        at.error(f"{name} was removed after {row.until}; in {version.name} use {row.instead}")
    else:
        return True
    return False


def _check_weight(plugin: NamedPlugin, point: str) -> None:
    if plugin.weight is None:
        return
    scores = "score" in PLUGINS[plugin.name].points and point in ("score", MULTI_POINT)
    if scores and plugin.weight == 0:
        plugin.at.child("weight").error(
            "must be at least 1: kube-scheduler takes 0 for 1; to disable scoring, list the plugin under "
            "score's disabled"
        )
    elif not scores and plugin.weight:
        plugin.at.child("weight").warn(f"has no effect: {plugin.name} does not score at {point}")


def check_combination(profile: WrittenProfile, listed: Listed, version: Version) -> None:
    """Report what is missing or redundant among the plugins of one profile."""
    for check in CHECKS:
        check(profile, listed, version)


def _place(profile: WrittenProfile, point: str) -> At:
    """Return the place where a profile configures an extension point, else that of the profile."""
    written = (profile.sets or {}).get(point)
    return written.at if written is not None else profile.at


def _check_queue_sort(profile: WrittenProfile, listed: Listed, version: Version) -> None:
    del version
    sorting = listed["queueSort"]
    names = [plugin.name for plugin in sorting]
    if len(names) > 1:
        surplus = next((plugin for plugin in reversed(sorting) if plugin.at is not profile.at), sorting[-1])
        others = [name for name in names if name != surplus.name]
        surplus.at.error(
            f"{' and '.join(names)} would both sort the queue, which one plugin alone can: to sort by "
            f"{surplus.name}, write queueSort: {{enabled: [{{name: {surplus.name}}}], disabled: [{{name: "
            f"{others[0] if len(others) == 1 else repr(EVERYTHING)}}}]}}"
        )
    elif not names:
        _place(profile, "queueSort").error(
            "nothing sorts the queue: enable PrioritySort or another plugin that works at queueSort"
        )


def _check_bind(profile: WrittenProfile, listed: Listed, version: Version) -> None:
    del version
    if not listed["bind"]:
        _place(profile, "bind").error("at least one bind plugin is needed: enable DefaultBinder")


def _check_coscheduling(profile: WrittenProfile, listed: Listed, version: Version) -> None:
    del profile
    at = next((p.at for point in POINTS for p in listed[point] if p.name == COSCHEDULING), None)
    if at is None:
        return
    lacking = [
        point for point in COSCHEDULING_NEEDS if all(plugin.name != COSCHEDULING for plugin in listed[point])
    ]
    if not lacking:
        return
    why = "; ".join(f"{point}, {COSCHEDULING_NEEDS[point]}" for point in lacking)
    short = MULTI_POINT in version.points and "multiPoint, and at queueSort in place of PrioritySort"
    at.error(
        f"Coscheduling is not enabled at {why}: enable it at "
        f"{short or 'queueSort (in place of PrioritySort), permit and reserve'}"
    )


def _check_double_scoring(profile: WrittenProfile, listed: Listed, version: Version) -> None:
    del profile
    names = {plugin.name: plugin for plugin in listed["score"]}
    if version.name != "v1beta1" or "NodeResourcesFit" not in names:
        return
    for name in SCORES_ALONE:
        if name in names:
            names["NodeResourcesFit"].at.error(
                f"NodeResourcesFit and {name} both score by resources: keep one of them, and name the other "
                "under score's disabled"
            )


def _check_needs(profile: WrittenProfile, listed: Listed, version: Version) -> None:
    del version
    for row in PLUGINS.values():
        for point, before in row.needs:
            there, first = (any(p.name == row.name for p in listed[of]) for of in (point, before))
            if there and not first:
                _place(profile, before).warn(
                    f"{row.name} is enabled at {point} and not at {before}, where kube-scheduler prepares "
                    "it: there every pod would fail with an error; here it is evaluated all the same"
                )


CHECKS: Sequence[Callable[[WrittenProfile, Listed, Version], None]] = (
    _check_queue_sort,
    _check_bind,
    _check_coscheduling,
    _check_double_scoring,
    _check_needs,
)


def check_common_queue_sort(
    profiles: Sequence[tuple[WrittenProfile, Listed, Mapping[str, object]]],
) -> None:
    """Report profiles that would sort the shared queue differently from the first profile."""
    (_, first, given), *others = profiles
    names = [plugin.name for plugin in first["queueSort"]]
    for profile, listed, arguments in others:
        own = [plugin.name for plugin in listed["queueSort"]]
        if own != names:
            _place(profile, "queueSort").error(
                f"all profiles share one queue: {', '.join(own) or 'nothing'} sorts it here and "
                f"{', '.join(names) or 'nothing'} in the first profile; write the same queueSort in both"
            )
        elif any(arguments.get(name) != given.get(name) for name in names):
            profile.at.child("pluginConfig").error(
                f"all profiles share one queue: {names[0]} sorts it and has other arguments here than in the "
                "first profile; write the same in both"
            )


def check_configs(profile: WrittenProfile, listed: Listed, version: Version) -> None:
    """Report arguments for plugins that do not exist or are not enabled, and duplicate arguments."""
    running = {plugin.name for plugins in listed.values() for plugin in plugins}
    first: dict[str, int] = {}
    for number, config in enumerate(profile.configs):
        name = config.at.child("name")
        if config.name in first:
            name.error(
                f"{config.name} has arguments already, in pluginConfig[{first[config.name]}]: write them "
                "all in one place"
            )
        elif _exists(config.name, name, version) and config.name not in running:
            name.warn(f"{config.name} is not enabled: its arguments have no effect")
        first.setdefault(config.name, number)


def check_kind(name: str, config_args: Mapping[str, object], at: At, version: Version) -> bool:
    """Return whether the kind and apiVersion of arguments, both optional, match the plugin."""
    kind, given = config_args.get("kind"), config_args.get("apiVersion")
    wanted = f"{name}Args"
    right = True
    if kind not in (None, wanted):
        suggestion = nearest(str(kind), [wanted])
        other = " that kind is another plugin's:" if not suggestion and str(kind)[:-4] in PLUGINS else ""
        at.child("kind").error(
            f"the arguments of {name} are of the kind {wanted}, not {show(kind)};{other} write {wanted} or "
            "leave it out"
        )
        right = False
    if given not in (None, version.api_version) and name != COSCHEDULING:
        at.child("apiVersion").error(
            f"must be that of the document, {version.api_version}, not {show(given)}, or be left out"
        )
        right = False
    return right
