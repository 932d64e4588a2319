"""On which nodes a DaemonSet's pods run, and the pods as they are created for one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.v1_37.defaults import NOT_READY, UNREACHABLE
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    clone,
    labels_of,
    name_of,
    node_of,
    spec_of,
    taints_of,
    term_matches,
    tolerates,
)

_PRESSURE = [f"node.kubernetes.io/{name}" for name in ("disk-pressure", "memory-pressure", "pid-pressure")]
TOLERATED = [
    (NOT_READY, "NoExecute"),
    (UNREACHABLE, "NoExecute"),
    *((key, "NoSchedule") for key in _PRESSURE),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def tolerations_of(owner: Manifest) -> list[dict[str, Any]]:
    """Return the tolerations of a DaemonSet's pods (AddOrUpdateDaemonPodTolerations)."""
    spec = spec_of(spec_of(owner)["template"])
    wanted = list(TOLERATED)
    if spec.get("hostNetwork"):
        wanted.append(("node.kubernetes.io/network-unavailable", "NoSchedule"))
    out = list(spec.get("tolerations") or ())
    for key, effect in wanted:
        row = {"key": key, "operator": "Exists", "effect": effect}
        kept = [one for one in out if not _is_alike(one, row)]
        out = [*kept, row]
    return out


def _is_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    fields = ("key", "effect", "operator", "value")
    return all((one.get(field) or "") == (other.get(field) or "") for field in fields)


def should_run(owner: Manifest, node: Manifest) -> tuple[bool, bool]:
    """Return whether a pod is to run on a node, and whether one that is there may stay."""
    spec = spec_of(spec_of(owner)["template"])
    if spec.get("nodeName") not in (None, "", name_of(node)) or not _fits_affinity(spec, node):
        return False, False
    tolerations = tolerations_of(owner)
    bad = [taint for taint in taints_of(node) if not any(tolerates(one, taint) for one in tolerations)]
    effects = {taint["effect"] for taint in bad}
    if effects & {"NoSchedule", "NoExecute"}:
        return False, "NoExecute" not in effects
    return True, True


def _fits_affinity(spec: Mapping[str, Any], node: Manifest) -> bool:
    labels = labels_of(node)
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get(REQUIRED)
    if required is None:
        return True
    return any(term_matches(term, node) for term in required.get("nodeSelectorTerms") or ())


def template_for(owner: Manifest, node: str, labels: Mapping[str, str]) -> Manifest:
    """Return a DaemonSet's template for one node; ``labels`` say which version of it this is."""
    template = clone(spec_of(owner)["template"])
    spec = spec_of(template)
    spec["tolerations"] = tolerations_of(owner)
    affinity = spec.setdefault("affinity", {})
    node_affinity = affinity.setdefault("nodeAffinity", {})
    row = {"key": "metadata.name", "operator": "In", "values": [node]}
    node_affinity[REQUIRED] = {"nodeSelectorTerms": [{"matchFields": [row]}]}
    meta = template.setdefault("metadata", {})
    meta["labels"] = {**(meta.get("labels") or {}), **labels}
    return {**template, "spec": spec}


def target_of(pod: Manifest) -> str:
    """Return the node that a DaemonSet's pod is for, "" if it names none (GetTargetNodeName)."""
    if node_of(pod):
        return node_of(pod)
    affinity = (spec_of(pod).get("affinity") or {}).get("nodeAffinity") or {}
    for term in (affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and len(field["values"]) == 1:
                return str(field["values"][0])
    return ""
