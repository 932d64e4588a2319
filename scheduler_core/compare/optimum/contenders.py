"""The schedulers beside the optimum: what each reads of the cluster as it stands, and what it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.kinds import MANIFEST_KINDS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.schedulers.firmament.gangs import GANG_ANNOTATION
from scheduler_core.schedulers.firmament.tasks import CREATED_BY
from scheduler_core.schedulers.kube_batch.snapshot import GROUP_MIN_MEMBER, GROUP_NAME
from scheduler_core.schedulers.v1_37.podgroups import NATIVE

PLACED_BY_ALL = frozenset(
    ("Node", "Pod", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "Namespace")
)
"""The kinds that each of them reads."""

SELECTING = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet")
"""The kinds whose selectors say which pods to spread."""

CREATING = frozenset(("Deployment", "DaemonSet", "Job", "CronJob", *SELECTING[1:]))
"""The kinds whose controllers have created their pods already: who does not read them loses nothing."""

QUEUE = {
    "apiVersion": "scheduling.incubator.k8s.io/v1alpha1",
    "kind": "Queue",
    "metadata": {"name": "default"},
    "spec": {"weight": 1},
}
UNREAD = ("annotations", "resourceVersion", "creationTimestamp")
OWN_ANNOTATIONS = "podstep/"


class Contender(Struct, frozen=True):
    """A scheduler: its settings, its ``schedulerName``, what else its bundle needs, and what it reads.

    ``reads`` are kinds beyond :data:`PLACED_BY_ALL`, a PodGroup or Queue with its API group;
    ``pod_annotations`` those of pods that it acts on; ``gated`` whether it has feature gates.
    """

    settings: Mapping[str, Any]
    name: str = "default-scheduler"
    more: tuple[Document, ...] = ()
    reads: frozenset[str] = frozenset()
    pod_annotations: frozenset[str] = frozenset()
    gated: bool = False

    def takes(self, document: Document) -> bool:
        """Return whether it reads objects of this kind."""
        return kind_of(document) in self.reads or document.get("kind") in PLACED_BY_ALL

    def unread(self, documents: Iterable[Document]) -> Iterator[str]:
        """Yield the kinds that it does not read, with how many objects there are of each."""
        kinds = (kind_of(one) for one in documents if not self.takes(one) and one["kind"] not in CREATING)
        for kind, count in Counter(kinds).items():
            yield f"{kind} ({count:,})"

    def given(self, documents: Iterable[Document], *, evict: bool) -> Iterator[Document]:
        """Yield what it reads of the cluster, in which it is responsible for all pods.

        Unless it may ``evict``, no pod preempts another.
        """
        patient = {} if evict else {"preemptionPolicy": "Never"}
        pods = Counter(owner for one in documents if one["kind"] == "Pod" for owner in _owners(one))
        yield from self.more
        for one in filter(self.takes, documents):
            if one["kind"] == "Pod":
                spec = {**one["spec"], "schedulerName": self.name, **patient}
                yield {**one, "metadata": self._of_pod(one), "spec": spec}
            elif one["kind"] == "PriorityClass":
                yield {**still(one), **patient}
            elif one["kind"] in CREATING:
                yield _owning(one, pods[_key(one)])
            elif self.more and kind_of(one) == kind_of(self.more[0]) and _key(one) == _key(self.more[0]):
                continue  # what its bundle needs anyway is there under this name
            else:
                yield still(one)

    def _of_pod(self, pod: Document) -> Document:
        meta = {name: value for name, value in pod["metadata"].items() if name not in UNREAD}
        annotations = pod["metadata"].get("annotations") or {}
        kept = {name: value for name, value in annotations.items() if name in self.pod_annotations}
        return {**meta, "namespace": meta.get("namespace") or "default", "annotations": kept}


def kind_of(document: Document) -> str:
    """Return an object's kind, with its API group where several schedulers have one of that name."""
    kind = str(document.get("kind"))
    group = str(document.get("apiVersion") or "").rpartition("/")[0]
    return f"{kind}.{group}" if kind in ("PodGroup", "Queue") else kind


def still(document: Document) -> Document:
    """Return a manifest without annotations that would let something happen to it."""
    meta = document["metadata"]
    annotations = meta.get("annotations") or {}
    kept = {name: value for name, value in annotations.items() if not name.startswith(OWN_ANNOTATIONS)}
    return (
        document if len(kept) == len(annotations) else {**document, "metadata": {**meta, "annotations": kept}}
    )


def _owning(document: Document, pods: int) -> Document:
    """Return a workload that has all pods that it wants, and whose pods do not end."""
    spec = dict(document["spec"])
    template = spec.get("template")
    if isinstance(template, dict) and isinstance(template.get("metadata"), dict):
        spec["template"] = still(template)
    counts = {"parallelism": pods, "completions": pods} if document["kind"] == "Job" else {"replicas": pods}
    return {**still(document), "spec": {**spec, **counts}}


def _key(document: Document) -> tuple[str, str, str]:
    meta = document["metadata"]
    return document["kind"], meta.get("namespace") or "default", meta["name"]


def _owners(pod: Document) -> Iterator[tuple[str, str, str]]:
    meta = pod["metadata"]
    for one in meta.get("ownerReferences") or ():
        yield one.get("kind"), meta.get("namespace") or "default", one.get("name")


BATCH_GROUPS = ("scheduling.incubator.k8s.io", "scheduling.sigs.dev")

CONTENDERS: Mapping[str, Contender] = {
    "v1.11": Contender({"scheduler": "v1.11"}, reads=frozenset((*SELECTING, "PodDisruptionBudget"))),
    "v1.37": Contender(
        {"scheduler": "v1.37"},
        reads=frozenset((*SELECTING, "PodDisruptionBudget", f"PodGroup.{NATIVE}", *MANIFEST_KINDS)),
        gated=True,
    ),
    "kube-batch": Contender(
        {"time": "virtual", "until": 60},
        "kube-batch",
        (QUEUE,),
        frozenset(
            (
                "PodDisruptionBudget",
                *(f"{kind}.{of}" for kind in ("PodGroup", "Queue") for of in BATCH_GROUPS),
            )
        ),
        frozenset((GROUP_NAME, GROUP_MIN_MEMBER)),
    ),
    "Firmament": Contender(
        {"time": "virtual", "until": 60},
        "poseidon",
        reads=frozenset(("ReplicaSet", "ReplicationController", "Job")),
        pod_annotations=frozenset((GANG_ANNOTATION, CREATED_BY)),
    ),
}
"""The schedulers that stand beside the optimum. One more is a row here."""
