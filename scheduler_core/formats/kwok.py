"""kwok's recordings: a YAML stream of objects and of ``ResourcePatch`` documents, as events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from scheduler_core.formats.bundle import Bundle, BundleEntry
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.recorded_cluster import EventConversion, RecordedEvent
from scheduler_core.kubernetes.keys import document_key
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Report,
    enum,
    integer,
    opaque,
    path_text,
    record,
    text,
)

KIND = "ResourcePatch"
_GROUP = "action.kwok.x-k8s.io/"
_RESOURCE = record(
    dict,
    {
        "group": Field("group", text),
        "version": Field("version", text, required=True),
        "resource": Field("resource", text, required=True),
    },
)
_TARGET = record(dict, {"name": Field("name", text, required=True), "namespace": Field("namespace", text)})
_PATCH = record(
    dict,
    {
        "resource": Field("resource", _RESOURCE, required=True),
        "target": Field("target", _TARGET, required=True),
        "durationNanosecond": Field("duration", integer(0, 10**21)),
        "method": Field("method", enum("create", "patch", "delete"), required=True),
        "template": Field("template", opaque),
    },
    unread="apiVersion kind metadata",
)
_ACTIONS: dict[str, Literal["add", "patch", "delete"]] = {
    "create": "add",
    "patch": "patch",
    "delete": "delete",
}


def _plural(kind: str) -> str:
    """Return the resource name of a kind, as in the API's paths."""
    word = kind.lower()
    return f"{word}es" if word.endswith("s") else f"{word}s"


_KINDS = {(group, _plural(row.name)): row.name for row in KINDS.values() for group in row.groups}


def read_kwok(bundle: Bundle, limits: Limits) -> None:
    """Convert the bundle's ResourcePatch documents to a Scenario; add problems to the bundle."""
    patches = [entry for entry in bundle.entries if is_patch(entry)]
    if not patches:
        return
    taken = {id(entry) for entry in patches}
    bundle.entries[:] = [entry for entry in bundle.entries if id(entry) not in taken]
    if len(patches) > limits.operations:
        bundle.errors.append((patches[0].source, FormatError(f"more than {limits.operations:,} patches")))
        return
    report = Report(limit=limits.problems)
    events = list(_events(patches, report))
    for at, message in report.errors:
        entry: BundleEntry = at.root
        path = path_text((*entry.prefix, *at.steps))
        bundle.errors.append((entry.source, FormatError(message, None, path, entry.number)))
    EventConversion(bundle).take_all(events, "a recording of kwok")


def is_patch(entry: BundleEntry) -> bool:
    """Return whether a document is a change recorded by kwok."""
    return entry.kind == KIND and str(entry.value.get("apiVersion", "")).startswith(_GROUP)


def _events(patches: list[BundleEntry], report: Report) -> Iterator[RecordedEvent]:
    for entry in patches:
        at = At(report, None, entry)
        read = _PATCH(entry.value, at)
        if read is None:
            continue
        template = read.get("template")
        if read["method"] != "delete" and not isinstance(template, dict):
            at.child("template").error(f"template is missing: the object to {read['method']}, or its changes")
            continue
        yield _event(entry, read, template or {})


def _event(entry: BundleEntry, read: dict[str, Any], template: dict[str, Any]) -> RecordedEvent:
    resource, target, method = read["resource"], read["target"], read["method"]
    group = resource.get("group", "")
    # In the summary, a kind that is not read is named by its resource.
    kind = _KINDS.get((group, resource["resource"]), resource["resource"])
    named = {"name": target["name"], **({"namespace": target["namespace"]} if "namespace" in target else {})}
    version = f"{group}/{resource['version']}".lstrip("/")
    whole: dict[str, Any] = {"apiVersion": version, "kind": kind, "metadata": named}
    key = document_key(whole)
    origin = BundleEntry({}, kind, entry.source, entry.number, (*entry.prefix, "template"))
    document = template
    if method == "delete":
        document = whole
    elif method == "create":
        metadata = template.get("metadata")
        document = {**whole, **template}
        document["metadata"] = {**named, **metadata} if isinstance(metadata, dict) else named
        document["kind"] = template.get("kind", kind)
    seconds = int(read.get("duration", 0)) / 10**9
    return RecordedEvent(seconds, _ACTIONS[method], document, origin, key)
