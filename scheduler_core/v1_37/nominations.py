"""Which waiting pods are nominated to which nodes."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.v1_37.pods import Pod


class NominatedPods:
    """The nominator: pods by node, in order of nomination."""

    def __init__(self) -> None:
        self._pods: dict[str, dict[str, Pod]] = {}
        self._nodes: dict[str, str] = {}

    def on(self, node: str) -> Sequence[Pod]:
        """Return the waiting pods nominated to the node, in order of nomination."""
        return tuple(self._pods.get(node, {}).values())

    def nodes(self) -> Sequence[str]:
        """Return the nodes that any pod is nominated to."""
        return tuple(self._pods)

    def node_of(self, pod: Pod) -> str:
        """Return the node that the pod is nominated to, or an empty string."""
        return self._nodes.get(pod.key, "")

    def put(self, pod: Pod, node: str) -> None:
        """Nominate a pod, or with an empty node no longer."""
        old = self._nodes.pop(pod.key, "")
        if old:
            del self._pods[old][pod.key]
            if not self._pods[old]:
                del self._pods[old]
        if node:
            self._nodes[pod.key] = node
            self._pods.setdefault(node, {})[pod.key] = pod
