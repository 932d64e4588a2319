"""Whether a Workload fits in what is left of its ClusterQueue's own quota, cohorts aside."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from scheduler_core.cluster.kueue.assignment import NEVER, Suitability
from scheduler_core.cluster.kueue.cache import Cache
from scheduler_core.cluster.kueue.entry import Entry, PodSetRequest
from scheduler_core.cluster.kueue.flavors import FlavorSearch, assign
from scheduler_core.cluster.kueue.objects import FlavorResource
from scheduler_core.cluster.kueue.quota import QuotaNode
from scheduler_core.cluster.kueue.topology.flavors import flavor_mismatch, is_topology_only


def fits_nominal(cache: Cache, entry: Entry) -> bool:
    """Return whether an assignment of flavors fits without borrowing and without preemption.

    A pod set with ``minCount`` has to fit with that; where its pods can be placed does not matter.
    """
    search = _search(cache, entry.cluster_queue)
    return assign(search, replace(entry, tried=None), _least(entry)).mode == "Fit"


def _least(entry: Entry) -> Sequence[PodSetRequest]:
    return [
        one if one.pod_set.min_count is None else replace(one, count=min(one.count, one.pod_set.min_count))
        for one in entry.requests
    ]


def _search(cache: Cache, name: str) -> FlavorSearch:
    """Return a search in the queue as it would be without its cohort."""
    queue = cache.queues[name]
    only = is_topology_only(queue, cache.flavors)
    return FlavorSearch(
        queue=queue,
        node=_alone(cache.tree.queues[name]),
        flavors=cache.flavors,
        generation=0,
        preempts_while_borrowing=False,
        is_fungible=True,
        oracle=_never,
        mismatch=lambda request, flavor, group: flavor_mismatch(
            request.pod_set, flavor, group, cache.topologies, topology_only=only
        ),
    )


def _never(_pair: FlavorResource, _amount: int) -> Suitability:
    return NEVER


def _alone(node: QuotaNode) -> QuotaNode:
    made = QuotaNode(node.name, is_queue=True, quotas=node.quotas, weight=node.weight)
    made.usage = node.usage
    made.settle()
    return made
