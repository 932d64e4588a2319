"""Conformance records of Firmament: run the round of one record, and answer in the records' format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.formats.manifest_list import read_manifests
from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import Node, Pod, Requirement
from scheduler_core.kubernetes.selectors import requirement_matches
from scheduler_core.schedulers.firmament import NAME
from scheduler_core.schedulers.firmament.classes import State
from scheduler_core.schedulers.firmament.costs import OMEGA, resource_costs
from scheduler_core.schedulers.firmament.gangs import GANG_ANNOTATION, JobMinimum, Owner, gang_minimum
from scheduler_core.schedulers.firmament.machines import Machines
from scheduler_core.schedulers.firmament.optima import Optima
from scheduler_core.schedulers.firmament.residents import Residents
from scheduler_core.schedulers.firmament.rounds import MappedTask, Round, run_round
from scheduler_core.schedulers.firmament.tasks import job_name, job_of, task_of

COST_MODEL = 10
MOST_COSTS = 6  # arc costs of a node in an answer
ANY = "*"
Manifest = Mapping[str, Any]


def answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one record: ``{"id", "expect"}``.

    Raises:
        ValueError: The record does not have the format of ``firmament.jsonl.gz``, or another cost model.
        BundleError: The objects cannot be read.
    """
    config = record.get("config")
    if not isinstance(config, Mapping):
        raise ValueError("config must be an object")
    if config.get("flow_scheduling_cost_model", COST_MODEL) != COST_MODEL:
        raise ValueError("flow_scheduling_cost_model must be 10, the CPU-memory model: no other is simulated")
    objects = record.get("objects")
    if not isinstance(objects, list) or not all(isinstance(one, Mapping) for one in objects):
        raise ValueError("objects must be a list of manifests")
    given = record.get("input")
    if given is None:
        return {"id": record.get("id"), "expect": _RoundAnswer(objects, config).expect()}
    if not isinstance(given, Mapping) or given.get("kind") not in INPUTS:
        raise ValueError(f"input.kind must be one of {', '.join(INPUTS)}")
    return {"id": record.get("id"), "expect": INPUTS[given["kind"]](given, objects)}


class _RoundAnswer:
    """A round on a record's objects, and what the record says of it."""

    def __init__(self, objects: Sequence[Manifest], config: Manifest) -> None:
        self.name = str(config.get("schedulerName") or NAME)
        cluster = read_manifests([one for one in objects if one.get("kind") in ("Node", "Pod")])
        pods = [one for one in cluster if isinstance(one, Pod) and not one.terminal]
        self.owners = owners_of(objects)
        own = [pod for pod in pods if pod.scheduler_name == self.name]
        nodes = [one for one in cluster if isinstance(one, Node) and not one.unschedulable]
        self.machines = Machines.of(nodes, [pod for pod in pods if pod.node_name])
        self.free = self.machines.available.copy()
        residents = Residents(len(self.machines.nodes))
        for pod in own:
            if pod.node_name in self.machines.index:
                residents.add(pod, self.machines.index[pod.node_name])
        symmetry = config.get("pod_affinity_antiaffinity_symmetry", True) is not False
        self.tasks = [task_of(pod) for pod in own if not pod.node_name]
        roots: dict[str, Pod] = {}
        for pod in own:
            roots.setdefault(job_of(pod), pod)
        self.names = {job: job_name(pod) for job, pod in roots.items()}
        placed = Counter(job_of(pod) for pod in own if pod.node_name)
        self.gangs = {
            job: JobMinimum(gang_minimum(owner), placed[job])
            for job in roots
            if (owner := _owner(self.owners, roots[job])).percent is not None
        }
        state = State(self.machines, residents, symmetry=symmetry)
        self.round: Round = run_round(self.tasks, roots, state, self.gangs)

    def expect(self) -> dict[str, Any]:
        """Return all fields of a record's ``expect``."""
        jobs = list(dict.fromkeys(task.job for task in self.tasks))
        phases = self.round.last_tries
        mapped = list(self.round.mapped.values())
        scheduled = Counter(one.task.job for one in mapped)
        bound = Counter(one.task.job for one in self.round.placed.values())
        pending = sum(phase.pending for phase in phases)
        found: dict[str, Any] = {
            "solver": {
                "scheduled": {self.names[job]: scheduled[job] for job in jobs},
                "perNode": {self.names[job]: self._per_node(job, mapped) for job in jobs},
                "pending": pending,
                "totalCost": sum(phase.total_cost for phase in phases),
                "placementCost": sum(phase.placement_cost for phase in phases),
            },
            "arcs": {self.names[job]: self._arcs(job) for job in jobs},
            "bound": {self.names[job]: bound[job] for job in jobs},
        }
        optima = [Optima(phase) for phase in phases]
        if all(one.is_unique for one in optima):
            found["overcommittedNodes"] = self._overcommitted(mapped)
        if gangs := self._gangs(optima):
            found["gang"] = gangs
        return found

    def _per_node(self, job: str, mapped: Iterable[MappedTask]) -> dict[str, int]:
        counts = Counter(one.row for one in mapped if one.task.job == job)
        return {self.machines.nodes[row].meta.name: counts[row] for row in sorted(counts)}

    def _arcs(self, job: str) -> dict[str, Any]:
        arcs = next(
            one
            for phase in self.round.phases
            for one in phase.arcs
            if any(task.job == job for task in one.of.tasks)
        )
        rows = np.flatnonzero(arcs.counts)
        costs = arcs.costs(rows, np.arange(MOST_COSTS)).tolist()
        counts = arcs.counts[rows].tolist()
        names = self._names(rows)
        return {
            name: {"count": count, "first": cost[:count]} for name, count, cost in zip(names, counts, costs)
        }

    def _names(self, rows: IntVector) -> list[str]:
        return [self.machines.nodes[row].meta.name for row in rows.tolist()]

    def _overcommitted(self, mapped: Iterable[MappedTask]) -> list[str]:
        """Return the nodes where the mapped tasks request more cpu or memory than was available."""
        taken = np.zeros_like(self.free)
        for one in mapped:
            taken[:, one.row] += one.task.request
        over = (taken > np.maximum(self.free, 0))[:2].any(axis=0) & (taken[:2] > 0).any(axis=0)
        return sorted(self._names(np.flatnonzero(over)))

    def _gangs(self, optima: Sequence[Optima]) -> dict[str, Any]:
        """Return each job whose template has the annotation, whether it is a gang or not."""
        annotated = {
            name: gang_minimum(owner)
            for (_, _, name), owner in self.owners.items()
            if owner.percent is not None
        }
        annotated |= {self.names[job]: gang.minimum for job, gang in self.gangs.items()}
        by_name = {self.names[job]: job for job in self.names}
        return {
            name: {"min": least, "dropped": self._dropped(by_name.get(name, ""), least, optima)}
            for name, least in annotated.items()
        }

    def _dropped(self, job: str, least: int, optima: Sequence[Optima]) -> bool | str:
        """Return whether no optimum reaches the minimum; ``*`` if some do."""
        if not least or job not in self.gangs or not any(task.job == job for task in self.tasks):
            return False
        ranges = [one.range_of(job) for one in optima]
        lowest, highest = (self.gangs[job].placed + sum(one[end] for one in ranges) for end in (0, 1))
        return ANY if lowest < least <= highest else highest < least


