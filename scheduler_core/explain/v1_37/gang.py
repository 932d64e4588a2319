"""Why a gang waits: of each member what it found on the nodes, and what was decided about all of them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from time import monotonic

from msgspec.structs import replace

from scheduler_core.explain.explanation import Explanation
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.section import Section
from scheduler_core.explain.trial import copying
from scheduler_core.kubernetes.model import PodGroup
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.v1_37.loop import V1_37Stepper
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.schedulers.coscheduling.editions import CURRENT
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.podgroups import GATE, group_key
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.run import SchedulerRun
from scheduler_core.schedulers.v1_37.status import Status

MEMBERS_SHOWN = 12
NODES_NAMED = 5
REASONS_SHOWN = 6
MOST_SECONDS = 5.0  # for running the changes of one answer
NOT_PLACED = "With this alone the pod is not placed: its PodGroup needs room for all of its pods at once."


def mates(simulation: V1_37Stepper, pod: str) -> frozenset[str]:
    """Return the pods that are scheduled in one cycle with a pod, itself included; none if it is alone."""
    run = simulation.run
    found = run.cluster.pods.get(pod)
    key = None if found is None or not run.configuration.gate(GATE) else group_key(found.manifest)
    return frozenset() if key is None else frozenset(one.key for one in run.cluster.members(key))


def is_in_gang(simulation: V1_37Stepper, pod: str) -> bool:
    """Return whether a pod is placed with others or not at all."""
    return bool(mates(simulation, pod)) or _coscheduled(simulation.run, pod) is not None


def placing_first(
    simulation: V1_37Stepper, here: Explanation, changes: Sequence[Remedy]
) -> Generator[None, None, list[Remedy]]:
    """Return changes for a gang's pod, those first with which a run places it; the others say that none does.

    A pod that fits is not placed while the others of its gang have no room.
    """
    until, found = monotonic() + MOST_SECONDS, list[Remedy]()
    for change in changes:
        made = yield from copying(
            simulation.scenario,
            change,
            here.pod,
            index=here.index,
            major=simulation.major,
            out_of_time=lambda: monotonic() > until,
        )
        placed = made is not None and made.node is not None
        found.append(change if placed else replace(change, notes=(*change.notes, NOT_PLACED)))
    return sorted(found, key=lambda one: NOT_PLACED in one.notes)


def gang_section(cycle: Cycle) -> Section | None:
    """Return what the cycle of a PodGroup found for each member; ``None`` for a pod's own cycle."""
    record = release_record(cycle)
    if record is None or record.group is None:
        return None
    counted = [one for one in record.attempts if one.result != "tried"]
    failing = sorted(counted, key=lambda one: one.node is not None)
    sentences = [_member(one, cycle) for one in failing[:MEMBERS_SHOWN]]
    more = len(failing) - MEMBERS_SHOWN
    sentences += [f"and {more:,} more members"] if more > 0 else []
    conditions: Mapping[str, str] = record.group.get("conditions") or {}
    sentences += [f"the group: {name}={text}" for name, text in conditions.items()]
    return Section(f"PodGroup {record.entity} in cycle {cycle.index:,}", tuple(sentences))


def _member(attempt: PodAttempt, cycle: Cycle) -> str:
    placed = dict(cycle.decision.placements).get(attempt.pod.key)
    if placed is not None:
        return f"{attempt.pod.key}: placed on {placed}"
    return f"{attempt.pod.key}: {_found(attempt, 'beside the members before it')}"


def _found(attempt: PodAttempt, beside: str) -> str:
    """Return on which node a pod has room, and why it has none on the others."""
    room = [f"room on {attempt.node} {beside}"] if attempt.node is not None else []
    if attempt.rejection is not None or attempt.error is not None:
        refused = attempt.error or (attempt.rejection.text if attempt.rejection is not None else "")
        return f"on no node: {refused}"
    reasons: dict[str, list[str]] = {}
    for node, status in _refusals(attempt):
        reasons.setdefault(status.text, []).append(node)
    listed = sorted(reasons.items(), key=lambda one: -len(one[1]))
    shown = [f"{_nodes(nodes)}: {text}" for text, nodes in listed[:REASONS_SHOWN]]
    more = [f"{len(listed) - REASONS_SHOWN:,} more reasons"] if len(listed) > REASONS_SHOWN else []
    return "; ".join((*room, *shown, *more)) or "not evaluated"


def _refusals(attempt: PodAttempt) -> Iterator[tuple[str, Status]]:
    yield from attempt.failed.items()
    yield from attempt.absent.items()


def _nodes(nodes: list[str]) -> str:
    if len(nodes) <= NODES_NAMED:
        return ", ".join(nodes)
    return f"{', '.join(nodes[:NODES_NAMED])} and {len(nodes) - NODES_NAMED:,} more nodes"


def coscheduled_section(simulation: V1_37Stepper, pod: str) -> Section | None:
    """Return where each pod of a Coscheduling group is now, or would be alone; ``None`` without one."""
    run, found = simulation.run, _coscheduled(simulation.run, pod)
    if found is None:
        return None
    name = found.labels[CURRENT.pod_label]
    members = [
        one
        for one in run.cluster.pods.values()
        if one.namespace == found.namespace and one.labels.get(CURRENT.pod_label) == name
    ]
    waiting = sorted(members, key=lambda one: bool(one.node))
    sentences = [f"{one.key}: {_standing(run, one)}" for one in waiting[:MEMBERS_SHOWN]]
    more = len(members) - MEMBERS_SHOWN
    sentences += [f"and {more:,} more members"] if more > 0 else []
    key = f"{found.namespace}/{name}"
    groups = (one for one in simulation.scenario.objects if isinstance(one, PodGroup))
    needs = next((one.min_member for one in groups if one.meta.key == key), None)
    placed = sum(bool(one.node) for one in members)
    exist = f"{len(members):,} pods exist, {placed:,} of them on nodes"
    missing = "the group is not in the bundle; without it, its pods are scheduled one by one"
    sentences.append(missing if needs is None else f"the group needs {needs:,} pods at once; {exist}")
    return Section(f"PodGroup {key}", tuple(sentences))


def _coscheduled(run: SchedulerRun, pod: str) -> CompiledPod | None:
    """Return a pod that Coscheduling holds at Permit for its group, ``None`` for any other."""
    found = run.cluster.pods.get(pod)
    profile = None if found is None else run.scheduling.profile_of(found)
    if found is None or profile is None or not profile.has("Coscheduling", "permit"):
        return None
    return found if found.labels.get(CURRENT.pod_label) else None


def _standing(run: SchedulerRun, pod: CompiledPod) -> str:
    if pod.node:
        held = run.queue.flights.holds(pod.key)
        return f"has a place on {pod.node} and waits at Permit" if held else f"on {pod.node}"
    attempt = run.scheduling.evaluate(pod)
    fitting = [node for nodes in attempt.passed for node in nodes]
    if fitting:
        return f"fits on {_nodes(fitting)}, beside what is there now"
    return _found(attempt, "")
