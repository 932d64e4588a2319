"""The depth-first search for devices of several claims on one node (allocateOne, allocateDevice)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.device_capacity import Consumed, consumed_by, has_capacity, lacking
from scheduler_core.schedulers.v1_37.device_constraints import DeviceConstraint, constraints_of
from scheduler_core.schedulers.v1_37.device_counters import CounterUse
from scheduler_core.schedulers.v1_37.device_pools import Counters, DevicePool, PoolId, reaches
from scheduler_core.schedulers.v1_37.device_selectors import DeviceSelector, refusal, selects
from scheduler_core.schedulers.v1_37.device_use import DevicesInUse
from scheduler_core.schedulers.v1_37.devices import (
    Device,
    DeviceId,
    DeviceRequest,
    is_tainted,
    key_of_claim,
    requests_of,
)
from scheduler_core.schedulers.v1_37.interface import PluginError
from scheduler_core.schedulers.v1_37.state import ClusterState

CAPACITY_GATE = "DRAConsumableCapacity"
"""Claims may share devices, and want all values of an attribute to be different."""

MAX_STEPS = 200_000
"""Devices tried for one pod on one node; upstream stops by a timeout of seconds."""

MAX_RESULTS = 32
"""Devices in one allocation (resourceapi.AllocationResultsMaxSize)."""


Undo = list[Callable[[], object]]
"""What takes a device back, to be called from the last."""


class Taken(NamedTuple):
    """A device that a request takes; ``consumed`` is None unless it is a share of the device."""

    request: DeviceRequest
    device: Device
    consumed: Consumed | None


class _TooManyError(Exception):
    """A claim would get more devices than an allocation can hold; another alternative may take fewer."""


class _Claim(Struct):
    """A claim in the search."""

    manifest: Manifest
    requests: list[list[DeviceRequest]]
    constraints: list[DeviceConstraint] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)


class _Place(NamedTuple):
    """How far a search has come: which device of which request is next."""

    claim: int
    ordinal: int
    """Of the request in its claim."""
    request: DeviceRequest
    number: int = 0
    """Devices that the request has."""
    start: int = 0
    """Where the search for the next one begins: a request tries its devices in one order alone."""


class DeviceSearch:
    """One search: the claims of a pod on one node, all or none."""

    def __init__(
        self,
        cluster: ClusterState,
        claims: Sequence[Manifest],
        node: tuple[str, dict[str, str]],
        pools: list[DevicePool],
        in_use: DevicesInUse,
        available: dict[PoolId, Counters],
    ) -> None:
        self.pools = pools
        self.devices = [device for pool in pools for device in pool.devices]
        self._shares_devices = cluster.configuration.gate(CAPACITY_GATE)
        self.claims = [_Claim(one, list(requests_of(one, shares=self._shares_devices))) for one in claims]
        self._cluster, self._node, self._in_use = cluster, node, in_use
        self._counters = CounterUse(pools, in_use, available)
        self._takers: defaultdict[DeviceId, list[int]] = defaultdict(list)  # the claims, by index
        self._shares: defaultdict[DeviceId, list[Consumed]] = defaultdict(list)
        self._all: dict[int, list[Device]] = {}  # the devices of a request that takes all
        self._selected: dict[tuple[int, DeviceId], bool] = {}
        self._steps = 0

    def run(self) -> bool:
        """Search; return whether every request was served, by ``claims``.

        Raises:
            PluginError: A selector fails, a request cannot be served on any node, or the search is too long.
        """
        for claim in self.claims:
            self._prepare(claim)
        try:
            return self._serve_claim(0)
        except RecursionError:
            raise PluginError("device allocation is nested too deeply") from None

    def _prepare(self, claim: _Claim) -> None:
        """Collect the devices of requests that take all, and check what can be known before the search."""
        least = 0
        for alternatives in claim.requests:
            fewest = min(self._number(request) for request in alternatives)
            if fewest > MAX_RESULTS - least:
                raise PluginError(
                    f"claim {key_of_claim(claim.manifest)}, request {alternatives[0].base}: adding {fewest} "
                    f"devices exceeds the claim limit of {MAX_RESULTS}, with {least} already accounted for"
                )
            least += fewest
        claim.constraints = constraints_of(claim.manifest, distinct=self._shares_devices)

    def _number(self, request: DeviceRequest) -> int:
        """Return how many devices a request takes."""
        if not request.takes_all:
            return request.count
        if id(request) not in self._all:
            self._all[id(request)] = self._everything(request)
        return len(self._all[id(request)])

    def _everything(self, request: DeviceRequest) -> list[Device]:
        """Return all devices that a request selects. Raises PluginError unless all pools are whole."""
        found = []
        for pool in self.pools:
            if pool.problem:
                raise PluginError(
                    f"{request.label}: asks for all devices, but resource pool {'/'.join(pool.id)} is "
                    f"currently {pool.problem}"
                )
            selected = (device for device in pool.devices if self.selects(request, device))
            found += [device for device in selected if has_capacity(request, device, ())]
        return found

    def _serve_claim(self, index: int) -> bool:
        """Serve the claims from ``index`` on."""
        if index == len(self.claims):
            return True
        try:
            return self._serve(index, 0)
        except _TooManyError:
            return False

    def _serve(self, index: int, place: int) -> bool:
        """Serve the requests of a claim from ``place`` on, then the other claims."""
        requests = self.claims[index].requests
        if place == len(requests):
            return self._serve_claim(index + 1)
        alternatives = [_Place(index, place, request) for request in requests[place]]
        if not alternatives[0].request.is_alternative:
            return self._take(alternatives[0])
        return self._take_first(alternatives)

    def _take_first(self, alternatives: list[_Place]) -> bool:
        """Serve the first alternative that works. Raises _TooManyError if each has too many devices."""
        too_many = True
        for place in alternatives:
            try:
                if self._take(place):
                    return True
                too_many = False
            except _TooManyError:
                continue
        if too_many:
            raise _TooManyError
        return False

    def _take(self, place: _Place) -> bool:
        """Take the device at a place, and all that follow."""
        claim, request = self.claims[place.claim], place.request
        wanted = self._number(request)
        if request.takes_all and not wanted:
            return False
        if place.number >= wanted:
            return self._serve(place.claim, place.ordinal + 1)
        if wanted - place.number > MAX_RESULTS - len(claim.taken):
            raise _TooManyError
        if request.takes_all:
            return self._with(place, self._all[id(request)][place.number], 0, self._goes_on_as(place))
        return any(
            self._is_candidate(place.claim, request, self.devices[at])
            and self._with(place, self.devices[at], at + 1)
            for at in range(place.start, len(self.devices))
        )

    def _is_candidate(self, index: int, request: DeviceRequest, device: Device) -> bool:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise PluginError(f"device allocation stopped after {MAX_STEPS} steps")
        return (
            self.is_free(request, device, index)
            and self.selects(request, device)
            and self._has_capacity(request, device)
        )

    def is_free(self, request: DeviceRequest, device: Device, index: int = -1) -> bool:
        """Return whether a request of the claim may have a device that others may use (deviceInUse).

        An administrator's request shares it with all but its own claim.
        """
        takers = self._takers.get(device.id, ())
        if request.is_for_admin:
            return index not in takers
        return device.id not in self._in_use.whole and not takers

    def _has_capacity(self, request: DeviceRequest, device: Device) -> bool:
        return has_capacity(request, device, self._others(device))

    def _others(self, device: Device) -> tuple[Consumed, ...]:
        return (*self._in_use.shares.get(device.id, ()), *self._shares.get(device.id, ()))

    def lacking(self, request: DeviceRequest, device: Device) -> Iterator[str]:
        """Yield what a device has not left of the capacities and counters that a request takes of it."""
        if not self._has_capacity(request, device):
            yield from lacking(request, device, self._others(device))
        if device.spec.get("consumesCounters") and not (device.is_shared and self._others(device)):
            yield from self._counters.lacking(device)

    def _goes_on_as(self, place: _Place) -> DeviceRequest | None:
        """Return which request takes what follows a device of one that takes all."""
        if self._cluster.configuration.dialect.keeps_alternative:
            return None
        return self.claims[place.claim].requests[place.ordinal][0]

    def _with(self, place: _Place, device: Device, start: int, then: DeviceRequest | None = None) -> bool:
        """Give a device to a request and serve the rest; if that fails, all is as before.

        ``then`` is the request that goes on, the same if it is None.
        """
        undo = self._give(place.claim, place.request, device)
        if undo is None:
            return False
        try:
            next_one = place._replace(request=then or place.request, number=place.number + 1, start=start)
            served = self._take(next_one)
        except _TooManyError:
            _undone(undo)
            raise
        if not served:
            _undone(undo)
        return served

    def _give(self, index: int, request: DeviceRequest, device: Device) -> Undo | None:
        """Give a free and selected device to a request; return how to take it back, None if it cannot be.

        Raises PluginError if a constraint keeps a device from a request that takes all.
        """
        claim: _Claim = self.claims[index]
        undo: Undo = []
        if not self.is_free(request, device, index):
            return None
        in_shares = device.is_shared and (device.id in self._in_use.shares or self._shares.get(device.id))
        if device.spec.get("consumesCounters") and not in_shares:
            if not self._counters.reserve(device):
                return None
            undo.append(partial(self._counters.release, device))
        given = not is_tainted(request, device) and self._constrain(claim, request, device, undo)
        if not given or not self._has_capacity(request, device):
            _undone(undo)
            return None
        self._record(index, request, device, undo)
        return undo

    @staticmethod
    def _constrain(claim: _Claim, request: DeviceRequest, device: Device, undo: Undo) -> bool:
        """Return whether the claim's constraints admit the device next to those taken."""
        for constraint in claim.constraints:
            if not constraint.add(request, device):
                if request.takes_all:
                    raise PluginError(
                        f"{request.label}: cannot add device {device.path} because a claim constraint "
                        "would not be satisfied"
                    )
                return False
            undo.append(partial(constraint.remove, request))
        return True

    def _record(self, index: int, request: DeviceRequest, device: Device, undo: Undo) -> None:
        consumed = None
        if device.is_shared:
            consumed = consumed_by(request, device)
            self._shares[device.id].append(consumed)
            undo.append(self._shares[device.id].pop)
        else:
            self._takers[device.id].append(index)
            undo.append(self._takers[device.id].pop)
        self.claims[index].taken.append(Taken(request, device, consumed))
        undo.append(self.claims[index].taken.pop)

    def refusal(self, request: DeviceRequest, device: Device) -> DeviceSelector | None:
        """Return the selector that refuses a device, or None. Raises PluginError if one fails before."""
        return refusal(self._cluster, request, device)

    def selects(self, request: DeviceRequest, device: Device) -> bool:
        """Return whether class and request select a device that is for the node."""
        key = (id(request), device.id)
        found = self._selected.get(key)
        if found is None:
            found = self._selected[key] = selects(self._cluster, request, device) and (
                not device.piece.get("perDeviceNodeSelection") or reaches(device.spec, *self._node)
            )
        return found


def _undone(undo: Undo) -> None:
    for step in reversed(undo):
        step()
