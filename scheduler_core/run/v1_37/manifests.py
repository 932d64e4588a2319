"""A scenario's objects as manifests that the API server stores: what kube-scheduler v1.37 reads.

The scenario's typed objects determine which objects exist and in which order; their manifests hold every
field, also those that only a later release knows. An object that a controller created has its fields from the
template of its owner, and what the controller or admission added from the typed object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Protocol

from scheduler_core.formats.interner import differ_in_name_alone
from scheduler_core.formats.manifest import to_manifest, whole_manifest
from scheduler_core.formats.patch import apply_patch, kind_of_patch
from scheduler_core.kubernetes.admission import SYSTEM_CLASSES
from scheduler_core.kubernetes.device_versions import in_version
from scheduler_core.kubernetes.keys import document_key
from scheduler_core.kubernetes.kinds import is_manifest_kind
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.model import (
    KubernetesObject,
    Node,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    StorageClass,
    Workload,
)
from scheduler_core.kubernetes.replicas import Replica, is_replica, with_replicas_of_any
from scheduler_core.scenario.history_entries import entries_of, resolved, target_of
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.v1_37.podgroups import NATIVE, group_of
from scheduler_core.schedulers.v1_37.volumes import BIND_COMPLETED

POD_LEVEL = ("cpu", "memory")
"""Resources that a pod can request as a whole; huge pages are the other ones."""

_DAEMON_TOLERATIONS: tuple[Manifest, ...] = (
    {"key": "node.kubernetes.io/pid-pressure", "operator": "Exists", "effect": "NoSchedule"},
)
_HOST_NETWORK: Manifest = {
    "key": "node.kubernetes.io/network-unavailable",
    "operator": "Exists",
    "effect": "NoSchedule",
}
"""What DaemonSet pods tolerate since 1.12 and 1.13, beside what the typed object has."""

_TERMS = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


class ManifestStore(Protocol):
    """Manifests that are stored, by kind and name."""

    def list(self, kind: str) -> Iterator[Mapping[str, Any]]:
        """Iterate over the objects of a kind in order of creation."""
        ...

    def get(self, kind: str, namespace: str | None, name: str) -> Mapping[str, Any] | None:
        """Return a stored object."""
        ...


def _entries(scenario: Scenario) -> dict[str, Mapping[str, Any]]:
    """Return the entries of the history by the ids of the operations on the objects that they name."""
    found: dict[str, Mapping[str, Any]] = {}
    for entry, made in resolved(entries_of(scenario.documents), scenario):
        own = [one for one in made if (one.kind, one.key) == target_of(entry)]
        for operation in own[:1]:
            found[operation.id] = entry
    return found


class ScenarioManifests:
    """The manifests of a scenario; objects that exist already are read from the cluster that is simulated."""

    OF_SCENARIO = True  # unpacked runs share it

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._classes = [document_of(one) for one in scenario.objects if isinstance(one, PriorityClass)]
        self._reserved = {  # by volume
            one.meta.name: one.claim_ref for one in scenario.objects if isinstance(one, PersistentVolume)
        }
        self._last: tuple[Pod, Manifest] | None = None  # of a template, and what was made
        self._entries = _entries(scenario)

    def __reduce__(self) -> tuple[Any, ...]:
        return ScenarioManifests, (self.scenario,)

    def under(self, scenario: Scenario) -> ScenarioManifests:
        """Return those of a scenario that differs by its operations."""
        made = copy(self)
        vars(made).update(scenario=scenario, _entries=_entries(scenario))
        return made

    def initial(self, cluster: ManifestStore) -> Iterator[Manifest]:
        """Yield the objects of the start in order; what is yielded has to be in ``cluster`` afterwards.

        First come those of kinds that only v1.37 reads.
        """
        for first, replicas in self.batches(cluster, with_replicas_of_any(self.scenario.objects)):
            yield first
            yield from (manifest for manifest, _ in replicas)

    def batches(
        self, cluster: ManifestStore, objects: Iterable[tuple[KubernetesObject, Sequence[Replica]]]
    ) -> Iterator[tuple[Manifest, list[tuple[Manifest, str]]]]:
        """Yield :meth:`initial` in parts: an object, and pods that differ from earlier ones in name and uid.

        Each of these comes with the key of the pod that it is like. ``objects`` are those of the scenario,
        with the replicas that follow each.
        """
        for document in _without_types(self.scenario.documents):
            yield _named(document), []
        originals: dict[int, Manifest] = {}
        for obj, replicas in objects:
            if not is_read(obj):
                continue
            made = self.created(obj, cluster)
            if isinstance(obj, Pod) and obj.meta.uid:
                originals[id(obj)] = made
            alike: list[tuple[Manifest, str]] = []
            for pod, original in replicas:
                known = originals.get(id(original))
                if known is not None and is_alike(pod, original):
                    alike.append((_renamed(known, pod), original.meta.key))
                    continue
                yield made, alike
                made, alike = self.created(pod, cluster), []
            yield made, alike

    def changed(
        self, operation: Operation, cluster: ManifestStore, live: KubernetesObject | None = None
    ) -> Manifest | None:
        """Return an object as an operation leaves it; None if there is nothing to be changed.

        ``live`` is the typed object as it landed, by default that of the operation. Raises PatchError for a
        patch that does not suit the stored object.
        """
        obj, entry = live or operation.object, self._entries.get(operation.id)
        assert obj is not None
        stored = cluster.get(operation.kind, obj.meta.namespace, obj.meta.name)
        if entry is not None and "patchOperation" in entry:
            body = entry["patchOperation"]
            if stored is None:
                return None
            patched = apply_patch(stored, body["patch"], kind_of_patch(body, stored))
            return admitted(patched, obj)
        if stored is None:
            return self.created(obj, cluster) if is_read(obj) else None
        if entry is not None:
            return _replaced(stored, self.created(obj, cluster))
        return _updated(stored, obj)

    def operated(self, operation: Operation, cluster: ManifestStore) -> Manifest | None:
        """Return an object of a kind without a typed one as an operation leaves it; None if it is gone.

        A patch is of the object as the scheduler has left it. Raises PatchError for one that does not suit.
        """
        assert operation.manifest is not None
        entry = self._entries.get(operation.id, {})
        body = entry.get("patchOperation")
        if body is None:
            return _named(operation.manifest)
        namespace, _, name = operation.key.rpartition("/")
        stored = cluster.get(operation.kind, namespace, name)
        if stored is None:
            return None
        stored = in_version(stored, body["typeMeta"].get("apiVersion"))
        patched: Manifest = apply_patch(stored, body["patch"], kind_of_patch(body, stored))
        return patched

    def _bound(self, claim: Manifest) -> Manifest:
        """Return a claim on a volume that is reserved for it as bound: the volume controller does that."""
        reserved = self._reserved.get((claim.get("spec") or {}).get("volumeName", ""))
        meta = claim["metadata"]
        if reserved != f"{meta.get('namespace') or 'default'}/{meta['name']}":
            return claim
        annotations = {BIND_COMPLETED: "yes", **(meta.get("annotations") or {})}
        return {**claim, "metadata": {**meta, "annotations": annotations}}

    def _prioritized(self, group: Manifest, obj: PodGroup, cluster: ManifestStore) -> Manifest:
        """Return a PodGroup with the priority of its PriorityClass, as the API server resolves a pod's."""
        spec: Manifest = {**(group.get("spec") or {})}
        if spec.get("priority") is None:
            classes = [*self._classes, *cluster.list("PriorityClass")]
            values = {one["metadata"]["name"]: int(one.get("value") or 0) for one in classes}
            usual = next((one["metadata"]["name"] for one in classes if one.get("globalDefault")), "")
            spec["priority"] = {**SYSTEM_CLASSES, **values}.get(obj.priority_class_name or usual, 0)
        return {**group, "spec": spec}

    def created(self, obj: KubernetesObject, cluster: ManifestStore) -> Manifest:
        """Return the manifest of a new object."""
        if isinstance(obj, Pod) and _is_made(obj):
            return self._replica(obj)
        made = manifest_of(obj)
        if isinstance(obj, PodGroup):
            return self._prioritized(made, obj, cluster)
        return self._bound(made) if isinstance(obj, PersistentVolumeClaim) else made

    def _replica(self, pod: Pod) -> Manifest:
        """Return the manifest of a template's pod; replicas share all but the metadata."""
        last, written = self._last, pod.meta.written
        same = last is not None and last[0].meta.written is written and is_replica(pod, last[0])
        made = _renamed(last[1], pod) if last is not None and same and pod.meta.uid else manifest_of(pod)
        self._last = (pod, made) if pod.meta.uid else None
        return made


