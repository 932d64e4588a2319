"""A copy of a scenario with a change applied, and the outcome for the pod in it.

The change is applied to the manifests, as their owner would do it. If that does not place the pod, or if the
change concerns pods that only the run placed, it becomes an operation instead: applied at the end of the step
in which the pod is pending, so that everything before stays unchanged.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from scheduler_core.explain.remedy import Remedy
from scheduler_core.formats.patch import PatchError, apply_patch
from scheduler_core.kubernetes.keys import Key, document_key, key_of
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.kubernetes.model import KubernetesObject, Pod, Workload
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run import simulate
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.moments import major_of, stepped
from scheduler_core.scenario.scenario import Scenario

CopyForm = Literal["manifests", "operation"]
SCENARIO_VERSION = "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1"
CYCLES_AT_ONCE = 25  # decided between two pauses


class Copy(Struct, frozen=True):
    """The copy: its documents, the pod's name in it, and the cycle to show.

    ``node`` is where that cycle placed the pod, ``None`` if it did not, or if time ran out first.
    """

    documents: tuple[Document, ...]
    scenario: Scenario
    way: CopyForm
    pod: str
    index: int
    node: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the copy's summary as JSON."""
        return {"way": self.way, "pod": self.pod, "index": self.index, "node": self.node}


Copying = Generator[None, None, "Copy | None"]


