"""Explain why two pods are or are not equivalent: the fields that differ, with both values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.quantity import format_resource
from scheduler_core.schedulers.v1_11.equivalence.classes import (
    Definition,
    canonical,
    equivalence_hash,
    fields_of,
)

DIFFERENCES_SHOWN = 20
TEXT_SHOWN = 200
NONE = "none"

PATHS = {
    "node_required": "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    "node_preferred": "nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution",
    "has_pod_affinity": "podAffinity",
    "pod_required": "podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    "pod_preferred": "podAffinity.preferredDuringSchedulingIgnoredDuringExecution",
    "has_pod_anti_affinity": "podAntiAffinity",
    "anti_required": "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    "anti_preferred": "podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution",
    "gce_pd": "gcePersistentDisk.pdName",
    "aws_ebs": "awsElasticBlockStore.volumeID",
    "azure_disk": "azureDisk.diskName",
    "iscsi_iqn": "iscsi.iqn",
    "claim": "persistentVolumeClaim.claimName",
}
"""The manifest's path of each field that has another name in the objects."""

AMOUNTS = ("requests", "limits")


class FieldDifference(Struct, frozen=True):
    """A field, by its path in a manifest, and its value in each of the two pods."""

    field: str
    first: str
    second: str


def equivalent(first: Pod, second: Pod, definition: Definition, *, split: bool = False) -> bool:
    """Return whether two pods are of one class; a pod without a class is equivalent to none."""
    number = equivalence_hash(first, definition, split=split)
    return number is not None and number == equivalence_hash(second, definition, split=split)


def differences(
    first: Pod, second: Pod, definition: Definition, *, split: bool = False, limit: int = DIFFERENCES_SHOWN
) -> list[FieldDifference]:
    """Return where two pods differ in the fields that define their classes, in the order of the fields."""
    found = (
        difference
        for name, read in fields_of(definition, split=split).items()
        for difference in _field(name, read(first), read(second))
    )
    return list(islice(found, limit))


def _field(name: str, first: Any, second: Any) -> Iterator[FieldDifference]:
    if name == "controller":
        if first != second or first is None:
            yield FieldDifference(name, _owner(first, second), _owner(second, first))
        return
    yield from _walk(name, first, second)


def _owner(owner: list[str] | None, other: list[str] | None) -> str:
    if owner is None:
        return NONE
    kind, namespace, name, uid = owner
    same = other is not None and owner[:3] == other[:3]
    return cut(f"{kind} {namespace}/{name}" + (f", uid {uid or NONE}" if same else ""))


def _walk(path: str, first: Any, second: Any) -> Iterator[FieldDifference]:
    """Descend while both values have the same type and yield the innermost differences."""
    if canonical(first) == canonical(second):
        return
    if isinstance(first, Struct) and type(first) is type(second):
        for part in first.__struct_fields__:
            name = PATHS.get(part, _camel(part))
            yield from _walk(f"{path}.{name}", getattr(first, part), getattr(second, part))
    elif isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in dict.fromkeys((*first, *second)):
            yield from _walk(f"{path}[{key}]", first.get(key), second.get(key))
    elif isinstance(first, tuple | list) and isinstance(second, tuple | list):
        for place in range(max(len(first), len(second))):
            mine, other = (side[place] if place < len(side) else None for side in (first, second))
            yield from _walk(f"{path}[{place}]", mine, other)
    else:
        yield FieldDifference(cut(path), _text(path, first), _text(path, second))


def _text(path: str, value: Any) -> str:
    if value is None:
        return NONE
    parent, _, key = path.rpartition("[")
    if isinstance(value, int) and not isinstance(value, bool) and parent.endswith(AMOUNTS):
        return format_resource(key.removesuffix("]"), value)
    if isinstance(value, str):
        return cut(value) or "empty"
    return cut(json.dumps(canonical(value), ensure_ascii=False))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def cut(text: str) -> str:
    """Return a text truncated to ``TEXT_SHOWN`` characters."""
    return text if len(text) <= TEXT_SHOWN else f"{text[: TEXT_SHOWN - 1]}…"
