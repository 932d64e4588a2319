"""The document used by the YAML editor for completions and explanations, built once per process.

Kubernetes' fields are those of its own schemas (``static/vendor/kubernetes.json``, see :mod:`.reduce`). The
readers of :mod:`scheduler_core` determine which of them are read, which only other clusters honor, and which
words a field may have; so a field newly supported by a reader is included automatically. podstep's own
documents are derived from their readers alone. A field is an object of

``t``  its type: a word, with ``[]`` for a list and ``{}`` for a map; ``manifest`` is any object, and
       ``patch`` is a patch of one
``p``  the part that is the type of the field, or of each of its items
``d``  its description
``e``  its possible values: ``{value: meaning}``
``r``  1 if it is required
``x``  why it has no effect: ``ignored``, or ``reported`` if other clusters honor it
``by`` ``[sibling, {its value: part}]`` if the part depends on a sibling
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from playground.reference import catalogue
from playground.schemas.words import of_choice, of_field, words
from scheduler_core.formats.patch import PATCH_TYPES
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.readers import Outline, Reader, outline_of
from scheduler_core.scenario.operation_fields import PROPAGATIONS
from scheduler_core.schedulers.coscheduling.editions import EDITIONS
from scheduler_core.schedulers.v1_11.policy.checks import POLICY
from scheduler_core.schedulers.v1_11.policy.reader import (
    ARGUMENT_OF,
    PREDICATE_ARGUMENTS,
    PRIORITY_ARGUMENTS,
)
from scheduler_core.schedulers.v1_22.configuration.arguments import READERS
from scheduler_core.schedulers.v1_22.configuration.plugins import COSCHEDULING, MULTI_POINT, PLUGINS
from scheduler_core.schedulers.v1_22.configuration.reader import CONFIGURATION
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS
from scheduler_core.settings.release import CONFIGURATION_KIND
from scheduler_core.settings.settings import SETTINGS, SETTINGS_KIND
from scheduler_core.studies.contracts.conditions import FACTS
from scheduler_core.studies.contracts.document import CONTRACT, MODES
from scheduler_core.studies.contracts.document import KIND as CONTRACT_KIND
from scheduler_core.studies.contracts.document import VERSION as CONTRACT_VERSION
from scheduler_core.studies.contracts.nemeses import NEMESES

Json = dict[str, Any]

META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
ALWAYS = frozenset({"apiVersion", "kind", "metadata"})  # of every object, regardless of its reader
NATIVE = "scheduling.k8s.io"  # the group whose PodGroup is Kubernetes' own
GROUPS: Mapping[str, tuple[str, ...]] = {
    "scheduling.x-k8s.io/v1alpha1": ("minMember", "minResources", "scheduleTimeoutSeconds"),
    "scheduling.sigs.k8s.io/v1alpha1": ("minMember", "minResources", "scheduleTimeoutSeconds"),
    "scheduling.incubator.k8s.io/v1alpha1": ("minMember", "minResources", "queue", "priorityClassName"),
    "scheduling.sigs.dev/v1alpha2": ("minMember", "minResources", "queue", "priorityClassName"),
    "scheduling.volcano.sh/v1beta1": (
        *("minMember", "minResources", "minTaskMember"),
        *("queue", "priorityClassName", "networkTopology"),
    ),
}
"""The spec of a PodGroup in each dialect that is not Kubernetes' own."""
QUEUES = ("scheduling.incubator.k8s.io/v1alpha1", "scheduling.sigs.dev/v1alpha2")


def kubernetes() -> Json:
    """Return Kubernetes' reduced schemas; empty if set-up could not obtain them."""
    path = Path(settings.SITE_DIR) / "static" / "vendor" / "kubernetes.json"
    if not path.is_file():
        return {"kinds": {}, "parts": {}}
    read: Json = json.loads(path.read_text())
    return read


