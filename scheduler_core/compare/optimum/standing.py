"""The cluster as it stands after some cycles: nodes and pods alone, for whoever places the pending ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from scheduler_core.compare.optimum.optimum import MigrationStep
from scheduler_core.compare.results.final_manifests import ending_documents, objects_of
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.progress import Watch, unwatched
from scheduler_core.run import Stepper

KEPT = frozenset(
    ("Node", "Pod", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "Namespace")
)
"""The kinds that a placement depends on: no controller makes other pods, and no operation follows."""
UNREAD = ("ownerReferences", "annotations", "uid", "resourceVersion", "creationTimestamp")
FINISHED = ("Succeeded", "Failed")
SECONDS_APART = 1.0  # between two moves


class ShortRunError(ValueError):
    """The run ends before the cycle that is asked for."""

    def __init__(self, wanted: int, cycles: int) -> None:
        self.cycles = cycles
        super().__init__(f"the run ends after {cycles:,} cycles: step must be at most that, not {wanted:,}")


class Standing:
    """Nodes and pods, typed and as manifests, after ``cycles`` cycles of a run. Raises ShortRunError.

    ``watch`` hears of the stage ``stepping``, in cycles, and ends it by raising.
    """

    def __init__(self, simulation: Stepper, cycles: int, watch: Watch = unwatched) -> None:
        for number in range(cycles):
            watch("stepping", number, cycles)
            if simulation.done:
                raise ShortRunError(cycles, number)
            simulation.step()
        simulation.peek()  # controllers create pods until the next cycle
        self.placement = simulation.placement()
        there = set(simulation.cluster.nodes)
        found = objects_of(simulation)
        self.nodes = [one for one in found if isinstance(one, Node) and one.meta.name in there]
        self.pods = [self._placed(one) for one in found if isinstance(one, Pod) and not one.terminal]
        self.documents = [
            _alone(one)
            for one in ending_documents(simulation)
            if one.get("kind") in KEPT and _stands(one, there)
        ]

    def _placed(self, pod: Pod) -> Pod:
        node = self.placement.get(pod.meta.key)
        return replace(pod, node_name=node) if node else pod

    @property
    def pending(self) -> list[Pod]:
        """The pods without a node."""
        return [pod for pod in self.pods if not pod.node_name]

    def text_for(self, settings: Mapping[str, Any], scheduler: str, more: Iterable[Document] = ()) -> str:
        """Return a bundle in which ``scheduler`` is responsible for all pending pods."""
        head = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", **settings}
        return _text((head, *more, *(_named(one, scheduler) for one in self.documents)))

    def text_with(self, moves: Sequence[MigrationStep]) -> str:
        """Return a bundle that makes the moves one after the other, each binding a cycle of v1.37.

        A binding is the creation of the pod with a node affinity that only its node satisfies; pods that stay
        pending are left out.
        """
        given = {f"{_meta(one)['namespace']}/{_meta(one)['name']}": one for one in self._pods()}
        kept = [one for one in self.documents if one["kind"] != "Pod" or one["spec"].get("nodeName")]
        operations = [
            _operation(number, move, given[move.pod])
            for number, move in enumerate(moves)
            if move.pod in given
        ]
        head = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}
        scenario = {
            "apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "moves"},
            "spec": {"operations": operations},
        }
        return _text((head, *(_named(one, "default-scheduler") for one in kept), scenario))

    def _pods(self) -> Iterator[Document]:
        return (one for one in self.documents if one["kind"] == "Pod")


def _meta(document: Document) -> dict[str, Any]:
    meta = dict(document["metadata"])
    return {**meta, "namespace": meta.get("namespace") or "default"}


def _stands(document: Document, nodes: set[str]) -> bool:
    if document["kind"] == "Node":
        return document["metadata"]["name"] in nodes
    return document["kind"] != "Pod" or (document.get("status") or {}).get("phase") not in FINISHED


def _alone(document: Document) -> Document:
    """Return a manifest without its owner and annotations, so that nobody else acts on it."""
    if document["kind"] != "Pod":
        return document
    meta = {name: value for name, value in _meta(document).items() if name not in UNREAD}
    return {**document, "metadata": meta}


def _named(document: Document, scheduler: str) -> Document:
    if document["kind"] != "Pod":
        return document
    return {**document, "spec": {**document["spec"], "schedulerName": scheduler}}


def _operation(number: int, move: MigrationStep, pod: Document) -> Document:
    time = (number + 1) * SECONDS_APART
    name = f"{number + 1}-{move.action}"
    meta = _meta(pod)
    if move.action == "evict":
        target = {"name": meta["name"], "namespace": meta["namespace"]}
        return {
            "id": name,
            "time": time,
            "deleteOperation": {"typeMeta": {"kind": "Pod"}, "objectMeta": target},
        }
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    affinity = {**(spec.get("affinity") or {}), "nodeAffinity": _pinned(move.node)}
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {key: value for key, value in meta.items() if key != "generateName"},
        "spec": {**spec, "schedulerName": "default-scheduler", "affinity": affinity},
    }
    return {"id": name, "time": time, "createOperation": {"object": made}}


def _pinned(node: str) -> Document:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = [{"matchFields": [field]}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def _text(documents: Iterable[Document]) -> str:
    return "\n---\n".join(json.dumps(one, ensure_ascii=False) for one in documents) + "\n"
