"""What a real cluster's scheduler said about a pending pod, compared with the simulated answer.

The condition that a dump records is compared by its structure: which reasons, on how many nodes. Releases
word the same reasons differently. A difference comes with its likely causes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.fit_errors import parse_fit_error
from scheduler_core.kubernetes.support import part_of
from scheduler_core.record.cycle import Cycle, Decision
from scheduler_core.scenario.dump import SchedulingCondition, scheduling_conditions
from scheduler_core.scenario.scenario import Scenario

GATED = "SchedulingGated"
STORAGE = ("PersistentVolume", "PersistentVolumeClaim", "StorageClass")
OF_PODS = (
    "Insufficient ", "node(s) didn't have free ports", "node(s) didn't match pod", "node(s) didn't satisfy",
    "node(s) exceed max volume count", "node(s) had no available disk",
)  # fmt: skip
"""How the reasons begin that depend on the other pods of a node or a domain."""
HOLDERS = (
    ("node(s) didn't have free ports", "the pod that holds the port is"),
    ("node(s) had no available disk", "the pod that uses the disk is"),
    ("node(s) exceed max volume count", "pods whose volumes are attached are"),
    ("node(s) didn't satisfy existing pods", "the pod whose anti-affinity excludes this one is"),
    ("node(s) didn't match pod anti-affinity", "the pod that its anti-affinity excludes is"),
)  # fmt: skip
"""Who is missing where such a reason was recorded and is not found here."""
UNKNOWN = (
    "the cluster has changed since its scheduler wrote the condition, or that scheduler has a configuration "
    "that is not in the bundle"
)
"""The cause where nothing in the dump suggests another."""
OF_NODES = ("untolerated taint", "node affinity or selector", "node(s) were unschedulable")


class SimulatedOutcome(Struct, frozen=True):
    """What the simulation answers for a pod: its node, or the message of its last attempt.

    Without either it ``fits`` and is not placed yet, or has not been tried.
    """

    node: str = ""
    message: str = ""
    fits: bool = False

    def text(self) -> str:
        """Return the answer as a phrase."""
        if self.node:
            return f"placed on {self.node}"
        return self.message or ("it fits" if self.fits else "not tried")


class RecordedAnswer(Struct, frozen=True):
    """A recorded condition and the simulated answer: in what they differ, and likely why."""

    recorded: SchedulingCondition
    simulated: str
    differences: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether both give the same reasons for as many nodes."""
        return not self.differences

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        return {
            "pod": self.recorded.pod,
            "reason": self.recorded.reason,
            "message": self.recorded.message,
            "since": self.recorded.since,
            "simulated": self.simulated,
            "agrees": self.agrees,
            "differences": list(self.differences),
            "causes": list(self.causes),
        }

    def lines(self) -> Iterator[str]:
        """Yield the comparison line by line."""
        yield f"recorded by the cluster: {self.recorded.message or self.recorded.reason}"
        if self.agrees:
            yield "the simulation gives the same reasons"
            return
        yield f"the simulation differs: {'; '.join(self.differences)}"
        yield from (f"  likely cause: {cause}" for cause in self.causes)


class DumpFacts(Struct, frozen=True):
    """What is known of a dump that may explain a difference."""

    conditions: Mapping[str, SchedulingCondition]
    incomplete: tuple[str, ...]
    kubelets: tuple[str, ...]  # minor releases, such as v1.29
    release: str
    nodes: int
    has_storage: bool

    @classmethod
    def of(cls, scenario: Scenario) -> DumpFacts:
        """Collect them from the documents and warnings of a scenario."""
        conditions = scheduling_conditions(scenario.documents)
        if not conditions:
            return cls({}, (), (), scenario.release, 0, has_storage=False)
        return cls(
            conditions,
            tuple(problem.message for problem in scenario.warnings if problem.incomplete),
            tuple(dict.fromkeys(_minor_releases(scenario.documents))),
            scenario.release,
            sum(one.get("kind") == "Node" for one in scenario.documents),
            any(one.get("kind") in STORAGE for one in scenario.documents),
        )

    def compare(self, pod: str, outcome: SimulatedOutcome) -> RecordedAnswer | None:
        """Compare a pod's recorded condition with an outcome; ``None`` if none is recorded."""
        condition = self.conditions.get(pod)
        if condition is None:
            return None
        found = tuple(_differences(condition, outcome))
        causes = (tuple(self._causes(condition, outcome)) or (UNKNOWN,)) if found else ()
        return RecordedAnswer(condition, outcome.text(), found, causes)

    def _causes(self, condition: SchedulingCondition, outcome: SimulatedOutcome) -> Iterator[str]:
        recorded = parse_fit_error(condition.message)
        before, now = recorded.comparable(), parse_fit_error(outcome.message).comparable()
        changed = [name for name in (*before, *now) if before.get(name) != now.get(name)]
        of_pods = [name for name in changed if name.startswith(OF_PODS)]
        same_nodes = recorded.nodes in (None, self.nodes)
        if not same_nodes and recorded.nodes is not None:
            had = f"{recorded.nodes:,} node{'' if recorded.nodes == 1 else 's'}"
            yield f"the cluster had {had} when the condition was written, the dump has {self.nodes:,}"
        gone = [name for name in of_pods if before.get(name, 0) > now.get(name, 0)]
        yield from (f"{who} not in the dump" for head, who in HOLDERS if any(map(_begins(head), gone)))
        if of_pods:
            yield from self.incomplete
        if any("olume" in name for name in changed) and not self.has_storage:
            yield "the dump has no PersistentVolumes, claims or storage classes: add pv,pvc,sc to kubectl get"
        if same_nodes and any(name in OF_NODES for name in changed):
            yield "taints or labels of nodes have changed since the condition was written"
        if same_nodes and any(now.get(name, 0) > before.get(name, 0) for name in of_pods):
            yield "other pending pods are placed before it here and take room"
        if others := [minor for minor in self.kubelets if minor != self.release]:
            runs = f"the cluster runs {', '.join(others)} (its kubelets)"
            yield f"{runs}, the answer is kube-scheduler {self.release}'s"


