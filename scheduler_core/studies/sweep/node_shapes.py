"""Nodes of another shape: what they have, their labels, how many there are and what one costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.names import check_key, check_value
from scheduler_core.kubernetes.quantity import QuantityError, parse_resource
from scheduler_core.kubernetes.support import part_of
from scheduler_core.studies.sweep.prices import MOST, PRICE
from scheduler_core.studies.sweep.shapes import resized

EXAMPLE = {
    "small": {"allocatable": {"cpu": 4, "memory": "16Gi"}},
    "large": {"allocatable": {"cpu": 16, "memory": "64Gi"}, "count": 5},
}
Shape = Mapping[str, Any]


def shaped(documents: Sequence[Document], shape: Any) -> Sequence[Document]:
    """Return the documents with nodes of another shape, an object.

    ``allocatable`` has amounts by resource, which capacity gets too; null takes a resource away. ``labels``
    are set. ``count`` is how many of these nodes there are, as :func:`resized` makes them. ``pricePerHour``
    is the price of one; without it a price that was annotated goes. ``selector`` has the labels of the nodes
    that it is about; without it these are all.

    Raises:
        EditError: The shape has a wrong field, or no node has the labels.
    """
    if not isinstance(shape, Mapping):
        raise EditError(f"must be one of the shapes by name, not {str(shape)[:40]!r}")
    for field, value in shape.items():
        if field not in _FIELDS:
            raise EditError(f"has the unknown field {str(field)[:40]!r}; a shape has {', '.join(_FIELDS)}")
        _FIELDS[field](value)
    selector = _texts(shape.get("selector", {}))
    chosen = [_node_of(one, selector) for one in documents]
    if not any(chosen):
        raise EditError(f"selector: no node has the labels {', '.join(map('='.join, selector.items()))}")
    made = [_of_shape(one, shape) if node else one for one, node in zip(documents, chosen)]
    if "count" not in shape:
        return made
    names = {part_of(one, "metadata", "name") for one, node in zip(documents, chosen) if node}
    return resized(made, shape["count"], lambda node: part_of(node, "metadata", "name") in names)


def _node_of(document: Document, selector: Mapping[str, str]) -> bool:
    labels = part_of(document, "metadata", "labels") or {}
    return document.get("kind") == "Node" and selector.items() <= _texts(labels).items()


def _of_shape(node: Document, shape: Shape) -> Document:
    meta, status = dict(node["metadata"]), dict(node.get("status") or {})
    meta["labels"] = {**(meta.get("labels") or {}), **_texts(shape.get("labels", {}))}
    notes = {name: text for name, text in (meta.get("annotations") or {}).items() if name != PRICE}
    price = {PRICE: str(shape["pricePerHour"])} if "pricePerHour" in shape else {}
    meta["annotations"] = {**notes, **price}
    for field in ("capacity", "allocatable"):
        amounts = {**(status.get(field) or {}), **shape.get("allocatable", {})}
        status[field] = {name: str(amount) for name, amount in amounts.items() if amount is not None}
    return {**node, "metadata": meta, "status": status}


def _texts(labels: Mapping[Any, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in labels.items()}


def _check_amounts(value: Any) -> None:
    if not isinstance(value, Mapping) or not value:
        raise EditError(
            "allocatable must be an object of amounts by resource, such as {cpu: 8, memory: 32Gi}"
        )
    for name, amount in value.items():
        try:
            if amount is not None and parse_resource(str(name), str(amount)) < 0:
                raise EditError(f"allocatable.{name} must not be negative, as {str(amount)[:40]!r} is")
        except QuantityError as error:
            raise EditError(f"allocatable.{str(name)[:60]}: {error}") from error


def _check_labels(value: Any) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise EditError("labels and selector must be objects of texts, such as {pool: gpu}")
    for name, text in _texts(value).items():
        if broken := check_key(name) or check_value(text):
            raise EditError(f"the label {name[:60]}={text[:60]} {broken}")


def _check_count(value: Any) -> None:
    if type(value) is not int:
        raise EditError(f"count must be a whole number, not {str(value)[:40]!r}")


def _check_price(value: Any) -> None:
    if type(value) not in (int, float) or not 0 <= value < MOST:
        raise EditError(f"pricePerHour must be a number from 0, not {str(value)[:40]!r}")


_FIELDS: Mapping[str, Callable[[Any], None]] = {
    "allocatable": _check_amounts,
    "labels": _check_labels,
    "selector": _check_labels,
    "count": _check_count,
    "pricePerHour": _check_price,
}
