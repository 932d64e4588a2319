"""A record of Kueue as a user's scenario: its objects are the cluster of the beginning, its steps operations.

A step comes in the second in which the record has it, after what follows from those before: all that
happens in a second of a record happens, in the same order, in the fractions of that second.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.cluster.kueue.validation import refusals_of
from scheduler_core.cluster.kueue.writes import NAMESPACED
from scheduler_core.cluster.v1_37.objects import Manifest
from scheduler_core.run.living.translation import VERSIONS
from scheduler_core.scenario.kueue import GROUP
from scheduler_core.settings.release import CONTROL_PLANE

Key = tuple[str, str, str]
_VERSION, _CONFIGURATION = f"{GROUP}/v1beta2", "config.kueue.x-k8s.io/v1beta2"
_OF_KUBERNETES = {**VERSIONS, "LimitRange": "v1", "Namespace": "v1", "Node": "v1", "Pod": "v1"}
_START: Manifest = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "before-all", "creationTimestamp": "1999-12-31T23:59:00Z"},
    "value": 0,
}
"""An object that is older than 0 s of a record, which follows a minute later."""


def documents_of(record: Mapping[str, Any], times: Sequence[float]) -> list[Manifest]:
    """Return the scenario of a record whose steps come at these times; at the last it ends."""
    objects = [identified(one) for one in record["objects"]]
    known = {_key(one) for one in objects if not refusals_of(one)}
    operations = [
        {"id": f"{number}.{place}", "time": at, **one}
        for number, (step, at) in enumerate(zip(record.get("steps", ()), times), 1)
        for place, one in enumerate(_operations(step, known))
    ]
    settings: Manifest = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}
    settings |= {"scheduler": CONTROL_PLANE, "until": times[-1]}
    configuration = {"apiVersion": _CONFIGURATION, "kind": "Configuration", **(record.get("config") or {})}
    history = {"apiVersion": "podstep/v1", "kind": "Scenario", "spec": {"operations": operations}}
    return [settings, _START, *objects, configuration, history]


def identified(manifest: Manifest) -> Manifest:
    """Return an object with the uid of the records; only the time of a Workload's creation matters."""
    meta = dict(manifest["metadata"])
    if manifest["kind"] in NAMESPACED:
        meta.setdefault("namespace", "default")
    if manifest["kind"] != "Workload":
        meta.pop("creationTimestamp", None)
    place = f"{meta['namespace']}/" if meta.get("namespace") else ""
    return {**manifest, "metadata": {"uid": f"uid-{place}{meta['name']}", **meta}}


def _key(named: Mapping[str, Any]) -> Key:
    meta = named.get("metadata") or named
    namespace = meta.get("namespace") or ("default" if named["kind"] in NAMESPACED else "")
    return named["kind"], namespace, meta["name"]


def _target(key: Key) -> dict[str, Any]:
    kind, namespace, name = key
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"typeMeta": {"kind": kind, "apiVersion": _OF_KUBERNETES.get(kind, _VERSION)}, "objectMeta": meta}


def _patched(key: Key, patch: Any, how: str = "merge") -> dict[str, Any]:
    return {"patchOperation": {**_target(key), "patchType": how, "patch": json.dumps(patch)}}


def _operations(step: Mapping[str, Any], known: set[Key]) -> Iterator[dict[str, Any]]:
    for name, act in _ACTS.items():
        for part in step.get(name) or ():
            yield from act(part, known)


def _create(manifest: Manifest, known: set[Key]) -> Iterator[dict[str, Any]]:
    key = _key(manifest)
    if key not in known and not refusals_of(manifest):
        known.add(key)
        yield {"createOperation": {"object": identified(manifest)}}


def _update(manifest: Manifest, known: set[Key]) -> Iterator[dict[str, Any]]:
    key = _key(manifest)
    if key not in known or refusals_of(manifest):
        return
    parts = [name for name in ("metadata", "spec", "status", "value") if manifest.get(name)]
    rows = {name: manifest[name] for name in parts if name != "metadata"}
    labels = manifest["metadata"].get("labels")
    patch = [{"op": "add", "path": f"/{name}", "value": value} for name, value in rows.items()]
    patch += [{"op": "add", "path": "/metadata/labels", "value": labels}] if labels else []
    yield _patched(key, patch, "json")


def _delete(part: Mapping[str, Any], known: set[Key]) -> Iterator[dict[str, Any]]:
    key = _key(part)
    if key in known:
        known.discard(key)
        yield {"deleteOperation": _target(key)}


def _finish(part: Mapping[str, Any], known: set[Key]) -> Iterator[dict[str, Any]]:
    key = _key(part)
    if part["kind"] == "Workload" and key in known:
        row = {"type": "Finished", "status": "True", "reason": "Succeeded", "message": DONE}
        yield _patched(key, {"status": {"conditions": [row]}})


DONE = "Job finished successfully"


def _check(part: Mapping[str, Any], known: set[Key]) -> Iterator[dict[str, Any]]:
    key = _workload(part["workload"])
    if key not in known and not _is_made(key):
        return
    row = {"name": part["name"], "state": part["state"], "message": part.get("message") or ""}
    yield _patched(key, {"status": {"admissionChecks": [row]}})


def _workload(text: str) -> Key:
    namespace, _, name = text.partition("/")
    return "Workload", namespace, name


def _active(text: str, known: set[Key], *, active: bool) -> Iterator[dict[str, Any]]:
    key = _workload(text)
    if key in known or _is_made(key):
        yield _patched(key, {"spec": {"active": active}})


def _is_made(key: Key) -> bool:
    """Return whether a Workload is one that Kueue makes."""
    return key[2].startswith("job-")


_ACTS: Mapping[str, Callable[[Any, set[Key]], Iterator[dict[str, Any]]]] = {
    "create": _create,
    "update": _update,
    "delete": _delete,
    "finish": _finish,
    "check": _check,
    "activate": lambda text, known: _active(text, known, active=True),
    "deactivate": lambda text, known: _active(text, known, active=False),
}
"""The parts of a step but ``advance``, in their order."""
