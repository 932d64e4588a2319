"""Pods and nodes that are not in the cluster at the moment that is asked about."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.explain.explanation import ExplainError, Explanation
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.record.cycle import Decision
from scheduler_core.run import Stepper

NEAREST_OF = 5000  # names that a misspelled one is compared with


def gone(simulation: Stepper, pod: str) -> Explanation:
    """Explain a pod that is not in the cluster: finished, preempted, deleted, or not created yet.

    Raises:
        ExplainError: No such pod ever exists.
    """
    cluster = simulation.cluster

    def answer(state: str, summary: str, node: str | None = None) -> Explanation:
        step = f"{simulation.major}.{simulation.minor}"
        return Explanation(pod, state, node, None, simulation.index, step, summary)

    finished = cluster.finished.get(pod)
    if finished is not None:
        return answer("finished", f"{pod} has finished: phase {finished.phase}.", finished.node_name or None)
    by: Decision | None = next((d for d in reversed(simulation.decisions) if pod in d.victims), None)
    if by is not None:
        where = f"on {by.nominated} " if by.nominated else ""
        return answer("preempted", f"{pod} was preempted {where}to make room for {by.pod}.")
    if _was_there(simulation, pod):
        return answer("deleted", f"{pod} was deleted by an operation of the scenario.")
    if any(o.kind == "Pod" and o.key == pod and o.action == "create" for o in simulation.scenario.operations):
        return answer("absent", f"{pod} does not exist yet: an operation of the scenario creates it later.")
    raise ExplainError(f"there is no pod {pod!r}{_nearest(pod, cluster.pods)}")


def _was_there(simulation: Stepper, pod: str) -> bool:
    if any(decision.pod == pod for decision in simulation.decisions):
        return True
    if any(isinstance(obj, Pod) and obj.meta.key == pod for obj in simulation.scenario.objects):
        return True
    return any(
        o.kind == "Pod" and o.key == pod and o.step < simulation.major for o in simulation.scenario.operations
    )


def unknown_node(simulation: Stepper, node: str) -> ExplainError:
    """Return the error for a node that does not exist."""
    return ExplainError(f"there is no node {node!r}{_nearest(node, simulation.cluster.nodes)}", "node")


def _nearest(word: str, known: Iterable[str]) -> str:
    return did_you_mean(word, list(known)[:NEAREST_OF])
