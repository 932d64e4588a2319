"""The texts of a lesson: facts put in where ``{{ … }}`` stands, and no number that is not a fact."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from playground.courseware.expression import FactError, ResourceAmount

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ONLY_NUMBER = re.compile(r"`[\s\d.,%+-]*`")
_NUMERAL = re.compile(r"\d+")
MOST_FACTS = 60  # in one text
LONGEST = 20_000  # characters of a text, before and after its facts are put in


class BoundFact(NamedTuple):
    """Where a text binds a fact: from its ``{{`` to after its ``}}``, and the expression between them."""

    start: int
    end: int
    expression: str


class MarkupBound(NamedTuple):
    """How often one text, or one line of it, may have a character of Markdown."""

    character: str
    most: int
    words: str
    of_line: bool = False


BOUNDS = (
    MarkupBound("[", 100, "links, images and other “[”: take some out, or divide the text between stops"),
    MarkupBound("*", 1_000, "“*”: emphasize less, or divide the text between stops"),
    MarkupBound("_", 1_000, "“_”: write names in backticks, or divide the text between stops"),
    MarkupBound("~", 1_000, "“~”: divide the text between stops"),
    MarkupBound("`", 1_000, "backticks: divide the text between stops"),
    MarkupBound("|", 40, "“|” in a line: a table has fewer columns", of_line=True),
    MarkupBound(">", 20, "“>” in a line: quote no quotations of quotations", of_line=True),
)
"""What a text may have of Markdown, beside :data:`LONGEST` and :data:`MOST_FACTS`."""


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


def excess(text: str) -> Iterator[tuple[int, str]]:
    """Yield line, from 0, and what a text has too much of, in words that say what would be right."""
    if len(text) > LONGEST:
        line = text.count("\n", 0, LONGEST)
        yield (
            line,
            f"a text has at most {LONGEST:,} characters, this has {len(text):,}: divide it between stops",
        )
        return
    if text.count("{{") > MOST_FACTS:
        yield _line_of(text, "{{", MOST_FACTS), f"a text has at most {MOST_FACTS} facts, each with one {{{{"
    for bound in BOUNDS:
        if not bound.of_line and text.count(bound.character) > bound.most:
            line = _line_of(text, bound.character, bound.most)
            yield line, f"a text has at most {bound.most:,} {bound.words}"
    for line, of_line in enumerate(text.split("\n")):
        for bound in BOUNDS:
            if bound.of_line and of_line.count(bound.character) > bound.most:
                yield line, f"a text has at most {bound.most:,} {bound.words}"


def _line_of(text: str, part: str, times: int) -> int:
    """Return the line, from 0, of the first occurrence beyond so many."""
    at = -1
    for _ in range(times + 1):
        at = text.index(part, at + 1)
    return text.count("\n", 0, at)


def _bound(text: str) -> Iterator[BoundFact]:
    """Yield the facts of a text in order, each up to the first ``}}`` after its ``{{``."""
    end = 0
    while (start := text.find("{{", end)) >= 0:
        close = text.find("}}", start + 3)
        if close < 0:  # nor does any later one end
            return
        end = close + 2
        yield BoundFact(start, end, text[start + 2 : close].strip())


def _with_each(text: str, put: Callable[[BoundFact], str]) -> str:
    """Return a text with something in the place of each fact."""
    parts, at = [], 0
    for fact in _bound(text):
        parts += [text[at : fact.start], put(fact)]
        at = fact.end
    return "".join([*parts, text[at:]])


def facts_in(text: str) -> list[str]:
    """Return the expressions of a text, in order."""
    return [fact.expression for fact in _bound(text)]


def lines_of_facts(text: str) -> Iterator[tuple[int, str]]:
    """Yield line, from 0, and expression of each fact."""
    line = seen = 0
    for fact in _bound(text):
        line, seen = line + text.count("\n", seen, fact.start), fact.start
        yield line, fact.expression


def filled(text: str, fact: Callable[[str], Any], language: str = "en") -> str:
    """Return a text with each fact's value in its place. Raises FactError, also for what is too long then."""
    made = _with_each(text, lambda bound: shown(fact(bound.expression), language))
    for _, message in excess(made):
        raise FactError(f"with its facts put in, {message}")
    return made


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
    bare = _CODE.sub(_quoted, _with_each(text, lambda fact: _blank(text[fact.start : fact.end])))
    line = seen = 0
    for match in _NUMERAL.finditer(bare):
        line, seen = line + bare.count("\n", seen, match.start()), match.start()
        yield line, match[0]


def _quoted(match: re.Match[str]) -> str:
    """Blank a code block, or a name in backticks; a number alone is no name."""
    return match[0] if _ONLY_NUMBER.fullmatch(match[0]) else _blank(match[0])


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))
