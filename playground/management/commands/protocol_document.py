"""``manage.py protocol_document``: write the requests of docs/protocol.md as the commands declare them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playground.calls.requests import RequestField, fields_of
from playground.live import modules  # noqa: F401 - registers the commands
from playground.live.commands import COMMANDS
from playground.management.command import PlainCommand

TARGET = Path(__file__).parents[3] / "docs" / "protocol.md"
HEADING = re.compile(r"^### `([a-z.]+)` `\{(.*?)\}`(?= →)", re.MULTILINE)
_NAMED = re.compile(r', (?=")')
_FIELD = re.compile(r'"(\w+)"\??(.*)')


class Command(PlainCommand):
    help = "Write the fields in the headings of docs/protocol.md from the requests that commands declare."

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file with its headings as they are declared."""
        TARGET.write_text(written(TARGET.read_text()))


def written(text: str) -> str:
    """Return the document with the fields of each request; what it says of a field's values stays."""
    return HEADING.sub(lambda found: f"### `{found[1]}` `{{{_fields(found[1], found[2])}}}`", text)


def _fields(command: str, documented: str) -> str:
    """Return the fields of a request in the document's order, then those that it lacks, ``source`` first."""
    said, declared = dict(_said(documented)), fields_of(COMMANDS[command].takes)
    new = sorted(declared.keys() - said.keys(), key=lambda name: (name != "source", [*declared].index(name)))
    order = [*(name for name in said if name in declared), *new]
    return ", ".join(f"{_key(declared[name])}{said.get(name, '')}" for name in order)


def _key(field: RequestField) -> str:
    return f'"{field.name}"{"" if field.required else "?"}'


def _said(documented: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a heading, with what it says of their values."""
    depth, text = 0, ""
    for part in _NAMED.split(documented):
        text = f"{text}, {part}" if depth else part
        depth = text.count("{") + text.count("[") - text.count("}") - text.count("]")
        if not depth and (found := _FIELD.fullmatch(text)):
            yield found[1], found[2]
