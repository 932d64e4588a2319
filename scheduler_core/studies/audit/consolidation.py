"""Packing: the fewest nodes that hold all pods under the hard rules, and what it would take to get there."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scheduler_core.compare.optimum.optimum import Optimum, find_optimum
from scheduler_core.compare.optimum.problem import problem_of, request_of
from scheduler_core.kubernetes.model import Affinity, Node, NodeSelectorTerm, Pod, Requirement
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import AuditedCluster, stays
from scheduler_core.studies.audit.omissions import unplayed
from scheduler_core.studies.audit.row import AuditRow, Opening
from scheduler_core.studies.audit.words import count, listed

SUBJECT = "packing"
OBJECTIVES = ("most-pods", "fewest-nodes", "fewest-moves")
MOST_SECONDS = 8.0
MOST_SIZE = 400_000
"""Nodes times pods beyond which no search is begun."""
MILLI_SECONDS = 1000


def rows(cluster: AuditedCluster, allowance: Allowance) -> Iterator[AuditRow]:
    """Yield the row of the best packing."""
    pods = [pod for pod in cluster.rest.pods if not stays(pod)]
    seconds = min(MOST_SECONDS, allowance.seconds)
    if not pods or not cluster.nodes:
        return
    if len(pods) * len(cluster.nodes) > MOST_SIZE or seconds < 1 or not allowance.spend():
        yield unplayed(SUBJECT, ["the fewest nodes that hold all pods"], "not searched")
        return
    nodes = [_without_agents(cluster, node) for node in cluster.nodes]
    problem = problem_of(nodes, [_kept(pod) for pod in pods], move=True)

    def watch(_stage: str, done: int, of: int) -> None:
        allowance.watch(SUBJECT, done // MILLI_SECONDS, of // MILLI_SECONDS)

    start = {pod.meta.key: pod.node_name for pod in pods if pod.node_name}
    yield _row(cluster, pods, find_optimum(problem, OBJECTIVES, seconds, watch, start))


def _without_agents(cluster: AuditedCluster, node: Node) -> Node:
    """Return a node with what its DaemonSet and static pods leave: they are there on any node in use."""
    left = dict(node.allocatable)
    for pod in cluster.pods_on[node.meta.name]:
        for name, amount in request_of(pod).items() if stays(pod) else ():
            left[name] = left.get(name, 0) - amount
    return replace(node, allocatable=left)


def _kept(pod: Pod) -> Pod:
    """Return a pod; one without a controller only on its node, since nobody would make another."""
    if pod.meta.controller is not None or not pod.node_name:
        return pod
    here = NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", (pod.node_name,)),))
    return replace(pod, affinity=replace(pod.affinity or Affinity(), node_required=(here,)))


def _row(cluster: AuditedCluster, pods: list[Pod], found: Optimum) -> AuditRow:
    proofs = {one.objective: one for one in found.proofs}
    fewest = proofs.get("fewest-nodes")
    used = len({pod.node_name for pod in pods} - {""})
    if not found.feasible or fewest is None:
        return AuditRow(
            subject=SUBJECT,
            verdict="unknown",
            sentence="No packing was found: running pods break a rule where they are, or time ran out.",
            evidence=tuple(f"left out: {one}" for one in found.left_out),
        )
    value = fewest.value
    moves = sum(one.action == "evict" for one in found.moves)
    taken = set(found.placements.values())
    used_now = {pod.node_name for pod in pods}
    names = (node.meta.name for node in cluster.nodes)
    emptied = [name for name in names if name in used_now and name not in taken]
    proof = "which is proven" if fewest.optimal else f"and at least {fewest.bound:,} are needed"
    sentence = (
        f"The pods need no fewer than the {count(used, 'node')} that they use."
        if value >= used and fewest.optimal
        else f"The pods fit on {count(value, 'node')}, {proof}; they use {used:,}."
    )
    evidence = (
        f"it takes {count(moves, 'pod')} to move" if moves else "no pod has to move",
        *((f"nodes that would be free: {listed(emptied, 8)}",) if emptied else ()),
        *((f"pending even so: {listed(found.pending)}",) if found.pending else ()),
        "pods of DaemonSets and static pods count as part of their node; pods without a controller stay",
        *(f"left out: {one}" for one in found.left_out),
    )
    return AuditRow(
        subject=SUBJECT,
        verdict="ok" if value >= used else "note",
        sentence=sentence,
        evidence=evidence,
        about=tuple(f"Node {name}" for name in emptied[:8]),
        opens=Opening(kind="optimum"),
    )
