"""GPUs that pods share: a share must fit on one device, which the sums of extended resources do not show.

Two GPUs with 400 thousandths free each have 800 free in total, but no room for a share of 600. No release of
kube-scheduler knows that: it compares sums. The schedulers that define these resources do not, and neither
does this simulator, under any release. Which device a pod holds is
not stored: the shares of a node are packed again each time, the largest first, each onto the fullest device
with room for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector

SHARE = "alibabacloud.com/gpu-milli"
COUNT = "alibabacloud.com/gpu-count"
WHOLE = 1000  # units of SHARE that equal one of COUNT
ON_ONE_DEVICE = f"{SHARE} on one device"
MOST_DEVICES = 256  # of one node; with more devices, only the sums are compared


class DeviceDemand(NamedTuple):
    """The number of devices that a pod requests exclusively, or its share of one device, in thousandths."""

    devices: int
    share: int


def demand_of(requests: Mapping[str, int]) -> DeviceDemand | None:
    """Return a pod's demand for devices, ``None`` if it requests none."""
    devices, share = divmod(max(0, requests.get(SHARE, 0)), WHOLE)
    devices = max(devices, requests.get(COUNT, 0))
    if not devices:
        return DeviceDemand(0, share) if share else None
    return DeviceDemand(devices if devices * WHOLE >= requests.get(SHARE, 0) else devices + 1, 0)


def room(devices: int, demands: Iterable[DeviceDemand]) -> tuple[int, int]:
    """Return how many devices are idle, and the largest share that one device has room for.

    Both are 0 if the demands themselves cannot be packed.
    """
    listed = list(demands)
    idle = devices - sum(demand.devices for demand in listed)
    free = [WHOLE] * max(0, idle)
    for share in sorted((demand.share for demand in listed if demand.share), reverse=True):
        place = min((n for n, left in enumerate(free) if left >= share), key=free.__getitem__, default=None)
        if place is None:
            return 0, 0
        free[place] -= share
    return (free.count(WHOLE), max(free, default=0)) if idle >= 0 else (0, 0)


class DeviceRoom:
    """Every node's idle devices and largest free share, ``(N,) int64`` each; see ``renew`` for updates."""

    def __init__(self, milli: IntVector, count: IntVector) -> None:
        devices = np.where(count > 0, np.minimum(count, milli // WHOLE), milli // WHOLE)
        self.devices = np.where(devices <= MOST_DEVICES, devices, 0)
        self.idle = self.devices.copy()
        self.largest = np.where(self.devices > 0, WHOLE, 0)

    def renew(self, node: int, demands: Iterable[DeviceDemand]) -> None:
        """Compute the room of one node again."""
        if self.devices[node]:
            self.idle[node], self.largest[node] = room(int(self.devices[node]), demands)
