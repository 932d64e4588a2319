"""docs/running.md against the tables that the settings are made of."""

from __future__ import annotations

import re

from playground.limits import LIMITS
from tests.parts import REPOSITORY

TEXT = (REPOSITORY / "docs" / "running.md").read_text()


def test_every_limit_is_reported() -> None:
    """Each row of the table of limits stands in the page as it is, in the same order, and no other."""
    rows = [f"| `PLAYGROUND_{row.name}` | {row.default:,} | {row.unit} | {row.meaning} |" for row in LIMITS]
    _, _, reported = TEXT.partition("| variable | default | of | bounds |\n| --- | --- | --- | --- |\n")
    assert reported.splitlines() == rows


def test_every_variable_of_the_settings_is_reported() -> None:
    """What the settings read from the environment is in the page's table, and nothing else is."""
    source = (REPOSITORY / "playground" / "settings.py").read_text()
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', source))
    table = TEXT.partition("## Variables")[2].partition("Every bound")[0]
    assert set(re.findall(r"^\| `([A-Z_]+)`", table, re.MULTILINE)) == read
