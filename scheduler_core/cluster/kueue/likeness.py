"""Workloads that are alike: what one is refused the others would be, too (SchedulingEquivalenceHashing)."""

from __future__ import annotations

import json
from typing import Any

from scheduler_core.cluster.kueue.entry import Entry

_POD_FIELDS = (
    "affinity", "nodeSelector", "overhead", "priority", "resourceClaims", "runtimeClassName", "tolerations",
    "topologySpreadConstraints",
)  # fmt: skip


def likeness_of(entry: Entry) -> str:
    """Return a text that is equal for Workloads that are alike."""
    rows = [
        (
            one.pod_set.name,
            one.count,
            one.pod_set.min_count,
            repr(one.pod_set.topology),
            [_resources(one.pod_set.pod_spec, kind) for kind in ("initContainers", "containers")],
            [one.pod_set.pod_spec.get(name) for name in _POD_FIELDS],
        )
        for one in entry.requests
    ]
    return json.dumps([entry.workload.rank, rows], sort_keys=True)


def _resources(spec: Any, kind: str) -> list[Any]:
    return [one.get("resources") for one in spec.get(kind) or ()]
