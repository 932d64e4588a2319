"""The fields that every object's form starts with: a name, a namespace, labels."""

from __future__ import annotations

from typing import Any

from scheduler_core.authoring.forms.fields import FormField, Values
from scheduler_core.kubernetes.manifests import Manifest


def name_field(example: str) -> FormField:
    """Return the field for an object's name."""
    return FormField(
        "name",
        "Name",
        "name",
        placeholder=example,
        hint="",
        required=True,
        place=r"metadata\.(name|generateName)$",
    )


NAMESPACE = FormField(
    "namespace",
    "Namespace",
    "name",
    default="default",
    placeholder="default",
    suggest="namespaces",
    place=r"metadata\.namespace",
)
LABELS = FormField(
    "labels",
    "Labels",
    "labels",
    placeholder="app=web, tier=front",
    hint="of its pods; without any, app=name",
    suggest="podLabels",
    place=r"labels|matchLabels",
)


def meta(values: Values, name: str = "") -> Manifest:
    """Return metadata with the name, and the namespace if the form has one."""
    made: Manifest = {"name": name or values["name"]}
    if values.get("namespace"):
        made["namespace"] = values["namespace"]
    return made


def manifest(api_version: str, kind: str, metadata: Manifest, **rest: Any) -> Manifest:
    """Return an object with its fields in the customary order."""
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
