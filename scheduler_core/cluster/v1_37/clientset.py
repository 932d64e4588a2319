"""Writes that one component of the control plane asks of the API server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from scheduler_core.cluster.v1_37.loop import Write
from scheduler_core.cluster.v1_37.objects import Manifest, key_of, namespace_of, resource_of, uid_of
from scheduler_core.cluster.v1_37.server import ApiServer


class Clientset:
    """What one component asks of the API server; each method returns a write that is made in its turn."""

    def __init__(self, server: ApiServer, name: str) -> None:
        self.server = server
        self.name = name

    def _of(self, verb: str, obj: Manifest, make: Callable[[], Any]) -> Write:
        name = self.server.listed_as(obj)
        return Write(self.name, verb, resource_of(obj["kind"]), namespace_of(obj), name, make)

    def create(self, obj: Manifest) -> Write:
        """Create an object."""
        return self._of("create", obj, partial(self.server.create, obj, self.name))

    def update(self, obj: Manifest) -> Write:
        """Update an object without its status."""
        return self._of("update", obj, partial(self.server.update, obj, self.name))

    def update_status(self, obj: Manifest) -> Write:
        """Update an object's status."""
        return self._of("update", obj, partial(self.server.update_status, obj, self.name))

    def patch(self, obj: Manifest, patch: Callable[[Manifest], Manifest]) -> Write:
        """Patch an object, of the same uid."""
        kind, key, uid = obj["kind"], key_of(obj), uid_of(obj)
        return self._of("patch", obj, partial(self.server.change, kind, key, patch, self.name, uid))

    def delete(
        self, obj: Manifest, *, grace: int | None = None, propagation: str = "Background", by: str = ""
    ) -> Write:
        """Delete an object of the same uid; ``by`` is reported in place of the client."""
        kind, key, uid, author = obj["kind"], key_of(obj), uid_of(obj), by or self.name
        return self._of(
            "delete",
            obj,
            partial(self.server.delete, kind, key, author, uid=uid, grace=grace, propagation=propagation),
        )

    def call(self, verb: str, obj: Manifest, make: Callable[[], Any]) -> Write:
        """Make any other write on an object, such as a binding or an eviction."""
        return self._of(verb, obj, make)
