"""Files to documents: detects the syntax of a text, and collects its manifests.

The syntax is detected by content, never by a file's name. Lists (``kind: List``, ``PodList``, a JSON array)
are expanded; each document keeps its origin.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from scheduler_core.formats.archive import read_archive
from scheduler_core.formats.flags import Flag, is_flag_file, read_flags
from scheduler_core.formats.folder import Folder
from scheduler_core.formats.json_reader import read_json
from scheduler_core.formats.limits import FormatError, Limits, too_large
from scheduler_core.formats.paste import cleaned
from scheduler_core.formats.skipped_kinds import Skipped, ValueTally
from scheduler_core.formats.snapshot import is_snapshot, read_snapshot
from scheduler_core.formats.text import to_text
from scheduler_core.formats.yaml_documents import read_documents
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.readers import Steps, kind_of, path_text
from scheduler_core.kubernetes.support import part_of
from scheduler_core.progress import Watch, unwatched

File = tuple[str, bytes | str] | Folder  # name and content, or a directory's files


class SourceText(Struct):
    """One file's text.

    ``syntax`` is ``yaml``, ``json``, ``csv``, ``flags``, or ``lines``: a JSON document per line. What is
    wrong in one file of a directory or an archive is left out; the others are read.
    """

    name: str | None
    text: str
    syntax: str = "yaml"
    is_one_of_many: bool = False


class BundleEntry(Struct):
    """One manifest and its place: the document's number in its source, and the path inside it.

    In a file of lines, the number is that of the line. ``origins`` are the places of the operations of a
    Scenario that was created from a recording.
    """

    value: dict[str, Any]
    kind: str = ""
    source: SourceText | None = None
    number: int | None = None
    prefix: Steps = ()
    origins: tuple[BundleEntry, ...] = ()


class Bundle(Struct):
    """The contents of the files, and the errors in reading them."""

    entries: list[BundleEntry] = field(default_factory=list)
    tables: list[tuple[SourceText, list[str]]] = field(default_factory=list)  # CSV files, with their header
    errors: list[tuple[SourceText | None, FormatError]] = field(default_factory=list)
    warnings: list[tuple[SourceText, str]] = field(default_factory=list)
    recordings: list[SourceText] = field(default_factory=list)  # files of sched-recorder, not read yet
    notes: list[tuple[BundleEntry, str]] = field(default_factory=list)  # messages about a place
    flags: list[tuple[SourceText, Flag]] = field(default_factory=list)  # of flag files
    tally: ValueTally | None = None

    def sources(self) -> list[SourceText]:
        """Return the files that have entries or errors, each once."""
        found = [entry.source for entry in self.entries] + [source for source, _ in self.errors]
        return list({id(source): source for source in found if source is not None}.values())


_LIST_KIND = re.compile(r"([A-Za-z]*)List")
_PRINTED = re.compile(r"(NAMESPACE|NAME)\s+[A-Z]{2}.*")
_DESCRIBED = re.compile(r"Name:\s{2,}\S+")  # and more such lines, with wide gaps
_FAILED = re.compile(
    r"(error: |Error from server|Unable to connect|The connection to the server|No resources found).*"
)
_FORM = re.compile(r"--\S+\nContent-Disposition: form-data", re.IGNORECASE)
_CSV_HEADER = re.compile(r"(sn|name)(,[a-z_]+){0,30},(cpu_milli|memory_mib)(,[a-z_]+){0,30}")


def read_files(files: Sequence[File], limits: Limits, watch: Watch = unwatched) -> Bundle:
    """Read all files. Problems are collected, so that one broken file does not hide those of another."""
    bundle = Bundle()
    if len(files) > limits.files:
        remedy = "name their directory instead, pack them as .tar.gz or .zip, or join them with --- between"
        bundle.errors.append((None, FormatError(f"more than {limits.files} files: {remedy}")))
        return bundle
    left = limits.size
    for file in files:
        for source, text in _texts(file, bundle, limits):
            source.text = text
            for source.text, said in cleaned(text):
                bundle.warnings.append((source, said))
            left -= len(text)
            try:
                if left < 0:
                    raise too_large(limits, "all files together are ")
                _read_source(source, bundle, limits, watch)
            except FormatError as error:
                bundle.errors.append((source, error))
    return bundle


def _texts(file: File, bundle: Bundle, limits: Limits) -> Iterator[tuple[SourceText, str]]:
    """Yield a file's texts, several of an archive or a directory; add errors and notes to the bundle."""
    named = SourceText((file.name if isinstance(file, Folder) else file[0]) or None, "")
    try:
        folder = opened(file, limits)
        if folder is None and not isinstance(file, Folder):
            yield named, to_text(file[1], limits)
            return
    except FormatError as error:
        bundle.errors.append((named, error))
        return
    assert folder is not None
    found = False
    for path, text in folder.texts(limits):
        found = True
        source = SourceText(folder.path_of(path), "", is_one_of_many=True)
        if isinstance(text, FormatError):
            bundle.errors.append((source, text))
        else:
            yield source, text
    if not found:
        looked = ", ".join(folder.notes()) or "it is empty"
        bundle.errors.append((named, FormatError(f"it contains no manifest: {looked}")))
        return
    bundle.notes += [(BundleEntry({}, source=named), note) for note in folder.notes()]


