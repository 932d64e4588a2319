"""The cluster of an audit: as it is, at rest with its controllers, and what becomes of it in a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import ceil, inf
from typing import Any

from msgspec import Struct

from scheduler_core.compare.again import MIRROR, STAYING
from scheduler_core.compare.calm import SECOND, CalmCluster
from scheduler_core.compare.plane import can_live, living
from scheduler_core.compare.refinement import Coloring
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.admission import healthy_pods
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod, PodDisruptionBudget, Workload
from scheduler_core.kubernetes.selectors import matches
from scheduler_core.record.availability import Availability, WorkloadAvailability
from scheduler_core.run import Stepper, simulate
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import DEFAULT_RELEASE
from scheduler_core.studies.audit.operations import operations, written
from scheduler_core.studies.audit.row import AuditRow, Opening
from scheduler_core.studies.audit.variation import with_settings

LONGEST = 3600.0
"""Seconds after its last operation for which a case is played whose CronJobs never let it come to rest."""


class PodFailure(Struct, frozen=True):
    """A pod's first cycle without a node, and the message of its last one."""

    step: str
    message: str


class PlayedRun(Struct, frozen=True):
    """A run at its end, and what its cycles said of pods that found no node.

    ``first`` is the step of the first cycle that was played, "" if there was none.
    """

    run: Stepper
    failures: Mapping[str, PodFailure]
    first: str

    @property
    def availability(self) -> Availability:
        """The availability of its workloads."""
        found = self.run.availability()
        assert found is not None
        return found

    @property
    def objects(self) -> Mapping[Key, KubernetesObject]:
        """The objects as controllers have left them."""
        return self.run.controlled_objects() or {}

    @property
    def pods(self) -> list[Pod]:
        """The pods that have not ended."""
        return [one for one in self.objects.values() if isinstance(one, Pod) and not one.terminal]

    @property
    def pending(self) -> list[Pod]:
        """The pods without a node."""
        return [one for one in self.pods if not one.node_name and one.meta.deletion_timestamp is None]


def stays(pod: Pod) -> bool:
    """Return whether a pod belongs to its node: one of a DaemonSet, or a static one."""
    owner = pod.meta.controller
    return MIRROR in pod.meta.annotations or (owner is not None and owner.kind in STAYING)


def played(run: Stepper) -> PlayedRun:
    """Play a run to its end."""
    failures: dict[str, PodFailure] = {}
    first = ""
    while (cycle := run.step()) is not None:
        look()
        first = first or cycle.step
        if cycle.decision.result != "scheduled":
            known = failures.get(cycle.pod)
            failures[cycle.pod] = PodFailure(known.step if known else cycle.step, cycle.message or "")
    return PlayedRun(run, failures, first)


class DisruptionBudget(Struct, frozen=True):
    """A PodDisruptionBudget: the workloads and pods that it covers, and the healthy pods that it needs."""

    key: str
    workloads: frozenset[Key]
    pods: frozenset[str]
    healthy: int
    needed: int
    is_rigid: bool = False
    """Whether it needs all of its pods, however many there are."""


