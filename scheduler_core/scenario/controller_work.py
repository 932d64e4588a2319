"""Whether a scenario gives controllers something to do: kube-scheduler v1.37 then runs with them.

Without that, nothing but the scheduler and operations change the cluster, and v1.37 runs by itself.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from scheduler_core.cluster.controllers.annotations import DRAIN, EVICT, FAILS, RECOVERS, RELEASE, RUN
from scheduler_core.cluster.v1_37.revisions import UNDO
from scheduler_core.kubernetes.fields_workload import WORKLOADS
from scheduler_core.kubernetes.kinds import is_custom
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.settings.descheduler import DESCHEDULE
from scheduler_core.settings.release import CONFIGURATION_KIND, plugins_named

OWNERS = frozenset({*WORKLOADS, "ReplicaSet"})
"""The kinds whose controllers create pods."""

FAILING = ("NoExecute", '"Ready"', FAILS, RECOVERS, DRAIN, DESCHEDULE)
"""What a patch of a node contains that makes it fail or recover, or evicts its pods."""

_TEMPLATE_ANNOTATIONS = ("spec", "template", "metadata", "annotations")
_POD_SPECS = (("spec",), ("spec", "template", "spec"))

_WITH_TIME = (RUN, FAILS, RECOVERS, DRAIN, EVICT, DESCHEDULE, UNDO)
"""podstep's annotations that have an effect where time passes."""

Entry = Mapping[str, Any]


def has_work(documents: Sequence[Document]) -> bool:
    """Return whether controllers would change the cluster after it was created.

    They would if a pod ends or a node fails, and if an operation concerns a workload, deletes a controlled
    pod, fails a node, or deletes one in a cluster with workloads. Malformed operations count for nothing.
    """
    if any(map(_has_moments, documents)):
        return True
    operations = _operations(documents)
    known = _WrittenWorkloads(documents if operations else ())
    return any(map(known.concerns_controllers, operations))


def schedulers_named(documents: Iterable[Document], names: Collection[str]) -> frozenset[str]:
    """Return which of the schedulers pods name, in templates and operations too."""
    listed = list(documents)
    made = chain(listed, map(_created, _operations(listed)))
    found = {_named_by(one, *path) for one in made for path in _POD_SPECS}
    return frozenset(found.intersection(names))


def names_plugin(documents: Sequence[Document], plugins: frozenset[str]) -> bool:
    """Return whether a KubeSchedulerConfiguration names one of the plugins, or a patch of one does."""
    operations = _operations(documents)
    made = chain(documents, map(_created, operations))
    written = (one for one in made if one.get("kind") == CONFIGURATION_KIND)
    if any(plugins.intersection(plugins_named(one)) for one in written):
        return True
    patches = (_part(one, "patchOperation") for one in operations)
    texts = (_text(one.get("patch")) for one in patches if _kind_of(one) == CONFIGURATION_KIND)
    return any(plugin in text for text in texts for plugin in plugins)


def _kind_of(target: Entry) -> object:
    return _part(target, "typeMeta").get("kind")


def _text(patch: object) -> str:
    return patch if isinstance(patch, str) else json.dumps(patch, default=str)


def _named_by(document: Entry, *path: str) -> str:
    name = _part(document, *path).get("schedulerName")
    return name if isinstance(name, str) else ""


def asks_for_pass(document: Document) -> bool:
    """Return whether an operation of a Scenario asks for a pass of the descheduler."""
    return DESCHEDULE in _all_annotations([document])


def without_time(documents: Iterable[Document], release: str) -> tuple[Problem, ...]:
    """Return a warning for each annotation of podstep's own that has no effect where no time passes."""
    held = _all_annotations(list(documents))
    tail = f"has no effect: under {release} no time passes; add time: virtual"
    names = (name for name in _WITH_TIME if name in held)
    return tuple(Problem(f"{name} {tail}", unhonored=name) for name in names)


def kubelets_lack(documents: Sequence[Document], *, admit: bool) -> Iterator[str]:
    """Yield what a bundle asks of kubelets and controllers that those of a living v1.37 do not do.

    ``admit``: kubelets refuse what does not fit, as they do where v1.37 is not alone.
    """
    if not admit and RELEASE in _all_annotations(documents):
        yield f"{RELEASE} has no effect: kubelets count no pod that has ended"
    made = [*map(_created, _operations(documents))]
    if not admit and any(one.get("kind") == "Pod" and _part(one, "spec").get("nodeName") for one in made):
        yield "kubelets refuse no pod: one that is created with spec.nodeName starts whether it fits or not"
    if any(one.get("kind") == "PodGroup" and any(_owners(one)) for one in chain(documents, made)):
        yield "PodGroups stay when their owners are deleted: the garbage collector does not know them"


