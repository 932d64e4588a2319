"""``manage.py browser_types``: write the protocol's types for the browser's modules."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playground import protocol
from playground.calls.requests import fields_of
from playground.live import modules  # noqa: F401 - registers the commands
from playground.live.commands import COMMANDS, SocketCommand
from playground.management.command import PlainCommand
from playground.protocol import typescript
from playground.protocol.notifications import PUSHED

TARGET = Path(__file__).parents[3] / "static" / "js" / "lib" / "protocol.d.ts"
HEADER = "// The frames of docs/protocol.md as types, by `manage.py browser_types`; not committed."


class Command(PlainCommand):
    help = "Write static/js/lib/protocol.d.ts from playground/protocol and the table of commands."

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file, unless it is there already."""
        text = "\n\n".join([HEADER, *_declarations()]) + "\n"
        if not TARGET.exists() or TARGET.read_text() != text:
            TARGET.write_text(text)


def _declarations() -> Iterator[str]:
    names = (found.name for found in pkgutil.iter_modules(protocol.__path__, f"{protocol.__name__}."))
    yield from typescript.declarations(map(importlib.import_module, names))
    rows = (f"  {_asked(row)} answers: {typescript.text(row.answers)} }};" for row in COMMANDS.values())
    yield _table("Commands", "By command: what it is asked, and what it answers.", rows)
    pushed = (f'  "{name}": {typescript.text(kind)};' for name, kind in PUSHED.items())
    yield _table("Pushed", "By name: what the server pushes unasked.", pushed)


def _table(name: str, about: str, rows: Iterator[str]) -> str:
    return "\n".join([f"/** {about} */", f"export interface {name} {{", *rows, "}"])


def _asked(row: SocketCommand) -> str:
    """Return the beginning of a command's row, up to its answer."""
    fields = [
        f"{name}{'' if field.required else '?'}: {typescript.text(field.type, alias=False)}"
        for name, field in fields_of(row.takes).items()
    ]
    return f'"{row.name}": {{ asks: {{ {"; ".join(fields)} }};'
