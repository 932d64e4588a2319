"""The manifests that schedulers read while a control plane runs: those of its API server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_core.cluster.v1_37.objects import Manifest, key_of, spec_of, status_of, with_spec
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite
from scheduler_core.formats.patch import PatchError
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.kinds import KINDS as TYPED_KINDS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.run.control import Manager
from scheduler_core.run.plane.manifests import StoredManifests, followed
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_37.change import ObjectWrite

KINDS = frozenset(TYPED_KINDS) - {"Service", "PodGroup", "Queue"}
"""The kinds that the control plane stores."""


class PlaneManifests(StoredManifests):
    """The manifests of a control plane's kinds, which its ``server`` has, and of the others, which are here.

    An object whose write schedulers observe later is as it was until then.
    """

    def __init__(self, scenario: Scenario, manager: Manager, server: ApiServer) -> None:
        super().__init__(scenario, manager)
        self.server = server
        self._untold: dict[Key, tuple[Manifest | None, StoredWrite]] = {}
        """What schedulers know of an object, and the last write that they have yet to observe."""

    def go_on_as(self, scenario: Scenario) -> None:
        """Take operations from another scenario, which has the same objects."""
        self.made = self.made.under(scenario)

    # --- what is shown

    def of(self, kind: str, key: str) -> Document | None:
        """Return the manifest of an object as schedulers know it."""
        if kind not in KINDS:
            return super().of(kind, key)
        untold = self._untold.get((kind, key)) if self._untold else None
        stored = self.server.get(kind, key) if untold is None else untold[0]
        return None if stored is None else shown(stored)

    def table(self, kind: str) -> Mapping[str, Document]:
        """Return the manifests of a kind by key."""
        if kind not in KINDS:
            return super().table(kind)
        untold = (key for one, key in self._untold if one == kind)
        keys = dict.fromkeys((*self.server.objects.get(kind, ()), *untold))
        found = ((key, self.of(kind, key)) for key in keys)
        return {key: manifest for key, manifest in found if manifest is not None}

    def kinds(self) -> list[str]:
        """Return the kinds of which there are manifests."""
        return [*self.objects, *(kind for kind in self.server.objects if kind in KINDS)]

    def stored(self) -> Iterator[Document]:
        """Iterate over all manifests as they are stored."""
        yield from super().stored()
        for table in self.server.objects.values():
            yield from table.values()

    def hold(self, write: StoredWrite) -> None:
        """Show an object as it was before a write until schedulers observe it."""
        key = write.kind, write.key
        known = self._untold.get(key)
        self._untold[key] = (write.old if known is None else known[0]), write

    def tell(self, write: StoredWrite) -> None:
        """Show an object as a write has left it."""
        if not self._untold:
            return
        key = write.kind, write.key
        known = self._untold.get(key)
        if known is not None:
            if known[1] is write:
                del self._untold[key]
            else:
                self._untold[key] = write.new, known[1]

    def catch_up(self, key: Key | None = None) -> None:
        """Show an object, or all, as they are stored."""
        if key is None:
            self._untold.clear()
        else:
            self._untold.pop(key, None)

    # --- what others write

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Follow a write of a kind that the control plane does not have."""
        if kind not in KINDS:
            super().written(kind, key, obj)

    def replace(self, manifest: Document) -> ObjectWrite:
        """Store a new state that the typed object does not show: of the plane's kinds the status."""
        kind = str(manifest["kind"])
        if kind not in KINDS:
            return super().replace(manifest)
        made = dict(manifest)
        key = key_of(made)
        self._manager.rewrite(kind, key, status_of(made))
        return ObjectWrite(kind, key, self.of(kind, key), made)

    def wanted(
        self, kind: str, key: str, previous: KubernetesObject | None, obj: KubernetesObject
    ) -> Document | None:
        """Return the manifest of an object as its user or the scheduler wants it; ``None`` for no change."""
        stored, landing = self.of(kind, key), self._manager.landing
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


def shown(stored: Manifest) -> Manifest:
    """Return an object as the API has it, a ReplicationController with its own kind of selector."""
    if stored["kind"] != "ReplicationController":
        return stored
    return with_spec(stored, selector=spec_of(stored)["selector"]["matchLabels"])
