"""Fields and kinds that are reported where they are not read, and that kube-scheduler v1.37 honors here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.settings.feature_gates import GROUPS, TOPOLOGY
from scheduler_core.settings.settings import Settings

HONORED = frozenset(
    "allocatable volumeMode accessModes overhead resources topologySpreadConstraints schedulingGates "
    "resourceClaims hostUsers containerStatuses restartPolicyRules restartPolicy claims matchFields "
    "namespaceSelector matchLabelKeys mismatchLabelKeys csi cinder volumeAttributesClassName CSINode "
    "CSIDriver CSIStorageCapacity VolumeAttachment ResourceClaim ResourceClaimTemplate ResourceSlice "
    "DeviceClass DeviceTaintRule extendedResourceClaimStatus".split()
)
"""By the last name of a field, or kind."""

GATED: Mapping[str, frozenset[str]] = {
    GROUPS: frozenset({"schedulingGroup", "minCount", "priority", "priorityClassName", "disruptionMode"}),
    TOPOLOGY: frozenset({"schedulingConstraints"}),
}
"""Fields that are honored if a feature gate is on."""


def honored(settings: Iterable[Settings]) -> frozenset[str]:
    """Return what v1.37 honors under each of the settings."""
    listed = list(settings)
    return HONORED.union(*(names for gate, names in GATED.items() if all(one.has(gate) for one in listed)))
