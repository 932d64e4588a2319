"""TopologyPlacementGenerator: the placements of a PodGroup, which ``groups/placements.py`` generates."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.plugins.declaration import Declared

PLUGIN = Declared(
    "TopologyPlacementGenerator",
    "placementGenerate",
    rank=220,
    gate="TopologyAwareWorkloadScheduling",
)