def manifest_of(obj: KubernetesObject) -> Manifest:
    """Return the manifest that the API server stores for a new object: as written, or from a template."""
    if obj.meta.written is None:
        return admitted(whole_manifest(obj), obj)
    if not obj.meta.written.is_template:
        return admitted(_named(obj.meta.written.document), obj)
    made = to_manifest(obj)
    made["spec"] = with_additions(document_of(obj).get("spec") or {}, made["spec"], obj.meta.controller)
    return admitted(made, obj)


def document_of(obj: KubernetesObject) -> Mapping[str, Any]:
    """Return the manifest that an object was read from, or its pod template; empty if there is none."""
    return {} if obj.meta.written is None else obj.meta.written.document


def _is_made(pod: Pod) -> bool:
    """Return whether a pod was made from a template."""
    return pod.meta.written is not None and pod.meta.written.is_template


def is_alike(pod: Pod, original: Pod) -> bool:
    """Return whether the manifest of a replica is its original's but for name and uid."""
    own, other = pod.meta.written, original.meta.written
    if own is other or own is None or other is None or own.is_template or other.is_template:
        return own is other
    return differ_in_name_alone(own.document, other.document, _OWN)


_OWN = frozenset({"name", "uid"})


def is_read(obj: KubernetesObject) -> bool:
    """Return whether v1.37 reads an object: of PodGroups those of its own API group alone."""
    return not isinstance(obj, PodGroup) or group_of(document_of(obj)) == NATIVE


