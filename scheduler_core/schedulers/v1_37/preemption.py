"""DefaultPreemption for one pod: dry runs on the nodes where it may help, and the choice among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from scheduler_core.schedulers.extenders.calls import ExtenderError
from scheduler_core.schedulers.v1_37.candidates import Candidate
from scheduler_core.schedulers.v1_37.disruption import DisruptionBudgets, Unit, lost_node, started, units
from scheduler_core.schedulers.v1_37.extender_calls import allowed
from scheduler_core.schedulers.v1_37.filters import (
    add_pod,
    filter_row,
    remove_pod,
    update_states,
    what_if_context,
)
from scheduler_core.schedulers.v1_37.interface import Nominator, PodAttempt
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.podgroups import GATE
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.status import ERROR, SUCCESS, UNRESOLVABLE, UNSCHEDULABLE, Status

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
_NO_VICTIMS = Status(UNRESOLVABLE, (NO_VICTIMS,))
NO_CANDIDATE = "no candidate node for preemption"
_PREFIX = "preemption: "
_OFFSET = 2**31 - 1


def preempt(attempt: PodAttempt, nominations: Nominator) -> Status:
    """Look for victims; fill ``preemption``, ``nominated`` and ``victims`` (Evaluator.Preempt)."""
    ctx = attempt.context
    refusal = _ineligible(ctx, attempt, nominations)
    if refusal is not None:
        return Status(UNSCHEDULABLE, (_PREFIX + refusal,))
    potential = sorted(attempt.failed.with_code(UNSCHEDULABLE))
    candidates, rejected, lost = _dry_runs(ctx, potential, nominations)
    found, refused = candidates, ""
    if candidates and attempt.calls is not None:
        try:
            groups = ctx.configuration.gate(GATE)
            candidates = allowed(attempt.calls, ctx.cluster, candidates, groups=groups)
        except ExtenderError as error:
            candidates, refused = [], str(error)
    chosen = choose(candidates)
    attempt.candidates = candidates
    attempt.preemption = {
        "candidates": {
            c.node: {"victims": [pod.key for pod in c.victims], "pdbViolations": c.violations}
            for c in candidates
        },
        "rejected": {node: status.document() for node, status in rejected.items()},
        "node": chosen.node if chosen else None,
        "victims": [pod.key for pod in chosen.victims] if chosen else [],
    }
    if found and chosen is None:  # because of extenders, and the nomination stays
        text = refused or NO_CANDIDATE
        return Status(ERROR if refused else UNSCHEDULABLE, (_PREFIX + text,))
    if chosen is None:
        texts = (status.text for status in rejected.values() if status.code == ERROR)
        errors = dict.fromkeys((*lost, *texts))
        if errors:  # and the nomination stays
            text = next(iter(errors)) if len(errors) == 1 else f"[{', '.join(errors)}]"
            return Status(ERROR, (_PREFIX + text,))
        attempt.nominated = ""
        return Status(UNSCHEDULABLE, (_PREFIX + _unhelpful(attempt.total_nodes, rejected.values()),))
    attempt.nominated = chosen.node
    attempt.victims = [pod for pod in chosen.victims if not pod.terminating]
    if attempt.victims:
        attempt.lost_nominations = [
            pod for pod in nominations.on(chosen.node) if pod.priority < ctx.pod.priority
        ]
    if not ctx.configuration.dialect.announces_victims:
        return Status(SUCCESS)
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


def _ineligible(ctx: Context, attempt: PodAttempt, nominations: Nominator) -> str | None:
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
    here = units(ctx.cluster, ctx.nodes.nodes[row].pods, groups=ctx.configuration.gate(GATE))
    lower = (unit for unit in here if unit.priority < ctx.pod.priority)
    if any(pod.node == node and terminates_by_preemption(pod) for unit in lower for pod in unit.pods):
        return "not eligible due to a terminating pod on the nominated node."
    return None


def terminates_by_preemption(pod: CompiledPod) -> bool:
    """Return whether a pod is a victim that is still terminating (PodTerminatingByPreemption)."""
    conditions = pod.status.get("conditions") or ()
    target = next((one for one in conditions if one.get("type") == "DisruptionTarget"), None)
    return (
        pod.terminating
        and target is not None
        and target.get("status") == "True"
        and target.get("reason") == "PreemptionByScheduler"
    )


def _dry_runs(
    ctx: Context, potential: list[str], nominations: Nominator
) -> tuple[list[Candidate], dict[str, Status], list[str]]:
    """Try the nodes in order until there are enough candidates, one of them without a PDB violation.

    Of those with and of those without a violation at most that number is kept (DryRunPreemption). The last
    value are the errors of nodes on which nothing was tried.
    """
    arguments = ctx.arguments("DefaultPreemption")
    percentage, least = (
        default if (given := arguments.get(key)) is None else int(given)
        for key, default in (("minCandidateNodesPercentage", 10), ("minCandidateNodesAbsolute", 100))
    )
    wanted = min(max(len(potential) * percentage // 100, least), len(potential))
    safe: list[Candidate] = []
    violating: list[Candidate] = []
    rejected: dict[str, Status] = {}
    lost: list[str] = []
    groups = ctx.configuration.gate(GATE)
    if not groups and min(ctx.nodes.priorities, default=ctx.pod.priority) >= ctx.pod.priority:
        return [], dict.fromkeys(potential, _NO_VICTIMS), []
    budgets = DisruptionBudgets(ctx.cluster)
    for node in potential:
        row = ctx.nodes.row(node)
        assert row is not None
        pods = ctx.nodes.nodes[row].pods
        if not groups and all(pod.priority >= ctx.pod.priority for pod in pods):
            rejected[node] = _NO_VICTIMS
            continue
        here = units(ctx.cluster, pods, groups=groups)
        unknown = next((text for unit in here if (text := lost_node(ctx.cluster, unit))), None)
        if unknown is not None:
            lost.append(unknown)
            continue
        found = _victims_on(ctx, row, here, nominations, budgets)
        if isinstance(found, Status):
            rejected[node] = found
            continue
        kept = violating if found.violations else safe
        if len(kept) < wanted:
            kept.append(found)
        if safe and len(safe) + len(violating) >= wanted:
            break
    return [*safe, *violating], rejected, lost


def _victims_on(
    ctx: Context, row: int, here: Sequence[Unit], nominations: Nominator, budgets: DisruptionBudgets
) -> Candidate | Status:
    """Remove all lower pods, re-admit as many as possible, most important first (SelectVictimsOnNode)."""
    pod = ctx.pod
    lower = budgets.in_reprieve_order(unit for unit in here if unit.priority < pod.priority)
    if not lower:
        return _NO_VICTIMS
    trial = what_if_context(ctx)
    victims: list[Unit] = []
    violations = 0
    with ctx.cluster.what_if(row):
        for unit, _ in lower:
            _leave(trial, row, unit)
        status = filter_row(trial, row, nominations)
        if status is not None:
            return status
        for unit, violating in lower:
            _return(trial, row, unit)
            if filter_row(trial, row, nominations) is not None:
                _leave(trial, row, unit)
                victims.append(unit)
                violations += violating
    node = ctx.nodes.name(row)
    if not victims:
        return Status(ERROR, (f'expected at least one victim pod on node "{node}"',))
    return Candidate(
        node,
        tuple(sorted(victims, key=lambda unit: unit.importance)),
        violations,
        tuple(pod for unit, _ in lower for pod in unit.pods),
        frozenset(pod.key for unit, violating in lower if violating for pod in unit.pods),
    )


def _leave(trial: Context, row: int, unit: Unit) -> None:
    """Remove a unit; its pods on other nodes are reported to the prepared states only."""
    for pod in unit.pods:
        own = trial.nodes.rows[pod.node]
        if own == row:
            remove_pod(trial, row, pod)
        else:
            update_states(trial, own, pod, -1)


def _return(trial: Context, row: int, unit: Unit) -> None:
    for pod in unit.pods:
        own = trial.nodes.rows[pod.node]
        if own == row:
            add_pod(trial, row, pod)
        else:
            update_states(trial, own, pod, 1)


def _earliest_start(victims: Sequence[CompiledPod]) -> int:
    """Return when the first of the victims of the highest priority started (GetEarliestPodStartTime)."""
    highest = max(pod.priority for pod in victims)
    return min(started(pod) for pod in victims if pod.priority == highest)


def choose(candidates: list[Candidate]) -> Candidate | None:
    """Return the best candidate (pickOneNodeForPreemption); the last tie goes to the first name.

    The pods' own priorities count, also those of a PodGroup.
    """
    if not candidates:
        return None
    criteria: tuple[Callable[[Candidate], int], ...] = (
        lambda c: c.violations,
        lambda c: c.victims[0].priority,
        lambda c: sum(pod.priority + _OFFSET + 1 for pod in c.victims),
        lambda c: len(c.victims),
        lambda c: -_earliest_start(c.victims),
    )
    return min(candidates, key=lambda c: (*(criterion(c) for criterion in criteria), c.node))