def opened(file: File, limits: Limits) -> Folder | None:
    """Return the files of a directory or an archive, None for a single text. Raises FormatError."""
    if isinstance(file, Folder):
        return file
    name, data = file
    return read_archive(name, data, limits) if isinstance(data, bytes) else None


def tally_of(bundle: Bundle, limits: Limits) -> ValueTally:
    """Return the bundle's tally, which counts its values and raises FormatError if there are too many."""
    if bundle.tally is None:
        bundle.tally = ValueTally(limits)
    return bundle.tally


def _read_source(source: SourceText, bundle: Bundle, limits: Limits, watch: Watch) -> None:
    text = source.text
    stripped = text.lstrip()
    if not stripped:
        raise FormatError("the input is empty: paste manifests as YAML or JSON")
    header, first = stripped.split("\n", 1)[0].strip(), len(text) - len(stripped)
    line = text.count("\n", 0, first) + 1
    if _CSV_HEADER.fullmatch(header):
        source.syntax = "csv"
        bundle.tables.append((source, header.split(",")))
        return
    if _PRINTED.match(header):
        raise FormatError("this is kubectl's table output: add -o yaml to the command", line)
    if _DESCRIBED.fullmatch(header):
        raise FormatError("this is the output of kubectl describe: paste kubectl get … -o yaml", line)
    if _FAILED.match(header):
        raise FormatError(f"this is a message of kubectl, not a manifest: {header[:200]}", line)
    if _FORM.match(stripped):
        raise FormatError(
            "this is a form with files: send it as multipart/form-data, or send only the file", 1
        )
    if is_flag_file(text):
        source.syntax = "flags"
        bundle.flags += [(source, flag) for flag in read_flags(text)]
        return
    if _is_recording(header):
        source.syntax = "lines"
        bundle.recordings.append(source)
        return
    tally = tally_of(bundle, limits)
    if stripped[0] in "{[" and not stripped.startswith("{{"):  # which begins a template, not JSON
        source.syntax = "json"
        try:
            documents = list(read_json(text, limits, tally, watch))
        except FormatError as error:
            if "not valid JSON" not in error.message:
                raise
            # YAML in flow style begins like JSON; if it is not YAML either, the JSON error is better.
            try:
                documents = list(read_documents(text, limits, tally, watch))
            except FormatError:
                raise error from None
            source.syntax = "yaml"
    else:
        documents = list(read_documents(text, limits, tally, watch))
    before = len(bundle.entries)
    documents = list(_after_events(documents, source, bundle))
    for number, value in documents:
        if is_snapshot(value):
            found = _snapshot(value, source, number, bundle)
        else:
            found = _entries(value, source, number)
        for entry in found:
            bundle.entries.append(entry)
            if len(bundle.entries) > limits.documents:
                raise FormatError(f"more than {limits.documents:,} manifests")
    if len(bundle.entries) == before and not documents:
        raise FormatError("the input has no documents: paste manifests as YAML or JSON")


