"""docs/cache.md: its commands print what it says they print, and it names everything that can be chosen."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import examples
from scheduler_core.settings.settings import CACHE_MODES, EQUIVALENCE_CLASSES, STALE_WRITES

REPOSITORY = Path(__file__).parents[3]
TEXT = (REPOSITORY / "docs" / "cache.md").read_text(encoding="utf-8")
COMMAND = "    $ python -m scheduler_core "


def commands() -> list[tuple[str, list[str]]]:
    """Return each command with the lines that are printed below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"(?:^    .*\n)+", TEXT, re.MULTILINE):
        if block.startswith(COMMAND):
            first, *lines = block.splitlines()
            found.append((first.removeprefix(COMMAND), [line.removeprefix("    ") for line in lines]))
    return found


@pytest.mark.parametrize(("command", "printed"), commands())
def test_a_command_prints_what_the_primer_says(
    command: str, printed: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run from the repository it succeeds, and the lines that are shown are among its own, in order."""
    monkeypatch.chdir(REPOSITORY)
    assert main(shlex.split(command)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line in printed] == printed


def test_the_primer_names_every_choice() -> None:
    """No mode, definition of a class, remedy or shipped scenario is left out, and no other is named."""
    for choice in (*CACHE_MODES, *EQUIVALENCE_CLASSES, *STALE_WRITES):
        assert re.search(rf'`(?:\w+: )?"?{re.escape(choice)}"?`', TEXT), choice
    table = TEXT[TEXT.index("## Six scenarios") :]
    named = re.findall(r"^\| `(cache-[\w-]+)`", table, re.MULTILINE)
    assert named == [example.slug for example in examples() if example.claims]
    assert len(named) == 6
