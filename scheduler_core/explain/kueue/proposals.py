"""Changes of queues and of a Workload that may admit it, each kind the smallest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from scheduler_core.cluster.kueue.amounts import format_amount
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.objects import (
    ClusterQueue,
    FlavorResource,
    PodSet,
    QuotaLimits,
    ResourceFlavor,
    TopologyRequest,
)
from scheduler_core.cluster.kueue.workload import Workload
from scheduler_core.cluster.v1_37.objects import selects, tolerates
from scheduler_core.explain.kueue.change import KueuePatch, ProposedChange
from scheduler_core.explain.kueue.position import FlavorStanding
from scheduler_core.explain.kueue.trials import Edit

AHEAD_TRIED = 4  # how many of those before it a larger quota may be meant for, too
PRIORITIES_TRIED = 6


# --- quota


def quota_proposals(
    control: Control, queue: str, flavor: FlavorStanding, ahead: Sequence[str]
) -> Iterator[ProposedChange]:
    """Yield raises of a queue's quota of a flavor: by what is missing, then for those before it, too."""
    short = [facts for facts in flavor.quotas if facts.missing]
    more = {(facts.flavor, facts.resource): 0 for facts in short}
    for key in ("", *ahead[:AHEAD_TRIED]):
        for facts in short:
            more[facts.flavor, facts.resource] += _asked(control, queue, key, facts.resource)
        raised = {(one.flavor, one.resource): one.missing + more[one.flavor, one.resource] for one in short}
        if raised:
            yield _raise(control.cache.queues[queue], raised, "nominal", "nominalQuota")


def limit_proposals(control: Control, queue: str, flavor: FlavorStanding) -> Iterator[ProposedChange]:
    """Yield a raise of the borrowing limits that keep a queue from what its cohort has."""
    limited = [one for one in flavor.quotas if one.missing and one.borrowing_limit is not None]
    if limited:
        raised = {(one.flavor, one.resource): one.missing for one in limited}
        yield _raise(control.cache.queues[queue], raised, "borrowing_limit", "borrowingLimit")


def _asked(control: Control, queue: str, key: str, resource: str) -> int:
    entry = control.queues[queue].find(key) if key else None
    return sum(one.total.get(resource, 0) for one in entry.requests) if entry else 0


def _raise(
    queue: ClusterQueue, raised: Mapping[FlavorResource, int], field: str, written: str
) -> ProposedChange:
    operations, words = [], []
    for path, pair, quota in _quotas(queue):
        if pair in raised:
            old = getattr(quota, field) or 0
            before, after = (format_amount(pair[1], amount) for amount in (old, old + raised[pair]))
            operations.append({"op": "replace", "path": f"{path}/{written}", "value": after})
            words.append(f"{written} of {pair[1]} in flavor {pair[0]} from {before} to {after}")
    return ProposedChange(
        "quota",
        f"raise ClusterQueue {queue.name}'s {' and '.join(words)}",
        (KueuePatch("ClusterQueue", queue.name, tuple(operations)),),
        _with_queue(_with_quotas(queue, raised, field)),
    )


def _quotas(queue: ClusterQueue) -> Iterator[tuple[str, FlavorResource, QuotaLimits]]:
    for at, group in enumerate(queue.groups):
        for number, flavor in enumerate(group.flavors):
            for place, (resource, quota) in enumerate(flavor.resources.items()):
                path = f"/spec/resourceGroups/{at}/flavors/{number}/resources/{place}"
                yield path, (flavor.name, resource), quota


def _with_quotas(queue: ClusterQueue, raised: Mapping[FlavorResource, int], field: str) -> ClusterQueue:
    def quota(pair: FlavorResource, old: QuotaLimits) -> QuotaLimits:
        return replace(old, **{field: (getattr(old, field) or 0) + raised[pair]}) if pair in raised else old

    groups = tuple(
        replace(
            group,
            flavors=tuple(
                replace(
                    one,
                    resources={name: quota((one.name, name), old) for name, old in one.resources.items()},
                )
                for one in group.flavors
            ),
        )
        for group in queue.groups
    )
    return replace(queue, groups=groups)


