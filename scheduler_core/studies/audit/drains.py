"""Drains: nodes that can never be drained, and why; an order in which all can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet

from msgspec import Struct

from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.support import part_of
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import AuditedCluster, DisruptionBudget, PlayedRun, stays
from scheduler_core.studies.audit.omissions import unplayed
from scheduler_core.studies.audit.row import AuditRow, Opening
from scheduler_core.studies.audit.symmetry import Representative, checked, node_classes
from scheduler_core.studies.audit.words import count, lasting, listed

SUBJECT = "drains"
TURN = 120.0
"""Seconds of virtual time for each node of an order."""
ORDERS = 4
"""Orders that are tried by what fails."""
MOST_ORDERED = 7
"""Nodes of which all orders are played, if those do not do."""


class DrainOutcome(Struct, frozen=True):
    """What a drain comes to: why pods stay, who finds no place or is gone for good, and its seconds."""

    stays: tuple[str, ...]
    homeless: tuple[Pod, ...]
    gone: tuple[Pod, ...]
    seconds: float
    step: str

    @property
    def words(self) -> str:
        """What it comes to, "" if it is done and every pod finds another place."""
        homeless, gone = len(self.homeless), len(self.gone)
        costs = {
            "some pods stay": self.stays,
            count(homeless, "pod finds no other place", "pods find no other place"): homeless,
            count(gone, "pod is gone for good", "pods are gone for good"): gone,
        }
        return " and ".join(text for text, there in costs.items() if there)


def rows(cluster: AuditedCluster, allowance: Allowance) -> Iterator[AuditRow]:
    """Yield a row for each node that cannot be drained, one for all that can, and an order."""
    left: list[tuple[str, ...]] = []
    done: list[tuple[str, DrainOutcome]] = []
    never: list[str] = []
    played: list[Representative] = []
    for names in allowance.cases(node_classes(cluster), left):
        outcome = _drained(cluster, names[0])
        played.append(Representative(names[0], outcome.words or "drained", names[1:]))
        if outcome.words:
            never += names if outcome.stays else ()
            yield _stuck(cluster, names, outcome)
        else:
            done += ((name, outcome) for name in names)
    if done:
        yield _well(cluster, done)
    yield from _local(cluster)
    if left:
        yield unplayed(SUBJECT, [name for names in left for name in names], "drains that were not played")
    yield from checked(allowance, SUBJECT, played, lambda name: _drained(cluster, name).words or "drained")
    if len(cluster.nodes) - len(never) > 1 and not left:
        yield _order(cluster, allowance, never)


def going(cluster: AuditedCluster, node: str) -> list[Pod]:
    """Return the pods of a node that a drain evicts."""
    return [pod for pod in cluster.pods_on[node] if pod.meta.deletion_timestamp is None and not stays(pod)]


def _drained(cluster: AuditedCluster, node: str) -> DrainOutcome:
    case = cluster.case("drain", [node])
    here = {pod.meta.key for pod in going(cluster, node)}
    kept = [pod for pod in case.pods if pod.node_name == node and pod.meta.key in here]
    seconds = max(0.0, case.availability.calm_at - cluster.second)
    homeless = tuple(cluster.homeless(case))
    gone = tuple(cluster.vanished(case, going(cluster, node)))
    first = next((case.failures[pod.meta.key].step for pod in homeless if pod.meta.key in case.failures), "")
    reasons = tuple(_reasons(cluster, kept))
    return DrainOutcome(reasons, homeless, gone, seconds, first or case.first or "end")


def _reasons(cluster: AuditedCluster, kept: Sequence[Pod]) -> Iterator[str]:
    """Yield why pods stay: without a controller, by several budgets, or by one without room."""
    if not kept:
        return
    bare = [pod.meta.key for pod in kept if pod.meta.controller is None]
    if bare:
        verb = "declares" if len(bare) == 1 else "declare"
        yield f"{listed(bare)} {verb} no controller: only kubectl drain --force deletes them, for good"
    by_budget: dict[tuple[DisruptionBudget, ...], list[str]] = {}
    for pod in kept:
        covering = tuple(one for one in cluster.budgets if pod.meta.key in one.pods)
        by_budget.setdefault(covering, []).append(pod.meta.key)
    for budgets, pods in by_budget.items():
        if len(budgets) > 1:
            names = listed(one.key for one in budgets)
            yield f"{listed(pods)}: {len(budgets)} PodDisruptionBudgets ({names}), which no eviction may have"
        elif budgets:
            yield f"{listed(pods)}: {_refusal(budgets[0])}"
        elif not bare:
            yield f"{listed(pods)}: still there when nothing changes any more"


def _refusal(budget: DisruptionBudget) -> str:
    room = budget.healthy - budget.needed
    text = f"PodDisruptionBudget {budget.key} needs {budget.needed:,} healthy pods of {len(budget.pods):,}"
    if room <= 0:
        remedy = "maxUnavailable: 1" if budget.is_rigid else "one more replica"
        return f"{text} and has {budget.healthy:,}: it never allows an eviction; {remedy} would"
    return f"{text}; what replaces an evicted pod does not become ready, so no other may follow"


def _stuck(cluster: AuditedCluster, names: Sequence[str], outcome: DrainOutcome) -> AuditRow:
    what = f"Node {names[0]}" if len(names) == 1 else f"Each of {listed(names)}"
    homeless, gone = outcome.homeless, outcome.gone
    return AuditRow(
        subject=SUBJECT,
        verdict="risk",
        sentence=f"{what} can never be drained."
        if outcome.stays
        else f"{what} can be drained, but {outcome.words}.",
        evidence=(
            *outcome.stays,
            *((f"without a place: {listed(pod.meta.key for pod in homeless)}",) if homeless else ()),
            *((f"nobody makes another: {listed(map(cluster.loss_of, gone))}",) if gone else ()),
        ),
        about=tuple(f"Node {name}" for name in names),
        opens=_opening(cluster, names[0], outcome),
    )


def _opening(cluster: AuditedCluster, node: str, outcome: DrainOutcome) -> Opening:
    pod = outcome.homeless[0].meta.key if outcome.homeless else ""
    return cluster.opening("drain", (node,), outcome.step, pod)


def _well(cluster: AuditedCluster, done: Sequence[tuple[str, DrainOutcome]]) -> AuditRow:
    name, longest = max(done, key=lambda one: one[1].seconds)
    return AuditRow(
        subject=SUBJECT,
        verdict="ok",
        sentence=f"{count(len(done), 'node')} can be drained, one at a time: every pod finds another place.",
        evidence=(
            f"nodes: {listed((one for one, _ in done), 8)}",
            f"the longest, {name}: calm after {lasting(longest.seconds)}",
        ),
        opens=_opening(cluster, name, longest),
    )


def _local(cluster: AuditedCluster) -> Iterator[AuditRow]:
    """Yield a row on pods with local storage, without a flag for which kubectl refuses to drain."""
    found = {
        node.meta.name: [pod.meta.key for pod in going(cluster, node.meta.name) if _has_empty_dir(pod)]
        for node in cluster.nodes
    }
    nodes = [name for name, pods in found.items() if pods]
    if nodes:
        pods = [pod for name in nodes for pod in found[name]]
        yield AuditRow(
            subject=SUBJECT,
            verdict="note",
            sentence=f"kubectl drain refuses {count(len(nodes), 'node')} without --delete-emptydir-data.",
            evidence=(
                f"the data of an emptyDir goes with the pod: {listed(pods)}",
                f"nodes: {listed(nodes, 8)}",
                "here drains are played as if the flag were given",
            ),
            about=tuple(f"Node {name}" for name in nodes[:8]),
        )


def _has_empty_dir(pod: Pod) -> bool:
    written = pod.meta.written
    document = written.document if written is not None else {}
    spec = part_of(document, "spec") or {}
    return any("emptyDir" in (volume or {}) for volume in spec.get("volumes") or ())


# --- an order


def _order(cluster: AuditedCluster, allowance: Allowance, never: Sequence[str]) -> AuditRow:
    """Play drains one after the other, each node back in service before the next; failures go first."""
    names = [node.meta.name for node in cluster.nodes if node.meta.name not in never]
    names.sort(key=lambda name: len(going(cluster, name)))
    failed: dict[tuple[str, ...], list[str]] = {}
    while len(failed) < ORDERS and tuple(names) not in failed and allowance.spend():
        left = _left(cluster, names)
        if left is None:
            return _found(cluster, names, never)
        failed[tuple(names)] = left
        names = [*left, *(name for name in names if name not in left)]
    if not failed:
        return unplayed(SUBJECT, names, "an order in which all can be drained")
    if len(names) <= MOST_ORDERED:
        return _exhausted(cluster, allowance, names, never, failed)
    return _none(cluster, failed, _tried(failed))


def _exhausted(
    cluster: AuditedCluster,
    allowance: Allowance,
    names: Sequence[str],
    never: Sequence[str],
    failed: dict[tuple[str, ...], list[str]],
) -> AuditRow:
    """Play every order, but for those that differ in names alone or begin like one that failed."""
    stuck = {order[: order.index(left[0]) + 1] for order, left in failed.items() if left}
    for order in _orders(cluster, names, (), stuck):
        if not allowance.spend():
            return _none(cluster, failed, _tried(failed))
        left = failed[order] if order in failed else _left(cluster, order)
        if left is None:
            return _found(cluster, order, never)
        failed[order] = left
        if left:
            stuck.add(order[: order.index(left[0]) + 1])
    return _none(cluster, failed, "There is no order in which all nodes can be drained")


def _orders(
    cluster: AuditedCluster,
    names: Sequence[str],
    before: tuple[str, ...],
    stuck: AbstractSet[tuple[str, ...]],
) -> Iterator[tuple[str, ...]]:
    """Yield the orders that begin with some nodes, of those that are alike one."""
    if len(before) == len(names):
        yield before
        return
    apart = tuple(("Node", name) for name in before)
    alike: dict[int, str] = {}
    for name in names:
        if name not in before:
            alike.setdefault(cluster.coloring.color(("Node", name), apart), name)
    for name in alike.values():
        longer = (*before, name)
        if not any(longer[: len(one)] == one for one in stuck):
            yield from _orders(cluster, names, longer, stuck)


def _left(cluster: AuditedCluster, names: Sequence[str]) -> list[str] | None:
    """Return the nodes that an order does not drain in their turn, ``None`` if every pod ends on a node."""
    case = cluster.case("upgrade", names, f"{TURN:g}")
    failed = _unmoved(cluster, names, case)
    return failed if failed or cluster.homeless(case) else None


def _tried(failed: Sized) -> str:
    return f"In {count(len(failed), 'order')} tried, not all nodes can be drained"


def _none(cluster: AuditedCluster, failed: Mapping[tuple[str, ...], list[str]], why: str) -> AuditRow:
    order, left = list(failed.items())[-1]
    return AuditRow(
        subject=SUBJECT,
        verdict="risk",
        sentence=f"{why} one after the other, each within {lasting(TURN)}.",
        evidence=(
            f"{count(len(failed), 'order')} played; the last: {listed(order, 12)}",
            f"not drained within {lasting(TURN)}: {listed(left)}"
            if left
            else "pods find no place in the end",
        ),
        opens=cluster.opening("upgrade", order, "end", value=f"{TURN:g}"),
    )


def _unmoved(cluster: AuditedCluster, names: Sequence[str], case: PlayedRun) -> list[str]:
    """Return the nodes on which a pod of before was left."""
    at = {pod.meta.key: (pod.node_name, pod.meta.uid) for pod in case.pods}
    return [
        name
        for name in names
        if any(at.get(pod.meta.key) == (name, pod.meta.uid) for pod in going(cluster, name))
    ]


def _found(cluster: AuditedCluster, names: Sequence[str], never: Sequence[str]) -> AuditRow:
    but = f", but for {listed(never)}" if never else ""
    return AuditRow(
        subject=SUBJECT,
        verdict="ok",
        sentence=f"All nodes can be drained one after the other{but}, in this order: {listed(names, 12)}.",
        evidence=(f"each within {lasting(TURN)}, and uncordoned before the next one",),
        opens=cluster.opening("upgrade", names, "end", value=f"{TURN:g}"),
    )
