"""Whether a quirk can affect a decision at all, and the facts if it does.

Each function checks one row of :data:`scheduler_core.schedulers.v1_11.quirks.QUIRKS`. It is cheap. ``None``
means that the quirk certainly changes nothing; otherwise it returns a function that formats the facts, called
only if the outcome did change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.record.cycle import Cycle
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.pod_selectors import compile_map
from scheduler_core.schedulers.columns.pods import AffinityClass, PodQuery, PodState
from scheduler_core.schedulers.columns.services import service_selectors, spreading_selectors
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.storage import ATTACH_KINDS
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.predicates.general import REPORT_ORDER
from scheduler_core.schedulers.v1_11.predicates.interpod import compared_keys
from scheduler_core.schedulers.v1_11.predicates.service import CheckServiceAffinity
from scheduler_core.schedulers.v1_11.predicates.volumes import MaxVolumeCount
from scheduler_core.schedulers.v1_11.priorities import InterPodAffinityPriority

QuirkText = Callable[[], str]

NAMED = 3  # at most so many pods or nodes are named


class DecisionContext(Struct, frozen=True):
    """A decision as v1.11 makes it, and its inputs."""

    pod: PodState
    cluster: Cluster
    queue: Nominations
    profile: Profile
    cycle: Cycle

    def nominated(self) -> list[PodState]:
        """Return the waiting pods that count on their nominated nodes: those of equal or higher priority."""
        if not self.queue.nominated:
            return []
        return [
            other
            for name in self.queue.nominated
            if name in self.cluster.columns.index
            for other in self.queue.nominated_to(name)
            if other.priority >= self.pod.priority
        ]


def named(names: Iterable[str]) -> str:
    """Join the first few names and append how many more there are."""
    every = list(names)
    shown = ", ".join(every[:NAMED])
    return shown if len(every) <= NAMED else f"{shown} and {len(every) - NAMED} more"


def _last_term(at: DecisionContext) -> QuirkText | None:
    kind = at.pod.kind
    carried = {pod.affinity for pod in at.nominated()}
    for acting in at.cluster.index.acting_on(kind):
        terms = acting.terms.anti_required
        if len(terms) < 2 or not (acting.total or acting in carried):
            continue
        last, own = compared_keys(terms, kind), compared_keys(terms, kind, last=False)
        if last != own:
            return lambda acting=acting, last=last, own=own: (  # type: ignore[misc]
                f"A required anti-affinity term of {_carrier(at, acting)} on {', '.join(own)} matches "
                f"{at.pod.key}, but {last[0]}, of the last term, is compared."
            )
    return None


def _carrier(at: DecisionContext, acting: AffinityClass) -> str:
    nodes = np.flatnonzero(acting.counts).tolist()
    on_nodes = (pod for node in nodes[:1] for pod in at.cluster.residents[node].values())
    return next((pod.key for pod in (*on_nodes, *at.nominated()) if pod.affinity is acting), "a pod")


def _anded(at: DecisionContext) -> QuirkText | None:
    terms = at.pod.info.terms.anti_required
    if len(set(terms)) < 2:
        return None
    index = at.cluster.index
    hit = [index.count(PodQuery.of_terms((term,))).total for term in terms]
    if not any(hit) and not at.nominated():
        return None
    return lambda: (
        f"{at.pod.key} has {len(terms)} required anti-affinity terms, which match {named(map(str, hit))} "
        "pods, but only a pod that matches them all excludes nodes."
    )


def _first_anywhere(at: DecisionContext) -> QuirkText | None:
    terms = at.pod.info.terms.required
    query = PodQuery.of_terms(terms)
    if not terms or not query.matches(at.pod.info.namespace, at.pod.info.labels):
        return None
    if at.cluster.index.count(query).total and "self-match-before-removal" in at.profile.quirks:
        return None
    keys = tuple(dict.fromkeys(term.topology_key for term in terms))
    lacking = np.flatnonzero(at.cluster.columns.topology(keys).ids < 0)
    if not lacking.size:
        return None
    return lambda: (
        f"{at.pod.key} is the first pod that matches its own affinity terms, and "
        f"{named(at.cluster.columns.names[node] for node in lacking.tolist())} without the label "
        f"{' or '.join(keys)} will do for it."
    )


def _before_removal(at: DecisionContext) -> QuirkText | None:
    terms = at.pod.info.terms.required
    if not terms or at.cycle.preemption is None:
        return None
    query = PodQuery.of_terms(terms)
    if not query.matches(at.pod.info.namespace, at.pod.info.labels):
        return None
    nodes = np.flatnonzero(at.cluster.index.count(query).counts).tolist()
    if len(nodes) != 1:
        return None
    return lambda: (
        f"All pods that match the affinity terms of {at.pod.key} are on "
        f"{at.cluster.columns.names[nodes[0]]}; without them it would be the first of its series, "
        "which the dry run does not see."
    )


def _no_targets(at: DecisionContext) -> QuirkText | None:
    terms = (*at.pod.info.terms.required, *at.pod.info.terms.anti_required)
    if not terms or not at.queue.nominated:
        return None
    found = [
        other
        for other in at.nominated()
        if any(term.selects(other.kind.namespace, other.kind.labels) for term in terms)
    ]
    if not found:
        return None
    return lambda: (
        f"The affinity terms of {at.pod.key} match {named(pod.key for pod in found)}, nominated to "
        f"{named(dict.fromkeys(pod.nominated for pod in found))}, but a nominated pod is no target of theirs."
    )


def _without_node(at: DecisionContext) -> QuirkText | None:
    if not at.queue.nominated or not any(isinstance(p, CheckServiceAffinity) for p in at.profile.predicates):
        return None
    query = PodQuery((((at.pod.info.namespace,), compile_map(at.pod.info.labels)),))
    nominated = [pod for pod in at.nominated() if query.matches(pod.kind.namespace, pod.kind.labels)]
    if not nominated:
        return None
    return lambda: (
        f"{named(pod.key for pod in nominated)} has the labels of {at.pod.key} and is only nominated to "
        f"{named(dict.fromkeys(pod.nominated for pod in nominated))}, so it has no node to follow."
    )


def _unrequested(at: DecisionContext) -> QuirkText | None:
    info, cluster = at.pod.info, at.cluster
    if info.requests_nothing:
        return None
    nominated = at.nominated()
    free: dict[str, IntVector] = {}
    for row, name in REPORT_ORDER[1:]:
        if not info.request[row]:
            more = sum(int(pod.info.usage[row]) for pod in nominated)
            free[name] = cluster.columns.allocatable[row] - cluster.used[row] - more
    for name, amount in info.scalar_request:
        if not amount:
            more = sum(dict(pod.info.scalar_usage).get(name, 0) for pod in nominated)
            free[name] = cluster.columns.scalar(name) - cluster.scalar_used(name) - more
    short_of = {name: np.flatnonzero(left < 0).tolist() for name, left in free.items() if left.min() < 0}
    if not short_of:
        return None
    return lambda: (
        f"{at.pod.key} requests no {' and no '.join(short_of)}, of which more is requested than there is on "
        f"{named(cluster.columns.names[node] for node in next(iter(short_of.values())))}."
    )


def _ports(at: DecisionContext) -> QuirkText | None:
    wanted = {port[1:] for port in at.pod.info.ports}
    for protocol, number in wanted:
        for node in at.cluster.port_nodes.get((protocol, number), ()):
            use = at.cluster.uses[node]
            for port, holders in use.holders.items():
                if port[1:] in wanted and (holders > 1 or port not in use.ports):
                    name = at.cluster.columns.names[node]
                    return lambda port=port, name=name, holders=holders: (  # type: ignore[misc]
                        f"On {name}, {holders} pod(s) hold host port {port[2]}/{port[1]}, which was or would "
                        "be free as soon as one of two was removed."
                    )
    return None


def _volumes(at: DecisionContext) -> QuirkText | None:
    if not at.pod.info.volumes:
        return None
    use = at.cluster.use_of(at.pod.info)
    nominated = at.nominated()
    for predicate in at.profile.predicates:
        wanted = use.attached[predicate.kind] if isinstance(predicate, MaxVolumeCount) else None
        if not wanted or not isinstance(predicate, MaxVolumeCount):
            continue
        counts = at.cluster.attached_counts[predicate.kind]
        more = sum(len(at.cluster.use_of(pod.info).attached[predicate.kind]) for pod in nominated)
        there = [at.cluster.volume_nodes.get(volume, set()) for volume in wanted]
        nodes = range(len(counts)) if more else set.intersection(*there)
        over = [node for node in nodes if counts[node] + more > predicate.limit]
        if over:
            return lambda over=over, predicate=predicate: (  # type: ignore[misc]
                f"{named(at.cluster.columns.names[node] for node in sorted(over))} has more than "
                f"{predicate.limit} {ATTACH_KINDS[predicate.kind]} volumes, and all of {at.pod.key}'s are "
                "among them."
            )
    return None


def _never_run(at: DecisionContext) -> QuirkText | None:
    keys = at.profile.never_run
    if not keys:
        return None
    return lambda: f"The policy names {named(keys)}, which is not in the static order and so was never run."


def _controllers(at: DecisionContext) -> QuirkText | None:
    known = {priority.name for priority in at.profile.priorities}
    if at.cycle.totals is None or "ServiceSpreadingPriority" not in known:
        return None
    every = spreading_selectors(at.pod.info, at.cluster)
    services = service_selectors(at.pod.info, at.cluster)
    if set(every) == set(services):
        return None
    return lambda: (
        f"{len(every) - len(services)} controller(s) and {len(services)} service(s) select {at.pod.key}; "
        "ServiceSpreadingPriority counted the pods of the controllers too."
    )


def _from_zero(at: DecisionContext) -> QuirkText | None:
    if at.cycle.totals is None:
        return None
    runs = [
        priority.run
        for priority in at.profile.priorities
        if isinstance(priority.run, InterPodAffinityPriority)
    ]
    if not runs:
        return None
    feasible = at.cycle.feasible.astype(np.int64)
    view = View(at.cluster, None if len(feasible) == at.cluster.columns.size else feasible)
    if next(runs[0].weighted(at.pod.info, view, at.pod.kind), None) is None:
        return None
    sums = runs[0].sums(at.pod.info, view, at.pod)
    low, high = int(sums.min()), int(sums.max())
    if low <= 0 <= high or low == high == 0:
        return None
    return lambda: f"The sums of affinity terms go from {low} to {high}, but were scaled as if one were 0."


def _first_victim(at: DecisionContext) -> QuirkText | None:
    tried = at.cycle.preemption
    if tried is None or len(tried.candidates) < 2:
        return None
    mixed = [
        run
        for run in tried.candidates
        if run.refused and run.refused[0].priority < max(pod.priority for pod in run.refused)
    ]
    if not mixed:
        return None
    return lambda: (
        f"On {named(tried.nodes[run.node] for run in mixed)} a victim that violates a PodDisruptionBudget "
        "stands in front of one of higher priority, which was not compared."
    )


def _not_counted(at: DecisionContext) -> QuirkText | None:
    tried = at.cycle.preemption
    if tried is None or not any(len(run.removed) > 1 for run in tried.candidates):
        return None
    allowing = [key for key, budget in at.cluster.budgets.items() if budget.disruptions_allowed > 0]
    if not allowing:
        return None
    return lambda: f"{named(allowing)} allows disruptions, which were not counted down victim by victim."


CAUSES: Mapping[str, Callable[[DecisionContext], QuirkText | None]] = {
    "last-anti-affinity-term": _last_term,
    "anti-affinity-terms-anded": _anded,
    "self-match-needs-no-topology": _first_anywhere,
    "self-match-before-removal": _before_removal,
    "nominated-pods-are-no-targets": _no_targets,
    "nominated-pod-without-node": _without_node,
    "unrequested-resources-checked": _unrequested,
    "ports-are-a-set": _ports,
    "volume-limit-without-new-volume": _volumes,
    "unknown-predicate-never-run": _never_run,
    "service-spreading-takes-controllers": _controllers,
    "affinity-scores-from-zero": _from_zero,
    "first-victim-priority": _first_victim,
    "disruptions-not-counted-down": _not_counted,
}
"""The check of each quirk, by its id."""
