"""SimKube's traces (format version 2, SimKube 2.0 to 2.7) as initial objects and a Scenario.

A trace is MessagePack of ``{"version", "config", "events", "index", "pod_lifecycles"}``; an event has ``ts``
(UNIX seconds), ``applied_objs`` and ``deleted_objs``. It holds the owners of pods, so controllers run on
it, and no nodes: another file brings them. A pod that the trace saw end gets its ``podstep/run-seconds``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from scheduler_core.formats.bundle import Bundle, BundleEntry
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.recorded_cluster import EventConversion, RawDocument, RecordedEvent
from scheduler_core.kubernetes.keys import document_key
from scheduler_core.kubernetes.readers import Steps, kind_of, path_text, show

VERSION = 2
WHAT = "a trace of SimKube"
RUN_SECONDS = "podstep/run-seconds"
_MAX_PROBLEMS = 50
_KEYS = frozenset(("version", "events"))
_APPLIED, _DELETED = "applied_objs", "deleted_objs"
#: Where the pods of the kinds that end have their annotations.
_TEMPLATES: Mapping[str, Steps] = {
    "Pod": (),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}


def is_trace(value: Any) -> bool:
    """Return whether a document is a trace of SimKube."""
    return isinstance(value, dict) and "kind" not in value and value.keys() >= _KEYS


def read_simkube(bundle: Bundle, limits: Limits) -> None:
    """Convert the bundle's traces to initial objects and a Scenario; add problems to the bundle."""
    traces = [entry for entry in bundle.entries if is_trace(entry.value)]
    if not traces:
        return
    bundle.entries[:] = [entry for entry in bundle.entries if not is_trace(entry.value)]
    for second in traces[1:]:
        bundle.errors.append((second.source, FormatError("a second trace of SimKube: keep one of them")))
    errors = len(bundle.errors)
    events = list(_Trace(traces[0], bundle).events())
    if len(events) > limits.operations:
        text = f"more than {limits.operations:,} objects in the events of a trace"
        bundle.errors.append((traces[0].source, FormatError(text)))
    if len(bundle.errors) == errors:
        EventConversion(bundle).take_all(events, WHAT, controllers=True)


class _Trace:
    """One trace: its checked events, and how long its pods ran."""

    def __init__(self, entry: BundleEntry, bundle: Bundle) -> None:
        self.entry, self.bundle = entry, bundle
        self.ran = _durations(entry.value.get("pod_lifecycles"))

    def events(self) -> Iterator[RecordedEvent]:
        value = self.entry.value
        if value["version"] != VERSION:
            message = f"must be {VERSION}, which SimKube 2 writes, not {show(value['version'])}"
            return self._fail(("version",), message)
        if not isinstance(value["events"], list):
            return self._fail(("events",), f"must be a list, not {kind_of(value['events'])}")
        start: int | None = None
        for index, event in enumerate(value["events"]):
            ts = event.get("ts") if isinstance(event, dict) else None
            if not isinstance(ts, int) or isinstance(ts, bool) or ts < (start or 0):
                self._fail(("events", index, "ts"), "must be UNIX seconds, in the order of time")
                continue
            start = ts if start is None else start
            yield from self._of(event, index, ts - start)
        return None

    def _of(self, event: Mapping[str, Any], index: int, seconds: int) -> Iterator[RecordedEvent]:
        for name in (_APPLIED, _DELETED):
            listed = event.get(name) or []
            if not isinstance(listed, list):
                self._fail(("events", index, name), f"must be a list, not {kind_of(listed)}")
                continue
            for number, document in enumerate(listed):
                place = ("events", index, name, number)
                if not _is_named(document):
                    self._fail(place, "must be an object with apiVersion, kind and metadata.name")
                    continue
                entry = self.entry
                origin = BundleEntry(
                    {}, document["kind"], entry.source, entry.number, (*entry.prefix, *place)
                )
                key = document_key(document)
                if name == _DELETED:
                    yield RecordedEvent(float(seconds), "delete", document, origin, key)
                    continue
                made = self._with_duration(document)
                yield RecordedEvent(float(seconds), "update", made, origin, key, initial=not seconds)

    def _with_duration(self, document: RawDocument) -> RawDocument:
        """Return an object whose pods run as long as the trace saw them run."""
        metadata, kind = document["metadata"], document["kind"]
        owner = f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
        lived = self.ran.get((f"{document.get('apiVersion')}.{kind}", owner))
        if not lived or kind not in _TEMPLATES:
            return document
        from statistics import median  # with decimal and random, which no other format needs

        seconds = max(1, round(median(lived)))
        made = _changed(document, _TEMPLATES[kind], lambda pod: _annotated(pod, RUN_SECONDS, str(seconds)))
        return cast("RawDocument", made)

    def _fail(self, place: Steps, message: str) -> None:
        if len(self.bundle.errors) < _MAX_PROBLEMS:
            path = path_text((*self.entry.prefix, *place))
            error = FormatError(message, None, path, self.entry.number)
            self.bundle.errors.append((self.entry.source, error))


def _is_named(document: Any) -> bool:
    if not isinstance(document, dict) or not isinstance(document.get("metadata"), dict):
        return False
    names = document.get("apiVersion"), document.get("kind"), document["metadata"].get("name")
    return all(isinstance(name, str) and name for name in names)


def _changed(document: Any, steps: Steps, change: Callable[[RawDocument], RawDocument]) -> Any:
    if not isinstance(document, dict):
        return document  # its reader reports that
    if not steps:
        return change(document)
    return {**document, steps[0]: _changed(document.get(str(steps[0])), steps[1:], change)}


def _annotated(pod: RawDocument, name: str, text: str) -> RawDocument:
    metadata = pod.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return {
        **pod,
        "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), name: text}},
    }


def _durations(lifecycles: Any) -> dict[tuple[str, str], list[int]]:
    """Return the seconds that pods ran, by ``(group/version.kind, namespace/name)`` of their owners."""
    out: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in lifecycles if isinstance(lifecycles, list) else ():
        match row:
            case {"gvk": str(gvk), "owner": str(owner), "finished": [*lives]}:
                ends = [life for life in lives if isinstance(life, list) and len(life) == 2]
                out[gvk, owner] += [end - began for began, end in ends if _are_seconds(began, end)]
    return out


def _are_seconds(began: Any, end: Any) -> bool:
    return isinstance(began, int) and isinstance(end, int) and 0 <= began <= end