def copying(
    scenario: Scenario,
    change: Remedy,
    pod: str,
    *,
    index: int,
    major: int,
    placed: bool = False,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Copying:
    """Create the copy and run it until the pod is placed, pausing regularly.

    ``index`` is the cycle that was asked about, ``major`` its step's number of external operations. For a
    ``placed`` pod that was asked about on another node, only the manifests can be changed. Returns the first
    copy in which the pod is placed, else the first copy that can be parsed, else ``None``.
    """
    first: Copy | None = None
    for way, documents in _ways(scenario, change, major, placed=placed):
        yield
        try:
            read = load_documents(documents, title=scenario.title, presumed=scenario.release)
        except BundleError:
            continue
        name = counterpart(scenario, read, pod)
        if name is None:
            continue
        found = yield from _run(read, name, change if placed else None, out_of_time)
        made = Copy(tuple(documents), read, way, name, *(found or (index, None)))
        if found is not None:
            return made
        first = first or made
        if out_of_time():
            break
    return first


def _ways(
    scenario: Scenario, change: Remedy, major: int, *, placed: bool
) -> Iterator[tuple[CopyForm, list[Document]]]:
    changed = in_manifests(scenario, change)
    if changed is not None:
        yield "manifests", changed
    if not placed:
        yield "operation", in_operations(scenario, change, major)


def _run(
    scenario: Scenario, pod: str, fitting: Remedy | None, out_of_time: Callable[[], bool]
) -> Generator[None, None, tuple[int, str] | None]:
    """Run until the pod is placed; return the cycle and the node, ``None`` if it is not placed.

    The node of ``fitting`` must be feasible in that cycle, else the result is ``None`` too.
    """
    for cycle in simulate(scenario, trace=False):
        if cycle.index % CYCLES_AT_ONCE == 0:
            yield
            if out_of_time():
                return None
        if cycle.pod != pod or cycle.result != "scheduled":
            continue
        fits = fitting is None or fitting.node in (cycle.nodes[row] for row in cycle.feasible.tolist())
        return (cycle.index, cycle.node or "") if fits else None
    return None


# In the manifests


def in_manifests(scenario: Scenario, change: Remedy) -> list[Document] | None:
    """Return the documents with the change applied; ``None`` if it concerns an object without a manifest."""
    documents: list[Manifest] = [copy.deepcopy(_plain(document)) for document in scenario.documents]
    for patch in change.patches:
        if patch["action"] == "create":
            documents.append(copy.deepcopy(patch["object"]))
        elif not _patched(documents, patch):
            return None
    return list(documents)


def _patched(documents: list[Manifest], patch: Mapping[str, Any]) -> bool:
    """Apply a patch or a deletion to the manifest that it names; return whether there is one."""
    key = (patch["kind"], patch["name"])
    places = list(_manifests(documents, key))
    if not places:
        return False
    holder, at = places[-1]
    if patch["action"] == "delete":
        # A pod that the run placed existed from the start: removing its manifest would change much else.
        if not (holder[at].get("spec") or {}).get("nodeName") or holder is not documents:
            return False
        del holder[at]
        return True
    try:
        holder[at] = apply_patch(holder[at], patch["patch"], patch["type"])
    except PatchError:
        return False
    return True


def _manifests(documents: list[Manifest], key: Key) -> Iterator[tuple[Any, Any]]:
    """Yield the positions of an object's manifests: in the bundle, or in an operation that creates it."""
    for number, document in enumerate(documents):
        if document_key(document) == key:
            yield documents, number
        if document.get("kind") == "Scenario":
            for operation in (document.get("spec") or {}).get("operations") or ():
                create = operation.get("createOperation") or {}
                if document_key(create.get("object") or {}) == key:
                    yield create, "object"


# In an operation


def in_operations(scenario: Scenario, change: Remedy, major: int) -> list[Document]:
    """Return the documents with operations that apply the change at the end of major step ``major``."""
    documents: list[Manifest] = [copy.deepcopy(_plain(document)) for document in scenario.documents]
    history = next((document for document in documents if document.get("kind") == "Scenario"), None)
    if history is None:
        history = {"apiVersion": SCENARIO_VERSION, "kind": "Scenario", "metadata": {"name": "why"}}
        documents.append(history)
    spec = history["spec"] = history.get("spec") or {}
    known = spec["operations"] = list(stepped(spec.get("operations") or ()))
    taken = {str(operation.get("id")) for operation in known}
    # Steps must not decrease, so operations of later steps stay behind.
    place = sum((major_of(operation) or 0) <= major for operation in known)
    made: list[Manifest] = []
    for patch in change.live:
        number = next(n for n in range(1, len(taken) + 2) if f"why-{n}" not in taken)
        taken.add(f"why-{number}")
        made.append({"id": f"why-{number}", "step": major, **_operation(patch)})
    known[place:place] = made
    return list(documents)


def _operation(patch: Mapping[str, Any]) -> Manifest:
    if patch["action"] == "create":
        return {"createOperation": {"object": copy.deepcopy(patch["object"])}}
    namespace, _, name = patch["name"].rpartition("/")
    target = {
        "typeMeta": {"apiVersion": KINDS[patch["kind"]].api_version, "kind": patch["kind"]},
        "objectMeta": {"name": name, **({"namespace": namespace} if namespace else {})},
    }
    if patch["action"] == "delete":
        return {"deleteOperation": target}
    return {"patchOperation": {**target, "patchType": "merge", "patch": copy.deepcopy(patch["patch"])}}


def _plain(value: Any) -> Any:
    """Copy mappings and sequences into dicts and lists, which can be changed."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


# The pod


def counterpart(before: Scenario, after: Scenario, pod: str) -> str | None:
    """Return a pod's name in another scenario: unchanged, or its controller's pod in the same position.

    A new template gives a Deployment's pods new names.
    """
    old, new = _pods(before), _pods(after)
    if pod in new:
        return pod
    owner = old.get(pod)
    if owner is None:
        return None
    place = [key for key, other in old.items() if other == owner].index(pod)
    mates = [key for key, other in new.items() if other == owner]
    return mates[place] if place < len(mates) else None


def _pods(scenario: Scenario) -> dict[str, Key | None]:
    """Return every pod's topmost controller, in order of creation."""
    created = (o.object for o in scenario.operations if o.action == "create" and o.object is not None)
    objects: dict[Key, KubernetesObject] = {key_of(obj): obj for obj in (*scenario.objects, *created)}
    return {obj.meta.key: _top(objects, obj) for obj in objects.values() if isinstance(obj, Pod)}


def _top(objects: Mapping[Key, KubernetesObject], obj: KubernetesObject) -> Key | None:
    found: Key | None = None
    for _ in range(3):  # Pod, ReplicaSet, Deployment
        if obj.meta.controller is None:
            break
        found = obj.meta.controller.kind, f"{obj.meta.namespace}/{obj.meta.controller.name}"
        above = objects.get(found)
        if not isinstance(above, Workload):
            break
        obj = above
    return found