def _without_types(documents: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Return the manifests of kinds that only v1.37 reads; of the same object the last one."""
    found = [one for one in documents if is_manifest_kind(one) and (one.get("metadata") or {}).get("name")]
    return {document_key(one): one for one in found}.values()


def _renamed(manifest: Manifest, pod: Pod) -> Manifest:
    """Return a pod's manifest with another pod's name and uid."""
    meta = {**manifest["metadata"], "name": pod.meta.name, "uid": pod.meta.uid}
    return {**manifest, "metadata": meta}


def _named(document: Mapping[str, Any]) -> Manifest:
    return {**document, "metadata": {**document["metadata"]}}


def with_additions(
    template: Mapping[str, Any], typed: Mapping[str, Any], owner: OwnerReference | None
) -> Manifest:
    """Return a template's pod specification with what the controller added to it."""
    spec: Manifest = {**template}
    if typed.get("nodeName"):
        spec["nodeName"] = typed["nodeName"]
    made: list[Manifest] = list(typed.get("volumes") or ())
    given: list[Manifest] = list(spec.get("volumes") or ())
    if (
        owner is not None and owner.kind == "StatefulSet"
    ):  # its claims take the place of volumes of their name
        claims = {volume.get("name") for volume in made if volume.get("persistentVolumeClaim")}
        given = [volume for volume in given if volume.get("name") not in claims]
    named = {volume.get("name") for volume in given}
    added = [volume for volume in made if volume.get("name") not in named]
    if added:
        spec["volumes"] = [*given, *added]
    if owner is not None and owner.kind == "DaemonSet":
        spec["tolerations"] = _daemon_tolerations(spec, typed)
        required = ((typed.get("affinity") or {}).get("nodeAffinity") or {}).get(_TERMS[0])
        if required:
            affinity = spec.get("affinity") or {}
            node = {**(affinity.get("nodeAffinity") or {}), _TERMS[0]: required}
            spec["affinity"] = {**affinity, "nodeAffinity": node}
    return spec


def _daemon_tolerations(spec: Mapping[str, Any], typed: Mapping[str, Any]) -> list[Manifest]:
    own = list(spec.get("tolerations") or ())
    known = {(one.get("key"), one.get("effect")) for one in own}
    extra = [*(typed.get("tolerations") or ()), *_DAEMON_TOLERATIONS]
    if spec.get("hostNetwork"):
        extra.append(_HOST_NETWORK)
    return [*own, *(one for one in extra if (one.get("key"), one.get("effect")) not in known)]


def _replaced(stored: Mapping[str, Any], made: Manifest) -> Manifest:
    """Return an object that is applied again: a pod stays on its node."""
    node = (stored.get("spec") or {}).get("nodeName")
    if made.get("kind") == "Pod" and node:
        made["spec"] = {**(made.get("spec") or {}), "nodeName": node}
    return {**made, **({} if "status" in made or "status" not in stored else {"status": stored["status"]})}


def _updated(stored: Mapping[str, Any], obj: KubernetesObject) -> Manifest:
    """Return a stored object as a controller leaves it: it changes the number of replicas."""
    if isinstance(obj, Workload):
        return {**stored, "spec": {**(stored.get("spec") or {}), "replicas": obj.replicas}}
    return {**stored}


# --- admission


def admitted(manifest: Manifest, obj: KubernetesObject) -> Manifest:
    """Return a manifest with the API server's defaults, taken from the typed object where it has them."""
    meta: Manifest = {**manifest["metadata"], "name": obj.meta.name}
    if obj.meta.namespace:
        meta["namespace"] = obj.meta.namespace
    if obj.meta.uid:
        meta.setdefault("uid", obj.meta.uid)
    out: Manifest = {**manifest, "metadata": meta}
    spec: Manifest = {**(manifest.get("spec") or {})}
    match obj:
        case Pod():
            out["spec"] = _pod_spec(spec, obj)
        case Node():
            status = manifest.get("status") or {}
            if not status.get("allocatable") and status.get("capacity"):
                out["status"] = {**status, "allocatable": status["capacity"]}
        case PersistentVolumeClaim():
            given = {"storageClassName": obj.storage_class, "volumeName": obj.volume_name or None}
            out["spec"] = {**{name: text for name, text in given.items() if text is not None}, **spec}
        case PersistentVolume() if not (spec.get("claimRef") or {}).get("uid"):
            out["status"] = {"phase": "Available", **(manifest.get("status") or {})}  # its controller's
        case StorageClass():
            out.setdefault("volumeBindingMode", obj.binding_mode or "Immediate")
        case PodDisruptionBudget():
            status = manifest.get("status") or {}
            out["status"] = {"disruptionsAllowed": obj.disruptions_allowed, **status}
    return out


def _pod_spec(spec: Manifest, pod: Pod) -> Manifest:
    """Default priority, requests, host ports and the label keys of affinity terms."""
    spec["priority"] = pod.priority
    if pod.preemption_policy:
        spec["preemptionPolicy"] = pod.preemption_policy
    for name in ("containers", "initContainers"):
        if spec.get(name):
            host = bool(spec.get("hostNetwork"))
            spec[name] = [_container(container, host=host) for container in spec[name]]
    resources = spec.get("resources")
    if isinstance(resources, Mapping) and resources.get("limits"):
        spec["resources"] = _pod_level(resources, spec)
    if isinstance(spec.get("affinity"), Mapping):
        spec["affinity"] = _affinity(spec["affinity"], pod.meta.labels)
    return spec


def _container(container: Mapping[str, Any], *, host: bool) -> Manifest:
    """Return a container whose requests default to its limits, and its host ports to the ports."""
    out: Manifest = {**container}
    resources = container.get("resources") or {}
    if resources.get("limits"):
        requests = {**resources["limits"], **(resources.get("requests") or {})}
        out["resources"] = {**resources, "requests": requests}
    if host and container.get("ports"):
        out["ports"] = [
            {**port, "hostPort": port.get("hostPort") or port.get("containerPort")}
            for port in container["ports"]
        ]
    return out


def _pod_level(resources: Mapping[str, Any], spec: Mapping[str, Any]) -> Manifest:
    """Default requests of the pod as a whole to its limits, for what no container requests.

    Source: ``setDefaultPodLevelRequests``.
    """
    asked = {
        name
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
        for name in (container.get("resources") or {}).get("requests") or ()
    }
    limits = {
        name: amount
        for name, amount in resources["limits"].items()
        if name not in asked and (name in POD_LEVEL or name.startswith("hugepages-"))
    }
    return {**resources, "requests": {**limits, **(resources.get("requests") or {})}}


def _affinity(affinity: Mapping[str, Any], labels: Mapping[str, str]) -> Manifest:
    """Merge ``matchLabelKeys`` and ``mismatchLabelKeys`` into the selectors, as at the pod's creation."""
    out: Manifest = {**affinity}
    for kind in ("podAffinity", "podAntiAffinity"):
        listed = affinity.get(kind)
        if not isinstance(listed, Mapping):
            continue
        required, preferred = (listed.get(name) or () for name in _TERMS)
        made = {
            _TERMS[0]: [_term(term, labels) for term in required],
            _TERMS[1]: [
                {**each, "podAffinityTerm": _term(each.get("podAffinityTerm") or {}, labels)}
                for each in preferred
            ],
        }
        out[kind] = {**listed, **{name: terms for name, terms in made.items() if terms}}
    return out


def _term(term: Mapping[str, Any], labels: Mapping[str, str]) -> Manifest:
    """Source: ``applyMatchLabelKeysAndMismatchLabelKeys``; a term without selector matches nothing.

    A key that the selector has with one value was merged when the pod was created: its label may have
    changed since.
    """
    selector = term.get("labelSelector")
    if not isinstance(selector, Mapping):
        return {**term}
    expressions: list[Any] = list(selector.get("matchExpressions") or ())
    merged = {
        (one.get("key"), one.get("operator")) for one in expressions if len(one.get("values") or ()) == 1
    }
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        keys = [key for key in _keys(term.get(field)) if key in labels and (key, operator) not in merged]
        expressions += [{"key": key, "operator": operator, "values": [labels[key]]} for key in keys]
    made = {**selector, "matchExpressions": expressions} if expressions else selector
    return {**term, "labelSelector": made}


def _keys(value: Any) -> Sequence[str]:
    return [key for key in value if isinstance(key, str)] if isinstance(value, list) else ()
