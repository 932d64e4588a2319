"""The cluster as it stands after some cycles, for whoever places the pending pods."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from scheduler_core.compare.optimum.contenders import PLACED_BY_ALL, Contender, kind_of, still
from scheduler_core.compare.optimum.optimum import MigrationStep
from scheduler_core.compare.results.final_manifests import ending_documents, objects_of
from scheduler_core.kubernetes.kinds import KINDS, MANIFEST_KINDS, is_manifest_kind
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.progress import Watch, unwatched
from scheduler_core.run import Stepper
from scheduler_core.settings.release import DEFAULT_RELEASE

OBJECTS = frozenset((*KINDS, *MANIFEST_KINDS))
"""The kinds of a cluster's objects: configurations, settings and operations are none."""
MOVED = PLACED_BY_ALL.union(MANIFEST_KINDS, ("Service", "PodDisruptionBudget"))
"""The kinds that a bundle of moves has: no controller makes other pods in it, and no group waits for all."""
UNREAD = ("ownerReferences", "annotations", "uid", "resourceVersion", "creationTimestamp")
FINISHED = ("Succeeded", "Failed")
SECONDS_APART = 1.0  # between two moves


class ShortRunError(ValueError):
    """The run ends before the cycle that is asked for."""

    def __init__(self, wanted: int, cycles: int) -> None:
        self.cycles = cycles
        super().__init__(f"the run ends after {cycles:,} cycles: step must be at most that, not {wanted:,}")


class ClusterSnapshot:
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
        self.gates = dict(simulation.scenario.settings.feature_gates)
        ending = ending_documents(simulation)
        named = {(kind_of(one), _named_by(one)) for one in ending}
        ending += [  # what the scenario's own schedulers do not read is not among what its run ends with
            one
            for one in simulation.scenario.documents
            if is_manifest_kind(one) and (kind_of(one), _named_by(one)) not in named
        ]
        self.documents = [one for one in ending if one.get("kind") in OBJECTS and _stands(one, there)]

    def _placed(self, pod: Pod) -> Pod:
        node = self.placement.get(pod.meta.key)
        return replace(pod, node_name=node) if node else pod

    @property
    def pending(self) -> list[Pod]:
        """The pods without a node."""
        return [pod for pod in self.pods if not pod.node_name]

    def text_for(self, scheduler: Contender, *, evict: bool) -> str:
        """Return a bundle in which a scheduler is responsible for all pending pods, with what it reads.

        ``evict``: for them it may evict pods of lower priority.
        """
        gates = {"featureGates": self.gates} if scheduler.gated and self.gates else {}
        head = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", **scheduler.settings, **gates}
        return _text((head, *scheduler.given(self.documents, evict=evict)))

    def text_with(self, moves: Sequence[MigrationStep]) -> str:
        """Return a bundle that makes the moves one after the other, each binding a cycle of v1.37.

        A binding is the creation of the pod with a node affinity that only its node satisfies; pods that stay
        pending are left out.
        """
        documents = [_alone(one) for one in self.documents if one["kind"] in MOVED]
        pods = [one for one in documents if one["kind"] == "Pod"]
        given = {f"{_meta(one)['namespace']}/{_meta(one)['name']}": one for one in pods}
        kept = [one for one in documents if one["kind"] != "Pod" or one["spec"].get("nodeName")]
        operations = [
            _operation(number, move, given[move.pod])
            for number, move in enumerate(moves)
            if move.pod in given
        ]
        head = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": DEFAULT_RELEASE}
        scenario = {
            "apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "moves"},
            "spec": {"operations": operations},
        }
        return _text((head, *kept, scenario))


def _named_by(document: Document) -> tuple[str, str]:
    meta = document.get("metadata") or {}
    return str(meta.get("namespace") or "default"), str(meta.get("name"))


def _meta(document: Document) -> dict[str, Any]:
    meta = dict(document["metadata"])
    return {**meta, "namespace": meta.get("namespace") or "default"}


def _stands(document: Document, nodes: set[str]) -> bool:
    if document["kind"] == "Node":
        return document["metadata"]["name"] in nodes
    return document["kind"] != "Pod" or (document.get("status") or {}).get("phase") not in FINISHED


def _alone(document: Document) -> Document:
    """Return a manifest without its owner, group and annotations, so that nobody else acts on it."""
    if document["kind"] != "Pod":
        return still(document)
    meta = {name: value for name, value in _meta(document).items() if name not in UNREAD}
    spec = {name: value for name, value in document["spec"].items() if name != "schedulingGroup"}
    return {**document, "metadata": meta, "spec": {**spec, "schedulerName": "default-scheduler"}}


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
        "spec": {**spec, "affinity": affinity},
    }
    return {"id": name, "time": time, "createOperation": {"object": made}}


def _pinned(node: str) -> Document:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = [{"matchFields": [field]}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def _text(documents: Iterable[Document]) -> str:
    return "\n---\n".join(json.dumps(one, ensure_ascii=False) for one in documents) + "\n"
