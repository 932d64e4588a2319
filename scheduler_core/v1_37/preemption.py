"""DefaultPreemption for one pod: dry runs on the nodes where it may help, and the choice among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from scheduler_core.v1_37.disruption import Budgets, Unit, started, units
from scheduler_core.v1_37.filtering import add_pod, filter_row, remove_pod, what_if_context
from scheduler_core.v1_37.interface import (
    SUCCESS,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Attempt,
    Nominations,
    Status,
)
from scheduler_core.v1_37.plugins.base import Context
from scheduler_core.v1_37.podgroups import GATE
from scheduler_core.v1_37.pods import Pod

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
_PREFIX = "preemption: "
_OFFSET = 2**31 - 1


@dataclass(frozen=True)
class Candidate:
    """A node with the pods that would have to go, most important first."""

    node: str
    victims: tuple[Pod, ...]
    violations: int


def preempt(attempt: Attempt, nominations: Nominations) -> Status:
    """Look for victims; fill ``preemption``, ``nominated`` and ``victims`` of the attempt (Evaluator.Preempt)."""
    ctx = attempt.context
    refusal = _ineligible(ctx, attempt, nominations)
    if refusal is not None:
        return Status(UNSCHEDULABLE, (_PREFIX + refusal,))
    potential = sorted(node for node, status in attempt.failed.items() if status.code == UNSCHEDULABLE)
    candidates, rejected = _dry_runs(ctx, potential, nominations)
    chosen = choose(candidates)
    attempt.preemption = {
        "candidates": {
            c.node: {"victims": [pod.key for pod in c.victims], "pdbViolations": c.violations}
            for c in candidates
        },
        "rejected": {node: status.document() for node, status in rejected.items()},
        "node": chosen.node if chosen else None,
        "victims": [pod.key for pod in chosen.victims] if chosen else [],
    }
    if chosen is None:
        attempt.nominated = ""
        return Status(UNSCHEDULABLE, (_PREFIX + _unhelpful(attempt.total_nodes, rejected.values()),))
    attempt.nominated = chosen.node
    attempt.victims = [pod for pod in chosen.victims if not pod.terminating]
    if attempt.victims:
        attempt.lost_nominations = [
            pod for pod in nominations.on(chosen.node) if pod.priority < ctx.pod.priority
        ]
    text = (
        f"found a potential placement for pod on node {chosen.node}, preempting {len(chosen.victims)} victims"
    )
    return Status(SUCCESS, (_PREFIX + text,))


def _unhelpful(nodes: int, rejected: Iterable[Status]) -> str:
    counts = Counter(reason for status in rejected for reason in status.reasons)
    rest = nodes - len(list(rejected))
    if rest:
        counts[NOT_HELPFUL] += rest
    entries = sorted(f"{number} {reason}" for reason, number in counts.items())
    return f"0/{nodes} nodes are available: {', '.join(entries)}."


def _ineligible(ctx: Context, attempt: Attempt, nominations: Nominations) -> str | None:
    """Return why the pod may not preempt (PodEligibleToPreemptOthers)."""
    if ctx.pod.spec.get("preemptionPolicy") == "Never":
        return "not eligible due to preemptionPolicy=Never."
    node = nominations.node_of(ctx.pod) or ctx.pod.nominated_node
    row = ctx.nodes.row(node) if node else None
    if row is None:
        return None
    status = attempt.failed.get(node) or attempt.absent.get(node) or attempt.rejection
    if status is not None and status.code == UNRESOLVABLE:
        return None
    if any(p.priority < ctx.pod.priority and _preempted(p) for p in ctx.nodes.nodes[row].pods):
        return "not eligible due to a terminating pod on the nominated node."
    return None


def _preempted(pod: Pod) -> bool:
    return pod.terminating and any(
        condition.get("type") == "DisruptionTarget"
        and condition.get("status") == "True"
        and condition.get("reason") == "PreemptionByScheduler"
        for condition in pod.status.get("conditions") or ()
    )


def _dry_runs(
    ctx: Context, potential: list[str], nominations: Nominations
) -> tuple[list[Candidate], dict[str, Status]]:
    """Try the nodes in order until there are enough candidates, one of them without a PDB violation."""
    arguments = ctx.arguments("DefaultPreemption")
    percentage, least = (
        default if (given := arguments.get(key)) is None else int(given)
        for key, default in (("minCandidateNodesPercentage", 10), ("minCandidateNodesAbsolute", 100))
    )
    wanted = min(max(len(potential) * percentage // 100, least), len(potential))
    candidates: list[Candidate] = []
    rejected: dict[str, Status] = {}
    budgets = Budgets(ctx.cluster)
    for node in potential:
        row = ctx.nodes.row(node)
        assert row is not None
        found = _victims_on(ctx, row, nominations, budgets)
        if isinstance(found, Status):
            rejected[node] = found
            continue
        candidates.append(found)
        if len(candidates) >= wanted and any(not c.violations for c in candidates):
            break
    return candidates, rejected


def _victims_on(ctx: Context, row: int, nominations: Nominations, budgets: Budgets) -> Candidate | Status:
    """Remove all lower pods, re-admit as many as possible, most important first (SelectVictimsOnNode)."""
    pod = ctx.pod
    groups = ctx.configuration.gate(GATE)
    here = units(ctx.cluster, ctx.nodes.nodes[row].pods, groups=groups)
    lower = sorted((unit for unit in here if unit.priority < pod.priority), key=lambda unit: unit.importance)
    if not lower:
        return Status(UNRESOLVABLE, (NO_VICTIMS,))
    trial = what_if_context(ctx)
    with ctx.cluster.what_if(row):
        for unit in lower:
            for victim in unit.pods:
                remove_pod(trial, row, victim)
        status = filter_row(trial, row, nominations)
        if status is not None:
            return status
        violating, others = budgets.split(lower)
        victims: list[Unit] = []

        def reprieve(candidates: list[Unit]) -> int:
            gone = 0
            for unit in candidates:
                for each in unit.pods:
                    add_pod(trial, row, each)
                if filter_row(trial, row, nominations) is not None:
                    for each in unit.pods:
                        remove_pod(trial, row, each)
                    victims.append(unit)
                    gone += 1
            return gone

        violations = reprieve(violating)
        reprieve(others)
    chosen = sorted(victims, key=lambda unit: unit.importance)
    return Candidate(ctx.nodes.name(row), tuple(pod for unit in chosen for pod in unit.pods), violations)


def choose(candidates: list[Candidate]) -> Candidate | None:
    """Return the best candidate (pickOneNodeForPreemption); the last tie goes to the first name."""
    if not candidates:
        return None
    criteria: tuple[Callable[[Candidate], int], ...] = (
        lambda c: c.violations,
        lambda c: c.victims[0].priority,
        lambda c: sum(pod.priority + _OFFSET + 1 for pod in c.victims),
        lambda c: len(c.victims),
        lambda c: -min(started(p) for p in c.victims if p.priority == c.victims[0].priority),
    )
    return min(candidates, key=lambda c: (*(criterion(c) for criterion in criteria), c.node))
