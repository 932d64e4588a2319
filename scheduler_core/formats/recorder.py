"""sched-recorder's files: JSON Lines of ``{"time", "event", "resource"}``, as events of a recording.

Objects that already exist are recorded first, as Adds: they were created before the first event, or are
recorded within one second of it. A truncated last line, where the recorder was stopped, is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from scheduler_core.formats.bundle import Bundle, BundleEntry, SourceText, tally_of
from scheduler_core.formats.json_reader import read_json
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.recorded_cluster import EventConversion, RecordedEvent
from scheduler_core.kubernetes.keys import document_key
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import kind_of, path_text, show

_ACTIONS: dict[str, Literal["add", "update", "delete"]] = {
    "Add": "add",
    "Update": "update",
    "Delete": "delete",
}
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", re.ASCII)
_SECOND = 10**9  # nanoseconds
_MAX_PROBLEMS = 50


def read_recorder(bundle: Bundle, limits: Limits) -> None:
    """Convert the bundle's records to initial objects and a Scenario; add problems to the bundle."""
    records = [entry for entry in bundle.entries if is_record(entry.value)]
    if not records and not bundle.recordings:
        return
    taken = {id(entry) for entry in records}
    bundle.entries[:] = [entry for entry in bundle.entries if id(entry) not in taken]
    for source in bundle.recordings:
        records += _lines(source, bundle, limits)
    timed = [(time, entry) for entry in records if (time := _checked(entry, bundle)) is not None]
    if len(timed) > limits.operations:
        bundle.errors.append((timed[0][1].source, FormatError(f"more than {limits.operations:,} events")))
        return
    EventConversion(bundle).take_all(_events(timed), "a recording of sched-recorder")


def is_record(value: Any) -> bool:
    """Return whether a document is a record of sched-recorder."""
    return isinstance(value, dict) and "kind" not in value and "event" in value and "resource" in value


def _fail(bundle: Bundle, source: SourceText | None, error: FormatError) -> None:
    if len(bundle.errors) < _MAX_PROBLEMS:
        bundle.errors.append((source, error))


def _lines(source: SourceText, bundle: Bundle, limits: Limits) -> Iterator[BundleEntry]:
    """Yield the records of a file, each numbered by its line."""
    tally = tally_of(bundle, limits)
    lines = source.text.split("\n")
    last = max(number for number, line in enumerate(lines, 1) if line.strip())
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values = list(read_json(line, limits, tally))
        except FormatError as error:
            if number == last and number > 1 and _truncated(line):
                message = "the last line is truncated and ignored"
                bundle.notes.append((BundleEntry({}, source=source, number=number), message))
                return
            _fail(bundle, source, FormatError(error.message, number))
            if "more than" in error.message:
                return
            continue
        for _, value in values:
            if is_record(value):
                yield BundleEntry(value, "", source, number)
            else:
                message = "a line of a recording must be an object with time, event and resource"
                _fail(bundle, source, FormatError(f"{message}, not {kind_of(value)}", number))


def _truncated(line: str) -> bool:
    """Return whether a text is a truncated JSON object."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        rest = line[error.pos :].strip()
        cut = re.fullmatch(r'[-\w.+\\]*|".*', rest, re.DOTALL) is not None
        return line.lstrip().startswith("{") and (cut or not rest)
    except RecursionError:
        pass
    return False


def _checked(entry: BundleEntry, bundle: Bundle) -> int | None:
    """Return a record's time in nanoseconds; return None after reporting errors in the record."""
    value = entry.value
    wrong: list[tuple[tuple[str, ...], str]] = []
    time = _nanoseconds(value.get("time"))
    if time is None:
        like = "2024-10-01T12:00:00.123456789Z"
        wrong.append((("time",), f"must be a time such as {like}, not {show(value.get('time'))}"))
    event = value["event"]
    if not isinstance(event, str) or event not in _ACTIONS:
        hint = did_you_mean(event, _ACTIONS) if isinstance(event, str) else ""
        wrong.append((("event",), f"must be Add, Update or Delete, not {show(event)}{hint}"))
    resource = value["resource"]
    if not isinstance(resource, dict):
        wrong.append((("resource",), f"must be an object, not {kind_of(resource)}"))
    else:
        metadata = resource.get("metadata")
        named = isinstance(metadata, dict) and isinstance(metadata.get("name"), str) and metadata["name"]
        if not isinstance(resource.get("kind"), str) or not resource["kind"]:
            wrong.append((("resource", "kind"), "kind is missing, such as Pod or Node"))
        if not named:
            wrong.append((("resource", "metadata", "name"), "name is missing"))
    for path, message in wrong:
        _fail(
            bundle,
            entry.source,
            FormatError(message, None, path_text((*entry.prefix, *path)), entry.number),
        )
    return None if wrong else time


def _nanoseconds(value: Any) -> int | None:
    """Parse an RFC 3339 time with up to nine fractional digits, as nanoseconds."""
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    try:
        whole = datetime.fromisoformat(match[1] + match[3]).timestamp()
    except (ValueError, OverflowError):
        return None
    return int(whole) * _SECOND + int((match[2] or "").ljust(9, "0"))


def _events(timed: list[tuple[int, BundleEntry]]) -> Iterator[RecordedEvent]:
    ordered = sorted(timed, key=lambda row: row[0])
    start = ordered[0][0] if ordered else 0
    leading = True
    seen = set()
    for time, entry in ordered:
        resource = entry.value["resource"]
        action = _ACTIONS[entry.value["event"]]
        leading = leading and action == "add"
        key = document_key(resource)
        created = _nanoseconds(resource["metadata"].get("creationTimestamp"))
        old = (created is not None and created <= start) or (leading and time - start <= _SECOND)
        origin = BundleEntry({}, key[0], entry.source, entry.number, (*entry.prefix, "resource"))
        initial = action == "add" and old and key not in seen
        seen.add(key)
        yield RecordedEvent((time - start) / _SECOND, action, resource, origin, key, initial)
