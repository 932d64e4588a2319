"""The texts of a lesson: facts put in where ``{{ … }}`` stands, and no number that is not a fact."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from scheduler_core.authoring.lessons.expression import FactError, ResourceAmount

_FACT = re.compile(r"\{\{(.+?)\}\}", re.DOTALL)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ONLY_NUMBER = re.compile(r"`[\s\d.,%+-]*`")
_NUMERAL = re.compile(r"\d+")
MOST_FACTS = 60  # in one text


def facts_in(text: str) -> list[str]:
    """Return the expressions of a text, in order."""
    return [match[1].strip() for match in _FACT.finditer(text)]


def filled(text: str, fact: Callable[[str], Any]) -> str:
    """Return a text with each fact's value in its place. Raises FactError."""
    return _FACT.sub(lambda match: shown(fact(match[1].strip())), text)


def shown(value: Any) -> str:
    """Return a value as a text shows it. Raises FactError for one that no text shows."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, ResourceAmount):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(value, str):
        return value or "none"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return _listed(value)
    raise FactError("a text shows a number, a name or a list of names: name a field of the fact")


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:]))) or "none"


def numerals(text: str) -> Iterator[tuple[int, str]]:
    """Yield line, from 0, and digits of each number that is neither a fact nor part of a quoted name."""
    bare = _CODE.sub(_quoted, _FACT.sub(_blank, text))
    for match in _NUMERAL.finditer(bare):
        yield bare.count("\n", 0, match.start()), match[0]


def _quoted(match: re.Match[str]) -> str:
    """Blank a code block, or a name in backticks; a number alone is no name."""
    return match[0] if _ONLY_NUMBER.fullmatch(match[0]) else _blank(match)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
