"""PodGroupPodsCount: prefers the placement with the most pods, in ``groups/placements.py``."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.plugins.declaration import Declared

PLUGIN = Declared(
    "PodGroupPodsCount",
    "placementScore",
    rank=230,
    weight=1,
    gate="TopologyAwareWorkloadScheduling",
)
