"""The expected work of a run, and the queue chosen by it."""

from __future__ import annotations

from playground.limits import limit
from playground.queues import LONG, SHORT
from playground.storage import bundles
from scheduler_core.kubernetes.model import Node, Pod, Workload
from scheduler_core.run import is_timed
from scheduler_core.scenario import scenario as core

LEAST_NODES = 100  # minimum cost of a cycle, in nodes, for small clusters
READING = 10  # cost of reading one object, in nodes × cycles
EVICTIONS = 110  # pods that may have to be rescheduled when a node is deleted: the default maximum per node


def expected_cycles(scenario: core.Scenario) -> int:
    """Return the number of cycles of a run in which no pod is retried."""
    created = [op.object for op in scenario.operations if op.action == "create"]
    names = scenario.configuration.profiles
    return sum(
        isinstance(item, Pod) and not item.terminal and not item.node_name and item.scheduler_name in names
        for item in (*scenario.objects, *created)
    )


def queue_for(scenario: core.Scenario) -> str:
    """Return the queue that a run of the scenario waits in."""
    return SHORT if expected_work(scenario) <= limit("SHORT_WORK") else LONG


def expected_work(scenario: core.Scenario) -> int:
    """Return the expected work of a run in nodes × cycles, including the cost of reading the scenario.

    Pods that controllers create in virtual time are estimated from each object's spec; those of v1.11 are
    already among the objects and operations.
    """
    nodes, pods, operations = bundles.counts(scenario)
    cycles = expected_cycles(scenario)
    if is_timed(scenario):
        cycles += _created_by_controllers(scenario, nodes)
    return max(nodes, LEAST_NODES) * cycles + READING * (nodes + pods + operations)


def _created_by_controllers(scenario: core.Scenario, nodes: int) -> int:
    pods = sum(_pods(item, nodes) for item in scenario.objects if isinstance(item, Workload))
    for operation in scenario.operations:
        changed = operation.object
        if isinstance(changed, Workload):
            pods += _pods(changed, nodes)
        elif operation.kind == Node.__name__ and operation.action != "create":
            pods += EVICTIONS
        elif operation.patch is not None and changed is None:
            # A patch of an object that only the run creates: its size is unknown in advance.
            pods += limit("PODS")
    return pods


def _pods(workload: Workload, nodes: int) -> int:
    """Return the number of distinct pods that a controller creates for one state of its object."""
    if workload.kind == "DaemonSet":
        return nodes
    if workload.kind == "Job":
        return max(workload.replicas, workload.job.completions or 0) + workload.job.backoff_limit
    return workload.replicas
