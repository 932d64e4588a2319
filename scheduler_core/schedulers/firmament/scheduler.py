"""Poseidon with Firmament beside kube-scheduler in virtual time: a round every ten seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.schedulers.firmament import NAME
from scheduler_core.schedulers.firmament.classes import Arcs, Memory, State
from scheduler_core.schedulers.firmament.gangs import GANG_ANNOTATION, JobMinimum, Owner, gang_minimum
from scheduler_core.schedulers.firmament.machines import Machines
from scheduler_core.schedulers.firmament.residents import Residents
from scheduler_core.schedulers.firmament.round_record import record_round, why_pending
from scheduler_core.schedulers.firmament.rounds import Round, RoundPhase, run_round
from scheduler_core.schedulers.firmament.tasks import job_of, task_of
from scheduler_core.schedulers.firmament.volumes import unbound_claim, with_volumes
from scheduler_core.schedulers.v1_22.interface import Handle
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS

INTERVAL = 10.0  # seconds, schedulingInterval
MOST_FAILED = 1_000  # events about pods in one round
UNBOUND = "Poseidon leaves it alone until its claim is bound: {}"
FAILED = "Firmament failed to schedule the pod {} in {} namespace: {}"


class Poseidon:
    """A round is one attempt, that of the first pod that it bound, or of the first one that stays pending.

    It keeps what Firmament keeps between rounds: the nodes that were not cordoned when they were first seen,
    extreme scores by class, the pods that were placed for each gang, and which pods it has reported.
    """

    def __init__(self) -> None:
        self._rounds = 0
        self._added: dict[str, bool] = {}  # nodes by name: whether they are machines
        self._memory: Memory = {}
        self._placed: dict[str, set[str]] = {}  # by job, for gangs
        self._reported: set[str] = set()

    def next_time(self, now: float) -> float:
        """Return the next multiple of the interval."""
        return (now // INTERVAL + 1) * INTERVAL

    def attempt(self, framework: Handle, pending: Sequence[Pod]) -> Attempt:
        """Run a round."""
        self._rounds += 1
        storage = framework.cluster.storage
        claims = {pod.meta.key: unbound_claim(pod, storage) for pod in pending}
        alone = {key: UNBOUND.format(claim) for key, claim in claims.items() if claim}
        tasks = [task_of(with_volumes(pod, storage)) for pod in pending if pod.meta.key not in alone]
        own = [pod for pod in framework.pods.values() if pod.scheduler_name == NAME]
        state = self._state(framework, own)
        done = run_round(tasks, _roots(own), state, self._gangs(framework, own))
        nodes = state.machines.nodes
        placed = [(key, nodes[one.row].meta.name) for key, one in done.placed.items()]
        attempt = self._attempt_of(placed, done, pending[0].meta.key, alone)
        attempt.time = framework.clock.now
        if framework.details:
            attempt.session = record_round(self._rounds, attempt.time, done, alone)
        return attempt

    def _attempt_of(
        self, placed: Sequence[tuple[str, str]], done: Round, first: str, alone: Mapping[str, str]
    ) -> Attempt:
        """Return what a round did as an attempt; ``first`` is the pod that it is about if none is placed."""
        whys = {**alone, **_whys(done, {key for key, _ in placed})}
        new = [key for key in _reported(done) if key not in self._reported]
        self._reported.update(new)
        events = {key: _failed(key, whys[key]) for key in new[:MOST_FAILED]}
        if placed:
            (pod, node), *further = placed
            in_vain = tuple(events.items())
            return Attempt(self._rounds, 0, pod, "scheduled", node, further=tuple(further), in_vain=in_vain)
        events.pop(first, None)
        message = whys[first] if first in alone else _failed(first, whys[first])
        in_vain = tuple(events.items())
        return Attempt(
            self._rounds, 0, first, "unschedulable", message=message, in_vain=in_vain, settled=True
        )

    def _state(self, framework: Handle, own: Iterable[Pod]) -> State:
        """Return the machines with what all pods use, and Firmament's own pods on them."""
        bound = [pod for pod in framework.pods.values() if pod.node_name and not pod.terminal]
        machines = Machines.of(filter(self._is_added, framework.cluster.nodes.values()), bound)
        residents = Residents(len(machines.nodes))
        for pod in own:
            if not pod.terminal and pod.node_name in machines.index:
                residents.add(pod, machines.index[pod.node_name])
        return State(machines, residents, self._memory)

    def _is_added(self, node: Node) -> bool:
        """Return whether a node is a machine: it was not cordoned when it was first seen."""
        return self._added.setdefault(node.meta.name, not node.unschedulable)

    def _gangs(self, framework: Handle, own: Iterable[Pod]) -> dict[str, JobMinimum]:
        """Return the gangs, with how many of each have ever been placed."""
        found: dict[str, JobMinimum] = {}
        workloads = framework.cluster.workloads
        for pod in own:
            if GANG_ANNOTATION not in pod.meta.annotations:
                continue
            job = job_of(pod)
            placed = self._placed.setdefault(job, set())
            if pod.node_name:
                placed.add(pod.meta.key)
            owner = next(iter(pod.meta.owner_references), None)
            if owner is None:
                continue
            workload = workloads.get((owner.kind, f"{pod.meta.namespace}/{owner.name}"))
            if workload is None:
                continue
            count = workload.job.parallelism if owner.kind == "Job" else workload.replicas
            percent = pod.meta.annotations[GANG_ANNOTATION]
            found[job] = JobMinimum(gang_minimum(Owner(owner.kind, count, percent)), len(placed))
        return found


def _roots(own: Iterable[Pod]) -> dict[str, Pod]:
    """Return the first pod of each job."""
    found: dict[str, Pod] = {}
    for pod in own:
        found.setdefault(job_of(pod), pod)
    return found


def _failed(key: str, why: str) -> str:
    namespace, _, name = key.partition("/")
    return FAILED.format(name, namespace, why)


def _whys(done: Round, placed: set[str]) -> dict[str, str]:
    """Return why each task that is not placed is pending."""
    found: dict[str, str] = {}
    for phase in done.phases:
        for arcs in phase.arcs:
            for task in arcs.of.tasks:
                if task.key not in placed:
                    found[task.key] = why_pending(arcs, dropped=task.job in phase.dropped)
    return found


def _reported(done: Round) -> dict[str, None]:
    """Return the pods that Firmament reports: without an arc, or left over by gang or affinity.

    A pod that merely lost the competition is not reported.
    """
    placed = done.placed
    return {
        task.key: None
        for phase in done.phases
        for arcs in phase.arcs
        for task in arcs.of.tasks
        if task.key not in placed and _is_reported(phase, arcs, task.job)
    }


def _is_reported(phase: RoundPhase, arcs: Arcs, job: str) -> bool:
    return phase.kind != "batch" or not arcs.total or job in phase.dropped


SCHEDULERS[NAME] = Poseidon
