"""Why a pod is where it is under kube-scheduler v1.37: its attempt, and the failing plugin of each node.

v1.37 ends a node's evaluation at its first failing plugin, so each node has one failure. The smallest change
is not searched for, which the answer says.
"""

from __future__ import annotations

from scheduler_core.explain.explanation import (
    GROUP_NODES,
    GROUPS_SHOWN,
    Explanation,
    FailureFacts,
    Group,
    Verdict,
)
from scheduler_core.explain.missing_pod import meant_node
from scheduler_core.explain.world import Failure
from scheduler_core.simulation.v1_37.cycles import PRE_FILTER
from scheduler_core.simulation.v1_37.simulation import CurrentSimulation
from scheduler_core.v1_37.attempt import fit_message
from scheduler_core.v1_37.hints.sentences import wakes
from scheduler_core.v1_37.interface import ERROR, Attempt, Status

NOT_SEARCHED = "The smallest change is not searched for under kube-scheduler v1.37."

Failures = dict[str, Failure]


def attempt_now(simulation: CurrentSimulation, pod: str) -> Attempt | None:
    """Schedule a pending pod on the current cluster without any effect; None if no profile handles it."""
    run = simulation.run
    found = run.cluster.pods.get(pod)
    if found is None or found.node or run.scheduling.profile_of(found) is None:
        return None
    start = run.scheduling.start
    try:
        return run.scheduling.schedule(found)
    finally:
        run.scheduling.start = start


def failures_of(attempt: Attempt, nodes: tuple[str, ...]) -> Failures:
    """Return the first failure of each node that an attempt refused, by node."""
    found = {node: _failure(status, status.plugin) for node, status in attempt.failed.items()}
    found |= {node: _failure(status, PRE_FILTER) for node, status in attempt.absent.items()}
    if attempt.rejection is not None:
        names = ", ".join(sorted(attempt.unschedulable_plugins)) or PRE_FILTER
        found = dict.fromkeys(nodes, _failure(attempt.rejection, names))
    elif attempt.error is not None and not found:
        found = dict.fromkeys(nodes, Failure("", (), attempt.error))
    return found


def _failure(status: Status, plugin: str) -> Failure:
    if status.code == ERROR:
        return Failure(plugin, (), status.text)
    return Failure(plugin, status.reasons)


def pending_now(
    simulation: CurrentSimulation, pod: str, asked: str | None, here: Explanation, shown: int
) -> Explanation:
    """Explain a pending pod, or one that its manifest binds, on the current cluster.

    ``here`` has the fields of the moment. Raises ExplainError for a node that does not exist.
    """
    if asked is not None and asked not in simulation.cluster.nodes:
        raise meant_node(simulation, asked)
    if here.node:
        return _with(here, f"{pod} is bound to {here.node} by its manifest: no cycle placed it.")
    attempt = attempt_now(simulation, pod)
    if attempt is None:
        name = simulation.cluster.pods[pod].pod.scheduler_name
        return _with(here, f"{pod} is assigned to the scheduler {name}.", state="other")
    names = simulation.cluster.columns.names
    failures = failures_of(attempt, names)
    fitting = {node for passed in attempt.passed for node in passed.tolist()}
    rows = [asked] if asked is not None else list(names)
    verdicts = tuple(_verdict(node, failures, node in fitting) for node in rows[:shown])
    if asked is not None:
        told = verdicts[0]
        summary = f"{pod} {'fits' if told.fits else 'does not fit'} on {asked}"
        summary += "." if told.fits else f": {_because(told, asked in failures)}."
    elif attempt.node is not None:
        summary = f"{pod} fits on {len(fitting):,} of {len(names):,} nodes that were evaluated."
    else:
        summary = f"{pod} is pending: {attempt.error or fit_message(attempt)}"
    sleeping = _wakes(simulation, pod)
    text = " ".join(filter(None, (summary, sleeping, "" if attempt.node else NOT_SEARCHED)))
    return Explanation(
        pod,
        here.state,
        None,
        asked,
        here.index,
        here.step,
        text,
        nodes=verdicts,
        nodes_count=len(names),
        groups=groups_of(failures, names, fitting) if asked is None else (),
    )


def _with(here: Explanation, summary: str, *, state: str = "") -> Explanation:
    return Explanation(here.pod, state or here.state, here.node, here.asked, here.index, here.step, summary)


def _because(told: Verdict, evaluated: bool) -> str:
    if not evaluated:
        return "the walk over the nodes ended before it, with enough feasible ones"
    failure = told.failures[0]
    return f"{failure.predicate}: {told.because}" if failure.predicate else told.because


def _wakes(simulation: CurrentSimulation, pod: str) -> str:
    """Return what would wake a sleeping pod, as a sentence."""
    waiting = simulation.run.queue.unschedulable.get(pod)
    if waiting is None:
        return ""
    told = [
        f"{plugin}: {wakes(plugin, member.pod)}"
        for member in waiting.members
        for plugin in sorted(member.rejectors)
    ]
    return f"It sleeps until one of these happens: {'; '.join(told)}." if told else ""


def _verdict(node: str, failures: Failures, fits: bool) -> Verdict:
    failure = failures.get(node)
    return Verdict(node, fits, () if failure is None else (FailureFacts(failure, (), ()),))


def groups_of(failures: Failures, nodes: tuple[str, ...], fitting: set[str]) -> tuple[Group, ...]:
    """Return the evaluated nodes grouped by their failure, the largest group first."""
    found: dict[tuple[Failure, ...], list[str]] = {}
    for node in nodes:
        if node in failures or node in fitting:
            found.setdefault((failures[node],) if node in failures else (), []).append(node)
    ordered = sorted(found.items(), key=lambda group: -len(group[1]))
    return tuple(Group(told, len(rows), tuple(rows[:GROUP_NODES])) for told, rows in ordered[:GROUPS_SHOWN])
