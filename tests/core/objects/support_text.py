"""The table of supported fields as ``docs/formats.md`` shows it.

``python -m tests.core.objects.support_text`` writes it there anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.readers import Outline, Reader, outline_of
from scheduler_core.kubernetes.support import ApiType
from scheduler_core.kubernetes.support_workload import REPORTED_KINDS
from scheduler_core.schedulers.v1_37.honored_fields import GATED, HONORED

DOCUMENT = Path(__file__).parents[3] / "docs" / "formats.md"
SCHEMAS = DOCUMENT.parents[1] / "static" / "vendor" / "kubernetes.json"
BEGIN, END = "<!-- the fields of the API: begin -->", "<!-- the fields of the API: end -->"


def innermost(read: Reader) -> Outline | None:
    """Return what a reader, or the reader of its items, takes."""
    outline = outline_of(read)
    while outline is not None and outline.item is not None:
        outline = outline_of(outline.item)
    return outline


def walk(read: Reader, path: str, schema: str, parts: dict[str, Any]) -> Iterator[tuple[str, Outline, str]]:
    """Yield every object that a reader reads: its path, its outline, and its type in the schemas if known."""
    outline = innermost(read)
    if outline is None or outline.word != "object":
        return
    yield path, outline, schema
    fields = parts[schema][1] if schema in parts else {}
    for name, row in outline.fields.items():
        if name != "template" or path.count("template") == 0:
            inner = fields[name][1] if name in fields else ""
            yield from walk(row.read, f"{path}.{name}", inner, parts)


def objects() -> list[tuple[str, Outline, str]]:
    """Return every object that a reader of a kind reads."""
    schemas = json.loads(SCHEMAS.read_text()) if SCHEMAS.is_file() else {"kinds": {}, "parts": {}}
    found = []
    for kind, row in KINDS.items():
        versions = schemas["kinds"].get(kind, {})
        found += list(walk(row.read, kind, next(iter(versions.values()), ""), schemas["parts"]))
    return found


def parts() -> list[tuple[ApiType, list[str]]]:
    """Return every type of the API that readers read, in their order, each with the fields that are read."""
    found: dict[str, tuple[ApiType, dict[str, None]]] = {}
    for _, outline, _ in OBJECTS:
        if outline.part is not None:
            found.setdefault(outline.part.type, (outline.part, {}))[1].update(dict.fromkeys(outline.fields))
    return [(part, list(fields)) for part, fields in found.values()]


OBJECTS = objects()
PARTS = parts()


def _code(names: str) -> str:
    return " ".join(f"`{name}`" for name in names.split())


def _reported() -> Iterator[str]:
    yield "| reported | what a cluster that honors it does | honored here |"
    yield "| --- | --- | --- |"
    for part, _ in PARTS:
        for row in part.reported:
            here = ", ".join([*sorted(row.honored_by), *_current(row.field, part.type)]) or "never"
            yield f"| {part.type} `{row.field}` | {row.effect} | {here} |"
    for kind in REPORTED_KINDS.values():
        here = ", ".join(_current(kind.kind, "")) or kind.taken or "never"
        yield f"| kind {kind.kind} | {kind.effect} | {here} |"


def _current(name: str, of: str) -> Iterator[str]:
    if name in HONORED and of != "PodGroupSpec":  # what it has of a group depends on a gate
        yield "v1.37"
    yield from (f"v1.37 with {gate}" for gate, names in GATED.items() if name in names)


def _others(part: ApiType, read: Sequence[str]) -> Iterator[str]:
    partly = {row.field for row in part.reported}
    names = [name for name in read if name not in partly]
    yield (
        f"| {part.type} | {_code(' '.join(names))} | "
        + ("; ".join(f"{_code(names)}: {why}" for why, names in part.irrelevant.items()) or " ").strip()
        + " |"
    )


def rendered() -> str:
    """Return the section between the markers."""
    lines = [*_reported(), "", "| type | implemented | irrelevant |", "| --- | --- | --- |"]
    lines += [line for part, read in PARTS for line in _others(part, read)]
    return "\n".join(lines) + "\n"


def shown() -> str:
    """Return what the document has between the markers."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip("\n") + "\n"


if __name__ == "__main__":
    text = DOCUMENT.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    DOCUMENT.write_text(f"{before}\n\n{rendered()}\n{after}", encoding="utf-8")