_EVENTS = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")


def _after_events(
    documents: Sequence[tuple[int, Any]], source: SourceText, bundle: Bundle
) -> Iterator[tuple[int, Any]]:
    """Yield the documents, for events of a watch the objects as they are after the last of them."""
    if not any(_is_event(value) for _, value in documents):
        yield from documents
        return
    objects: dict[tuple[str, ...], tuple[int, Any]] = {}
    for number, value in documents:
        if not _is_event(value):
            yield number, value
        elif value["type"] in ("ADDED", "MODIFIED", "DELETED"):
            obj = value["object"]
            key = tuple(str(part_of(obj, *path)) for path in _IDENTITY)
            objects.pop(key, None)
            if value["type"] != "DELETED":
                objects[key] = number, obj
    bundle.warnings.append((source, "events of a watch: the objects are read as they are after the last one"))
    yield from objects.values()


_IDENTITY = (("kind",), ("metadata", "namespace"), ("metadata", "name"))


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict) or "kind" in value or not isinstance(value.get("object"), dict):
        return False
    return value.get("type") in _EVENTS


def _is_recording(line: str) -> bool:
    """Return whether a text's first line is a record of sched-recorder."""
    if not line.startswith("{") or '"event"' not in line or '"resource"' not in line:
        return False
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return "kind" not in value and "event" in value and "resource" in value


def _snapshot(
    value: dict[str, Any], source: SourceText, number: int, bundle: Bundle
) -> Iterator[BundleEntry]:
    try:
        items, notes = read_snapshot(value)
    except FormatError as error:
        raise FormatError(error.message, error.line, error.path, number) from None
    for item, place in items:
        yield BundleEntry(item, str(item.get("kind")), source, number, place)
    summary = f"a snapshot of kube-scheduler-simulator: {len(items)} objects"
    bundle.notes += [(BundleEntry({}, source=source), note) for note in (summary, *notes)]


def _entries(value: Any, source: SourceText, number: int) -> Iterator[BundleEntry]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _item(item, source, number, (index,), {})
        return
    if not isinstance(value, dict):
        raise FormatError(
            f"a manifest must be an object with apiVersion, kind and metadata, not {kind_of(value)}",
            document=number,
        )
    kind = value.get("kind")
    match = _LIST_KIND.fullmatch(kind) if isinstance(kind, str) else None
    items = value.get("items")
    if match and (isinstance(items, list) or items is None):
        # Items of a typed list (PodList) may omit what the list's kind implies.
        implied = (
            {"apiVersion": value.get("apiVersion", "v1"), "kind": match.group(1)} if match.group(1) else {}
        )
        for index, item in enumerate(items or ()):
            yield from _item(item, source, number, ("items", index), implied)
        return
    if match and (not match.group(1) or match.group(1) in KINDS):
        raise FormatError(f"items must be a list, not {kind_of(items)}", path="items", document=number)
    yield BundleEntry(value, kind if isinstance(kind, str) else "", source, number)


def _item(
    item: Any, source: SourceText, number: int, prefix: Steps, implied: dict[str, Any]
) -> Iterator[BundleEntry]:
    if not isinstance(item, dict):
        raise FormatError(
            f"a manifest must be an object with apiVersion, kind and metadata, not {kind_of(item)}",
            path=path_text(prefix),
            document=number,
        )
    value = item if not implied or "kind" in item else {**implied, **item}
    if isinstance(item, Skipped):
        value = Skipped(value, item.reason)
    nested = value.get("items")
    kind = value.get("kind")
    if kind == "List" and isinstance(nested, list):
        for index, inner in enumerate(nested):
            yield from _item(inner, source, number, (*prefix, "items", index), {})
        return
    yield BundleEntry(value, kind if isinstance(kind, str) else "", source, number, prefix)
