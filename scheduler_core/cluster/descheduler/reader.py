"""Reading a DeschedulerPolicy: of which edition it is, and its fields by the tables of the strategies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.descheduler.arguments import COUNT, TEXTS, InvalidArguments
from scheduler_core.cluster.descheduler.classic.params import STRATEGY_FIELDS
from scheduler_core.cluster.descheduler.eviction import EvictionLimits
from scheduler_core.cluster.descheduler.policy import (
    POINTS,
    V1ALPHA1,
    V1ALPHA2,
    ClassicStrategy,
    DeschedulerProfile,
    PluginConfig,
    Policy,
    PolicyRefusedError,
)
from scheduler_core.cluster.descheduler.protections import DEFAULT_EVICTOR, EVICTOR_ARGS
from scheduler_core.cluster.descheduler.strategy import CLASSIC
from scheduler_core.cluster.descheduler.table import CLASSIC_STRATEGIES, PLUGINS
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Reader,
    Report,
    boolean,
    integer,
    list_of,
    mapping,
    opaque,
    record,
    show,
    text,
)
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY

_TYPE = "apiVersion kind metadata"
_LIMITS = {
    "maxNoOfPodsToEvictPerNode": Field("node", COUNT),
    "maxNoOfPodsToEvictPerNamespace": Field("namespace", COUNT),
}
_SWITCHES = ("evictFailedBarePods", "evictLocalStoragePods", "evictSystemCriticalPods", "ignorePvcPods")


def _read_config(value: Any, at: At) -> PluginConfig | None:
    """Read one entry of ``pluginConfig``, whose name says which fields its args have."""
    name = value.get("name") if isinstance(value, dict) else None
    known: dict[str, Reader] = {DEFAULT_EVICTOR: EVICTOR_ARGS} | {
        row.name: row.args for row in PLUGINS.values()
    }
    args = known.get(str(name))
    fields = {"name": Field("name", text, required=True), "args": Field("args", args or opaque)}
    read: PluginConfig | None = record(PluginConfig, fields)(value, at)
    if read is None or args is None or read.args is not None or (value.get("args") or {}) != {}:
        return read
    return PluginConfig(read.name, args({}, at.child("args")))


_PLUGIN_SET = record(
    lambda enabled=(), **_: enabled,
    {"enabled": Field("enabled", TEXTS), "disabled": Field("disabled", TEXTS)},
)
_PLUGINS = record(
    dict,
    {
        **{key: Field(word, _PLUGIN_SET) for key, word in POINTS.items()},
        "presort": Field("presort", _PLUGIN_SET),
        "sort": Field("sort", _PLUGIN_SET),
    },
)
_PROFILE = record(
    DeschedulerProfile,
    {
        "name": Field("name", text),
        "pluginConfig": Field("configs", list_of(_read_config)),
        "plugins": Field("enabled", _PLUGINS),
    },
)


def _current(
    metrics_collector: Any = None,
    metrics_providers: Any = None,
    notification: bool = False,
    **fields: Any,
) -> Policy:
    del notification
    limits = EvictionLimits(**{name: fields.pop(name, None) for name in EvictionLimits.__struct_fields__})
    return Policy(limits=limits, metrics=bool(metrics_collector or metrics_providers), **fields)


_V1ALPHA2 = record(
    _current,
    {
        "profiles": Field("profiles", list_of(_PROFILE)),
        "nodeSelector": Field("node_selector", text),
        **_LIMITS,
        "maxNoOfPodsToEvictTotal": Field("total", COUNT),
        "gracePeriodSeconds": Field("grace_period", integer(0, 2**53)),
        "evictionFailureEventNotification": Field("notification", boolean),
        "metricsCollector": Field("metrics_collector", opaque),
        "metricsProviders": Field("metrics_providers", opaque),
    },
    unread=_TYPE,
)


def _classic(strategies: Mapping[str, ClassicStrategy] = {}, **later: Any) -> Policy:
    added = [f"strategy {name}" for name, one in strategies.items() if one.enabled and name in _ADDED]
    params = {name: one.params for name, one in strategies.items() if one.enabled}
    added += [f"{name}.params.{field}" for name, one in params.items() for field in one.later]
    deviating = [name for name, one in params.items() if one.utilization.use_deviation_thresholds]
    added += [f"{name}.params.useDeviationThresholds" for name in deviating]
    return Policy(
        edition=CLASSIC,
        node_selector=later.get("nodeSelector", ""),
        limits=EvictionLimits(
            later.get("maxNoOfPodsToEvictPerNode"), later.get("maxNoOfPodsToEvictPerNamespace")
        ),
        strategies=strategies,
        switches=frozenset(name for name in _SWITCHES if later.get(name)),
        later=(*later, *added),
    )


_ADDED = frozenset(PLUGINS) - frozenset(CLASSIC_STRATEGIES)
_V1ALPHA1 = record(
    _classic,
    {
        "strategies": Field("strategies", mapping(record(ClassicStrategy, STRATEGY_FIELDS))),
        "nodeSelector": Field("nodeSelector", text),
        "maxNoOfPodsToEvictPerNode": Field("maxNoOfPodsToEvictPerNode", COUNT),
        "maxNoOfPodsToEvictPerNamespace": Field("maxNoOfPodsToEvictPerNamespace", COUNT),
        **{name: Field(name, boolean) for name in _SWITCHES},
    },
    unread=_TYPE,
)
VERSIONS: Mapping[str, Reader] = {V1ALPHA1: _V1ALPHA1, V1ALPHA2: _V1ALPHA2}


def read_policy(document: Mapping[str, Any], at: At) -> Policy | None:
    """Read a policy, and report its errors, ``None`` if there are any.

    In v1alpha2 unknown fields are errors, as the descheduler decodes strictly; v1alpha1 passes over them.
    """
    version = document.get("apiVersion")
    read = VERSIONS.get(version) if isinstance(version, str) else None
    if read is None:
        at.child("apiVersion").error(f"{unregistered(version)}: write {V1ALPHA2}, or {V1ALPHA1} for v0.9.0")
        return None
    wrong = len(at.report.errors)
    inner = Report(strict=True, limit=at.report.limit)
    policy: Policy | None = read(document, At(inner, None, at.root))
    at.report.errors += inner.errors
    at.report.warnings += inner.warnings
    for one in inner.unknown.values():
        other = OTHER.get(str(version), {}).get(str(one.at.key))
        hint = did_you_mean(str(one.at.key), one.known) if other is None else f" of this version: {other}"
        message = f"unknown field {show(one.at.key)}{hint}"
        place = At(at.report, one.at.parent, one.at.key)
        if version == V1ALPHA2:
            place.error(f"{message}: the descheduler refuses the policy")
        else:
            place.warn(f"{message}: the descheduler passes over it")
    return policy if len(at.report.errors) == wrong else None


_EVICTOR_FIELDS = ("evictLocalStoragePods", "evictSystemCriticalPods", "ignorePvcPods", "evictFailedBarePods")
_IN_EVICTOR = f"it belongs to {DEFAULT_EVICTOR}'s args now, or write apiVersion: {V1ALPHA1}"

OTHER: Mapping[str, Mapping[str, str]] = {
    V1ALPHA2: {
        "strategies": f"write profiles with plugins, or apiVersion: {V1ALPHA1}",
        **dict.fromkeys(_EVICTOR_FIELDS, _IN_EVICTOR),
    },
    V1ALPHA1: {"profiles": f"write strategies, or apiVersion: {V1ALPHA2}"},
}
"""Fields of the other edition's policies, by version, with what to write instead."""


def unregistered(version: object) -> str:
    """Return the message for a version that the descheduler does not know."""
    return f'no kind "{DESCHEDULER_POLICY}" is registered for version "{version}"'


def parse_policy(document: Mapping[str, Any], versions: tuple[str, ...], file: str = "policy.yaml") -> Policy:
    """Read a policy as a release does that knows some versions.

    Raises:
        PolicyRefusedError: It cannot be decoded.
    """
    prefix = f'failed decoding descheduler\'s policy config "{file}": '
    if document.get("apiVersion") not in versions:
        version = str(document.get("apiVersion") or "")
        raise PolicyRefusedError([InvalidArguments(prefix + unregistered(version), "apiVersion", "")])
    report = Report()
    policy = read_policy(document, At(report, None, BundleEntry(dict(document), DESCHEDULER_POLICY, None, 1)))
    if policy is None:
        raise PolicyRefusedError(
            [InvalidArguments(prefix + message, "", "") for _, message in report.errors[:1]]
        )
    return policy
