"""The rows of the descheduler's reference page, from the tables that the engine runs on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.cluster.descheduler.protections import (
    DEFAULT_PROTECTIONS,
    EVICTOR_ARGS,
    EXTRA_PROTECTIONS,
    SWITCHES,
)
from scheduler_core.cluster.descheduler.strategy import Strategy
from scheduler_core.cluster.descheduler.table import CLASSIC_STRATEGIES, PLUGINS
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.readers import Reader, outline_of
from scheduler_core.settings.descheduler import DeschedulerSettings, read_descheduler

PROTECTIONS: Mapping[str, str] = {
    "PodsWithLocalStorage": "pods with a hostPath or emptyDir volume",
    "SystemCriticalPods": "priority from 2,000,000,000, or from priorityThreshold",
    "FailedBarePods": "pods without an owner; when off, those without an owner may go if they have failed",
    "DaemonSetPods": "pods of a DaemonSet",
    "PodsWithPVC": "pods with a claim, of the storage classes in its config if there are any",
    "PodsWithoutPDB": "pods that no PodDisruptionBudget selects",
    "PodsWithResourceClaims": "pods with resourceClaims",
}


def strategies() -> list[dict[str, Any]]:
    """Return the plugins: ``{name, point, words, classic, arguments: (name, type, default)}``."""
    return [_row(one) for one in PLUGINS.values()]


def _row(one: Strategy) -> dict[str, Any]:
    return {
        "name": one.name,
        "point": one.point,
        "words": one.words,
        "classic": one.name in CLASSIC_STRATEGIES,
        "arguments": list(arguments(one.args, one.defaults)),
    }


def classic() -> list[tuple[str, str]]:
    """Return the strategies of v0.9.0 in the order in which they run, with what they evict."""
    return [(name, one.words) for name, one in CLASSIC_STRATEGIES.items()]


def arguments(read: Reader, defaults: Mapping[str, Any] = {}) -> Iterator[tuple[str, str, str]]:
    """Yield the arguments that a reader takes, each with its type and its default, "" without one."""
    outline = outline_of(read)
    for name, one in outline.fields.items() if outline is not None else ():
        found = outline_of(one.read)
        yield name, found.word if found is not None else "", _written(defaults.get(name))


def _written(default: Any) -> str:
    value = plain(default)
    if value is None or value == [] or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def evictor() -> list[tuple[str, str, str]]:
    """Return DefaultEvictor's arguments but for the deprecated switches."""
    return [one for one in arguments(EVICTOR_ARGS) if one[0] not in SWITCHES]


def protections() -> list[dict[str, Any]]:
    """Return the protections: ``{name, text, usual, switch}``, those on by default first."""
    switches = {protection: switch for switch, protection in SWITCHES.items()}
    return [
        {
            "name": name,
            "text": PROTECTIONS[name],
            "usual": name in DEFAULT_PROTECTIONS,
            "switch": switches.get(name, ""),
        }
        for name in (*DEFAULT_PROTECTIONS, *EXTRA_PROTECTIONS)
    ]


def settings() -> list[tuple[str, str, str]]:
    """Return the fields of ``SimulationSettings.descheduler``."""
    usual = DeschedulerSettings()
    defaults = {"interval": f"{usual.interval:g}s", "passes": usual.passes, "dryRun": usual.dry_run}
    return list(arguments(read_descheduler, defaults))
