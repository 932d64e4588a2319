"""Which waiting pods are nominated to which node (the queue's nominator)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.schedulers.v1_37.pods import CompiledPod


class NominatedPods:
    """Queued pods with ``status.nominatedNodeName``, by node in order of nomination."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, CompiledPod]] = {}
        self._nodes: dict[str, str] = {}
        self._blank: dict[str, CompiledPod] = {}
        self._hidden: set[str] = set()

    def put(self, pod: CompiledPod) -> None:
        """Add a queued pod's nomination from its status; it goes behind the others of the node."""
        self.nominate(pod, pod.nominated_node)

    def nominate(self, pod: CompiledPod, node: str) -> None:
        """Add a nomination that the pod's status may not have yet; none if ``node`` is empty."""
        self.drop(pod.key)
        if node:
            self._nodes[pod.key] = node
            self._by_node.setdefault(node, {})[pod.key] = pod

    def drop(self, key: str) -> None:
        """Forget a pod that is no longer queued."""
        node = self._nodes.pop(key, None)
        if node is not None:
            del self._by_node[node][key]

    def on(self, node: str) -> Sequence[CompiledPod]:
        """Return the waiting pods nominated to the node, in order of nomination."""
        found = self._by_node.get(node, {})
        return tuple(self._blank.get(key, pod) for key, pod in found.items() if key not in self._hidden)

    def node_of(self, pod: CompiledPod) -> str:
        """Return the node that the pod is nominated to, or an empty string."""
        return self._nodes.get(pod.key, "")

    def in_flight(self, pods: Iterable[CompiledPod]) -> None:
        """Note the members of a group that is being tried, of which the queue knows no more than the names.

        Such a pod counts as one without priority and requests.
        """
        self._blank = {
            pod.key: CompiledPod({"metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}})
            for pod in pods
        }

    def hide(self, key: str) -> None:
        """Leave a pod out while it is assumed on a node."""
        self._hidden.add(key)

    def show(self, key: str) -> None:
        """Count a pod's nomination again."""
        self._hidden.discard(key)

    def nodes(self) -> dict[str, str]:
        """Return the node of every nominated pod, by pod."""
        return dict(self._nodes)