def _with_queue(queue: ClusterQueue) -> Edit:
    def edit(control: Control) -> None:
        control.cache.queues[queue.name] = queue
        control.cache.change(queue.name)
        control.stir(queue.name)

    return edit


# --- the Workload


def priority_proposals(control: Control, workload: Workload, queue: str) -> Iterator[ProposedChange]:
    """Yield raises of the priority above that of others in the tree of the queue, the least first."""
    cache = control.cache
    ranks = {
        one.workload.rank
        for name in cache.below(cache.tree.queues[queue].root)
        for one in cache.reserving.get(name, {}).values()
    } | {one.workload.rank for one in control.queues[queue].active.values()}
    for rank in sorted(rank for rank in ranks if rank >= workload.rank)[:PRIORITIES_TRIED]:
        words = f"raise the priority of {workload.key} from {workload.rank} to {rank + 1}"
        operation = {"op": "add", "path": "/spec/priority", "value": rank + 1}
        yield _of_workload("priority", words, replace(workload, priority=rank + 1), operation)


def count_proposal(workload: Workload, at: int, count: int) -> ProposedChange:
    """Return the proposal to ask for fewer pods of a pod set."""
    pod_set = workload.pod_sets[at]
    words = f"ask for {count:,} instead of {pod_set.count:,} pods in pod set {pod_set.name}"
    operation = {"op": "replace", "path": f"/spec/podSets/{at}/count", "value": count}
    return _of_workload("count", words, _with_pod_set(workload, at, replace(pod_set, count=count)), operation)


def flavor_proposals(
    workload: Workload, flavors: Mapping[str, ResourceFlavor], tried: Iterable[FlavorStanding]
) -> Iterator[ProposedChange]:
    """Yield tolerations of flavors' taints, and node selectors that a flavor's labels match."""
    for standing in tried:
        flavor = flavors.get(standing.flavor)
        at = next(i for i, one in enumerate(workload.pod_sets) if one.name == standing.pod_set)
        if flavor is None or standing.verdict != "does not suit":
            continue
        pod_set = workload.pod_sets[at]
        if any(text.startswith("untolerated taint") for text in standing.reasons):
            yield _tolerating(workload, at, pod_set, flavor)
        if any("doesn't match node affinity" in text for text in standing.reasons):
            yield _selecting(workload, at, pod_set, flavor)


