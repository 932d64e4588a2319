"""Allocation of devices to ResourceClaims on one node, depth first (structured.Allocator)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler_core.objects.device_versions import as_v1
from scheduler_core.v1_37.cel import CelError, compile_cel, quantity
from scheduler_core.v1_37.change import Manifest
from scheduler_core.v1_37.interface import PluginError
from scheduler_core.v1_37.selectors import node_terms
from scheduler_core.v1_37.state import Cluster

MAX_STEPS = 200_000
"""Devices tried for one pod on one node; upstream stops by a timeout of seconds."""

MAX_RESULTS = 32
"""Devices in one allocation (resourceapi.AllocationResultsMaxSize)."""

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""

_MISSING_KEY_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for "
    "optional fields"
)


@dataclass
class Device:
    """A device of a slice, with what selectors see of it."""

    id: DeviceId
    spec: Mapping[str, Any]
    scope: Mapping[str, Any]
    piece: Mapping[str, Any]
    """The specification of its slice."""

    @property
    def path(self) -> str:
        """The record's name of it."""
        return "/".join(self.id)

    def attribute(self, name: str) -> Any:
        """Return an attribute by its full name; None if it is missing."""
        domain, _, short = name.rpartition("/")
        return self.scope["device"]["attributes"].get(domain, {}).get(short)


class _Domains(dict[str, Any]):
    """Attributes by domain; an unknown domain is an empty one."""

    def __missing__(self, key: str) -> Mapping[str, Any]:
        return {}


def _by_domain(entries: Mapping[str, Any], driver: str, read: Any) -> _Domains:
    out = _Domains()
    for name, value in entries.items():
        domain, _, short = name.rpartition("/")
        out.setdefault(domain or driver, {})[short] = read(value)
    return out


def _attribute(value: Mapping[str, Any]) -> Any:
    return next(iter(value.values()), None)


def _device(piece: Mapping[str, Any], spec: Mapping[str, Any]) -> Device:
    driver, pool = piece["driver"], piece["pool"]["name"]
    capacity: Any = lambda value: quantity(value["value"])  # noqa: E731
    return Device(
        (driver, pool, spec["name"]),
        spec,
        {
            "device": {
                "driver": driver,
                "attributes": _by_domain(spec.get("attributes") or {}, driver, _attribute),
                "capacity": _by_domain(spec.get("capacity") or {}, driver, capacity),
            }
        },
        piece,
    )


def devices_on(cluster: Cluster, node: str, labels: Mapping[str, str]) -> list[Device]:
    """Return the devices that the node can reach, in order of the pools of its slices.

    A pool counts with the slices of its newest generation alone, and only if all of them are there.
    """
    pools: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for piece in cluster.list("ResourceSlice"):
        spec = piece["spec"]
        if _reaches(spec, node, labels):
            pools[spec["driver"], spec["pool"]["name"]].append(as_v1(piece)["spec"])
    out = []
    for specs in pools.values():
        newest = max(int(spec["pool"].get("generation") or 0) for spec in specs)
        current = [spec for spec in specs if int(spec["pool"].get("generation") or 0) == newest]
        if len(current) < int(current[0]["pool"].get("resourceSliceCount") or 1):
            continue
        out += [_device(each, spec) for each in current for spec in each.get("devices") or ()]
    return out


def _reaches(spec: Mapping[str, Any], node: str, labels: Mapping[str, str]) -> bool:
    if spec.get("nodeName"):
        return bool(spec["nodeName"] == node)
    terms = node_terms(spec.get("nodeSelector"))
    return bool(spec.get("allNodes")) or (
        terms is not None and any(term.matches(node, labels) for term in terms)
    )


def devices_in_use(cluster: Cluster) -> set[DeviceId]:
    """Return the devices of all allocations, those in flight included."""
    allocations = [(claim.get("status") or {}).get("allocation") for claim in cluster.list("ResourceClaim")]
    return {
        (result["driver"], result["pool"], result["device"])
        for allocation in (*allocations, *cluster.assumed_devices.values())
        for result in ((allocation or {}).get("devices") or {}).get("results") or ()
        if not result.get("adminAccess")
    }


@dataclass
class Request:
    """A request or subrequest of a claim, compiled."""

    claim: Manifest
    base: str
    name: str
    entry: Mapping[str, Any]
    all_devices: list[Device] = field(default_factory=list)

    @property
    def takes_all(self) -> bool:
        """Whether its mode is All."""
        return self.entry.get("allocationMode") == "All"

    @property
    def count(self) -> int:
        """How many devices it takes."""
        return len(self.all_devices) if self.takes_all else int(self.entry.get("count") or 1)

    @property
    def is_for_admin(self) -> bool:
        """Whether it takes devices that are in use, and leaves them to others."""
        return bool(self.entry.get("adminAccess")) and self.name == self.base

    @property
    def own_name(self) -> str:
        """The request as errors of the allocation name it: a subrequest without the request it is of."""
        return self.name.rpartition("/")[2]

    @property
    def claim_name(self) -> str:
        """The claim as errors name it."""
        meta = self.claim["metadata"]
        return f"{meta.get('namespace') or 'default'}/{meta['name']}"


