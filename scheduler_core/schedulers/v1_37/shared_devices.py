"""GPUs that pods share, row by row: an addition of this simulator, which kube-scheduler does not have.

kube-scheduler adds up the shares of all GPUs of a node. Here a share is of one of them, under every release
(:mod:`scheduler_core.kubernetes.shared_devices`). A cluster whose nodes have no such resource has none of
this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from scheduler_core.kubernetes.shared_devices import COUNT, MOST_DEVICES, SHARE, WHOLE, DeviceDemand, room

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


class SharedDevices:
    """Devices of each row, how many are idle, and the largest share free on one; ``(capacity,)`` each."""

    def __init__(self, capacity: int) -> None:
        self.devices = np.zeros(capacity, np.int64)
        self.idle = np.zeros(capacity, np.int64)
        self.largest = np.zeros(capacity, np.int64)

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        for name, column in list(vars(self).items()):
            setattr(self, name, np.concatenate((column, np.zeros(capacity - len(column), np.int64))))

    def put(self, row: int, allocatable: Mapping[str, int], demands: Iterable[DeviceDemand]) -> None:
        """Take the devices of a node object; of too many devices only the sums count."""
        count, milli = allocatable.get(COUNT, 0), allocatable.get(SHARE, 0)
        devices = min(count, milli // WHOLE) if count > 0 else milli // WHOLE
        self.devices[row] = devices if devices <= MOST_DEVICES else 0
        self.renew(row, demands)

    def renew(self, row: int, demands: Iterable[DeviceDemand]) -> None:
        """Pack the shares of a row again."""
        if self.devices[row]:
            self.idle[row], self.largest[row] = room(int(self.devices[row]), demands)

    def numbers(self, row: int) -> tuple[int, int]:
        """Return what two rows have to have in common to have room for the same shares."""
        return int(self.idle[row]), int(self.largest[row])

    def crowded(self, rows: Rows, demand: DeviceDemand) -> Mask:
        """Return where no device has room; ``(rows,) bool``. Too small a sum is another reason."""
        lacking = (self.idle[rows] < demand.devices) | (self.largest[rows] < demand.share)
        crowded: Mask = (self.devices[rows] > 0) & lacking
        return crowded
