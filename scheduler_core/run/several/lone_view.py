"""The view of a v1.37 that is alone: it hears of each write at once, so that it believes what is true."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.run.several.living_view import LivingView
from scheduler_core.run.several.plane_manifests import KINDS
from scheduler_core.run.several.view import Sent


class Unrecorded:
    """What becomes of bindings where no other scheduler can take a node: nobody reads it."""

    def landed(self, scheduler: str, sent: Sent, refused: str) -> None:
        """Do nothing."""

    def abandoned(self, scheduler: str, pod: str, why: str) -> None:
        """Do nothing."""

    def evicted(self, scheduler: str, pod: Pod) -> None:
        """Do nothing."""


class LoneView(LivingView):
    """A view whose typed cluster is that of the API server: nothing is counted twice.

    What it has assumed is in ``reserved``, and in v1.37's own cluster.
    """

    def __init__(self, objects: Iterable[KubernetesObject], *args: Any, **kw: Any) -> None:
        del objects  # the server has them
        super().__init__((), *args, **{**kw, "ledger": Unrecorded()})
        self.cluster = self.server.cluster

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Hear of a write of a kind that the control plane does not store."""
        if kind not in KINDS:
            super().written(kind, key, obj)

    def _receive(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Do nothing: the typed cluster has the write."""

    def assume(self, placements: Iterable[tuple[str, str]]) -> None:
        """Do nothing: ``reserved`` has the pod until its binding is confirmed."""
