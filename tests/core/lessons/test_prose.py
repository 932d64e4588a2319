"""The texts of lessons: facts are found in one pass, and too much of anything is refused with its line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from playground.courseware.expression import FactError
from playground.courseware.prose import (
    BOUNDS,
    LONGEST,
    MOST_FACTS,
    excess,
    facts_in,
    filled,
    lines_of_facts,
    numerals,
)
from tests.core.lessons.data import STOP, refused
from tests.costs import growth

HOSTILE = ("{{", "{{ a ", "}}", "{", "{{}", "{{ a }}", "`", "```", "1\n", "{{\n", "``", "` 1", "[", "![")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("a {{ b }} c {{d}}", ["b", "d"]),
        ("{{ a\nb }}", ["a\nb"]),
        ("{{ {{ a }} }}", ["{{ a"]),
        ("{{}} }}", ["}}"]),
        ("{{ a }", []),
        ("{{{ a }}}", ["{ a"]),
        ("}} {{", []),
    ],
)
def test_a_fact_ends_with_the_first_braces(text: str, facts: list[str]) -> None:
    """What is not closed is no fact."""
    assert facts_in(text) == facts


def test_facts_and_numbers_have_their_lines() -> None:
    """Counted from 0, also after facts and code of several lines."""
    text = "one\n{{ a\n}} 2\n```\n3\n```\n`4x` {{ b }}\n5"
    assert [*lines_of_facts(text)] == [(1, "a"), (6, "b")]
    assert [*numerals(text)] == [(2, "2"), (7, "5")]
    assert filled("{{ a }}, {{ b }}.", {"a": 1, "b": "x"}.__getitem__) == "1, x."


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("read", [facts_in, lines_of_facts, numerals, excess])
def test_a_text_is_read_in_one_pass(part: str, read: Callable[[str], object]) -> None:
    """Four times the text takes about four times as long, not sixteen."""
    short, long = (part * (size // len(part)) for size in (20_000, 80_000))
    assert not growth(lambda: list(read(short)), lambda: list(read(long)), 9, 0.036)  # type: ignore[call-overload]


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.character)
def test_markdown_is_bounded(bound: object) -> None:
    """By the number of what a renderer looks for the end of; the finding names line and remedy."""
    character, most = bound.character, bound.most  # type: ignore[attr-defined]
    line = character * most
    assert not [*excess(f"a\n{line}\nb")]
    [(at, message)] = excess(f"a\nb\n{line}{character} c")
    assert at == 2 and f"at most {most:,}" in message and ":" in message
    found = refused(stops_01_which_md=f"{STOP}\n{line}{character}\n")
    assert found.line == len(STOP.splitlines()) + 2 and "at most" in found.message


def test_a_text_and_its_facts_are_bounded() -> None:
    """In characters, before facts are put in and after, and in the number of facts."""
    [(line, message)] = excess("a\n" * LONGEST)
    assert (line, "divide it between stops" in message) == (LONGEST // 2, True)
    [(line, message)] = excess("\n".join(["{{ a }}"] * (MOST_FACTS + 1)))
    assert (line, "at most 60 facts" in message) == (MOST_FACTS, True)
    with pytest.raises(FactError, match="with its facts put in, a text has at most 20,000 characters"):
        filled("{{ a }} " * 30, lambda _: "x" * 1_000)
    assert "at most 20,000 characters" in refused(notes_md="x" * (LONGEST + 1)).message
