"""Which objects of a calm cluster are alike: partition refinement over what the scheduler reads.

Nodes, values of their labels, and the workloads whose pods they have are the vertices of a graph. Each
begins with the colour of what is read of it without its name, and is distinguished from others by the colours
next to it, until no colour splits (the refinement of Weisfeiler and Leman). An object that an event is on has
a colour of its own from then on. Colours are comparable between refinements.

Where pods go does not always matter. A coloring that is ``blind`` to nodes that no event is on tells a node
by its own pods, and those of the nodes before it, alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    controller_of,
    is_ready,
    key_in,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    node_of,
    phase_of,
    ready_status,
    selects,
    spec_of,
    status_of,
    taints_of,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.scenario.controller_work import OWNERS

Colours = NDArray[np.uint64]
_UNREAD = frozenset(
    {"nodeName", "status", "annotations", "uid", "resourceVersion", "creationTimestamp", "managedFields"}
)
_OWN = "podstep/"
_NAMED = ("PersistentVolumeClaim", "PriorityClass", "ResourceClaim", "ResourceClaimTemplate", "LocalQueue")
"""Kinds of which it matters which one a pod names."""
_GROWN = ("StatefulSet", "DaemonSet")
"""Kinds whose pods have claims or nodes of their own: each workload is unlike all others."""


class _Graph(NamedTuple):
    """Edges in the order of their source: those of ``source[i]`` begin at ``start[i]``."""

    first: Colours
    source: NDArray[np.intp]
    start: NDArray[np.intp]
    target: NDArray[np.intp]
    label: Colours


class Coloring:
    """The colours of a calm cluster's objects.

    ``apart`` are those that a contract names; ``marks`` returns whether a pod is one that it is about.
    """

    def __init__(
        self,
        server: ApiServer,
        documents: Sequence[Document],
        apart: Iterable[Key] = (),
        marks: Callable[[Manifest], bool] | None = None,
        *,
        blind: bool = False,
    ) -> None:
        self._places: dict[Key, int] = {}
        self._first: list[int] = []
        self._edges: Counter[tuple[int, int, int]] = Counter()
        self._server = server
        self._documents = documents
        self._marks = marks
        self._labels: set[str] = set()
        self._blind = blind
        self._shared = _shared_words(documents)
        self._compared, self._mentioned = _read_of_nodes(documents)
        for key in apart:
            self._vertex(key, f"{key}")
        for node in server.of_kind("Node"):
            self._add_node(node)
        for pod in server.of_kind("Pod"):
            self._add_pod(pod)
        self._graph = self._made()
        self.of = lru_cache(maxsize=512)(self._of)

    def color(self, vertex: Key, apart: tuple[Key, ...] = ()) -> int:
        """Return the colour of an object, when events were on those ``apart``, in this order."""
        place = self._places.get(vertex)
        return crc32(f"{vertex}".encode()) if place is None else int(self.of(apart)[place])

    def _of(self, apart: tuple[Key, ...]) -> Colours:
        """Return the stable colours of all vertices."""
        colors = self._graph.first.copy()
        for number, vertex in enumerate(apart):
            if vertex in self._places:
                colors[self._places[vertex]] ^= np.uint64(0x9E3779B97F4A7C15 * (number + 1) & 2**64 - 1)
        quiet = self._quiet(apart)
        count = 0
        while (found := len(np.unique(colors))) > count:
            count = found
            colors = self._refined(colors, quiet)
        return colors

    def _quiet(self, apart: tuple[Key, ...]) -> NDArray[np.bool_]:
        """Return the vertices whose colour no other one reads: nodes that no event is on, if it is blind."""
        quiet = np.zeros(len(self._first), np.bool_)
        if self._blind:
            quiet[[place for key, place in self._places.items() if key[0] == "Node" and key not in apart]] = (
                True
            )
        return quiet

    def _refined(self, colors: Colours, quiet: NDArray[np.bool_]) -> Colours:
        near = _mixed(colors[self._graph.target] ^ self._graph.label)
        near[quiet[self._graph.target]] = 0
        sums = np.zeros_like(colors)
        sums[self._graph.source] = np.add.reduceat(near, self._graph.start) if len(near) else 0
        return _mixed(colors + _mixed(sums))

    # --- the graph

    def _vertex(self, key: Key, content: str) -> int:
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._first)
            self._first.append(_digest(content))
        return place

    def _join(self, one: int, other: int, label: int) -> None:
        self._edges[one, other, label] += 1
        self._edges[other, one, label] += 1

    def _add_node(self, node: Manifest) -> None:
        name = name_of(node)
        place = self._vertex(("Node", name), _node_text(node) + (name if name in self._mentioned else ""))
        self._labels.update(labels_of(node))
        for key, value in labels_of(node).items():
            named = value if value in self._mentioned or key in self._compared else ""
            self._join(place, self._vertex((key, value), f"{key}={named}"), _digest(key))

    def _add_pod(self, pod: Manifest) -> None:
        node = self._places.get(("Node", node_of(pod)))
        if node is None:
            return
        owner = self._owner(pod)
        place = self._vertex(owner, self._workload_text(owner, pod))
        mark = self._marks is not None and self._marks(pod)
        self._join(place, node, _digest(f"{_pod_text(pod)}{mark}"))

    def _owner(self, obj: Manifest) -> Key:
        reference = controller_of(obj)
        if reference is None or reference["kind"] == "Node":
            return obj["kind"], key_of(obj)
        key = reference["kind"], key_in(reference["kind"], namespace_of(obj), reference["name"])
        found = self._server.get(*key)
        return key if found is None else self._owner(found)

    def _workload_text(self, owner: Key, pod: Manifest) -> str:
        """Return what is read of a workload, with placeholders for the words that no other one has."""
        found = self._server.get(*owner)
        if owner in self._places or found is None or owner[0] in _GROWN:
            return f"{owner}"
        budgets = [spec_of(one) for one in self._server.of_kind("PodDisruptionBudget") if _covers(one, pod)]
        content = [owner[0], labels_of(found), spec_of(found), [{**one, "selector": None} for one in budgets]]
        return json.dumps(_anonymous(content, self._shared), sort_keys=True)

    def _made(self) -> _Graph:
        edges = sorted((*edge, count) for edge, count in self._edges.items())
        rows = np.array(edges, dtype=object).reshape(-1, 4)
        labels = rows[:, 2].astype(np.uint64) ^ (rows[:, 3].astype(np.uint64) << np.uint64(40))
        first = np.array(self._first, dtype=np.uint64)
        if self._blind:
            first = self._counted(first, rows)
        source, start = np.unique(rows[:, 0].astype(np.intp), return_index=True)
        return _Graph(first, source, start, rows[:, 1].astype(np.intp), labels)

    def _counted(self, first: Colours, rows: NDArray[np.object_]) -> Colours:
        """Return first colours that count what is next to an object; a label's nodes by their own."""
        places = self._places.items()
        nodes = [place for key, place in places if key[0] == "Node"]
        labels = [place for key, place in places if key[0] in self._labels]
        source, target, label, count = rows.T.astype(np.uint64)
        seen = np.where(np.isin(source, labels), first[target], 0)
        counted = np.where(np.isin(source, nodes), 0, _mixed(label ^ seen) * count)
        made = first.copy()
        np.add.at(made, source.astype(np.intp), counted)
        return made


