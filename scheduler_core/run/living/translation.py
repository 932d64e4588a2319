"""A recorded life as a user's scenario: its objects and steps as operations, each at its time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.cluster.v1_37.node_zones import zone_of
from scheduler_core.cluster.v1_37.objects import CLUSTER_SCOPED, Manifest
from scheduler_core.settings.release import CONTROL_PLANE

APART = 0.002
"""Seconds between two steps of one moment: all that takes no time happens between them."""
_LATE = 0.0005
"""Seconds that a step comes after its second, by the writes that the steps before it took."""
VERSIONS = {
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"), "apps/v1"),
    **dict.fromkeys(("Job", "CronJob"), "batch/v1"),
    "PodDisruptionBudget": "policy/v1",
    "StorageClass": "storage.k8s.io/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
}
_EPOCH: Manifest = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "before-all", "creationTimestamp": "2000-01-01T00:00:00Z"},
    "value": 0,
}
"""An object that is older than 0 s of a life, which follows a minute later."""
Step = Mapping[str, Any]
Action = dict[str, Any]


def documents_of(record: Mapping[str, Any]) -> list[Manifest]:
    """Return the scenario of a record: settings, configuration, history.

    One with a time ``now`` begins with the dump of its objects, of which kinds may be put back if it is not
    ``complete``.
    """
    dumped = record.get("now")
    operations = list(_operations(record))
    settings = {
        "apiVersion": "podstep/v1",
        "kind": "SimulationSettings",
        "scheduler": CONTROL_PLANE,
        "time": "virtual",
        "until": _end_of(operations, seconds_of(record["steps"])),
    }
    if record.get("controllers"):
        settings["nodeLifecycle"] = record["controllers"]
    if record.get("featureGates"):
        settings["featureGates"] = record["featureGates"]
    if dumped:
        settings["dump"] = {"takenAt": dumped, "complete": record.get("complete", True)}
    given = [*([] if dumped else [_EPOCH]), *([record["config"]] if record.get("config") else [])]
    there = [versioned(one) for one in record["objects"] if dumped]
    history = {"kind": "Scenario", "spec": {"operations": operations}}
    return [settings, *given, *there, history]


def _end_of(operations: Sequence[Action], seconds: float) -> float:
    """Return when a life ends: at its last second, or when all that was done in it has happened."""
    last = operations[-1]["time"] if operations else 0.0
    return seconds if last < seconds else round(last + APART, 6)


def seconds_of(steps: Sequence[Step]) -> float:
    """Return how long a life is."""
    return float(sum(step.get("seconds") or 0 for step in steps if step["do"] == "advance"))


def versioned(obj: Manifest) -> Manifest:
    """Return an object with its API version, which records may lack."""
    return {"apiVersion": VERSIONS.get(obj["kind"], "v1"), **obj}


def _operations(record: Mapping[str, Any]) -> Iterator[Action]:
    known = list(record["objects"])
    for one in () if record.get("now") else known:
        yield {"time": 0, "createOperation": {"object": versioned(one)}}
    now, taken = 0.0, 1
    for step in record["steps"]:
        if step["do"] == "advance":
            now, taken = now + step["seconds"], 0 if step["seconds"] else taken
            continue
        if step["do"] not in ACTIONS:
            raise ValueError(f"a life has no step {step['do']!r}")
        for actions in ACTIONS[step["do"]](step, known):
            for action in actions:
                at = round(now + _LATE + taken * APART, 6)
                yield {"time": at, **json.loads(json.dumps(action).replace(_NOW, f"{at:g}"))}
            taken += 1
        if step["do"] == "create":
            known.append(step["object"])


_NOW = "<now>"


def _target(kind: str, name: str, namespace: str | None) -> Action:
    meta = {"name": name}
    if kind not in CLUSTER_SCOPED:
        meta["namespace"] = namespace or "default"
    return {"typeMeta": {"apiVersion": VERSIONS.get(kind, "v1"), "kind": kind}, "objectMeta": meta}


def _of(step: Step) -> Action:
    return _target(step["kind"], step["name"], step.get("namespace"))


def _patched(target: Action, patch: Any, kind: str = "merge") -> Action:
    return {"patchOperation": {**target, "patchType": kind, "patch": json.dumps(patch)}}


def _create(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    del known
    yield [{"createOperation": {"object": versioned(step["object"])}}]


def _patch(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    del known
    yield [_patched(_of(step), step["patch"])]


def _delete(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    del known
    options = {"deleteOptions": {"propagationPolicy": step.get("propagation") or "Background"}}
    yield [{"deleteOperation": {**_of(step), **options}}]


def _scale(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    del known
    field = "parallelism" if step["kind"] == "Job" else "replicas"
    yield [_patched(_of(step), {"spec": {field: step["replicas"]}})]


def _image(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    del known
    path = "/spec/template/spec/containers/0/image"
    yield [_patched(_of(step), [{"op": "add", "path": path, "value": step["image"]}], "json")]


def _rollback(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    del known
    revision = str(int(step.get("revision") or 0))
    yield [_patched(_of(step), {"metadata": {"annotations": {"podstep/undo-to": revision}}})]


def _selection(step: Step) -> Action:
    made: Action = {"typeMeta": {"apiVersion": "v1", "kind": "Pod"}, "namespace": "default"}
    if step.get("selector"):
        made["selector"] = {"matchLabels": step["selector"]}
    return made | {name: step[name] for name in ("node", "index") if step.get(name) is not None}


def _patch_pods(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    del known
    yield [_patched(_selection(step), step["patch"])]


def _delete_pods(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    del known
    yield [{"deleteOperation": _selection(step)}]


# --- nodes


def _nodes(step: Step, known: Sequence[Manifest]) -> list[str]:
    """Return the names of the nodes that a step is about: one, several, or those of a zone."""
    named = step.get("nodes") or ([step["node"]] if step.get("node") else [])
    zone = f":\0:{step.get('zone')}"
    nodes = sorted((one for one in known if one["kind"] == "Node"), key=lambda one: one["metadata"]["name"])
    there = {one["metadata"]["name"] for one in nodes}
    return [name for name in named if name in there] or [
        one["metadata"]["name"] for one in nodes if not named and zone_of(one) == zone
    ]


def _on_nodes(patch: Any) -> Callable[[Step, Sequence[Manifest]], Iterator[list[Action]]]:
    def actions(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
        yield [_patched(_target("Node", node, None), patch) for node in _nodes(step, known)]

    return actions


def _marked(name: str, value: str | None = _NOW, **others: str | None) -> Action:
    marks = {name: value, **{one.replace("_", "-"): mark for one, mark in others.items()}}
    return {"metadata": {"annotations": {f"podstep/{one}": mark for one, mark in marks.items()}}}


_CORDON, _UNCORDON = ({"spec": {"unschedulable": on}} for on in (True, None))


def _fail(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    yield from _on_nodes(_marked("fails-at", fails_as=step.get("mode")))(step, known)


def _drain(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    yield from ([one] for many in _on_nodes(_CORDON)(step, known) for one in many)
    yield from _on_nodes(_marked("drain", "force" if step.get("force") else "true"))(step, known)


def _delete_node(step: Step, known: Sequence[Manifest]) -> Iterator[list[Action]]:
    yield [{"deleteOperation": _target("Node", node, None)} for node in _nodes(step, known)]


ACTIONS: Mapping[str, Callable[[Step, Sequence[Manifest]], Iterator[list[Action]]]] = {
    "create": _create,
    "patch": _patch,
    "delete": _delete,
    "scale": _scale,
    "image": _image,
    "rollback": _rollback,
    "patchPods": _patch_pods,
    "deletePods": _delete_pods,
    "cordon": _on_nodes(_CORDON),
    "uncordon": _on_nodes(_UNCORDON),
    "drain": _drain,
    "fail": _fail,
    "recover": _on_nodes(_marked("recovers-at")),
    "deleteNode": _delete_node,
}
"""By step: the operations, a list for those that land together."""
