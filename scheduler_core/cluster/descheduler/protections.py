"""DefaultEvictor's arguments: which pods are protected, by the new lists or the deprecated switches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.descheduler.arguments import COUNT, TEXTS, InvalidArguments, args_reader
from scheduler_core.kubernetes.durations import duration
from scheduler_core.kubernetes.fields_common import LABEL_SELECTOR
from scheduler_core.kubernetes.model import LabelSelector
from scheduler_core.kubernetes.readers import Field, boolean, integer, list_of, record, text

DEFAULT_EVICTOR = "DefaultEvictor"
LOCAL_STORAGE, DAEMON_SET, CRITICAL = "PodsWithLocalStorage", "DaemonSetPods", "SystemCriticalPods"
BARE, CLAIMS, NO_BUDGET, DEVICES = (
    "FailedBarePods",
    "PodsWithPVC",
    "PodsWithoutPDB",
    "PodsWithResourceClaims",
)
DEFAULT_PROTECTIONS = (LOCAL_STORAGE, CRITICAL, BARE, DAEMON_SET)
EXTRA_PROTECTIONS = (CLAIMS, NO_BUDGET, DEVICES)
SWITCHES = {
    "evictLocalStoragePods": LOCAL_STORAGE,
    "evictDaemonSetPods": DAEMON_SET,
    "evictSystemCriticalPods": CRITICAL,
    "evictFailedBarePods": BARE,
    "ignorePvcPods": CLAIMS,
    "ignorePodsWithoutPDB": NO_BUDGET,
}
"""The deprecated switches, each with the protection that it turns off, or on for the last two."""
NO_EVICTION_POLICIES = ("Preferred", "Mandatory")


class PriorityThreshold(Struct, frozen=True):
    """The priority from which pods are protected: a value, or the name of a PriorityClass."""

    value: int | None = None
    name: str = ""


class PodProtections(Struct, frozen=True):
    """Changes to the protections that are on by default."""

    extra_enabled: tuple[str, ...] = ()
    default_disabled: tuple[str, ...] = ()
    storage_classes: tuple[str, ...] = ()

    @property
    def are_set(self) -> bool:
        """Whether they replace the deprecated switches."""
        return bool(self.extra_enabled or self.default_disabled)


class EvictorArgs(Struct, frozen=True):
    """DefaultEvictorArgs; ``switches`` are the deprecated fields that are true."""

    node_selector: str = ""
    label_selector: LabelSelector | None = None
    namespace_label_selector: LabelSelector | None = None
    priority_threshold: PriorityThreshold = PriorityThreshold()
    node_fit: bool = False
    min_replicas: int = 0
    min_pod_age: float | None = None
    no_eviction_policy: str = ""
    protections: PodProtections = PodProtections()
    switches: frozenset[str] = frozenset()

    @property
    def effective(self) -> frozenset[str]:
        """The protections that are on (getEffectivePodProtections)."""
        changes = self.protections
        if changes.are_set:
            return frozenset(DEFAULT_PROTECTIONS) - set(changes.default_disabled) | set(changes.extra_enabled)
        toggled = {SWITCHES[name] for name in self.switches}
        return frozenset(DEFAULT_PROTECTIONS) ^ toggled


def _evictor(**fields: Any) -> EvictorArgs:
    switches = frozenset(name for name in SWITCHES if fields.pop(name, False))
    return EvictorArgs(**fields, switches=switches)


def _protections(config: tuple[str, ...] = (), **fields: Any) -> PodProtections:
    return PodProtections(**fields, storage_classes=config)


_STORAGE_CLASS = record(lambda name="": name, {"name": Field("name", text)})
_CLAIMS = record(
    lambda classes=(): classes, {"protectedStorageClasses": Field("classes", list_of(_STORAGE_CLASS))}
)
_CONFIG = record(lambda classes=(): classes, {CLAIMS: Field("classes", _CLAIMS)})

EVICTOR_ARGS = args_reader(
    _evictor,
    {
        "nodeSelector": Field("node_selector", text),
        "labelSelector": Field("label_selector", LABEL_SELECTOR),
        "namespaceLabelSelector": Field("namespace_label_selector", LABEL_SELECTOR),
        "priorityThreshold": Field(
            "priority_threshold",
            record(PriorityThreshold, {"value": Field("value", integer()), "name": Field("name", text)}),
        ),
        "nodeFit": Field("node_fit", boolean),
        "minReplicas": Field("min_replicas", COUNT),
        "minPodAge": Field("min_pod_age", duration),
        "noEvictionPolicy": Field("no_eviction_policy", text),
        "podProtections": Field(
            "protections",
            record(
                _protections,
                {
                    "extraEnabled": Field("extra_enabled", TEXTS),
                    "defaultDisabled": Field("default_disabled", TEXTS),
                    "config": Field("config", _CONFIG),
                },
            ),
        ),
        **{name: Field(name, boolean) for name in SWITCHES},
    },
)


def check_evictor(args: EvictorArgs) -> Iterator[InvalidArguments]:
    """Yield what upstream refuses (ValidateDefaultEvictorArgs), in its order."""
    threshold, changes = args.priority_threshold, args.protections
    if threshold.value is not None and threshold.name:
        yield InvalidArguments(
            "priority threshold misconfigured, only one of priorityThreshold fields can be set",
            "priorityThreshold",
            "remove either value or name",
        )
    if args.no_eviction_policy and args.no_eviction_policy not in NO_EVICTION_POLICIES:
        yield InvalidArguments(
            'noEvictionPolicy accepts only ["Preferred" "Mandatory"] values',
            "noEvictionPolicy",
            "write one of them",
        )
    if args.switches and changes.are_set:
        yield InvalidArguments(
            "cannot use Deprecated fields alongside PodProtections.ExtraEnabled or "
            "PodProtections.DefaultDisabled",
            min(args.switches),
            f"remove {', '.join(sorted(args.switches))}, and name the protections in podProtections",
        )
    if changes.are_set:
        yield from _check_protections(changes)


def _check_protections(changes: PodProtections) -> Iterator[InvalidArguments]:
    lists = (
        ("ExtraEnabled", "extraEnabled", changes.extra_enabled, EXTRA_PROTECTIONS),
        ("DefaultDisabled", "defaultDisabled", changes.default_disabled, DEFAULT_PROTECTIONS),
    )
    for word, name, given, valid in lists:
        for place, one in enumerate(given):
            if one not in valid:
                yield InvalidArguments(
                    f'invalid pod protection policy in {word}: "{one}". Valid options are: '
                    f"[{' '.join(valid)}]",
                    f"podProtections.{name}[{place}]",
                    "write one of them",
                )
    for word, name, given, _ in reversed(lists):
        if len(set(given)) < len(given):
            yield InvalidArguments(
                f"PodProtections.{word} contains duplicate entries",
                f"podProtections.{name}",
                "name each protection once",
            )
    if CLAIMS in changes.extra_enabled:
        for place, one in enumerate(changes.storage_classes):
            if not one:
                path = f"PodsWithPVC.ProtectedStorageClasses[{place}]"
                yield InvalidArguments(
                    f"PodProtections.Config.{path} name cannot be empty",
                    f"podProtections.config.PodsWithPVC.protectedStorageClasses[{place}]",
                    "write the name of a StorageClass",
                )
