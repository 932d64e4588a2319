"""Counters that partitions of a device draw from together (DRAPartitionableDevices)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from scheduler_core.schedulers.v1_37.device_capacity import written
from scheduler_core.schedulers.v1_37.device_pools import Counters, DevicePool, PoolId, amounts
from scheduler_core.schedulers.v1_37.device_use import DevicesInUse
from scheduler_core.schedulers.v1_37.devices import Device


class CounterUse:
    """What one search draws from the counters of its pools."""

    def __init__(
        self, pools: list[DevicePool], in_use: DevicesInUse, available: dict[PoolId, Counters]
    ) -> None:
        self._pools = {pool.id: pool for pool in pools}
        self._in_use = in_use
        self._available = available  # kept from node to node
        self._drawn: defaultdict[PoolId, defaultdict[tuple[str, str], Fraction]] = defaultdict(_nothing)

    def reserve(self, device: Device) -> bool:
        """Draw what the device consumes; return False, with nothing drawn, if a counter is exceeded.

        Any counter of the pool counts, even one that the device does not consume (checkAvailableCounters).
        """
        pool = device.id[:2]
        self._draw(device, 1)
        drawn = self._drawn[pool]
        for name, counters in self._left(pool).items():
            if any(drawn[name, counter] > amount for counter, amount in counters.items()):
                self._draw(device, -1)
                return False
        return True

    def lacking(self, device: Device) -> Iterator[str]:
        """Yield which counters have less left than the device consumes: facts for explanations."""
        left = self._left(device.id[:2])
        for name, counter, amount in _consumed(device):
            have = left.get(name, {}).get(counter, Fraction(0))
            if amount > have:
                shown = [written(one, "1Ki") for one in (amount, have)]
                yield f"{shown[0]} of the counter {name}/{counter} needed, {shown[1]} left"

    def release(self, device: Device) -> None:
        """Give back what the device consumes."""
        self._draw(device, -1)

    def _draw(self, device: Device, sign: int) -> None:
        drawn = self._drawn[device.id[:2]]
        for name, counter, amount in _consumed(device):
            drawn[name, counter] += sign * amount

    def _left(self, pool: PoolId) -> Counters:
        """Return what the devices in use leave of a pool's counters; it may be below 0."""
        if pool not in self._available:
            given = self._pools[pool]
            left = {name: dict(counters) for name, counters in given.counters.items()}
            for device in (*given.devices, *given.elsewhere):
                for name, counter, amount in _consumed(device) if self._in_use.has(device.id) else ():
                    left[name][counter] -= amount
            self._available[pool] = left
        return self._available[pool]


def _nothing() -> defaultdict[tuple[str, str], Fraction]:
    return defaultdict(Fraction)


def _consumed(device: Device) -> Iterator[tuple[str, str, Fraction]]:
    for one in device.spec.get("consumesCounters") or ():
        for counter, amount in amounts(one.get("counters")).items():
            yield one["counterSet"], counter, amount