class _Parts:
    """The parts collected so far: those of Kubernetes with marks, and podstep's own."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.parts: dict[str, Json] = {
            name: {"d": description, "f": {field: _field(*row) for field, row in fields.items()}}
            for name, (description, fields) in given.items()
        }
        self.known = frozenset(self.parts)
        self._read: set[tuple[str, str]] = set()
        self._not: dict[tuple[str, str], str] = {}
        self._seen: set[tuple[int, str]] = set()

    def mark(self, read: Reader, part: str) -> None:
        """Record which fields of one of Kubernetes' parts, and of its nested parts, a reader reads."""
        outline = _innermost(read)
        if outline is None or part not in self.known or (id(outline), part) in self._seen:
            return
        self._seen.add((id(outline), part))
        for name, field in self.parts[part]["f"].items():
            row = outline.fields.get(name)
            if row is None:
                why = "reported" if name in outline.reported else "ignored"
                self._not.setdefault((part, name), why)
                continue
            self._read.add((part, name))
            if (inside := _innermost(row.read)) is not None and inside.words:
                field["e"] = dict.fromkeys(inside.words, "")
            if row.required:
                field["r"] = 1
            if "p" in field:
                self.mark(row.read, field["p"])

    def settle(self) -> None:
        """Mark the fields that no reader reads."""
        for (part, name), why in self._not.items():
            if (part, name) not in self._read and name not in ALWAYS:
                self.parts[part]["f"][name]["x"] = why

    def own(self, part: str, read: Reader, path: str = "") -> str:
        """Derive a part from a reader; ``path`` is the key of its descriptions in ``words.yaml``."""
        outline = _innermost(read)
        assert outline is not None, part
        fields: dict[str, Json] = {}
        path = path or part
        for name, row in outline.fields.items():
            if name == "metadata":
                continue  # Kubernetes' own, see top
            fields[name] = self._typed(row.read, f"{part}.{name}", f"{path}.{name}")
            if row.required:
                fields[name]["r"] = 1
        reported = outline.reported - outline.fields.keys()
        for name in sorted(outline.unread | reported):
            fields[name] = {"t": "value", "d": of_field(f"{path}.{name}")}
            # A Policy's fields are validated by the engine, not by the table of their names.
            if name in reported or not (path.startswith("Policy") or name in ALWAYS):
                fields[name]["x"] = "reported" if name in reported else "ignored"
        self.parts[part] = {"d": words()["kinds"].get(part, ""), "f": fields}
        return part

    def top(self, kind: str) -> None:
        """Add the fields that every object has to one of podstep's kinds."""
        fields = self.parts[kind]["f"]
        for name in ("apiVersion", "kind"):
            fields[name] = {"t": "string", "d": of_field(name), "r": 1}
        fields["metadata"] = {"t": "object", "p": META, "d": of_field("metadata")}

    def _typed(self, read: Reader, part: str, path: str) -> Json:
        outline, ending = outline_of(read), ""
        description = of_field(path)
        while outline is not None and outline.item is not None:
            ending = ("[]" if outline.word == "list" else "{}") + ending
            read = outline.item
            outline = outline_of(read)
        if outline is None:
            return {"t": f"value{ending}", "d": description}
        field: Json = {"t": f"{outline.word}{ending}", "d": description}
        if outline.words:
            field["e"] = {word: of_choice(path, word) for word in outline.words}
        if outline.word == "object":
            field["p"] = self.own(part, read, path)
        return field


def _field(word: str, part: str, description: str, required: int = 0) -> Json:
    return {"t": word, "d": description, **({"p": part} if part else {}), **({"r": 1} if required else {})}


def _innermost(read: Reader) -> Outline | None:
    outline = outline_of(read)
    while outline is not None and outline.item is not None:
        outline = outline_of(outline.item)
    return outline


def _plain(word: str, path: str, **more: Any) -> Json:
    return {"t": word, "d": of_field(path), **more}


_ARGUMENT_TYPES = {"presence": "boolean", "labels": "string[]"}


def _policy(parts: _Parts) -> None:
    parts.own("Policy", POLICY)
    entries = {
        "predicates": {
            **{row["key"]: row["text"] for row in catalogue.predicates() if row["registered"]},
            **{
                row["alias"]: row["text"]
                for row in catalogue.predicates()
                if row["alias"] and row["registered"]
            },
            **{name: f"Needs an argument: {argument.outline}." for name, argument in ARGUMENT_OF.items()},
        },
        "priorities": {row["name"]: row["text"] for row in catalogue.priorities()},
    }
    fields = parts.parts["Policy"]["f"]
    for name, values in entries.items():
        inner = parts.parts[f"Policy.{name}"]["f"]
        inner["name"] |= {"t": "string", "e": values, "r": 1}
        inner["order" if name == "predicates" else "weight"]["t"] = "integer"
        fields[name]["t"] = "object[]"
    for name, arguments in (("predicates", PREDICATE_ARGUMENTS), ("priorities", PRIORITY_ARGUMENTS)):
        for kind, argument in arguments.items():
            part = f"Policy.{name}.argument.{kind}"
            for field in argument.fields:
                if field in _ARGUMENT_TYPES:
                    parts.parts[part]["f"][field]["t"] = _ARGUMENT_TYPES[field]
            for number in parts.parts.get(f"{part}.shape", {"f": {}})["f"].values():
                number["t"] = "integer"
    fields["hardPodAffinitySymmetricWeight"]["t"] = "integer"
    fields["alwaysCheckAllPredicates"]["t"] = "boolean"