class AuditedCluster:
    """A scenario that is audited. Everything about it is computed when it is asked for, once."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario

    @property
    def lives(self) -> bool:
        """Whether cases can be played: its release has controllers."""
        return can_live(self.scenario) or self.scenario.lives

    @cached_property
    def living(self) -> AuditedCluster:
        """The cluster; under a release without controllers the same under the default one.

        Raises:
            BundleError: The default release cannot read it.
        """
        if self.lives:
            return self
        documents = with_settings(self.scenario.documents, scheduler=DEFAULT_RELEASE)
        return AuditedCluster(load_documents(documents, title=self.scenario.title))

    def answered(self, row: AuditRow, asked: AuditedCluster) -> AuditRow:
        """Return a row of this cluster as an answer to a question about ``asked``."""
        return row if self is asked else row.answered_under(self.scenario.release)

    @cached_property
    def plain(self) -> PlayedRun:
        """The scenario's own run at its end, as its page shows it."""
        return played(simulate(self.scenario, trace=False))

    @cached_property
    def second(self) -> float:
        """When cases begin: once all of the scenario's own operations have passed."""
        if not self.scenario.operations:
            return SECOND
        return ceil(played(simulate(living(self.scenario), trace=False)).run.time) + SECOND

    @cached_property
    def calm(self) -> CalmCluster:
        """The cluster at rest, of which each case is a fork."""
        return CalmCluster(self.scenario, self.second)

    @cached_property
    def coloring(self) -> Coloring:
        """What is alike in the cluster at rest."""
        return Coloring(self.calm.server, self.calm.run.scenario.documents)

    @cached_property
    def rest(self) -> PlayedRun:
        """What becomes of the cluster without a case."""
        return self.after(())

    @cached_property
    def objects(self) -> Mapping[Key, KubernetesObject]:
        """The objects at rest."""
        return self.rest.objects

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes at rest, in order of creation."""
        return [one for one in self.objects.values() if isinstance(one, Node)]

    @cached_property
    def pods_on(self) -> Mapping[str, list[Pod]]:
        """The pods at rest by node."""
        found: dict[str, list[Pod]] = {node.meta.name: [] for node in self.nodes}
        for pod in self.rest.pods:
            found.setdefault(pod.node_name, []).append(pod)
        return found

    @cached_property
    def workloads(self) -> Mapping[Key, list[Pod]]:
        """The pods at rest by the workload at the top of their owners, but bare and terminating ones."""
        found: dict[Key, list[Pod]] = {}
        for pod in self.rest.pods:
            if pod.meta.deletion_timestamp is None and (top := self.top(pod)) is not None:
                found.setdefault(top, []).append(pod)
        return found

    def top(self, pod: Pod) -> Key | None:
        """Return the workload that a pod counts for: a Deployment, or its controller; None for a bare one."""
        owner = pod.meta.controller
        if owner is None or owner.kind == "Node":
            return None
        key = (owner.kind, f"{pod.meta.namespace}/{owner.name}")
        above = self.objects.get(key)
        parent = above.meta.controller if isinstance(above, Workload) else None
        deployed = parent is not None and parent.kind == "Deployment"
        return (
            (parent.kind, f"{pod.meta.namespace}/{parent.name}") if parent is not None and deployed else key
        )

    @cached_property
    def budgets(self) -> list[DisruptionBudget]:
        """The PodDisruptionBudgets at rest."""
        found = [one for one in self.objects.values() if isinstance(one, PodDisruptionBudget)]
        return [self._budget(one) for one in found]

    def _budget(self, budget: PodDisruptionBudget) -> DisruptionBudget:
        pods = [
            one
            for one in self.rest.pods
            if one.meta.namespace == budget.meta.namespace and matches(budget.selector, one.meta.labels)
        ]
        scale = {
            (one.kind, one.meta.namespace, one.meta.name): one.replicas
            for one in self.objects.values()
            if isinstance(one, Workload)
        }
        healthy, needed = healthy_pods(
            budget, pods, scale, healthy=lambda pod: pod.phase == "Running" and pod.ready
        )
        tops = frozenset(filter(None, map(self.top, pods)))
        rigid = budget.max_unavailable in (0, "0%") or budget.min_available == "100%"
        return DisruptionBudget(
            budget.meta.key, tops, frozenset(pod.meta.key for pod in pods), healthy, needed, rigid
        )

    # --- cases

    def entries(self, verb: str, targets: Sequence[str], value: str = "") -> list[dict[str, Any]]:
        """Return the operations of a verb at :attr:`second`. Raises VerbError."""
        return operations(self.calm.run.scenario.documents, verb, targets, value, self.second)

    def case(self, verb: str, targets: Sequence[str], value: str = "") -> PlayedRun:
        """Play a verb. Raises VerbError."""
        return self.after(self.entries(verb, targets, value))

    def after(self, entries: Sequence[dict[str, Any]]) -> PlayedRun:
        """Play operations on the cluster at rest, those of :meth:`entries` or others."""
        last = max((float(one["time"]) for one in entries), default=self.second)
        return played(self.calm.after(entries, until=last + LONGEST if self.is_restless else inf))

    @cached_property
    def is_restless(self) -> bool:
        """Whether CronJobs begin Jobs for ever."""
        return any(one.get("kind") == "CronJob" for one in self.scenario.documents)

    def opening(
        self, verb: str, targets: Sequence[str], step: str, pod: str = "", value: str = ""
    ) -> Opening:
        """Return what opens the branch of a case at a step."""
        return Opening(
            kind="verb",
            verb=verb,
            targets=tuple(targets),
            value=value,
            second=self.second,
            step=step,
            pod=pod,
            assumed=any(map(self._is_assumed, targets)),
        )

    def _is_assumed(self, target: str) -> bool:
        return "/" in target and "=" not in target and target not in self._written

    @cached_property
    def _written(self) -> frozenset[str]:
        return frozenset(written(document_key(one)) for one in self.scenario.documents)

    def homeless(self, case: PlayedRun) -> list[Pod]:
        """Return the pods that end without a node in a case, as far as there are more of their workload."""
        known = Counter(self._group(pod) for pod in self.rest.pending)
        found = []
        for pod in case.pending:
            if known[self._group(pod)] > 0:
                known[self._group(pod)] -= 1
            else:
                found.append(pod)
        return found

    def vanished(self, case: PlayedRun, here: Iterable[Pod]) -> list[Pod]:
        """Return the pods of a place that end with a case and that nobody replaces.

        Those of a StatefulSet that are still ending are none: their set waits for them.
        """
        there = {pod.meta.key for pod in case.pods if pod.meta.deletion_timestamp is None}
        ending = {pod.meta.key for pod in case.pods} - there
        left = Counter(map(self._group, self.rest.pods))
        left.subtract(self._group(pod) for pod in case.pods if pod.meta.deletion_timestamp is None)
        found = []
        for pod in here:
            waits = pod.meta.key in ending and self._waits(pod)
            if pod.meta.key in there or stays(pod) or waits or left[self._group(pod)] <= 0:
                continue
            left[self._group(pod)] -= 1
            found.append(pod)
        return found

    def _waits(self, pod: Pod) -> bool:
        """Return whether the next pod of its name waits until this one has ended."""
        top = self.top(pod)
        return top is not None and top[0] == "StatefulSet" and top in self.objects

    def loss_of(self, pod: Pod) -> str:
        """Return why nobody replaces a pod."""
        owner = pod.meta.controller
        if owner is None:
            return f"{pod.meta.key} has no controller"
        return f"{owner.kind} {pod.meta.namespace}/{owner.name} of {pod.meta.key} is not in the bundle"

    def _group(self, pod: Pod) -> object:
        return self.top(pod) or pod.meta.key


def fewest_since(one: WorkloadAvailability, second: float) -> int:
    """Return the fewest ready pods of a workload from a second on."""
    before = [sample.ready for sample in one.moments if sample.at <= second][-1:]
    return min((*before, *(sample.ready for sample in one.moments if sample.at > second)), default=0)


def fewest_together(found: Iterable[WorkloadAvailability], second: float) -> int:
    """Return the fewest ready pods of several workloads together from a second on."""
    listed = list(found)
    times = sorted({second, *(sample.at for one in listed for sample in one.moments if sample.at > second)})
    return min(sum(ready_at(one, at) for one in listed) for at in times)


def ready_at(one: WorkloadAvailability, second: float) -> int:
    """Return how many pods of a workload were ready at a second."""
    return next((sample.ready for sample in reversed(one.moments) if sample.at <= second), 0)
