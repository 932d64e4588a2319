"""What a node has for each request of a pod's claims: facts for explanations, not a rule of upstream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from scheduler_core.kubernetes.device_versions import as_v1
from scheduler_core.kubernetes.support import part_of
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.device_allocation import Allocator
from scheduler_core.schedulers.v1_37.device_search import DeviceSearch
from scheduler_core.schedulers.v1_37.device_selectors import DeviceSelector
from scheduler_core.schedulers.v1_37.devices import (
    Device,
    DeviceId,
    DeviceRequest,
    key_of_claim,
    taints_against,
)
from scheduler_core.schedulers.v1_37.interface import PluginError
from scheduler_core.schedulers.v1_37.state import ClusterState

HOLDERS = 3  # claims that are named
Holders = Mapping[DeviceId, list[str]]


class SelectorRefusal(NamedTuple):
    """A selector, how many devices it refuses and the first of them."""

    selector: DeviceSelector
    devices: int
    example: str


class Obstacle(NamedTuple):
    """Why a device that a request selects cannot be taken."""

    device: str
    why: str


class Supply(NamedTuple):
    """A request of a claim and the devices that a node can reach for it.

    ``reached`` are all of them, ``selected`` those that the class and the request select, ``free`` those of
    them that could be taken, ``obstacles`` why each of the others cannot: an allocation holds it, unless the
    request is an administrator's, a taint keeps it away, or what is left of a capacity or counter is too
    little.
    ``problem`` is how the selectors fail on a device, which counts as not selected: the allocation may never
    have come to it. ``refusals`` are of the others, the selector that refuses most devices first.
    """

    request: DeviceRequest
    reached: int
    selected: int
    free: int
    problem: str = ""
    refusals: tuple[SelectorRefusal, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def is_enough(self) -> bool:
        """Whether the request alone could be served."""
        wanted = self.selected if self.request.takes_all else self.request.count
        return 0 < wanted <= self.free


def supplies(
    allocator: Allocator, claims: Sequence[Manifest], node: str, labels: Mapping[str, str]
) -> Iterator[list[Supply]]:
    """Yield what a node has for each request of claims, by its alternatives."""
    search, holders = allocator.search(claims, node, labels), _holders(allocator.cluster)
    for claim in search.claims:
        for alternatives in claim.requests:
            yield [_supply(search, holders, request) for request in alternatives]


def _holders(cluster: ClusterState) -> dict[DeviceId, list[str]]:
    """Return the claims that have a device allocated, by device; an administrator's takes nothing."""
    out: dict[DeviceId, list[str]] = {}
    for claim in cluster.list("ResourceClaim"):
        for result in part_of(claim, "status", "allocation", "devices", "results") or ():
            if not result.get("adminAccess"):
                device = (result["driver"], result["pool"], result["device"])
                out.setdefault(device, []).append(key_of_claim(claim))
    return out


def _obstacle(search: DeviceSearch, holders: Holders, request: DeviceRequest, device: Device) -> str:
    """Return why a selected device cannot be taken; "" if nothing stands against it."""
    by = f"held by {', '.join(holders.get(device.id, ())[:HOLDERS]) or 'another claim'}"
    if not search.is_free(request, device):
        return by
    keeping = taints_against(request, device)
    if keeping:
        return f"its taint {keeping[0].get('key')}:{keeping[0].get('effect')} is not tolerated"
    lacking = "; ".join(search.lacking(request, device))
    return f"{lacking} ({by})" if lacking and device.id in holders else lacking


def _supply(search: DeviceSearch, holders: Holders, request: DeviceRequest) -> Supply:
    selected, problem, failed = [], "", 0
    refused: dict[DeviceSelector, list[Device]] = {}
    for device in search.devices:
        try:
            selector = search.refusal(request, device)
            if selector is not None:
                refused.setdefault(selector, []).append(device)
            elif search.selects(request, device):
                selected.append(device)
        except PluginError as error:
            problem, failed = problem or str(error), failed + 1
    found = [Obstacle(device.path, _obstacle(search, holders, request, device)) for device in selected]
    obstacles = tuple(one for one in found if one.why)
    refusals = [SelectorRefusal(selector, len(those), those[0].path) for selector, those in refused.items()]
    reached = len(selected) + failed + sum(one.devices for one in refusals)
    by_devices = sorted(refusals, key=lambda one: -one.devices)
    free = len(selected) - len(obstacles)
    return Supply(request, reached, len(selected), free, problem, tuple(by_devices), obstacles)


def matching_attributes(claims: Iterable[Manifest]) -> tuple[str, ...]:
    """Return the attributes that constraints of claims want to be the same, each once, in order."""
    named = (
        constraint.get("matchAttribute")
        for claim in claims
        for constraint in (as_v1(claim)["spec"].get("devices") or {}).get("constraints") or ()
    )
    return tuple(dict.fromkeys(name for name in named if name))
