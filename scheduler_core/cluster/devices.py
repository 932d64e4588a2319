"""GPUs that pods share: a share lives on one device, which the sums of extended resources do not tell.

Two GPUs with 400 thousandths free each have 800 free, and no room for a share of 600. kube-scheduler alone
adds up; the schedulers that these resources are made for do not. Which device a pod holds is not kept: the
shares of a node are packed anew, the largest first, each onto the fullest device that has room.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from scheduler_core.objects.arrays import IntVector

SHARE = "alibabacloud.com/gpu-milli"
COUNT = "alibabacloud.com/gpu-count"
WHOLE = 1000  # of the one make up a device of the other
ON_ONE_DEVICE = f"{SHARE} on one device"
MOST_DEVICES = 256  # of one node; where there are more, only the sums count


class Demand(NamedTuple):
    """The devices that a pod takes for itself, or the share of one that it takes, in thousandths."""

    devices: int
    share: int


def demand_of(requests: Mapping[str, int]) -> Demand | None:
    """Return what a pod asks of devices, ``None`` if it asks for none."""
    devices, share = divmod(max(0, requests.get(SHARE, 0)), WHOLE)
    devices = max(devices, requests.get(COUNT, 0))
    if not devices:
        return Demand(0, share) if share else None
    return Demand(devices if devices * WHOLE >= requests.get(SHARE, 0) else devices + 1, 0)


def room(devices: int, demands: Iterable[Demand]) -> tuple[int, int]:
    """Return how many devices are idle, and the largest share that one device has room for.

    There is none of either where the demands themselves cannot be packed.
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
    """What every node has idle and to share, ``(N,) int64`` each; a node that changes is to be renewed."""

    def __init__(self, milli: IntVector, count: IntVector) -> None:
        devices = np.where(count > 0, np.minimum(count, milli // WHOLE), milli // WHOLE)
        self.devices = np.where(devices <= MOST_DEVICES, devices, 0)
        self.idle = self.devices.copy()
        self.largest = np.where(self.devices > 0, WHOLE, 0)

    def renew(self, node: int, demands: Iterable[Demand]) -> None:
        """Work out the room of one node."""
        if self.devices[node]:
            self.idle[node], self.largest[node] = room(int(self.devices[node]), demands)
