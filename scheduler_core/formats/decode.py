"""Manifests to typed objects, by the table of kinds."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.interner import MOST, differ_in_name_alone
from scheduler_core.kubernetes.kinds import KEPT_KINDS, KINDS, Kind
from scheduler_core.kubernetes.model import KubernetesObject, Pod, WrittenManifest
from scheduler_core.kubernetes.names import check_name, nearest
from scheduler_core.kubernetes.readers import At, Report, show

# Kubernetes' own groups have such suffixes, or are one of these; any other group is of custom resources.
_OWN_GROUPS = ("", "apps", "extensions", "batch", "policy", "autoscaling")
SECRET_KINDS = ("Secret",)


class Decoded(Struct):
    """One manifest that was decoded to an object; ``entry`` has the manifest as given.

    ``like`` is a pod's that was read before without a finding and differs in its name alone.
    """

    entry: BundleEntry
    object: KubernetesObject
    like: Decoded | None = None


class Originals:
    """Pods that were read without a finding, of which later ones may differ in their names alone."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Decoded] = {}  # by the identities of specification and labels

    def add(self, decoded: Decoded) -> None:
        """Keep a pod whose manifest has a name."""
        if len(self._known) < MOST and isinstance(decoded.object, Pod):
            self._known[_parts_of(decoded.entry.value)] = decoded

    def replica(self, entry: BundleEntry) -> Decoded | None:
        """Return what a manifest is decoded to if it is that of an original under another valid name."""
        value = entry.value
        if value.get("kind") != "Pod" or type(value.get("metadata")) is not dict:
            return None
        like = self._known.get(_parts_of(value))
        if like is None or not differ_in_name_alone(value, like.entry.value, _NAME):
            return None
        name = value["metadata"].get("name")
        if type(name) is not str or not name or check_name(name):
            return None
        meta = replace(like.object.meta, name=name, written=WrittenManifest(value))
        return Decoded(entry, replace(like.object, meta=meta), like)


def _parts_of(manifest: dict[str, Any]) -> tuple[int, int]:
    return id(manifest.get("spec")), id(manifest["metadata"].get("labels"))


_NAME = frozenset({"name"})


def group_of(api_version: str) -> str:
    """Return an apiVersion's group, "" for the core group."""
    return api_version.rpartition("/")[0]


def _own(group: str) -> bool:
    return group in _OWN_GROUPS or group.endswith((".k8s.io", "scheduling.incubator.k8s.io"))


def find_kind(entry: BundleEntry, at: At) -> Kind | None:
    """Return the row of the entry's kind, or None if the kind is not read; report mistakes."""
    value = entry.value
    kind, version = value.get("kind"), value.get("apiVersion")
    if not isinstance(kind, str) or not kind:
        if kind is None:
            key = nearest("kind", (k for k in value if isinstance(k, str)), 0.75)
            at.error(
                f"kind is missing{f': {key!r} should be written kind' if key else ''}, such as Pod or Node"
            )
        else:
            at.child("kind").error(f"must be a kind such as Pod or Node, not {show(kind)}")
        return None
    row = KINDS.get(kind)
    if row is None and not isinstance(version, str):
        return None
    if version is not None and not isinstance(version, str):
        at.child("apiVersion").error(f"must be a string such as v1, not {show(version)}")
        return None
    group = group_of(version or "")
    if row is None:
        if kind not in KEPT_KINDS and _own(group):
            nearest_kind = nearest(kind, KINDS, 0.84)
            if nearest_kind and group in KINDS[nearest_kind].groups:
                at.child("kind").error(f"{show(kind)} is not a kind: did you mean {nearest_kind!r}?")
                entry.kind = nearest_kind
        return None
    if version is None:
        wanted = f"{row.groups[0]}/v1".lstrip("/")
        at.refuse(f"apiVersion is missing: write apiVersion: {wanted}{did_you_mean_key(value)}")
    elif group not in row.groups:
        if not _own(group):
            return None
        wanted = " or ".join(f"{g}/v1".lstrip("/") for g in row.groups[:1])
        at.child("apiVersion").error(f"a {kind} belongs to {wanted}, not {show(version)}")
        return None
    return row


def did_you_mean_key(value: dict[str, Any]) -> str:
    """Return a hint at a key that is probably a misspelt apiVersion."""
    key = nearest("apiVersion", (k for k in value if isinstance(k, str) and k != "kind"), 0.8)
    return f" ({key!r} is spelled differently)" if key else ""


def is_generated(value: dict[str, Any]) -> bool:
    """Return whether an object has no name, and so takes it from its generateName."""
    metadata = value.get("metadata")
    return isinstance(metadata, dict) and not metadata.get("name")


def decode(entry: BundleEntry, row: Kind, report: Report, *, salt: str = "") -> KubernetesObject | None:
    """Decode one manifest. Returns None after reporting why it cannot be decoded.

    ``salt`` changes the generated name of an object that has only a generateName.
    """
    at = At(report, None, entry)
    before = len(report.errors)
    read: KubernetesObject | None = row.read(entry.value, at)
    if read is None:
        return None
    meta = read.meta
    if not meta.name and len(report.errors) == before:
        metadata = entry.value.get("metadata") or {}
        stem = metadata.get("generateName")
        if not isinstance(stem, str) or not stem:
            at.child("metadata").child("name").error("name is missing")
            return None
        meta = replace(
            meta, name=stem[:58] + short_hash(stem, str(entry.number), str(entry.prefix), *salt.split())
        )
    force_setattr(meta, "written", WrittenManifest(entry.value))  # nothing else has it yet
    namespace = (meta.namespace or "default") if row.namespaced else ""
    if meta is not read.meta or namespace != meta.namespace:
        read = replace(read, meta=replace(meta, namespace=namespace))
    return read


# Kubernetes' alphabet for generated names: no vowels, no characters that are easily confused.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


@cache
def _triples() -> list[str]:
    """Return all of three characters by their number, lowest digit first."""
    return ["".join(reversed(digits)) for digits in product(_ALPHABET, repeat=3)]


def short_hash(*parts: str, length: int = 5) -> str:
    """Return a deterministic suffix for generated names."""
    import hashlib

    number = int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:16])
    out, triples = "", _triples()
    while len(out) < length:
        number, triple = divmod(number, len(triples))
        out += triples[triple]
    return out[:length]
