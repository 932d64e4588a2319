"""What would wake a waiting pod, in words: for each plugin the change that its queueing hint waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.v1_37.hints.registry import REGISTERED
from scheduler_core.v1_37.pods import Pod

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SHOWN = 4


def events_of(plugin: str) -> tuple[str, ...]:
    """Return the names of the cluster events that a plugin registered, in order."""
    return tuple(
        row.resource + action for row in REGISTERED.get(plugin, ()) for action in sorted(row.actions)
    )


def wakes(plugin: str, pod: Pod) -> str:
    """Return what the pod waits for if the plugin rejected it, as a clause after "until"."""
    told = _SENTENCES.get(plugin)
    return told(pod) if told is not None else "time moves it: the plugin registered no event"


def _listed(words: Sequence[str]) -> str:
    shown = list(words[:_SHOWN])
    more = len(words) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _expression(one: Mapping[str, Any]) -> str:
    values = ", ".join(map(str, one.get("values") or ()))
    return f"{one.get('key')} {one.get('operator')}" + (f" ({values})" if values else "")


def _node_labels(pod: Pod) -> str:
    words = [f"{key}={value}" for key, value in pod.node_selector.items()]
    terms = (pod.node_affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    listed = []
    for term in terms:
        parts = [_expression(one) for one in term.get("matchExpressions") or ()]
        parts += [_expression(one) for one in term.get("matchFields") or ()]
        listed.append(" and ".join(parts))
    words += [" or ".join(filter(None, listed))] if any(listed) else []
    return _listed(words)


def _affinity(pod: Pod) -> str:
    asked = _node_labels(pod)
    which = f"with {asked}" if asked else "that the profile's added affinity selects"
    return f"a node {which} is added, or a node's labels change to that"


def _resources(pod: Pod) -> str:
    asked = _listed([name for name, amount in pod.requests.items() if amount > 0])
    room = f"room for its {asked}" if asked else "room for one more pod"
    return (
        "a pod leaves a node or is scaled down, or a node that could hold it is added or grows: "
        f"it needs {room}"
    )


def _taints(pod: Pod) -> str:
    del pod
    return "a node is added whose taints it tolerates, or a node's taints change to that"


def _unschedulable(pod: Pod) -> str:
    del pod
    return "a node is added, or made schedulable again (kubectl uncordon)"


def _ports(pod: Pod) -> str:
    ports = _listed([f"{port}/{protocol}" for _, protocol, port in pod.host_ports])
    return f"a pod that uses the host port {ports} leaves its node, or a node is added"


def _spread(pod: Pod) -> str:
    keys = dict.fromkeys(
        str(one.get("topologyKey"))
        for one in pod.spec.get("topologySpreadConstraints") or ()
        if one.get("whenUnsatisfiable") != "ScheduleAnyway"
    )
    return (
        "a pod that a constraint selects is bound, deleted or relabeled, or a node with the label "
        f"{_listed(list(keys))} is added, removed, relabeled or retainted"
    )


def _inter_pod(pod: Pod) -> str:
    affinity = pod.affinity
    keys = dict.fromkeys(term.topology_key for term in (*affinity.required, *affinity.required_anti))
    where = f" with the label {_listed(list(keys))}" if keys else ""
    return f"a pod that a term selects is bound, deleted or relabeled, or a node{where} is added or relabeled"


def _claims(pod: Pod) -> str:
    return _listed([name for name, _ in pod.claims]) or "a claim"


def _binding(pod: Pod) -> str:
    return (
        f"{_claims(pod)} is created or bound, or a volume, storage class, storage capacity or node that "
        "could serve it is added or changed"
    )


def _zone(pod: Pod) -> str:
    return f"the volume of {_claims(pod)} changes, or a node of its zone is added or relabeled"


def _limits(pod: Pod) -> str:
    del pod
    return "a pod with volumes of the same driver leaves a node, an attachment ends, or a limit is raised"


def _restrictions(pod: Pod) -> str:
    return f"the pod that uses {_claims(pod)} is deleted, or a node is added"


def _devices(pod: Pod) -> str:
    asked = _listed(list(pod.resource_claims)) or "its claim"
    return f"the ResourceClaim {asked} is created or changes, or a ResourceSlice, DeviceClass or node does"


def _gates(pod: Pod) -> str:
    gates = _listed([str(gate.get("name")) for gate in pod.spec.get("schedulingGates") or ()])
    return f"its scheduling gate {gates} is removed" if gates else "its scheduling gates are removed"


def _preemption(pod: Pod) -> str:
    del pod
    return "the deletion of its victims is confirmed"


def _features(pod: Pod) -> str:
    del pod
    return "a node that declares the features it needs is added, or the pod changes"


def _gang(pod: Pod) -> str:
    del pod
    return "another member of its PodGroup is created or bound, or the group's minCount changes"


_SENTENCES: Mapping[str, Callable[[Pod], str]] = {
    "SchedulingGates": _gates,
    "NodeUnschedulable": _unschedulable,
    "TaintToleration": _taints,
    "NodeAffinity": _affinity,
    "NodePorts": _ports,
    "NodeResourcesFit": _resources,
    "VolumeRestrictions": _restrictions,
    "NodeVolumeLimits": _limits,
    "VolumeBinding": _binding,
    "VolumeZone": _zone,
    "PodTopologySpread": _spread,
    "InterPodAffinity": _inter_pod,
    "DynamicResources": _devices,
    "DefaultPreemption": _preemption,
    "NodeDeclaredFeatures": _features,
    "GangScheduling": _gang,
}
"""By plugin, each with the rows of :data:`scheduler_core.v1_37.hints.registry.REGISTERED` in view."""
