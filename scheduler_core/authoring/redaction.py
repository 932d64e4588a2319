"""What an object says of a cluster beyond what scheduling reads, and objects without it."""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import SECRET_KINDS
from scheduler_core.scenario.config_maps import contained_in

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which `kubectl apply` keeps the whole object, with its env values and data."""
READ = re.compile(
    r"(^|\.)(k8s\.io|kubernetes\.io|podstep(\.dev)?|sigs\.dev|volcano\.sh|alibabacloud\.com)/|^podstep/"
)
"""Annotations of which some are read: those of Kubernetes, of its schedulers and of podstep."""
CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
COMMANDS = ("command", "args")
WELL_KNOWN = frozenset(
    "default kube-system kube-public kube-node-lease kubernetes system-node-critical system-cluster-critical "
    "default-scheduler true false linux windows amd64 arm64".split()
)
"""Names that tell nothing, or that other fields have as values."""
PLACES = frozenset(
    "addresses providerID hostIP hostIPs podIP podIPs podCIDR podCIDRs machineID systemUUID bootID clusterIP "
    "clusterIPs externalIPs externalName loadBalancer loadBalancerIP managedFields selfLink".split()
)
"""Fields that say where a machine or a service is; scheduling reads none of them."""
WORD = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
FIXED = frozenset(
    "apiVersion kind phase type status effect operator protocol uid topologyKey resourceVersion".split()
)
"""Fields whose values are no names, even where they are like one."""
PARTS = ("env", "annotations", "data", "names")
"""What can be left out, in the order of the dialog."""
DATA = ("data", "binaryData", "stringData")

HASH = 8  # digits of a name's hash

Visit = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Contents(Struct, frozen=True):
    """How much of each a text has."""

    names: int = 0
    images: int = 0
    env: int = 0
    commands: int = 0
    annotations: int = 0
    data: int = 0
    secrets: int = 0

    def private(self) -> dict[str, int]:
        """Return how much there is of what a draft does not store."""
        return {"env": self.env, "commands": self.commands, "secrets": self.secrets}


def contents(entries: Iterable[BundleEntry]) -> Contents:
    """Count what objects tell."""
    found: Counter[str] = Counter()
    names: set[str] = set()
    images: set[str] = set()
    for entry in entries:
        found["secrets"] += entry.kind in SECRET_KINDS and any(map(entry.value.get, DATA))
        found["data"] += _has_data(entry)
        names |= _names(entry.value)
        for mapping in _mappings(entry.value):
            found["env"] += sum("value" in one for one in _env(mapping))
            found["commands"] += any(mapping.get(name) for name in COMMANDS) and "image" in mapping
            found["annotations"] += sum(not _is_read(key) for key in _annotations(mapping))
            images |= set(filter(None, [_image(mapping)]))
    return Contents(names=len(names), images=len(images), **found)


def without(entry: BundleEntry, parts: Sequence[str]) -> dict[str, Any]:
    """Return an object without some of :data:`PARTS` but names; ``secrets`` are Secrets' data."""
    visits = [VISITS[part] for part in parts if part in VISITS]
    value = _visited(entry.value, visits)
    if ("data" in parts and _has_data(entry)) or ("secrets" in parts and entry.kind in SECRET_KINDS):
        value = {key: one for key, one in value.items() if key not in DATA}
    return dict(value)


def _has_data(entry: BundleEntry) -> bool:
    """Return whether a ConfigMap or Secret has data that is no configuration of a scheduler."""
    if entry.kind not in ("ConfigMap", *SECRET_KINDS) or not any(entry.value.get(name) for name in DATA):
        return False
    return not any(True for _ in contained_in(entry))


def _visited(value: Any, visits: Sequence[Visit]) -> Any:
    if isinstance(value, Mapping):
        for visit in visits:
            value = visit(value)
        return {key: _visited(one, visits) for key, one in value.items()}
    return [_visited(one, visits) for one in value] if isinstance(value, list | tuple) else value


