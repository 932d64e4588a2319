"""The texts of a lesson: facts put in where ``{{ … }}`` stands, and no number that is not a fact."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.authoring.lessons.expression import FactError, ResourceAmount

_FACT = re.compile(r"\{\{(.+?)\}\}", re.DOTALL)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ONLY_NUMBER = re.compile(r"`[\s\d.,%+-]*`")
_NUMERAL = re.compile(r"\d+")
MOST_FACTS = 60  # in one text


class FactWords(Struct, frozen=True):
    """How a language says the values of facts."""

    yes: str
    no: str
    none: str
    both: str  # between the last two names of a list
    thousands: str
    decimal: str
    solution: str  # of an edit


LANGUAGES: Mapping[str, FactWords] = {
    "en": FactWords("yes", "no", "none", "and", ",", ".", "A solution changes {}."),
    "de": FactWords("ja", "nein", "keine", "und", ".", ",", "Eine Lösung ändert {}."),
}
"""The languages that lessons are written in or translated to."""


def facts_in(text: str) -> list[str]:
    """Return the expressions of a text, in order."""
    return [match[1].strip() for match in _FACT.finditer(text)]


def filled(text: str, fact: Callable[[str], Any], language: str = "en") -> str:
    """Return a text with each fact's value in its place. Raises FactError."""
    return _FACT.sub(lambda match: shown(fact(match[1].strip()), language), text)


def shown(value: Any, language: str = "en") -> str:
    """Return a value as a text shows it. Raises FactError for one that no text shows."""
    words = LANGUAGES[language]
    if isinstance(value, bool):
        return words.yes if value else words.no
    if isinstance(value, ResourceAmount):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}".replace(",", words.thousands)
    if isinstance(value, float):
        whole, _, rest = f"{value:,.3f}".rstrip("0").rstrip(".").partition(".")
        return words.decimal.join(filter(None, (whole.replace(",", words.thousands), rest)))
    if isinstance(value, str):
        return value or words.none
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return _listed(value, words)
    raise FactError("a text shows a number, a name or a list of names: name a field of the fact")


def _listed(names: list[str], words: FactWords) -> str:
    quoted = [f"`{name}`" for name in names]
    return f" {words.both} ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:]))) or words.none


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
