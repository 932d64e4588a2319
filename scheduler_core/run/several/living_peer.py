"""A kube-scheduler v1.37 at the API server of its control plane: when it tries a pod."""

from __future__ import annotations

from scheduler_core.run.several.living_view import LivingView
from scheduler_core.run.several.v1_37_peer import V1_37Peer
from scheduler_core.run.several.v1_37_view import V1_37View


class LivingPeer(V1_37Peer):
    """A kube-scheduler v1.37 that nothing but writes and its queue make wait."""

    def __init__(self, view: V1_37View, *, listed: bool = False) -> None:
        super().__init__(view, listed=listed)
        assert isinstance(view, LivingView)
        self.living = view

    def is_due(self) -> bool:
        """Return whether it tries a pod before the next write is made."""
        self.living.plan()
        return not self.living.busy and self.living.loop.now >= self.rests_until and self.wants

    @property
    def due(self) -> float | None:
        """When it may try a pod next without a write."""
        found = [at for at in (self.living.due, self.rests_until) if at is not None]
        return min((at for at in found if at > self.living.loop.now), default=None)

    def prepare(self) -> None:
        """Take over what its queue has moved."""
        self.view.changed.clear()
        self._note_moves()
