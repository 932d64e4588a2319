"""Which pods are equal to the scheduler: what every enabled plugin looks at (SignPlugin)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.v1_37.config import Profile
from scheduler_core.v1_37.plugins.node_declared_features import required_features
from scheduler_core.v1_37.plugins.pod_topology_spread import default_constraints
from scheduler_core.v1_37.pods import Pod


def _requests(pod: Pod) -> Any:
    return sorted(pod.requests.items()), sorted(pod.scored_nonzero.items())


def _node_affinity(pod: Pod) -> Any:
    return dict(pod.node_selector), dict(pod.node_affinity)


def _images(pod: Pod) -> Any:
    return [container.get("image") for container in (*pod.init_containers, *pod.containers)]


def _volumes(pod: Pod) -> Any:
    """Return the sources of a pod's volumes without their names, ConfigMaps and Secrets (VolumesSigner)."""
    sources = ({k: v for k, v in volume.items() if k != "name"} for volume in pod.volumes)
    kept = (source for source in sources if source.get("configMap") is None and source.get("secret") is None)
    return sorted(json.dumps(source, sort_keys=True) for source in kept)


_SIGNED: Mapping[str, Callable[[Pod], Any]] = {
    "NodeName": lambda pod: pod.node,
    "NodeUnschedulable": lambda pod: pod.tolerations,
    "TaintToleration": lambda pod: pod.tolerations,
    "NodeAffinity": _node_affinity,
    "NodePorts": lambda pod: pod.host_ports,
    "NodeResourcesFit": _requests,
    "NodeResourcesBalancedAllocation": _requests,
    "VolumeRestrictions": _volumes,
    "NodeVolumeLimits": _volumes,
    "VolumeBinding": _volumes,
    "VolumeZone": _volumes,
    "InterPodAffinity": lambda pod: dict(pod.labels),
    "ImageLocality": _images,
    "NodeDeclaredFeatures": lambda pod: sorted(required_features(pod)),
}
"""What each plugin signs of a pod."""


DEFAULT_CONSTRAINTS = "PodTopologySpread has default constraints"


def unsigned_because(pod: Pod, profile: Profile) -> str:
    """Return what keeps a pod from being compared with others, a clause; "" if nothing does.

    A plugin that looks beyond pod and node signs nothing (SignPlugin), and a pod that one plugin does not
    sign has no signature.
    """
    if profile.enabled("PodTopologySpread"):
        if pod.spec.get("topologySpreadConstraints"):
            return "the pod has topology spread constraints"
        if default_constraints(profile.arguments.get("PodTopologySpread") or {}):
            return DEFAULT_CONSTRAINTS
    affinity = pod.spec.get("affinity") or {}
    if profile.enabled("InterPodAffinity") and (
        affinity.get("podAffinity") or affinity.get("podAntiAffinity")
    ):
        return "the pod has affinity or anti-affinity to pods"
    if profile.enabled("DynamicResources") and pod.spec.get("resourceClaims"):
        return "the pod has ResourceClaims"
    return ""


def signature(pod: Pod, profile: Profile) -> str | None:
    """Return a text that is equal for equal pods; None for a pod that cannot be compared."""
    if unsigned_because(pod, profile):
        return None
    signed = {plugin: sign(pod) for plugin, sign in _SIGNED.items() if profile.enabled(plugin)}
    return json.dumps([pod.scheduler_name, signed], sort_keys=True)