def _without_env(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    made = dict(mapping)
    if any(APPLIED in key for key in _annotations(mapping)):
        made["annotations"] = {key: one for key, one in mapping["annotations"].items() if key != APPLIED}
    for name in CONTAINERS:
        if isinstance(mapping.get(name), list | tuple):
            made[name] = [_without_values(one) if isinstance(one, Mapping) else one for one in mapping[name]]
    return made


def _without_values(container: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: one for key, one in container.items() if key not in COMMANDS}
    if _env(container):
        made["env"] = [
            {key: one for key, one in each.items() if key != "value"} if isinstance(each, Mapping) else each
            for each in container["env"]
        ]
    return made


def _without_annotations(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    held = _annotations(mapping)
    if not held or all(map(_is_read, held)):
        return mapping
    return {**mapping, "annotations": {key: one for key, one in held.items() if _is_read(key)}}


VISITS: Mapping[str, Visit] = {"env": _without_env, "annotations": _without_annotations}


def _annotations(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    held = mapping.get("annotations")
    return held if isinstance(held, Mapping) else {}


def _is_read(key: str) -> bool:
    return key != APPLIED and READ.search(key) is not None


def _env(mapping: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = mapping.get("env")
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list | tuple) else []


def _image(mapping: Mapping[str, Any]) -> str:
    return str(mapping["image"]) if isinstance(mapping.get("image"), str) else ""


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        for one in value.values():
            yield from _mappings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _mappings(one)


def _names(document: Mapping[str, Any]) -> set[str]:
    """Return the names of an object and of what it belongs to."""
    found: set[str] = set()
    for mapping in _mappings(document):
        meta = mapping.get("metadata")
        if isinstance(meta, Mapping):
            found |= {str(meta[name]) for name in ("name", "namespace") if isinstance(meta.get(name), str)}
    spec = document.get("spec")
    if isinstance(spec, Mapping) and isinstance(spec.get("nodeName"), str):
        found.add(str(spec["nodeName"]))
    return found - WELL_KNOWN - {""}


def renamed(documents: Sequence[Mapping[str, Any]], key: bytes = b"") -> list[dict[str, Any]]:
    """Return documents in which numbers, in their order, stand for the names of objects and images.

    With a ``key`` each is followed by a hash of the name, by which its owner knows it again.
    """
    names = sorted(set().union(*map(_names, documents), *[_owners(one) for one in documents]))
    width = len(str(len(names)))
    known = {name: f"n{at:0{width}}{_hash(name, key)}" for at, name in enumerate(names, 1)}
    found = {_image(one) for document in documents for one in _mappings(document)}
    found |= {name for document in documents for name in _node_images(document)}
    known |= {
        image: f"image-{at}{_hash(image, key)}:{'v1' if ':' in image else 'latest'}"
        for at, image in enumerate(sorted(found - {""}), 1)
    }
    return [dict(_with_names(one, known)) for one in documents]


def _hash(name: str, key: bytes) -> str:
    """Return what nobody without the key can compare a guess with."""
    return f"-{hmac.digest(key, name.encode(), 'sha256').hex()[:HASH]}" if key else ""


def _owners(document: Mapping[str, Any]) -> set[str]:
    listed = [one.get("ownerReferences") for one in _mappings(document)]
    owners = [each for one in listed if isinstance(one, list | tuple) for each in one]
    return {str(one["name"]) for one in owners if isinstance(one, Mapping) and one.get("name")} - WELL_KNOWN


def _node_images(document: Mapping[str, Any]) -> Iterator[str]:
    status = document.get("status")
    images = status.get("images") if isinstance(status, Mapping) else None
    for one in images if isinstance(images, list | tuple) else ():
        names = one.get("names") if isinstance(one, Mapping) else None
        yield from (name for name in names or () if isinstance(name, str))


def _with_names(value: Any, known: Mapping[str, str], key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {
            _named(name, known): _with_names(one, known, name)
            for name, one in value.items()
            if name not in PLACES
        }
    if isinstance(value, list | tuple):
        return [_with_names(one, known, key) for one in value]
    return _named(value, known) if isinstance(value, str) and key not in FIXED else value


def _named(text: str, known: Mapping[str, str]) -> str:
    """Return a text with numbers for the names in it, as of ``namespace/name`` or a generateName."""
    if text in known:
        return known[text]
    if text.endswith("-") and text[:-1] in known:
        return f"{known[text[:-1]]}-"
    return WORD.sub(lambda word: known.get(word[0], word[0]), text)
