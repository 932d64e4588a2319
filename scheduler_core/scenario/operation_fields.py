"""The fields of a Scenario document: operations, their targets, and what each of them does."""

from __future__ import annotations

from typing import Any

from scheduler_core.formats.patch import PATCH_TYPES
from scheduler_core.kubernetes.readers import At, Field, Reader, enum, integer, labels, opaque, record, text
from scheduler_core.scenario.moments import FIELDS

_TYPE_META = record(
    dict, {"kind": Field("kind", text, required=True), "apiVersion": Field("apiVersion", text)}
)
_OBJECT_META = record(
    dict,
    {"name": Field("name", text, required=True), "namespace": Field("namespace", text)},
    unread="uid labels annotations creationTimestamp resourceVersion",
)
_TARGET = {
    "typeMeta": Field("type", _TYPE_META, required=True),
    "objectMeta": Field("meta", _OBJECT_META),  # a configuration needs none: there is at most one
}
SELECTED = {
    "namespace": Field("namespace", text),
    "selector": Field("selector", record(dict, {"matchLabels": Field("labels", labels)})),
    "node": Field("node", text),
    "index": Field("index", integer(0)),
}
"""What selects pods in the place of ``objectMeta``."""
PROPAGATIONS = ("Background", "Foreground", "Orphan")
_DELETION = record(dict, {"propagationPolicy": Field("propagation", enum(*PROPAGATIONS))})
ACTIONS: dict[str, Reader] = {
    "createOperation": record(
        dict, {"object": Field("object", opaque, required=True)}, unread="createOptions"
    ),
    "patchOperation": record(
        dict,
        {
            **_TARGET,
            **SELECTED,
            "patch": Field("patch", opaque, required=True),
            "patchType": Field("patchType", enum(*PATCH_TYPES)),
        },
        unread="patchOptions",
    ),
    "deleteOperation": record(dict, {**_TARGET, **SELECTED, "deleteOptions": Field("options", _DELETION)}),
    "doneOperation": record(dict, {}, unread="operation"),
}


def _id(value: Any, at: At) -> str | None:
    return str(value) if type(value) is int else text(value, at)


OPERATION = record(
    dict,
    {
        "id": Field("id", _id),
        **FIELDS,
        **{name: Field(name, opaque) for name in ACTIONS},
    },
)
SCENARIO = record(
    dict,
    {
        "spec": Field(
            "spec",
            record(dict, {"operations": Field("operations", opaque)}, unread="controllers"),
        )
    },
    unread="apiVersion kind metadata status",
)
