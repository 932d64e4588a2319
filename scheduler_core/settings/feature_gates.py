"""The feature gates of kube-scheduler v1.37, as ``featureGates`` in SimulationSettings sets them.

Source: the versioned specs of ``pkg/scheduler/features``. What is not simulated otherwise than by default is
warned about by name (:mod:`scheduler_core.schedulers.v1_37.left_out`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.names import nearest
from scheduler_core.kubernetes.readers import At, Field, Outline, boolean, kind_of, outlined, show
from scheduler_core.settings.release import BY_PLUGINS, GATED

FeatureGates = tuple[tuple[str, bool], ...]
"""Gates that are set, each with its value, by name."""

_ON = (
    "DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaintRules DRADeviceTaints "
    "DRAFractionalCapacityRange DRAPartitionableDevices DRASchedulerFilterTimeout "
    "InPlacePodLevelResourcesVerticalScaling MatchLabelKeysInPodTopologySpread "
    "NominatedNodeNameForExpectation OpportunisticBatching PodLevelResources SchedulerAsyncPreemption "
    "SchedulerPopFromBackoffQ"
).split()
_LOCKED = (
    "DRAAdminAccess DRAExtendedResource DRAPrioritizedList DRAResourceClaimDeviceStatus "
    "DynamicResourceAllocation InPlacePodVerticalScaling NodeDeclaredFeatures "
    "NodeInclusionPolicyInPodTopologySpread VolumeAttributesClass"
).split()
_OFF = (
    "CompositePodGroup DRADerivedAttributes DRADeviceCompatibilityGroups DRAListTypeAttributes "
    "DRANodeAllocatableResources DRAOptionalNodeOperations DRAWorkloadResourceClaims "
    "InPlacePodVerticalScalingSchedulerPreemption InterPodAffinityHostnameFastPath "
    "PodGroupPreemptionPolicy SchedulerAsyncAPICalls SchedulerPreQueueingHints"
).split()
GROUPS, TOPOLOGY, COMPARISON = (
    "GenericWorkload",
    "TopologyAwareWorkloadScheduling",
    "TaintTolerationComparisonOperators",
)
SIMULATED_GATES: Mapping[str, str] = {
    GROUPS: "PodGroups of scheduling.k8s.io are scheduled as a whole",
    TOPOLOGY: "a PodGroup with schedulingConstraints goes to one domain of a topology",
    COMPARISON: "tolerations have the operators Gt and Lt",
    "StorageCapacityScoring": "VolumeBinding scores nodes by how full volumes or published capacity would be",
    "VolumeLimitScaling": "NodeVolumeLimits refuses nodes without a driver whose CSIDriver has "
    "preventPodSchedulingIfMissing",
}
"""Gates that are simulated on and off, with what they do."""
SIMULATED = tuple(SIMULATED_GATES)
_SIMULATED_ON = ("StorageCapacityScoring", "VolumeLimitScaling")
_SIMULATED_OFF = (GROUPS, TOPOLOGY, COMPARISON)

DEFAULTS: Mapping[str, bool] = {
    **dict.fromkeys((*_ON, *_LOCKED, *_SIMULATED_ON), True),
    **dict.fromkeys((*_OFF, *_SIMULATED_OFF), False),
}
"""Every feature gate of kube-scheduler v1.37, with its default."""

LOCKED = frozenset(_LOCKED)
OF_OTHERS = frozenset({"GangScheduling", "WorkloadAwarePreemption"})
"""Gates that only other releases of plugins have."""
NEEDS: Mapping[str, tuple[str, ...]] = {
    TOPOLOGY: (GROUPS,),
    "CompositePodGroup": (GROUPS,),
    "PodGroupPreemptionPolicy": (GROUPS,),
    "DRAWorkloadResourceClaims": (GROUPS,),
}
"""Gates without which another one cannot be on."""


def read_gates(value: Any, at: At) -> FeatureGates | None:
    """Read a map of feature gates.

    A gate that is none of its own, and resembles none, may be another component's: a warning.
    """
    if not isinstance(value, dict):
        at.error(f"must be a map of gates, such as {GROUPS}: true, not {kind_of(value)}")
        return None
    gates: dict[str, bool] = {}
    for name, given in value.items():
        on = boolean(given, at.child(name))
        if on is not None and _is_known(name, at.child(name)):
            gates[name] = on
    for name, needed in NEEDS.items():
        for other in needed if gates.get(name) else ():
            if not gates.get(other, DEFAULTS[other]):
                at.child(name).error(f"{name} needs {other}: write {other}: true beside it")
    return tuple(sorted(gates.items()))


def _is_known(name: str, at: At) -> bool:
    if name in OF_OTHERS:
        return True
    if name not in DEFAULTS:
        suggestion = nearest(name, DEFAULTS)
        if suggestion:
            at.error(f"{show(name)} is no feature gate of kube-scheduler v1.37: did you mean {suggestion!r}?")
        else:
            at.warn(f"{show(name)} is no feature gate of kube-scheduler v1.37: it has no effect")
        return False
    return True


def check_locked(gates: FeatureGates, scheduler: str, at: At) -> None:
    """Report gates that the release that is chosen, or the default one, refuses to turn off."""
    for name, on in gates:
        if name in LOCKED and not on and (scheduler == GATED or scheduler not in BY_PLUGINS):
            at.child(name).error(f"{name} is locked to true in {GATED}: remove it")


def parse_gates(text: str) -> dict[str, bool]:
    """Parse ``A=true,B=false``, as ``--feature-gates`` of kube-scheduler has it.

    Raises:
        ValueError: The text is no such list.
    """
    gates = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or value.strip().lower() not in ("true", "false"):
            raise ValueError(f"{part!r} is no feature gate with its value: write {name.strip() or 'A'}=true")
        gates[name.strip()] = value.strip().lower() == "true"
    return gates


def is_unsimulated(name: str, on: bool, defaults: Mapping[str, bool] = DEFAULTS) -> bool:
    """Return whether a gate is set otherwise than by the release's default, and not simulated so."""
    return on != defaults[name] and name not in SIMULATED and not _is_sometimes_off(name, defaults)


def _is_sometimes_off(name: str, defaults: Mapping[str, bool]) -> bool:
    """Return whether a release has another default than the newest, so that both are simulated."""
    return defaults[name] != DEFAULTS[name]


outlined(read_gates, Outline("object", {name: Field(name, boolean) for name in sorted(DEFAULTS)}))
