"""Where kube-scheduler v1.37 deviates from its intention, and this package with it."""

from __future__ import annotations

from scheduler_core.schedulers.quirks import Quirk, Upstream

EMPTIED = Quirk(
    "extender-empties-nodes",
    "NodeResourcesFit",
    "After an extender without nodeCacheCapable filtered, NodeResourcesFit, "
    "NodeResourcesBalancedAllocation and ImageLocality score the nodes that it returned as if no pod ran "
    "on them and they had no image.",
    "Score the nodes as they are, as after an extender with nodeCacheCapable.",
    "HTTPExtender.Filter",
    (
        Upstream(130537, "brought it in: score plugins read the NodeInfo that they are given"),
        Upstream(141781, "reports it", pull=False),
        Upstream(141919, "proposes to look the nodes up among those that the extender was asked about"),
    ),
)

QUIRKS = (EMPTIED,)