def _all_annotations(documents: Sequence[Document]) -> frozenset[str]:
    """Return the names of the annotations that objects have, or are given by operations."""
    operations = _operations(documents)
    patches = (_part(one, "patchOperation", "patch") for one in operations)
    return frozenset().union(*map(_annotations, chain(documents, map(_created, operations), patches)))


def _annotations(document: Entry) -> frozenset[str]:
    """Return the names of an object's annotations, its template's included."""
    own, template = ("metadata", "annotations"), ("spec", "template", "metadata", "annotations")
    return frozenset(_part(document, *own)) | frozenset(_part(document, *template))


def _operations(documents: Iterable[Document]) -> list[Entry]:
    """Return the entries of the Scenario document, which is not checked yet."""
    found = next((one for one in documents if one.get("kind") == "Scenario"), None)
    listed = _part(found, "spec").get("operations")
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


class _WrittenWorkloads:
    """The workloads and the written pods of a bundle, with what each pod's owners are called."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.pods: dict[tuple[str, str], set[str]] = {}
        self.workloads: set[str] = set()
        for one in documents:
            self._learn(one)

    def _learn(self, document: Entry) -> None:
        name = _name(document.get("metadata"))
        if document.get("kind") == "Pod":
            self.pods[name] = set(_owners(document))
        elif _is_owner(document):
            self.workloads.add(name[1])

    def concerns_controllers(self, operation: Entry) -> bool:
        """Return whether an operation gives controllers something to do."""
        made = _created(operation)
        if made:
            self._learn(made)
            return _is_owner(made) or _has_moments(made)
        patched, deleted = _part(operation, "patchOperation"), _part(operation, "deleteOperation")
        if not {"namespace", "selector", "node", "index"}.isdisjoint(patched or deleted):
            return True
        target = _part(patched or deleted, "typeMeta")
        match target.get("kind"):
            case "Node":
                return bool(self.workloads) if deleted else _fails(patched.get("patch"))
            case "Pod":
                evicted = EVICT in _annotations(_part(patched, "patch"))
                return evicted or (bool(deleted) and self._is_controlled(deleted.get("objectMeta")))
        return _is_owner(target)

    def _is_controlled(self, meta: object) -> bool:
        """Return whether a pod has an owner that is there, or is none of the written ones."""
        owners = self.pods.get(_name(meta))
        return bool(self.workloads if owners is None else owners & self.workloads)


def _name(meta: object) -> tuple[str, str]:
    given = meta if isinstance(meta, Mapping) else {}
    return str(given.get("namespace") or "default"), str(given.get("name"))


def _part(document: object, *path: str) -> Entry:
    """Return a nested mapping, empty if there is none."""
    for name in path:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document if isinstance(document, Mapping) else {}


def _owners(document: Entry) -> Iterator[str]:
    """Yield the names of an object's owners."""
    listed = _part(document, "metadata").get("ownerReferences")
    for one in listed if isinstance(listed, list) else ():
        yield str(_part(one).get("name"))


def _is_owner(document: Entry) -> bool:
    kind = document.get("kind")
    return isinstance(kind, str) and kind in OWNERS and not is_custom(document.get("apiVersion"))


def _has_moments(document: Entry) -> bool:
    """Return whether a pod or a template's pods end by themselves, or a node fails by itself."""
    match document.get("kind"):
        case "Pod":
            meta = document.get("metadata")
            return type(meta) is dict and "annotations" in meta and RUN in _part(meta, "annotations")
        case "Node":
            return not {FAILS, DRAIN}.isdisjoint(_part(document, "metadata", "annotations"))
        case "CronJob":
            return RUN in _part(
                document, "spec", "jobTemplate", "spec", "template", "metadata", "annotations"
            )
    return _is_owner(document) and RUN in _part(document, "spec", "template", "metadata", "annotations")


def _created(operation: Entry) -> Entry:
    return _part(operation, "createOperation", "object")


def _fails(patch: object) -> bool:
    text = _text(patch)
    return any(word in text for word in FAILING)