def _tolerating(workload: Workload, at: int, pod_set: PodSet, flavor: ResourceFlavor) -> ProposedChange:
    spec = dict(pod_set.pod_spec)
    known = [*(spec.get("tolerations") or ()), *flavor.tolerations]
    added = [
        {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
        for taint in flavor.node_taints
        if taint["effect"] in ("NoSchedule", "NoExecute") and not any(tolerates(one, taint) for one in known)
    ]
    tolerations = [*(spec.get("tolerations") or ()), *added]
    keys = ", ".join(one["key"] for one in added)
    words = f"tolerate the taint {keys} of flavor {flavor.name} in pod set {pod_set.name}"
    return _of_spec(workload, at, "tolerations", tolerations, words)


def _selecting(workload: Workload, at: int, pod_set: PodSet, flavor: ResourceFlavor) -> ProposedChange:
    selector = {**(pod_set.pod_spec.get("nodeSelector") or {}), **flavor.node_labels}
    words = f"select the nodes of flavor {flavor.name} in pod set {pod_set.name}"
    return _of_spec(workload, at, "nodeSelector", selector, words)


def _of_spec(workload: Workload, at: int, field: str, value: Any, words: str) -> ProposedChange:
    pod_set = workload.pod_sets[at]
    template = {**pod_set.template, "spec": {**pod_set.pod_spec, field: value}}
    operation = {"op": "add", "path": f"/spec/podSets/{at}/template/spec/{field}", "value": value}
    changed = _with_pod_set(workload, at, replace(pod_set, template=template))
    return _of_workload("flavor", words, changed, operation)


def topology_proposals(workload: Workload, levels: Sequence[str]) -> Iterator[ProposedChange]:
    """Yield weaker requests of a topology: a higher level, and preferred instead of required."""
    for at, pod_set in enumerate(workload.pod_sets):
        request = pod_set.topology
        if request is None or request.required not in levels:
            continue
        above = reversed(levels[: levels.index(request.required)])
        for level in above:
            weaker = replace(request, required=level)
            yield _placed(workload, at, weaker, {"required": level}, f"require {level}")
        weaker = replace(request, required="", preferred=request.required)
        words = f"prefer {request.required}"
        yield _placed(workload, at, weaker, {"preferred": request.required}, words)


def _placed(
    workload: Workload, at: int, weaker: TopologyRequest, value: dict[str, str], words: str
) -> ProposedChange:
    pod_set = workload.pod_sets[at]
    old = pod_set.topology.required if pod_set.topology else ""
    operation = {"op": "replace", "path": f"/spec/podSets/{at}/topologyRequest", "value": value}
    return _of_workload(
        "topology",
        f"{words} instead of requiring {old} in pod set {pod_set.name}",
        _with_pod_set(workload, at, replace(pod_set, topology=weaker)),
        operation,
    )


def _with_pod_set(workload: Workload, at: int, pod_set: PodSet) -> Workload:
    pod_sets = (*workload.pod_sets[:at], pod_set, *workload.pod_sets[at + 1 :])
    return replace(workload, pod_sets=pod_sets)


def _of_workload(about: str, words: str, changed: Workload, operation: dict[str, Any]) -> ProposedChange:
    patch = KueuePatch("Workload", changed.key, (operation,))
    return ProposedChange(about, words, (patch,), lambda control: control.write(changed))


# --- doors that are closed


def door_proposals(control: Control, workload: Workload) -> Iterator[ProposedChange]:
    """Yield what lets a Workload to the scheduler: its activity, stop policies, the namespace's selector."""
    cache = control.cache
    if not workload.active:
        operation = {"op": "replace", "path": "/spec/active", "value": True}
        words = f"activate {workload.key}"
        yield _of_workload("active", words, replace(workload, active=True), operation)
    local = cache.local_queues.get(workload.queue_key)
    queue = cache.queues.get(local.cluster_queue) if local else None
    if local is not None and local.stop_policy != "None":
        yield _resumed("LocalQueue", local.key, _with_local(local.key))
    if queue is not None and queue.stop_policy != "None":
        yield _resumed("ClusterQueue", queue.name, _with_queue(replace(queue, stop_policy="None")))
    if queue is not None and not _selects(control, queue, workload.namespace):
        yield _opened(queue, workload.namespace)


def _resumed(kind: str, name: str, edit: Edit) -> ProposedChange:
    patch = KueuePatch(kind, name, ({"op": "replace", "path": "/spec/stopPolicy", "value": "None"},))
    return ProposedChange("stopPolicy", f"set stopPolicy of {kind} {name} to None", (patch,), edit)


def _with_local(key: str) -> Edit:
    def edit(control: Control) -> None:
        local = control.cache.local_queues[key]
        control.cache.local_queues[key] = replace(local, stop_policy="None")
        control.reconcile(control.of_local_queue(key))
        control.refill(control.of_local_queue(key))

    return edit


def _selects(control: Control, queue: ClusterQueue, namespace: str) -> bool:
    return selects(queue.namespace_selector, control.cache.labels_of_namespace(namespace))


def _opened(queue: ClusterQueue, namespace: str) -> ProposedChange:
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    operation = {"op": "add", "path": "/spec/namespaceSelector", "value": selector}
    words = f"let ClusterQueue {queue.name}'s namespaceSelector select namespace {namespace}"
    if queue.namespace_selector is None:
        words += " (without one it selects none)"
    patch = KueuePatch("ClusterQueue", queue.name, (operation,))
    return ProposedChange(
        "namespaceSelector", words, (patch,), _with_queue(replace(queue, namespace_selector=selector))
    )