OwnerKey = tuple[str, str, str]  # kind, namespace, name


def owners_of(objects: Iterable[Manifest]) -> dict[OwnerKey, Owner]:
    """Return the controllers among manifests; those of a kind without gangs too."""
    found = {}
    for one in objects:
        metadata, spec = one.get("metadata") or {}, one.get("spec") or {}
        template = (spec.get("template") or {}).get("metadata") or {}
        kind = str(one.get("kind"))
        if kind in ("Node", "Pod"):
            continue
        count = spec.get("parallelism") if kind == "Job" else spec.get("replicas", 1)
        percent = (template.get("annotations") or {}).get(GANG_ANNOTATION)
        found[kind, metadata.get("namespace") or "default", str(metadata.get("name"))] = Owner(
            kind, count, percent
        )
    return found


def _owner(owners: Mapping[OwnerKey, Owner], pod: Pod) -> Owner:
    """Return the first owner of a pod, which may be missing."""
    first = next(iter(pod.meta.owner_references), None)
    if first is None:
        return Owner("", None, None)
    lacking = Owner(first.kind, None, pod.meta.annotations.get(GANG_ANNOTATION))
    return owners.get((first.kind, pod.meta.namespace, first.name), lacking)


def _arc_costs(given: Manifest, _: Sequence[Manifest]) -> dict[str, Any]:
    machine, request = given["machine"], given["request"]
    capacity = _column(machine["cpu_milli"], machine["memory_units"])
    available = _column(machine["available_cpu_milli"], machine["available_memory_units"])
    amounts = int(request["cpu_milli"]), int(request["memory_units"])
    indices = np.array(given["indices"], np.int64)
    base = 2 * OMEGA  # neither node affinity nor affinity between pods
    return {"costs": (base + resource_costs(capacity, available, amounts, indices))[0].tolist()}


def _column(cpu: Any, memory: Any) -> Any:
    return np.array([[int(cpu)], [int(memory)]], np.int64)


def _available(given: Manifest, _: Sequence[Manifest]) -> dict[str, Any]:
    """Return what a machine has left by its utilization (GatherStats): cpu as a float of 32 bits."""
    cpu = np.float32(given["capacity_cpu_milli"] * (1.0 - given["cpu_utilization"]))
    memory = given["memory_capacity_units"] * (1.0 - given["memory_utilization"])
    return {
        "available_cpu_milli": int(cpu) if cpu == int(cpu) else float(cpu),
        "available_memory_units": int(memory),
    }


def _requirements(given: Manifest, _: Sequence[Manifest]) -> dict[str, Any]:
    listed = given["requirements"] if "requirements" in given else [given["requirement"]]
    labels = given["labels"]
    return {
        "match": all(
            requirement_matches(
                Requirement(one["key"], one["operator"], tuple(one.get("values") or ())), labels
            )
            for one in listed
        )
    }


def _gang_minimum(given: Manifest, objects: Sequence[Manifest]) -> dict[str, Any]:
    owners = {name: owner for (_, _, name), owner in owners_of(objects).items()}
    return {"min": gang_minimum(owners[given["job"]])}


INPUTS: Mapping[str, Callable[[Manifest, Sequence[Manifest]], dict[str, Any]]] = {
    "arcCosts": _arc_costs,
    "available": _available,
    "nodeRequirement": _requirements,
    "nodeRequirements": _requirements,
    "gangMinimum": _gang_minimum,
}
"""What answers a record that has ``input``, by its kind."""
