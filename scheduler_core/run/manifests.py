"""The manifests that extenders are sent: pods and nodes of the cluster as they are now."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from scheduler_core.formats.manifest import to_manifest
from scheduler_core.kubernetes.model import Node
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.extenders.messages import encode
from scheduler_core.schedulers.v1_11.extender_calls import uid_of

AMOUNTS = ("requests", "limits", "allocatable", "capacity")


class Manifests:
    """A cluster's manifests as JSON: the fields that scheduling reads. A node's is made once."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._nodes: dict[str, tuple[Node, str]] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Manifests:
        """Return those of the copied cluster."""
        return Manifests(deepcopy(self.cluster, memo))

    def pod(self, key: str) -> str:
        """Return a pod, with its node and its nomination."""
        state = self.cluster.pods[key]
        value = to_manifest(state.pod)
        value["metadata"]["uid"] = uid_of(state.pod)
        if state.node_name:
            value["spec"]["nodeName"] = state.node_name
        if state.nominated:
            value["status"]["nominatedNodeName"] = state.nominated
        return encode(_by_name(value))

    def node(self, name: str) -> str:
        """Return a node."""
        node = self.cluster.nodes[name]
        known = self._nodes.get(name)
        if known is None or known[0] is not node:
            known = self._nodes[name] = (node, encode(_by_name(to_manifest(node))))
        return known[1]


def _by_name(value: Any) -> Any:
    """Return a manifest with amounts by name, as Go encodes a map: equal pods make equal requests."""
    if isinstance(value, list):
        return [_by_name(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: dict(sorted(one.items())) if key in AMOUNTS and isinstance(one, dict) else _by_name(one)
        for key, one in value.items()
    }
