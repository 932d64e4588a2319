"""Which waiting pods are nominated to which node (the queue's nominator)."""

from __future__ import annotations

from scheduler_core.schedulers.columns.pods import PodState


class Nominations:
    """The waiting pods with a nominated node, which count there when others are filtered."""

    def __init__(self) -> None:
        self.nominated: dict[str, dict[str, PodState]] = {}  # node name -> key -> pod
        self._nodes: dict[str, str] = {}  # key -> node name

    def nominate(self, pod: PodState) -> None:
        """Count a pod on its nominated node, and on no other."""
        self.withdraw(pod.key)
        if pod.nominated:
            self.nominated.setdefault(pod.nominated, {})[pod.key] = pod
            self._nodes[pod.key] = pod.nominated

    def withdraw(self, key: str) -> None:
        """Count a pod no more; no effect for one without a nomination."""
        node = self._nodes.pop(key, None)
        if node is None:
            return
        pods = self.nominated[node]
        del pods[key]
        if not pods:
            del self.nominated[node]

    def nominated_to(self, node_name: str) -> list[PodState]:
        """Return the waiting pods that are nominated to a node, in creation order."""
        pods = self.nominated.get(node_name)
        return sorted(pods.values(), key=lambda pod: pod.order) if pods else []
