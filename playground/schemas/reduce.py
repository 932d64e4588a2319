"""Reduce the JSON schemas of kubernetes-validate to what an editor shows; run as a script at set-up.

``python playground/schemas/reduce.py WHEEL OUT`` writes ``{"version", "kinds", "parts"}``: for a kind its
versions, newest first, each with its part; for a part its description and its fields. A field is ``[type,
part or "", description]``, followed by 1 if it is required, where a type is a word, with ``[]`` after it for
a list and ``{}`` for a map. Only the standard library is used, because the script runs before podstep's
dependencies are installed.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RELEASE = "v1.37.0"
SCHEMAS = f"kubernetes_validate/kubernetes-json-schema/{RELEASE}-local/_definitions.json"
LONGEST = 700  # maximum characters of a description
VALUES = (
    "IntOrString",
    "Quantity",
    "Time",
    "MicroTime",
    "FieldsV1",
    "Duration",
)  # parts that are written as a single value

#: The Kubernetes kinds that podstep reads or keeps, with their versions.
KINDS: dict[str, dict[str, str]] = {
    **{
        kind: {"v1": f"io.k8s.api.core.v1.{kind}"}
        for kind in (
            "Node Pod Service ReplicationController PersistentVolume PersistentVolumeClaim Namespace".split()
        )
    },
    **{
        kind: {"apps/v1": f"io.k8s.api.apps.v1.{kind}"}
        for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
    },
    "Job": {"batch/v1": "io.k8s.api.batch.v1.Job"},
    "StorageClass": {"storage.k8s.io/v1": "io.k8s.api.storage.v1.StorageClass"},
    "PriorityClass": {"scheduling.k8s.io/v1": "io.k8s.api.scheduling.v1.PriorityClass"},
    "PodDisruptionBudget": {"policy/v1": "io.k8s.api.policy.v1.PodDisruptionBudget"},
    "PodGroup": {"scheduling.k8s.io/v1beta1": "io.k8s.api.scheduling.v1beta1.PodGroup"},
}

_MORE = re.compile(r"(?<!\s)\s*(More info|Learn more|See|Read more)[^.]{0,200}https?://\S+.*$", re.DOTALL)
_LINK = re.compile(r"(?<!\s)\s*\(?https?://\S+\)?")


def shortened(description: str) -> str:
    """Return a description without links, truncated after a sentence if it is long."""
    text = " ".join(_LINK.sub("", _MORE.sub("", description)).split())
    if len(text) <= LONGEST:
        return text
    end = text.rfind(". ", 0, LONGEST)
    return text[: end + 1] if end > LONGEST // 3 else text[: LONGEST - 1].rstrip() + "…"


def _plain(schema: Mapping[str, Any]) -> str:
    kinds = schema.get("type", "any")
    word = next((one for one in kinds if one != "null"), "any") if isinstance(kinds, list) else str(kinds)
    return {"number": "number", "any": "value"}.get(word, word)


def field(schema: Mapping[str, Any]) -> tuple[str, str]:
    """Return a field's type, and the part that is the type of the field or of its items."""
    if "$ref" in schema:
        part = str(schema["$ref"]).rpartition("/")[2]
        short = part.rpartition(".")[2]
        return (short, "") if short in VALUES else ("object", part)
    word = _plain(schema)
    if word == "array":
        inner, part = field(schema.get("items", {}))
        return f"{inner}[]", part
    inside = schema.get("additionalProperties")
    if isinstance(inside, Mapping):
        inner, part = field(inside)
        return f"{inner}{{}}", part
    return word, ""


def reduced(definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that the kinds consist of, each as its description and its fields."""
    parts: dict[str, Any] = {}
    waiting = [part for versions in KINDS.values() for part in versions.values()]
    while waiting:
        part = waiting.pop()
        if part in parts:
            continue
        schema = definitions[part]
        required = set(schema.get("required", ()))
        fields: dict[str, list[Any]] = {}
        for name, inner in schema.get("properties", {}).items():
            if name.startswith("$"):
                continue
            word, of = field(inner)
            fields[name] = [
                word,
                of,
                shortened(inner.get("description", "")),
                *([1] if name in required else []),
            ]
            if of:
                waiting.append(of)
        parts[part] = [shortened(schema.get("description", "")), fields]
    return {"version": RELEASE, "kinds": KINDS, "parts": parts}


def main(wheel: str, out: str) -> None:
    """Read the schemas directly from the wheel of kubernetes-validate, and write the reduced ones."""
    with zipfile.ZipFile(wheel) as packed:
        definitions = json.loads(packed.read(SCHEMAS))["$defs"]
    Path(out).write_text(json.dumps(reduced(definitions), separators=(",", ":"), sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
