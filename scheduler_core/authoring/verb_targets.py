"""What a verb is about: nodes by name, label or all of them, workloads and pods as kubectl names them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from scheduler_core.cluster.controllers.annotations import seconds
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.scenario.history import versions_of

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
ALL = "*"
_AT = re.compile(r"(.+)@([\d.]+)", re.DOTALL)


class VerbError(ValueError):
    """A verb cannot be used; the text says what would be right, ``field`` is ``target`` or ``value``."""

    def __init__(self, text: str, field: str = "target") -> None:
        self.field = field
        super().__init__(text)


class VerbTarget(Struct, frozen=True):
    """An object that a verb changes: its key, and its manifests up to the moment, the last one that of then.

    A pod that a controller created has no manifest.
    """

    key: Key
    manifests: list[Manifest]

    @property
    def manifest(self) -> Manifest:
        """The manifest at the moment."""
        return self.manifests[-1] if self.manifests else {"kind": self.key[0], "apiVersion": "v1"}


class Targets(Struct, frozen=True):
    """The objects that a verb changes, and what they are called together: ``2 nodes of zone a``."""

    found: list[VerbTarget]
    phrase: str


def split_second(written: str, default: str) -> tuple[str, str]:
    """Split ``TARGET@SECONDS``; an ``@`` without a number behind it is part of the target, as in a digest."""
    match = _AT.fullmatch(written)
    if match is None or seconds(match[2]) is None:
        return written, default
    return match[1], match[2]


def kind_of(name: str) -> str:
    """Return the kind that kubectl calls ``name``, in short or in any case; what is unknown is as it is."""
    return SHORT_NAMES.get(name, next((kind for kind in KINDS if kind.lower() == name.lower()), name))


def targets_of(
    kinds: Sequence[str], written: Sequence[str], documents: Sequence[Document], count: int
) -> Targets:
    """Return the objects that texts name, as the first ``count`` operations have left them.

    Raises:
        VerbError: One does not exist, or its kind is not one of ``kinds``.
    """
    if not any(written):
        raise VerbError("Name at least one target.")
    read = _READERS.get(kinds[0], _workloads)
    found: dict[Key, VerbTarget] = {}
    for target in read(kinds, written, documents, count):
        found.setdefault(target.key, target)
    made = list(found.values())
    return Targets(made, _phrase(made, written))


def named(key: Key) -> str:
    """Return what an object is called in a sentence: ``Deployment default/web``, ``node n1``."""
    return f"{key[0].lower() if key[0] in ('Node', 'Pod') else key[0]} {key[1]}"


def _phrase(found: list[VerbTarget], written: Sequence[str]) -> str:
    if len(found) == 1:
        return named(found[0].key)
    what = f"{len(found):,} {'nodes' if found[0].key[0] == 'Node' else 'objects'}"
    if written[0] == ALL:
        return f"all {what}"
    label, separator, value = written[0].partition("=")
    if len(written) > 1 or not separator:
        return what
    short = next((name for name, key in DOMAINS.items() if key == label), label)
    return f"{what} of {short} {value}" if short in DOMAINS else f"{what} with {label}={value}"


def _nodes(
    _kinds: Sequence[str], written: Sequence[str], documents: Sequence[Document], count: int
) -> Iterator[VerbTarget]:
    nodes = {key[1]: VerbTarget(key, made) for key, made in versions_of("Node", documents, count).items()}
    for text in written:
        label, separator, value = text.partition("=")
        if text == ALL and nodes:
            yield from nodes.values()
        elif separator:
            yield from _labelled(nodes, DOMAINS.get(label, label), value)
        elif text in nodes:
            yield nodes[text]
        else:
            there = ", ".join(list(nodes)[:5])
            raise VerbError(f"there is no node {text[:80]!r}; there are {there or 'none'}")


def _labelled(nodes: Mapping[str, VerbTarget], key: str, value: str) -> list[VerbTarget]:
    labels = {name: _labels(target).get(key, "") for name, target in nodes.items()}
    found = [nodes[name] for name, label in labels.items() if label == value]
    if found and value:
        return found
    there = ", ".join(sorted({*labels.values()} - {""})[:5])
    raise VerbError(f"no node has the label {key}={value[:80]}; its values are {there or 'none'}")


def _labels(target: VerbTarget) -> Mapping[str, str]:
    labels = (target.manifest.get("metadata") or {}).get("labels") or {}
    return {str(key): str(value) for key, value in labels.items()}


def _workloads(
    kinds: Sequence[str], written: Sequence[str], documents: Sequence[Document], count: int
) -> Iterator[VerbTarget]:
    for text in written:
        kind, *place = text.split("/")
        kind = kind_of(kind)
        if kind not in kinds or not 1 <= len(place) <= 2:
            raise VerbError(
                f"{text[:80]!r}: write KIND/NAME or KIND/NAMESPACE/NAME, the kind one of {', '.join(kinds)}"
            )
        there = versions_of(kind, documents, count)
        key = kind, "/".join(place if len(place) > 1 else ("default", *place))
        if key not in there:
            names = ", ".join(name.removeprefix("default/") for _, name in there)
            raise VerbError(f"there is no {kind} {key[1]}; there are {names[:200] or 'none'}")
        yield VerbTarget(key, there[key])


def _pods(
    _kinds: Sequence[str], written: Sequence[str], documents: Sequence[Document], count: int
) -> Iterator[VerbTarget]:
    """Yield pods by name; whether one that a controller created exists is known when the run gets there."""
    given = versions_of("Pod", documents, count)
    for text in written:
        name = text.removeprefix("pod/")
        key = "Pod", name if "/" in name else f"default/{name}"
        yield VerbTarget(key, given.get(key, []))


_READERS = {"Node": _nodes, "Pod": _pods}