def _contract(parts: _Parts) -> None:
    parts.own(CONTRACT_KIND, CONTRACT)
    facts = {
        f'{name}("{_EXAMPLES[name]}")' if row.argument else name: row.meaning for name, row in FACTS.items()
    }
    spec = parts.parts[f"{CONTRACT_KIND}.spec"]["f"]
    for mode in MODES:
        spec[mode]["e"] = facts
    for name, field in parts.parts[f"{CONTRACT_KIND}.spec.when"]["f"].items():
        field["d"] = f"{NEMESES[name].meaning}, as in {name}: {NEMESES[name].example}"


_EXAMPLES = {"skew": "topology.kubernetes.io/zone", "free": "cpu", "used": "cpu", "nominal": "cpu"}


def _configuration(parts: _Parts) -> None:
    parts.own(CONFIGURATION_KIND, CONFIGURATION)
    plugins = {name: f"Works at {', '.join(row.points)}." for name, row in PLUGINS.items()}
    profiles = f"{CONFIGURATION_KIND}.profiles"
    for point, field in parts.parts[f"{profiles}.plugins"]["f"].items():
        field["d"] = (
            f"Plugins at the extension point {point}."
            if point != MULTI_POINT
            else "Plugins wherever they work."
        )
        there = {
            name: text for name, text in plugins.items() if point in (*PLUGINS[name].points, MULTI_POINT)
        }
        for which in ("enabled", "disabled"):
            names = there if which == "enabled" else {"*": "All that are enabled by default.", **there}
            part = parts.parts[field["p"]]["f"][which]["p"]
            parts.parts[part]["f"]["name"]["e"] = names
    arguments = {}
    for name, read in READERS.items():
        if _innermost(read) is not None:
            arguments[name] = parts.own(f"{name}Args", read)
            for head in ALWAYS:
                parts.parts[f"{name}Args"]["f"].pop(head, None)
    if "NodeAffinityArgs" in parts.parts and (affinity := "io.k8s.api.core.v1.NodeAffinity") in parts.known:
        parts.parts["NodeAffinityArgs"]["f"]["addedAffinity"] |= {"t": "object", "p": affinity}
    found = {row.name: row.default for edition in EDITIONS.values() for row in edition.arguments}
    parts.parts["CoschedulingArgs"] = {
        "d": "",
        "f": {
            name: {"t": "integer", "d": f"{default} where it is left out."} for name, default in found.items()
        },
    }
    arguments[COSCHEDULING] = "CoschedulingArgs"
    entry = parts.parts[f"{profiles}.pluginConfig"]["f"]
    entry["name"]["e"] = {name: plugins.get(name, "") for name in arguments}
    entry["args"] = _plain("object", f"{profiles}.pluginConfig.args", by=["name", arguments])


