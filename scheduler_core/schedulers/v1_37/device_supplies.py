"""What a node has for each request of a pod's claims: facts for explanations, not a rule of upstream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from scheduler_core.kubernetes.device_versions import as_v1
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.device_allocation import Allocator
from scheduler_core.schedulers.v1_37.device_search import DeviceSearch
from scheduler_core.schedulers.v1_37.device_selectors import DeviceSelector
from scheduler_core.schedulers.v1_37.devices import Device, Request, is_tainted
from scheduler_core.schedulers.v1_37.interface import PluginError


class SelectorRefusal(NamedTuple):
    """A selector, how many devices it refuses and the first of them."""

    selector: DeviceSelector
    devices: int
    example: str


class Supply(NamedTuple):
    """A request of a claim and the devices that a node can reach for it.

    ``reached`` are all of them, ``selected`` those that the class and the request select, ``free`` those of
    them that no allocation holds, unless the request is an administrator's, and no taint keeps away.
    ``problem`` is how the selectors fail on a device, which counts as not selected: the allocation may never
    have come to it. ``refusals`` are of the others, the selector that refuses most devices first.
    """

    request: Request
    reached: int
    selected: int
    free: int
    problem: str = ""
    refusals: tuple[SelectorRefusal, ...] = ()

    @property
    def is_enough(self) -> bool:
        """Whether the request alone could be served."""
        wanted = self.selected if self.request.takes_all else self.request.count
        return 0 < wanted <= self.free


def supplies(
    allocator: Allocator, claims: Sequence[Manifest], node: str, labels: Mapping[str, str]
) -> Iterator[list[Supply]]:
    """Yield what a node has for each request of claims, by its alternatives."""
    search = allocator.search(claims, node, labels)
    for claim in search.claims:
        for alternatives in claim.requests:
            yield [_supply(search, request) for request in alternatives]


def _supply(search: DeviceSearch, request: Request) -> Supply:
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
    free = sum(search.is_free(request, device) and not is_tainted(request, device) for device in selected)
    refusals = [SelectorRefusal(selector, len(found), found[0].path) for selector, found in refused.items()]
    reached = len(selected) + failed + sum(one.devices for one in refusals)
    by_devices = sorted(refusals, key=lambda one: -one.devices)
    return Supply(request, reached, len(selected), free, problem, tuple(by_devices))


def matching_attributes(claims: Iterable[Manifest]) -> tuple[str, ...]:
    """Return the attributes that constraints of claims want to be the same, each once, in order."""
    named = (
        constraint.get("matchAttribute")
        for claim in claims
        for constraint in (as_v1(claim)["spec"].get("devices") or {}).get("constraints") or ()
    )
    return tuple(dict.fromkeys(name for name in named if name))
