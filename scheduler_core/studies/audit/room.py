"""How many more of a pod the scheduler places: its own attempts on a copy of the cluster at rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.compare.again import unbound
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.fields_pod import group_of
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.run.v1_37.loop import V1_37Stepper
from scheduler_core.schedulers.v1_37.attempt import fit_message
from scheduler_core.schedulers.v1_37.pods import CompiledPod

MOST = 2_000
"""More of one pod are not counted."""


class Fill(Struct, frozen=True):
    """How many were placed, by node; what refuses the next, and the plugins that do.

    ``stop`` is "" if as many were placed as were asked for.
    """

    placed: int
    nodes: Mapping[str, int]
    stop: str = ""
    plugins: tuple[str, ...] = ()


class Vacancies:
    """A copy of a scheduler with its cluster, in which further pods take their places; none is evicted."""

    def __init__(self, run: V1_37Stepper) -> None:
        self._run = run.fork(trace=False).run
        self._number = 0

    def fill(self, *members: Document, most: int = MOST) -> Fill:
        """Place copies of a pod one after the other, until one finds no node or ``most`` are placed.

        Of several, which are one PodGroup, all find a node or none takes one.
        """
        nodes: Counter[str] = Counter()
        for placed in range(most):
            look()
            taken: list[CompiledPod] = []
            for manifest in members:
                pod = self._added(manifest)
                found = self._run.scheduling.schedule_untraced(pod)
                if found.node is None:
                    attempt = self._run.scheduling.schedule(pod)
                    self._remove(*taken, pod)
                    plugins = tuple(sorted(attempt.unschedulable_plugins))
                    return Fill(placed, nodes, fit_message(attempt), plugins)
                taken.append(self._run.cluster.assume(pod, found.node))
            nodes.update(pod.node for pod in taken)
        return Fill(most, nodes)

    def _remove(self, *pods: CompiledPod) -> None:
        for pod in pods:
            self._run.cluster.delete("Pod", pod.namespace, pod.name)

    def add(self, manifest: Document) -> None:
        """Add a node, or a pod on one."""
        self._run.cluster.create(dict(manifest))

    def _added(self, manifest: Document) -> CompiledPod:
        self._number += 1
        meta = manifest["metadata"]
        name = f"{meta['name']}-more-{self._number}"
        self._run.cluster.create({**manifest, "metadata": {**meta, "name": name, "uid": f"uid-{name}"}})
        return self._run.cluster.pods[f"{meta.get('namespace') or 'default'}/{name}"]

    def pod(self, key: str) -> Document | None:
        """Return the manifest of a pod as it is before it is scheduled, None if there is none."""
        found = self._run.cluster.pods.get(key)
        return None if found is None else unbound(found.manifest)

    def groups(self) -> Mapping[str, list[Document]]:
        """Return the pods of each PodGroup, as they are before they are scheduled."""
        found: dict[str, list[Document]] = {}
        for pod in self._run.cluster.pods.values():
            if name := group_of(pod.manifest):
                found.setdefault(f"{pod.namespace}/{name}", []).append(unbound(pod.manifest))
        return found

    def node(self, name: str) -> Document | None:
        """Return the manifest of a node."""
        return self._run.cluster.get("Node", None, name)

    @property
    def nodes(self) -> Any:
        """The scheduler's table of nodes."""
        return self._run.cluster.nodes

    def requests_of(self, key: str) -> Mapping[str, int]:
        """Return what the scheduler counts as a pod's requests."""
        return {name: value for name, value in self._run.cluster.pods[key].requests.items() if value}
