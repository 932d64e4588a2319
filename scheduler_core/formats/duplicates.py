"""Duplicate objects in a bundle, such as a cluster dump and a manifest to apply to it.

The later document replaces the earlier one, as with ``kubectl apply``, in whichever files they are. Fields
that only the cluster writes are kept if the later document lacks them: a pod keeps its node, a node its
status. Within one list, as kubectl prints it, two objects with one name are an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.problems import LocatedMessage, problems_of
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import At, Report

_ALWAYS = (
    ("status",),
    ("metadata", "uid"),
    ("metadata", "creationTimestamp"),
    ("metadata", "deletionTimestamp"),
    ("metadata", "ownerReferences"),
)
# Fields that components of the cluster write, and that applying a manifest without them does not change.
WRITTEN_BY_THE_CLUSTER: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "Pod": (("spec", "nodeName"),),
    "PersistentVolumeClaim": (("spec", "volumeName"),),
    "PersistentVolume": (("spec", "claimRef"),),
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"), (("spec", "replicas"),)
    ),
}


class Replaced(Struct, frozen=True):
    """One object that two documents define; ``kept`` are the paths kept from the earlier one."""

    key: Key
    first: BundleEntry
    later: BundleEntry
    kept: tuple[str, ...]
    is_error: bool = False
    others: tuple[str, ...] = ()
    """More objects of the one file of which the other has later ones."""


def same_list(first: BundleEntry, later: BundleEntry) -> bool:
    """Return whether two manifests are items of one list."""
    return (
        first.source is later.source and first.number == later.number and bool(first.prefix and later.prefix)
    )


def applied(
    first: Mapping[str, Any], later: Mapping[str, Any], kind: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the later document with the earlier one's cluster-written fields, and the paths of those."""
    value = dict(later)
    kept = []
    for path in (*_ALWAYS, *WRITTEN_BY_THE_CLUSTER.get(kind, ())):
        *above, name = path
        here, there = value, first
        for step in above:
            here, there = here.get(step, {}), there.get(step, {})
            if not isinstance(here, Mapping) or not isinstance(there, Mapping):
                break
        else:
            if there.get(name) is None or here.get(name) is not None:
                continue
            if above:
                value[above[0]] = {**here, name: there[name]}
            else:
                value[name] = there[name]
            kept.append(".".join(path))
    return value, tuple(kept)


NAMED, MOST_PER_FILE = 2, 3
"""Objects that a summary names beside the first, and that are reported one by one for two files."""


def _summarized(replaced: Iterable[Replaced]) -> Iterator[Replaced]:
    """Yield what replaced what, as one for many objects of the same two files."""
    by_files: dict[tuple[object, ...], list[Replaced]] = {}
    for one in replaced:
        key = (True, id(one)) if one.is_error else (False, id(one.first.source), id(one.later.source))
        by_files.setdefault(key, []).append(one)
    for found in by_files.values():
        if len(found) <= MOST_PER_FILE or found[0].first.source is None:
            yield from found
            continue
        yield replace(found[0], others=tuple(f"{one.key[0]} {one.key[1]}" for one in found[1:]))


def duplicate_findings(
    replaced: Iterable[Replaced], report: Report
) -> tuple[list[LocatedMessage], list[LocatedMessage]]:
    """Return errors and warnings about objects that are defined twice, each with the place of the first."""
    listed = list(_summarized(replaced))
    places = problems_of([(_name(one.first, report), "") for one in listed])
    errors: list[LocatedMessage] = []
    warnings: list[LocatedMessage] = []
    for one, place in zip(listed, places, strict=True):
        name = f"{one.key[0]} {one.key[1]}"
        if one.is_error:
            text = f"duplicate {name}; first defined {_where(place, one)}: remove one of them"
            errors.append((_name(one.later, report), text))
            continue
        if one.others:
            name = f"{len(one.others) + 1:,} objects ({', '.join([name, *one.others[:NAMED]])}"
            name += f" and {len(one.others) - NAMED:,} more)" if len(one.others) > NAMED else ")"
        kept = [path for path in one.kept if not path.startswith("metadata.")]
        more = f"; it keeps {' and '.join(kept)} from there" if kept else ""
        text = f"replaces {name}, first defined {_where(place, one)}, as kubectl apply would{more}"
        warnings.append((_name(one.later, report), text))
    return errors, warnings


def _name(entry: BundleEntry, report: Report) -> At:
    return At(report, None, entry).child("metadata").child("name")


def _where(place: Problem, one: Replaced) -> str:
    """Return the place of the first definition: its file if it is another one, and its line or document."""
    elsewhere = one.first.source is not one.later.source and place.file
    line = f"line {place.line}" if place.line is not None else f"document {place.document}"
    return f"in {place.file} at {line}" if elsewhere else f"at {line}"
