"""Allocation of devices to ResourceClaims on one node after another (structured.Allocator, incubating)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.device_pools import INVALID, Counters, PoolId, pools_of
from scheduler_core.schedulers.v1_37.device_search import DeviceSearch, Taken
from scheduler_core.schedulers.v1_37.device_use import devices_in_use
from scheduler_core.schedulers.v1_37.devices import Device
from scheduler_core.schedulers.v1_37.state import ClusterState, uid_of


class InvalidPoolsError(Exception):
    """Nothing was found, and pools that the node reaches are invalid: other nodes may still do."""

    def __init__(self) -> None:
        super().__init__("invalid resource pools were encountered")


class Allocator:
    """Allocates all of some claims, or none, on one node after another."""

    def __init__(self, cluster: ClusterState) -> None:
        self.cluster = cluster
        self._in_use = devices_in_use(cluster)
        self._counters: dict[PoolId, Counters] = {}

    def allocate(
        self, claims: Sequence[Manifest], node: str, labels: Mapping[str, str]
    ) -> list[Mapping[str, Any]] | None:
        """Return an allocation for each claim, or None.

        Raises:
            PluginError: The attempt cannot go on, whatever the node: a selector fails, a request takes all
                devices of a pool that is not whole.
            InvalidPoolsError: This node has nothing to offer, and a pool of it is invalid.
        """
        search = self.search(claims, node, labels)
        if search.run():
            return [_allocation(claim.manifest, claim.taken, node) for claim in search.claims]
        if any(pool.problem == INVALID for pool in search.pools):
            raise InvalidPoolsError
        return None

    def search(self, claims: Sequence[Manifest], node: str, labels: Mapping[str, str]) -> DeviceSearch:
        """Return the search on a node, before it runs."""
        pools = pools_of(self.cluster, node, labels)
        place = (node, dict(labels))
        return DeviceSearch(self.cluster, claims, place, pools, self._in_use, self._counters)


def _allocation(claim: Manifest, taken: Sequence[Taken], node: str) -> Mapping[str, Any]:
    """Return the allocation of a claim, with a node selector unless all nodes reach its devices."""
    results = [_result(claim, number, one) for number, one in enumerate(taken)]
    devices: dict[str, Any] = {"results": results}
    allocation: dict[str, Any] = {"devices": devices}
    term = _node_term([one.device for one in taken], node)
    return {**allocation, "nodeSelector": {"nodeSelectorTerms": [term]}} if term else allocation


_OF_REQUEST = ("tolerations",)
_OF_DEVICE = ("bindingConditions", "bindingFailureConditions")


def _result(claim: Manifest, number: int, taken: Taken) -> dict[str, Any]:
    request, device, consumed = taken
    driver, pool, name = device.id
    result: dict[str, Any] = {"request": request.name, "driver": driver, "pool": pool, "device": name}
    if request.is_for_admin:
        result["adminAccess"] = True
    result |= {key: request.entry[key] for key in _OF_REQUEST if request.entry.get(key)}
    result |= {key: device.spec[key] for key in _OF_DEVICE if device.spec.get(key)}
    if consumed is not None:  # upstream's id is random
        result["shareID"] = str(uuid5(NAMESPACE_OID, f"{uid_of(claim)}/{device.path}/{number}"))
    if consumed:
        result["consumedCapacity"] = {key: amount.text for key, amount in consumed.items()}
    return result


def _node_term(devices: Sequence[Device], node: str) -> Mapping[str, Any]:
    """Return the term of the nodes that reach the devices; empty if all do (createNodeSelector)."""
    term: dict[str, list[Any]] = {}
    for device in devices:
        reach = device.spec if device.piece.get("perDeviceNodeSelection") else device.piece
        if reach.get("nodeName") or device.spec.get("bindsToNode"):
            return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        for name, one in _requirements(reach.get("nodeSelector") or {}):
            if not _has(term.get(name, ()), one):
                term.setdefault(name, []).append(one)
    return term


def _requirements(selector: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for term in selector.get("nodeSelectorTerms") or ():
        for name in ("matchFields", "matchExpressions"):
            for one in term.get(name) or ():
                yield name, one


def _has(known: Sequence[Mapping[str, Any]], one: Mapping[str, Any]) -> bool:
    """Return whether a requirement is there already; the order of its values does not matter."""
    return any(
        (other["key"], other["operator"], set(other.get("values") or ()))
        == (one["key"], one["operator"], set(one.get("values") or ()))
        for other in known
    )
