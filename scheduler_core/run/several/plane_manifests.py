"""The manifests that a lone v1.37 reads while its control plane runs: as its API server has shown them."""

from __future__ import annotations

from typing import Protocol

from scheduler_core.formats.patch import PatchError
from scheduler_core.kubernetes.kinds import KINDS as TYPED_KINDS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.run.several.manifests import StoredManifests, followed
from scheduler_core.run.v1_37.manifests import ScenarioManifests
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_37.change import ObjectWrite

KINDS = frozenset(TYPED_KINDS) - {"Service", "PodGroup", "Queue"}
"""The kinds that the control plane stores."""


class Rewrites(Protocol):
    """Who writes another status of an object to the API server."""

    def rewrite(self, manifest: Document) -> None:
        """Store another status of an object."""
        ...


class PlaneManifests(StoredManifests):
    """The manifests by kind and key; ``plane`` writes those of its kinds."""

    def __init__(self, scenario: Scenario, plane: Rewrites) -> None:
        self.objects = {}
        self.landing = None
        self.made = ScenarioManifests(scenario)
        self._typed = {}
        self._plane = plane

    def go_on_as(self, scenario: Scenario) -> None:
        """Take operations from another scenario, which has the same objects."""
        self.made = self.made.under(scenario)

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Follow a write of a kind that the control plane does not have."""
        if kind not in KINDS:
            super().written(kind, key, obj)

    def replace(self, manifest: Document) -> ObjectWrite:
        """Store a new state of an object that its typed one does not show."""
        if manifest["kind"] in KINDS:
            self._plane.rewrite(manifest)
        return super().replace(manifest)

    def keep(self, manifest: Document) -> None:
        """Store a manifest as it is shown from now on."""
        self._store(manifest)

    def drop(self, kind: str, key: str) -> None:
        """Forget a manifest."""
        self.objects.get(kind, {}).pop(key, None)

    def wanted(
        self, kind: str, key: str, previous: KubernetesObject | None, obj: KubernetesObject
    ) -> Document | None:
        """Return the manifest of an object as its user or the scheduler wants it; ``None`` for no change."""
        stored, landing = self.of(kind, key), self.landing
        if landing is not None and (landing.kind, landing.key) == (kind, key):
            try:
                return self.made.changed(landing, self, obj)
            except PatchError:  # it applies to the typed object only, where its error was reported
                return stored
        if stored is None:
            return self.made.created(obj, self)
        made = followed(stored, previous, obj)
        if isinstance(obj, Pod):
            status = {**(made.get("status") or {}), "nominatedNodeName": obj.nominated_node_name or None}
            made = {**made, "status": {name: value for name, value in status.items() if value is not None}}
        return made
