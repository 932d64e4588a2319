"""Questions about a run that are asked often: ``questions.sql``, each after its name and its words."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class PreparedQuestion(Struct, frozen=True):
    """A question by its name on the command line, in words, and as SQL."""

    name: str
    text: str
    sql: str


def _read(block: str) -> PreparedQuestion:
    head, _, sql = block.strip().partition("\n")
    name, _, text = head.removeprefix("-- ").partition(": ")
    return PreparedQuestion(name, text, sql)


_BLOCKS = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";")
QUESTIONS = tuple(map(_read, filter(str.strip, _BLOCKS)))
