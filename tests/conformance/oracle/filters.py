"""Which nodes fit: the predicates one by one, and the two passes with nominated pods."""

from __future__ import annotations

from tests.conformance.oracle.cluster import Cluster
from tests.conformance.oracle.manifests import (
    Manifest,
    allocatable,
    amounts,
    claims,
    conditions,
    disk_conflict,
    host_ports,
    includes,
    is_scalar,
    key,
    labels,
    name,
    namespace,
    node_term,
    priority,
    request,
    term_matches,
    terms,
    tolerated,
    used,
    volumes,
)

Check = tuple[list[str], str | None]  # reasons, error

ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "failure-domain.beta.kubernetes.io/region"
COUNTED = {
    "MaxEBSVolumeCount": ("awsElasticBlockStore", "volumeID", 39),
    "MaxGCEPDVolumeCount": ("gcePersistentDisk", "pdName", 16),
    "MaxAzureDiskVolumeCount": ("azureDisk", "diskName", 16),
}


class Filtering(Cluster):
    """Every predicate as a method of its name."""

    def _others_nominated(self, pod: Manifest, node: Manifest) -> list[Manifest]:
        if not self.nominated:
            return []
        found = [q for q in self.waiting if self.nominated.get(key(q)) == name(node)]
        return sorted(found, key=lambda q: self.age[key(q)])

    def passes(self, pod: Manifest, node: Manifest) -> list[list[Manifest]]:
        nominated = self._others_nominated(pod, node)
        added = [q for q in nominated if priority(q) >= priority(pod)]
        return [added, []] if nominated else [[]]

    def _shown(self, pod: Manifest, node: Manifest, predicate: str) -> Manifest:
        for added in self.passes(pod, node):
            reasons, error = self.check(predicate, pod, node, added)
            if reasons or error:
                break
        shown: Manifest = {"fit": not reasons and error is None, "reasons": [] if error else reasons}
        return shown | ({"error": error} if error else {})

    def fits(self, pod: Manifest, node: Manifest, check_all: bool) -> Check:
        for added in self.passes(pod, node):
            reasons: list[str] = []
            for predicate in self.order:
                found, error = self.check(predicate, pod, node, added)
                if error:
                    return [], error
                reasons += found
                if reasons and not check_all:
                    break
            if reasons:
                return reasons, None
        return [], None

    def check(self, predicate: str, pod: Manifest, node: Manifest, added: list[Manifest]) -> Check:
        if predicate in COUNTED:
            return self.volume_count(predicate, pod, node, added)
        argument = self.arguments.get(predicate) or {}
        if "labelsPresence" in argument:
            wanted = argument["labelsPresence"]
            ok = all((k in labels(node)) == bool(wanted.get("presence")) for k in wanted["labels"])
            return ([] if ok else ["node(s) didn't have the requested labels"]), None
        if "serviceAffinity" in argument:
            return self.service_affinity(argument["serviceAffinity"]["labels"], pod, node, added)
        found = getattr(self, "_" + predicate)(pod, node, added)
        return found if isinstance(found, tuple) else (found, None)

    def _CheckNodeCondition(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        rows = {
            "Ready": ("True", "node(s) were not ready"),
            "OutOfDisk": ("False", "node(s) were out of disk space"),
            "NetworkUnavailable": ("False", "node(s) had unavailable network"),
        }
        found = [
            rows[c["type"]][1]
            for c in conditions(node)
            if c["type"] in rows and c["status"] != rows[c["type"]][0]
        ]
        return found + (["node(s) were unschedulable"] if node["spec"].get("unschedulable") else [])

    def _PodFitsResources(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        there = self.on[name(node)] + added
        have, taken, wants = allocatable(node), used(there), request(pod)
        found = ["Insufficient pods"] if len(there) + 1 > have.get("pods", 0) else []
        scalars = sorted(r for r in wants if is_scalar(r))
        basic = ("cpu", "memory", "ephemeral-storage")
        if not scalars and not any(wants.get(r) for r in basic):
            return found
        return found + [
            f"Insufficient {r}" for r in (*basic, *scalars) if have.get(r, 0) < wants.get(r, 0) + taken[r]
        ]

    def _HostName(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        wanted = pod["spec"].get("nodeName")
        return ["node(s) didn't match the requested hostname"] if wanted and wanted != name(node) else []

    def _PodFitsHostPorts(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        taken = self.ports[name(node)] | {p for q in added for p in host_ports(q)}
        for ip, protocol, port in host_ports(pod):
            for other_ip, other_protocol, other in taken:
                if (protocol, port) == (other_protocol, other) and (
                    "0.0.0.0" in (ip, other_ip) or ip == other_ip
                ):
                    return ["node(s) didn't have free ports for the requested pod ports"]
        return []

    _PodFitsPorts = _PodFitsHostPorts

    def _MatchNodeSelector(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        ok = includes(labels(node), pod["spec"].get("nodeSelector") or {})
        affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        if required is not None:
            ok = ok and any(node_term(labels(node), t) for t in required.get("nodeSelectorTerms") or [])
        return [] if ok else ["node(s) didn't match node selector"]

    def _GeneralPredicates(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        parts = (self._PodFitsResources, self._HostName, self._PodFitsHostPorts, self._MatchNodeSelector)
        return [r for part in parts for r in part(pod, node, added)]

    def _NoDiskConflict(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        clash = any(
            disk_conflict(v, w) for v in volumes(pod) for q in self.on[name(node)] + added for w in volumes(q)
        )
        return ["node(s) had no available disk"] if clash else []

    def _PodToleratesNodeTaints(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        hard = [t for t in node["spec"].get("taints") or [] if t.get("effect") in ("NoSchedule", "NoExecute")]
        ok = all(tolerated(t, pod["spec"].get("tolerations") or []) for t in hard)
        return [] if ok else ["node(s) had taints that the pod didn't tolerate"]

    def service_affinity(
        self, wanted: list[str], pod: Manifest, node: Manifest, added: list[Manifest]
    ) -> Check:
        selector = pod["spec"].get("nodeSelector") or {}
        pairs = {k: selector[k] for k in wanted if k in selector}
        if len(pairs) < len(set(wanted)) and self.first_service(pod) is not None:
            gone, back = self.simulated
            there = [p for p in self.placed if all(p is not g for g in gone)] + list(back) + added
            matching = [
                p for p in there if namespace(p) == namespace(pod) and includes(labels(p), labels(pod))
            ]
            if matching:
                home = self.where.get(key(matching[0]))
                if home is None:
                    return [], 'node "" not found'
                for k in wanted:
                    if k not in pairs and k in labels(self.node[home]):
                        pairs[k] = labels(self.node[home])[k]
        return ([] if includes(labels(node), pairs) else ["node(s) didn't match service affinity"]), None

    def counted_volumes(self, predicate: str, pods: list[Manifest]) -> set[str]:
        source, field, _ = COUNTED[predicate]
        found = set()
        for pod in pods:
            for v in volumes(pod):
                if v.get(source):
                    found.add(v[source][field])
                elif v.get("persistentVolumeClaim"):
                    ref = (namespace(pod), v["persistentVolumeClaim"]["claimName"])
                    claim = self.claims.get(ref)
                    pv = self.pvs.get((claim or {}).get("spec", {}).get("volumeName") or "")
                    if pv is None:
                        found.add(f"unbound {ref}")
                    elif pv["spec"].get(source):
                        found.add(pv["spec"][source][field])
        return found

    def volume_count(self, predicate: str, pod: Manifest, node: Manifest, added: list[Manifest]) -> Check:
        mine = self.counted_volumes(predicate, [pod])
        there = self.counted_volumes(predicate, self.on[name(node)] + added)
        full = bool(mine) and len(mine | there) > COUNTED[predicate][2]
        return (["node(s) exceed max volume count"] if full else []), None

    def late_binding(self, claim: Manifest) -> bool:
        annotations = claim["metadata"].get("annotations") or {}
        wanted = annotations.get("volume.beta.kubernetes.io/storage-class") or claim["spec"].get(
            "storageClassName"
        )
        found = self.classes.get(wanted or "")
        return found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"

    def _CheckVolumeBinding(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> Check:
        mine = [self.claims[namespace(pod), c] for c in claims(pod)]
        unbound = [c for c in mine if not c["spec"].get("volumeName")]
        if any(not self.late_binding(c) for c in unbound):
            return [], "pod has unbound PersistentVolumeClaims"
        conflict = False
        for claim in mine:
            wanted = claim["spec"].get("volumeName")
            if (
                not wanted or conflict
            ):  # the first conflict ends the walk, before a later claim's missing volume
                continue
            if wanted not in self.pvs:
                return [], f'could not find v1.PersistentVolume "{wanted}"'
            required = (self.pvs[wanted]["spec"].get("nodeAffinity") or {}).get("required")
            if required and not any(
                node_term(labels(node), t) for t in required.get("nodeSelectorTerms") or []
            ):
                conflict = True
        found = ["node(s) had volume node affinity conflict"] if conflict else []
        return found + (["node(s) didn't find available persistent volumes to bind"] if unbound else []), None

    def _NoVolumeZoneConflict(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> Check:
        if ZONE not in labels(node) and REGION not in labels(node):
            return [], None
        for ref in claims(pod):
            claim = self.claims[namespace(pod), ref]
            wanted = claim["spec"].get("volumeName")
            if not wanted:
                if self.late_binding(claim):
                    continue
                return [], f'PersistentVolumeClaim is not bound: "{ref}"'
            if wanted not in self.pvs:
                return [], f'persistentvolume "{wanted}" not found'
            for k, v in labels(self.pvs[wanted]).items():
                if k not in (ZONE, REGION):
                    continue
                parts = [p.strip() for p in v.split("__")]
                if all(parts) and labels(node).get(k, "") not in parts:
                    return ["node(s) had no available volume zone"], None
        return [], None

    def pressure(self, node: Manifest, kind: str) -> bool:
        found = [c["status"] for c in conditions(node) if c["type"] == kind]
        return bool(found) and found[-1] == "True"

    def _CheckNodeMemoryPressure(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        for c in pod["spec"].get("containers") or []:
            for part in ("requests", "limits"):
                wants = amounts((c.get("resources") or {}).get(part))
                if wants.get("cpu", 0) > 0 or wants.get("memory", 0) > 0:
                    return []
        return ["node(s) had memory pressure"] if self.pressure(node, "MemoryPressure") else []

    def _CheckNodePIDPressure(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        return ["node(s) had pid pressure"] if self.pressure(node, "PIDPressure") else []

    def _CheckNodeDiskPressure(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        return ["node(s) had disk pressure"] if self.pressure(node, "DiskPressure") else []

    # -- inter-pod affinity ------------------------------------------------------------

    def _standing(self, node: Manifest, added: list[Manifest]) -> list[tuple[Manifest, Manifest]]:
        """Existing pods with their nodes, as the simulation on ``node`` sees them."""
        gone, back = self.simulated
        there = [(p, self.node[self.where[key(p)]]) for p in self.placed if all(p is not g for g in gone)]
        return there + [(p, node) for p in back]

    def _MatchInterPodAffinity(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        def fail(specific: str) -> list[str]:
            return ["node(s) didn't match pod affinity/anti-affinity", specific]

        def together(a: Manifest, b: Manifest, topology: str) -> bool:
            return (
                topology in labels(a) and topology in labels(b) and labels(a)[topology] == labels(b)[topology]
            )

        standing = self._standing(node, added)
        for other, home in standing + [(q, node) for q in added]:
            against = terms(other, "podAntiAffinity", "required")
            if any(term_matches(other, t, pod) for t in against) and together(
                node, home, against[-1]["topologyKey"]
            ):
                return fail("node(s) didn't satisfy existing pods anti-affinity rules")
        wanted = terms(pod, "podAffinity", "required")
        if wanted:
            matching = [(p, h) for p, h in standing if all(term_matches(pod, t, p) for t in wanted)]
            near = any(all(together(node, h, t["topologyKey"]) for t in wanted) for _, h in matching)
            anywhere = any(all(term_matches(pod, t, p) for t in wanted) for p in self.placed)
            alone = not anywhere and all(term_matches(pod, t, pod) for t in wanted)
            if not near and not alone:
                return fail("node(s) didn't match pod affinity rules")
        unwanted = terms(pod, "podAntiAffinity", "required")
        if unwanted:
            matching = [(p, h) for p, h in standing if all(term_matches(pod, t, p) for t in unwanted)]
            if any(all(together(node, h, t["topologyKey"]) for t in unwanted) for _, h in matching):
                return fail("node(s) didn't match pod anti-affinity rules")
        return []