def _begins(head: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(head)


def _differences(condition: SchedulingCondition, outcome: SimulatedOutcome) -> Iterator[str]:
    """Yield in what the simulated answer differs, a phrase each."""
    if outcome.node or outcome.fits:
        yield f"here the pod is placed on {outcome.node}" if outcome.node else "here the pod fits"
        return
    if condition.reason == GATED:
        return
    if not outcome.message:
        yield "here the pod is not tried"
        return
    recorded, simulated = parse_fit_error(condition.message), parse_fit_error(outcome.message)
    if recorded.nodes != simulated.nodes:
        yield f"{_nodes(recorded.nodes)} recorded, {_nodes(simulated.nodes)} here"
    before, now = recorded.comparable(), simulated.comparable()
    for name in dict.fromkeys((*before, *now)):
        if before.get(name) != now.get(name):
            yield f"{name}: {_count(before, name)} recorded, {_count(now, name)} here"


def _nodes(number: int | None) -> str:
    return "no count of nodes" if number is None else f"{number:,} node{'' if number == 1 else 's'}"


def _count(counts: Mapping[str, int], name: str) -> str:
    found = counts.get(name)
    return "none" if found is None else f"{found:,}"


def _minor_releases(documents: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for one in documents:
        version = part_of(one, "status", "nodeInfo", "kubeletVersion") if one.get("kind") == "Node" else None
        if isinstance(version, str) and version.startswith("v1."):
            yield ".".join(version.split(".")[:2])


class RecordedAnswers:
    """The comparison of a whole run with what a dump recorded, collected cycle by cycle.

    A cycle after the first operation of the scenario no longer describes the cluster that was dumped.
    """

    def __init__(self, facts: DumpFacts) -> None:
        self.facts = facts
        self._outcomes: dict[str, SimulatedOutcome] = {}

    def note(self, cycle: Cycle) -> None:
        """Keep what a cycle answers for pods with a recorded condition."""
        self.failed(cycle.step, cycle.pod, cycle.message or "")
        self.placed(cycle.step, cycle.decision)

    def placed(self, step: str, decision: Decision) -> None:
        """Keep where the decision of a step places pods."""
        if self.facts.conditions and is_before_operations(step):
            found = (pair for pair in decision.placements if pair[0] in self.facts.conditions)
            self._outcomes.update((pod, SimulatedOutcome(node)) for pod, node in found)

    def failed(self, step: str, pod: str, message: str) -> None:
        """Keep the message of a step that did not place its pod; one that was placed stays so."""
        placed = self._outcomes.get(pod, SimulatedOutcome()).node
        if pod in self.facts.conditions and not placed and is_before_operations(step):
            self._outcomes[pod] = SimulatedOutcome(message=message)

    def answers(self, most: int | None = None) -> list[RecordedAnswer]:
        """Return the comparisons of the first ``most`` pods; those that differ come first."""
        pods = islice(self.facts.conditions, most)
        found = (self.facts.compare(pod, self._outcomes.get(pod, SimulatedOutcome())) for pod in pods)
        return sorted((one for one in found if one is not None), key=lambda one: one.agrees)

    def lines(self) -> Iterator[str]:
        """Yield the comparisons as a report."""
        for answer in self.answers():
            yield f"{answer.recorded.pod}:"
            yield from (f"  {line}" for line in answer.lines())


def is_before_operations(step: str) -> bool:
    """Return whether no operation has landed before a step, as ``major.minor``."""
    return step.partition(".")[0] in ("0", "1")
