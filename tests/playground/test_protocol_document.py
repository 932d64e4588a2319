"""docs/protocol.md tells what the server does."""

from __future__ import annotations

import re
from pathlib import Path

from playground.live import modules  # noqa: F401 - registers the commands
from playground.live.closures import CLOSED
from playground.live.commands import COMMANDS
from playground.live.consumer import POLICY_VIOLATION
from playground.live.errors import CODES
from playground.management.commands.protocol_document import HEADING, written
from playground.panels.cycle import PARTS
from playground.protocol.notifications import PUSHED

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "protocol.md").read_text()
LIVE = ROOT / "playground" / "live"
SOCKET = ROOT / "static" / "js" / "lib" / "socket.ts"


def documented() -> dict[str, str]:
    return dict(HEADING.findall(TEXT))


def test_every_command_is_documented_and_no_other() -> None:
    """A client author finds each command, and none that is not there."""
    assert set(documented()) == set(COMMANDS)


def test_the_fields_of_every_request_are_written_from_its_struct() -> None:
    """`manage.py protocol_document` leaves the document as it is, and corrects what differs."""
    assert written(TEXT) == TEXT
    wrong = '### `run.start` `{"source"?, "config": {}, "speed"}` → '
    assert written("### `cycle.find` `{}` → ").startswith('### `cycle.find` `{"source", "conditions", ')
    assert written(wrong) == '### `run.start` `{"source", "config"?: {}}` → '


def test_every_error_is_documented_and_no_other() -> None:
    """The table of errors is the server's table."""
    table = TEXT[TEXT.index("## Errors") :]
    assert set(re.findall(r"^\| `([a-z.-]+)` \|", table, re.MULTILINE)) == set(CODES)


def test_every_push_is_documented_and_has_a_type() -> None:
    """What the server says unasked is what the document lists, and what the page's modules may listen to."""
    section = TEXT[TEXT.index("## Pushed") : TEXT.index("## Errors")]
    reported = set(re.findall(r'^- `\["([a-z.]+)", null', section, re.MULTILINE))
    sources = "".join(path.read_text() for path in LIVE.glob("**/*.py"))
    assert reported == set(re.findall(r'\.push\(\s*"([a-z.]+)"', sources)) == set(PUSHED)


def test_every_close_code_of_ours_is_documented() -> None:
    """A connection is closed with 1008 or 4001 only; what uvicorn adds stands beside it."""
    table = TEXT[TEXT.index("## Ends") :]
    source = (LIVE / "consumer.py").read_text()
    assert set(re.findall(r"\.close\((\w*)\)", source)) == {"", "POLICY_VIOLATION", "CLOSED"}
    codes = {str(POLICY_VIOLATION), "1009", "1012", str(CLOSED)}
    assert set(re.findall(r"^\| (\d{4}) \|", table, re.MULTILINE)) == codes


def test_the_commands_that_are_not_repeated_are_documented() -> None:
    """Our client repeats no more than others are reported to, and nothing that answers a new address."""
    once = re.search(r"const ONCE = new Set\(\[(.*?)\]\)", SOCKET.read_text(), re.DOTALL)
    assert once
    names = set(re.findall(r'"([a-z.]+)"', once[1]))
    making = {name for name, row in COMMANDS.items() if "url" in getattr(row.answers, "__annotations__", ())}
    assert making <= names <= set(COMMANDS)
    listed = TEXT[TEXT.index("may repeat what was not answered") :]
    assert names == set(re.findall(r"`([a-z.]+)`", listed))


def test_every_part_of_a_cycle_is_documented() -> None:
    """Below `cycle.get` each part that can be asked for has its line."""
    section = TEXT.partition("### `cycle.get`")[2].partition("\n### ")[0]
    assert set(re.findall(r"^    ([a-z]+) ", section, re.MULTILINE)) == set(PARTS)
