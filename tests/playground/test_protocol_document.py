"""docs/protocol.md tells what the server does."""

from __future__ import annotations

import re
from pathlib import Path

from playground.live import modules  # noqa: F401 - registers the commands
from playground.live.commands import COMMANDS, OPTIONAL
from playground.live.errors import CODES
from playground.panels.cycle import PARTS

TEXT = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
HEADING = re.compile(r"^### `([a-z.]+)` `\{(.*?)\}` →", re.MULTILINE)


def documented() -> dict[str, str]:
    return dict(HEADING.findall(TEXT))


def test_every_command_is_documented_and_no_other() -> None:
    """A client author finds each command, and none that is not there."""
    assert set(documented()) == set(COMMANDS)


def test_every_field_is_documented_with_whether_it_may_be_left_out() -> None:
    """A command's heading names the fields that the server checks."""
    for name, row in COMMANDS.items():
        fields = {**row.fields, **({row.source: ""} if row.source else {})}
        for field, kind in fields.items():
            mark = "?" if kind.endswith(OPTIONAL) else ""
            assert f'"{field}"{mark}' in "{" + documented()[name], (name, field)


def test_every_error_is_documented_and_no_other() -> None:
    """The table of errors is the server's table."""
    table = TEXT[TEXT.index("## Errors") :]
    assert set(re.findall(r"^\| `([a-z.-]+)` \|", table, re.MULTILINE)) == set(CODES)


def test_every_part_of_a_cycle_is_documented() -> None:
    """`cycle.get` lists the parts that can be asked for."""
    listed = re.search(r'"parts": \[(.*?)\]', TEXT)
    assert listed and set(re.findall(r'"(\w+)"', listed[1])) == set(PARTS)
