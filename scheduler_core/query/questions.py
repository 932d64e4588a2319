"""Questions about a run that are asked often: ``questions.sql``, each after its name and its words."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct


class Question(Struct, frozen=True):
    """A question by its name on the command line, in words, and as SQL."""

    name: str
    text: str
    sql: str


_EACH = re.compile(r"-- ([a-z-]+): (.+)\n([^;]+);")

QUESTIONS = tuple(
    Question(*found)
    for found in _EACH.findall(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
)
