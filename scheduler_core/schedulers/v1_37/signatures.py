"""Which pods are equal to the scheduler: what every enabled plugin looks at (SignPlugin)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.schedulers.v1_37.config import Profile
from scheduler_core.schedulers.v1_37.plugins.image_locality import image_name
from scheduler_core.schedulers.v1_37.plugins.node_declared_features import required_features
from scheduler_core.schedulers.v1_37.plugins.node_resources_fit import NATIVE
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import default_constraints
from scheduler_core.schedulers.v1_37.pods import PREFERRED, REQUIRED, Pod


def _requests(pod: Pod) -> Any:
    """Return the requests; what scores put in for those that are missing is not looked at."""
    return sorted((name, amount) for name, amount in pod.requests.items() if amount or name not in NATIVE)


def _tolerations(pod: Pod) -> Any:
    """Return the tolerations by key and value, without fields that say nothing."""
    listed = (
        {key: value for key, value in row.items() if value not in ("", None)} for row in pod.tolerations
    )
    return sorted(listed, key=lambda row: (str(row.get("key", "")), str(row.get("value", ""))))


def _node_affinity(pod: Pod) -> Any:
    """Return selector and affinity; the order of terms, expressions and values does not count."""
    affinity = (pod.spec.get("affinity") or {}).get("nodeAffinity")
    if affinity is None:
        return dict(pod.node_selector), None
    required = (affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()
    preferred = (
        json.dumps([int(row.get("weight") or 0), _term(row.get("preference") or {})])
        for row in affinity.get(PREFERRED) or ()
    )
    return dict(pod.node_selector), sorted(map(_term, required)), sorted(preferred)


def _term(term: Mapping[str, Any]) -> str:
    rows = ([_expression(row) for row in term.get(key) or ()] for key in ("matchExpressions", "matchFields"))
    return json.dumps([sorted(found) for found in rows])


def _expression(row: Mapping[str, Any]) -> str:
    return json.dumps([row.get("key"), row.get("operator"), sorted(row.get("values") or ())])


def _host_ports(pod: Pod) -> Any:
    """Return the numbers alone, those of init containers too."""
    containers = (*pod.containers, *pod.init_containers)
    ports = (int(port.get("hostPort") or 0) for one in containers for port in one.get("ports") or ())
    return sorted({port for port in ports if port})


def _images(pod: Pod) -> Any:
    containers = (*pod.containers, *pod.init_containers)
    return sorted({image_name(container.get("image") or "") for container in containers})


def _volumes(pod: Pod) -> Any:
    """Return the sources of a pod's volumes without their names, ConfigMaps and Secrets (VolumesSigner)."""
    sources = ({k: v for k, v in volume.items() if k != "name"} for volume in pod.volumes)
    kept = (source for source in sources if source.get("configMap") is None and source.get("secret") is None)
    return sorted(json.dumps(source, sort_keys=True) for source in kept)


_AFFINITY = "InterPodAffinity"
_SIGNED: Mapping[str, Callable[[Pod], Any]] = {
    "NodeName": lambda pod: pod.node,
    "NodeUnschedulable": _tolerations,
    "TaintToleration": _tolerations,
    "NodeAffinity": _node_affinity,
    "NodePorts": _host_ports,
    "NodeResourcesFit": _requests,
    "NodeResourcesBalancedAllocation": _requests,
    "VolumeRestrictions": _volumes,
    "NodeVolumeLimits": _volumes,
    "VolumeBinding": _volumes,
    "VolumeZone": _volumes,
    _AFFINITY: lambda pod: dict(pod.labels),
    "ImageLocality": _images,
    "NodeDeclaredFeatures": lambda pod: sorted(required_features(pod)),
}
"""What each plugin signs of a pod."""


def _signs(profile: Profile, plugin: str) -> bool:
    """Return whether the plugin has a say in where pods go (computeBatchablePlugins)."""
    return any(profile.has(plugin, point) for point in ("preFilter", "filter", "preScore", "score"))


DEFAULT_CONSTRAINTS = "PodTopologySpread has default constraints"


def unsigned_because(pod: Pod, profile: Profile) -> str:
    """Return what keeps a pod from being compared with others, a clause; "" if nothing does.

    A plugin that looks beyond pod and node signs nothing (SignPlugin), and a pod that one plugin does not
    sign has no signature.
    """
    if _signs(profile, "PodTopologySpread"):
        if pod.spec.get("topologySpreadConstraints"):
            return "the pod has topology spread constraints"
        if default_constraints(profile.arguments.get("PodTopologySpread") or {}):
            return DEFAULT_CONSTRAINTS
    affinity = pod.spec.get("affinity") or {}
    if _signs(profile, _AFFINITY) and (affinity.get("podAffinity") or affinity.get("podAntiAffinity")):
        return "the pod has affinity or anti-affinity to pods"
    if _signs(profile, "DynamicResources") and pod.spec.get("resourceClaims"):
        return "the pod has ResourceClaims"
    return ""


def signature(pod: Pod, profile: Profile) -> str | None:
    """Return a text that is equal for equal pods; None for a pod that cannot be compared."""
    if unsigned_because(pod, profile):
        return None
    signed = {plugin: sign(pod) for plugin, sign in _SIGNED.items() if _signs(profile, plugin)}
    if (profile.arguments.get(_AFFINITY) or {}).get("ignorePreferredTermsOfExistingPods"):
        signed.pop(_AFFINITY, None)
    return json.dumps([pod.scheduler_name, signed], sort_keys=True)
