"""Other clusters and other arrivals: nodes added or left out, and the order of what waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.compare.again import taken_off
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.quantity import exact_quantity
from scheduler_core.kubernetes.support import part_of

MOST_NODES = 50_000
GIVEN, SHUFFLED = "given", "shuffled"
ARRIVING = ("Pod", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job")
HOSTNAME = "kubernetes.io/hostname"


def resized(
    documents: Sequence[Document], count: Any, among: Callable[[Document], bool] = lambda _: True
) -> list[Document]:
    """Return the documents with so many nodes: copies of its own in turn are added, or the last left out.

    Only the nodes ``among`` which they are count, and are copied or left out.

    Pods of a node that is left out wait again; those that only run on theirs go with it. A copy runs no pod.

    Raises:
        EditError: ``count`` is no number of nodes, or there is none to copy.
    """
    _check(count, 1)
    nodes = [one for one in documents if one.get("kind") == "Node" and among(one)]
    if not nodes:
        raise EditError("the bundle has no node to copy")
    if count >= len(nodes):
        more = [
            _copy(nodes[number % len(nodes)], number // len(nodes) + 1)
            for number in range(count - len(nodes))
        ]
        return _after_nodes(documents, more)
    gone = {_name(one) for one in nodes[count:]}
    kept = [one for one in documents if one.get("kind") != "Node" or _name(one) not in gone]
    return [one for old in kept for one in _without_nodes(old, gone)]


def grown(documents: Sequence[Document], name: str, count: Any) -> list[Document]:
    """Return the documents with ``count`` copies of a node.

    Raises:
        EditError: ``count`` is no number of nodes, or there is no such node.
    """
    _check(count, 0)
    node = next((one for one in documents if one.get("kind") == "Node" and _name(one) == name), None)
    if node is None:
        raise EditError(f"there is no node {name[:80]!r}")
    return _after_nodes(documents, [_copy(node, number) for number in range(1, count + 1)])


def _check(count: Any, least: int) -> None:
    if type(count) is not int or not least <= count <= MOST_NODES:
        raise EditError(f"must be a whole number from {least} to {MOST_NODES:,}, not {str(count)[:40]!r}")


def _name(document: Document) -> str:
    return str(part_of(document, "metadata", "name"))


def _after_nodes(documents: Sequence[Document], more: list[Document]) -> list[Document]:
    last = max(place for place, one in enumerate(documents) if one.get("kind") == "Node")
    return [*documents[: last + 1], *more, *documents[last + 1 :]]


def _copy(node: Document, number: int) -> Document:
    name = f"{_name(node)}-copy-{number}"
    meta = {key: value for key, value in node["metadata"].items() if key not in ("uid", "resourceVersion")}
    labels = dict(meta.get("labels") or {})
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    spec = {key: value for key, value in (node.get("spec") or {}).items() if key != "providerID"}
    return {**node, "metadata": {**meta, "name": name, "labels": labels}, "spec": spec}


def _without_nodes(document: Document, gone: set[str]) -> list[Document]:
    """Return a pod of a node that is gone as it waits again, or nothing if it goes with the node."""
    if document.get("kind") != "Pod" or part_of(document, "spec", "nodeName") not in gone:
        return [document]
    (again,) = taken_off((document,))
    return [] if again is document else [again]


def _request(document: Document) -> tuple[float, float]:
    """Return the cpu and memory that a pod, or each pod of a workload, requests, as written."""
    template = document if document.get("kind") == "Pod" else part_of(document, "spec", "template") or {}
    containers = part_of(template, "spec", "containers") or ()
    amounts = [part_of(one, "resources", "requests") or {} for one in containers if isinstance(one, dict)]
    return tuple(sum(_amount(one.get(name)) for one in amounts) for name in ("cpu", "memory"))  # type: ignore[return-value]


def _amount(value: Any) -> float:
    try:
        return float(exact_quantity(str(value))) if value is not None else 0.0
    except ValueError:
        return 0.0


_RANKS: dict[str, Callable[[Document], Any]] = {
    GIVEN: lambda _: 0,
    SHUFFLED: lambda _: 0,
    "largest-first": lambda document: tuple(-amount for amount in _request(document)),
    "smallest-first": _request,
}
ORDERS = tuple(_RANKS)
"""Orders of arrival. Sizes are by the requested cpu, then memory; ties are as given, or drawn by a seed."""


def arrived(documents: Sequence[Document], order: str, seed: int) -> list[Document]:
    """Return the documents with what waits in another order, at the places and times of the others.

    These are pods without a node and workloads; operations keep their seconds.

    Raises:
        EditError: There is no such order.
    """
    if order not in _RANKS:
        raise EditError(f"must be {', '.join(ORDERS)}, not {order[:40]!r}")
    places = [place for place, one in enumerate(documents) if is_arriving(one)]
    arriving = [documents[place] for place in places]
    times = [part_of(one, "metadata", "creationTimestamp") for one in arriving]
    if seed or order == SHUFFLED:
        Random(f"arrival/{seed}").shuffle(arriving)  # noqa: S311 - a simulation
    after = list(documents)
    for place, time, one in zip(places, times, sorted(arriving, key=_RANKS[order])):
        after[place] = _created(one, time)
    return after


def is_arriving(document: Document) -> bool:
    """Return whether a document is a workload or a pod that waits."""
    kind = document.get("kind")
    return kind in ARRIVING and not (kind == "Pod" and part_of(document, "spec", "nodeName"))


def _created(document: Document, time: Any) -> Document:
    meta = document.get("metadata") or {}
    if meta.get("creationTimestamp") == time:
        return document
    others = {key: value for key, value in meta.items() if key != "creationTimestamp"}
    return {**document, "metadata": {**others, **({} if time is None else {"creationTimestamp": time})}}
