"""The devices that allocations hold, whole or by shares (GatherAllocatedState)."""

from __future__ import annotations

from collections import defaultdict

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.device_capacity import Consumed, amount_of
from scheduler_core.schedulers.v1_37.devices import DeviceId
from scheduler_core.schedulers.v1_37.state import ClusterState


class DevicesInUse(Struct):
    """Devices of allocations, those in flight included; an administrator's takes nothing."""

    whole: set[DeviceId] = field(default_factory=set)
    shares: defaultdict[DeviceId, list[Consumed]] = field(default_factory=lambda: defaultdict(list))
    """What each share of a device consumes."""

    def has(self, device: DeviceId) -> bool:
        """Return whether some claim holds the device or a share of it (IsDeviceAllocated)."""
        return device in self.whole or device in self.shares


def devices_in_use(cluster: ClusterState) -> DevicesInUse:
    """Return what the claims of the cluster hold."""
    out = DevicesInUse()
    allocations = [(claim.get("status") or {}).get("allocation") for claim in cluster.list("ResourceClaim")]
    for allocation in (*allocations, *cluster.assumed_devices.values()):
        for result in ((allocation or {}).get("devices") or {}).get("results") or ():
            device = (result["driver"], result["pool"], result["device"])
            if result.get("adminAccess"):
                continue
            if result.get("shareID"):
                consumed = (result.get("consumedCapacity") or {}).items()
                amounts = {name: amount_of(one) for name, one in consumed}
                out.shares[device].append(amounts)
            else:
                out.whole.add(device)
    return out
