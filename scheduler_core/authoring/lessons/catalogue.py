"""The lessons that are shipped: a folder each beside this module, read once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml

from scheduler_core.authoring.lessons.model import Lesson
from scheduler_core.authoring.lessons.reading import SharedWords, read_lesson

_HERE = files("scheduler_core.authoring.lessons")


@cache
def lessons() -> tuple[Lesson, ...]:
    """Return all lessons in order. Raises LessonError if one of them is not sound."""
    folders = sorted(
        (one for one in _HERE.iterdir() if one.is_dir() and one.name[:2].isdigit()), key=lambda one: one.name
    )
    slugs = [folder.name[3:] for folder in folders]
    return tuple(read_lesson(folder.name, dict(_texts(folder)), words(), slugs) for folder in folders)


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
def words() -> SharedWords:
    """Return the glossary, the tracks and the misconceptions that lessons refer to."""
    return SharedWords(**{name: _table(name) for name in ("terms", "tracks", "misconceptions")})


def _table(name: str) -> Mapping[str, Any]:
    read: Mapping[str, Any] = yaml.safe_load(_HERE.joinpath(f"{name}.yaml").read_text(encoding="utf-8"))
    return read


def glossary() -> Mapping[str, str]:
    """Return a sentence for each term: one term has one meaning in all lessons."""
    return words().terms


def tracks() -> Mapping[str, str]:
    """Return the title of each track, in order."""
    return words().tracks


def misconceptions() -> Mapping[str, str]:
    """Return what is wrongly believed, by key, as a teacher's page counts it."""
    return words().misconceptions