Taken = tuple[Request, Device]


class Allocator:
    """Allocates all claims of a pod, or none, on one node after another."""

    def __init__(self, cluster: Cluster, claims: list[Manifest]) -> None:
        self.cluster = cluster
        self.claims = claims
        self.in_use = devices_in_use(cluster)

    def allocate(self, node: str, labels: Mapping[str, str]) -> list[Mapping[str, Any]] | None:
        """Return an allocation for each claim, or None. Raises PluginError where a selector fails."""
        search = _Search(self.cluster, self.claims, devices_on(self.cluster, node, labels), self.in_use)
        if not search.run():
            return None
        return [_allocation([one for one in search.taken if one[0].claim is claim]) for claim in self.claims]


def _allocation(taken: list[Taken]) -> Mapping[str, Any]:
    """Return the allocation of a claim, with a node selector unless all nodes reach its devices."""
    allocation: dict[str, Any] = {"devices": {"results": [_result(*one) for one in taken]}}
    term = _node_term([device.piece for _, device in taken])
    return {**allocation, "nodeSelector": {"nodeSelectorTerms": [term]}} if term else allocation


def _node_term(pieces: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the term of the nodes that reach devices of these slices (createNodeSelector)."""
    term: dict[str, list[Any]] = {}
    for piece in pieces:
        if piece.get("nodeName"):
            field = {"key": "metadata.name", "operator": "In", "values": [piece["nodeName"]]}
            return {"matchFields": [field]}
        for own in (piece.get("nodeSelector") or {}).get("nodeSelectorTerms") or ():
            for name in ("matchFields", "matchExpressions"):
                for one in own.get(name) or ():
                    if one not in term.setdefault(name, []):
                        term[name].append(one)
    return {name: listed for name, listed in term.items() if listed}


class Supply(NamedTuple):
    """A request of a claim and the devices that a node can reach for it.

    ``selected`` are those that the class and the request select, ``free`` those of them that no allocation
    holds, unless the request is an administrator's, and no taint keeps away. ``problem`` is how the
    selectors fail on a device, which counts as not selected: the allocation may never have come to it.
    """

    request: Request
    selected: int
    free: int
    problem: str = ""

    @property
    def is_enough(self) -> bool:
        """Whether the request alone could be served."""
        wanted = self.selected if self.request.takes_all else self.request.count
        return 0 < wanted <= self.free


def supplies(allocator: Allocator, node: str, labels: Mapping[str, str]) -> Iterator[list[Supply]]:
    """Yield what a node has for each request, by its alternatives."""
    devices = devices_on(allocator.cluster, node, labels)
    search = _Search(allocator.cluster, allocator.claims, devices, allocator.in_use)
    for alternatives in search.requests:
        yield [_supply(search, request) for request in alternatives]


def _supply(search: _Search, request: Request) -> Supply:
    selected, problem = [], ""
    for device in search.devices:
        try:
            if search.selects(request, device):
                selected.append(device)
        except PluginError as error:
            problem = problem or str(error)
    free = sum(search.is_free(request, device) and not _tainted(request, device) for device in selected)
    return Supply(request, len(selected), free, problem)


def matching_attributes(allocator: Allocator) -> tuple[str, ...]:
    """Return the attributes that constraints of the claims want to be the same, each once, in order."""
    named = (
        constraint.get("matchAttribute")
        for claim in allocator.claims
        for constraint in (claim["spec"].get("devices") or {}).get("constraints") or ()
    )
    return tuple(dict.fromkeys(name for name in named if name))


def _result(request: Request, device: Device) -> dict[str, Any]:
    driver, pool, name = device.id
    result: dict[str, Any] = {"request": request.name, "driver": driver, "pool": pool, "device": name}
    if request.is_for_admin:
        result["adminAccess"] = True
    return result


class _Search:
    """One depth-first search."""

    def __init__(
        self, cluster: Cluster, claims: list[Manifest], devices: list[Device], in_use: AbstractSet[DeviceId]
    ) -> None:
        self.cluster = cluster
        self.devices = devices
        self.in_use = in_use  # by allocations that there are
        self.taken: list[Taken] = []
        self._takers: dict[DeviceId, list[int]] = defaultdict(list)  # the claims of ``taken``
        self.steps = 0
        self._selectable: dict[tuple[int, DeviceId], bool] = {}
        self.requests = [alternatives for claim in claims for alternatives in requests_of(claim)]

    def run(self) -> bool:
        """Search; return whether every request was served."""
        for alternatives in self.requests:
            for request in alternatives:
                if request.takes_all:
                    request.all_devices = [d for d in self.devices if self.selects(request, d)]
        self._check_limit()
        return self._request(0)

    def _check_limit(self) -> None:
        """Raise PluginError if a claim asks for more devices than an allocation can hold."""
        least: dict[str, int] = defaultdict(int)
        for alternatives in self.requests:
            least[alternatives[0].claim_name] += min(request.count for request in alternatives)
        for name, number in least.items():
            if number > MAX_RESULTS:
                text = f"number of requested devices {number} exceeds the claim limit of {MAX_RESULTS}"
                raise PluginError(f"claim {name}: {text}")

    def _request(self, index: int) -> bool:
        """Serve the requests from ``index`` on."""
        if index == len(self.requests):
            return True
        return any(self._device(index, request, 0) for request in self.requests[index])

    def _device(self, index: int, request: Request, place: int) -> bool:
        """Take the device number ``place`` of a request, and all that follow."""
        if request.takes_all and not request.all_devices:
            return False
        if place == request.count:
            return self._request(index + 1)
        candidates = request.all_devices[place : place + 1] if request.takes_all else self.devices
        for device in candidates:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise PluginError(f"device allocation stopped after {MAX_STEPS} steps")
            if not self.is_free(request, device) or not self.selects(request, device):
                continue
            if _tainted(request, device) or not self._constrained(request, device):
                continue
            takers = self._takers[device.id]
            takers.append(id(request.claim))
            self.taken.append((request, device))
            if self._device(index, request, place + 1):
                return True
            self.taken.pop()
            takers.pop()
        return False

    def is_free(self, request: Request, device: Device) -> bool:
        """Return whether a request may have a device that others may use (deviceInUse).

        An administrator's request shares it with all but its own claim.
        """
        takers = self._takers.get(device.id, ())
        if request.is_for_admin:
            return id(request.claim) not in takers
        return device.id not in self.in_use and not takers

    def _constrained(self, request: Request, device: Device) -> bool:
        """Return whether the claim's constraints admit the device beside those taken."""
        for constraint in request.claim["spec"]["devices"].get("constraints") or ():
            if not constraint.get("matchAttribute"):
                raise PluginError(
                    f"claim {request.claim_name}: only matchAttribute constraints are supported"
                )
            if not _concerns(constraint, request):
                continue
            value = device.attribute(constraint["matchAttribute"])
            others = (
                other.attribute(constraint["matchAttribute"])
                for served, other in self.taken
                if served.claim is request.claim and _concerns(constraint, served)
            )
            first = next(others, value)
            if value is None or type(first) is not type(value) or first != value:
                if request.takes_all:
                    raise PluginError(
                        f"claim {request.claim_name}, request {request.own_name}: cannot add device "
                        f"{device.path} because a claim constraint would not be satisfied"
                    )
                return False
        return True

    def selects(self, request: Request, device: Device) -> bool:
        """Return whether the class and the request select a device."""
        key = (id(request), device.id)
        found = self._selectable.get(key)
        if found is None:
            found = self._selectable[key] = self._evaluate(request, device)
        return found

    def _evaluate(self, request: Request, device: Device) -> bool:
        name = request.entry["deviceClassName"]
        device_class = self.cluster.get("DeviceClass", None, name)
        own = (((device_class or {}).get("spec") or {}).get("selectors") or (), f"class {name}")
        for selectors, owner in (own, (request.entry.get("selectors") or (), f"claim {request.claim_name}")):
            for number, selector in enumerate(selectors):
                try:
                    matched = compile_cel(selector["cel"]["expression"])(device.scope)
                except CelError as error:
                    hint = _MISSING_KEY_HINT if str(error).startswith("no such key") else ""
                    raise PluginError(
                        f"{owner}: selector #{number} on device {device.path}: "
                        f"CEL runtime error: {error}{hint}"
                    ) from None
                if matched is not True:
                    return False
        return True


def requests_of(claim: Manifest) -> Iterator[list[Request]]:
    """Yield each request of a claim as its alternatives, one without subrequests."""
    for entry in (as_v1(claim)["spec"].get("devices") or {}).get("requests") or ():
        name = entry["name"]
        if entry.get("firstAvailable"):
            yield [Request(claim, name, f"{name}/{sub['name']}", sub) for sub in entry["firstAvailable"]]
        else:
            yield [Request(claim, name, name, entry.get("exactly") or {})]


def _concerns(constraint: Mapping[str, Any], request: Request) -> bool:
    names = constraint.get("requests")
    return not names or request.base in names or request.name in names


def _tainted(request: Request, device: Device) -> bool:
    tolerations = request.entry.get("tolerations") or ()
    return any(
        taint.get("effect") in ("NoSchedule", "NoExecute")
        and not any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in device.spec.get("taints") or ()
    )


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    exists = toleration.get("operator") == "Exists"
    return exists or (toleration.get("value") or "") == (taint.get("value") or "")