def _scenario(parts: _Parts) -> None:
    at = "Scenario.spec.operations"
    meta = {"typeMeta": ("kind", "apiVersion"), "objectMeta": ("name", "namespace")}
    for part, names in meta.items():
        parts.parts[part] = {"d": "", "f": {name: _plain("string", f"{part}.{name}") for name in names}}
    parts.parts["typeMeta"]["f"]["kind"]["e"] = dict.fromkeys(KINDS, "")

    selected, options = f"{at}.selector", f"{at}.deleteOptions"

    def target(action: str) -> Json:
        return {
            **{name: _plain("object", f"{at}.{action}.{name}", p=name) for name in meta},
            "namespace": _plain("string", f"{at}.namespace"),
            "selector": _plain("object", selected, p=selected),
            "node": _plain("string", f"{at}.node"),
            "index": _plain("integer", f"{at}.index"),
        }

    patch = f"{at}.patchOperation"
    kinds = {name: of_choice("patchType", name) for name in PATCH_TYPES}
    made: dict[str, Json] = {
        "Scenario": {"spec": _plain("object", "Scenario.spec", p="Scenario.spec", r=1)},
        "Scenario.spec": {
            "operations": _plain("object[]", at, p=at),
            "controllers": _plain("string[]", "Scenario.spec.controllers"),
        },
        at: {
            "id": _plain("string", f"{at}.id"),
            "step": _plain("integer", f"{at}.step", p=f"{at}.step"),
            "time": _plain("number", f"{at}.time"),
            "during": _plain("string", f"{at}.during", e={"evaluation": ""}),
            **{
                name: _plain("object", f"{at}.{name}", p=f"{at}.{name}")
                for name in ("createOperation", "patchOperation", "deleteOperation", "doneOperation")
            },
        },
        f"{at}.step": {name: _plain("integer", f"{at}.step.{name}") for name in ("major", "minor")},
        f"{at}.createOperation": {"object": _plain("manifest", f"{at}.createOperation.object", r=1)},
        patch: {
            **target("patchOperation"),
            "patchType": _plain("string", f"{patch}.patchType", e=kinds),
            "patch": _plain("patch", f"{patch}.patch", r=1),
        },
        f"{at}.deleteOperation": {
            **target("deleteOperation"),
            "deleteOptions": _plain("object", options, p=options),
        },
        selected: {"matchLabels": _plain("labels", f"{selected}.matchLabels")},
        options: {
            "propagationPolicy": _plain(
                "string", f"{options}.propagationPolicy", e=dict.fromkeys(PROPAGATIONS, "")
            )
        },
        f"{at}.doneOperation": {},
    }
    for part, fields in made.items():
        parts.parts[part] = {"d": words()["kinds"].get(part, ""), "f": fields}


def _groups(parts: _Parts, kinds: dict[str, dict[str, str]]) -> None:
    parts.own("PodGroup", KINDS["PodGroup"].read)
    parts.top("PodGroup")
    whole = parts.parts["PodGroup.spec"]["f"]
    versions = {}
    for version, names in GROUPS.items():
        group = version.partition("/")[0]
        spec, top = f"PodGroup.spec.{group}", f"PodGroup.{group}"
        parts.parts[spec] = {"d": "", "f": {name: whole[name] for name in names}}
        fields = parts.parts["PodGroup"]["f"]
        parts.parts[top] = {
            "d": words()["kinds"]["PodGroup"],
            "f": {**fields, "spec": {**fields["spec"], "p": spec}},
        }
        versions[version] = top
    parts.own("Queue", KINDS["Queue"].read)
    parts.top("Queue")
    kinds["Queue"] = dict.fromkeys(QUEUES, "Queue")
    native = kinds.get("PodGroup", {})
    kinds["PodGroup"] = {**versions, **native, **{f"{NATIVE}/v1alpha2": part for part in native.values()}}


def build() -> Json:
    """Return the whole document."""
    given = kubernetes()
    parts = _Parts(given["parts"])
    kinds: dict[str, dict[str, str]] = {kind: dict(versions) for kind, versions in given["kinds"].items()}
    for kind, versions in kinds.items():
        for part in versions.values():
            if kind in KINDS:
                parts.mark(KINDS[kind].read, part)
    parts.settle()
    parts.own(SETTINGS_KIND, SETTINGS)
    _contract(parts)
    _policy(parts)
    _configuration(parts)
    _scenario(parts)
    _groups(parts, kinds)
    parts.parts["List"] = {
        "d": words()["kinds"]["List"],
        "f": {"items": _plain("manifest[]", "List.items", r=1)},
    }
    own = {
        SETTINGS_KIND: (CONTRACT_VERSION,),
        CONTRACT_KIND: (CONTRACT_VERSION,),
        "Policy": ("v1",),
        CONFIGURATION_KIND: tuple(row.api_version for row in reversed(VERSIONS.values())),
        "Scenario": ("simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1",),
        "List": ("v1",),
    }
    for kind, names in own.items():
        parts.top(kind)
        kinds[kind] = dict.fromkeys(names, kind)
    return {
        "kinds": kinds,
        "parts": parts.parts,
        **{name: words()[name] for name in ("labels", "annotations", "resources")},
    }


@cache
def packed() -> tuple[bytes, str]:
    """Return the document as gzipped JSON, and its version, a digest of its content."""
    text = json.dumps(build(), separators=(",", ":"), ensure_ascii=False).encode()
    return gzip.compress(text, 9, mtime=0), hashlib.sha256(text).hexdigest()[:16]
