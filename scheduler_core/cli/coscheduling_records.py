"""Conformance records of Coscheduling: what each kind of question asks, and the answer in its format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod, PodGroup
from scheduler_core.kubernetes.quantity import parse_resource
from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.scenario.load import read_objects
from scheduler_core.schedulers.coscheduling import (
    EDITIONS,
    Arguments,
    ArgumentsError,
    Edition,
    Gangs,
    GangState,
    group_key,
    read_arguments,
)
from scheduler_core.schedulers.coscheduling.controller import (
    PHASE_TABLES,
    members_of,
    sync,
    until_stable,
)
from scheduler_core.schedulers.coscheduling.permit import assigned_in_snapshot, permit
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling, PodGroupController
from scheduler_core.schedulers.coscheduling.post_bind import post_bind
from scheduler_core.schedulers.coscheduling.post_filter import post_filter
from scheduler_core.schedulers.coscheduling.pre_filter import pre_filter
from scheduler_core.schedulers.coscheduling.queue_sort import SortKey, less, sort_key
from scheduler_core.schedulers.coscheduling.resource_check import (
    check_cluster_resources,
    node_resources,
)
from scheduler_core.schedulers.v1_22.plugins.default_preemption import DefaultPreemption
from scheduler_core.schedulers.v1_22.releases import RELEASES
from scheduler_core.schedulers.v1_22.scheduler import Framework, Pace

START = datetime(2021, 1, 1, tzinfo=UTC)  # records count seconds from here
MOST_STEPS = 10_000
SETTLED = 130.0  # virtual seconds: beyond every timeout of a group and the flush of the unschedulable queue
MOST_ATTEMPTS = 50_000  # a group of the current edition may keep the scheduler busy forever
LONGEST_HORIZON = 86_400.0


@dataclass(slots=True)
class RecordInput:
    """A parsed record: its edition and objects, ``input``, and a plugin without state."""

    edition: Edition
    written_arguments: Mapping[str, Any]
    manifests: Sequence[Mapping[str, Any]]
    objects: Sequence[KubernetesObject]
    input: Mapping[str, Any]
    gangs: Gangs
    state: GangState

    @property
    def arguments(self) -> Arguments:
        """The plugin's arguments, with their defaults."""
        return read_arguments(self.edition, self.written_arguments)

    @property
    def nodes(self) -> list[Node]:
        """The nodes, in object order."""
        return [obj for obj in self.objects if isinstance(obj, Node)]

    @property
    def pods(self) -> list[Pod]:
        """The pods, in creation order."""
        return [obj for obj in self.objects if isinstance(obj, Pod)]

    def on_nodes(self) -> dict[str, list[Pod]]:
        """Return the pods of the snapshot by node name."""
        found: dict[str, list[Pod]] = {node.meta.name: [] for node in self.nodes}
        for pod in self.pods:
            if pod.node_name in found and not pod.terminal:
                found[pod.node_name].append(pod)
        return found

    def assigned(self, pod: Pod) -> int:
        """Return how many members of a pod's group hold a node."""
        key = group_key(pod)
        if self.edition.keeps_assigned:
            return len(self.state.assigned.get(key, ()))
        return assigned_in_snapshot((pod for pods in self.on_nodes().values() for pod in pods), key)


def answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one record: ``{"id", "expect"}``.

    Raises:
        ValueError: The record does not have the format of ``coscheduling.jsonl.gz``, or is not valid.
    """
    asked = _mapping(record.get("input"), "input")
    config = _mapping(record.get("config"), "config")
    implementation, kind = config.get("implementation"), asked.get("kind")
    if not isinstance(implementation, str) or implementation not in EDITIONS:
        raise ValueError(f"config.implementation must be one of {', '.join(EDITIONS)}")
    if not isinstance(kind, str) or kind not in ANSWERS:
        raise ValueError(f"input.kind must be one of {', '.join(ANSWERS)}")
    manifests = record.get("objects")
    if not isinstance(manifests, list) or not all(isinstance(obj, Mapping) for obj in manifests):
        raise ValueError("objects must be a list of manifests")
    objects = read_objects(manifests)
    question = RecordInput(
        EDITIONS[implementation],
        _mapping(config.get("args") or {}, "config.args"),
        manifests,
        objects,
        asked,
        Gangs.of(objects),
        GangState(epoch=START.timestamp()),
    )
    for pod in question.pods:
        if pod.node_name and pod.pod_group and not pod.terminal:
            question.state.assign(group_key(pod), pod.meta.name)
    return {"id": record.get("id"), "expect": ANSWERS[kind](question)}


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be an object")
    return value


def _pod(value: object, name: str) -> Pod:
    manifest = _mapping(value, name)
    objects = read_objects([manifest])
    if len(objects) != 1 or not isinstance(objects[0], Pod):
        raise ValueError(f"{name} must be a Pod")
    return objects[0]


def _seconds(value: object, name: str) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{name} must be seconds")
    return float(value)  # type: ignore[arg-type]


def _keys(value: object, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{name} must be a list of namespace/name")
    return value


def _less(asked: RecordInput) -> dict[str, Any]:
    failed = _mapping(asked.input.get("failedAt") or {}, "input.failedAt")
    asked.state.failed_at.update({key: _seconds(at, f"input.failedAt.{key}") for key, at in failed.items()})

    def key(name: str) -> SortKey:
        side = _mapping(asked.input.get(name), f"input.{name}")
        pod = _pod(side.get("pod"), f"input.{name}.pod")
        queued = _seconds(side.get("queuedAt", 0), f"input.{name}.queuedAt")
        return sort_key(asked.edition, asked.gangs, asked.state, pod, queued)

    return {"less": less(key("p1"), key("p2"))}


def _pre_filter(asked: RecordInput) -> dict[str, Any]:
    pod, state = _pod(asked.input.get("pod"), "input.pod"), asked.state
    for group in _keys(asked.input.get("denied") or [], "input.denied"):
        state.denied.add(group, 1, 0)
    for group in _keys(asked.input.get("backedOff") or [], "input.backedOff"):
        state.backed_off.add(group, 1, 0)
    found = pre_filter(
        asked.edition,
        asked.arguments,
        asked.gangs,
        state,
        pod,
        lambda group: node_resources(asked.nodes, asked.on_nodes(), group),
        0,
    )
    # a gap is printed as Go prints the internals of a Quantity: the records omit it
    message = {"message": found.message} if found.message and found.why != "gap" else {}
    return {"success": found.success, **message}


def _permit(asked: RecordInput) -> dict[str, Any]:
    pod = _pod(asked.input.get("pod"), "input.pod")
    found = permit(asked.edition, asked.arguments, asked.gangs, asked.state, pod, "", asked.assigned(pod), 0)
    return {"status": found.code, **({"detail": found.message} if found.message else {})}


def _post_filter(asked: RecordInput) -> dict[str, Any]:
    pod = _pod(asked.input.get("pod"), "input.pod")
    found = post_filter(asked.edition, asked.arguments, asked.gangs, asked.state, pod, asked.assigned(pod), 0)
    return {"message": found.message, "rejectsGroup": found.rejects_group}


def _group(asked: RecordInput, key: object) -> PodGroup:
    if not isinstance(key, str) or key not in asked.gangs.groups:
        raise ValueError(f"there is no PodGroup {key!r}"[:200])
    return asked.gangs.groups[key]


def _post_bind(asked: RecordInput) -> dict[str, Any]:
    pod = _pod(asked.input.get("pod"), "input.pod")
    group = _group(asked, group_key(pod))
    stored = group.status
    if asked.edition.post_bind:
        stored = post_bind(group, group.status, START.isoformat()).stored
    return {"phase": stored.phase, "scheduled": stored.scheduled}


def _cluster_resource(asked: RecordInput) -> dict[str, Any]:
    request = _mapping(asked.input.get("request"), "input.request")
    need = {name: parse_resource(name, str(amount)) for name, amount in request.items()}
    nodes = node_resources(asked.nodes, asked.on_nodes(), str(asked.input.get("group") or ""))
    return {"enough": check_cluster_resources(nodes, need).enough}


def _controller(asked: RecordInput) -> dict[str, Any]:
    group = _group(asked, asked.input.get("podGroup"))
    table, pods, status = PHASE_TABLES[asked.edition.id], members_of(group, asked.pods), group.status
    steps = asked.input.get("steps", 1)
    if steps == "until-stable":
        status = until_stable(table, group, status, pods)
    elif type(steps) is int and 0 <= steps <= MOST_STEPS:
        for _ in range(steps):
            status = sync(table, group, status, pods).status
    else:
        raise ValueError(f'input.steps must be "until-stable" or a number up to {MOST_STEPS:,}')
    owners = status.occupied_by
    return {"phase": status.phase, **({"occupiedBy": owners} if owners != group.status.occupied_by else {})}


def _args(asked: RecordInput) -> dict[str, Any]:
    try:
        read_arguments(asked.edition, _mapping(asked.input.get("args"), "input.args"))
    except ArgumentsError:
        return {"error": True}
    return {"error": False}


def _scenario(asked: RecordInput) -> dict[str, Any]:
    horizon = asked.input.get("horizonSeconds")
    until = SETTLED if horizon is None else _seconds(horizon, "input.horizonSeconds")
    if not 0 <= until <= LONGEST_HORIZON:
        raise ValueError(f"input.horizonSeconds must be from 0 to {LONGEST_HORIZON:,}")
    plugin = Coscheduling(asked.edition, asked.arguments, epoch=_after_all(asked.objects))
    framework = Framework(
        asked.objects,
        (DefaultPreemption(), plugin, PodGroupController(asked.edition)),
        queue_sort=plugin,
        # the recorded scheduler ran other goroutines while it checked several nodes (decision 9)
        pace=Pace(turns="when-idle" if len(asked.nodes) == 1 else "between-cycles"),
        release=RELEASES[asked.edition.kubernetes],
        keep=lambda _: None,
    )
    framework.run(framework.clock.now + until, MOST_ATTEMPTS)
    bound = framework.bound()
    pods = asked.pods
    placed = [pod for pod in pods if not pod.node_name and pod.meta.key in bound]
    found: dict[str, Any] = {
        "bound": [pod.meta.key for pod in placed],
        "notBound": [pod.meta.key for pod in pods if pod.meta.key not in bound],
    }
    if horizon is not None:
        groups = dict.fromkeys(group_key(pod) for pod in pods if pod.pod_group)
        counts = Counter(group_key(pod) for pod in placed)
        found["perGroup"] = {group: counts[group] for group in groups}
    return found


def _after_all(objects: Iterable[KubernetesObject]) -> float:
    """Return a time after every object's creation, in seconds since 1970: the scheduler's start."""
    times = (obj.meta.creation_timestamp for obj in objects)
    return max((seconds_of(at) or 0.0 for at in times), default=0.0) + 60


ANSWERS: Mapping[str, Callable[[RecordInput], dict[str, Any]]] = {
    "less": _less,
    "preFilter": _pre_filter,
    "permit": _permit,
    "postFilter": _post_filter,
    "postBind": _post_bind,
    "clusterResource": _cluster_resource,
    "controller": _controller,
    "args": _args,
    "scenario": _scenario,
}
"""The function that answers each kind of record."""
