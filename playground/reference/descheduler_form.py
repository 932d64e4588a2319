"""The fields of the descheduler's form: each plugin's arguments by type, from the readers of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.cluster.descheduler.protections import DEFAULT_EVICTOR, EVICTOR_ARGS, SWITCHES
from scheduler_core.cluster.descheduler.strategy import Strategy
from scheduler_core.cluster.descheduler.table import PLUGINS
from scheduler_core.kubernetes.fields_common import LABEL_SELECTOR
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.readers import Field, Outline, Reader, outline_of

Row = dict[str, Any]

UNOFFERED = frozenset((*SWITCHES, "metricsUtilization"))
"""Arguments that are written as YAML alone: those that are deprecated, or not simulated."""

TYPES = {"boolean": "flag", "integer": "integer", "string": "text"}
ITEMS = {"string": "names", "integer": "numbers", "object": "rows"}
LISTS = ("names", "numbers", "rows")
EMPTY: Mapping[str, Any] = {"flag": False, "percentages": {}, "text": "", **{one: [] for one in LISTS}}


def rows() -> list[Row]:
    """Return DefaultEvictor and the plugins as the protocol has them: name, point, words, arguments."""
    evictor = {
        "name": DEFAULT_EVICTOR,
        "point": "filter",
        "words": "which pods may be evicted at all; it always runs",
        "arguments": [*_declared(EVICTOR_ARGS, {})],
    }
    return [evictor, *(_row(one) for one in PLUGINS.values())]


def _row(one: Strategy) -> Row:
    declared = [*_declared(one.args, one.defaults)]
    return {"name": one.name, "point": one.point, "words": one.words, "arguments": declared}


def _declared(read: Reader, defaults: Mapping[str, Any], within: str = "") -> Iterator[Row]:
    """Yield the protocol's ``DeclaredArgument`` of each field, those of an object by their paths."""
    outline = outline_of(read)
    for name, one in outline.fields.items() if outline is not None else ():
        found = outline_of(one.read)
        if name in UNOFFERED or found is None:
            continue
        path = f"{within}{name}"
        if one.read is not LABEL_SELECTOR and found.word == "object":
            yield from _declared(one.read, plain(defaults.get(name)) or {}, f"{path}.")
            continue
        kind = _type(one, found)
        default = plain(defaults.get(name))
        yield {
            "path": path,
            "label": path,
            "type": kind,
            "default": EMPTY.get(kind) if default is None else default,
            "text": "",
            "choices": list(found.words),
            "fields": _fields(found) if kind == "rows" else [],
            "least": 0,
            "most": 0,
            "only": {},
        }


def _type(one: Field, found: Outline) -> str:
    if one.read is LABEL_SELECTOR:
        return "selector"
    item = outline_of(found.item) if found.item is not None else None
    if found.word == "list":
        return ITEMS[item.word] if item is not None else "names"
    if found.word == "map":
        return "percentages"
    return "choice" if found.words else TYPES[found.word]


def _fields(found: Outline) -> list[list[str]]:
    """Return the fields of a list's objects, each with its type."""
    item = outline_of(found.item) if found.item is not None else None
    fields = item.fields if item is not None else {}
    read = ((name, outline_of(one.read)) for name, one in fields.items())
    return [[name, TYPES.get(one.word, "text") if one is not None else "text"] for name, one in read]
