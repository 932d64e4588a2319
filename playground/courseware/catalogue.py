"""The lessons that are shipped: a folder each beside this module, read once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml
from msgspec import Struct
from msgspec.structs import replace

from playground.courseware.model import Lesson
from playground.courseware.prose import LANGUAGES
from playground.courseware.reader import SharedWords, read_lesson
from playground.courseware.translations import Translation, mark_of, translated
from scheduler_core.kubernetes.conversion import converted

_HERE = files("playground.courseware")


@cache
def lessons() -> tuple[Lesson, ...]:
    """Return all lessons in order. Raises LessonError if one of them is not sound."""
    slugs = [name[3:] for name in _folders()]
    return tuple(read_lesson(name, files, words(), slugs) for name, files in _folders().items())


@cache
def _folders() -> Mapping[str, Mapping[str, str]]:
    """Return the files of each lesson's folder, in order."""
    found = [one for one in _HERE.iterdir() if one.is_dir() and one.name[:2].isdigit()]
    return {one.name: dict(_texts(one)) for one in sorted(found, key=lambda one: one.name)}


def _texts(folder: Traversable, prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _texts(one, f"{prefix}{one.name}/")
        else:
            found.append((f"{prefix}{one.name}", one.read_text(encoding="utf-8")))
    return found


@cache
def _by_slug() -> Mapping[str, Lesson]:
    return {lesson.slug: lesson for lesson in lessons()}


def lesson(slug: str) -> Lesson | None:
    """Return the lesson with that slug, the folder's name without its number; None if there is none."""
    return _by_slug().get(slug)


@cache
def translations(language: str) -> tuple[Translation, ...]:
    """Return all lessons in a language, as far as they are translated, with the findings about that."""
    return tuple(
        translated(one, files, language) for one, files in zip(lessons(), _folders().values(), strict=True)
    )


def in_language(of: Lesson, language: str) -> Lesson:
    """Return a lesson in a language; in English where it is not translated, or not one that is shipped."""
    if language not in LANGUAGES or language == of.language or lesson(of.slug) is not of:
        return of
    return translations(language)[lessons().index(of)].lesson


@cache
def words() -> SharedWords:
    """Return the glossary, the tracks and the misconceptions that lessons refer to."""
    return SharedWords(**{name: _table(name) for name in ("terms", "tracks", "misconceptions")})


def _table(name: str) -> Mapping[str, Any]:
    read: Mapping[str, Any] = yaml.safe_load(_HERE.joinpath(f"{name}.yaml").read_text(encoding="utf-8"))
    return read


def glossary() -> Mapping[str, str]:
    """Return a sentence for each term: one term has one meaning in all lessons."""
    return words().terms


class TermWords(Struct, frozen=True, forbid_unknown_fields=True):
    """A term of the glossary in a language; ``translates`` marks the English meaning."""

    term: str
    meaning: str
    translates: str = ""
    language: str = "en"

    def is_stale(self, english: str) -> bool:
        """Return whether the English meaning has changed since."""
        return self.translates != mark_of(english)


@cache
def terms_in(language: str) -> Mapping[str, TermWords]:
    """Return the words for each term in a language, in English where it is not translated."""
    found = {term: TermWords(term, meaning) for term, meaning in glossary().items()}
    if language != "en":
        rows = converted(_table(f"terms-{language}"), dict[str, TermWords])
        found |= {term: replace(row, language=language) for term, row in rows.items()}
    return found


def tracks() -> Mapping[str, str]:
    """Return the title of each track, in order."""
    return words().tracks


def misconceptions() -> Mapping[str, str]:
    """Return what is wrongly believed, by key, as a teacher's page counts it."""
    return words().misconceptions
