"""Translated lessons: the same facts, stops and choices as in English, and none of an older text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from playground.courseware import (
    Lesson,
    check,
    glossary,
    hint,
    in_language,
    lesson,
    lessons,
    task_of,
    terms_in,
    text_of,
    translations,
)
from playground.courseware.checks import StopQuestion
from playground.courseware.model import Stop
from playground.courseware.prose import LANGUAGES, shown
from playground.courseware.translations import Translation, mark_of, translated
from tests.core.lessons.data import LESSON, made
from tests.core.lessons.data import STOP as ENGLISH

WHOLE = ("first-cycle", "reading-the-message", "idle-or-full", "borrow-and-reclaim", "quota-free-racks-full")
OTHERS = [language for language in LANGUAGES if language != "en"]

HEAD = """translates: "{mark}"
title: Einer passt
question: Welcher Node?
outcomes: [Den Node mit Platz nennen.]
"""
STOP = """---
translates: "{mark}"
title: Welcher Node
question: Welcher Node bekommt `web`?
hints:
- Vergleiche die Nodes.
- Ein Node braucht Platz für den Request.
- 'Auf `small` sind {{ free("small", "cpu") }} frei.'
---
`web` fordert {{ request("web", "cpu") }} an.
"""


def german(text: str = STOP, **more: str) -> Translation:
    """Return the small lesson with its first stop in German; further files by their name in the folder."""
    return translated(made(), {"de/stops/01-which.md": text, **more}, "de")


def both(slug: str) -> tuple[Lesson, Lesson]:
    """Return a lesson in English and in German."""
    one = lesson(slug)
    assert one is not None
    return one, in_language(one, "de")


@pytest.mark.parametrize("language", OTHERS)
def test_translations_are_sound_and_of_the_present_text(language: str) -> None:
    """A finding names the file, and of a stale one what to write once the texts are compared."""
    for one in translations(language):
        assert [f"{row.file}:{row.line}: {row.message}" for row in (*one.problems, *one.stale)] == []


@pytest.mark.parametrize("language", OTHERS)
def test_the_glossary_is_of_the_present_text(language: str) -> None:
    """A translated term is one of the glossary, and those of translated lessons are all there."""
    terms = terms_in(language)
    assert set(terms) == set(glossary())
    stale = {
        term: mark_of(glossary()[term])
        for term, row in terms.items()
        if row.language == language and row.is_stale(glossary()[term])
    }
    assert stale == {}, "the English meanings have changed: compare, then write these marks"
    used = {
        term for one in translations(language) if one.lesson.language == language for term in one.lesson.terms
    }
    assert all(terms[term].language == language for term in used)


def test_five_lessons_are_german() -> None:
    """Whole: head, notes and every stop; all others are English, and the same object."""
    for one in lessons():
        other = in_language(one, "de")
        languages = {other.language, *(stop.language for stop in other.stops)}
        assert languages == ({"de"} if one.slug in WHOLE else {"en"}), one.slug
        assert (other.notes != one.notes) == (one.slug in WHOLE)
        assert in_language(one, "en") is one and in_language(one, "fr") is one


@pytest.mark.parametrize("slug", WHOLE)
def test_answers_are_the_same_in_german(slug: str) -> None:
    """What is right is computed; the engine's words stay as they are, and the lesson's own are German."""
    english, other = both(slug)
    for one, stop in zip(english.stops, other.stops, strict=True):
        assert text_of(other, stop) != text_of(english, one)
        if one.task is None or one.task.form in (None, "edit"):
            continue
        truth = StopQuestion(english, one).truth()
        given = truth[0] if one.task.kind == "find" and isinstance(truth, list) else truth
        known, said = check(english, one, given), check(other, stop, given)
        assert (said.right, said.answer) == (True, known.answer)
        assert said.sentence.removesuffix(said.why) == known.sentence.removesuffix(known.why)
        assert bool(known.why) == bool(said.why)
        assert said.why != known.why or not said.why
        assert hint(other, stop, 1) != hint(english, one, 1)


def test_a_stop_in_german() -> None:
    """It has the English one's facts and task, and says lists and numbers in its own way."""
    other = both("first-cycle")[1]
    node = next(stop for stop in other.stops if stop.key == "node")
    assert "`n2` und `n3` kommen infrage, `n1` nicht." in text_of(other, node)
    assert "Insufficient cpu" in text_of(other, node), "what Kubernetes says stays as it is"
    task = task_of(other, node)
    assert task is not None and task.question == "Welcher Node bekommt `web`?"
    why: Stop = next(stop for stop in other.stops if stop.key == "why")
    assert "hat insgesamt" in check(other, why, "room").why


