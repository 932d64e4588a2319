"""Firmament's flags: what the simulation does instead where a flag file asks for something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from scheduler_core.formats.flags import Flag
from scheduler_core.settings.several import NO_PREEMPTION

NAMED = 8  # unknown flags in a message
NO = "no"  # before the name of a flag that is false


class SimulatedFlag(Struct, frozen=True):
    """A flag with the value that the simulation has, and what is said of another one."""

    value: str
    otherwise: str


_MODEL = "only the CPU-memory cost model, 10, is simulated"
_SOLVER = "every solver finds a flow of the same cost; the simulation has one of its own"

FLAGS: Mapping[str, SimulatedFlag] = {
    "preemption": SimulatedFlag("false", NO_PREEMPTION.removeprefix("preemption: true ")),
    "flow_scheduling_cost_model": SimulatedFlag("10", f"has no effect: {_MODEL}"),
    "flow_scheduling_solver": SimulatedFlag("cs2", f"has no effect: {_SOLVER}"),
    "pod_affinity_antiaffinity_symmetry": SimulatedFlag(
        "true", "has no effect: affinity between pods is symmetric, as deployed"
    ),
    "gather_unscheduled_tasks": SimulatedFlag("true", "has no effect: unscheduled pods are gathered"),
    "max_tasks_per_pu": SimulatedFlag("50", "has no effect: the node's own limit of pods supersedes it"),
    "queue_based_scheduling_time": SimulatedFlag(
        "100", "has no effect: the queue's CPU time has no limit in the simulation"
    ),
    "run_incremental_scheduler": SimulatedFlag(
        "false", "has no effect: each round builds its network again, which gives the same minimum"
    ),
    "reschedule_tasks_upon_node_failure": SimulatedFlag(
        "false", "has no effect: the controllers replace the pods of a failed node"
    ),
    "resource_stats_update_based_on_resource_reservation": SimulatedFlag(
        "true", "has no effect: machines are measured by what pods request"
    ),
}
"""The flags as Firmament 0.8 is deployed with Poseidon. One more is a row here."""


def flag_warnings(flags: Iterable[Flag]) -> Iterator[str]:
    """Yield what a flag file asks for in vain, by flag and line."""
    unknown = []
    for flag in flags:
        name, value = flag.name, flag.value
        if name not in FLAGS and name.removeprefix(NO) in FLAGS:
            name, value = name.removeprefix(NO), "false"
        row = FLAGS.get(name)
        if row is None:
            unknown.append(name)
        elif value.lower() != row.value:
            yield f"line {flag.line}: {name}={value[:40]} {row.otherwise}"
    if unknown:
        more = f" and {len(unknown) - NAMED:,} more" if len(unknown) > NAMED else ""
        yield f"flags that the simulation does not read: {', '.join(unknown[:NAMED])}{more}"