def _mixed(numbers: Colours) -> Colours:
    """Scatter numbers, so that sums of them differ (the finalizer of SplitMix64)."""
    out = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    out = (out ^ (out >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return out ^ (out >> np.uint64(31))


def _digest(content: str) -> int:
    return crc32(content.encode())


def _node_text(node: Manifest) -> str:
    own = {key: value for key, value in annotations_of(node).items() if key.startswith(_OWN)}
    spec = {key: value for key, value in spec_of(node).items() if key in ("taints", "unschedulable")}
    status = status_of(node)
    read = [spec, status.get("allocatable"), status.get("capacity"), ready_status(node), taints_of(node), own]
    return json.dumps(read, sort_keys=True, default=str)


def _pod_text(pod: Manifest) -> str:
    spec = spec_of(pod)
    requests = [one.get("resources") for one in spec.get("containers") or ()]
    return json.dumps(
        [phase_of(pod), is_ready(pod), spec.get("priority"), requests], sort_keys=True, default=str
    )


def _covers(budget: Manifest, pod: Manifest) -> bool:
    same = namespace_of(budget) == namespace_of(pod)
    return same and selects(spec_of(budget).get("selector"), labels_of(pod))


def _words(value: Any) -> Iterator[str]:
    """Yield the texts in a value, without what the scheduler does not read."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _UNREAD:
                yield from _words(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _words(item)


def _shared_words(documents: Sequence[Document]) -> frozenset[str]:
    """Return the texts that more than one workload has, and names of what the scheduler reads of a pod's."""
    counts: Counter[str] = Counter()
    for one in documents:
        if one.get("kind") in OWNERS and not (one.get("metadata") or {}).get("ownerReferences"):
            labels = (one.get("metadata") or {}).get("labels")
            counts.update(set(_words([document_key(one)[1], labels, one.get("spec")])))
    names = (document_key(one)[1].rpartition("/")[2] for one in documents if one.get("kind") in _NAMED)
    return frozenset((*(word for word, count in counts.items() if count > 1), *names))


def _read_of_nodes(documents: Sequence[Document]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the node labels that are compared as numbers, and all texts by which a node may be named."""
    compared: set[str] = set()
    mentioned: set[str] = set()
    for one in documents:
        if one.get("kind") != "Node":
            mentioned.update(_words(one.get("spec")))
            compared.update(_compared_keys(one.get("spec")))
    return frozenset(compared), frozenset(mentioned)


def _compared_keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if value.get("operator") in ("Gt", "Lt"):
            yield str(value.get("key"))
        for item in value.values():
            yield from _compared_keys(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _compared_keys(item)


def _anonymous(value: Any, shared: frozenset[str]) -> Any:
    if isinstance(value, str):
        return value if value in shared else ""
    if isinstance(value, Mapping):
        return {key: _anonymous(item, shared) for key, item in value.items() if key not in _UNREAD}
    return [_anonymous(item, shared) for item in value] if isinstance(value, (list, tuple)) else value
