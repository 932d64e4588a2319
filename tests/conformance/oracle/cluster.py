"""The cluster of one record, and the policy it is scheduled by."""

from __future__ import annotations

from tests.conformance.oracle.manifests import Manifest, host_ports, includes, key, labels, name, namespace

STATIC_ORDER = (
    *("CheckNodeCondition", "CheckNodeUnschedulable", "GeneralPredicates", "HostName", "PodFitsHostPorts"),
    *("MatchNodeSelector", "PodFitsResources", "NoDiskConflict", "PodToleratesNodeTaints"),
    *(
        "PodToleratesNodeNoExecuteTaints",
        "CheckNodeLabelPresence",
        "CheckServiceAffinity",
        "MaxEBSVolumeCount",
    ),
    *("MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount", "CheckVolumeBinding", "NoVolumeZoneConflict"),
    *("CheckNodeMemoryPressure", "CheckNodePIDPressure", "CheckNodeDiskPressure", "MatchInterPodAffinity"),
)
DEFAULT_PREDICATES = (
    *(
        "CheckNodeCondition",
        "GeneralPredicates",
        "NoDiskConflict",
        "PodToleratesNodeTaints",
        "MaxEBSVolumeCount",
    ),
    *("MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount", "CheckVolumeBinding", "NoVolumeZoneConflict"),
    *("CheckNodeMemoryPressure", "CheckNodePIDPressure", "CheckNodeDiskPressure", "MatchInterPodAffinity"),
)
DEFAULT_PRIORITIES = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
}


class Cluster:
    """Who is where, who waits, and what is configured."""

    def __init__(self, record: Manifest) -> None:
        by_kind: dict[str, list[Manifest]] = {}
        for obj in record["objects"]:
            by_kind.setdefault(obj["kind"], []).append(obj)
        self.nodes = by_kind.get("Node", [])
        self.node = {name(n): n for n in self.nodes}
        self.services = by_kind.get("Service", [])
        self.controllers = [
            o for k in ("ReplicationController", "ReplicaSet", "StatefulSet") for o in by_kind.get(k, [])
        ]
        self.claims = {(namespace(c), name(c)): c for c in by_kind.get("PersistentVolumeClaim", [])}
        self.pvs = {name(v): v for v in by_kind.get("PersistentVolume", [])}
        self.classes = {name(c): c for c in by_kind.get("StorageClass", [])}
        self.pdbs = by_kind.get("PodDisruptionBudget", [])
        pods = [
            p
            for p in by_kind.get("Pod", [])
            if (p.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        ]
        self.age = {key(p): i for i, p in enumerate(pods)}
        self.on: dict[str, list[Manifest]] = {name(n): [] for n in self.nodes}
        # A set: two pods may hold one triple, and removing either frees it, as in v1.11.
        self.ports: dict[str, set[tuple[str, str, int]]] = {name(n): set() for n in self.nodes}
        self.placed: list[Manifest] = []  # existing pods in creation order
        self.where: dict[str, str] = {}
        for p in pods:
            if p["spec"].get("nodeName"):
                self._bind(p, p["spec"]["nodeName"])
        self.pending = [p for p in pods if not p["spec"].get("nodeName")]
        self.nominated = {
            key(p): (p.get("status") or {}).get("nominatedNodeName")
            for p in self.pending
            if (p.get("status") or {}).get("nominatedNodeName")
        }
        self.counter = 0
        self.waiting: list[Manifest] = []  # both queues, without the pod being tried
        self.simulated: tuple[list[Manifest], list[Manifest]] = ([], [])  # removed, added again
        self._configure(record.get("policy") or {})

    def _bind(self, pod: Manifest, node: str) -> None:
        self.on[node].append(pod)
        self.on[node].sort(key=lambda p: self.age[key(p)])
        self.placed.append(pod)
        self.placed.sort(key=lambda p: self.age[key(p)])
        self.where[key(pod)] = node
        self.ports[node] |= host_ports(pod)

    def _unbind(self, pod: Manifest) -> None:
        node = self.where.pop(key(pod))
        self.on[node].remove(pod)
        self.ports[node] -= host_ports(pod)
        self.placed.remove(pod)

    def _configure(self, policy: Manifest) -> None:
        self.check_all = bool(policy.get("alwaysCheckAllPredicates"))
        self.hard_weight = policy.get("hardPodAffinitySymmetricWeight") or 1
        listed = policy.get("predicates")
        if listed is None:
            listed = [{"name": n} for n in DEFAULT_PREDICATES]
        self.arguments = {p["name"]: p.get("argument") or {} for p in listed}
        asked = {p["name"]: p.get("order") for p in listed}
        asked.setdefault("CheckNodeCondition", None)
        place = {n: i for i, n in enumerate(STATIC_ORDER)}
        first = sorted((n for n in asked if asked[n]), key=lambda n: (asked[n], place.get(n, len(place))))
        rest = sorted((n for n in asked if not asked[n] and n in place), key=place.__getitem__)
        self.order = first + rest
        ranked = policy.get("priorities")
        if ranked is None:
            ranked = [{"name": n, "weight": w} for n, w in DEFAULT_PRIORITIES.items()]
        self.priorities = {p["name"]: (p["weight"], p.get("argument") or {}) for p in ranked}

    def first_service(self, pod: Manifest) -> Manifest | None:
        for s in self.services:
            selector = (s.get("spec") or {}).get("selector")
            if namespace(s) == namespace(pod) and selector is not None and includes(labels(pod), selector):
                return s
        return None