def test_values_of_facts_in_german() -> None:
    """Thousands, decimals, lists, and what is yes, no and nothing."""
    values: tuple[Any, ...] = (12_345, 0.125, 1234.5, True, False, [], ["a", "b", "c"])
    assert [shown(value, "de") for value in values] == [
        *("12.345", "0,125", "1.234,5", "ja", "nein", "keine", "`a`, `b` und `c`"),
    ]
    assert [shown(value) for value in values] == [
        *("12,345", "0.125", "1,234.5", "yes", "no", "none", "`a`, `b` and `c`"),
    ]


def test_stop_by_stop() -> None:
    """What is not translated stays English: here the second stop and the lesson's own words."""
    found = german(STOP)
    assert found.problems == ()
    assert [stop.language for stop in found.lesson.stops] == ["de", "en"]
    assert (found.lesson.language, found.lesson.title) == ("en", made().title)
    whole = german(STOP, **{"de/lesson.yaml": HEAD, "de/notes.md": "Sag wenig."}).lesson
    assert (whole.language, whole.title, whole.notes) == ("de", "Einer passt", "Sag wenig.")
    assert (whole.tracks, whole.files, whole.stops[0].marking.answer) == (
        *(made().tracks, made().files, made().stops[0].marking.answer),
    )


def test_a_stale_translation_is_reported_and_shown() -> None:
    """The mark of the English text that is translated: of a stop, and of the lesson's head."""
    [stale] = german(STOP).stale
    mark = re.search(r'translates: "(\w{8})"', stale.message)
    assert mark is not None and (stale.file, stale.line) == ("01-one-fits/de/stops/01-which.md", 2)
    fresh = STOP.replace("{mark}", mark[1])
    assert german(fresh).stale == ()
    changed = translated(made(lesson_yaml=LESSON.replace("One fits", "One")), {"de/lesson.yaml": HEAD}, "de")
    assert len(changed.stale) == 1 and changed.lesson.title == "Einer passt"
    other = made(stops_01_which_md=made_text("Compare the nodes.", "Look at the nodes."))
    assert len(translated(other, {"de/stops/01-which.md": fresh}, "de").stale) == 1


def made_text(old: str, new: str) -> str:
    """Return the first stop of the small lesson with a text changed."""
    assert old in ENGLISH
    return ENGLISH.replace(old, new)


WRONG: Mapping[str, tuple[str, str, str, int]] = {
    "a fact is missing": ('{{ request("web", "cpu") }}', "etwas", "of the English text is missing", 10),
    "another fact": ('request("web", "cpu")', 'request("web", "memory")', "is missing", 10),
    "a number by hand": ("Vergleiche die", "Vergleiche die 2", "the number 2 is written by hand", 6),
    "a hint is missing": ("- Vergleiche die Nodes.\n", "", "has 3 of these, and this has 2", 5),
    "no question": ("question: Welcher Node bekommt `web`?\n", "", "the English text has this", 2),
    "choices of one's own": ("hints:", "choices: {a: A}\nhints:", "the choices are none", 5),
    "an unknown field": ("hints:", "answer: n1\nhints:", "unknown field `answer`", 5),
    "no fields": ("---\n", "", "begins with its fields", 1),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_translation_that_says_something_else_is_refused(case: str) -> None:
    """The finding has its line, and the stop stays English."""
    old, new, message, line = WRONG[case]
    found = german(STOP.replace(old, new, 1))
    assert message in found.problems[0].message
    assert (found.problems[0].file, found.problems[0].line) == ("01-one-fits/de/stops/01-which.md", line)
    assert found.lesson.stops == made().stops


def test_a_translation_of_nothing_is_found() -> None:
    """A stop that was renamed or removed leaves a file behind."""
    found = german(STOP, **{"de/stops/03-gone.md": STOP})
    assert [row.file for row in found.problems] == ["01-one-fits/de/stops/03-gone.md"]
