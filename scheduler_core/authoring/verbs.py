"""What operators do to a cluster, in their own words, as operations of a scenario.

``drain n1``, ``drain zone=a@90``, ``scale deploy/web=10``: a target, a value where the verb needs one, and
the virtual second at which it happens, :data:`DEFAULT_SECOND` if none is given. A node is named, or all nodes
with a label are; a workload is named as in kubectl, with its namespace if that is not ``default``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.authoring.revisions import RESTARTED
from scheduler_core.cluster.controllers.draining import FORCE
from scheduler_core.cluster.controllers.running import FAILS, RECOVERS, seconds
from scheduler_core.cluster.store import DRAIN
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.manifests import Document

DEFAULT_SECOND = "60"
DOMAINS = {
    "zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "host": "kubernetes.io/hostname",
}
"""Short names of labels that nodes are chosen by."""
SHORT_NAMES = {
    "deploy": "Deployment",
    "rs": "ReplicaSet",
    "rc": "ReplicationController",
    "sts": "StatefulSet",
    "ds": "DaemonSet",
}
SCENARIO = "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1"
_AT = re.compile(r"(.+)@([\d.]+)", re.DOTALL)
_COUNT = re.compile(r"\d{1,6}")

Patch = dict[str, Any]


class VerbError(ValueError):
    """A verb cannot be used; the text says what would be right."""


class Verb(Struct, frozen=True):
    """One row: what it is about, what is written after ``=``, and the patch that it makes of an object.

    The patch is a function of the object's manifest, the value and the second.
    """

    help: str
    kinds: tuple[str, ...]
    patch: Callable[[Document, str, str], Patch]
    value: str = ""


def _annotated(key: str, value: str | None = None) -> Callable[[Document, str, str], Patch]:
    """Return a patch that gives an annotation a value, or the second at which it happens."""
    return lambda _manifest, _value, at: {"metadata": {"annotations": {key: value or at}}}


def _cordon(on: bool | None) -> Callable[[Document, str, str], Patch]:
    return lambda _manifest, _value, _at: {"spec": {"unschedulable": on}}


def _drain(how: str) -> Callable[[Document, str, str], Patch]:
    patch = {"spec": {"unschedulable": True}, "metadata": {"annotations": {DRAIN: how}}}
    return lambda _manifest, _value, _at: patch


def _scale(manifest: Document, value: str, _at: str) -> Patch:
    if not _COUNT.fullmatch(value):
        raise VerbError(f"{value[:40]!r} is not a number of replicas: write deploy/web=10")
    return {"spec": {"parallelism" if manifest["kind"] == "Job" else "replicas": int(value)}}


def _image(manifest: Document, value: str, _at: str) -> Patch:
    if not value or any(letter.isspace() for letter in value):
        raise VerbError(f"{value[:80]!r} is not an image: write deploy/web=registry.example/web:2")
    containers = manifest["spec"]["template"]["spec"]["containers"]
    changed = [{**containers[0], "image": value}, *containers[1:]]
    return {"spec": {"template": {"spec": {"containers": changed}}}}


def _restart(_manifest: Document, _value: str, at: str) -> Patch:
    return {"spec": {"template": {"metadata": {"annotations": {RESTARTED: at}}}}}


_NODES = ("Node",)
_ROLLED = ("Deployment", "StatefulSet", "DaemonSet")
_SCALED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "Job")
VERBS: Mapping[str, Verb] = {
    "cordon": Verb("no further pod is placed on the node", _NODES, _cordon(on=True)),
    "uncordon": Verb("pods are placed on the node again", _NODES, _cordon(on=None)),
    "drain": Verb(
        "cordon the node and evict its pods as budgets allow; DaemonSet pods stay", _NODES, _drain("true")
    ),
    "force-drain": Verb("drain, and delete pods without a controller, too", _NODES, _drain(FORCE)),
    "fail": Verb("the node stops answering", _NODES, _annotated(FAILS)),
    "lose": Verb("all nodes of a domain stop answering, as in zone=a", _NODES, _annotated(FAILS)),
    "recover": Verb("the failed node answers again", _NODES, _annotated(RECOVERS)),
    "scale": Verb("set the number of replicas", _SCALED, _scale, "REPLICAS"),
    "set-image": Verb("give the first container another image", (*_ROLLED, "ReplicaSet"), _image, "IMAGE"),
    "restart": Verb("replace all pods, as kubectl rollout restart does", _ROLLED, _restart),
}
"""The verbs by name. One of the command line or of a menu is a row here."""


def operations(documents: Sequence[Document], asked: Iterable[tuple[str, str]]) -> list[Patch]:
    """Return the operations, in order of time, of verbs each with its target.

    Raises:
        VerbError: A target does not exist, or a value is not one.
    """
    found = [one for verb, target in asked for one in _of(documents, verb, target)]
    return sorted(found, key=lambda one: float(one["time"]))


def with_operations(documents: Sequence[Document], added: Sequence[Patch]) -> list[Document]:
    """Return the documents with the operations added to their Scenario, or to one of their own."""
    own = next((one for one in documents if one.get("kind") == "Scenario"), None)
    others = [one for one in documents if one is not own]
    spec = dict((own or {}).get("spec") or {})
    listed = [*(spec.get("operations") or []), *added]
    made = own or {"apiVersion": SCENARIO, "kind": "Scenario", "metadata": {"name": "operations"}}
    return [*others, {**made, "spec": {**spec, "operations": listed}}]


def split_second(written: str, default: str) -> tuple[str, str]:
    """Split ``TARGET@SECONDS``; an ``@`` without a number behind it is part of the target, as in a digest."""
    match = _AT.fullmatch(written)
    if match is None or seconds(match[2]) is None:
        return written, default
    return match[1], match[2]


def kind_of(name: str) -> str:
    """Return the kind that kubectl calls ``name``, in short or in any case; what is unknown is as it is."""
    return SHORT_NAMES.get(name, next((kind for kind in KINDS if kind.lower() == name.lower()), name))


def _of(documents: Sequence[Document], name: str, written: str) -> Iterator[Patch]:
    verb = VERBS[name]
    target, at = split_second(written, DEFAULT_SECOND)
    value = ""
    if verb.value:
        target, separator, value = target.partition("=")
        if not separator:
            raise VerbError(f"{name} {written[:80]!r}: write {target}={verb.value}")
    chosen = _nodes if verb.kinds == _NODES else _workloads
    for manifest in chosen(documents, target, verb):
        meta = manifest["metadata"]
        place = {} if manifest["kind"] == "Node" else {"namespace": meta.get("namespace") or "default"}
        yield {
            "time": float(at),
            "patchOperation": {
                "typeMeta": {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]},
                "objectMeta": {"name": meta["name"], **place},
                "patchType": "merge",
                "patch": verb.patch(manifest, value, at),
            },
        }


def _nodes(documents: Sequence[Document], target: str, _verb: Verb) -> list[Document]:
    nodes = [one for one in documents if one.get("kind") == "Node"]
    label, separator, value = target.partition("=")
    if not separator:
        found = [one for one in nodes if one["metadata"].get("name") == target]
        if found:
            return found
        names = ", ".join(str(one["metadata"].get("name")) for one in nodes[:5])
        raise VerbError(f"there is no node {target[:80]!r}; there are {names or 'none'}")
    key = DOMAINS.get(label, label)
    values = {str((one["metadata"].get("labels") or {}).get(key, "")) for one in nodes}
    found = [one for one in nodes if (one["metadata"].get("labels") or {}).get(key) == value]
    if found:
        return found
    there = ", ".join(sorted(values - {""})[:5])
    raise VerbError(f"no node has the label {key}={value[:80]}; its values are {there or 'none'}")


def _workloads(documents: Sequence[Document], target: str, verb: Verb) -> list[Document]:
    kind, *place = target.split("/")
    kind = kind_of(kind)
    if kind not in verb.kinds or not 1 <= len(place) <= 2:
        kinds = ", ".join(verb.kinds)
        raise VerbError(f"{target[:80]!r}: write KIND/NAME or KIND/NAMESPACE/NAME, the kind one of {kinds}")
    namespace, name = place if len(place) > 1 else ("default", place[0])
    for one in documents:
        meta = one.get("metadata") or {}
        if one.get("kind") == kind and (meta.get("namespace") or "default", meta.get("name")) == (
            namespace,
            name,
        ):
            return [one]
    there = ", ".join(
        str(one["metadata"].get("name")) for one in documents if one.get("kind") == kind and "metadata" in one
    )
    raise VerbError(f"there is no {kind} {namespace}/{name}; there are {there[:200] or 'none'}")
