"""ResourceClaims beside the API server: pods' claims are made and freed, as writes that schedulers watch."""

from __future__ import annotations

from functools import partial

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.run.plane.manifests import StoredManifests
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.run.several.v1_37_view import V1_37View
from scheduler_core.run.v1_37.claims import PodClaims, has_claims
from scheduler_core.schedulers.v1_37.change import ObjectWrite


class ClaimController(PodClaims):
    """Watches pods, claims and templates; ``cluster`` are the manifests of the API server.

    It has served every pod of the start before a scheduler exists. Later it answers each write in a turn of
    its own.
    """

    def __init__(self, server: SharedCluster, cluster: StoredManifests) -> None:
        super().__init__(self)
        self.cluster = cluster
        self._server = server
        for kind in ("ResourceClaim", "Pod"):
            for manifest in list(cluster.list(kind)):
                self.follow(manifest)

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Handle a write of an object with a typed one: only pods matter."""
        if kind != "Pod":
            return
        if obj is None:
            self.lose(kind, key)
        elif has_claims(self.cluster.of(kind, key) or {}):
            self._server.later(partial(self._answer, key))

    def operated(self, kind: str, key: str, made: Document | None) -> None:
        """Handle an operation on a kind without a typed object."""
        if made is None:
            self.lose(kind, key)
        else:
            self.follow(made)

    def _answer(self, key: str) -> None:
        manifest = self.cluster.of("Pod", key)
        if manifest is None:
            return
        self.follow(manifest)
        if (manifest.get("spec") or {}).get("nodeName"):
            self.placed(key)

    def write(self, change: ObjectWrite) -> None:
        """Send a write that was made to the schedulers that read manifests."""
        obj = self._server.pods.get(change.key) if change.kind == "Pod" else None
        for watcher in self._server.watchers:
            if isinstance(watcher, V1_37View):
                watcher.send_later(change.kind, change.key, obj, change.new)
