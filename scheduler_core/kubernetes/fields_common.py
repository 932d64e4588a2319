"""Field tables of the parts that several kinds share: metadata, selectors, node selector terms."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from scheduler_core.kubernetes import support_cluster, support_pod
from scheduler_core.kubernetes.model import (
    LabelSelector,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
    Requirement,
)
from scheduler_core.kubernetes.names import check_key, check_name, check_namespace, check_value, is_integer
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Reader,
    boolean,
    checked,
    enum,
    labels,
    list_of,
    record,
    show,
    string_map,
    text,
)

name = checked(check_name)
key = checked(check_key)


def timestamp(value: Any, at: At) -> str | None:
    """Validate an RFC 3339 time and return it as a string."""
    word = text(value, at)
    if word is None:
        return None
    try:
        datetime.fromisoformat(word)
    except ValueError:
        at.error(f"{show(word)} is not a time: write RFC 3339, such as 2019-09-05T15:30:07Z")
        return None
    return word


def _owner(kind: str, name: str, uid: str = "", controller: bool = False) -> OwnerReference:
    return OwnerReference(kind, name, uid, controller)


OWNER = record(
    _owner,
    {
        "kind": Field("kind", text, required=True),
        "name": Field("name", text, required=True),
        "uid": Field("uid", text),
        "controller": Field("controller", boolean),
    },
    part=support_cluster.OWNER,
)


META_FIELDS = {
    "name": Field("name", name),
    "namespace": Field("namespace", checked(check_namespace)),
    "uid": Field("uid", text),
    "labels": Field("labels", labels),
    "annotations": Field("annotations", string_map),
    "ownerReferences": Field("owner_references", list_of(OWNER)),
    "creationTimestamp": Field("creation_timestamp", timestamp),
    "deletionTimestamp": Field("deletion_timestamp", timestamp),
}


def _check_meta(out: dict[str, Any], at: At) -> None:
    controllers = [place for place, owner in enumerate(out.get("owner_references", ())) if owner.controller]
    for place in controllers[1:]:
        at.child("ownerReferences").child(place).child("controller").refuse(
            f"only one owner is the controller: ownerReferences[{controllers[0]}] is one already"
        )


def _meta(**fields: Any) -> ObjectMeta:
    return ObjectMeta(**{"name": "", **fields})


META = record(_meta, META_FIELDS, part=support_cluster.META, check=_check_meta)

_NEEDS_VALUES = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}


def _check_requirement(out: dict[str, Any], at: At) -> None:
    operator, values = out["operator"], out.get("values", ())
    if operator in ("Gt", "Lt"):
        if len(values) != 1:
            at.child("values").refuse(f"{operator} needs exactly one value, an integer in quotes")
        elif not is_integer(values[0]):  # the API server of v1.11 accepts it
            message = f"{show(values[0])} is not an integer: {operator} then matches no node"
            at.child("values").child(0).warn(message)
    elif _NEEDS_VALUES[operator] and not values:
        at.child("values").refuse(f"{operator} needs at least one value")
    elif not _NEEDS_VALUES[operator] and values:
        at.child("values").refuse(f"{operator} takes no values")
    for place, value in enumerate(values):
        if broken := check_value(value):  # the API server accepts it, the scheduler's selector does not
            message = f"{show(value)} is no label's value, which {broken}: nothing then matches"
            at.child("values").child(place).warn(message)


def _requirement(*operators: str) -> Reader:
    return record(
        Requirement,
        {
            "key": Field("key", key, required=True),
            "operator": Field("operator", enum(*operators), required=True),
            "values": Field("values", list_of(text)),
        },
        part=support_cluster.REQUIREMENT,
        check=_check_requirement,
    )


def _check_field(out: dict[str, Any], at: At) -> None:
    if out["key"] != "metadata.name":
        at.child("key").refuse(f"{show(out['key'])} is no field that nodes are selected by: metadata.name is")
    if len(out.get("values", ())) != 1:
        at.child("values").refuse(f"{out['operator']} needs exactly one value, a node's name")


_FIELD_REQUIREMENT = record(
    Requirement,
    {
        "key": Field("key", text, required=True),
        "operator": Field("operator", enum("In", "NotIn"), required=True),
        "values": Field("values", list_of(text)),
    },
    part=support_cluster.REQUIREMENT,
    check=_check_field,
)

LABEL_SELECTOR = record(
    LabelSelector,
    {
        "matchLabels": Field("match_labels", labels),
        "matchExpressions": Field(
            "match_expressions", list_of(_requirement("In", "NotIn", "Exists", "DoesNotExist"))
        ),
    },
    part=support_cluster.LABEL_SELECTOR,
)

_TERM_FIELDS = {
    "matchExpressions": Field(
        "match_expressions", list_of(_requirement("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    ),
    "matchFields": Field("match_fields", list_of(_FIELD_REQUIREMENT)),
}
NODE_SELECTOR_TERM = record(NodeSelectorTerm, _TERM_FIELDS, part=support_cluster.NODE_SELECTOR_TERM)
PREFERENCE = record(NodeSelectorTerm, _TERM_FIELDS, part=support_pod.PREFERENCE)


def _check_terms(out: dict[str, Any], at: At) -> None:
    if not out["terms"] and not at.report.errors:
        at.child("nodeSelectorTerms").refuse("must have at least one term: a list of none selects no node")


# The terms of a NodeSelector, as a tuple.
NODE_SELECTOR = record(
    lambda terms: terms,
    {"nodeSelectorTerms": Field("terms", list_of(NODE_SELECTOR_TERM), required=True)},
    part=support_cluster.NODE_SELECTOR,
    check=_check_terms,
)
